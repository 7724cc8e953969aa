#include "math/spring_damper.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

// The forms of SpringDamper that need a matrix exponential: z' = A z + f0 + f1 t + f2 t^2 / 2.
// With a tail of five states that shift into each other, tau' = N tau, three columns of one
// exponential are z, its integral and its double integral (Carbonell, Jimenez and Pedroso 2008; the
// columns of Hammoud et al. 2022, eq. 29, with a forcing that varies).

namespace stiction {
namespace {

/// Largest column sum of a row-major matrix.
double norm_one(const double* A, int rows, int columns) {
  double largest = 0.0;
  for (int j = 0; j < columns; ++j) {
    double sum = 0.0;
    for (int i = 0; i < rows; ++i) sum += std::abs(A[static_cast<std::size_t>(i) * columns + j]);
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace

/// W = G G^T with as many columns as W has rank: Cholesky with diagonal pivoting. The rows of the
/// pivots are a triangle, in their order.
void SpringDamper::factor_inertia() {
  G_.assign(static_cast<std::size_t>(n_) * n_, 0.0);
  pivots_.clear();
  scratch_.resize(n_);
  double largest = 0.0;
  for (int i = 0; i < n_; ++i) {
    scratch_[i] = W_[static_cast<std::size_t>(i) * n_ + i];
    largest = std::max(largest, scratch_[i]);
  }
  const double rounding = 4.0 * n_ * std::numeric_limits<double>::epsilon() * largest;
  for (rank_ = 0; rank_ < n_; ++rank_) {
    int pivot = 0;
    for (int i = 1; i < n_; ++i) {
      if (scratch_[i] > scratch_[pivot]) pivot = i;
    }
    if (!(scratch_[pivot] > rounding)) break;
    const double root = std::sqrt(scratch_[pivot]);
    const double* row = G_.data() + static_cast<std::size_t>(pivot) * n_;
    for (int i = 0; i < n_; ++i) {
      double* g = G_.data() + static_cast<std::size_t>(i) * n_;
      double sum = W_[static_cast<std::size_t>(i) * n_ + pivot];
      for (int k = 0; k < rank_; ++k) sum -= g[k] * row[k];
      const bool used = scratch_[i] == -1.0;
      g[rank_] = used ? 0.0 : i == pivot ? root : sum / root;
      if (!used) scratch_[i] = std::max(scratch_[i] - g[rank_] * g[rank_], 0.0);
    }
    scratch_[pivot] = -1.0;
    pivots_.push_back(pivot);
  }
}

/// a = G s + rest, the rest zero in the rows of the pivots. A motion of the contact points that no
/// motion of the bodies can follow (in a hyperstatic set) stays in the rest.
void SpringDamper::split(const double* a, double* s, double* rest) const {
  for (int k = 0; k < rank_; ++k) {
    const double* g = G_.data() + static_cast<std::size_t>(pivots_[k]) * n_;
    s[k] = a[pivots_[k]];
    for (int j = 0; j < k; ++j) s[k] -= g[j] * s[j];
    s[k] /= g[k];
  }
  for (int i = 0; i < n_; ++i) {
    const double* g = G_.data() + static_cast<std::size_t>(i) * n_;
    rest[i] = a[i];
    for (int k = 0; k < rank_; ++k) rest[i] -= g[k] * s[k];
  }
  for (const int pivot : pivots_) rest[pivot] = 0.0;
}

/// z = (K^1/2 x, s), v = G s + rest: A = [[0, K^1/2 G], [-G^T K^1/2, -G^T B G]], whose symmetric
/// part is negative, so that its exponential never grows.
void SpringDamper::set_dissipative() {
  factor_inertia();
  size_ = n_ + rank_;
  A_.assign(static_cast<std::size_t>(size_) * size_, 0.0);
  for (int i = 0; i < n_; ++i) {
    const double* g = G_.data() + static_cast<std::size_t>(i) * n_;
    for (int k = 0; k < rank_; ++k) {
      A_[static_cast<std::size_t>(i) * size_ + n_ + k] = root_[i] * g[k];
      A_[static_cast<std::size_t>(n_ + k) * size_ + i] = -root_[i] * g[k];
      for (int j = 0; j < rank_; ++j)
        A_[static_cast<std::size_t>(n_ + k) * size_ + n_ + j] -= g[k] * B_[i] * g[j];
    }
  }
}

/// z = (c x, v, c g), c a power of 2 near the fastest frequency: all entries of A are then rates.
void SpringDamper::set_companion() {
  const int lags = static_cast<int>(followers_.size());
  size_ = 2 * n_ + lags;
  A_.assign(static_cast<std::size_t>(size_) * size_, 0.0);
  double stiffest = 0.0;
  for (int i = 0; i < n_; ++i)
    stiffest = std::max(stiffest, std::abs(W_[static_cast<std::size_t>(i) * n_ + i]) * K_[i]);
  x_scale_ = stiffest > 0.0 ? std::exp2(std::round(0.5 * std::log2(stiffest))) : 1.0;
  const double c = x_scale_;
  const auto at = [&](int i, int j) -> double& {
    return A_[static_cast<std::size_t>(i) * size_ + j];
  };
  for (int i = 0; i < n_; ++i) {
    at(i, n_ + i) = c;
    for (int j = 0; j < n_; ++j) {
      const double w = W_[static_cast<std::size_t>(i) * n_ + j];
      at(n_ + i, j) = -w * K_[j] / c;
      at(n_ + i, n_ + j) = -w * B_[j];
    }
  }
  for (int k = 0; k < lags; ++k) {
    const Follower& lag = followers_[k];
    at(2 * n_ + k, lag.row) = -lag.gain * K_[lag.row];
    at(2 * n_ + k, n_ + lag.row) = -c * lag.gain * B_[lag.row];
    at(2 * n_ + k, 2 * n_ + k) = -lag.rate;
  }
}

/// A and z0, of the rows and their start.
void SpringDamper::prepare_pade() {
  if (!pade_set_) form_ == Form::kCompanion ? set_companion() : set_dissipative();
  if (!pade_started_) start_pade();
  pade_set_ = pade_started_ = true;
}

void SpringDamper::start_pade() {
  z0_.assign(size_, 0.0);
  f_.assign(3 * static_cast<std::size_t>(size_), 0.0);
  double *f0 = f_.data(), *f1 = f0 + size_;
  if (form_ == Form::kCompanion) {
    for (int i = 0; i < n_; ++i) z0_[i] = x_scale_ * x0_[i];
    std::copy(v0_.begin(), v0_.end(), z0_.begin() + n_);
    for (std::size_t k = 0; k < g0_.size(); ++k) z0_[2 * n_ + k] = x_scale_ * g0_[k];
    std::copy(b0_.begin(), b0_.end(), f0 + n_);
    std::copy(b1_.begin(), b1_.end(), f1 + n_);
    return;
  }
  for (std::vector<double>* rest : {&rest_v_, &rest_b0_, &rest_b1_}) rest->resize(n_);
  for (int i = 0; i < n_; ++i) z0_[i] = root_[i] * x0_[i];
  split(v0_.data(), z0_.data() + n_, rest_v_.data());
  split(b0_.data(), f0 + n_, rest_b0_.data());
  split(b1_.data(), f1 + n_, rest_b1_.data());
  const double* rests[] = {rest_v_.data(), rest_b0_.data(), rest_b1_.data()};
  for (int order = 0; order < 3; ++order) {
    double* f = f_.data() + static_cast<std::size_t>(order) * size_;
    for (int i = 0; i < n_; ++i) {
      const double* g = G_.data() + static_cast<std::size_t>(i) * n_;
      f[i] = root_[i] * rests[order][i];
      for (int k = 0; k < rank_; ++k) f[n_ + k] -= g[k] * B_[i] * rests[order][i];
    }
  }
}

/// t times the augmented matrix [A, F; 0, N], F = (f2, f1, f0, z0, 0), and the columns (z0; e3),
/// (0; e4), (0; e5). F is brought to the size of A by a power of two, taken from the tail again.
void SpringDamper::augment(double t) {
  const int size = size_ + kTail;
  augmented_.assign(static_cast<std::size_t>(size) * size, 0.0);
  columns_.assign(static_cast<std::size_t>(size) * kMoments, 0.0);
  const double* forcing[] = {
      f_.data() + 2 * size_, f_.data() + size_, f_.data(), z0_.data(), nullptr};
  double largest = 0.0;
  for (int j = 0; j + 1 < kTail; ++j) largest = std::max(largest, norm_one(forcing[j], size_, 1));
  const double wanted = std::max(norm_one(A_.data(), size_, size_), 1.0);
  const double scale = largest > 0.0 ? std::exp2(std::floor(std::log2(wanted / largest))) : 1.0;
  for (int i = 0; i < size_; ++i) {
    double* row = augmented_.data() + static_cast<std::size_t>(i) * size;
    for (int j = 0; j < size_; ++j) row[j] = t * A_[static_cast<std::size_t>(i) * size_ + j];
    for (int j = 0; j + 1 < kTail; ++j) row[size_ + j] = t * scale * forcing[j][i];
    columns_[static_cast<std::size_t>(i) * kMoments] = z0_[i];
  }
  for (int j = 0; j + 1 < kTail; ++j)
    augmented_[static_cast<std::size_t>(size_ + j) * size + size_ + j + 1] = t;
  for (int m = 0; m < kMoments; ++m)
    columns_[static_cast<std::size_t>(size_ + 2 + m) * kMoments + m] = 1.0 / scale;
}

void SpringDamper::sample_pade(double t, int count, std::vector<Motion>& motions) {
  prepare_pade();
  const int size = size_ + kTail;
  augment(t / count);
  transition_.assign(static_cast<std::size_t>(size) * size, 0.0);
  for (int i = 0; i < size; ++i) transition_[static_cast<std::size_t>(i) * size + i] = 1.0;
  exponential_.apply(augmented_.data(), size, transition_.data(), size, {-1, false});
  next_.resize(columns_.size());
  for (int k = 0; k < count; ++k) {
    std::fill(next_.begin(), next_.end(), 0.0);
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        for (int m = 0; m < kMoments; ++m)
          next_[static_cast<std::size_t>(i) * kMoments + m] +=
              transition_[static_cast<std::size_t>(i) * size + j] *
              columns_[static_cast<std::size_t>(j) * kMoments + m];
      }
    }
    std::swap(next_, columns_);
    read_pade((k + 1) * t / count, columns_.data(), motions[k]);
  }
}

void SpringDamper::at_pade(double t, Motion& motion) {
  prepare_pade();
  augment(t);
  exponential_.apply(augmented_.data(), size_ + kTail, columns_.data(), kMoments, {-1, false});
  read_pade(t, columns_.data(), motion);
}

void SpringDamper::read_pade(double t, const double* columns, Motion& motion) {
  const auto z = [&](int i, int moment) { return columns[i * kMoments + moment]; };
  if (form_ == Form::kCompanion) {
    const double c = 1.0 / x_scale_;
    for (int i = 0; i < n_; ++i) {
      motion.x[i] = c * z(i, 0);
      motion.v[i] = z(n_ + i, 0);
      motion.u[i] = -K_[i] * c * z(i, 0) - B_[i] * z(n_ + i, 0);
      motion.U1[i] = -K_[i] * c * z(i, 1) - B_[i] * z(n_ + i, 1);
      motion.U2[i] = -K_[i] * c * z(i, 2) - B_[i] * z(n_ + i, 2);
    }
    for (std::size_t k = 0; k < followers_.size(); ++k)
      motion.g[k] = c * z(2 * n_ + static_cast<int>(k), 0);
    return;
  }
  bool all = true;
  for (int i = 0; i < n_; ++i) {
    const double* g = G_.data() + static_cast<std::size_t>(i) * n_;
    const double r0 = rest_v_[i], r1 = rest_b0_[i], r2 = rest_b1_[i];
    double v[kMoments] = {r0 + t * (r1 + t * r2 / 2.0),
                          t * (r0 + t * (r1 / 2.0 + t * r2 / 6.0)),
                          t * t * (r0 / 2.0 + t * (r1 / 6.0 + t * r2 / 24.0))};
    for (int k = 0; k < rank_; ++k) {
      for (int m = 0; m < kMoments; ++m) v[m] += g[k] * z(n_ + k, m);
    }
    motion.v[i] = v[0];
    motion.u[i] = -root_[i] * z(i, 0) - B_[i] * v[0];
    motion.U1[i] = -root_[i] * z(i, 1) - B_[i] * v[1];
    motion.U2[i] = -root_[i] * z(i, 2) - B_[i] * v[2];
    motion.x[i] = z(i, 0) / root_[i];
    all = all && root_[i] > 0.0;
  }
  if (!all) integrate_free_rows(t, motion);
}

}  // namespace stiction
