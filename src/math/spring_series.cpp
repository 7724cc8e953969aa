#include "math/clones.hpp"
#include "math/spring_damper.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

// Motion over spans that are short for all rates of the rows: the power series of x in time, one
// product with W per term (src/math/README.md, "Series"). The terms are kept, so that the motion at
// any time of a span is its polynomials there, for a small part of what they cost to find.

namespace stiction {
namespace {

constexpr double kSpan = 4.0;  // of a series, in units of the fastest rate
constexpr int kTerms = 40;     // 4^40 / 40! is 2e-24

constexpr int kSmallTerms = 3;  // in a row below rounding: odd or even ones alone may vanish

constexpr int kLanes = 4, kWide = 8;

int padded_to(int lanes, int n) { return (n + lanes - 1) / lanes * lanes; }

/// What a span is expanded from: W by columns and the other constants, padded by zeros to
/// [stride], and b at its start. u is scratch.
struct SpanRows {
  const double *W, *K, *B, *b0, *b1;
  const SpringRows::Lag* lags;
  int stride, width, num_lags;
  double t, begun;
  double* u;
};

/// Parts of a term, [stride] each, and the lags after them: X_j t^j, (j + 1) X_(j+1) t^(j+1), and
/// of the integrals of u those of the same power.
enum TermPart { kX, kV, kU1, kU2, kLags };

/// With x = sum X_j t^j and u likewise,
///   (j + 1)(j + 2) X_(j+2) = [j = 0] b + [j = 1] b1 + W u_j,
///   u_j = -K X_j - (j + 1) B X_(j+1),   (j + 1) g_(j+1) = gain u_j - rate g_j,
/// until what is added is below the rounding of what was. The first term is given, and U2 of the
/// second. Returns how many there are.
STICTION_CLONES int expand(const SpanRows& s, double* terms) {
  const int stride = s.stride;
  const double t = s.t, per_t = 1.0 / t;
  double largest = 0.0;
  int small = 0, j = 0;
  for (; j < kTerms && small < kSmallTerms; ++j) {
    const double* term = terms + j * s.width;
    double* next = terms + (j + 1) * s.width;
    double* after = terms + (j + 2) * s.width;
    const double share = 1.0 / (j + 1), first = t * share, second = first * t / (j + 2),
                 square = first * t;
    for (int i = 0; i < stride; i += kLanes) {
      const Quad u = -(quad(s.K + i) * quad(term + kX * stride + i)) -
                     quad(s.B + i) * per_t * quad(term + kV * stride + i);
      quad(s.u + i) = u;
      quad(next + kU1 * stride + i) = u * first;
      quad(after + kU2 * stride + i) = u * second;
    }
    Quad most{};
    for (int i = 0; i < stride; i += kLanes) {
      Quad a{}, sum[4] = {};  // that do not wait for each other
      if (j == 0) a = quad(s.b0 + i) + quad(s.b1 + i) * s.begun;
      if (j == 1) a = quad(s.b1 + i) * t;
      for (int c = 0; c < stride; c += 4) {
        const double *W = s.W + c * stride + i, *u = s.u + c;
        for (int k = 0; k < 4; ++k) sum[k] += quad(W + k * stride) * u[k];
      }
      a += (sum[0] + sum[1]) + (sum[2] + sum[3]);
      const Quad x = share * quad(term + kV * stride + i), v = square * a;
      quad(next + kX * stride + i) = x;
      quad(next + kV * stride + i) = v;
      const Quad x_size = x < 0.0 ? -x : x, v_size = v < 0.0 ? -v : v,
                 size = x_size < v_size ? v_size : x_size;
      most = most < size ? size : most;
    }
    double added = std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
    for (int k = 0; k < s.num_lags; ++k) {
      const SpringRows::Lag& lag = s.lags[k];
      const double g = first * (lag.gain * s.u[lag.row] - lag.rate * term[kLags * stride + k]);
      next[kLags * stride + k] = g;
      added = std::max(added, std::abs(g));
    }
    largest = std::max(largest, added);
    small = added <= 0.1 * std::numeric_limits<double>::epsilon() * largest ? small + 1 : 0;
  }
  return j + 1;
}

/// out <- sum of terms_j s^j of `Blocks` times eight entries: chains that do not wait for each
/// other.
template <int Blocks>
inline __attribute__((always_inline)) void sum_blocks(
    const double* terms, int count, int width, double s, double* out) {
  const double* term = terms + (count - 1) * width;
  Octo sum[Blocks];
  for (int k = 0; k < Blocks; ++k) sum[k] = octo(term + kWide * k);
  for (int j = count - 1; j > 0; --j) {
    term -= width;
    for (int k = 0; k < Blocks; ++k) sum[k] = sum[k] * s + octo(term + kWide * k);
  }
  for (int k = 0; k < Blocks; ++k) octo(out + kWide * k) = sum[k];
}

/// Of all entries.
STICTION_CLONES void sum_terms(const double* terms, int count, int width, double s, double* out) {
  constexpr int kBlocks = 4;
  int i = 0;
  for (; i + kBlocks * kWide <= width; i += kBlocks * kWide)
    sum_blocks<kBlocks>(terms + i, count, width, s, out + i);
  const int left = (width - i) / kWide;
  if (left == 3) sum_blocks<3>(terms + i, count, width, s, out + i);
  if (left == 2) sum_blocks<2>(terms + i, count, width, s, out + i);
  if (left == 1) sum_blocks<1>(terms + i, count, width, s, out + i);
}

/// Largest entries of |W| B and |W| K.
STICTION_CLONES void largest_sums(
    const double* W, const double* B, const double* K, int n, int stride, double* out) {
  Quad damping{}, spring{};
  for (int i = 0; i < stride; i += kLanes) {
    Quad b{}, k{};
    for (int c = 0; c < n; ++c) {
      const Quad w = quad(W + c * stride + i), size = w < 0.0 ? -w : w;
      b += size * B[c];
      k += size * K[c];
    }
    damping = damping < b ? b : damping;
    spring = spring < k ? k : spring;
  }
  out[0] = std::max(std::max(damping[0], damping[1]), std::max(damping[2], damping[3]));
  out[1] = std::max(std::max(spring[0], spring[1]), std::max(spring[2], spring[3]));
}

}  // namespace

void SpringSeries::prepare(const SpringRows& rows) {
  const int n = size_ = rows.size;
  stride_ = padded_to(kLanes, n);
  width_ = padded_to(kWide, kLags * stride_ + static_cast<int>(rows.lags.size()));
  columns_.assign(static_cast<std::size_t>(stride_) * stride_, 0.0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) columns_[j * stride_ + i] = rows.W[i * n + j];
  }
  given_.assign(5 * stride_, 0.0);
  std::copy(rows.K.begin(), rows.K.end(), given_.begin());
  std::copy(rows.B.begin(), rows.B.end(), given_.begin() + stride_);
  // Room for as many spans as are ever asked for: how many depends on the motion.
  constexpr int kSpans = static_cast<int>(kLongest / kSpan) + 1;
  terms_.reserve(static_cast<std::size_t>(kSpans) * (kTerms + 2) * width_);
  starts_.reserve(kSpans + 1);
  double most[2];
  largest_sums(columns_.data(), given_.data() + stride_, given_.data(), n, stride_, most);
  rate_ = 0.5 * most[0] + std::sqrt(0.25 * most[0] * most[0] + most[1]);
  for (const SpringRows::Lag& lag : rows.lags) rate_ = std::max(rate_, lag.rate);
  begin();
}

