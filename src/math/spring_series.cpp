#include "math/clones.hpp"
#include "math/spring_damper.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

// Motion over spans that are short for all rates of the rows: the power series of x in time, one
// product with W per term (src/math/README.md, "Series").

namespace stiction {
namespace {

constexpr double kSpan = 4.0;  // of a series, in units of the fastest rate
constexpr int kTerms = 60;     // 4^60 / 60! is 2e-46

constexpr int kSmallTerms = 3;  // in a row below rounding: odd or even ones alone may vanish

constexpr int kLanes = 4;

/// Rows of the table, one entry per row of the system, padded by zeros: what is given, the sums,
/// and the terms X_j t^j, (j + 1) X_(j+1) t^(j+1), u_j t^j.
enum SeriesRow { kK, kB, kB0, kB1, kX, kV, kU1, kU2, kTerm, kTermV, kTermU, kSeriesRows };

/// One term of all rows, W [n columns of stride]; the largest of the terms and of the sums.
STICTION_CLONES void add_term(
    const double* W, int n, int stride, int j, double t, double t0, double* rows, double* sizes) {
  const auto row = [&](int r) { return rows + r * stride; };
  const auto enlarge = [](Quad& most, const Quad& x) {
    const Quad size = x < 0.0 ? -x : x;
    most = most < size ? size : most;
  };
  const double first = t / (j + 1), second = first * t / (j + 2), next = 1.0 / (j + 1),
               square = first * t, per_t = 1.0 / t;
  for (int i = 0; i < stride; i += kLanes) {
    const Quad u = -(quad(row(kK) + i) * quad(row(kTerm) + i)) -
                   quad(row(kB) + i) * per_t * quad(row(kTermV) + i);
    quad(row(kTermU) + i) = u;
    quad(row(kU1) + i) += u * first;
    quad(row(kU2) + i) += u * second;
  }
  Quad terms{}, sums{};
  for (int i = 0; i < stride; i += kLanes) {
    Quad a{};
    if (j == 0) a = quad(row(kB0) + i) + quad(row(kB1) + i) * t0;
    if (j == 1) a = quad(row(kB1) + i) * t;
    for (int c = 0; c < n; ++c) a += quad(W + c * stride + i) * row(kTermU)[c];
    const Quad x = next * quad(row(kTermV) + i), v = square * a;
    quad(row(kTerm) + i) = x;
    quad(row(kTermV) + i) = v;
    const Quad X = quad(row(kX) + i) + x, V = quad(row(kV) + i) + v;
    quad(row(kX) + i) = X;
    quad(row(kV) + i) = V;
    enlarge(terms, x);
    enlarge(terms, v);
    enlarge(sums, X);
    enlarge(sums, V);
  }
  sizes[0] = sizes[1] = 0.0;
  for (int lane = 0; lane < kLanes; ++lane) {
    sizes[0] = std::max(sizes[0], terms[lane]);
    sizes[1] = std::max(sizes[1], sums[lane]);
  }
}

/// From `motion` to t later, t short for the rates. With x = sum X_j t^j and u likewise,
///   (j + 1)(j + 2) X_(j+2) = [j = 0] b + [j = 1] b1 + W u_j,
///   u_j = -K X_j - (j + 1) B X_(j+1),   (j + 1) g_(j+1) = gain u_j - rate g_j.
void move_span(const SpringRows& rows, double t, SeriesWorkspace& work, SpringMotion& motion) {
  const int n = rows.size, stride = (n + kLanes - 1) / kLanes * kLanes;
  const auto row = [&](int r) { return work.table.data() + r * stride; };
  work.lag_term.assign(motion.g.begin(), motion.g.end());
  for (int i = 0; i < n; ++i) {
    row(kX)[i] = row(kTerm)[i] = motion.x[i];
    row(kV)[i] = row(kTermV)[i] = motion.v[i] * t;
    row(kU1)[i] = motion.U1[i];
    row(kU2)[i] = motion.U2[i] + t * motion.U1[i];
  }
  int small = 0;
  for (int j = 0; j < kTerms && small < kSmallTerms; ++j) {
    double sizes[2];  // of the terms, of the sums
    add_term(work.columns.data(), n, stride, j, t, motion.t, work.table.data(), sizes);
    for (std::size_t k = 0; k < rows.lags.size(); ++k) {
      const SpringRows::Lag& lag = rows.lags[k];
      double& term = work.lag_term[k];
      term = t / (j + 1) * (lag.gain * row(kTermU)[lag.row] - lag.rate * term);
      motion.g[k] += term;
      sizes[0] = std::max(sizes[0], std::abs(term));
      sizes[1] = std::max(sizes[1], std::abs(motion.g[k]));
    }
    const double rounding = 0.1 * std::numeric_limits<double>::epsilon() * sizes[1];
    small = sizes[0] <= rounding ? small + 1 : 0;
  }
  for (int i = 0; i < n; ++i) {
    motion.x[i] = row(kX)[i];
    motion.v[i] = row(kV)[i] / t;
    motion.U1[i] = row(kU1)[i];
    motion.U2[i] = row(kU2)[i];
    motion.u[i] = -rows.K[i] * motion.x[i] - rows.B[i] * motion.v[i];
  }
}

}  // namespace

double fastest_rate(const SpringRows& rows) {
  double damping = 0.0, spring = 0.0;
  for (int i = 0; i < rows.size; ++i) {
    double b = 0.0, k = 0.0;
    for (int j = 0; j < rows.size; ++j) {
      const double w = std::abs(rows.W[i * rows.size + j]);
      b += w * rows.B[j];
      k += w * rows.K[j];
    }
    damping = std::max(damping, b);
    spring = std::max(spring, k);
  }
  double rate = 0.5 * damping + std::sqrt(0.25 * damping * damping + spring);
  for (const SpringRows::Lag& lag : rows.lags) rate = std::max(rate, lag.rate);
  return rate;
}

void advance_by_series(const SpringRows& rows,
                       const SpringStart& start,
                       double rate,
                       double t,
                       SeriesWorkspace& work,
                       SpringMotion& motion) {
  if (t == 0.0) return;
  const int n = rows.size, stride = (n + kLanes - 1) / kLanes * kLanes;
  work.columns.assign(static_cast<std::size_t>(n) * stride, 0.0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) work.columns[j * stride + i] = rows.W[i * n + j];
  }
  work.table.assign(static_cast<std::size_t>(kSeriesRows) * stride, 0.0);
  const std::vector<double>* given[] = {&rows.K, &rows.B, &start.b0, &start.b1};
  for (int r = 0; r < 4; ++r)
    std::copy(given[r]->begin(), given[r]->end(), work.table.begin() + (kK + r) * stride);
  const int spans = std::max(1, static_cast<int>(std::ceil(rate * t / kSpan)));
  const double first = motion.t, span = t / spans;
  for (int k = 0; k < spans; ++k) {
    motion.t = first + k * span;
    move_span(rows, span, work, motion);
  }
  motion.t = first + t;
}

}  // namespace stiction
