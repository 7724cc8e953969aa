#pragma once

#include "solver/common/island.hpp"

// What the ADMM solvers share: the matrix of their linear step, factorised when the penalty
// changes. The penalty: spectral_penalty.hpp.

namespace stiction {

struct AdmmWork {
  Buffer<double> matrix, vectors, best;
};

/// H = G + eta 1 + rho P of an island; P is 1 on the rows of sets that are projected and 0 on
/// bilateral rows, whose impulse is free: they need no splitting.
class ShiftedDelassus {
 public:
  ShiftedDelassus(const Island& island, double eta, Buffer<double>& matrix, int& factorisations);
  /// Largest eigenvalue of G by power iteration in x[rows], y[rows]: from below, but at least max
  /// diag(G). Before the first set_penalty.
  double largest_eigenvalue(double* x, double* y) const;
  /// Factorises H, unless rho is that of the last call; false if a pivot is not positive.
  bool set_penalty(double rho);
  /// x <- H^-1 x, [rows].
  void solve(double* x) const;

 private:
  void load();  ///< G into the matrix, row-major, columns padded with zeros

  const Island island_;
  Buffer<double>& matrix_;
  int& factorisations_;
  int n_, stride_;
  double eta_, rho_ = -1.0;
};

}  // namespace stiction
