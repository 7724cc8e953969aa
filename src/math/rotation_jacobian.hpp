#pragma once

#include "stiction/math/spatial.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// exp([x]) of a rotation vector [rad].
template <class Real>
inline Mat3<Real> turn_matrix(const Vec3<Real>& x) {
  Vec3<Real> e;
  Real c;
  quaternion_from_rotation_vector(x, e, c);
  const Real q[4] = {e.x, e.y, e.z, c};
  return rotation_from_quaternion(q);
}

/// J_r(x) of exp(x + dx) = exp(x) exp(J_r(x) dx) for rotation vectors [rad],
///
///   J_r(x) = 1 - a [x] + b [x]^2,   a = (1 - cos t) / t^2,  b = (t - sin t) / t^3,  t = |x|.
///
/// J_r(-x) is its transpose, and exp(x) J_r(x) = J_r(-x).
template <class Real>
inline Mat3<Real> right_jacobian(const Vec3<Real>& x) {
  const Real t2 = squared_norm(x), t = square_root(t2);
  const Mask<Real> small = t < Real(1e-2);
  const Real safe = select(small, Real(1.0), t);
  Real s, c, sh, ch;
  sincos(safe, s, c);
  sincos(Real(0.5) * safe, sh, ch);
  const Real r = sh / safe;
  const Real a = select(
      small, Real(0.5) - t2 * (Real(1.0 / 24.0) - t2 * Real(1.0 / 720.0)), Real(2.0) * r * r);
  const Real b = select(small,
                        Real(1.0 / 6.0) - t2 * (Real(1.0 / 120.0) - t2 * Real(1.0 / 5040.0)),
                        (safe - s) / (safe * safe * safe));
  const Vec3<Real> y = x * b, z = x * a;
  const Real d = Real(1.0) - b * t2;  // [x]^2 = x x^T - t^2 1
  return {{d + y.x * x.x, y.x * x.y - z.z, y.x * x.z + z.y},
          {y.y * x.x + z.z, d + y.y * x.y, y.y * x.z - z.x},
          {y.z * x.x - z.y, y.z * x.y + z.x, d + y.z * x.z}};
}

}  // namespace STICTION_ISA
}  // namespace stiction
