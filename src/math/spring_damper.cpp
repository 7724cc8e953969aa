#include "math/spring_damper.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

// The interface; spring_damper_modal.cpp has the modal form, the others by a power series
// (spring_damper_series.cpp) or a matrix exponential (spring_damper_pade.cpp).

namespace stiction {
namespace {

/// The undamped modes are those of the damped rows only if B = beta K in every row; and stiffnesses
/// too far apart leave the softest modes fewer digits than a matrix exponential does.
constexpr double kWidestStiffness = 30.0;
/// Below this a spring is none: its square is out of range.
constexpr double kNoStiffness = 1e-100;

bool has_modes(const double* K, const double* B, int n, double& beta) {
  double largest = 0.0, least = 0.0;
  beta = 0.0;
  for (int i = 0; i < n; ++i) {
    if (K[i] > largest) {
      largest = K[i];
      beta = B[i] / K[i];
    }
    if (K[i] > 0.0 && (least == 0.0 || K[i] < least)) least = K[i];
  }
  for (int i = 0; i < n; ++i) {
    if (std::abs(B[i] - beta * K[i]) > 1e-14 * B[i]) return false;
  }
  return largest <= kWidestStiffness * least;
}

}  // namespace

void SpringDamper::Motion::resize(int rows, int followers) {
  for (std::vector<double>* a : {&x, &v, &u, &U1, &U2}) a->resize(rows);
  g.resize(followers);
}

void SpringDamper::set(const double* W,
                       const double* K,
                       const double* B,
                       int n,
                       bool symmetric,
                       const Follower* followers,
                       int num_followers) {
  n_ = n;
  W_.assign(W, W + static_cast<std::size_t>(n) * n);
  K_.assign(K, K + n);
  for (double& k : K_) k = k < kNoStiffness ? 0.0 : k;
  B_.assign(B, B + n);
  followers_.assign(followers, followers + num_followers);
  root_.resize(n);
  for (int i = 0; i < n; ++i) root_[i] = std::sqrt(K_[i]);
  form_ = !symmetric || num_followers > 0     ? Form::kCompanion
          : has_modes(K_.data(), B, n, beta_) ? Form::kModal
                                              : Form::kDissipative;
  form_ == Form::kModal ? set_modal() : bound_rates();
  pade_set_ = pade_started_ = false;
}

void SpringDamper::start(
    const double* x0, const double* v0, const double* b0, const double* b1, const double* g0) {
  x0_.assign(x0, x0 + n_);
  v0_.assign(v0, v0 + n_);
  b0_.assign(b0, b0 + n_);
  b1_.assign(b1, b1 + n_);
  g0_.assign(g0, g0 + followers_.size());
  form_ == Form::kModal ? start_modal() : start_series();
  pade_started_ = false;
}

void SpringDamper::at(double t, Motion& motion) {
  motion.resize(n_, static_cast<int>(followers_.size()));
  if (form_ == Form::kModal)
    at_modal(t, motion);
  else
    is_short(t) ? at_series(t, motion) : at_pade(t, motion);
}

void SpringDamper::sample(double t, int count, std::vector<Motion>& motions) {
  if (static_cast<int>(motions.size()) < count) motions.resize(count);
  for (int k = 0; k < count; ++k) motions[k].resize(n_, static_cast<int>(followers_.size()));
  if (form_ == Form::kModal)
    sample_modal(t, count, motions);
  else
    is_short(t) ? sample_series(t, count, motions) : sample_pade(t, count, motions);
}

}  // namespace stiction
