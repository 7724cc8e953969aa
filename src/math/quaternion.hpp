#pragma once

#include "stiction/math/spatial.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

/// Unit quaternion x y z w of a rotation, its largest component positive (Shepperd's method: the
/// others are divided by it).
inline void quaternion_from_rotation(const Mat3d& R, double* q) {
  const double t = R.c0.x + R.c1.y + R.c2.z;
  const double d[4] = {
      R.c0.x - R.c1.y - R.c2.z, R.c1.y - R.c0.x - R.c2.z, R.c2.z - R.c0.x - R.c1.y, t};
  const int k = static_cast<int>(std::max_element(d, d + 4) - d);
  const double s = std::sqrt(1.0 + d[k]) * 0.5, f = 0.25 / s;
  const double wx = (R.c1.z - R.c2.y) * f, wy = (R.c2.x - R.c0.z) * f, wz = (R.c0.y - R.c1.x) * f;
  const double xy = (R.c1.x + R.c0.y) * f, xz = (R.c2.x + R.c0.z) * f, yz = (R.c2.y + R.c1.z) * f;
  const double table[4][4] = {{s, xy, xz, wx}, {xy, s, yz, wy}, {xz, yz, s, wz}, {wx, wy, wz, s}};
  std::copy(table[k], table[k] + 4, q);
}

}  // namespace stiction
