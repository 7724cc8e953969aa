#pragma once

#include "stiction/solver/solver_settings.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace stiction {

/// Factorisations that an island may take where max_factorisations is 0: dense ones of up to `rows`
/// rows, for its solution and once more for that of the compliant problem if it is infeasible, and
/// sparse ones in the coordinates of its trees. The work of the dense ones of all islands is about
/// that of one island with all the rows, 30 ms at 300.
inline constexpr int kSparseFactorisations = 600;
inline int dense_factorisations(int rows) {
  const double share = rows / 72.0;
  return 2 + static_cast<int>(800.0 / (1.0 + share * share));
}

/// What the stages of ncp-newton may take on an island: factorisations, time, and the patience of
/// the caller.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  /// `count`: factorisations of all islands, which every stage counts up.
  Budget(const SolverSettings& settings, int rows, Clock::time_point deadline, int& count)
      : settings_(settings),
        deadline_(deadline),
        count_(count),
        first_(count),
        most_(by_formula() ? dense_factorisations(rows) : settings.max_factorisations) {}
  /// For a part of a solve: no more than what is left of another, and no stage after `enough`.
  Budget(const Budget& whole, int enough)
      : settings_(whole.settings_),
        deadline_(whole.deadline_),
        count_(whole.count_),
        first_(whole.count_),
        most_(whole.left()),
        enough_(enough),
        sparse_(whole.sparse_) {}

  bool by_formula() const { return settings_.max_factorisations == 0; }
  int& count() { return count_; }
  Clock::time_point deadline() const { return deadline_; }
  const Interrupt& interrupt() const { return settings_.interrupt; }
  /// What a stage that has begun may still take.
  int left() const { return std::max(0, most_ - taken()); }
  /// Likewise in the coordinates of trees; by formula that is an allowance of its own.
  int sparse_left() const {
    return by_formula() ? std::max(0, kSparseFactorisations - sparse_) : left();
  }
  /// Counts what a stage took from it.
  void were_sparse(int factorisations) {
    if (!by_formula()) return;
    first_ += factorisations;
    sparse_ += factorisations;
  }
  /// Whether half of a budget by formula is gone: what a stage leaves to those after it.
  bool half_gone() const { return by_formula() && limit() - taken() < limit() / 2; }
  /// No stage begins, from now on.
  bool exhausted() {
    exhausted_ = exhausted_ || taken() >= limit() || interrupt().requested() ||
                 (settings_.time_budget > 0.0 && Clock::now() >= deadline_);
    return exhausted_;
  }
  bool was_exhausted() const { return exhausted_; }
  /// As much again, of a budget by formula.
  void renew() {
    if (!by_formula()) return;
    most_ *= 2;
    exhausted_ = false;
  }

 private:
  int taken() const { return count_ - first_; }
  int limit() const { return std::min(most_, enough_); }

  const SolverSettings& settings_;
  Clock::time_point deadline_;
  int& count_;
  int first_, most_, enough_ = kNoLimit, sparse_ = 0;
  bool exhausted_ = false;
};

}  // namespace stiction
