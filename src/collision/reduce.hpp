#pragma once

#include "pair.hpp"

namespace stiction::detail {

/// Chooses 4 of `count` >= 4 points and moves them to the front: the deepest, then the ones that
/// span the largest area. Near-ties go to the first point, so that a small motion keeps the choice.
void reduce_to_four(const Vec3d& normal, double size, ManifoldPoint* points, int count);

/// Features differ within the manifold afterwards; equal ones are counted up in order.
void make_features_unique(Manifold& m);

}  // namespace stiction::detail
