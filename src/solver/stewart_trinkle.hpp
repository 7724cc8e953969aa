#pragma once

#include "island.hpp"
#include "polygon.hpp"

namespace stiction {

/// An island as a mixed linear complementarity problem: 0 <= z perp w = M z + q >= 0, but z free
/// and w = 0 for the variables of bilateral rows (Stewart and Trinkle, An implicit time-stepping
/// scheme for rigid body dynamics with inelastic collisions and Coulomb friction, 1996).
///   contact     lambda_T = sum beta_k D_k, D_k the unit vector to vertex k of the section:
///               w_beta_k = D_k . c_T + sigma,  w_N = c_N,  w_sigma = reach mu lambda_N - sum
///               beta_k
///   mu = 0      lambda_N alone
///   half line   z = +-(lambda - end), w = +-c
///   interval    z = lambda - l, w = c + tau;  w_tau = u - l - z
/// A box with one infinite end is a half line, with two bilateral. Variables are dimensionless:
/// impulses of set i in units of s_i unit, velocities of unit / s_i, s_i = (mean diag G_ii)^-1/2.
class StewartTrinkle {
 public:
  static int count_variables(const Island& island, int facets);
  static std::size_t doubles(std::size_t rows, std::size_t variables) {
    return rows * rows + 3 * rows + variables * variables + 3 * variables;
  }
  static std::size_t ints(std::size_t variables) { return 3 * variables; }

  /// Fills M and q; `integers` holds ints().
  StewartTrinkle(const Island& island, const Polygon& polygon, Scratch& scratch, int* integers);

  int size() const { return size_; }
  bool is_free(int v) const { return free_[v] != 0; }
  const double* M(int v) const { return M_ + static_cast<std::size_t>(v) * size_; }  ///< row v
  const double* q() const { return q_; }
  /// Largest reach mu: no eigenvalue of M + M' is below its negative.
  double indefiniteness() const { return indefiniteness_; }

  /// z to the problem's impulses, parts of z outside its signs cut off.
  void impulses(const double* z, double* lambda) const;
  /// The problem's impulses and their velocities to z; of all beta, those next to lambda_T.
  void variables(const double* lambda, const double* velocity, double* z) const;

 private:
  template <class Visit>
  void for_each_set(Visit&& visit) const;
  void set_scales(const double* G);
  void add(int row, double coefficient, int count = 1);
  void add_variables(const ConstraintSet& set, int row);
  void multiply(const double* G);
  void couple(const ConstraintSet& set, int row, int v);
  double& entry(int u, int v) { return M_[static_cast<std::size_t>(u) * size_ + v]; }

  const Island& island_;
  const Polygon& polygon_;
  int size_ = 0;
  double unit_ = 1.0, indefiniteness_ = 0.0;
  double *scale_, *offset_, *g_;   // by row of the island; g of the offset
  double *M_, *q_, *coefficient_;  // lambda / unit = P z, two coefficients a variable
  int *row_, *count_, *free_;      // a variable acts on `count` rows from `row` on
};

}  // namespace stiction
