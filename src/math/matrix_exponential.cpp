#include "math/matrix_exponential.hpp"

#include "math/clones.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace stiction {
namespace {

constexpr int kRows = 4, kColumns = 8;  // of a tile; panels are padded to whole tiles

/// Panels: A, its powers, the even and odd part of the numerator, scratch.
enum Panel { kA, kA2, kA4, kA6, kV, kU, kScratch, kNumPanels };

/// Diagonal approximant of a degree m: b_j = (2 m - j)! / (j! (m - j)!) of its numerator (Higham
/// 2005, eq. 10.33), exact in doubles up to m = 13, and the 1-norm up to which it is exact to
/// rounding (table 2.3).
struct Approximant {
  int degree;
  double norm, b[14] = {};
  constexpr Approximant(int m, double most) : degree(m), norm(most) {
    b[m] = 1.0;
    for (int j = m; j > 0; --j) b[j - 1] = b[j] * (2 * m - j + 1) * j / (m - j + 1);
  }
};
/// By number of products.
constexpr Approximant kApproximants[] = {{1, 0.0},
                                         {2, 0.0},
                                         {3, 1.495585217958292e-2},
                                         {5, 2.539398330063230e-1},
                                         {7, 9.504178996162932e-1},
                                         {9, 2.097847961257068},
                                         {13, 5.371920351148152}};
constexpr int kMostProducts = 6;

int padded(int n) { return (n + kColumns - 1) / kColumns * kColumns; }

/// C = A B, tile by tile; sums over k in order.
STICTION_CLONES void product(const double* A, const double* B, double* C, int n, int stride) {
  for (int i = 0; i < n; i += kRows) {
    const double* a = A + static_cast<std::size_t>(i) * stride;
    for (int j = 0; j < n; j += kColumns) {
      Octo s0{}, s1{}, s2{}, s3{};
      for (int k = 0; k < n; ++k) {
        const Octo b = octo(B + static_cast<std::size_t>(k) * stride + j);
        s0 += a[k] * b;
        s1 += a[stride + k] * b;
        s2 += a[2 * stride + k] * b;
        s3 += a[3 * stride + k] * b;
      }
      double* c = C + static_cast<std::size_t>(i) * stride + j;
      octo(c) = s0;
      octo(c + stride) = s1;
      octo(c + 2 * stride) = s2;
      octo(c + 3 * stride) = s3;
    }
  }
}

/// Y = A X for rows of X `width` long, a multiple of eight.
STICTION_CLONES void product_columns(
    const double* A, const double* X, double* Y, int n, int stride, int width) {
  for (int i = 0; i < n; ++i) {
    const double* a = A + static_cast<std::size_t>(i) * stride;
    for (int j = 0; j < width; j += kColumns) {
      Octo even{}, odd{};
      int k = 0;
      for (; k + 1 < n; k += 2) {
        even += a[k] * octo(X + static_cast<std::size_t>(k) * width + j);
        odd += a[k + 1] * octo(X + static_cast<std::size_t>(k + 1) * width + j);
      }
      if (k < n) even += a[k] * octo(X + static_cast<std::size_t>(k) * width + j);
      octo(Y + static_cast<std::size_t>(i) * width + j) = even + odd;
    }
  }
}

/// X <- P^-1 X by elimination with partial pivoting; P is destroyed, rows of X are `width` long.
STICTION_CLONES void eliminate(double* P, int n, int stride, double* X, int width) {
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::abs(P[static_cast<std::size_t>(i) * stride + k]) >
          std::abs(P[static_cast<std::size_t>(pivot) * stride + k]))
        pivot = i;
    }
    double* p = P + static_cast<std::size_t>(k) * stride;
    double* x = X + static_cast<std::size_t>(k) * width;
    if (pivot != k) {
      double* other = P + static_cast<std::size_t>(pivot) * stride;
      for (int j = k; j < n; ++j) std::swap(p[j], other[j]);
      double* other_x = X + static_cast<std::size_t>(pivot) * width;
      for (int j = 0; j < width; ++j) std::swap(x[j], other_x[j]);
    }
    const double inverse = 1.0 / p[k];
    const int start = (k + 1) / kColumns * kColumns;  // what is left of the diagonal is not read
    for (int i = k + 1; i < n; ++i) {
      double* row = P + static_cast<std::size_t>(i) * stride;
      const double l = row[k] * inverse;
      for (int j = start; j < stride; j += kColumns) octo(row + j) -= l * octo(p + j);
      double* row_x = X + static_cast<std::size_t>(i) * width;
      for (int j = 0; j < width; j += kColumns) octo(row_x + j) -= l * octo(x + j);
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    double* p = P + static_cast<std::size_t>(k) * stride;
    double* x = X + static_cast<std::size_t>(k) * width;
    const double inverse = 1.0 / p[k];
    for (int j = 0; j < width; j += kColumns) {
      Octo sum = octo(x + j);
      for (int i = k + 1; i < n; ++i)
        sum -= p[i] * octo(X + static_cast<std::size_t>(i) * width + j);
      octo(x + j) = sum * inverse;
    }
  }
}

}  // namespace

