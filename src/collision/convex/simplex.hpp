#pragma once

#include "collision/convex/support_difference.hpp"

namespace stiction::detail {

/// The point of a hull that is closest to the origin, on a vertex, edge or triangle of it.
template <class Real>
struct Feature {
  Vec3<Real> v;
  Real distance2;
  int count;
  int index[3];
  Real weight[3];
};

/// Up to four points of D and the point of their hull that is closest to the origin.
struct Simplex {
  SupportPoint points[4];
  double weights[4];  ///< convex combination that gives `closest`
  int count = 0;
  Vec3d closest{0, 0, 0};

  /// Finds `closest` over all features and drops the points of weight zero. Returns false, and
  /// keeps the simplex, if it is a tetrahedron that holds the origin.
  /// Real: double, or long double where slivers exhaust that.
  template <class Real = double>
  bool reduce();

  enum class Step { kCloser, kInside, kStuck };
  /// The same after points[count] was set: only features with the new point can be closer. kStuck:
  /// no feature is closer than `closest`, the new point is dropped.
  template <class Real = double>
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
  template <class Real>
  void keep(const Feature<Real>& f);
};

}  // namespace stiction::detail
