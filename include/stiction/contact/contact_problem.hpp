#pragma once

#include "stiction/contact/cone.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <vector>

namespace stiction {

/// Which convex set holds the impulse of a constraint, with its dimension.
enum class SetKind : std::uint8_t {
  kCone,         ///< 3, 4 or 6 rows: friction cone (cone.hpp)
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
  Cone friction = {};               ///< kCone
  double lower = 0.0, upper = 0.0;  ///< kBox [N s or N m s]

  /// One row: non_negative().
  static ConstraintSet cone(const Cone& cone) {
    if (cone.dim == 1) return non_negative();
    return {SetKind::kCone, cone.dim, 0, cone, 0.0, 0.0};
  }
  static ConstraintSet cone(double mu) { return cone(Cone::coulomb(mu)); }
  static ConstraintSet non_negative() { return {SetKind::kNonNegative, 1, 0, {}, 0.0, 0.0}; }
  static ConstraintSet box(double lower, double upper) {
    return {SetKind::kBox, 1, 0, {}, lower, upper};
  }
  static ConstraintSet free(int dim) { return {SetKind::kFree, dim, 0, {}, 0.0, 0.0}; }

  bool is_cone() const { return kind == SetKind::kCone; }
  /// Whether all rows are in N s and m/s.
  bool in_one_unit() const { return !is_cone() || friction.is_circular(); }
  double velocity_unit(int row) const { return in_one_unit() ? 1.0 : friction.velocity_unit(row); }
  double impulse_unit(int row) const { return in_one_unit() ? 1.0 : friction.impulse_unit(row); }
  /// Whether this row pushes and cannot pull.
  bool is_normal(int row) const {
    return is_cone() ? row == dim - 1 : kind == SetKind::kNonNegative;
  }
};

/// The contact problem of one step. With c(lambda) = (G + diag R) lambda + g, find lambda with
///   cone:         K  3 lambda  perp  c + Gamma(c)  in  K*
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
      int z;       ///< start in `z`: entry (m, r) at [block m + r] of each block of rows
                   ///< (tree_block)
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
  /// Rows of a set that stand together in Trees::z: all of a cone, three of six bilateral ones.
  static int tree_block(const ConstraintSet& set) {
    return set.is_cone() || set.dim == 1 ? set.dim : 3;
  }

  /// The panel that is being laid out gets the columns of a set; of the panel's sets the next.
  void append_columns(int set);
  /// Largest entry of diag(G + R) of the sets [first, last), 0 if there are none.
  double largest_diagonal(int first, int last) const;

  /// visit(j, k) for each stored column of a set's panel: values[k + r] is G_rj.
  template <class Visit>
  void each_column(int set, Visit&& visit) const {
    const int step = stride(sets[set].dim);
    int at = panel_start[set];
    for (int k = run_start[set]; k < run_start[set + 1]; ++k) {
      for (int c = 0; c < runs[k].count; ++c, at += step) visit(runs[k].column + c, at);
    }
  }

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
