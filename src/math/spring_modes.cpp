#include "math/clones.hpp"
#include "math/phi_functions.hpp"
#include "math/spring_damper.hpp"
#include "math/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

// K^1/2 W K^1/2 = V diag(w) V^T, y = V^T K^1/2 x, and in each mode
//   y'' + beta w y' + w y = g0 + g1 t.
// Modes and rows are padded to fours with zeros, V and everything that is given by mode.

namespace stiction {
namespace {

constexpr int kLanes = 4;
constexpr int kVectors = 4;  // that combine() takes at once

/// Stiffnesses farther apart leave the softest modes fewer digits than the general maps do.
constexpr double kWidestStiffness = 30.0;
/// Below this a spring is none: its square is out of range.
constexpr double kNoStiffness = 1e-100;
/// B_i / K_i that differ by less are the same ratio, rounded.
constexpr double kSameRatio = 1e-14;

/// Without B = beta K in every row the undamped modes are not those of the damped rows.
bool has_modes(const SpringRows& rows, double& beta) {
  beta = 0.0;
  if (!rows.symmetric || !rows.lags.empty()) return false;
  if (rows.size == 0) return true;
  const auto most = std::max_element(rows.K.begin(), rows.K.end());
  const double least = *std::min_element(rows.K.begin(), rows.K.end());
  if (!(least >= kNoStiffness && *most <= kWidestStiffness * least)) return false;
  beta = rows.B[most - rows.K.begin()] / *most;
  for (int i = 0; i < rows.size; ++i) {
    if (std::abs(rows.B[i] - beta * rows.K[i]) > kSameRatio * rows.B[i]) return false;
  }
  return true;
}

/// Rows of table_, one entry per mode: w, beta w; s', S_0, ... S_4 over functions_step_; the start
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

bool SpringModes::find(const SpringRows& rows) {
  if (!has_modes(rows, beta_)) return false;
  const int n = size_ = rows.size;
  const std::size_t entries = static_cast<std::size_t>(n) * n;
  stride_ = (n + kLanes - 1) / kLanes * kLanes;
  root_.resize(n);
  for (int i = 0; i < n; ++i) root_[i] = std::sqrt(rows.K[i]);
  scratch_.resize(2 * entries + 8 * n + 24);
  double *A = scratch_.data(), *V = A + entries, *w = V + entries;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) A[i * n + j] = root_[i] * rows.W[i * n + j] * root_[j];
  }
  const bool found = symmetric_eigen(A, n, w, V, w + n);
  V_.assign(static_cast<std::size_t>(n) * stride_, 0.0);
  V_transposed_.assign(static_cast<std::size_t>(n) * stride_, 0.0);
  table_.assign(static_cast<std::size_t>(kRows) * stride_, 0.0);
  for (int m = 0; m < n; ++m) {
    table_[m] = found ? std::max(w[m], 0.0) : std::nan("");  // what is not finite shows
    table_[stride_ + m] = beta_ * table_[m];
    for (int i = 0; i < n; ++i) V_[m * stride_ + i] = V_transposed_[i * stride_ + m] = V[m * n + i];
  }
  functions_step_ = -1.0;
  return true;
}

/// Per mode y = V^T K^1/2 x and its rate, and the forcing V^T K^1/2 (b0 + b1 t).
void SpringModes::start(const SpringStart& start) {
  rows_.assign(static_cast<std::size_t>(kVectors) * stride_, 0.0);
  const double* given[] = {start.x.data(), start.v.data(), start.b0.data(), start.b1.data()};
  for (int k = 0; k < kVectors; ++k) {
    for (int i = 0; i < size_; ++i) rows_[k * stride_ + i] = root_[i] * given[k][i];
  }
  x0_.assign(rows_.begin(), rows_.begin() + size_);
  combine(V_transposed_.data(), size_, stride_, rows_.data(), table_.data() + kStart * stride_);
}

/// Modes to their start, functions to this step: prediction and correction take the same.
void SpringModes::rewind(double step) {
  const auto start = table_.begin() + kStart * stride_, state = table_.begin() + kState * stride_;
  std::copy(start, start + 2 * stride_, state);
  std::fill(state + 2 * stride_, state + 4 * stride_, 0.0);
  if (step == functions_step_) return;
  oscillator_functions(table_.data() + kDamping * stride_,
                       table_.data() + kW * stride_,
                       step,
                       stride_,
                       table_.data() + kFunctions * stride_);
  functions_step_ = step;
}

void SpringModes::sample(double t, int count, SpringMotion* motions) {
  const double step = t / count;
  rewind(step);
  for (int k = 0; k < count; ++k) {
    walk(step, k * step, 1, beta_, stride_, table_.data(), nullptr);
    read((k + 1) * step, motions[k]);
  }
}

const double* SpringModes::sample_forces(double t, int count, SpringMotion& end) {
  const int padded = (count + kVectors - 1) / kVectors * kVectors;
  for (std::vector<double>* a : {&forces_, &mode_forces_}) a->resize(padded * stride_);
  rewind(t / count);
  walk(t / count, 0.0, count, beta_, stride_, table_.data(), mode_forces_.data());
  for (int k = 0; k < padded * stride_; k += kVectors * stride_)
    combine(V_.data(), size_, stride_, mode_forces_.data() + k, forces_.data() + k);
  for (int k = 0; k < count; ++k) {
    for (int i = 0; i < size_; ++i) forces_[k * stride_ + i] *= -root_[i];
  }
  read(t, end);
  return forces_.data();
}

/// x, v, u and the integrals of u where the modes are.
void SpringModes::read(double t, SpringMotion& motion) {
  combine(V_.data(), size_, stride_, table_.data() + kState * stride_, rows_.data());
  const double *y = rows_.data(), *r = y + stride_, *Y1 = r + stride_, *Y2 = Y1 + stride_;
  motion.t = t;
  for (int i = 0; i < size_; ++i) {
    const double root = root_[i];
    motion.u[i] = -root * (y[i] + beta_ * r[i]);
    motion.U1[i] = -root * (Y1[i] + beta_ * (y[i] - x0_[i]));
    motion.U2[i] = -root * (Y2[i] + beta_ * (Y1[i] - t * x0_[i]));
    motion.x[i] = y[i] / root;
    motion.v[i] = r[i] / root;
  }
}

}  // namespace stiction
