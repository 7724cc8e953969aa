#pragma once

#include "math/block_sparse.hpp"
#include "solver/common/island.hpp"

namespace stiction {

/// The coordinates of the trees under an island, G - diag R = Z^T m^-1 Z, and matrices m + Z H Z^T
/// in them. Impulses and velocities are indexed by the problem's rows. Trees stand at the pitch of
/// BlockSparse; a coordinate between them has the inertia 1, and nothing moves it.
class TreeSpace {
 public:
  /// Rows of a set that stand together (ContactProblem::tree_block).
  struct Rows {
    int set, begin, dim;  // begin: row of the problem
    int slope;            // the sum of dim^2 of those before
  };

  /// Order and fill for the island, whose trees `space` knows. False if it knows none, or if they
  /// have more than `most` coordinates.
  bool prepare(const Island& island, const ContactSpace& space, int most);
  /// Of one factorisation, in multiplications.
  double work() const { return matrix_.work(); }
  const std::vector<Rows>& rows() const { return rows_; }
  int num_coordinates() const { return static_cast<int>(inertia_.size()); }
  const std::vector<double>& inertia() const { return inertia_; }

  /// y <- Z impulse.
  void gather(const double* impulse, double* y) const;
  /// motion <- Z^T y.
  void spread(const double* y, double* motion) const;

  /// Factors m + Z H Z^T. Entry (r, c) of the block of rows()[k] at H[slope + dim r + c]; symmetric
  /// if all are. False if a pivot is zero or not finite.
  bool factor(const double* H, bool symmetric);
  /// y <- matrix^-1 y.
  void solve(double* y) { matrix_.solve(y); }

 private:
  struct Side {
    int node, start, length;  // start: first coordinate of its tree
    const int* dofs;          // null: 0, 1, 2, ...
    const double* z;
  };
  /// Where a set adds to the matrix: the block of its first side, of its second and what couples
  /// them.
  struct Target {
    BlockSparse::Block a, b;
    BlockSparse::Pair pair;
  };
  /// Some of the rows and their sides.
  struct Part {
    std::vector<Rows> rows;
    std::vector<Side> sides;
    std::vector<int> side_start;  // [rows + 1]
    std::vector<Target> targets;  // [rows], of loose bodies
    void clear();
  };
  /// What the kernels of loose bodies see of it.
  struct Loose {
    int count;
    const Rows* rows;
    const Side* sides;
    const int* side_start;
    const Target* targets;
  };
  Loose loose() const {
    return {static_cast<int>(loose_.rows.size()),
            loose_.rows.data(),
            loose_.sides.data(),
            loose_.side_start.data(),
            loose_.targets.data()};
  }
  static void gather_loose(const Loose& in, const double* impulse, double* y);
  static void spread_loose(const Loose& in, const double* y, double* motion);
  static void add_loose(const Loose& in, const double* H, bool symmetric);
  void number_trees(const Island& island, const ContactSpace& trees);
  bool all_loose(const ContactSpace& space, int set, int dim) const;
  const double* packed(const double* z, int dim);
  void find_targets();
  void add(int k, const double* H);  // of chains_
  template <int dim>
  static void add_product(const Side& a, const Side& b, const double* H, BlockSparse::Block block);
  static void add_product(
      const Side& a, const Side& b, int dim, const double* H, BlockSparse::Block block);
  void add_coupling(const Side& a, const Side& b, int dim, const double* H);

  BlockSparse matrix_;
  bool symmetric_ = true;
  std::vector<Rows> rows_;
  Part loose_, chains_;         // rows on loose bodies alone, in rows of eight; all others
  std::vector<double> packed_;  // of loose bodies beside others
  std::size_t packed_size_ = 0;
  std::vector<int> node_of_tree_, sizes_, start_;
  std::vector<double> inertia_;
};

}  // namespace stiction
