#include "math/clones.hpp"
#include "math/spring_damper.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

// Motion over spans that are short for all rates of the system: the power series of x in time, one
// product with W per term (src/math/README.md, "Series").

namespace stiction {
namespace {

constexpr double kSpan = 4.0;   // of a series, in units of the fastest rate
constexpr int kTerms = 60;      // 4^60 / 60! is 2e-46
constexpr int kMostSpans = 12;  // of a motion; from there on a matrix exponential is cheaper

constexpr int kLanes = 4;

/// Rows of series_, one entry per row of the system, padded by zeros: what is given, the sums, and
/// the terms X_j t^j, (j + 1) X_(j+1) t^(j+1), u_j t^j.
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

}  // namespace

/// An upper bound on the rates: |s|^2 <= |s| |W B| + |W K|, and those of the followers.
void SpringDamper::bound_rates() {
  double damping = 0.0, spring = 0.0;
  for (int i = 0; i < n_; ++i) {
    double b = 0.0, k = 0.0;
    for (int j = 0; j < n_; ++j) {
      const double w = std::abs(W_[static_cast<std::size_t>(i) * n_ + j]);
      b += w * B_[j];
      k += w * K_[j];
    }
    damping = std::max(damping, b);
    spring = std::max(spring, k);
  }
  rate_ = 0.5 * damping + std::sqrt(0.25 * damping * damping + spring);
  for (const Follower& lag : followers_) rate_ = std::max(rate_, lag.rate);
  stride_ = (n_ + kLanes - 1) / kLanes * kLanes;
  by_columns_.assign(static_cast<std::size_t>(n_) * stride_, 0.0);
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j)
      by_columns_[static_cast<std::size_t>(j) * stride_ + i] =
          W_[static_cast<std::size_t>(i) * n_ + j];
  }
  series_.assign(static_cast<std::size_t>(kSeriesRows) * stride_, 0.0);
  std::copy(K_.begin(), K_.end(), series_.begin() + kK * stride_);
  std::copy(B_.begin(), B_.end(), series_.begin() + kB * stride_);
}

bool SpringDamper::is_short(double t) const { return rate_ * t <= kMostSpans * kSpan; }

void SpringDamper::start_series() {
  std::copy(b0_.begin(), b0_.end(), series_.begin() + kB0 * stride_);
  std::copy(b1_.begin(), b1_.end(), series_.begin() + kB1 * stride_);
  marks_used_ = 1;
  marks_apart_ = 0.0;
  if (marks_.empty()) marks_.resize(1);
  Motion& m = marks_[0];
  m.resize(n_, static_cast<int>(followers_.size()));
  std::copy(x0_.begin(), x0_.end(), m.x.begin());
  std::copy(v0_.begin(), v0_.end(), m.v.begin());
  std::copy(g0_.begin(), g0_.end(), m.g.begin());
  for (int i = 0; i < n_; ++i) m.u[i] = -K_[i] * x0_[i] - B_[i] * v0_[i];
  std::fill(m.U1.begin(), m.U1.end(), 0.0);
  std::fill(m.U2.begin(), m.U2.end(), 0.0);
}

/// From the last mark before t.
void SpringDamper::at_series(double t, Motion& motion) {
  const int last = marks_used_ - 1;
  const int mark =
      last > 0 ? std::clamp(static_cast<int>(std::floor(t / marks_apart_)), 0, last) : 0;
  double now = mark * marks_apart_;
  motion = marks_[mark];
  const int spans = std::max(1, static_cast<int>(std::ceil(rate_ * (t - now) / kSpan)));
  const double span = (t - now) / spans;
  for (int k = 0; k < spans; ++k) move_by_series(now + k * span, span, motion);
}

void SpringDamper::sample_series(double t, int count, std::vector<Motion>& motions) {
  marks_used_ = 1;
  marks_apart_ = t / count;
  if (static_cast<int>(marks_.size()) < count) marks_.resize(count);
  for (int k = 0; k < count; ++k) {
    at_series((k + 1) * marks_apart_, motions[k]);
    if (k + 1 < count) marks_[marks_used_++] = motions[k];
  }
}

/// From `motion` at t0 to t0 + t, in place; nothing for t = 0. With x = sum X_j t^j and u likewise,
///   (j + 1)(j + 2) X_(j+2) = [j = 0] b(t0) + [j = 1] b1 + W u_j,
///   u_j = -K X_j - (j + 1) B X_(j+1),   (j + 1) g_(j+1) = gain u_j - rate g_j.
void SpringDamper::move_by_series(double t0, double t, Motion& motion) {
  if (t == 0.0) return;
  const int lags = static_cast<int>(followers_.size());
  const auto row = [&](int r) { return series_.data() + r * stride_; };
  term_g_.assign(motion.g.begin(), motion.g.end());
  for (int i = 0; i < n_; ++i) {
    row(kX)[i] = row(kTerm)[i] = motion.x[i];
    row(kV)[i] = row(kTermV)[i] = motion.v[i] * t;
    row(kU1)[i] = motion.U1[i];
    row(kU2)[i] = motion.U2[i] + t * motion.U1[i];
  }
  int small = 0;
  for (int j = 0; j < kTerms && small < 3; ++j) {
    double sizes[2];  // of the terms, of the sums
    add_term(by_columns_.data(), n_, stride_, j, t, t0, series_.data(), sizes);
    for (int k = 0; k < lags; ++k) {
      const Follower& lag = followers_[k];
      term_g_[k] = t / (j + 1) * (lag.gain * row(kTermU)[lag.row] - lag.rate * term_g_[k]);
      motion.g[k] += term_g_[k];
      sizes[0] = std::max(sizes[0], std::abs(term_g_[k]));
      sizes[1] = std::max(sizes[1], std::abs(motion.g[k]));
    }
    const double rounding = 0.1 * std::numeric_limits<double>::epsilon() * sizes[1];
    small = sizes[0] <= rounding ? small + 1 : 0;
  }
  for (int i = 0; i < n_; ++i) {
    motion.x[i] = row(kX)[i];
    motion.v[i] = row(kV)[i] / t;
    motion.U1[i] = row(kU1)[i];
    motion.U2[i] = row(kU2)[i];
    motion.u[i] = -K_[i] * motion.x[i] - B_[i] * motion.v[i];
  }
}

}  // namespace stiction
