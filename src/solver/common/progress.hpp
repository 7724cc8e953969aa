#pragma once

#include "stiction/math/constants.hpp"

#include "solver/common/island_residuals.hpp"

#include <algorithm>
#include <vector>

namespace stiction {

/// How well an island's impulses solve its model: the exact residual with a fresh velocity, and the
/// best impulses so far.
class Progress {
 public:
  Progress(const Island& island,
           ContactModel model,
           const SolverSettings& settings,
           Buffer<double>& best,
           double* lambda,
           double* velocity)
      : island_(island),
        model_(model),
        settings_(settings),
        best_(best),
        lambda_(lambda),
        velocity_(velocity) {
    best.grow(island.problem.g.size());
  }

  /// Judges lambda; true if its relative residual is at most the tolerance, or the caller wants
  /// no more. Costs a product with G.
  bool solved() {
    now_ = island_residuals(model_, island_, settings_, lambda_, velocity_);
    relative_ = now_.relative;
    if (relative_ < best_relative_) {
      best_relative_ = relative_;
      std::copy(lambda_ + island_.begin, lambda_ + island_.end, best_.data() + island_.begin);
    }
    return relative_ <= settings_.tolerance || settings_.interrupt.requested();
  }
  double relative() const { return relative_; }
  bool finite() const { return relative_ < kInfinity; }
  /// Double is exhausted.
  bool rounding_limited() const { return now_.rounding_limited(); }
  /// Takes the best impulses back, if there are any.
  void return_to_best() {
    if (!(best_relative_ < relative_)) return;
    std::copy(best_.data() + island_.begin, best_.data() + island_.end, lambda_ + island_.begin);
    relative_ = best_relative_;
  }

 private:
  const Island& island_;
  ContactModel model_;
  const SolverSettings& settings_;
  Buffer<double>& best_;
  double *lambda_, *velocity_;
  Residuals now_;
  double relative_ = kInfinity, best_relative_ = kInfinity;
};

}  // namespace stiction
