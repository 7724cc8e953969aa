#pragma once

#include <vector>

namespace stiction {

/// P A Q = L U with complete pivoting: the factors of a square matrix whose rank is part of the
/// answer. Keeps its memory from one matrix to the next.
class PivotedLu {
 public:
  /// Where the entries of A [n x n, row-major] go; zero.
  double* resize(int n);
  /// Factors them in place; a pivot below `threshold` ends it, and what is left counts as zero.
  /// `symmetric`: pivots are taken from the diagonal, for a symmetric semidefinite A.
  void factor(double threshold, bool symmetric);

  int size() const { return n_; }
  int rank() const { return rank_; }
  int nullity() const { return n_ - rank_; }
  double smallest_pivot() const { return smallest_; }  ///< that counts, 1 if none does

  /// The basic solution X of A X = B, zero in the nullity() unknowns that have no pivot. B and X
  /// [n x stride], `width` columns, multiples of kLaneColumns; B is destroyed, may not be X.
  void solve(double* B, int stride, int width, double* X) const;
  /// The basic solution of A^T x = b, in place [n].
  void solve_transposed(double* b) const;
  /// Eliminates b [n] in place; the largest entry left over in the nullity() rows that have no
  /// pivot: zero where A x = b has a solution.
  double left_over(double* b) const;
  /// Column j of the null space [n], j < nullity().
  void null_vector(int j, double* x) const;
  /// The same of A^T.
  void left_null_vector(int j, double* x) const;

 private:
  void exchange(int k, int row, int column);

  int n_ = 0, rank_ = 0;
  double smallest_ = 1.0;
  std::vector<double> lu_;         ///< in the order of the pivots
  std::vector<int> row_, column_;  ///< [n] original row and column at each place
  mutable std::vector<double> work_;
};

}  // namespace stiction
