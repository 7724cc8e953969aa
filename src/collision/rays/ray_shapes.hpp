#pragma once

#include "stiction/collision/ray_cast.hpp"

namespace stiction::detail {

/// Does the ray from o along d, at most `most` long, touch the box?
bool ray_meets_box(const Aabb& box, const Vec3d& o, const Vec3d& d, double most);

/// ray_cast() of one shape without checks.
bool ray_shape(const Shape& s, const Vec3d& o, const Vec3d& d, double most, RayHit& hit);

}  // namespace stiction::detail
