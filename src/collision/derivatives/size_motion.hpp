#pragma once

#include "stiction/geometry/shape.hpp"

#include "math/spatial_algebra.hpp"

namespace stiction::detail {

/// Motion of the point p (world) of a shape's surface, and turn of what it lies on, as
/// Shape::size[k] grows by 1 m; `outward`: the normal there, unit, world, which is held. Zero for
/// what has no such size.
Motion<double> motion_by_size(
    const Shape& shape, const Transform& X, const Vec3d& p, const Vec3d& outward, int k);

}  // namespace stiction::detail
