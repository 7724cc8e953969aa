#pragma once

#include "stiction/math/spatial.hpp"

#include "batch/foot_heights.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// The world's z axis in the axes of a free-flyer; `a` to `w`: its quaternion.
template <class Real>
inline Vec3<Real> up_in_body(Real a, Real b, Real c, Real w) {
  const Real two(2.0), tx = -two * b, ty = two * a;
  return {w * tx + c * ty, w * ty - c * tx, Real(1.0) + b * tx - a * ty};
}

template <class Real>
inline Vec3<Real> in_all_lanes(const double* x) {
  return {Real(x[0]), Real(x[1]), Real(x[2])};
}

/// Entry `k` of W rows.
template <class Real>
inline Real entry_of_rows(const double* const* rows, int k) {
  typename Real::Vector x;
  for (int lane = 0; lane < lane_width<Real>; ++lane) x[lane] = rows[lane][k];
  return Real::from(x);
}

template <class Real>
inline Real foot_height(const FootChain& foot,
                        const double* const* rows,
                        Real z,
                        const Vec3<Real>& up) {
  Vec3<Real> p = in_all_lanes<Real>(foot.point);
  for (int k = 0; k < foot.num_hinges; ++k) {
    const FootHinge& hinge = foot.hinges[k];
    Real s, c;
    sincos(entry_of_rows<Real>(rows, hinge.q), s, c);
    const Vec3<Real> a = in_all_lanes<Real>(hinge.axis);
    p = p * c + cross(a, p) * s + a * ((Real(1.0) - c) * dot(a, p));
    const Vec3<Real> r0 = in_all_lanes<Real>(hinge.R), r1 = in_all_lanes<Real>(hinge.R + 3),
                     r2 = in_all_lanes<Real>(hinge.R + 6);
    p = r0 * p.x + r1 * p.y + r2 * p.z + in_all_lanes<Real>(hinge.p);
  }
  return z + dot(up, p) - Real(foot.radius);
}

template <class Real>
void foot_heights_of(
    const FootChain* feet, int num_feet, const double* q, int nq, int worlds, double* out) {
  constexpr int W = lane_width<Real>;
  for (int first = 0; first < worlds; first += W) {
    const double* rows[W];  // the last one again where there are no more
    for (int lane = 0; lane < W; ++lane) {
      const int world = first + lane < worlds ? first + lane : worlds - 1;
      rows[lane] = q + static_cast<long>(world) * nq;
    }
    const Real z = entry_of_rows<Real>(rows, 2);
    const Vec3<Real> up = up_in_body(entry_of_rows<Real>(rows, 3),
                                     entry_of_rows<Real>(rows, 4),
                                     entry_of_rows<Real>(rows, 5),
                                     entry_of_rows<Real>(rows, 6));
    for (int k = 0; k < num_feet; ++k) {
      const Real height = foot_height(feet[k], rows, z, up);
      for (int lane = 0; lane < W && first + lane < worlds; ++lane)
        out[static_cast<long>(first + lane) * num_feet + k] = height.v[lane];
    }
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
