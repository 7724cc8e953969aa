#pragma once

#include <cstdint>
#include <vector>

namespace stiction {

/// A square matrix of dense blocks with a symmetric sparsity pattern, factored without pivoting
/// between blocks, in minimum-degree order (George and Liu 1989). Rows of the matrix are grouped
/// into nodes; couple() says which nodes share a block. All memory is kept for the next matrix.
class BlockSparse {
 public:
  /// Entries from one node to the next, in vectors and in rows of blocks: whole eights, so that a
  /// row of a free body is one wide register. Entries between are zero and stay so.
  static constexpr int pitch(int size) { return (size + 7) / 8 * 8; }

  /// A matrix of `sizes.size()` nodes with sizes[k] rows each and no blocks off the diagonal.
  void begin(const std::vector<int>& sizes);
  void couple(int a, int b);
  /// Finds the order and the fill; every block that add() names must have been coupled. What was
  /// found of a large graph serves the same graph again, whatever came between.
  void analyse();
  /// Multiplications and additions of one factorisation of a symmetric matrix, about.
  double work() const { return work_; }

  /// Zeroes the values. Of a symmetric matrix add() gets one block of each pair and factor() does
  /// half the work.
  void clear(bool symmetric);
  /// A block to be added to: entry (i, j) at values[i * stride + j].
  struct Block {
    double* values;
    int stride;
  };
  Block diagonal(int a);
  /// Of a pair of coupled nodes the block (first, second), and of a general matrix the transpose of
  /// (second, first): all that lies off the diagonal, as rows of the node that is eliminated first.
  struct Pair {
    bool swapped;  ///< false: first = a
    Block upper, lower_transposed;
  };
  Pair pair(int a, int b);

  /// False if a pivot is zero or not a number, or of a symmetric matrix not positive.
  bool factor();
  /// x <- A^-1 x; x holds the nodes in the order of begin(), at their pitch.
  void solve(double* x);

 private:
  struct Node {
    int size, start;     // rows, first entry of a vector
    int first_column;    // into columns_: nodes eliminated later that it couples with
    int num_columns;     // of them
    int width;           // entries of a row of its panel: itself, then these nodes
    int first_eight;     // into eights_: where the eights of these nodes start in a vector
    std::int64_t panel;  // into upper_ and lower_
  };

  /// Columns of one panel and where they lie in another.
  struct Stretch {
    int from, to, count;
  };

  /// A graph, and what order_nodes() finds of it.
  struct Ordered {
    std::vector<std::uint64_t> graph;
    std::vector<Node> nodes;
    std::vector<int> order, position, columns;
  };

  int offset(const Node& node, int position) const;
  bool is_known() const;
  void order_once();
  void order_nodes();
  bool factor_diagonal(const Node& node);
  void find_stretches(const Node& node, int column, const Node& target);
  void eliminate(const Node& node);
  void subtract(const Node& node,
                const double* coefficients,
                const double* rows,
                const Stretch& stretch,
                const Node& target,
                std::vector<double>& values);
  int size_of_column(int c) const { return nodes_[order_[columns_[c]]].size; }
  /// Free bodies have kernels of their own (six_rows.hpp).
  static bool is_six(const Node& node) { return node.size == 6; }
  int eights(const Node& node) const { return node.width / 8 - 1; }
  void solve_forwards(const Node& node, double* x) const;
  void solve_backwards(const Node& node, double* x) const;

  std::vector<Node> nodes_;    // as begin() numbers them
  std::vector<int> order_;     // [position] node
  std::vector<int> position_;  // [node]
  std::vector<int> columns_;   // positions, ascending
  std::vector<int> places_;    // of columns_: where the node starts in the panel
  std::vector<int> starts_;    // of columns_: and in a vector
  std::vector<int> eights_;
  std::vector<std::uint64_t> graph_;
  Ordered known_;             // the last large graph
  int words_ = 0, rows_ = 0;  // rows_: entries of a vector
  std::vector<double> upper_, lower_;
  std::vector<int> pivots_, degree_;
  std::vector<Stretch> stretches_;
  bool symmetric_ = true;
  double work_ = 0.0;
};

}  // namespace stiction
