#pragma once

#include "collision/derivatives/touching_feature.hpp"
#include "collision/manifold/polygon.hpp"

namespace stiction::detail {

/// What a shape shows in a manifold whose faces were clipped, and how its parts move.
struct Outline {
  const ContactSide& side;
  Polygon polygon;      ///< world; count = 1: a point
  Vec3d follows;        ///< direction after which lines and rims turn: into the other's face
  double level;         ///< sine between `follows` and the axis up to which they do not turn
  double inside = 0.0;  ///< `polygon` lies this much behind the surface [m]
};

struct OutlineFeature {
  PointFeature feature;
  double off = 1e300;  ///< distance of the side's point from it [m]; 1e300: there is none
};
OutlineFeature vertex_of(const Outline& outline, bool rim);
OutlineFeature edge_of(const Outline& outline);
OutlineFeature face_of(const Outline& outline);

/// Two features that fix a point: a vertex over a face, or two edges that cross.
struct CrossingFeatures {
  PointFeature a, b;
  double off = 1e300;   ///< [m]
  double next = 1e300;  ///< of the second-best two [m]
};
/// `rim`: points of a rim count as vertices, those of `first` before those of the other side.
CrossingFeatures crossing_features(const Outline& a, const Outline& b, bool rim, bool b_first);

}  // namespace stiction::detail
