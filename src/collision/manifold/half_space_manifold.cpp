#include "collision/manifold/manifold_pairs.hpp"
#include "collision/manifold/reduce.hpp"
#include "collision/manifold/rim.hpp"
#include "geometry/mesh_support.hpp"

#include <algorithm>
#include <bit>

// All vertices of a solid whose height above the plane is at most the margin, at most eight of a
// mesh, four of a box. Curved solids: see rim.hpp.

namespace stiction::detail {
namespace {

constexpr int kMaxCandidates = 256;  // of a mesh; the flood starts at the deepest, so later ones
                                     // are farther away
constexpr int kMaxFlooded = 16384;   // vertices of a mesh for which bit sets lie on the stack

constexpr Witness kVertex{WitnessKind::kVertexFace};

struct PlaneQuery {
  Vec3d up;         // outward normal of the half-space, world
  Vec3d up_S;       // the same in the frame of the solid
  double height_0;  // of the solid's origin above the plane [m]
};

void add_point(const PlaneQuery& q,
               const Transform& X_WS,
               const Vec3d& p_S,
               double gap,
               int feature,
               Witness witness,
               ManifoldPoint& out) {
  out = {X_WS * p_S - q.up * (0.5 * gap), gap, std::uint32_t(feature), witness};
}

int box_points(
    const PlaneQuery& q, const Vec3d& h, const Transform& X_WS, double margin, ManifoldPoint* out) {
  const Vec3d slope{q.up_S.x * h.x, q.up_S.y * h.y, q.up_S.z * h.z};
  if (q.height_0 - std::abs(slope.x) - std::abs(slope.y) - std::abs(slope.z) > margin) return 0;
  int count = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const double sx = corner & 1 ? 1.0 : -1.0, sy = corner & 2 ? 1.0 : -1.0,
                 sz = corner & 4 ? 1.0 : -1.0;
    const double gap = q.height_0 + (sx * slope.x + sy * slope.y + sz * slope.z);
    if (gap > margin) continue;
    add_point(q, X_WS, {sx * h.x, sy * h.y, sz * h.z}, gap, corner, kVertex, out[count++]);
  }
  return count;
}

int capsule_points(const PlaneQuery& q,
                   const Vec3d& size,
                   const Transform& X_WS,
                   double margin,
                   ManifoldPoint* out) {
  int count = 0;
  for (int end = 0; end < 2; ++end) {
    const double z = end == 0 ? -size.y : size.y;
    const double gap = q.height_0 + q.up_S.z * z - size.x;
    if (gap > margin || (end == 1 && size.y == 0.0)) continue;
    const Witness witness{WitnessKind::kRoundFace, size.x};
    add_point(q, X_WS, Vec3d{0.0, 0.0, z} - q.up_S * size.x, gap, end, witness, out[count++]);
  }
  return count;
}

// Appends the point p_S if it is within the margin.
void offer(const PlaneQuery& q,
           const Transform& X_WS,
           const Vec3d& p_S,
           double margin,
           int feature,
           WitnessKind kind,
           Manifold& m) {
  const double gap = q.height_0 + dot(q.up_S, p_S);
  if (gap <= margin) add_point(q, X_WS, p_S, gap, feature, {kind}, m.points[m.count++]);
}

Rim rim_of(const PlaneQuery& q) { return Rim::towards(-q.up_S.x, -q.up_S.y); }

constexpr int kRimFeatures = 2 * kRimPoints;  // fixed and turned ones

void rim_points(const PlaneQuery& q,
                const Transform& X_WS,
                double r,
                double z,
                double margin,
                int feature,
                Manifold& m) {
  const Rim rim = rim_of(q);
  for (int k = 0; k < kRimPoints; ++k) {
    const Vec3d p{r * rim.x_of(k), r * rim.y_of(k), z};
    offer(q, X_WS, p, margin, feature + rim.first + k, WitnessKind::kRim, m);
  }
}

// Standing on a cap: its rim. Lying: the two ends of the lowest line of the side.
void cylinder_points(
    const PlaneQuery& q, const Vec3d& size, const Transform& X_WS, double margin, Manifold& m) {
  if (std::abs(q.up_S.z) >= kCapCosine) {
    const int cap = q.up_S.z > 0.0 ? 0 : 1;
    const double z = cap == 0 ? -size.y : size.y;
    return rim_points(q, X_WS, size.x, z, margin, cap * kRimFeatures, m);
  }
  const Rim rim = rim_of(q);
  for (int cap = 0; cap < 2; ++cap) {
    const Vec3d p{size.x * rim.x, size.x * rim.y, cap == 0 ? -size.y : size.y};
    offer(q, X_WS, p, margin, cap * kRimFeatures + rim.first, WitnessKind::kRim, m);
  }
}

// Standing on the base: its rim. Else the apex and the lowest point of the rim, the ends of the
// lowest line of the side.
void cone_points(
    const PlaneQuery& q, const Vec3d& size, const Transform& X_WS, double margin, Manifold& m) {
  if (q.up_S.z >= kCapCosine) return rim_points(q, X_WS, size.x, -size.y, margin, 0, m);
  const Rim rim = rim_of(q);  // level with the apex down: no lowest point, and all are far
  if (rim.first != 0) {
    const Vec3d p{size.x * rim.x, size.x * rim.y, -size.y};
    offer(q, X_WS, p, margin, rim.first, WitnessKind::kRim, m);
  }
  offer(q, X_WS, {0.0, 0.0, size.y}, margin, kRimFeatures, WitnessKind::kVertexFace, m);
}

/// Vertices, as bits.
struct VertexSet {
  std::uint64_t words[kMaxFlooded / 64];
  explicit VertexSet(int size) : num_words((size + 63) / 64) { std::fill_n(words, num_words, 0); }
  /// False if it was in already.
  bool insert(int v) {
    std::uint64_t& word = words[v / 64];
    const std::uint64_t bit = std::uint64_t{1} << (v % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  /// In ascending order; returns their number.
  int list(int* out) const {
    int count = 0;
    for (int w = 0; w < num_words; ++w) {
      for (std::uint64_t left = words[w]; left != 0; left &= left - 1)
        out[count++] = 64 * w + std::countr_zero(left);
    }
    return count;
  }
  int num_words;
};

// Both find ascending vertex numbers: the order, hence every tie, does not depend on the start.

// The vertices below a level of a convex mesh are connected by edges: flood from the lowest.
int flood(const PlaneQuery& q, const ConvexMesh& mesh, int lowest, double margin, int* found) {
  const int size = static_cast<int>(mesh.vertices.size());
  VertexSet seen(size), below(size);
  seen.insert(lowest);
  below.insert(lowest);
  found[0] = lowest;
  int count = 1;
  for (int i = 0; i < count && count < kMaxCandidates; ++i) {
    const int v = found[i];
    for (int k = mesh.neighbour_start[v]; k < mesh.neighbour_start[v + 1]; ++k) {
      const int n = mesh.neighbours[k];
      if (!seen.insert(n) || q.height_0 + dot(q.up_S, mesh.vertices[n]) > margin) continue;
      below.insert(n);
      found[count++] = n;
      if (count == kMaxCandidates) break;
    }
  }
  return below.list(found);
}

int scan(const PlaneQuery& q, const ConvexMesh& mesh, int lowest, double margin, int* found) {
  int count = 0;
  for (int v = 0; v < int(mesh.vertices.size()) && count < kMaxCandidates; ++v) {
    if (q.height_0 + dot(q.up_S, mesh.vertices[v]) <= margin) found[count++] = v;
  }
  if (count == kMaxCandidates && found[count - 1] < lowest) found[count - 1] = lowest;
  return count;
}

int mesh_points(const PlaneQuery& q,
                const ConvexMesh& mesh,
                const Transform& X_WS,
                double margin,
                ManifoldPoint* out) {
  const int lowest = mesh_support(mesh, -q.up_S);
  if (q.height_0 + dot(q.up_S, mesh.vertices[lowest]) > margin) return 0;
  int found[kMaxCandidates];
  const int count = mesh.vertices.size() > 32 && mesh.vertices.size() <= kMaxFlooded
                        ? flood(q, mesh, lowest, margin, found)
                        : scan(q, mesh, lowest, margin, found);
  for (int i = 0; i < count; ++i) {
    const Vec3d& p = mesh.vertices[found[i]];
    add_point(q, X_WS, p, q.height_0 + dot(q.up_S, p), found[i], kVertex, out[i]);
  }
  return count;
}

}  // namespace

void manifold_any_half_space(
    const Shape& a, const Transform& X_WA, const Transform& X_WB, double margin, Manifold& m) {
  const Vec3d& up = X_WB.R.c2;
  const PlaneQuery q{up, transpose_times(X_WA.R, up), dot(up, X_WA.p - X_WB.p)};
  m.normal = -up;
  m.count = 0;
  switch (a.type) {
    case ShapeType::kSphere: {
      const double gap = q.height_0 - a.size.x;
      if (gap > margin) return;
      m.points[0] = {
          X_WA.p - up * (a.size.x + 0.5 * gap), gap, 0, {WitnessKind::kRoundFace, a.size.x}};
      m.count = 1;
      return;
    }
    case ShapeType::kCapsule:
      m.count = capsule_points(q, a.size, X_WA, margin, m.points);
      return;
    case ShapeType::kBox:
      m.count = box_points(q, a.size, X_WA, margin, m.points);
      m.count = reduce(up, norm(a.size), 4, m.points, m.count);
      break;
    case ShapeType::kCylinder:
      return cylinder_points(q, a.size, X_WA, margin, m);
    case ShapeType::kCone:
      return cone_points(q, a.size, X_WA, margin, m);
    case ShapeType::kEllipsoid:
      return offer(q, X_WA, support(a, -q.up_S), margin, 0, WitnessKind::kSmooth, m);
    default: {
      CandidatePoints<kMaxCandidates> near;
      const int found = mesh_points(q, *a.mesh, X_WA, margin, near.points);
      m.count = reduce(up, a.mesh->bounding_radius, kMaxManifoldPoints, near.points, found);
      for (int i = 0; i < m.count; ++i) m.points[i] = near.points[i];
      return;
    }
  }
}

}  // namespace stiction::detail
