#include "math/symmetric_eigen.hpp"

#include "math/clones.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace stiction {
namespace {

constexpr double kNothing = 1e-200;  // a square, of a matrix of norm 1
constexpr int kMostSweeps = 60;      // of one eigenvalue; two or three are usual

constexpr int kLanes = 4, kFewRows = 3;

/// x . y over [from, n): four partial sums, added in order, and the rest.
inline __attribute__((always_inline)) double dot(const double* x,
                                                 const double* y,
                                                 int from,
                                                 int n) {
  Quad sum{};
  int j = from;
  for (; j + kLanes <= n; j += kLanes) sum += quad(x + j) * quad(y + j);
  double tail = 0.0;
  for (; j < n; ++j) tail += x[j] * y[j];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + tail;
}

/// out = sum over i in [first, n) of x_i A_i, over the columns from `from` on; two sums at a time,
/// since one waits for its additions.
inline __attribute__((always_inline)) void combine_rows(
    const double* A, const double* x, int first, int from, int n, double* out) {
  int j = from;
  for (; j + kLanes <= n; j += kLanes) {
    Quad even{}, odd{};
    int i = first;
    for (; i + 1 < n; i += 2) {
      even += quad(A + i * n + j) * x[i];
      odd += quad(A + (i + 1) * n + j) * x[i + 1];
    }
    if (i < n) even += quad(A + i * n + j) * x[i];
    quad(out + j) = even + odd;
  }
  for (; j < n; ++j) {
    out[j] = 0.0;
    for (int i = first; i < n; ++i) out[j] += A[i * n + j] * x[i];
  }
}

/// Where the groups of lanes begin that hold columns from `first` on. What they hold before it is
/// made harmless by zeros in the reflectors.
int group_of(int first) { return first / kLanes * kLanes; }

/// Reflections H_k = 1 - beta v v^T that leave A tridiagonal: diagonal d, next to it e. Row k of A
/// keeps v from column k + 1 on, zeros before it in its group.
STICTION_CLONES void tridiagonalise(
    double* A, int n, double* d, double* e, double* beta, double* p) {
  for (int k = 0; k + 2 < n; ++k) {
    double* v = A + k * n;  // row k = column k
    const int first = k + 1, from = group_of(first);
    d[k] = v[k];
    for (int j = from; j < first; ++j) v[j] = 0.0;
    const double norm = std::sqrt(dot(v, v, from, n));
    e[k] = v[first] > 0.0 ? -norm : norm;
    const double head = v[first] - e[k];
    beta[k] = norm > 0.0 ? -1.0 / (e[k] * head) : 0.0;  // 2 / v^T v
    if (beta[k] == 0.0) continue;
    v[first] = head;
    combine_rows(A, v, first, from, n, p);
    int j = from;
    for (; j + kLanes <= n; j += kLanes) quad(p + j) = beta[k] * quad(p + j);
    for (; j < n; ++j) p[j] *= beta[k];
    const double half = 0.5 * beta[k] * dot(v, p, from, n);
    for (j = from; j + kLanes <= n; j += kLanes) quad(p + j) -= half * quad(v + j);
    for (; j < n; ++j) p[j] -= half * v[j];
    for (int i = first; i < n; ++i) {
      double* row = A + i * n;
      const double vi = v[i], pi = p[i];
      for (j = from; j + kLanes <= n; j += kLanes)
        quad(row + j) -= vi * quad(p + j) + pi * quad(v + j);
      for (; j < n; ++j) row[j] -= vi * p[j] + pi * v[j];
    }
  }
  for (int k = std::max(0, n - 2); k < n; ++k) d[k] = A[k * n + k];
  if (n > 1) e[n - 2] = A[(n - 2) * n + n - 1];
}

/// Q^T of Q = H_0 ... H_(n-3), built from the last reflector back; w [n] is scratch.
STICTION_CLONES void accumulate(const double* A, int n, const double* beta, double* Q, double* w) {
  std::fill(Q, Q + n * n, 0.0);
  for (int i = 0; i < n; ++i) Q[i * n + i] = 1.0;
  for (int k = n - 3; k >= 0; --k) {
    const double* v = A + k * n;
    const int first = k + 1, from = group_of(first);
    combine_rows(Q, v, first, from, n, w);
    for (int i = first; i < n; ++i) {
      double* row = Q + i * n;
      const double t = beta[k] * v[i];
      int j = from;
      for (; j + kLanes <= n; j += kLanes) quad(row + j) -= t * quad(w + j);
      for (; j < n; ++j) row[j] -= t * w[j];
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) std::swap(Q[i * n + j], Q[j * n + i]);
  }
}

/// Rotations of one sweep, of the rows i and i + 1 from i = m - 1 down to l: squares of cosines and
/// sines, signs of the cosines, and that of row l in the end. The arrays have room for whole
/// groups.
struct Rotations {
  double *cosines, *sines, *signs;
  int l = 0, m = 0;
  double sign = 1.0;
};

/// One implicit QL sweep from row m up to row l with Wilkinson's shift, free of square roots
/// (Pal, Walker and Kahan's form: Parlett, The Symmetric Eigenvalue Problem, section 8.15), on d
/// and the squares b of e >= 0: a rotation waits for the last one's division, and no root. The sign
/// of a cosine is that of g = gamma s / c of the rotation before; that of row l would be e[l]'s.
inline __attribute__((always_inline)) void sweep(double* d, double* b, Rotations& out) {
  const int l = out.l, m = out.m;
  double *cosines = out.cosines, *sines = out.sines, *signs = out.signs;
  const double half = 0.5 * (d[l + 1] - d[l]), root = std::sqrt(half * half + b[l]);
  const double shift = d[l] - b[l] / (half >= 0.0 ? half + root : half - root);
  double c = 1.0, s = 0.0, gamma = d[m] - shift, p = gamma * gamma;
  double sign = std::copysign(1.0, gamma), before = 1.0;
  for (int i = m - 1; i >= l; --i) {
    const double r = p + b[i], last = gamma, last_c = c;
    if (i < m - 1) b[i + 1] = s * r;
    // gamma and p = gamma^2 / c from their numerator: one division to wait for.
    const double turned = p * (d[i] - shift) - b[i] * last;
    const bool turns = p > kNothing;
    c = p / r;
    s = b[i] / r;
    gamma = turned / r;
    d[i + 1] = last + (d[i] - gamma);
    cosines[i] = c;
    sines[i] = s;
    signs[i] = sign;
    const double next = turns ? std::copysign(sign, sign * gamma) : -before;
    p = turns ? turned * turned / (r * p) : last_c * b[i];
    before = sign;
    sign = next;
  }
  b[l] = s * p;
  b[m] = 0.0;
  d[l] = shift + gamma;
  out.sign = sign;
}

/// Turns the rows of V.
inline __attribute__((always_inline)) void rotate(double* V, int n, const Rotations& by) {
  const int l = by.l, m = by.m;
  double *cosines = by.cosines, *sines = by.sines;
  const double *signs = by.signs, sign = by.sign;
  if (l == m) return;
  const int end = l + (m - l + kLanes - 1) / kLanes * kLanes;
#pragma GCC ivdep
  for (int i = l; i < end; ++i) {
    cosines[i] = signs[i] * std::sqrt(cosines[i]);
    sines[i] = std::sqrt(sines[i]);
  }
  int k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    Quad high = quad(V + m * n + k);
    for (int i = m - 1; i >= l; --i) {
      const Quad low = quad(V + i * n + k);
      quad(V + (i + 1) * n + k) = sines[i] * low + cosines[i] * high;
      high = cosines[i] * low - sines[i] * high;
    }
    quad(V + l * n + k) = sign * high;
  }
  for (; k < n; ++k) {
    double high = V[m * n + k];
    for (int i = m - 1; i >= l; --i) {
      const double low = V[i * n + k];
      V[(i + 1) * n + k] = sines[i] * low + cosines[i] * high;
      high = cosines[i] * low - sines[i] * high;
    }
    V[l * n + k] = sign * high;
  }
}

