#include "collision/convex/general_query.hpp"
#include "collision/manifold/collinear.hpp"
#include "collision/manifold/manifold_pairs.hpp"
#include "collision/manifold/polygon.hpp"
#include "collision/manifold/reduce.hpp"

// The distance query gives normal and signed distance d. A face normal replaces its normal if the
// faces separate the pair as well as it does, up to kFacePreference; then the incident face is
// clipped against the reference face. Caps and bases are faces, and a curved side shows a segment.
// Otherwise (edge against edge, a vertex near a vertex) two faces that face each other are clipped
// against each other as seen along the normal of the query; or a side is laid against a side or an
// edge; or the manifold is the one point of the distance query.

namespace stiction::detail {
namespace {

struct Reference {
  Polygon face, incident;  // in the frame of A
  Vec3d n;                 // unit, out of `face`: direction of the gaps
  double rise = 1.0;       // gap along n per height over `face`
  bool on_a;
  double radii;       // of a capsule, around its segment
  double separation;  // of everything else from `face` along n: no core point is deeper
};

// Separation along the outward normal of `face` of everything on the other side.
double separation(const Polygon& face, const Core& other, const Transform& X) {
  const Vec3d down = transpose_times(X.R, -face.normal);
  int number;
  return dot(face.normal, X * core_support(other, down, number)) - face.offset;
}

// Faces of A first, so that equal faces do not take turns.
bool choose_reference(const Core& a,
                      const Core& b,
                      const Transform& X_AB,
                      const Vec3d& normal_A,
                      double least,
                      Reference& out) {
  const Transform& X_AA = Transform::identity();
  out.on_a = true;
  if (plane_face_towards(a, normal_A, X_AA, out.face)) {
    out.separation = separation(out.face, b, X_AB);
    if (out.separation >= least) {
      out.n = out.face.normal;
      const Vec3d n = transpose_times(X_AB.R, -out.face.normal);
      face_towards(b, n, X_AB, out.incident);
      return true;
    }
  }
  out.on_a = false;
  const Vec3d towards_a = -transpose_times(X_AB.R, normal_A);
  if (!plane_face_towards(b, towards_a, X_AB, out.face)) return false;
  out.separation = separation(out.face, a, X_AA);
  if (out.separation < least) return false;
  out.n = out.face.normal;
  face_towards(a, -out.face.normal, X_AA, out.incident);
  return true;
}

// The faces of both that face each other within 45 degrees along the normal of the query.
bool choose_facing(const Core& a,
                   const Core& b,
                   const Transform& X_AB,
                   const Vec3d& normal_A,
                   double distance,
                   Reference& out) {
  const Vec3d towards_a = -transpose_times(X_AB.R, normal_A);
  if (!plane_face_facing(a, normal_A, Transform::identity(), out.face)) return false;
  if (!plane_face_facing(b, towards_a, X_AB, out.incident)) return false;
  out.n = normal_A;
  out.rise = 1.0 / dot(out.face.normal, out.n);
  out.on_a = true;
  out.separation = distance;
  return true;
}

std::uint32_t point_feature(const Reference& r, const ClippedPoint& p) {
  if (r.incident.count == 2 && squared_norm(r.incident.p[1] - r.incident.p[0]) == 0.0) return 0;
  std::uint32_t faces =
      mix(mix(r.on_a ? 1u : 2u, std::uint32_t(r.face.id)), std::uint32_t(r.incident.id));
  return (faces & 0xffff0000u) | (std::uint32_t(p.before & 0xff) << 8) |
         std::uint32_t(p.after & 0xff);
}

/// Corners of the incident face, or ends of a capsule's segment, on the plane of the reference
/// face; most else depends on the outlines of both.
Witness witness_of(const Reference& r, const ClippedPoint& p) {
  const bool discs = r.face.is_disc() || r.incident.is_disc();
  const bool oblique = squared_norm(r.n - r.face.normal) > 0.0;
  const NormalOf of = oblique ? NormalOf::kBoth : r.on_a ? NormalOf::kA : NormalOf::kB;
  if (discs && (p.before == kRim || p.before == kOtherRim)) {
    return {WitnessKind::kRim, 0.0, false, of};
  }
  const bool corner = discs ? p.before == kCorner && !r.incident.is_disc()
                            : p.before < kReferenceEdges && p.after < kReferenceEdges;
  if (!corner || oblique) return {WitnessKind::kClipped, 0.0, false, of};
  if (r.incident.count > 2) return {r.on_a ? WitnessKind::kFaceVertex : WitnessKind::kVertexFace};
  if (r.radii > 0.0) return {r.on_a ? WitnessKind::kFaceRound : WitnessKind::kRoundFace, r.radii};
  const bool line = squared_norm(r.incident.p[1] - r.incident.p[0]) > 0.0;
  return {line ? WitnessKind::kRim : WitnessKind::kSmooth, 0.0, false, of};
}

bool is_polyhedron(const Shape& s) {
  return s.type == ShapeType::kBox || s.type == ShapeType::kConvexMesh;
}

// Leaves the manifold empty if the faces do not meet at the depth of the pair.
void clip_to_manifold(const Reference& r,
                      const Transform& X_WA,
                      double size,
                      double distance,
                      double margin,
                      Manifold& m) {
  ClippedPoint clipped[kMaxClipped];
  const int count = clip(r.incident, r.face, r.n, kFlush * size, clipped);
  CandidatePoints<kMaxClipped> near;
  ManifoldPoint* points = near.points;
  int kept = 0;
  double least = HUGE_VAL;
  for (int i = 0; i < count; ++i) {
    // A merged face of a mesh is flat only to the noise of its file: `fmax`.
    const double over = (dot(r.face.normal, clipped[i].p) - r.face.offset) * r.rise;
    const double height = std::fmax(r.separation, over);
    const double gap = height - r.radii;
    least = std::fmin(least, gap);
    if (gap > margin) continue;
    // Only the incident side has a radius (a capsule): its surface lies at `gap`.
    const Vec3d middle = clipped[i].p - r.n * (height - 0.5 * gap);
    points[kept++] = {X_WA * middle, gap, point_feature(r, clipped[i]), witness_of(r, clipped[i])};
  }
  if (least > distance + kFacePreference * size) return;
  const Vec3d outward = X_WA.R * r.n;
  m.normal = r.on_a ? outward : -outward;
  if (kept > kMaxManifoldPoints) kept = reduce(outward, size, kMaxManifoldPoints, points, kept);
  m.count = keep_line_ends(outward, size, points, kept);
  for (int i = 0; i < m.count; ++i) m.points[i] = points[i];
  make_features_unique(m);
}

}  // namespace

void manifold_faces(const Shape& a,
                    const Transform& X_WA,
                    const Shape& b,
                    const Transform& X_WB,
                    double margin,
                    Manifold& m,
                    DistanceCache* cache) {
  m.count = 0;
  const double stop = margin > 0.0 ? margin : 0.0;
  const GeneralResult r = query_general(a, X_WA, b, X_WB, {}, stop, cache);
  if (r.beyond || !(r.distance.distance <= margin)) return;
  const Core core_a = core_of(a), core_b = core_of(b);
  const double size = bounding_radius(a) + bounding_radius(b);
  const Transform X_AB = relative(X_WA, X_WB);
  const Vec3d normal_A = transpose_times(X_WA.R, r.distance.normal);
  Reference reference;
  reference.radii = core_a.radius + core_b.radius;
  const double least = r.distance.distance + reference.radii - kFacePreference * size;
  if (choose_reference(core_a, core_b, X_AB, normal_A, least, reference)) {
    clip_to_manifold(reference, X_WA, size, r.distance.distance, margin, m);
  }
  if (m.count == 0 &&
      choose_facing(core_a, core_b, X_AB, normal_A, r.distance.distance, reference)) {
    clip_to_manifold(reference, X_WA, size, r.distance.distance, margin, m);
    if (m.count < 2) m.count = 0;
  }
  if (m.count == 0 && (has_side(a) || has_side(b))) {
    manifold_sides(a, X_WA, b, X_WB, r.distance, margin, m);
  }
  if (m.count > 0) return;
  // One point on a curved surface is the same contact wherever it rolls.
  const bool vertices = is_polyhedron(a) && is_polyhedron(b);
  set_single_point(r.distance, vertices ? vertex_feature(r) : 0, m);
}

}  // namespace stiction::detail
