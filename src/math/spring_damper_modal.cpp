#include "math/clones.hpp"
#include "math/spring_damper.hpp"
#include "math/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

// The modal form of SpringDamper: K^1/2 W K^1/2 = V diag(w) V^T, y = V^T K^1/2 x, and in each mode
//   y'' + beta w y' + w y = g0 + g1 t.
// Modes and rows are padded to fours with zeros, V and everything that is given by mode.

namespace stiction {
namespace {

constexpr int kLanes = 4;
constexpr int kVectors = 4;  // that combine() takes at once

/// Rows of modes_, one entry per mode: w, beta w; s', S_0, ... S_4 over functions_step_; the start
/// and the forcing y, y', g0, g1; and where the modes are: y, y', int y, intint y.
enum ModalRow {
  kW,
  kDamping,
  kFunctions,
  kStart = kFunctions + 6,
  kState = kStart + 4,
  kRows = kState + 4
};

/// out_k = sum_m z_k[m] V_m for four vectors z_k; all [stride], V [modes x stride].
STICTION_CLONES void combine(const double* V, int modes, int stride, const double* z, double* out) {
  for (int i = 0; i < stride; i += kLanes) {
    Quad a{}, b{}, c{}, d{};
    for (int m = 0; m < modes; ++m) {
      const Quad v = quad(V + m * stride + i);
      a += v * z[m];
      b += v * z[stride + m];
      c += v * z[2 * stride + m];
      d += v * z[3 * stride + m];
    }
    quad(out + i) = a;
    quad(out + stride + i) = b;
    quad(out + 2 * stride + i) = c;
    quad(out + 3 * stride + i) = d;
  }
}

/// `count` steps of t each from where `elapsed` has passed; forces: y + beta y' after each [count x
/// stride], or null.
STICTION_CLONES void walk(
    double t, double elapsed, int count, double beta, int stride, double* modes, double* forces) {
  for (int m = 0; m < stride; m += kLanes) {
    const auto row = [&](int r) -> UnalignedQuad& { return quad(modes + r * stride + m); };
    const Quad w = row(kW), c = row(kDamping), rate = row(kFunctions), S0 = row(kFunctions + 1),
               S1 = row(kFunctions + 2), S2 = row(kFunctions + 3), S3 = row(kFunctions + 4),
               S4 = row(kFunctions + 5), g1 = row(kStart + 3);
    Quad y = row(kState), r = row(kState + 1), Y1 = row(kState + 2), Y2 = row(kState + 3);
    for (int k = 0; k < count; ++k) {
      const Quad g0 = row(kStart + 2) + g1 * (elapsed + k * t), y0 = y, r0 = r;
      y = y0 * (rate + c * S0) + r0 * S0 + g0 * S1 + g1 * S2;
      r = r0 * rate - w * y0 * S0 + g0 * S0 + g1 * S1;
      Y2 += Y1 * t + y0 * (S1 + c * S2) + r0 * S2 + g0 * S3 + g1 * S4;
      Y1 += y0 * (S0 + c * S1) + r0 * S1 + g0 * S2 + g1 * S3;
      if (forces != nullptr) quad(forces + k * stride + m) = y + beta * r;
    }
    row(kState) = y;
    row(kState + 1) = r;
    row(kState + 2) = Y1;
    row(kState + 3) = Y2;
  }
}

}  // namespace

void SpringDamper::set_modal() {
  const std::size_t entries = static_cast<std::size_t>(n_) * n_;
  stride_ = (n_ + kLanes - 1) / kLanes * kLanes;
  scratch_.resize(2 * entries + 8 * n_ + 24);
  double *A = scratch_.data(), *V = A + entries, *w = V + entries;
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j)
      A[static_cast<std::size_t>(i) * n_ + j] =
          root_[i] * W_[static_cast<std::size_t>(i) * n_ + j] * root_[j];
  }
  const bool found = symmetric_eigen(A, n_, w, V, w + n_);
  V_.assign(static_cast<std::size_t>(n_) * stride_, 0.0);
  V_transposed_.assign(static_cast<std::size_t>(n_) * stride_, 0.0);
  modes_.assign(static_cast<std::size_t>(kRows) * stride_, 0.0);
  for (int m = 0; m < n_; ++m) {
    modes_[m] = found ? std::max(w[m], 0.0) : std::nan("");  // what is not finite shows
    modes_[stride_ + m] = beta_ * modes_[m];
    for (int i = 0; i < n_; ++i)
      V_[m * stride_ + i] = V_transposed_[i * stride_ + m] =
          V[static_cast<std::size_t>(m) * n_ + i];
  }
  functions_step_ = -1.0;
}

