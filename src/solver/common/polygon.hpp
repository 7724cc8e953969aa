#pragma once

#include "stiction/math/constants.hpp"

#include "math/elementary.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

/// The section of a friction pyramid at normal impulse 1/mu: a regular polygon around the unit
/// disk, the normal of facet k at the angle 2 pi k / facets from t1. With 4 facets it is the square
/// |t1|, |t2| <= 1.
class Polygon {
 public:
  static constexpr int kMaxFacets = 16;

  explicit Polygon(int facets) : facets_(facets) {
    const double half = kPi / facets;
    half_side_ = facets == 4 ? 1.0 : sine(half) / cosine(half);
    reach_ = 1.0 / cosine(half);
    for (int k = 0; k < facets; ++k) {
      set_direction(2.0 * half * k, normals_[k]);
      set_direction(2.0 * half * k + half, vertices_[k]);
    }
  }
  int facets() const { return facets_; }
  /// Unit vector to vertex k, which lies between the facets k and k + 1; its length is reach().
  const double* vertex(int k) const { return vertices_[k]; }
  double reach() const { return reach_; }

  /// The facet whose sector holds t; ties to the lowest.
  int sector(const double* t) const {
    int best = 0;
    for (int k = 1; k < facets_; ++k)
      if (along(k, t) > along(best, t)) best = k;
    return best;
  }
  /// Nearest point of radius times the polygon. The polygon is its own mirror image in the borders
  /// of a sector, so the nearest point lies in the sector of t. Radii below 0 count as 0.
  void project(double radius, double* t) const {
    const int k = sector(t);
    const double r = std::max(0.0, radius);
    if (along(k, t) <= r) return;
    const double* n = normals_[k];
    const double side = r * half_side_;
    const double s = std::clamp(n[0] * t[1] - n[1] * t[0], -side, side);
    t[0] = r * n[0] - s * n[1];
    t[1] = r * n[1] + s * n[0];
  }

 private:
  static void set_direction(double angle, double* u) {
    const auto clean = [](double x) { return std::abs(x) < 1e-15 ? 0.0 : x; };  // exact axes
    u[0] = clean(cosine(angle));
    u[1] = clean(sine(angle));
  }
  double along(int k, const double* t) const {
    return normals_[k][0] * t[0] + normals_[k][1] * t[1];
  }

  int facets_;
  double half_side_, reach_;
  double normals_[kMaxFacets][2], vertices_[kMaxFacets][2];
};

}  // namespace stiction
