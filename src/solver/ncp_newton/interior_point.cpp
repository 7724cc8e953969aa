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
// first with centre = 0 (the predictor dl_a, dy_a), then corrected (Mehrotra 1992). The matrix is
// not symmetric: one LU per step, several right-hand sides. Other sets are intervals [low, high]
// with a multiplier for each finite end, c = y - z; bilateral rows have none.

namespace stiction {

void InteriorPoint::restart(const Start& start) {
  start_ = start;
  for (double* x : {y_, z_, l_, dl_, dy_, dz_}) std::fill(x, x + n_, 0.0);
  for (int k = 0; k < cells_; ++k) {
    const Cell& cell = cell_[k];
    const int r = cell.row;
    if (cell.kind == Kind::kCone) {
      y_[r + cell.dim - 1] = start.velocity;
      l_[r + cell.dim - 1] = start.impulse;
    } else if (cell.kind != Kind::kFree) {
      const bool low = std::isfinite(low_[r]), high = std::isfinite(high_[r]);
      l_[r] = low && high ? 0.5 * (low_[r] + high_[r])
              : low       ? low_[r] + start.impulse
                          : high_[r] - start.impulse;
      if (low) y_[r] = start.velocity;
      if (high) z_[r] = start.velocity;
    }
  }
  evaluate();
}

/// visit(inner product, smallest eigenvalue) of each complementary pair of a cell, at l + alpha dl.
template <class Visit>
void InteriorPoint::each_pair(int k, double alpha, Visit&& visit) const {
  const Cell& cell = cell_[k];
  const int r = cell.row;
  const auto at = [&](const double* x, const double* dx, int i) { return x[i] + alpha * dx[i]; };
  if (cell.kind == Kind::kCone) {
    with_dim(cell.dim, [&](auto D) {
      double l[D], y[D];
      for (int i = 0; i < D; ++i) l[i] = at(l_, dl_, r + i);
      for (int i = 0; i < D; ++i) y[i] = at(y_, dy_, r + i);
      visit(lorentz::dot<D>(l, y), lorentz::smallest_eigenvalue<D>(l, y));
    });
    return;
  }
  if (cell.kind == Kind::kFree) return;
  const double l = at(l_, dl_, r);
  if (std::isfinite(low_[r])) {
    const double pair = (l - low_[r]) * at(y_, dy_, r);
    visit(pair, pair);
  }
  if (std::isfinite(high_[r])) {
    const double pair = (high_[r] - l) * at(z_, dz_, r);
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
    const double* row = matrix_ + static_cast<std::size_t>(i) * stride_;
    double sum = g_[i];
    for (int j = 0; j < n_; ++j) sum += row[j] * l_[j];
    r_[i] = sum - (y_[i] - z_[i]);
  }
  residual_ = 0.0;
  for (int k = 0; k < cells_; ++k) {
    const int r = cell_[k].row;
    if (cell_[k].kind != Kind::kCone) continue;
    with_dim(cell_[k].dim, [&](auto D) { r_[r + D - 1] += lorentz::tangent<D>(y_ + r); });
  }
  for (int i = 0; i < n_; ++i) residual_ = std::max(residual_, std::abs(r_[i]));
  worst_ = worst_eigenvalue(0.0, &mean_);
}

/// ||y_T||, smoothed by less and less.
template <int D>
double InteriorPoint::smooth_norm(const double* y) const {
  const double smooth = 1e-3 * std::min(1.0, mean_);
  return std::sqrt(circular::squared_tangent<D>(y) + smooth * smooth);
}

/// factor_ += E W^2 of a cone.
template <int D>
void InteriorPoint::add_cone(int r) {
  const lorentz::Scaling<D> W(l_ + r, y_ + r);
  const double norm = smooth_norm<D>(y_ + r);
  double* out = factor_ + static_cast<std::size_t>(r) * stride_ + r;
  for (int j = 0; j < D; ++j) {
    double along = 0.0;  // y_T . W^2
    for (int i = 0; i < D - 1; ++i) {
      out[i * stride_ + j] += W.squared(i, j);
      along += y_[r + i] * W.squared(i, j);
    }
    out[(D - 1) * stride_ + j] += W.squared(D - 1, j) - along / norm;
  }
}

/// LU of G + E W^2.
bool InteriorPoint::factorise() {
  std::copy(matrix_, matrix_ + static_cast<std::size_t>(n_) * stride_, factor_);
  const auto at = [&](int i, int j) -> double& {
    return factor_[static_cast<std::size_t>(i) * stride_ + j];
  };
  for (int k = 0; k < cells_; ++k) {
    const int r = cell_[k].row;
    if (cell_[k].kind == Kind::kCone) {
      with_dim(cell_[k].dim, [&](auto D) { add_cone<D>(r); });
    } else if (cell_[k].kind != Kind::kFree) {
      if (std::isfinite(low_[r])) at(r, r) += y_[r] / (l_[r] - low_[r]);
      if (std::isfinite(high_[r])) at(r, r) += z_[r] / (high_[r] - l_[r]);
    }
  }
  for (int i = 0; i < n_; ++i) at(i, i) += 1e-13;
  std::fill(d_, d_ + n_, 0.0);
  ++work_.factorisations;
  return solve_linear(factor_, n_, stride_, end_, d_, pivot_);
}

/// dl, dy, dz towards complementarity `centre` and share of the residual; `corrected` by the
/// second-order term of the predictor.
void InteriorPoint::direction(double centre, bool corrected, double share) {
  for (int k = 0; k < cells_; ++k) {
    const int r = cell_[k].row;
    dl_[r] = -share * r_[r];
    d_[r] = dz_[r] = 0.0;
    if (cell_[k].kind == Kind::kCone) {
      with_dim(cell_[k].dim, [&](auto D) { aim_cone<D>(r, centre, corrected, share); });
    } else if (cell_[k].kind != Kind::kFree) {
      aim_interval(r, centre, corrected);
    }
  }
  solve_again(factor_, n_, stride_, end_, pivot_, dl_);
  for (int k = 0; k < cells_; ++k) {
    const int r = cell_[k].row;
    dy_[r] = d_[r];
    if (cell_[k].kind == Kind::kCone) {
      with_dim(cell_[k].dim, [&](auto D) {
        const lorentz::Scaling<D> W(l_ + r, y_ + r);
        for (int i = 0; i < D; ++i) {
          dy_[r + i] = d_[r + i];
          for (int j = 0; j < D; ++j) dy_[r + i] -= W.squared(i, j) * dl_[r + j];
        }
      });
    } else if (cell_[k].kind != Kind::kFree) {
      if (std::isfinite(low_[r])) dy_[r] -= y_[r] / (l_[r] - low_[r]) * dl_[r];
      if (std::isfinite(high_[r])) dz_[r] += z_[r] / (high_[r] - l_[r]) * dl_[r];
    }
  }
}

/// d and the right-hand side of a cone's rows.
template <int D>
void InteriorPoint::aim_cone(int r, double centre, bool corrected, double share) {
  const lorentz::Scaling<D> W(l_ + r, y_ + r);
  double z[D], q[D], u[D], v[D];
  W.apply(l_ + r, z);
  lorentz::product<D>(z, z, q);
  for (double& x : q) x = -x;
  q[D - 1] += centre;
  if (corrected) {
    W.apply(al_ + r, u);
    W.apply_inverse(ay_ + r, v);
    lorentz::product<D>(u, v, u);
    for (int j = 0; j < D; ++j) q[j] -= u[j];
  }
  lorentz::divide<D>(z, q, u);
  W.apply(u, d_ + r);
  double along = 0.0;  // y_T . d_T
  for (int i = 0; i < D; ++i) dl_[r + i] = -share * r_[r + i] + d_[r + i];
  for (int i = 0; i < D - 1; ++i) along += y_[r + i] * d_[r + i];
  dl_[r + D - 1] -= along / smooth_norm<D>(y_ + r);
  std::fill(dz_ + r, dz_ + r + D, 0.0);
}

/// The same of a row with bounds.
void InteriorPoint::aim_interval(int r, double centre, bool corrected) {
  const double second = corrected ? al_[r] : 0.0;
  if (std::isfinite(low_[r])) {
    const double s = l_[r] - low_[r];
    d_[r] = (centre - second * ay_[r]) / s - y_[r];
  }
  if (std::isfinite(high_[r])) {
    const double s = high_[r] - l_[r];
    dz_[r] = (centre + second * az_[r]) / s - z_[r];
  }
  dl_[r] += d_[r] - dz_[r];
}

/// Largest alpha, up to 1e3, that stays inside: beyond 1, so that `reach` does not cut a step of 1.
double InteriorPoint::longest_step() const {
  double alpha = 1e3;
  const auto positive = [&](double x, double dx) {
    if (dx < 0.0) alpha = std::min(alpha, -x / dx);
  };
  for (int k = 0; k < cells_; ++k) {
    const int r = cell_[k].row;
    if (cell_[k].kind == Kind::kCone) {
      with_dim(cell_[k].dim, [&](auto D) {
        alpha = lorentz::longest_step<D>(l_ + r, dl_ + r, alpha);
        alpha = lorentz::longest_step<D>(y_ + r, dy_ + r, alpha);
      });
    } else if (cell_[k].kind != Kind::kFree) {
      if (std::isfinite(low_[r])) {
        positive(l_[r] - low_[r], dl_[r]);
        positive(y_[r], dy_[r]);
      }
      if (std::isfinite(high_[r])) {
        positive(high_[r] - l_[r], -dl_[r]);
        positive(z_[r], dz_[r]);
      }
    }
  }
  return alpha;
}

/// A step that keeps the pairs centred.
double InteriorPoint::safe_step(double mean) const {
  const double reach = std::max(start_.reach, 1.0 - mean);
  const double least = std::min(start_.centring, mean > 0.0 ? 0.9 * worst_ / mean : 0.0);
  double alpha = std::min(1.0, reach * longest_step());
  for (int k = 0; k < 6; ++k, alpha *= 0.8) {
    double next;
    const double worst = worst_eigenvalue(alpha, &next);
    if (worst >= least * next) break;
  }
  return alpha;
}

void InteriorPoint::move(double alpha) {
  for (int i = 0; i < n_; ++i) {
    l_[i] += alpha * dl_[i];
    y_[i] += alpha * dy_[i];
    z_[i] += alpha * dz_[i];
  }
  evaluate();
}

/// How much of the complementarity to aim for: what the predictor, a step without centring, leaves
/// of it, cubed. Keeps the predictor.
double InteriorPoint::predict() {
  direction(0.0, false, 1.0);
  const double reached = std::min(1.0, longest_step());
  double predicted;
  worst_eigenvalue(reached, &predicted);
  std::swap(al_, dl_);
  std::swap(ay_, dy_);
  std::swap(az_, dz_);
  const double ratio = mean_ > 0.0 ? predicted / mean_ : 0.0;
  return std::clamp(ratio * ratio * ratio, 1e-8, 1.0);
}

/// The direction with the longest step, which it returns. Where the corrected step is short: more
/// centring, less of the residual, none of it.
double InteriorPoint::choose_direction(double sigma) {
  const struct {
    double sigma;
    bool corrected;
    double share, if_below;
  } tries[] = {{sigma, true, 1.0, kInfinity},
               {std::max(sigma, 0.3), false, 1.0, 0.1},
               {1.0, false, 0.3, 0.1},
               {1.0, false, 0.0, 0.02}};
  double best = -1.0;
  for (const auto& t : tries) {
    if (best >= t.if_below) break;
    direction(t.sigma * mean_, t.corrected, t.share);
    const double alpha = safe_step(mean_);
    if (!(alpha > best)) continue;
    best = alpha;
    std::copy(dl_, dl_ + n_, bl_);
    std::copy(dy_, dy_ + n_, by_);
    std::copy(dz_, dz_ + n_, bz_);
  }
  std::copy(bl_, bl_ + n_, dl_);
  std::copy(by_, by_ + n_, dy_);
  std::copy(bz_, bz_ + n_, dz_);
  return best;
}

bool InteriorPoint::advance(double target, int max_steps, const Interrupt& interrupt) {
  constexpr double kRounding = 1e-10;  // of the residual, whose terms may be large
  for (;;) {
    if (mean_ < target && residual_ < std::max(target, kRounding)) return true;
    if (interrupt.requested() || steps_ >= max_steps || !(std::abs(mean_) + residual_ < 1e100))
      return false;
    ++steps_;
    if (!factorise()) return false;
    const double alpha = choose_direction(predict());
    if (!(alpha > 1e-12)) return false;
    move(alpha);
  }
}

double InteriorPoint::effect() const {
  double push = 0.0, worst = 0.0;
  for (int i = 0; i < n_; ++i) push += g_[i] * l_[i];
  if (!(push < 0.0)) return kInfinity;
  for (int i = 0; i < n_; ++i) {
    const double* row = matrix_ + static_cast<std::size_t>(i) * stride_;
    double sum = 0.0, size = 0.0;
    for (int j = 0; j < n_; ++j) {
      const double term = (row[j] - g_[i] * g_[j]) * l_[j];
      sum += term;
      size += std::abs(term);
    }
    worst = std::max(worst, std::abs(sum) / std::max(size, 1e-300));
  }
  return worst;
}

}  // namespace stiction