/// The first term of a span, from the motion at its start: x, v, U1, U2, g.
void SpringSeries::begin_span(double* terms) const {
  const double* motion = motion_.data();
  std::copy(motion, motion + width_, terms);
  for (int i = 0; i < stride_; ++i)
    terms[width_ + kU2 * stride_ + i] = span_ * motion[kU1 * stride_ + i];
}

void SpringSeries::expand_up_to(const SpringRows& rows, const SpringStart& start, double t) {
  const int spans = std::max(1, static_cast<int>(std::ceil(rate_ * t / kSpan)));
  reach_ = t;
  span_ = t / spans;
  std::copy(start.b0.begin(), start.b0.end(), given_.begin() + 2 * stride_);
  std::copy(start.b1.begin(), start.b1.end(), given_.begin() + 3 * stride_);
  motion_.assign(width_, 0.0);
  for (int i = 0; i < size_; ++i) {
    motion_[kX * stride_ + i] = start.x[i];
    motion_[kV * stride_ + i] = start.v[i] * span_;
  }
  std::copy(start.g.begin(), start.g.end(), motion_.begin() + kLags * stride_);
  starts_.assign(1, 0);
  for (int k = 0; k < spans; ++k) {
    const std::size_t first = starts_.back(),
                      room = first + (kTerms + 2) * static_cast<std::size_t>(width_);
    if (terms_.size() < room) terms_.resize(room, 0.0);
    double* terms = terms_.data() + first;
    begin_span(terms);
    const double* K = given_.data();
    const int count = expand({columns_.data(),
                              K,
                              K + stride_,
                              K + 2 * stride_,
                              K + 3 * stride_,
                              rows.lags.data(),
                              stride_,
                              width_,
                              static_cast<int>(rows.lags.size()),
                              span_,
                              k * span_,
                              given_.data() + 4 * stride_},
                             terms);
    starts_.push_back(first + static_cast<std::size_t>(count) * width_);
    if (k + 1 < spans) sum_terms(terms, count, width_, 1.0, motion_.data());
  }
}

void SpringSeries::at(const SpringRows& rows,
                      const SpringStart& start,
                      double t,
                      SpringMotion& motion) {
  if (t == 0.0) return motion.take(rows, start);
  if (!(t <= reach_)) expand_up_to(rows, start, t);
  const int last = static_cast<int>(starts_.size()) - 2;
  const int k = std::min(last, static_cast<int>(t / span_));
  const double share = (t - k * span_) / span_;
  const int count = static_cast<int>(starts_[k + 1] - starts_[k]) / width_;
  sum_terms(terms_.data() + starts_[k], count, width_, share, motion_.data());
  const auto part = [&](int p) { return motion_.begin() + p * stride_; };
  motion.t = t;
  std::copy_n(part(kX), size_, motion.x.begin());
  std::copy_n(part(kU1), size_, motion.U1.begin());
  std::copy_n(part(kU2), size_, motion.U2.begin());
  std::copy_n(part(kLags), rows.lags.size(), motion.g.begin());
  for (int i = 0; i < size_; ++i) {
    motion.v[i] = motion_[kV * stride_ + i] / span_;
    motion.u[i] = -rows.K[i] * motion.x[i] - rows.B[i] * motion.v[i];
  }
}

}  // namespace stiction
