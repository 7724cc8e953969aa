#include "math/block_sparse.hpp"

#include "math/clones.hpp"
#include "math/six_rows.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

// Node k, eliminated in its turn, with D its diagonal block, U its blocks to the right and L^T the
// transposed ones below (a symmetric matrix has L^T = U):
//   W = D^-1 U,   A_ij -= L_ik W_kj for all later nodes i, j that k couples with.
// The panel of k holds its rows, [D U] in upper_ and [. L^T] in lower_, and its columns are the
// nodes of its fill, by position, so that row i of a product lands in the panel of i as long
// stretches. D is kept as its LU factors with row exchanges.

namespace stiction {

void BlockSparse::begin(const std::vector<int>& sizes) {
  nodes_.clear();
  rows_ = 0;
  for (const int size : sizes) {
    Node node{};
    node.size = size;
    node.start = rows_;
    rows_ += pitch(size);
    nodes_.push_back(node);
  }
  words_ = (static_cast<int>(sizes.size()) + 63) / 64;
  graph_.assign(sizes.size() * words_, 0);
}

void BlockSparse::couple(int a, int b) {
  if (a == b) return;
  graph_[a * words_ + b / 64] |= std::uint64_t{1} << (b % 64);
  graph_[b * words_ + a / 64] |= std::uint64_t{1} << (a % 64);
}

namespace {

template <class Visit>
void each_bit(const std::uint64_t* bits, int words, Visit&& visit) {
  for (int w = 0; w < words; ++w) {
    for (std::uint64_t rest = bits[w]; rest != 0; rest &= rest - 1)
      visit(64 * w + __builtin_ctzll(rest));
  }
}

}  // namespace

/// Minimum degree, counted in rows; ties go to the first node. The graph fills on the way.
void BlockSparse::order_nodes() {
  const int n = static_cast<int>(nodes_.size());
  const auto degree = [&](int a) {
    int sum = 0;
    each_bit(&graph_[a * words_], words_, [&](int b) { sum += pitch(nodes_[b].size); });
    return sum;
  };
  order_.clear();
  position_.assign(n, -1);
  columns_.clear();
  degree_.resize(n);
  for (int a = 0; a < n; ++a) degree_[a] = degree(a);
  for (int position = 0; position < n; ++position) {
    int next = -1;
    for (int a = 0; a < n; ++a) {
      if (position_[a] < 0 && (next < 0 || degree_[a] < degree_[next])) next = a;
    }
    position_[next] = position;
    order_.push_back(next);
    Node& node = nodes_[next];
    node.first_column = static_cast<int>(columns_.size());
    node.width = pitch(node.size) + degree_[next];
    const std::uint64_t* own = &graph_[next * words_];
    each_bit(own, words_, [&](int b) { columns_.push_back(b); });
    node.num_columns = static_cast<int>(columns_.size()) - node.first_column;
    for (int c = node.first_column; c < node.first_column + node.num_columns; ++c) {
      std::uint64_t* other = &graph_[columns_[c] * words_];
      for (int w = 0; w < words_; ++w) other[w] |= own[w];
      other[columns_[c] / 64] &= ~(std::uint64_t{1} << (columns_[c] % 64));
      other[next / 64] &= ~(std::uint64_t{1} << (next % 64));
      degree_[columns_[c]] = degree(columns_[c]);
    }
  }
}

bool BlockSparse::is_known() const {
  const auto same_size = [](const Node& a, const Node& b) { return a.size == b.size; };
  return known_.graph == graph_ &&
         std::equal(
             known_.nodes.begin(), known_.nodes.end(), nodes_.begin(), nodes_.end(), same_size);
}

/// The same large island is solved up to three times a step, small ones between: those are ordered
/// sooner than compared.
void BlockSparse::order_once() {
  constexpr std::size_t kLarge = 64;  // nodes
  if (nodes_.size() < kLarge) return order_nodes();
  auto own = std::tie(nodes_, order_, position_, columns_);
  auto known = std::tie(known_.nodes, known_.order, known_.position, known_.columns);
  if (is_known()) {
    own = known;
    return;
  }
  known_.graph = graph_;
  order_nodes();
  known = own;
}

void BlockSparse::analyse() {
  order_once();
  places_.resize(columns_.size());
  starts_.resize(columns_.size());
  eights_.clear();
  pivots_.resize(rows_);
  work_ = 0.0;
  std::int64_t panel = 0;
  for (Node& node : nodes_) {
    int* first = columns_.data() + node.first_column;
    for (int c = 0; c < node.num_columns; ++c) first[c] = position_[first[c]];
    std::sort(first, first + node.num_columns);
    int place = pitch(node.size);
    node.first_eight = static_cast<int>(eights_.size());
    for (int c = 0; c < node.num_columns; ++c) {
      const Node& other = nodes_[order_[first[c]]];
      places_[node.first_column + c] = place;
      starts_[node.first_column + c] = other.start;
      for (int k = 0; k < pitch(other.size); k += 8) eights_.push_back(other.start + k);
      place += pitch(other.size);
    }
    node.panel = panel;
    panel += static_cast<std::int64_t>(node.size) * node.width;
    const double n = node.size, m = node.width - pitch(node.size);
    work_ += n * (n * n / 3.0 + n * m + 0.5 * m * m);
  }
  upper_.resize(panel);
  lower_.resize(panel);
}

void BlockSparse::clear(bool symmetric) {
  symmetric_ = symmetric;
  std::fill(upper_.begin(), upper_.end(), 0.0);
  if (!symmetric) std::fill(lower_.begin(), lower_.end(), 0.0);
}

int BlockSparse::offset(const Node& node, int position) const {
  const int* first = columns_.data() + node.first_column;
  return places_[std::lower_bound(first, first + node.num_columns, position) - columns_.data()];
}

BlockSparse::Block BlockSparse::diagonal(int a) {
  return {upper_.data() + nodes_[a].panel, nodes_[a].width};
}

BlockSparse::Pair BlockSparse::pair(int a, int b) {
  const bool swapped = position_[b] < position_[a];
  const Node& first = nodes_[swapped ? b : a];
  const std::int64_t at = first.panel + offset(first, position_[swapped ? a : b]);
  return {swapped, {upper_.data() + at, first.width}, {lower_.data() + at, first.width}};
}

/// D = P^-1 L U in place, with 1 / U_kk on the diagonal.
bool BlockSparse::factor_diagonal(const Node& node) {
  double* D = upper_.data() + node.panel;
  const int n = node.size, width = node.width;
  int* pivots = pivots_.data() + node.start;
  if (is_six(node)) return six_rows::factor(D, width, symmetric_, pivots);
  for (int k = 0; k < n; ++k) {
    int best = k;
    if (!symmetric_) {
      for (int i = k + 1; i < n; ++i) {
        if (std::abs(D[i * width + k]) > std::abs(D[best * width + k])) best = i;
      }
    }
    pivots[k] = best;
    if (best != k) std::swap_ranges(D + k * width, D + k * width + n, D + best * width);
    const double pivot = D[k * width + k];
    if (!(symmetric_ ? pivot > 0.0 : std::abs(pivot) > 0.0) || !std::isfinite(pivot)) return false;
    const double inverse = 1.0 / pivot;
    for (int i = k + 1; i < n; ++i) {
      const double factor = D[i * width + k] *= inverse;
      for (int j = k + 1; j < n; ++j) D[i * width + j] -= factor * D[k * width + j];
    }
    D[k * width + k] = inverse;
  }
  return true;
}

namespace {

/// out[0..count) -= sum_q coefficient[q * step] row_q[0..count), q < n.
inline __attribute__((always_inline)) void subtract_rows(const double* coefficients,
                                                         int step,
                                                         const double* rows,
                                                         int width,
                                                         int n,
                                                         double* __restrict out,
                                                         int count) {
  int q = 0;
  for (; q + 6 <= n; q += 6) {
    const double* __restrict x = rows + static_cast<std::ptrdiff_t>(q) * width;
    const double c0 = coefficients[q * step], c1 = coefficients[(q + 1) * step],
                 c2 = coefficients[(q + 2) * step], c3 = coefficients[(q + 3) * step],
                 c4 = coefficients[(q + 4) * step], c5 = coefficients[(q + 5) * step];
    for (int j = 0; j < count; ++j) {
      out[j] -=
          ((c0 * x[j] + c1 * x[j + width]) + (c2 * x[j + 2 * width] + c3 * x[j + 3 * width])) +
          (c4 * x[j + 4 * width] + c5 * x[j + 5 * width]);
    }
  }
  for (; q < n; ++q) {
    const double* __restrict x = rows + static_cast<std::ptrdiff_t>(q) * width;
    const double c = coefficients[q * step];
    for (int j = 0; j < count; ++j) out[j] -= c * x[j];
  }
}

/// Right of its diagonal block D = P^-1 L U a panel has `count` columns: rows <- D^-1 rows.
STICTION_CLONES void divide_rows(
    const double* D, const int* pivots, int n, int width, int count, double* rows) {
  const auto row = [&](int k) { return rows + static_cast<std::ptrdiff_t>(k) * width; };
  for (int k = 0; k < n; ++k) {
    if (pivots[k] != k) std::swap_ranges(row(k), row(k) + count, row(pivots[k]));
  }
  for (int k = 1; k < n; ++k) subtract_rows(D + k * width, 1, rows, width, k, row(k), count);
  for (int k = n - 1; k >= 0; --k) {
    double* __restrict x = row(k);
    if (k + 1 < n) subtract_rows(D + k * width + k + 1, 1, row(k + 1), width, n - k - 1, x, count);
    const double inverse = D[k * width + k];
    for (int j = 0; j < count; ++j) x[j] *= inverse;
  }
}

/// Row r of the target -= sum_q coefficients[q, r] rows[q, .]; both panels `width` wide.
STICTION_CLONES void subtract_product(const double* coefficients,
                                      const double* rows,
                                      int width,
                                      int n,
                                      int count,
                                      double* target,
                                      int target_width,
                                      int target_rows) {
  for (int r = 0; r < target_rows; ++r) {
    subtract_rows(coefficients + r,
                  width,
                  rows,
                  width,
                  n,
                  target + static_cast<std::ptrdiff_t>(r) * target_width,
                  count);
  }
}

/// x <- D^-1 x of one node.
void divide(const double* D, const int* pivots, int n, int width, double* x) {
  for (int k = 0; k < n; ++k) std::swap(x[k], x[pivots[k]]);
  for (int k = 1; k < n; ++k) {
    for (int i = 0; i < k; ++i) x[k] -= D[k * width + i] * x[i];
  }
  for (int k = n - 1; k >= 0; --k) {
    for (int i = k + 1; i < n; ++i) x[k] -= D[k * width + i] * x[i];
    x[k] *= D[k * width + k];
  }
}

}  // namespace

/// Where the columns of the panel from `column` on lie in that of the node of this column.
void BlockSparse::find_stretches(const Node& node, int column, const Node& target) {
  stretches_.clear();
  const int last = node.first_column + node.num_columns;
  int at = target.first_column;
  for (int c = column; c < last; ++c) {
    const int size = pitch(nodes_[order_[columns_[c]]].size);
    int to = 0;
    if (c > column) {
      while (columns_[at] != columns_[c]) ++at;
      to = places_[at];
    }
    const bool joined = !stretches_.empty() && stretches_.back().to + stretches_.back().count == to;
    if (joined && c > column + 1) {
      stretches_.back().count += size;
    } else {
      stretches_.push_back({places_[c], to, size});
    }
  }
}

void BlockSparse::eliminate(const Node& node) {
  double* U = upper_.data() + node.panel;
  double* L = lower_.data() + node.panel;
  if (symmetric_) std::copy(U, U + static_cast<std::ptrdiff_t>(node.size) * node.width, L);
  const int own = pitch(node.size), count = node.width - own;
  const int* pivots = pivots_.data() + node.start;
  if (is_six(node))
    six_rows::divide(U, pivots, node.width, eights(node), U + own);
  else
    divide_rows(U, pivots, node.size, node.width, count, U + own);
  for (int c = 0; c < node.num_columns; ++c) {
    const int column = node.first_column + c, place = places_[column];
    const Node& target = nodes_[order_[columns_[column]]];
    find_stretches(node, column, target);
    for (std::size_t s = 0; s < stretches_.size(); ++s) {
      subtract(node, L + place, U, stretches_[s], target, upper_);
      if (symmetric_ || s == 0) continue;  // the first is the diagonal block
      subtract(node, U + place, L, stretches_[s], target, lower_);
    }
  }
}

/// Of the target's panel, row r -= sum_q coefficients[q, r] rows[q, .] along the stretch.
void BlockSparse::subtract(const Node& node,
                           const double* coefficients,
                           const double* rows,
                           const Stretch& stretch,
                           const Node& target,
                           std::vector<double>& values) {
  const double* from = rows + stretch.from;
  double* to = values.data() + target.panel + stretch.to;
  if (is_six(node) && is_six(target))
    six_rows::subtract_product(coefficients, from, node.width, stretch.count / 8, to, target.width);
  else
    subtract_product(
        coefficients, from, node.width, node.size, stretch.count, to, target.width, target.size);
}

bool BlockSparse::factor() {
  for (const int k : order_) {
    if (!factor_diagonal(nodes_[k])) return false;
    eliminate(nodes_[k]);
  }
  return true;
}

void BlockSparse::solve(double* x) {
  // Forwards: b_i -= L_ik D^-1 b_k; what is kept is D^-1 b_k. Backwards: b_k -= W_kj b_j.
  for (const int k : order_) solve_forwards(nodes_[k], x);
  for (auto k = order_.rbegin(); k != order_.rend(); ++k) solve_backwards(nodes_[*k], x);
}

void BlockSparse::solve_forwards(const Node& node, double* x) const {
  const double* D = upper_.data() + node.panel;
  const double* panel = lower_.data() + node.panel;
  const int* pivots = pivots_.data() + node.start;
  const int* starts = starts_.data() + node.first_column;
  if (is_six(node))
    return six_rows::solve_forwards(D,
                                    pivots,
                                    panel + 8,
                                    node.width,
                                    eights(node),
                                    eights_.data() + node.first_eight,
                                    node.start,
                                    x);
  double* b = x + node.start;
  divide(D, pivots, node.size, node.width, b);
  for (int c = 0; c < node.num_columns; ++c) {
    const double* L = panel + places_[node.first_column + c];
    const int size = size_of_column(node.first_column + c);
    for (int q = 0; q < node.size; ++q, L += node.width) {
      for (int r = 0; r < size; ++r) x[starts[c] + r] -= L[r] * b[q];
    }
  }
}

void BlockSparse::solve_backwards(const Node& node, double* x) const {
  const double* panel = upper_.data() + node.panel;
  const int* starts = starts_.data() + node.first_column;
  if (is_six(node))
    return six_rows::solve_backwards(
        panel + 8, node.width, eights(node), eights_.data() + node.first_eight, node.start, x);
  for (int c = 0; c < node.num_columns; ++c) {
    const double* W = panel + places_[node.first_column + c];
    const int size = size_of_column(node.first_column + c);
    for (int q = 0; q < node.size; ++q, W += node.width) {
      for (int r = 0; r < size; ++r) x[node.start + q] -= W[r] * x[starts[c] + r];
    }
  }
}

}  // namespace stiction
