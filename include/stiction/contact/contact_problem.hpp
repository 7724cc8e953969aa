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
  /// [m] Length that makes rad/s of an angular row m/s: of a row of one dimension, and of the last
  /// three of a weld. 1: nobody said, or the row slides.
  double arm = 1.0;

  /// One row: non_negative().
  static ConstraintSet cone(const Cone& cone) {
    if (cone.dim == 1) return non_negative();
    return {SetKind::kCone, cone.dim, 0, cone, 0.0, 0.0, 1.0};
  }
  static ConstraintSet cone(double mu) { return cone(Cone::coulomb(mu)); }
  static ConstraintSet non_negative() { return {SetKind::kNonNegative, 1, 0, {}, 0.0, 0.0, 1.0}; }
  static ConstraintSet box(double lower, double upper) {
    return {SetKind::kBox, 1, 0, {}, lower, upper, 1.0};
  }
  static ConstraintSet free(int dim) { return {SetKind::kFree, dim, 0, {}, 0.0, 0.0, 1.0}; }

  bool is_cone() const { return kind == SetKind::kCone; }
  /// Whether all rows are in N s and m/s.
  bool in_one_unit() const { return is_cone() ? friction.is_circular() : arm == 1.0; }
  /// A velocity times this is in m/s.
  double velocity_unit(int row) const {
    if (in_one_unit()) return 1.0;
    if (is_cone()) return friction.velocity_unit(row);
    return dim == 1 || row >= 3 ? arm : 1.0;
  }
  /// An impulse divided by this is in N s.
  double impulse_unit(int row) const {
    return is_cone() ? (in_one_unit() ? 1.0 : friction.impulse_unit(row)) : velocity_unit(row);
  }
  /// Whether this row pushes and cannot pull.
  bool is_normal(int row) const {
    return is_cone() ? row == dim - 1 : kind == SetKind::kNonNegative;
  }
  /// |g| of a row, 0 where it is of one dimension and impulses of the set cannot oppose it: a joint
  /// 2 cm from its limit opens at 20 m/s by itself. Contacts become rows only within their margin,
  /// so that their g counts.
  double opposed(double g) const {
    const double low = kind == SetKind::kNonNegative ? 0.0 : lower;
    const bool one = kind == SetKind::kNonNegative || kind == SetKind::kBox;
    const bool opens = one && (g < 0.0 ? kind == SetKind::kBox && upper <= 0.0 : low >= 0.0);
    return opens ? 0.0 : g < 0.0 ? -g : g;
  }
};

/// The factors of G: G - diag R = sum over trees of Z^T inertia^-1 Z. Which coordinates of which
/// tree a set acts on, and how.
struct ContactSpace {
  /// One body of a set. On the chain of a tree, entry (m, r) of Z is at [block m + r] of each block
  /// of rows (tree_block), coordinates are dofs[dof + m]. A loose body (contact/loose_rows.hpp) has
  /// six, and rows of eight: entry (m, r) at [8 r + m], the last two are zero.
  struct Side {
    int tree;
    int length;  ///< coordinates
    int dof;     ///< start in `dofs`; kLoose
    int z;       ///< start in `z`
    static constexpr int kLoose = -1, kLooseRow = 8;
    bool loose() const { return dof == kLoose; }
    /// Of `z`, for a set of so many rows.
    int entries(int dim) const { return dim * (loose() ? kLooseRow : length); }
  };

  std::vector<int> side_start;  ///< [sets + 1] into sides
  std::vector<Side> sides;
  std::vector<int> dofs;  ///< coordinates, local to the tree
  std::vector<double> z;
  std::vector<int> tree_start;         ///< [trees + 1] into inertia
  std::vector<double> inertia;         ///< > 0, of the coordinates
  std::vector<double> inverse;         ///< [trees x 8] 1 / inertia of a loose body, then two zeros
  mutable std::vector<double> motion;  ///< [trees x 8] scratch
  bool known() const { return !sides.empty(); }
  int num_trees() const { return static_cast<int>(inverse.size()) / Side::kLooseRow; }
  /// Whether a set, and then its island, acts on loose bodies alone.
  bool loose(int set) const { return known() && sides[side_start[set]].loose(); }
};

/// The contact problem of one step. With c(lambda) = (G + diag R) lambda + g, find lambda with
///   cone:         K  3 lambda  perp  c + Gamma(c)  in  K*
///   non-negative: 0 <= lambda perp c >= 0
///   box:          lambda in [l, u], c > 0 only at l, c < 0 only at u
///   free:         c = 0.
/// lambda [N s], c and g [m/s]. Everywhere below, G has the compliance R on its diagonal.
struct ContactProblem {
  /// G by rows: of each set the columns of all sets that share a tree with it.
  struct Panels {
    /// Consecutive columns of a panel.
    struct Run {
      int column;  ///< first global row index
      int count;
      int set;  ///< the set of that row; the others follow it
    };
    std::vector<int> run_begin, run_end;  ///< [sets] into runs
    std::vector<int> start;               ///< [sets] into values
    std::vector<int> diagonal;            ///< [sets] of the own block in values
    std::vector<Run> runs;
    std::vector<double> values;  ///< column-major, `stride(dim)` doubles per column
    int size = 0;                ///< of values in use

