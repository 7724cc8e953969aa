#pragma once

#include "stiction/collision/manifold.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "collision/surface/surface.hpp"

namespace stiction::detail {

/// Contacts of two shapes whose surfaces do not cross, one of which lies inside of the other, a
/// solid: to the plane of the triangle nearest to its middle, or to one of its corners if the
/// middle is not inside, as against a half-space. None if they are apart. Frame of `s`; X_SO: pose
/// of `other`, bounded. `size` [m]: of the smaller.
void contacts_inside(const Shape& s,
                     const Shape& other,
                     const Transform& X_SO,
                     double size,
                     ManifoldWorkspace& work);

}  // namespace stiction::detail