/// Per mode y = V^T K^1/2 x and its rate, and the forcing V^T K^1/2 (b0 + b1 t).
void SpringDamper::start_modal() {
  rows_.assign(static_cast<std::size_t>(kVectors) * stride_, 0.0);
  const double* given[] = {x0_.data(), v0_.data(), b0_.data(), b1_.data()};
  for (int k = 0; k < kVectors; ++k) {
    for (int i = 0; i < n_; ++i) rows_[k * stride_ + i] = root_[i] * given[k][i];
  }
  combine(V_transposed_.data(), n_, stride_, rows_.data(), modes_.data() + kStart * stride_);
}

void SpringDamper::rewind_modes(double step) {
  const auto start = modes_.begin() + kStart * stride_, state = modes_.begin() + kState * stride_;
  std::copy(start, start + 2 * stride_, state);
  std::fill(state + 2 * stride_, state + 4 * stride_, 0.0);
  if (step == functions_step_) return;
  oscillator_functions(modes_.data() + kDamping * stride_,
                       modes_.data() + kW * stride_,
                       step,
                       stride_,
                       modes_.data() + kFunctions * stride_);
  functions_step_ = step;
}

void SpringDamper::at_modal(double t, Motion& motion) {
  rewind_modes(t);
  walk(t, 0.0, 1, beta_, stride_, modes_.data(), nullptr);
  read_modal(t, motion);
}

void SpringDamper::sample_modal(double t, int count, std::vector<Motion>& motions) {
  const double step = t / count;
  rewind_modes(step);
  for (int k = 0; k < count; ++k) {
    walk(step, k * step, 1, beta_, stride_, modes_.data(), nullptr);
    read_modal((k + 1) * step, motions[k]);
  }
}

const double* SpringDamper::sample_forces(double t, int count, Motion& end) {
  const int padded = (count + kVectors - 1) / kVectors * kVectors;
  for (std::vector<double>* a : {&forces_, &mode_forces_}) a->resize(padded * stride_);
  end.resize(n_, 0);
  rewind_modes(t / count);
  walk(t / count, 0.0, count, beta_, stride_, modes_.data(), mode_forces_.data());
  for (int k = 0; k < padded; k += kVectors)
    combine(
        V_.data(), n_, stride_, mode_forces_.data() + k * stride_, forces_.data() + k * stride_);
  for (int k = 0; k < count; ++k) {
    for (int i = 0; i < n_; ++i) forces_[k * stride_ + i] *= -root_[i];
  }
  read_modal(t, end);
  return forces_.data();
}

/// x, v, u and the integrals of u where the modes are.
void SpringDamper::read_modal(double t, Motion& motion) {
  combine(V_.data(), n_, stride_, modes_.data() + kState * stride_, rows_.data());
  const double *y = rows_.data(), *r = y + stride_, *Y1 = r + stride_, *Y2 = Y1 + stride_;
  bool all = true;
  for (int i = 0; i < n_; ++i) {
    const double root = root_[i], start = root * x0_[i];
    motion.u[i] = -root * (y[i] + beta_ * r[i]);
    motion.U1[i] = -root * (Y1[i] + beta_ * (y[i] - start));
    motion.U2[i] = -root * (Y2[i] + beta_ * (Y1[i] - t * start));
    all = all && root > 0.0;
    motion.x[i] = y[i] / root;
    motion.v[i] = r[i] / root;
  }
  if (!all) integrate_free_rows(t, motion);
}

bool SpringDamper::solve_inertia(double h, double share, double* x) {
  if (form_ != Form::kModal) return false;
  double trace = 0.0;
  for (int i = 0; i < n_; ++i) {
    if (!(root_[i] > 0.0)) return false;
    trace += modes_[i];
  }
  rows_.assign(static_cast<std::size_t>(kVectors) * stride_, 0.0);
  mode_forces_.resize(static_cast<std::size_t>(kVectors) * stride_);
  for (int i = 0; i < n_; ++i) rows_[i] = root_[i] * x[i];
  combine(V_transposed_.data(), n_, stride_, rows_.data(), mode_forces_.data());
  const double small = share / (h * (h + beta_)) + 1e-10 * trace / n_;
  for (int m = 0; m < n_; ++m) mode_forces_[m] /= modes_[m] + small;
  combine(V_.data(), n_, stride_, mode_forces_.data(), rows_.data());
  for (int i = 0; i < n_; ++i) x[i] = root_[i] * rows_[i];
  return true;
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