void MatrixExponentialSettings::validate() const {
  if (max_products >= -1) return;
  throw std::invalid_argument("max_products = " + std::to_string(max_products) +
                              ": must be -1 (full precision) or >= 0");
}

void MatrixExponential::load(const double* A, const MatrixExponentialSettings& settings) {
  std::fill(panel(kA), panel(kA) + size_, 0.0);
  for (int i = 0; i < n_; ++i)
    std::copy(A + static_cast<std::size_t>(i) * n_,
              A + static_cast<std::size_t>(i + 1) * n_,
              panel(kA) + static_cast<std::size_t>(i) * stride_);
  scale_.assign(n_, 1.0);
  if (settings.balancing) balance();
}

/// A <- D^-1 A D: scales each row against its column by powers of 2 (Parlett and Reinsch 1969)
/// while that lowers the sum of squares of their 1-norms by 5 %.
void MatrixExponential::balance() {
  double* A = panel(kA);
  bool changed = true;
  for (int sweep = 0; changed && sweep < 100; ++sweep) {
    changed = false;
    for (int i = 0; i < n_; ++i) {
      double column = 0.0, row = 0.0, factor = 1.0;
      for (int j = 0; j < n_; ++j) {
        column += std::abs(A[static_cast<std::size_t>(j) * stride_ + i]);
        row += std::abs(A[static_cast<std::size_t>(i) * stride_ + j]);
      }
      const double before = column * column + row * row;
      if (!(column > 0.0 && row > 0.0 && std::isfinite(before))) continue;
      for (; column < 0.5 * row; column *= 2.0, row *= 0.5) factor *= 2.0;
      for (; column >= 2.0 * row; column *= 0.5, row *= 2.0) factor *= 0.5;
      if (column * column + row * row >= 0.95 * before) continue;
      scale_[i] *= factor;
      for (int j = 0; j < n_; ++j) A[static_cast<std::size_t>(j) * stride_ + i] *= factor;
      for (int j = 0; j < n_; ++j) A[static_cast<std::size_t>(i) * stride_ + j] /= factor;
      changed = true;
    }
  }
}

double MatrixExponential::norm_one() const {
  double largest = 0.0;
  for (int j = 0; j < n_; ++j) {
    double sum = 0.0;
    for (int i = 0; i < n_; ++i)
      sum += std::abs(panels_[static_cast<std::size_t>(i) * stride_ + j]);
    largest = std::max(largest, sum);
  }
  return largest;
}

void MatrixExponential::multiply(int to, int a, int b) {
  product(panel(a), panel(b), panel(to), n_, stride_);
  ++products_;
}

/// V and U of degree 1 ... 9: powers of A^2 one at a time.
void MatrixExponential::low_order(int products) {
  const Approximant& order = kApproximants[products];
  double *even = panel(kV), *odd = panel(kScratch);
  std::fill(even, even + size_, 0.0);
  std::fill(odd, odd + size_, 0.0);
  int power = kA2, next = kA4;
  for (int m = 0; m <= order.degree; m += 2) {
    const bool has_odd = m + 1 <= order.degree;
    if (m == 0) {
      for (int i = 0; i < n_; ++i) {
        even[static_cast<std::size_t>(i) * stride_ + i] = order.b[0];
        odd[static_cast<std::size_t>(i) * stride_ + i] = order.b[1];
      }
      continue;
    }
    if (m == 2) {
      multiply(kA2, kA, kA);
    } else {
      multiply(next, power, kA2);
      power = std::exchange(next, power == kA2 ? kA6 : power);
    }
    const double* P = panel(power);
    for (int i = 0; i < size_; ++i) even[i] += order.b[m] * P[i];
    for (int i = 0; has_odd && i < size_; ++i) odd[i] += order.b[m + 1] * P[i];
  }
  if (order.degree <= 2) {  // the odd part is a multiple of A: no product
    for (int i = 0; i < size_; ++i) panel(kU)[i] = order.b[1] * panel(kA)[i];
  } else {
    multiply(kU, kA, kScratch);
  }
}

