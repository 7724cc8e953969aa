#include "stiction/math/spring_damper.hpp"

#include "stiction/math/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

// The interface and the modal form. The two forms that need a matrix exponential are in
// spring_damper_pade.cpp.

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
  if (form_ == Form::kModal) set_modal();
  if (form_ == Form::kDissipative) set_dissipative();
  if (form_ == Form::kCompanion) set_companion();
}

void SpringDamper::start(
    const double* x0, const double* v0, const double* b0, const double* b1, const double* g0) {
  x0_.assign(x0, x0 + n_);
  v0_.assign(v0, v0 + n_);
  b0_.assign(b0, b0 + n_);
  b1_.assign(b1, b1 + n_);
  g0_.assign(g0, g0 + followers_.size());
  form_ == Form::kModal ? start_modal() : start_pade();
}

void SpringDamper::at(double t, Motion& motion) {
  motion.resize(n_, static_cast<int>(followers_.size()));
  if (form_ == Form::kModal) {
    moved_.assign(state_.begin(), state_.end());
    move_modal(t, 0.0, moved_.data());
    read_modal(t, moved_.data(), motion);
  } else {
    at_pade(t, motion);
  }
}

void SpringDamper::sample(double t, int count, std::vector<Motion>& motions, bool forces_only) {
  if (static_cast<int>(motions.size()) < count) motions.resize(count);
  for (int k = 0; k < count; ++k) motions[k].resize(n_, static_cast<int>(followers_.size()));
  if (form_ != Form::kModal) return sample_pade(t, count, motions);
  const double step = t / count;
  moved_.assign(state_.begin(), state_.end());
  for (int k = 0; k < count; ++k) {
    move_modal(step, k * step, moved_.data());
    if (forces_only && k + 1 < count) {
      read_modal_forces(moved_.data(), motions[k]);
    } else {
      read_modal((k + 1) * step, moved_.data(), motions[k]);
    }
  }
}

/// K^1/2 W K^1/2 = V diag(w) V^T.
void SpringDamper::set_modal() {
  const std::size_t entries = static_cast<std::size_t>(n_) * n_;
  scratch_.resize(entries + n_);
  V_.resize(entries);
  w_.resize(n_);
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j)
      scratch_[static_cast<std::size_t>(i) * n_ + j] =
          root_[i] * W_[static_cast<std::size_t>(i) * n_ + j] * root_[j];
  }
  const bool found =
      symmetric_eigen(scratch_.data(), n_, w_.data(), V_.data(), scratch_.data() + entries);
  for (double& w : w_) w = found ? std::max(w, 0.0) : std::nan("");  // what is not finite shows
  functions_step_ = -1.0;
}

/// Per mode y = V^T K^1/2 x and its rate, and the forcing V^T K^1/2 (b0 + b1 t).
void SpringDamper::start_modal() {
  state_.assign(4 * static_cast<std::size_t>(n_), 0.0);
  forcing_.assign(2 * static_cast<std::size_t>(n_), 0.0);
  for (int m = 0; m < n_; ++m) {
    const double* V = V_.data() + static_cast<std::size_t>(m) * n_;
    for (int i = 0; i < n_; ++i) {
      const double a = V[i] * root_[i];
      state_[4 * m] += a * x0_[i];
      state_[4 * m + 1] += a * v0_[i];
      forcing_[2 * m] += a * b0_[i];
      forcing_[2 * m + 1] += a * b1_[i];
    }
  }
}

/// (y, y', int y, intint y) of each mode over t, from where `elapsed` has passed:
/// y'' + beta w y' + w y = g0 + g1 t.
void SpringDamper::move_modal(double t, double elapsed, double* state) {
  if (t != functions_step_) {
    functions_.resize(n_);
    for (int m = 0; m < n_; ++m) functions_[m] = oscillator_functions(beta_ * w_[m], w_[m], t);
    functions_step_ = t;
  }
  for (int m = 0; m < n_; ++m) {
    const OscillatorFunctions& f = functions_[m];
    const double c = beta_ * w_[m], *S = f.S;
    const double g1 = forcing_[2 * m + 1], g0 = forcing_[2 * m] + g1 * elapsed;
    double* y = state + 4 * m;
    const double y0 = y[0], r0 = y[1], Y1 = y[2];
    y[0] = y0 * (f.rate + c * S[0]) + r0 * S[0] + g0 * S[1] + g1 * S[2];
    y[1] = r0 * f.rate - w_[m] * y0 * S[0] + g0 * S[0] + g1 * S[1];
    y[2] += y0 * (S[0] + c * S[1]) + r0 * S[1] + g0 * S[2] + g1 * S[3];
    y[3] += Y1 * t + y0 * (S[1] + c * S[2]) + r0 * S[2] + g0 * S[3] + g1 * S[4];
  }
}

void SpringDamper::read_modal(double t, const double* state, Motion& motion) {
  double *x = motion.x.data(), *v = motion.v.data(), *U1 = motion.U1.data(), *U2 = motion.U2.data();
  for (double* a : {x, v, U1, U2}) std::fill(a, a + n_, 0.0);
  for (int m = 0; m < n_; ++m) {
    const double* V = V_.data() + static_cast<std::size_t>(m) * n_;
    const double y = state[4 * m], r = state[4 * m + 1], Y1 = state[4 * m + 2],
                 Y2 = state[4 * m + 3];
#pragma GCC ivdep
    for (int i = 0; i < n_; ++i) {
      x[i] += V[i] * y;
      v[i] += V[i] * r;
      U1[i] += V[i] * Y1;
      U2[i] += V[i] * Y2;
    }
  }
  bool all = true;
  for (int i = 0; i < n_; ++i) {
    const double start = root_[i] * x0_[i];
    motion.u[i] = -root_[i] * (motion.x[i] + beta_ * motion.v[i]);
    motion.U2[i] = -root_[i] * (motion.U2[i] + beta_ * (motion.U1[i] - t * start));
    motion.U1[i] = -root_[i] * (motion.U1[i] + beta_ * (motion.x[i] - start));
    all = all && root_[i] > 0.0;
    motion.x[i] /= root_[i];
    motion.v[i] /= root_[i];
  }
  if (!all) integrate_free_rows(t, motion);
}

/// u = -K^1/2 V (y + beta y').
void SpringDamper::read_modal_forces(const double* state, Motion& motion) const {
  double* u = motion.u.data();
  std::fill(u, u + n_, 0.0);
  for (int m = 0; m < n_; ++m) {
    const double* V = V_.data() + static_cast<std::size_t>(m) * n_;
    const double y = state[4 * m] + beta_ * state[4 * m + 1];
    for (int i = 0; i < n_; ++i) u[i] += V[i] * y;
  }
  for (int i = 0; i < n_; ++i) u[i] *= -root_[i];
}

/// x and v of rows without a spring, from the integrals of the others' forces.
void SpringDamper::integrate_free_rows(double t, Motion& motion) const {
  for (int i = 0; i < n_; ++i) {
    if (root_[i] > 0.0) continue;
    const double* W = W_.data() + static_cast<std::size_t>(i) * n_;
    motion.x[i] = x0_[i] + t * (v0_[i] + t * (b0_[i] / 2.0 + t * b1_[i] / 6.0));
    motion.v[i] = v0_[i] + t * (b0_[i] + t * b1_[i] / 2.0);
    for (int j = 0; j < n_; ++j) {
      motion.x[i] += W[j] * motion.U2[j];
      motion.v[i] += W[j] * motion.U1[j];
    }
  }
}

}  // namespace stiction
