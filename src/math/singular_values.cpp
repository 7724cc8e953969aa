#include "math/singular_values.hpp"

#include "math/clones.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace stiction {
namespace {

constexpr int kMostSweeps = 60;  // six to ten are usual
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Eight partial sums, added in order.
STICTION_CLONES double dot(const double* a, const double* b, int n) {
  Octo sum{};
  int i = 0;
  for (; i + 7 < n; i += 8) sum += octo(a + i) * octo(b + i);
  double tail = 0.0;
  for (; i < n; ++i) tail += a[i] * b[i];
  return (((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]))) + tail;
}

/// (a, b) <- (c a - s b, s a + c b)
STICTION_CLONES void rotate(double* a, double* b, int n, double c, double s) {
  for (int i = 0; i < n; ++i) {
    const double x = a[i], y = b[i];
    a[i] = c * x - s * y;
    b[i] = s * x + c * y;
  }
}

struct Columns {
  double* A;
  int rows, columns;
  double* square;  // of the length of each column
  double* right;

  double* column(int j) const { return A + static_cast<std::size_t>(j) * rows; }
  double* direction(int j) const { return right + static_cast<std::size_t>(j) * columns; }

  void measure() const {
    for (int j = 0; j < columns; ++j) square[j] = dot(column(j), column(j), rows);
  }
  void exchange(int i, int j) const {
    if (i == j) return;
    std::swap_ranges(column(i), column(i) + rows, column(j));
    if (right) std::swap_ranges(direction(i), direction(i) + columns, direction(j));
    std::swap(square[i], square[j]);
  }
  /// The longest of the columns from i on comes first.
  void bring_longest(int i) const {
    exchange(i, static_cast<int>(std::max_element(square + i, square + columns) - square));
  }
  /// Turns two columns to a right angle; false if they are at one, or the shorter is nothing but
  /// rounding of the longest of all.
  bool turn(int i, int j, double nothing) const {
    const double p = square[i], q = square[j];
    if (q <= nothing) return false;
    const double inner = dot(column(i), column(j), rows);
    if (!(std::abs(inner) > kEpsilon * std::sqrt(rows * p) * std::sqrt(q))) return false;
    const double cotangent = (q - p) / (2.0 * inner);  // of twice the angle
    const double t = (cotangent < 0.0 ? -1.0 : 1.0) /
                     (std::abs(cotangent) + std::sqrt(1.0 + cotangent * cotangent));
    const double c = 1.0 / std::sqrt(1.0 + t * t), s = c * t;
    rotate(column(i), column(j), rows, c, s);
    if (right) rotate(direction(i), direction(j), columns, c, s);
    square[i] = std::max(0.0, p - t * inner);
    square[j] = std::max(0.0, q + t * inner);
    return true;
  }
};

}  // namespace

bool singular_values(double* A, int rows, int columns, double* values, double* right) {
  const Columns all{A, rows, columns, values, right};
  if (right) {
    std::fill(right, right + static_cast<std::size_t>(columns) * columns, 0.0);
    for (int j = 0; j < columns; ++j) all.direction(j)[j] = 1.0;
  }
  bool turned = true;
  for (int sweep = 0; turned && sweep < kMostSweeps; ++sweep) {
    turned = false;
    all.measure();  // anew, since updates round
    double sum = 0.0;
    for (int j = 0; j < columns; ++j) sum += values[j];
    if (!std::isfinite(sum)) return false;
    const double nothing = sum * (kEpsilon * kEpsilon);
    for (int i = 0; i + 1 < columns; ++i) {
      all.bring_longest(i);
      for (int j = i + 1; j < columns; ++j) turned |= all.turn(i, j, nothing);
    }
  }
  all.measure();
  for (int i = 0; i < columns; ++i) all.bring_longest(i);
  for (int j = 0; j < columns; ++j) values[j] = std::sqrt(values[j]);
  return !turned;
}

}  // namespace stiction