/// d <- the eigenvalues; false if one is not found. V is turned one sweep later, when the numbers
/// are no longer on their way to memory.
STICTION_CLONES bool iterate(
    int n, double* d, double* b, Rotations last, Rotations next, double* V) {
  constexpr double kRounding = std::numeric_limits<double>::epsilon();
  for (int l = 0; l < n; ++l) {
    for (int count = 0;; ++count) {
      int m = l;
      for (; m + 1 < n; ++m) {
        const double zero = kRounding * (std::abs(d[m]) + std::abs(d[m + 1]) + 0.1);
        if (!(b[m] > zero * zero)) break;
      }
      if (m == l) break;
      if (count == kMostSweeps) return false;
      next.l = l;
      next.m = m;
      sweep(d, b, next);
      rotate(V, n, last);
      const Rotations swept = next;
      next = last;
      last = swept;
    }
  }
  rotate(V, n, last);
  return true;
}

/// T from its other end. The reflections leave what is large at the beginning and, of a matrix of
/// lower rank, zeros at the end: QL finds small eigenvalues first, and where T falls apart. Few
/// rows gain nothing: principal axes keep the order of the given ones.
void reverse(int n, double* d, double* e, double* V) {
  std::reverse(d, d + n);
  std::reverse(e, e + n - 1);
  for (int i = 0; i < n / 2; ++i) std::swap_ranges(V + i * n, V + (i + 1) * n, V + (n - 1 - i) * n);
}

