#pragma once

#include "support_difference.hpp"

namespace stiction::detail {

/// Up to four points of D and the point of their hull that is closest to the origin.
struct Simplex {
  SupportPoint points[4];
  double weights[4];  ///< convex combination that gives `closest`
  int count = 0;
  Vec3d closest{0, 0, 0};

  /// Finds `closest` and drops the points of weight zero. Returns false, and keeps the simplex, if
  /// it is a tetrahedron that holds the origin.
  bool reduce();

  Vec3d witness_a() const { return combine(&SupportPoint::a); }
  Vec3d witness_b() const { return combine(&SupportPoint::b); }

 private:
  Vec3d combine(Vec3d SupportPoint::* member) const {
    Vec3d sum{0, 0, 0};
    for (int i = 0; i < count; ++i) sum += (points[i].*member) * weights[i];
    return sum;
  }
};

}  // namespace stiction::detail
