#include "stiction/math/spring_damper.hpp"

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
  by_columns_.resize(W_.size());
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j)
      by_columns_[static_cast<std::size_t>(j) * n_ + i] = W_[static_cast<std::size_t>(i) * n_ + j];
  }
}

bool SpringDamper::is_short(double t) const {
  return form_ != Form::kModal && rate_ * t <= kMostSpans * kSpan;
}

void SpringDamper::start_series() {
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
  start_series();
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
  for (std::vector<double>* a : {&term_, &term_v_, &next_term_, &term_u_}) a->resize(n_);
  term_g_.assign(motion.g.begin(), motion.g.end());
  // Terms times their powers of t: term_ = X_j t^j, term_v_ = (j + 1) X_(j+1) t^(j+1).
  for (int i = 0; i < n_; ++i) {
    term_[i] = motion.x[i];
    term_v_[i] = motion.v[i] * t;
    motion.v[i] = term_v_[i];
    motion.U2[i] += t * motion.U1[i];
  }
  const double per_t = 1.0 / t;
  int small = 0;
  for (int j = 0; j < kTerms && small < 3; ++j) {
    double largest = 0.0, sum = 0.0;
    const double first = t / (j + 1), second = first * t / (j + 2), next = 1.0 / (j + 1);
    for (int i = 0; i < n_; ++i) {
      const double u = -K_[i] * term_[i] - B_[i] * per_t * term_v_[i];
      term_u_[i] = u;
      motion.U1[i] += u * first;
      motion.U2[i] += u * second;
      next_term_[i] = j == 0 ? b0_[i] + b1_[i] * t0 : j == 1 ? b1_[i] * t : 0.0;
    }
    for (int c = 0; c < n_; ++c) {
      const double u = term_u_[c];
      const double* w = by_columns_.data() + static_cast<std::size_t>(c) * n_;
      for (int i = 0; i < n_; ++i) next_term_[i] += w[i] * u;
    }
    for (int k = 0; k < lags; ++k) {
      const Follower& lag = followers_[k];
      term_g_[k] = first * (lag.gain * term_u_[lag.row] - lag.rate * term_g_[k]);
      motion.g[k] += term_g_[k];
      largest = std::max(largest, std::abs(term_g_[k]));
      sum = std::max(sum, std::abs(motion.g[k]));
    }
    const double square = first * t;
    for (int i = 0; i < n_; ++i) {
      const double v = square * next_term_[i];  // (j + 2) X_(j+2) t^(j+2)
      term_[i] = next * term_v_[i];
      motion.x[i] += term_[i];
      term_v_[i] = v;
      motion.v[i] += v;
      largest = std::max({largest, std::abs(v), std::abs(term_[i])});
      sum = std::max({sum, std::abs(motion.v[i]), std::abs(motion.x[i])});
    }
    small = largest <= 0.1 * std::numeric_limits<double>::epsilon() * sum ? small + 1 : 0;
  }
  for (int i = 0; i < n_; ++i) {
    motion.v[i] *= per_t;
    motion.u[i] = -K_[i] * motion.x[i] - B_[i] * motion.v[i];
  }
}

}  // namespace stiction