/// Brings T to a norm near 1 by a power of two, which is returned, and e to e >= 0, by the signs of
/// the rows of V. 0 for what is not finite.
double normalise(int n, double* d, double* e, double* V) {
  double norm = 0.0, sign = 1.0;
  for (int i = 0; i < n; ++i) {
    const double size = std::abs(d[i]) + std::abs(e[i]);
    if (!std::isfinite(size)) return 0.0;
    norm = std::max(norm, size);
  }
  const double scale = norm > 0.0 ? std::ldexp(1.0, std::ilogb(norm)) : 1.0;
  for (int i = 0; i < n; ++i) {
    if (sign < 0.0) {
      for (int k = 0; k < n; ++k) V[i * n + k] = -V[i * n + k];
    }
    sign = e[i] < 0.0 ? -sign : sign;
    d[i] /= scale;
    e[i] = std::abs(e[i] / scale);
  }
  return scale;
}

}  // namespace

bool symmetric_eigen(double* A, int n, double* values, double* vectors, double* scratch) {
  if (n == 0) return true;
  double *d = values, *e = scratch;
  const int room = n + kLanes;
  double *first = e + n, *second = first + 3 * room;
  std::fill(first, second + 3 * room, 0.0);
  double *beta = first, *p = second;  // of the reflections; their use ends before
  tridiagonalise(A, n, d, e, beta, p);
  accumulate(A, n, beta, vectors, p);
  e[n - 1] = 0.0;
  if (n > kFewRows) reverse(n, d, e, vectors);
  const double scale = normalise(n, d, e, vectors);
  if (scale == 0.0) return false;
  double* b = e;
  for (int i = 0; i < n; ++i) b[i] = e[i] * e[i];
  if (!iterate(n,
               d,
               b,
               {first, first + room, first + 2 * room},
               {second, second + room, second + 2 * room},
               vectors))
    return false;
  for (int i = 0; i < n; ++i) {
    d[i] *= scale;
    if (!std::isfinite(d[i])) return false;
  }
  return true;
}

}  // namespace stiction
