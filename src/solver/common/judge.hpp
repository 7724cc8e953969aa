#pragma once

#include "stiction/math/constants.hpp"

#include "solver/common/island.hpp"

#include <algorithm>

namespace stiction {

/// Judges an island's impulses by the exact residual of its model, keeps the best, and says when an
/// iteration ends.
class Judge {
 public:
  Judge(const Island& island,
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
    velocities(island_, lambda_, velocity_);
    now_ = model_residuals(
        model_, settings_.facets, island_.problem, lambda_, velocity_, island_.first, island_.last);
    if (now_.relative < best_relative_) {
      best_relative_ = now_.relative;
      std::copy(lambda_ + island_.begin, lambda_ + island_.end, best_ + island_.begin);
    }
    return now_.relative <= settings_.tolerance || settings_.interrupt.requested();
  }
  double relative() const { return now_.relative; }
  bool finite() const { return relative() < kInfinity; }
  /// Takes the best impulses back, if there are any.
  void return_to_best() {
    if (!(best_relative_ < relative())) return;
    std::copy(best_ + island_.begin, best_ + island_.end, lambda_ + island_.begin);
    now_.relative = best_relative_;
  }

  /// iterate(k), k = 1, 2, ..., until lambda solves the model. It returns by how much lambda still
  /// moves, in velocity units [m/s]: 0 at a fixed point, NaN where it cannot get on. The residual
  /// costs about an iteration: it is evaluated once lambda has nearly stopped, then at growing
  /// intervals, and every `every` iterations.
  template <class Iterate>
  IslandOutcome run(Iterate&& iterate, int every = 16) {
    if (solved()) return {0, SolveStatus::kConverged};
    const double goal = settings_.tolerance * velocity_scale(island_);
    for (int k = 1, next = 1, interval = 1;; ++k) {
      const double change = iterate(k);
      const bool stuck = !(change > 0.0 && change < kInfinity);
      const bool last = stuck || k >= settings_.max_iterations || settings_.interrupt.requested();
      if (!last && k % every != 0 && !(change <= goal && k >= next)) continue;
      if (solved()) return {k, SolveStatus::kConverged};
      if (now_.rounding_limited()) return {k, SolveStatus::kRoundingLimited};
      if (last || !finite()) {
        return_to_best();
        return {k, stuck ? SolveStatus::kStalled : SolveStatus::kMaxIterations};
      }
      if (change <= goal) {
        next = k + interval;
        interval = std::min(2 * interval, every);
      }
    }
  }

 private:
  const Island& island_;
  ContactModel model_;
  const SolverSettings& settings_;
  Buffer<double>& best_;
  double *lambda_, *velocity_;
  Residuals now_{.relative = kInfinity};
  double best_relative_ = kInfinity;
};

}  // namespace stiction
