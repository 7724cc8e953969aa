#pragma once

#include "island.hpp"

// What the ADMM solvers share: the matrix of their linear step, factorised when the penalty
// changes, and the spectral rule of the penalty (Le Lidec et al., "Contact Models in Robotics",
// 2024, Algorithm 3; Carpentier et al., "From Compliant to Rigid Contact Simulation", 2024).

namespace stiction {

/// H = G + eta 1 + rho P of an island; P is 1 on the rows of sets that are projected and 0 on
/// bilateral rows, whose impulse is free: they need no splitting.
class ShiftedDelassus {
 public:
  /// Takes work.dense.
  ShiftedDelassus(const Island& island, double eta, SolverWorkspace& work);
  /// Largest eigenvalue of G by power iteration in x[rows], y[rows]: from below, but at least max
  /// diag(G). Before the first set_penalty.
  double largest_eigenvalue(double* x, double* y) const;
  /// Factorises H, unless rho is that of the last call; false if a pivot is not positive.
  bool set_penalty(double rho);
  /// x <- H^-1 x, [rows].
  void solve(double* x) const;

 private:
  void load();  ///< G into work.dense, row-major, columns padded with zeros

  const Island island_;
  SolverWorkspace& work_;
  int n_, stride_;
  double eta_, rho_ = -1.0;
};

/// The penalty rho between the bounds m and L of the spectrum of G + eta 1: (L m)^1/2 (L/m)^p.
class AdaptivePenalty {
 public:
  /// p = `power`, or what makes rho = `warm` if that is positive; an update changes p by `step`.
  AdaptivePenalty(double smallest, double largest, double power, double step, double warm);
  double value() const { return value_; }
  /// Larger where `primal` is more than ten times `dual`, smaller in the converse case; the caller
  /// brings them to the same unit. The k-th change is kept for k calls: a penalty that never comes
  /// to rest can make the iteration circle. True if it changed.
  bool update(double primal, double dual);

 private:
  double lowest_, highest_, factor_, value_;
  int changes_ = 0, wait_ = 0;
};

}  // namespace stiction
