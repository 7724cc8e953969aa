#pragma once

#include "stiction/solver/solver_settings.hpp"

#include "solver/common/buffer.hpp"
#include "solver/common/work_account.hpp"

#include <limits>

namespace stiction {

/// Complementary pairs, l inside its cone and y inside the dual, and directions from them.
struct InteriorPoints {
  /// z: multiplier of the upper bound of a box.
  struct Point {
    Buffer<double> l, y, z;
  };
  Point now, step, predictor, best;  ///< best: the best direction so far
};

/// x > 0 with x - product / x = difference: of two numbers with this product the first, where its
/// lead is given.
double first_of_pair(double difference, double product);

/// An interior point method whose steps are predicted without centring, then corrected (Mehrotra
/// 1992), whatever the cones and the equations: those are the derived class's.
class PredictorCorrector {
 public:
  /// Where it starts, l = impulse e and y = velocity e in scaled units, and how it moves.
  struct Start {
    double impulse, velocity;
    double centring;  ///< least eigenvalue of a contact's pair, as a share of the mean pair
    double reach;     ///< share of the way to the boundary taken by a step
  };

  PredictorCorrector(InteriorPoints& points, WorkAccount& work) : points_(points), work_(work) {}
  virtual ~PredictorCorrector() = default;
  PredictorCorrector(const PredictorCorrector&) = delete;
  PredictorCorrector& operator=(const PredictorCorrector&) = delete;

  /// Steps until the mean pair and the residual are below `target`. False if there are `max_steps`
  /// of them, those of earlier calls counted, if `patience` of them do not halve the mean pair, or
  /// if the iterates break down. Each step costs one factorisation.
  bool advance(double target,
               int max_steps,
               const Interrupt& interrupt,
               int patience = std::numeric_limits<int>::max());
  int steps() const { return steps_; }

 protected:
  /// The matrix of a step; false if it is singular.
  virtual bool factorise() = 0;
  /// points_.step: towards pairs of `centre` and with `share` of the residual gone; `corrected` by
  /// the second-order term of the predictor.
  virtual void direction(double centre, bool corrected, double share) = 0;
  /// Largest alpha, up to 1e3, that stays inside: beyond 1, so that `reach` does not cut a step of
  /// 1.
  virtual double longest_step() const = 0;
  /// The least eigenvalue of a pair at l + alpha dl, and the mean pair there.
  virtual double worst_eigenvalue(double alpha, double* mean) const = 0;
  /// l, y, z += alpha of the step; then residual_, mean_ and worst_ of that.
  virtual void move(double alpha) = 0;

  double choose_direction(double sigma);
  double predict();

  InteriorPoints& points_;
  WorkAccount& work_;
  Start start_{};
  int steps_ = 0;
  double residual_ = 0.0, mean_ = 0.0, worst_ = 0.0;
  double least_ = 0.0;  ///< the mean pair is not lowered below

 private:
  double safe_step(double mean) const;
};

}  // namespace stiction
