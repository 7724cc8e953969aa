#pragma once

#include "collision/pairs/pair.hpp"

namespace stiction::detail {

/// Keeps two of three or more points that lie on one line, seen along the normal and to kFlush of
/// `size`. Two carry all that the line can: the two farthest apart of the points that touch (within
/// 1e-4 size of the deepest), else the deepest and the next one aside of it. Moves them to the
/// front, in their order, and returns 2; returns `count` if the points span an area.
int keep_line_ends(const Vec3d& normal, double size, ManifoldPoint* points, int count);

}  // namespace stiction::detail
