#pragma once

#include "stiction/geometry/convex_mesh.hpp"

#include <vector>

namespace stiction {

/// The mesh that ConvexMesh::hull made, of its vertices and triangles alone: the same bits.
/// Building a hull again would number them otherwise. Throws std::invalid_argument unless they are
/// the closed surface of a convex solid: indices, edges, sides, sizes.
ConvexMesh restore_convex_mesh(const std::vector<Vec3d>& vertices,
                               const std::vector<int>& triangles);

}  // namespace stiction
