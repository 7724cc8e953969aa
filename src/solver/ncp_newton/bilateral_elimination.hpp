#pragma once

#include "solver/common/island.hpp"

#include <cstdint>

namespace stiction {

struct BilateralWork {
  ContactProblem problem;   ///< what is left, from row 0
  SolverSettings settings;  ///< with which it is solved
  Buffer<double> G, g;      ///< dense copy of the island
  Buffer<double> factor, scale, columns, gram, x;
  Buffer<double> impulse, velocity;  ///< [rows of `problem`]
  Buffer<double> start, answer;      ///< [rows of the island]
  Buffer<int> order, bilateral, other;
  ContactSpace space;         ///< of `problem`, where it is asked for
  Buffer<double> basis, row;  ///< of the coordinates of a tree
  Buffer<int> row_of;         ///< set and row in it of each bilateral row
};

/// An island without its bilateral rows b. They hold whatever the others i do:
///   lambda_b = -G_bb^+ (g_b + G_bi lambda_i),
///   G_ii - G_ib G_bb^+ G_bi,  g_i - G_ib G_bb^+ g_b   is the problem that is left.
/// Rows that repeat others are found by the pivots of G_bb, scaled to a unit diagonal; of the
/// impulses that make the same motion the pseudoinverse takes the least in that scaling, and where
/// rows contradict each other it takes the least squares of what they ask.
class BilateralElimination {
 public:
  /// Whether an island has bilateral rows, and few enough rows for dense matrices.
  static bool applies(const Island& island);
  /// What it takes, of dense matrices of all rows.
  static double multiplications(const Island& island);

  BilateralElimination(const Island& island, BilateralWork& work);

  /// The problem that is left; it may have no rows.
  const ContactProblem& problem() const { return w_.problem; }
  /// The coordinates that all of its rows keep, where they are on one tree; else it knows no trees.
  const ContactSpace& space() const;
  /// What these take.
  double space_multiplications() const;
  void restrict_impulse(const double* lambda, double* out) const;
  /// lambda of all rows of the island from that of the others.
  void extend_impulse(const double* others, double* lambda) const;

 private:
  void gather();
  void factor();
  void solve(double* b) const;
  void reduce();
  void fill_problem();
  bool bilateral_rows_are_rigid() const;
  bool has_space() const;
  void project_space() const;
  void find_basis() const;
  void project(int count, double* x) const;
  void spread_row(int set, int r, double* out) const;
  int coordinates() const;

  const Island island_;
  BilateralWork& w_;
  int n_, bilateral_ = 0, others_ = 0, rank_ = 0;
};

}  // namespace stiction
