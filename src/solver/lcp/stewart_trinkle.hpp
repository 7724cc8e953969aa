#pragma once

#include "solver/common/island.hpp"
#include "solver/common/polygon.hpp"

namespace stiction {

struct LcpWork {
  Buffer<double> matrices, best;
  Buffer<int> integers;
};

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
    return rows * rows + 3 * rows + variables * variables + 4 * variables;
  }
  static std::size_t ints(std::size_t variables) { return 3 * variables; }

  /// `integers` holds ints(); build() is to follow.
  StewartTrinkle(const Island& island, const Polygon& polygon, Scratch& scratch, int* integers);

  /// M and q of the problem with proximal / s_i^2 (lambda - centre) added to c; the centre is the
  /// problem's impulses at the call.
  void build(double proximal, const double* centre);

  int size() const { return size_; }
  bool is_free(int v) const { return free_[v] != 0; }
  const double* M(int v) const { return M_ + static_cast<std::size_t>(v) * size_; }  ///< row v
  const double* q() const { return q_; }
  /// reach mu for lambda_N and sigma, else 0: M + M' plus this diagonal is positive semidefinite.
  double indefiniteness(int v) const { return indefiniteness_[v]; }

  /// z to the problem's impulses, parts of z outside its signs cut off.
  void impulses(const double* z, double* lambda) const;
  /// The problem's impulses and their velocities to z; of all beta, those next to lambda_T.
  void variables(const double* lambda, const double* velocity, double* z) const;

 private:
  template <class Visit>
  void for_each_set(Visit&& visit) const;
  void set_scales();
  void add_proximal(double proximal, const double* centre);
  void move_origin();
  void add(int row, double coefficient, int count = 1);
  void add_variables(const ConstraintSet& set, int row);
  void multiply();
  void couple(const ConstraintSet& set, int row, int v);
  double& diagonal(int r) { return G_[static_cast<std::size_t>(r) * (island_.rows() + 1)]; }
  double& entry(int u, int v) { return M_[static_cast<std::size_t>(u) * size_ + v]; }

  const Island& island_;
  const Polygon& polygon_;
  int size_, filled_ = 0;
  double unit_ = 1.0;
  double *G_, *scale_, *offset_, *g_;  // by row of the island; g at the offset
  double *M_, *q_, *indefiniteness_;
  double* coefficient_;        // lambda / unit = P z, two a variable
  int *row_, *count_, *free_;  // a variable acts on `count` rows from `row` on
};

}  // namespace stiction
