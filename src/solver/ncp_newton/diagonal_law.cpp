#include "solver/ncp_newton/diagonal_law.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// l = (clip(p_T, mu p_N), p_N) where p_N > 0: a sliding contact has c_N = 0 and c_T against l_T.
template <int D>
void coulomb(double mu, const double* W, const double* p, double* l, double* slope) {
  constexpr int N = D - 1;
  const auto at = [&](int r, int c) -> double& { return slope[D * r + c]; };
  if (p[N] <= 0.0) return;
  l[N] = p[N];
  if (slope) at(N, N) = 1.0 / W[N];
  if (mu == 0.0) return;
  const double t = circular::tangent<D>(p), most = mu * p[N];
  if (t <= most) {
    std::copy(p, p + N, l);
    for (int r = 0; slope && r < N; ++r) at(r, r) = 1.0 / W[0];
    return;
  }
  double d[N];
  for (int r = 0; r < N; ++r) {
    d[r] = p[r] / t;
    l[r] = most * d[r];
  }
  if (!slope) return;
  const double side = most / (t * W[0]);
  for (int r = 0; r < N; ++r) {
    for (int c = 0; c < N; ++c) at(r, c) = circular::across<D>(side, d, r, c);
    at(r, N) = mu * d[r] / W[N];
  }
}

/// The nearest point of the cone in the metric W. In units sqrt(W) l the metric is Euclidean and
/// the cone has the slope mu'.
template <int D>
void convex(double mu, const double* W, const double* p, double* l, double* slope) {
  constexpr int N = D - 1;
  const auto at = [&](int r, int c) -> double& { return slope[D * r + c]; };
  const double a = std::sqrt(W[0]), b = std::sqrt(W[N]);
  double y[D], d[N];
  for (int r = 0; r < N; ++r) y[r] = a * p[r];
  y[N] = b * p[N];
  const circular::Projection<D> at_y(mu * a / b, y);
  if (at_y.mode == ContactMode::kOpen) return;
  if (at_y.mode == ContactMode::kStick) {
    std::copy(p, p + D, l);
    for (int r = 0; slope && r < D; ++r) at(r, r) = 1.0 / W[r];
    return;
  }
  at_y.direction(y, d);
  for (int r = 0; r < N; ++r) l[r] = at_y.mu * at_y.n * d[r] / a;
  l[N] = at_y.n / b;
  for (int r = 0; slope && r < D; ++r) {
    for (int c = 0; c < D; ++c)
      at(r, c) = at_y.derivative(d, r, c) / ((r < N ? a : b) * (c < N ? a : b));
  }
}

}  // namespace

void apply_law(const ConstraintSet& set,
               Law law,
               const double* W,
               const double* p,
               int dim,
               double* l,
               double* slope) {
  if (set.is_cone()) {
    const double mu = set.friction.slope();
    return with_dim(dim, [&](auto D) {
      std::fill(l, l + D, 0.0);
      if (slope) std::fill(slope, slope + D * D, 0.0);
      law == Law::kCoulomb ? coulomb<D>(mu, W, p, l, slope) : convex<D>(mu, W, p, l, slope);
    });
  }
  if (slope) std::fill(slope, slope + dim * dim, 0.0);
  for (int r = 0; r < dim; ++r) {
    l[r] = p[r];
    if (set.kind == SetKind::kNonNegative) l[r] = std::max(0.0, p[r]);
    if (set.kind == SetKind::kBox) l[r] = std::min(set.upper, std::max(set.lower, p[r]));
    if (slope && l[r] == p[r]) slope[(dim + 1) * r] = 1.0 / W[r];
  }
}

}  // namespace stiction
