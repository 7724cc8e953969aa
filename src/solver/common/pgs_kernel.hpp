#pragma once

#include "stiction/math/lanes.hpp"

// The local updates of projected Gauss-Seidel, on lanes (Le Lidec et al., "Contact Models in
// Robotics: a Comparative Analysis", T-RO 2024, section III-D; the published iteration is in
// docs/solvers.md). Two deviations, both keep its fixed points:
//  - a contact first tries the exact local solution of sticking, lambda - G_ii^-1 c;
//  - otherwise the tangential step is 1 / lambda_max(G_TT), which cannot overshoot, instead of
//    1 / min(G_t1t1, G_t2t2).

namespace stiction {
inline namespace STICTION_ISA {

/// Constants of one contact over a solve.
template <class Real>
struct ConeStep {
  Real inverse[6];  ///< (G_ii + eps)^-1: xx xy xz yy yz zz
  Real inverse_normal, inverse_tangent;
  Real g_tn[2];  ///< coupling of the normal impulse into the tangential velocity
};

template <class Real>
inline Real safe_inverse(Real x, Real floor) {
  const Mask<Real> ok = x > floor;
  return select(ok, Real(1.0) / select(ok, x, Real(1.0)), Real(0.0));
}

/// From the diagonal block, symmetric: b = xx xy xz yy yz zz. `floor`: below it a diagonal entry
/// counts as zero and its row never moves.
template <class Real>
inline ConeStep<Real> cone_step(const Real* b, Real floor) {
  ConeStep<Real> out;
  // A relative shift keeps the inverse defined for a singular block.
  const Real eps = Real(1e-12) * (b[0] + b[3] + b[5]) + Real(1e-300);
  const Real xx = b[0] + eps, xy = b[1], xz = b[2], yy = b[3] + eps, yz = b[4], zz = b[5] + eps;
  const Real cxx = yy * zz - yz * yz, cxy = xz * yz - xy * zz, cxz = xy * yz - xz * yy;
  const Real k = safe_inverse(xx * cxx + xy * cxy + xz * cxz, Real(0.0));
  out.inverse[0] = cxx * k;
  out.inverse[1] = cxy * k;
  out.inverse[2] = cxz * k;
  out.inverse[3] = (xx * zz - xz * xz) * k;
  out.inverse[4] = (xy * xz - xx * yz) * k;
  out.inverse[5] = (xx * yy - xy * xy) * k;
  out.inverse_normal = safe_inverse(b[5], floor);
  const Real half = Real(0.5) * (b[0] + b[3]), diff = Real(0.5) * (b[0] - b[3]);
  out.inverse_tangent = safe_inverse(half + square_root(diff * diff + b[1] * b[1]), floor);
  out.g_tn[0] = b[2];
  out.g_tn[1] = b[4];
  return out;
}

/// New impulse of a contact from its velocity c at the current impulse l.
template <class Real>
inline void update_cone(const ConeStep<Real>& step, Real mu, const Real* c, Real* l) {
  const Real* w = step.inverse;
  const Real x = l[0] - (w[0] * c[0] + w[1] * c[1] + w[2] * c[2]);
  const Real y = l[1] - (w[1] * c[0] + w[3] * c[1] + w[4] * c[2]);
  const Real z = l[2] - (w[2] * c[0] + w[4] * c[1] + w[5] * c[2]);
  const Real cone = mu * max(z, Real(0.0));
  const Mask<Real> sticks = x * x + y * y <= select(z >= Real(0.0), cone * cone, Real(-1.0));
  if (lane_width<Real> == 1 && all(sticks)) {  // lanes seldom agree
    l[0] = x;
    l[1] = y;
    l[2] = z;
    return;
  }
  const Real n = max(Real(0.0), l[2] - step.inverse_normal * c[2]);
  const Real dn = n - l[2];
  const Real t0 = l[0] - step.inverse_tangent * (c[0] + step.g_tn[0] * dn);
  const Real t1 = l[1] - step.inverse_tangent * (c[1] + step.g_tn[1] * dn);
  const Real t2 = t0 * t0 + t1 * t1, radius = mu * n;
  const Mask<Real> slides = t2 > radius * radius;
  Real k(1.0);
  if (lane_width<Real> > 1 || any(slides))
    k = select(slides, radius / square_root(select(slides, t2, Real(1.0))), Real(1.0));
  l[0] = select(sticks, x, t0 * k);
  l[1] = select(sticks, y, t1 * k);
  l[2] = select(sticks, z, n);
}

}  // namespace STICTION_ISA
}  // namespace stiction
