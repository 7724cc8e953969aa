#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <vector>

namespace stiction {

/// Which convex set holds the impulse of a constraint, with its dimension.
enum class SetKind : std::uint8_t {
  kCone,         ///< 3 rows (t1, t2, n): friction cone ||lambda_T|| <= mu lambda_N
  kNonNegative,  ///< 1 row: lambda >= 0 (frictionless contact, joint limit)
  kBox,          ///< 1 row: lower <= lambda <= upper (dry friction)
  kFree,         ///< m rows: bilateral
};

/// Rows of a set at most, for scratch on the stack; from_dense() splits longer bilateral sets.
inline constexpr int kMaxSetDim = 6;

struct ConstraintSet {
  SetKind kind = SetKind::kCone;
  int dim = 3;
  int offset = 0;                   ///< first row; sets are stacked without gaps, never 3 i
  double mu = 0.0;                  ///< kCone
  double lower = 0.0, upper = 0.0;  ///< kBox [N s or N m s]

  static ConstraintSet cone(double mu) { return {SetKind::kCone, 3, 0, mu, 0.0, 0.0}; }
  static ConstraintSet non_negative() { return {SetKind::kNonNegative, 1, 0, 0.0, 0.0, 0.0}; }
  static ConstraintSet box(double lower, double upper) {
    return {SetKind::kBox, 1, 0, 0.0, lower, upper};
  }
  static ConstraintSet free(int dim) { return {SetKind::kFree, dim, 0, 0.0, 0.0, 0.0}; }
};

/// The contact problem of one step. With c(lambda) = (G + diag R) lambda + g, find lambda with
///   cone:         K_mu  3 lambda  perp  c + Gamma(c)  in  K_mu*,  Gamma(c) = (0, 0, mu ||c_T||)
///   non-negative: 0 <= lambda perp c >= 0
///   box:          lambda in [l, u], c > 0 only at l, c < 0 only at u
///   free:         c = 0.
/// lambda [N s], c and g [m/s]. G is stored by row panels over the sets that share a tree; the
/// diagonal compliance R is already added to it.
struct ContactProblem {
  /// Consecutive columns of a panel.
  struct Run {
    int column;  ///< first global row index
    int count;
    int set;  ///< the set of that row; the others follow it
  };

  /// G - diag R = sum over trees of Z^T inertia^-1 Z: which coordinates of which tree a set acts
  /// on.
  struct Trees {
    struct Side {
      int tree;
      int length;  ///< coordinates
      int dof;     ///< start in `dofs`
      int z;       ///< start in `z`: entry (m, r) at [3 m + r]; a set of 6 rows holds two blocks of
                   ///< 3, one of a single row has entry m at [m]
    };
    std::vector<int> side_start;  ///< [sets + 1] into sides
    std::vector<Side> sides;
    std::vector<int> dofs;  ///< coordinates, local to the tree
    std::vector<double> z;
    std::vector<int> tree_start;  ///< [trees + 1] into inertia
    std::vector<double> inertia;  ///< > 0, of the coordinates
    bool known() const { return !sides.empty(); }
  };

  std::vector<ConstraintSet> sets;
  std::vector<double> g;               ///< [rows] free velocity minus reference velocity
  std::vector<double> compliance;      ///< [rows] R, physical only
  std::vector<double> velocity_floor;  ///< [sets, m/s] rounding of g, from that of the state;
                                       ///< empty: 0
  std::vector<int> run_start;          ///< [sets + 1] into runs
  std::vector<Run> runs;
  std::vector<int> panel_start;     ///< [sets + 1] into values
  std::vector<int> diagonal_start;  ///< [sets] of the own block in values
  std::vector<double> values;       ///< panels: column-major, `stride(dim)` doubles per column
  std::vector<int> island_start;    ///< [islands + 1] into sets; islands do not couple
  Trees trees;                      ///< known where build_problem finds several trees; else empty

  int num_rows() const { return static_cast<int>(g.size()); }
  int num_sets() const { return static_cast<int>(sets.size()); }
  int num_islands() const { return static_cast<int>(island_start.size()) - 1; }
  /// Columns of cone panels are padded to 4 so that they load as two vectors.
  static int stride(int dim) { return dim == 3 ? 4 : dim; }

  /// Largest entry of diag(G + R) of the sets [first, last), 0 if there are none.
  double largest_diagonal(int first, int last) const;

  /// c of one set: out[dim] = g_i + sum_j G_ij lambda_j.
  void velocity(int set, const double* lambda, double* out) const;
  /// Dense G + diag R, for tests and users.
  Eigen::MatrixXd dense() const;

  /// From arrays: G (rows x rows, symmetric), g, sets in order, optional R (rows). Blocks that are
  /// exactly zero are dropped. Throws std::invalid_argument naming the argument and its value.
  static ContactProblem from_dense(const Eigen::MatrixXd& G,
                                   const Eigen::VectorXd& g,
                                   const std::vector<ConstraintSet>& sets,
                                   const Eigen::VectorXd& R = {});
};

}  // namespace stiction
