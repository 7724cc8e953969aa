#pragma once

#include "stiction/collision/manifold.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "collision/pairs/pair.hpp"
#include "collision/surface/surface.hpp"

namespace stiction::detail {

/// First word of the name of a contact with a surface: what touches.
enum SurfaceFeature : std::uint32_t {
  kFaceFeature = 1,       ///< a corner of the other shape on a face
  kRidgeFeature = 2,      ///< an edge of the surface
  kPeakFeature = 3,       ///< a corner of the surface
  kCornerOfAFeature = 4,  ///< two surfaces: a corner of A, of B, two edges
  kCornerOfBFeature = 5,
  kCrossingFeature = 6,
};

/// Name of a point on a face of that patch.
inline std::uint32_t face_feature(int patch) { return mix(kFaceFeature, std::uint32_t(patch)); }

/// Name of a point on an edge k, or a corner, of a triangle.
inline std::uint32_t edge_feature(const SurfaceTriangle& t, int k) {
  const int a = t.vertex[k], b = t.vertex[k == 2 ? 0 : k + 1];
  return mix(mix(kRidgeFeature, std::uint32_t(a < b ? a : b)), std::uint32_t(a < b ? b : a));
}
inline std::uint32_t peak_feature(const SurfaceTriangle& t, int k) {
  return mix(kPeakFeature, std::uint32_t(t.vertex[k]));
}

inline Witness witness_of(const SurfacePoint& p, bool surface_is_a) {
  if (!(p.ball_radius > 0.0)) return {};
  return {surface_is_a ? WitnessKind::kFaceRound : WitnessKind::kRoundFace, p.ball_radius};
}

/// The point midway between the surface and what touches it, world frame.
inline Vec3d midpoint(const SurfacePoint& p, const Transform& X_WS) {
  return X_WS * (p.on_surface + p.normal * (0.5 * p.gap));
}

// Each fills work.points: what touches the surface `s`, in its frame.

/// A bounded convex shape, X_SC its pose in the frame of the surface.
void convex_on_surface(const Shape& s,
                       const Shape& convex,
                       const Transform& X_SC,
                       double margin,
                       ManifoldWorkspace& work);
/// Two surfaces; normals point away from `s`.
void surface_on_surface(const Shape& s,
                        const Shape& other,
                        const Transform& X_SO,
                        double margin,
                        ManifoldWorkspace& work);
/// A half-space; normals point away from `s`, into it.
void half_space_on_surface(const Shape& s,
                           const Transform& X_SH,
                           double margin,
                           ManifoldWorkspace& work);

/// Gathers work.points into work.manifolds, world frame. `size` [m]: of the smaller partner.
void gather_manifolds(const Transform& X_WS,
                      double size,
                      bool surface_is_a,
                      ManifoldWorkspace& work);

}  // namespace stiction::detail
