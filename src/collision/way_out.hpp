#pragma once

#include "stiction/collision/manifold.hpp"

#include "surface.hpp"

namespace stiction::detail {

/// Gap of the deepest point; infinite if there is none [m].
double deepest(const std::vector<SurfacePoint>& points);
void drop_deeper(double depth, std::vector<SurfacePoint>& points);

/// Contacts of `other` (X: its pose in the frame of the surface) that are deeper than a whole way
/// out, past all of the surface along an axis of either, give way to one point along it. `size`
/// [m]: of the smaller partner.
void keep_within_way_out(const Shape& s,
                         const Shape& other,
                         const Transform& X,
                         double size,
                         std::vector<SurfacePoint>& points);

}  // namespace stiction::detail
