#include "math/semidefinite.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// The lower triangle of A, rows and columns in pivot order.
template <class Real>
struct Permuted {
  Real* A;
  const int* order;
  int n;
  Real& operator()(int i, int j) const {
    const int r = order[i], c = order[j];
    return r >= c ? A[r * n + c] : A[c * n + r];
  }
};

}  // namespace

int factor_semidefinite(double* A, int n, double zero, double* scale, int* order) {
  for (int k = 0; k < n; ++k) {
    const double d = A[k * n + k];
    scale[k] = d > 0.0 ? 1.0 / std::sqrt(d) : 0.0;
    order[k] = k;
  }
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j <= k; ++j) A[k * n + j] *= scale[k] * scale[j];
  }
  const Permuted<double> entry{A, order, n};
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      if (entry(i, i) > entry(best, best)) best = i;
    }
    if (!(entry(best, best) > zero)) return k;
    std::swap(order[k], order[best]);
    const double inverse = 1.0 / entry(k, k);
    for (int i = k + 1; i < n; ++i) {
      const double l = entry(i, k) * inverse;
      for (int j = k + 1; j <= i; ++j) entry(i, j) -= l * entry(j, k);
    }
    for (int i = k + 1; i < n; ++i) entry(i, k) *= inverse;
  }
  return n;
}

void project_on_range(
    const double* A, int n, int rank, const double* scale, const int* order, double* b, double* x) {
  const Permuted<const double> entry{A, order, n};
  for (int i = 0; i < n; ++i) {
    const int row = order[i];
    double sum = 0.0;
    for (int j = 0; j < std::min(i, rank); ++j) sum += entry(i, j) * x[j];
    if (i < rank) {
      x[i] = b[row] * scale[row] - sum;
    } else {
      b[row] = scale[row] > 0.0 ? sum / scale[row] : 0.0;
    }
  }
}

namespace {

/// Entry (i, j) of L_1: row i in pivot order, unit diagonal.
double column_entry(const Permuted<const double>& entry, int i, int j) {
  return i > j ? entry(i, j) : i == j ? 1.0 : 0.0;
}

/// x [rank] <- L_1^T S b
void times_columns(const Permuted<const double>& entry,
                   int n,
                   int rank,
                   const double* scale,
                   const double* b,
                   double* x) {
  for (int j = 0; j < rank; ++j) {
    x[j] = 0.0;
    for (int i = j; i < n; ++i)
      x[j] += column_entry(entry, i, j) * b[entry.order[i]] * scale[entry.order[i]];
  }
}

/// Row i of L_1 times x.
double row_times(const Permuted<const double>& entry, int i, int rank, const double* x) {
  double sum = 0.0;
  for (int j = 0; j <= std::min(i, rank - 1); ++j) sum += column_entry(entry, i, j) * x[j];
  return sum;
}

/// x <- (C C^T)^-1 x
void substitute_gram(const double* C, int n, double* x) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) x[i] -= C[i * n + j] * x[j];
    x[i] /= C[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) x[i] -= C[j * n + i] * x[j];
    x[i] /= C[i * n + i];
  }
}

}  // namespace

void factor_gram(const double* A, int n, int rank, const int* order, double* C) {
  const Permuted<const double> entry{A, order, n};
  for (int a = 0; a < rank; ++a) {
    for (int b = 0; b <= a; ++b) {
      double sum = 0.0;
      for (int i = a; i < n; ++i) sum += column_entry(entry, i, a) * column_entry(entry, i, b);
      for (int k = 0; k < b; ++k) sum -= C[a * rank + k] * C[b * rank + k];
      C[a * rank + b] = a == b ? std::sqrt(sum) : sum / C[b * rank + b];
    }
  }
}

void nearest_in_range(const SemidefiniteFactor& f, double* b, double* x) {
  const Permuted<const double> entry{f.A, f.order, f.n};
  times_columns(entry, f.n, f.rank, f.scale, b, x);
  substitute_gram(f.gram, f.rank, x);
  for (int i = 0; i < f.n; ++i) {
    const double s = f.scale[f.order[i]];
    b[f.order[i]] = s > 0.0 ? row_times(entry, i, f.rank, x) / s : 0.0;
  }
}

void least_solution(const SemidefiniteFactor& f, double* b, double* x) {
  const Permuted<const double> entry{f.A, f.order, f.n};
  times_columns(entry, f.n, f.rank, f.scale, b, x);
  substitute_gram(f.gram, f.rank, x);
  for (int j = 0; j < f.rank; ++j) x[j] /= entry(j, j);
  substitute_gram(f.gram, f.rank, x);
  for (int i = 0; i < f.n; ++i)
    b[f.order[i]] = row_times(entry, i, f.rank, x) * f.scale[f.order[i]];
}

void substitute_semidefinite(
    const double* A, int n, int rank, const double* scale, const int* order, double* b, double* x) {
  const Permuted<const double> entry{A, order, n};
  for (int i = 0; i < rank; ++i) {
    x[i] = b[order[i]] * scale[order[i]];
    for (int j = 0; j < i; ++j) x[i] -= entry(i, j) * x[j];
  }
  for (int i = 0; i < rank; ++i) x[i] /= entry(i, i);
  for (int i = rank - 1; i >= 0; --i) {
    for (int j = i + 1; j < rank; ++j) x[i] -= entry(j, i) * x[j];
  }
  std::fill(b, b + n, 0.0);
  for (int i = 0; i < rank; ++i) b[order[i]] = x[i] * scale[order[i]];
}

}  // namespace stiction
