#pragma once

#include "solver/common/work_account.hpp"

#include <algorithm>
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

/// What the stages of ncp-newton may take on an island: factorisations, work, time, and the
/// patience of the caller.
class Budget {
 public:
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  /// `work`: of all islands; every stage counts in it. No stage begins that cannot pay `pass`.
  Budget(const SolverSettings& settings, int rows, double pass, WorkAccount& work)
      : settings_(settings),
        work_(work),
        pass_(pass),
        first_(work.factorisations),
        most_(by_formula() ? dense_factorisations(rows) : settings.max_factorisations) {}
  /// For a part of a solve: no more than what is left of another, and no stage after `enough`.
  Budget(const Budget& whole, int enough)
      : settings_(whole.settings_),
        work_(whole.work_),
        pass_(whole.pass_),
        first_(whole.count()),
        most_(whole.left()),
        enough_(enough),
        sparse_(whole.sparse_) {}

  bool by_formula() const { return settings_.max_factorisations == 0; }
  WorkAccount& work() { return work_; }
  int count() const { return work_.factorisations; }
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
                 !work_.affords(pass_) || work_.out_of_time();
    return exhausted_;
  }
  bool was_exhausted() const { return exhausted_; }
  /// Something was too much work, or too late.
  bool refused() const { return work_.refused(); }
  /// As much again, of a budget by formula, but of what was sparse; else what is left.
  Budget again(int rows) const {
    if (!by_formula()) return *this;
    Budget out(settings_, rows, pass_, work_);
    out.sparse_ = kSparseFactorisations;
    return out;
  }

 private:
  int taken() const { return count() - first_; }
  int limit() const { return std::min(most_, enough_); }

  const SolverSettings& settings_;
  WorkAccount& work_;
  double pass_;
  int first_, most_, enough_ = kNoLimit, sparse_ = 0;
  bool exhausted_ = false;
};

}  // namespace stiction
