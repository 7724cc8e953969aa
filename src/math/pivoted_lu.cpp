#include "math/pivoted_lu.hpp"

#include "math/clones.hpp"
#include "math/row_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace stiction {
namespace {

struct Place {
  int row, column;
};

/// The largest entry of the rows and columns from k on.
STICTION_CLONES Place largest(const double* a, int n, int k) {
  Place best{k, k};
  double most = -1.0;
  for (int i = k; i < n; ++i) {
    const double* row = a + static_cast<std::ptrdiff_t>(i) * n;
    double of_row = 0.0;
    for (int j = k; j < n; ++j) of_row = of_row < std::abs(row[j]) ? std::abs(row[j]) : of_row;
    if (!(of_row > most)) continue;
    most = of_row;
    int j = k;
    while (j + 1 < n && std::abs(row[j]) != of_row) ++j;  // none if there are NaN
    best = {i, j};
  }
  return best;
}

Place largest_diagonal(const double* a, int n, int k) {
  int best = k;
  for (int i = k + 1; i < n; ++i) {
    if (a[static_cast<std::ptrdiff_t>(i) * n + i] > a[static_cast<std::ptrdiff_t>(best) * n + best])
      best = i;
  }
  return {best, best};
}

/// Rows below k minus their multiples of row k, which are kept in column k.
STICTION_CLONES void eliminate(double* a, int n, int k) {
  const double* pivot = a + static_cast<std::ptrdiff_t>(k) * n;
  const double inverse = 1.0 / pivot[k];
  for (int i = k + 1; i < n; ++i) {
    double* row = a + static_cast<std::ptrdiff_t>(i) * n;
    const double l = row[k] * inverse;
    row[k] = l;
    if (l == 0.0) continue;
    for (int j = k + 1; j < n; ++j) row[j] -= l * pivot[j];
  }
}

}  // namespace

double* PivotedLu::resize(int n) {
  n_ = n;
  lu_.assign(static_cast<std::size_t>(n) * n, 0.0);
  row_.resize(n);
  column_.resize(n);
  std::iota(row_.begin(), row_.end(), 0);
  std::iota(column_.begin(), column_.end(), 0);
  work_.resize(n);
  return lu_.data();
}

void PivotedLu::exchange(int k, int row, int column) {
  double* a = lu_.data();
  if (row != k) {
    std::swap_ranges(a + static_cast<std::ptrdiff_t>(k) * n_,
                     a + static_cast<std::ptrdiff_t>(k + 1) * n_,
                     a + static_cast<std::ptrdiff_t>(row) * n_);
    std::swap(row_[k], row_[row]);
  }
  if (column != k) {
    for (int i = 0; i < n_; ++i)
      std::swap(a[static_cast<std::ptrdiff_t>(i) * n_ + k],
                a[static_cast<std::ptrdiff_t>(i) * n_ + column]);
    std::swap(column_[k], column_[column]);
  }
}

void PivotedLu::factor(double threshold, bool symmetric) {
  double* a = lu_.data();
  smallest_ = 1.0;
  for (rank_ = 0; rank_ < n_; ++rank_) {
    const int k = rank_;
    const Place p = symmetric ? largest_diagonal(a, n_, k) : largest(a, n_, k);
    exchange(k, p.row, p.column);
    const double pivot = std::abs(a[static_cast<std::ptrdiff_t>(k) * n_ + k]);
    if (!(pivot > threshold)) break;
    smallest_ = std::min(smallest_, pivot);
    eliminate(a, n_, k);
  }
}

void PivotedLu::solve(double* B, int stride, int width, double* X) const {
  const auto row_of = [&](double* base, int place) {
    return base + static_cast<std::ptrdiff_t>(place) * stride;
  };
  std::vector<double>& factors = work_;
  for (int i = 1; i < rank_; ++i) {
    const double* l = lu_.data() + static_cast<std::ptrdiff_t>(i) * n_;
    for (int k = 0; k < i; ++k) factors[k] = -l[k];
    add_rows(factors.data(), row_.data(), i, B, stride, width, row_of(B, row_[i]));
  }
  for (int i = n_ - 1; i >= rank_; --i) std::fill_n(row_of(X, column_[i]), width, 0.0);
  for (int i = rank_ - 1; i >= 0; --i) {
    const double* u = lu_.data() + static_cast<std::ptrdiff_t>(i) * n_;
    const double inverse = 1.0 / u[i];
    double* x = row_of(X, column_[i]);
    const double* b = row_of(B, row_[i]);
    for (int c = 0; c < width; ++c) x[c] = b[c];
    for (int k = i + 1; k < rank_; ++k) factors[k] = -u[k];
    add_rows(factors.data() + i + 1, column_.data() + i + 1, rank_ - i - 1, X, stride, width, x);
    for (int c = 0; c < width; ++c) x[c] *= inverse;
  }
}

double PivotedLu::left_over(double* b) const {
  double most = 0.0;
  for (int i = 0; i < n_; ++i) {
    const double* l = lu_.data() + static_cast<std::ptrdiff_t>(i) * n_;
    for (int k = 0; k < std::min(i, rank_); ++k) b[row_[i]] -= l[k] * b[row_[k]];
    if (i >= rank_) most = std::max(most, std::abs(b[row_[i]]));
  }
  return most;
}

void PivotedLu::solve_transposed(double* b) const {
  // A^T = Q^-T U^T L^T P^-T: U^T y = Q^T b, L^T z = y, x = P^T z.
  std::vector<double>& y = work_;
  for (int i = 0; i < rank_; ++i) y[i] = b[column_[i]];
  for (int i = 0; i < rank_; ++i) {
    const double* u = lu_.data() + static_cast<std::ptrdiff_t>(i) * n_;
    y[i] /= u[i];
    for (int k = i + 1; k < rank_; ++k) y[k] -= u[k] * y[i];
  }
  for (int i = rank_ - 1; i >= 0; --i) {
    const double* l = lu_.data() + static_cast<std::ptrdiff_t>(i) * n_;
    for (int k = 0; k < i; ++k) y[k] -= l[k] * y[i];
  }
  std::fill(b, b + n_, 0.0);
  for (int i = 0; i < rank_; ++i) b[row_[i]] = y[i];
}

void PivotedLu::left_null_vector(int j, double* x) const {
  std::fill(x, x + n_, 0.0);
  const auto factor = [&](int i, int k) { return lu_[static_cast<std::size_t>(i) * n_ + k]; };
  const int free = rank_ + j;
  x[row_[free]] = 1.0;
  for (int k = rank_ - 1; k >= 0; --k) {
    double sum = factor(free, k);
    for (int i = k + 1; i < rank_; ++i) sum += factor(i, k) * x[row_[i]];
    x[row_[k]] = -sum;
  }
}

void PivotedLu::null_vector(int j, double* x) const {
  std::fill(x, x + n_, 0.0);
  const int free = rank_ + j;
  x[column_[free]] = 1.0;
  for (int i = rank_ - 1; i >= 0; --i) {
    const double* u = lu_.data() + static_cast<std::ptrdiff_t>(i) * n_;
    double sum = u[free];
    for (int k = i + 1; k < rank_; ++k) sum += u[k] * x[column_[k]];
    x[column_[i]] = -sum / u[i];
  }
}

}  // namespace stiction