    void clear(int num_sets);
    /// Lays out the panel of a set, at the end: begin(), append() for each set that it couples
    /// with, end(). Its values are not cleared.
    void begin(int set);
    void append(const std::vector<ConstraintSet>& sets, int set, int column);
    void end(int set);
    bool has(int set) const { return start[set] >= 0; }
  };

  std::vector<ConstraintSet> sets;
  std::vector<double> g;               ///< [rows] free velocity minus reference velocity
  std::vector<double> compliance;      ///< [rows] R, physical only
  std::vector<double> velocity_floor;  ///< [sets, m/s] rounding of g, from that of the state;
                                       ///< empty: 0
  double velocity_scale = 0.0;         ///< [m/s] what gravity adds in a step: no velocity is judged
                                       ///< against less
  std::vector<std::uint8_t> resting;   ///< [sets] of an island at rest; empty: none
  std::vector<int> diagonal_start;     ///< [sets] into diagonal
  std::vector<double> diagonal;        ///< own blocks of G, column-major as in the panels
  std::vector<int> island_start;       ///< [islands + 1] into sets; islands do not couple
  ContactSpace space;  ///< known where build_problem finds several trees; else empty
  /// Read it through panels(): what loose bodies carry is assembled when it is asked for, so that
  /// one problem belongs to one thread.
  mutable Panels stored;

  int num_rows() const { return static_cast<int>(g.size()); }
  int num_sets() const { return static_cast<int>(sets.size()); }
  int num_islands() const { return static_cast<int>(island_start.size()) - 1; }
  /// Columns of cone panels are padded to 4 so that they load as two vectors.
  static int stride(int dim) { return dim == 3 ? 4 : dim; }
  /// Rows of a set that stand together in ContactSpace::z: all of a cone, three of six bilateral
  /// ones.
  static int tree_block(const ConstraintSet& set) {
    return set.is_cone() || set.dim == 1 ? set.dim : 3;
  }

  /// The panels of the islands of the sets [first, last); of all sets.
  const Panels& panels(int first, int last) const {
    for (int i = first; i < last; ++i) {
      if (!stored.has(i)) assemble_panels(i);
    }
    return stored;
  }
  const Panels& panels() const { return panels(0, num_sets()); }
  /// Own block of a set.
  const double* block(int set) const { return diagonal.data() + diagonal_start[set]; }
  /// G_rr of a row of a set.
  double diagonal_entry(int set, int row) const {
    return block(set)[(stride(sets[set].dim) + 1) * row];
  }
  void set_diagonal_entry(int set, int row, double value);
  /// Own blocks from the panels, zero where there are none yet.
  void copy_diagonal();
  /// Largest entry of diag G of the sets [first, last), 0 if there are none.
  double largest_diagonal(int first, int last) const;

  /// visit(j, column) for each stored column of a set's panel: column[r] is G_rj.
  template <class Visit>
  void each_column(int set, Visit&& visit) const {
    const Panels& all = panels(set, set + 1);
    const int step = stride(sets[set].dim);
    const double* column = all.values.data() + all.start[set];
    for (int k = all.run_begin[set]; k < all.run_end[set]; ++k) {
      const Panels::Run& run = all.runs[k];
      for (int c = 0; c < run.count; ++c, column += step) visit(run.column + c, column);
    }
  }

  /// c = G lambda + g of the sets [first, last), whole islands; both arrays are indexed by row.
  void velocities(int first, int last, const double* lambda, double* c) const;
  /// c of one set from its panel, which is there: out[dim] = g_i + sum_j G_ij lambda_j.
  void velocity(int set, const double* lambda, double* out) const;
  /// Dense G + diag R, for tests and users.
  Eigen::MatrixXd dense() const;

  /// From arrays: G (rows x rows, symmetric), g, sets in order, optional R (rows). Blocks that are
  /// exactly zero are dropped. Throws std::invalid_argument naming the argument and its value.
  static ContactProblem from_dense(const Eigen::MatrixXd& G,
                                   const Eigen::VectorXd& g,
                                   const std::vector<ConstraintSet>& sets,
                                   const Eigen::VectorXd& R = {});

 private:
  void assemble_panels(int set) const;
};

}  // namespace stiction
