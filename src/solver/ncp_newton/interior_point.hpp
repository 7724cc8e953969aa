#pragma once

#include "solver/common/island.hpp"

namespace stiction {

/// A primal-dual interior point method for the NCP of one island, De Saxce's term inside the Newton
/// step. In canonical scaling (mode_newton.cpp) it keeps l and y inside the cones and follows
///   G l + g = c(y),  c(y) = y - ||y_T|| e_N,  l o y = m e,  m -> 0.
/// Finds the modes where sweeps and Newton on the modes circle; the last digits are left to those.
class InteriorPoint {
 public:
  /// Where it starts, l = impulse e and y = velocity e in scaled units, and how it moves.
  struct Start {
    double impulse, velocity;
    double centring;  ///< least eigenvalue of a contact's pair, as a share of m
    double reach;     ///< share of the way to the boundary taken by a step
  };

  enum class Problem {
    kContact,
    /// min 1/2 d . G d + 1/2 (g . d + 1)^2 over normal impulses d: a direction that pushes without
    /// effect has G d = 0 and g . d = -1.
    kDirection,
  };
  /// Copies and scales the island.
  InteriorPoint(const Island& island, SolverWorkspace& work, Problem problem);

  /// Room for islands of so many rows.
  static void reserve(int rows, SolverWorkspace& work);

  void restart(const Start& start);
  /// Steps until m and the residual are below `target`. False if there are `max_steps` of them,
  /// those of earlier calls counted, or the iterates break down. Each step costs one factorisation.
  bool advance(double target, int max_steps, const Interrupt& interrupt);
  int steps() const { return steps_; }
  /// The iterate, indexed by the problem's rows.
  void copy_impulse(double* lambda) const;
  /// Of kDirection: how far G d is from zero, max_i |sum_j G_ij d_j| / sum_j |G_ij d_j|; infinite
  /// if g . d >= 0.
  double effect() const;

 private:
  enum class Kind : int { kCone, kPositive, kBox, kFree };
  /// Consecutive rows of the reduced system that obey one law.
  struct Cell {
    Kind kind;
    int row, dim;
  };

  void list_cells();
  void scale();
  void evaluate();
  bool factorise();
  template <int D>
  double smooth_norm(const double* y) const;
  template <int D>
  void add_cone(int row);
  void direction(double centre, bool corrected, double share);
  template <int D>
  void aim_cone(int row, double centre, bool corrected, double share);
  void aim_interval(int row, double centre, bool corrected);
  double predict();
  double choose_direction(double sigma);
  double longest_step() const;
  double worst_eigenvalue(double alpha, double* mean) const;
  double safe_step(double mean) const;
  void move(double alpha);
  template <class Visit>
  void each_pair(int cell, double alpha, Visit&& visit) const;

  const Island island_;
  SolverWorkspace& work_;
  Start start_{};
  int n_ = 0, stride_ = 0, cells_ = 0, steps_ = 0;
  Problem problem_;
  double unit_ = 1.0;  ///< velocity that is 1 in scaled units [m/s]
  double residual_ = 0.0, mean_ = 0.0, worst_ = 0.0;
  Cell* cell_;
  int *row_, *pivot_, *end_;  ///< row_: row of the problem
  double *matrix_, *factor_;
  double *scale_, *g_, *low_, *high_;
  double *l_, *y_, *z_;  ///< z: multiplier of the upper bound of a box
  double *r_, *d_, *dl_, *dy_, *dz_;
  double *al_, *ay_, *az_;  ///< the predictor's direction
  double *bl_, *by_, *bz_;  ///< the best direction so far
};

}  // namespace stiction
