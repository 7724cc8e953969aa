#include "solver/ncp_newton/interior_point.hpp"

#include "stiction/math/constants.hpp"

#include "math/solve_linear.hpp"
#include "solver/common/lorentz.hpp"

#include <algorithm>
#include <cmath>

// With E = I - e_N p^T, p = y_T / sqrt(||y_T||^2 + eps^2) (smoothed in the Jacobian only), and the
// scaling W of Nesterov and Todd, z = W l = W^-1 y, a step solves
//   (G + E W^2) dl = -share r + E d,   dy = d - W^2 dl,   d = W (z \ q),
//   q = -z o z + centre e - (W dl_a) o (W^-1 dy_a),   r = G l + g - c(y),
// first with centre = 0 (the predictor dl_a, dy_a), then corrected. The matrix is
// not symmetric: one LU per step, several right-hand sides. Other sets are intervals [low, high]
// with a multiplier for each finite end, c = y - z; bilateral rows have none.

namespace stiction {

void InteriorPoint::restart(const Start& start) {
  start_ = start;
  for (const InteriorPoints::Point* point : {&w_.at.now, &w_.at.step}) {
    for (double* x : {point->l.data(), point->y.data(), point->z.data()}) std::fill(x, x + n_, 0.0);
  }
  for (int k = 0; k < cells_; ++k) {
    const Cell& cell = w_.cells[k];
    const int r = cell.row;
    if (cell.kind == Kind::kCone) {
      w_.at.now.y[r + cell.dim - 1] = start.velocity;
      w_.at.now.l[r + cell.dim - 1] = start.impulse;
    } else if (cell.kind != Kind::kFree) {
      const bool low = std::isfinite(w_.low[r]), high = std::isfinite(w_.high[r]);
      w_.at.now.l[r] = low && high ? 0.5 * (w_.low[r] + w_.high[r])
                       : low       ? w_.low[r] + start.impulse
                                   : w_.high[r] - start.impulse;
      if (low) w_.at.now.y[r] = start.velocity;
      if (high) w_.at.now.z[r] = start.velocity;
    }
  }
  evaluate();
}

/// visit(inner product, smallest eigenvalue) of each complementary pair of a cell, at l + alpha dl.
template <class Visit>
void InteriorPoint::each_pair(int k, double alpha, Visit&& visit) const {
  const Cell& cell = w_.cells[k];
  const int r = cell.row;
  const auto at = [&](const double* x, const double* dx, int i) { return x[i] + alpha * dx[i]; };
  if (cell.kind == Kind::kCone) {
    with_dim(cell.dim, [&](auto D) {
      double l[D], y[D];
      for (int i = 0; i < D; ++i) l[i] = at(w_.at.now.l, w_.at.step.l, r + i);
      for (int i = 0; i < D; ++i) y[i] = at(w_.at.now.y, w_.at.step.y, r + i);
      visit(lorentz::dot<D>(l, y), lorentz::smallest_eigenvalue<D>(l, y));
    });
    return;
  }
  if (cell.kind == Kind::kFree) return;
  const double l = at(w_.at.now.l, w_.at.step.l, r);
  if (std::isfinite(w_.low[r])) {
    const double pair = (l - w_.low[r]) * at(w_.at.now.y, w_.at.step.y, r);
    visit(pair, pair);
  }
  if (std::isfinite(w_.high[r])) {
    const double pair = (w_.high[r] - l) * at(w_.at.now.z, w_.at.step.z, r);
    visit(pair, pair);
  }
}

double InteriorPoint::worst_eigenvalue(double alpha, double* mean) const {
  double sum = 0.0, worst = kInfinity;
  int pairs = 0;
  for (int k = 0; k < cells_; ++k) {
    each_pair(k, alpha, [&](double inner, double eigenvalue) {
      sum += inner;
      worst = std::min(worst, eigenvalue);
      ++pairs;
    });
  }
  *mean = pairs ? sum / pairs : 0.0;
  return worst;
}

/// Residual, mean complementarity and its worst pair at the iterate.
void InteriorPoint::evaluate() {
  for (int i = 0; i < n_; ++i) {
    const double* row = w_.matrix + static_cast<std::size_t>(i) * stride_;
    double sum = w_.g[i];
    for (int j = 0; j < n_; ++j) sum += row[j] * w_.at.now.l[j];
    w_.r[i] = sum - (w_.at.now.y[i] - w_.at.now.z[i]);
  }
  residual_ = 0.0;
  for (int k = 0; k < cells_; ++k) {
    const int r = w_.cells[k].row;
    if (w_.cells[k].kind != Kind::kCone) continue;
    with_dim(w_.cells[k].dim, [&](auto D) { w_.r[r + D - 1] += shift<D>(r); });
  }
  for (int i = 0; i < n_; ++i) residual_ = std::max(residual_, std::abs(w_.r[i]));
  worst_ = worst_eigenvalue(0.0, &mean_);
}

/// In scaled units: what ||y_T|| is smoothed by, less and less where the path has no slip of its
/// own.
double InteriorPoint::slip(int row) const {
  return slip_ < 0.0 ? 1e-3 * std::min(1.0, mean_) : slip_ * w_.scale[row] / unit_;
}

template <int D>
double InteriorPoint::smooth_norm(int row) const {
  const double smooth = slip(row);
  return std::sqrt(circular::squared_tangent<D>(w_.at.now.y + row) + smooth * smooth);
}

/// y_N - c_N
template <int D>
double InteriorPoint::shift(int row) const {
  if (slip_ < 0.0) return circular::tangent<D>(w_.at.now.y + row);
  return circular::squared_tangent<D>(w_.at.now.y + row) / (smooth_norm<D>(row) + slip(row));
}

/// w_.factor += E W^2 of a cone.
template <int D>
void InteriorPoint::add_cone(int r) {
  const lorentz::Scaling<D> W(w_.at.now.l + r, w_.at.now.y + r);
  const double norm = smooth_norm<D>(r);
  double* out = w_.factor + static_cast<std::size_t>(r) * stride_ + r;
  for (int j = 0; j < D; ++j) {
    double along = 0.0;  // y_T . W^2
    for (int i = 0; i < D - 1; ++i) {
      out[i * stride_ + j] += W.squared(i, j);
      along += w_.at.now.y[r + i] * W.squared(i, j);
    }
    out[(D - 1) * stride_ + j] += W.squared(D - 1, j) - along / norm;
  }
}

/// LU of G + E W^2.
bool InteriorPoint::factorise() {
  constexpr double kSolves = 12.0;  // products with the matrix and its factor, in a step
  const double n = n_;
  if (!work_.factor(n * n * (n / 3.0 + kSolves))) return false;
  std::copy(w_.matrix.data(), w_.matrix + static_cast<std::size_t>(n_) * stride_, w_.factor.data());
  const auto at = [&](int i, int j) -> double& {
    return w_.factor[static_cast<std::size_t>(i) * stride_ + j];
  };
  for (int k = 0; k < cells_; ++k) {
    const int r = w_.cells[k].row;
    if (w_.cells[k].kind == Kind::kCone) {
      with_dim(w_.cells[k].dim, [&](auto D) { add_cone<D>(r); });
    } else if (w_.cells[k].kind != Kind::kFree) {
      if (std::isfinite(w_.low[r])) at(r, r) += w_.at.now.y[r] / (w_.at.now.l[r] - w_.low[r]);
      if (std::isfinite(w_.high[r])) at(r, r) += w_.at.now.z[r] / (w_.high[r] - w_.at.now.l[r]);
    }
  }
  for (int i = 0; i < n_; ++i) at(i, i) += 1e-13;
  std::fill(w_.d.data(), w_.d + n_, 0.0);
  return solve_linear(w_.factor, n_, stride_, w_.end, w_.d, w_.pivot);
}

/// dl, dy, dz towards complementarity `centre` and share of the residual; `corrected` by the
/// second-order term of the predictor.
void InteriorPoint::direction(double centre, bool corrected, double share) {
  for (int k = 0; k < cells_; ++k) {
    const int r = w_.cells[k].row;
    w_.at.step.l[r] = -share * w_.r[r];
    w_.d[r] = w_.at.step.z[r] = 0.0;
    if (w_.cells[k].kind == Kind::kCone) {
      with_dim(w_.cells[k].dim, [&](auto D) { aim_cone<D>(r, centre, corrected, share); });
    } else if (w_.cells[k].kind != Kind::kFree) {
      aim_interval(r, centre, corrected);
    }
  }
  solve_again(w_.factor, n_, stride_, w_.end, w_.pivot, w_.at.step.l);
  for (int k = 0; k < cells_; ++k) {
    const int r = w_.cells[k].row;
    w_.at.step.y[r] = w_.d[r];
    if (w_.cells[k].kind == Kind::kCone) {
      with_dim(w_.cells[k].dim, [&](auto D) {
        const lorentz::Scaling<D> W(w_.at.now.l + r, w_.at.now.y + r);
        for (int i = 0; i < D; ++i) {
          w_.at.step.y[r + i] = w_.d[r + i];
          for (int j = 0; j < D; ++j) w_.at.step.y[r + i] -= W.squared(i, j) * w_.at.step.l[r + j];
        }
      });
    } else if (w_.cells[k].kind != Kind::kFree) {
      if (std::isfinite(w_.low[r]))
        w_.at.step.y[r] -= w_.at.now.y[r] / (w_.at.now.l[r] - w_.low[r]) * w_.at.step.l[r];
      if (std::isfinite(w_.high[r]))
        w_.at.step.z[r] += w_.at.now.z[r] / (w_.high[r] - w_.at.now.l[r]) * w_.at.step.l[r];
    }
  }
}

/// d and the right-hand side of a cone's rows.
template <int D>
void InteriorPoint::aim_cone(int r, double centre, bool corrected, double share) {
  const lorentz::Scaling<D> W(w_.at.now.l + r, w_.at.now.y + r);
  double z[D], q[D], u[D], v[D];
  W.apply(w_.at.now.l + r, z);
  lorentz::product<D>(z, z, q);
  for (double& x : q) x = -x;
  q[D - 1] += centre;
  if (corrected) {
    W.apply(w_.at.predictor.l + r, u);
    W.apply_inverse(w_.at.predictor.y + r, v);
    lorentz::product<D>(u, v, u);
    for (int j = 0; j < D; ++j) q[j] -= u[j];
  }
  lorentz::divide<D>(z, q, u);
  W.apply(u, w_.d + r);
  double along = 0.0;  // y_T . d_T
  for (int i = 0; i < D; ++i) w_.at.step.l[r + i] = -share * w_.r[r + i] + w_.d[r + i];
  for (int i = 0; i < D - 1; ++i) along += w_.at.now.y[r + i] * w_.d[r + i];
  w_.at.step.l[r + D - 1] -= along / smooth_norm<D>(r);
  std::fill(w_.at.step.z + r, w_.at.step.z + r + D, 0.0);
}

/// The same of a row with bounds. Without correction there may be no predictor: what its room was
/// left with must not count, not even times 0.
void InteriorPoint::aim_interval(int r, double centre, bool corrected) {
  const InteriorPoints::Point& first = w_.at.predictor;
  if (std::isfinite(w_.low[r])) {
    const double s = w_.at.now.l[r] - w_.low[r];
    const double second = corrected ? first.l[r] * first.y[r] : 0.0;
    w_.d[r] = (centre - second) / s - w_.at.now.y[r];
  }
  if (std::isfinite(w_.high[r])) {
    const double s = w_.high[r] - w_.at.now.l[r];
    const double second = corrected ? first.l[r] * first.z[r] : 0.0;
    w_.at.step.z[r] = (centre + second) / s - w_.at.now.z[r];
  }
  w_.at.step.l[r] += w_.d[r] - w_.at.step.z[r];
}

double InteriorPoint::longest_step() const {
  double alpha = 1e3;
  const auto positive = [&](double x, double dx) {
    if (dx < 0.0) alpha = std::min(alpha, -x / dx);
  };
  for (int k = 0; k < cells_; ++k) {
    const int r = w_.cells[k].row;
    if (w_.cells[k].kind == Kind::kCone) {
      with_dim(w_.cells[k].dim, [&](auto D) {
        alpha = lorentz::longest_step<D>(w_.at.now.l + r, w_.at.step.l + r, alpha);
        alpha = lorentz::longest_step<D>(w_.at.now.y + r, w_.at.step.y + r, alpha);
      });
    } else if (w_.cells[k].kind != Kind::kFree) {
      if (std::isfinite(w_.low[r])) {
        positive(w_.at.now.l[r] - w_.low[r], w_.at.step.l[r]);
        positive(w_.at.now.y[r], w_.at.step.y[r]);
      }
      if (std::isfinite(w_.high[r])) {
        positive(w_.high[r] - w_.at.now.l[r], -w_.at.step.l[r]);
        positive(w_.at.now.z[r], w_.at.step.z[r]);
      }
    }
  }
  return alpha;
}

void InteriorPoint::move(double alpha) {
  for (int i = 0; i < n_; ++i) {
    w_.at.now.l[i] += alpha * w_.at.step.l[i];
    w_.at.now.y[i] += alpha * w_.at.step.y[i];
    w_.at.now.z[i] += alpha * w_.at.step.z[i];
  }
  evaluate();
}

double InteriorPoint::effect() const {
  double push = 0.0, worst = 0.0;
  for (int i = 0; i < n_; ++i) push += w_.g[i] * w_.at.now.l[i];
  if (!(push < 0.0)) return kInfinity;
  for (int i = 0; i < n_; ++i) {
    const double* row = w_.matrix + static_cast<std::size_t>(i) * stride_;
    double sum = 0.0, size = 0.0;
    for (int j = 0; j < n_; ++j) {
      const double term = (row[j] - w_.g[i] * w_.g[j]) * w_.at.now.l[j];
      sum += term;
      size += std::abs(term);
    }
    worst = std::max(worst, std::abs(sum) / std::max(size, 1e-300));
  }
  return worst;
}

}  // namespace stiction
