#pragma once

#include "support_difference.hpp"

namespace stiction::detail {

/// The point of a hull that is closest to the origin, on a vertex, edge or triangle of it.
struct Feature {
  Vec3d v;
  double distance2;
  int count;
  int index[3];
  double weight[3];
};

/// Up to four points of D and the point of their hull that is closest to the origin.
struct Simplex {
  SupportPoint points[4];
  double weights[4];  ///< convex combination that gives `closest`
  int count = 0;
  Vec3d closest{0, 0, 0};

  /// Finds `closest` over all features and drops the points of weight zero. Returns false, and
  /// keeps the simplex, if it is a tetrahedron that holds the origin.
  bool reduce();

  enum class Step { kCloser, kInside, kStuck };
  /// The same after points[count] was set: only features with the new point can be closer. kStuck:
  /// no feature is closer than `closest`, the new point is dropped.
  Step add_newest();

  Vec3d witness_a() const {
    Vec3d sum{0, 0, 0};
    for (int i = 0; i < count; ++i) sum += points[i].a * weights[i];
    return sum;
  }
  Vec3d witness_b() const {
    Vec3d sum{0, 0, 0};
    for (int i = 0; i < count; ++i) sum += points[i].b() * weights[i];
    return sum;
  }

 private:
  void keep(const Feature& f);
};

}  // namespace stiction::detail
