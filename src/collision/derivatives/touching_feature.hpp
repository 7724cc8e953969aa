#pragma once

#include "collision/convex/support_difference.hpp"
#include "collision/derivatives/point_motion.hpp"

namespace stiction::detail {

/// One of the two shapes of a contact.
struct ContactSide {
  Core core;  ///< of a half-space only its type
  Transform X;
  Vec3d outward;  ///< n for A, -n for B; world
  Vec3d p;        ///< its point, world
  bool is_b;

  Vec3d local(const Vec3d& x_W) const { return transpose_times(X.R, x_W - X.p); }
  Vec3d local_direction(const Vec3d& d_W) const { return transpose_times(X.R, d_W); }
  double sign() const { return is_b ? -1.0 : 1.0; }
};

/// The feature of a convex shape that is farthest along `outward` and holds the point p: what a
/// distance query rests on. False if p is on no such feature.
bool touching_feature(const ContactSide& side, PointFeature& feature);

/// Where the outermost line of a round side, or the points of a rim, turn about the axis of the
/// shape as the direction d (world) does: dp by a change of d. Zero if d is along the axis.
Mat3d turn_about_axis(const ContactSide& side, const Vec3d& d, double level);

}  // namespace stiction::detail