/// U = A (A6 (b13 A6 + b11 A4 + b9 A2) + b7 A6 + b5 A4 + b3 A2 + b1), V likewise: six products.
void MatrixExponential::thirteenth_order() {
  multiply(kA2, kA, kA);
  multiply(kA4, kA2, kA2);
  multiply(kA6, kA4, kA2);
  const double *A2 = panel(kA2), *A4 = panel(kA4), *A6 = panel(kA6),
               *b = kApproximants[kMostProducts].b;
  const auto half = [&](int first, int to, int scratch) {
    double *inner = panel(scratch), *outer = panel(to);
    for (int i = 0; i < size_; ++i)
      inner[i] = b[first + 12] * A6[i] + b[first + 10] * A4[i] + b[first + 8] * A2[i];
    multiply(to, kA6, scratch);
    for (int i = 0; i < size_; ++i)
      outer[i] += b[first + 6] * A6[i] + b[first + 4] * A4[i] + b[first + 2] * A2[i];
    for (int i = 0; i < n_; ++i) outer[static_cast<std::size_t>(i) * stride_ + i] += b[first];
  };
  half(1, kV, kScratch);
  multiply(kU, kA, kV);
  half(0, kV, kScratch);
}

/// X <- (V - U)^-1 (V + U) X; without X (null) kA becomes the quotient itself.
void MatrixExponential::quotient(double* X, int columns) {
  double *V = panel(kV), *U = panel(kU), *sum = panel(kA2);
  for (int i = 0; i < size_; ++i) {
    sum[i] = V[i] + U[i];
    V[i] -= U[i];
  }
  if (X == nullptr) {
    eliminate(V, n_, stride_, sum, stride_);
    std::copy(sum, sum + size_, panel(kA));
    return;
  }
  product_columns(sum, X, image_.data(), n_, stride_, columns);
  eliminate(V, n_, stride_, image_.data(), columns);
  std::copy(image_.begin(), image_.begin() + static_cast<std::ptrdiff_t>(n_) * columns, X);
}

void MatrixExponential::apply(
    const double* A, int n, double* X, int columns, const MatrixExponentialSettings& settings) {
  n_ = n;
  stride_ = padded(n);
  size_ = stride_ * stride_;
  panels_.resize(static_cast<std::size_t>(kNumPanels) * size_);
  products_ = squarings_ = 0;
  load(A, settings);

  const double norm = norm_one();
  int products = 2;
  while (products < kMostProducts && norm > kApproximants[products].norm) ++products;
  if (settings.max_products >= 0 && settings.max_products < products) {
    products = settings.max_products;
  } else if (norm > kApproximants[kMostProducts].norm && std::isfinite(norm)) {
    std::frexp(norm / kApproximants[kMostProducts].norm, &squarings_);
    squarings_ = std::max(squarings_, 0);
    if (settings.max_products >= 0)
      squarings_ = std::min(squarings_, settings.max_products - kMostProducts);
    const double shrink = std::ldexp(1.0, -squarings_);
    for (int i = 0; i < size_; ++i) panel(kA)[i] *= shrink;
  }
  products < kMostProducts ? low_order(products) : thirteenth_order();

  const int width = padded(columns);
  columns_.assign(static_cast<std::size_t>(n) * width, 0.0);
  image_.resize(columns_.size());
  for (int i = 0; i < n; ++i) {  // D^-1 X
    for (int j = 0; j < columns; ++j)
      columns_[static_cast<std::size_t>(i) * width + j] =
          X[static_cast<std::size_t>(i) * columns + j] / scale_[i];
  }
  if (squarings_ == 0) {
    quotient(columns_.data(), width);
  } else {
    // The last squarings are cheaper as products with the columns.
    int on_columns = 0;
    while (on_columns < squarings_ && (width << on_columns) < n) ++on_columns;
    quotient(nullptr, 0);
    int from = kA;
    for (int k = on_columns; k < squarings_; ++k) {
      const int to = from == kA ? kA2 : kA;
      multiply(to, from, from);
      from = to;
    }
    for (int k = 0; k < 1 << on_columns; ++k) {
      product_columns(panel(from), columns_.data(), image_.data(), n, stride_, width);
      std::swap(columns_, image_);
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < columns; ++j)
      X[static_cast<std::size_t>(i) * columns + j] =
          columns_[static_cast<std::size_t>(i) * width + j] * scale_[i];
  }
}

}  // namespace stiction
