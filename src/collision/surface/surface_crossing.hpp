#pragma once

#include "collision/manifold/manifold_workspace.hpp"
#include "collision/surface/surface_manifold.hpp"
#include "collision/surface/triangle_contact.hpp"

// What is left when two solids overlap so deeply that no corner, edge or face may push by itself:
// a corner that is nearest to a side it cannot leave through, a shape whose middle is inside. Then
// each connected part of the overlap is pushed out as a whole.

namespace stiction::detail {

/// A closed mesh or a height field: only these have an inside.
inline bool solid(const Surface& s) { return s.mesh == nullptr || s.mesh->closed; }

/// SurfacePoint::manifold of a corner that only shares a face with the one that pushes, until the
/// manifolds are numbered: it answers no overlap.
inline constexpr int kBesideLowest = -1;

/// Appends the segment along which two triangles cross, both in the frame of A. B is taken to be
/// displaced by `crossing_shift`.
void cross_triangles(const SurfaceTriangle& ta,
                     const SurfaceTriangle& tb,
                     const Vec3d& shift,
                     std::vector<CrossingSegment>& segments);
/// A displacement [m] that brings corners, edges and planes of two surfaces into general position.
Vec3d crossing_shift(double size);

/// Contacts, in the frame of A, of the closed curves in which A and B cross and which work.points
/// does not answer. `size` [m]: bounding radius of the smaller one.
void contacts_of_crossings(const Surface& a,
                           const Surface& b,
                           const Transform& X_AB,
                           double size,
                           ManifoldWorkspace& work);

/// The same of a convex shape and the triangles work.triangles: one contact, if work.points has
/// none that touches.
void contact_of_overlap(ConvexOnSurface& q, ManifoldWorkspace& work);

}  // namespace stiction::detail
