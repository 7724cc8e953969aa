#include "math/rotation_vector.hpp"

#include "stiction/math/constants.hpp"

#include "math/elementary.hpp"

namespace stiction {

Vec3d rotation_vector(const Mat3d& R) {
  const Vec3d axis{0.5 * (R.c1.z - R.c2.y), 0.5 * (R.c2.x - R.c0.z), 0.5 * (R.c0.y - R.c1.x)};
  const double s = norm(axis), c = 0.5 * (R.c0.x + R.c1.y + R.c2.z - 1.0);
  if (s > 1e-9) return axis * (arc_tangent(s, c) / s);
  if (c > 0.0) return axis;
  // Half a turn: the axis is the largest column of R + I.
  Vec3d u = R.c0 + Vec3d{1, 0, 0};
  for (int k = 1; k < 3; ++k) {
    Vec3d w = R.column(k);
    w[k] += 1.0;
    if (squared_norm(w) > squared_norm(u)) u = w;
  }
  return u * (kPi / norm(u));
}

}  // namespace stiction
