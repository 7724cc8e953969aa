#pragma once

#include "stiction/solver/solver_settings.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace stiction {

/// Multiplications that a step of so many rows may take where max_work is 0: so many a row, 0.8 s
/// for 60 000 rows and, since few rows may be hard, as many for all up to 3375 of them, 45 ms. Jams
/// of spheres, boxes and hulls take 6e9 a second on one core of a Xeon with AVX-512.
inline constexpr double kLeastWork = 2.7e8, kWorkPerRow = 8e4;
inline double work_of_step(int rows) { return std::max(kLeastWork, kWorkPerRow * rows); }

/// The work of a step: factorisations and multiplications of all its islands and solutions, against
/// one bound on the latter, and the time until which it may go on. A multiplication is one of a
/// dense factorisation; what takes longer for each counts more of them. It decides by counts alone,
/// unless there is a time budget.
class WorkAccount {
 public:
  using Clock = std::chrono::steady_clock;
  /// What is left to the safe answer: so many passes over the rows, but no more than a share of
  /// all.
  static constexpr double kSafePasses = 250.0, kSafeShare = 0.25;

  int factorisations = 0;

  bool is_open() const { return open_; }
  double spent() const { return spent_; }
  /// The bound.
  double most() const { return most_; }
  double left() const { return std::max(0.0, ceiling_ - spent_); }
  /// A problem of so many rows, a pass over which costs `pass`, is solved next: by formula there is
  /// as much as for these at least.
  void allow(int rows, double pass);
  /// Keeps a share of the bound for what follows, or no more.
  void keep(double share);
  void charge(double multiplications) { spent_ += multiplications; }
  bool affords(double multiplications) const { return spent_ + multiplications <= ceiling_; }
  /// Charges them if there is room and time for them; else remembers that there was not.
  bool take(double multiplications);
  /// Charges a factorisation likewise, and counts it.
  bool factor(double multiplications);
  bool out_of_time() const { return timed_ && Clock::now() >= deadline_; }
  /// Something was refused since the last Share began.
  bool refused() const { return refused_; }
  bool exhausted() const { return spent_ >= ceiling_ || out_of_time(); }

  /// Opens the account for a step or a solve, unless it is open already: then it is a part of that.
  class Scope {
   public:
    Scope(WorkAccount& account, const SolverSettings& settings);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();
    bool opened() const { return opened_; }

   private:
    WorkAccount& account_;
    const bool opened_;
  };
  /// A part that leaves `kept` of what there is to what follows.
  class Share {
   public:
    Share(WorkAccount& account, double kept);
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { account_.ceiling_ = ceiling_; }

   private:
    WorkAccount& account_;
    const double ceiling_;
  };
  /// The part that is kept for the safe answer is open.
  class Safe {
   public:
    explicit Safe(WorkAccount& account);
    Safe(const Safe&) = delete;
    Safe& operator=(const Safe&) = delete;
    ~Safe();

   private:
    WorkAccount& account_;
    const double ceiling_;
    const Clock::time_point deadline_;
  };

 private:
  void set_ceiling();

  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  bool open_ = false, by_formula_ = false, timed_ = false, refused_ = false;
  double spent_ = 0.0, most_ = kUnbounded, ceiling_ = kUnbounded, safe_ = 0.0, kept_ = 0.0;
  Clock::time_point deadline_ = Clock::time_point::max(), end_ = Clock::time_point::max();
};

}  // namespace stiction
