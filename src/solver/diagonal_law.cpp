#include "diagonal_law.hpp"

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
  const double a = std::sqrt(W[0]), b = std::sqrt(W[N]), m = mu * a / b;
  double y[D], d[N];
  for (int r = 0; r < N; ++r) y[r] = a * p[r];
  const double n = b * p[N], t = circular::tangent<D>(y);
  if (n <= -m * t) return;
  if (t <= m * n) {
    std::copy(p, p + D, l);
    for (int r = 0; slope && r < D; ++r) at(r, r) = 1.0 / W[r];
    return;
  }
  const double scale = 1.0 / (1.0 + m * m), normal = (n + m * t) * scale;
  for (int r = 0; r < N; ++r) {
    d[r] = t > 0.0 ? y[r] / t : 0.0;
    l[r] = m * normal * d[r] / a;
  }
  l[N] = normal / b;
  if (!slope) return;
  const double radial = m * m * scale, side = t > 0.0 ? m * normal / t : 0.0;
  for (int r = 0; r < N; ++r) {
    for (int c = 0; c < N; ++c) {
      at(r, c) = r == c ? (radial * d[r] * d[r] + circular::across<D>(side, d, r, r)) / W[0]
                        : (radial - side) * d[std::min(r, c)] * d[std::max(r, c)] / W[0];
    }
    at(r, N) = at(N, r) = m * scale * d[r] / (a * b);
  }
  at(N, N) = scale / W[N];
}

}  // namespace

void apply_law(const ConstraintSet& set,
               Law law,
               const double* W,
               const double* p,
               int dim,
               double* l,
               double* slope) {
  std::fill(l, l + dim, 0.0);
  if (slope) std::fill(slope, slope + dim * dim, 0.0);
  if (set.is_cone()) {
    const double mu = set.friction.slope();
    return with_dim(dim, [&](auto D) {
      law == Law::kCoulomb ? coulomb<D>(mu, W, p, l, slope) : convex<D>(mu, W, p, l, slope);
    });
  }
  for (int r = 0; r < dim; ++r) {
    l[r] = p[r];
    if (set.kind == SetKind::kNonNegative) l[r] = std::max(0.0, p[r]);
    if (set.kind == SetKind::kBox) l[r] = std::min(set.upper, std::max(set.lower, p[r]));
    if (slope && l[r] == p[r]) slope[(dim + 1) * r] = 1.0 / W[r];
  }
}

}  // namespace stiction
