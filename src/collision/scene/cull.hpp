#pragma once

#include "stiction/math/spatial.hpp"

#include <cmath>

// What the boxes of two shapes at rest prove before the narrow phase is asked.

namespace stiction::detail {

/// By how much a box pokes along a unit axis of its own frame, from its centre.
inline double half_width(const Vec3d& half, const Vec3d& n) {
  return half.x * std::abs(n.x) + half.y * std::abs(n.y) + half.z * std::abs(n.z);
}

/// True if a plane proves that two boxes are farther apart than `margin` [m] >= 0: the axes of both
/// and their cross products. Those have length <= 1 and are not normalised: their gap is at least
/// the one compared. `offset`: centre of B from that of A, world.
inline bool boxes_apart(const Mat3d& R_WA,
                        const Vec3d& half_a,
                        const Mat3d& R_WB,
                        const Vec3d& half_b,
                        const Vec3d& offset,
                        double margin) {
  const Mat3d R = transpose_times(R_WA, R_WB);
  const Vec3d t = transpose_times(R_WA, offset), s = transpose_times(R_WB, offset);
  for (int k = 0; k < 3; ++k) {
    const Vec3d row{R.c0[k], R.c1[k], R.c2[k]};
    if (std::abs(t[k]) > half_a[k] + half_width(half_b, row) + margin) return true;
    if (std::abs(s[k]) > half_b[k] + half_width(half_a, R.column(k)) + margin) return true;
  }
  for (int i = 0; i < 3; ++i) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int j = 0; j < 3; ++j) {
      const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      // e_i x b_j in A, and its components along the axes of both boxes.
      const double along = t[i2] * R.column(j)[i1] - t[i1] * R.column(j)[i2];
      const double a =
          half_a[i1] * std::abs(R.column(j)[i2]) + half_a[i2] * std::abs(R.column(j)[i1]);
      const double b =
          half_b[j1] * std::abs(R.column(j2)[i]) + half_b[j2] * std::abs(R.column(j1)[i]);
      if (std::abs(along) > a + b + margin) return true;
    }
  }
  return false;
}

}  // namespace stiction::detail
