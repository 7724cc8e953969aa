#include "collision/surface/triangle_contact.hpp"

#include "collision/convex/general_query.hpp"
#include "collision/manifold/manifold_workspace.hpp"
#include "collision/surface/ball_on_triangle.hpp"
#include "collision/surface/surface_manifold.hpp"

namespace stiction::detail {
namespace {

constexpr int kMaxFacePoints = kMaxPolygon + 9;  // corners, 2 crossings per edge, 3 corners

// Deeper than this share of the shape's extent along the normal, a ridge or a face of the shape is
// no guess worth following: the triangle pushes along its own normal.
constexpr double kDeep = 0.25;
// Cosine up to which a face of the shape is too steep to have a height over corners below it.
constexpr double kSteepFace = 0.1;

std::uint32_t corner_feature(const ConvexOnSurface& q, const SurfaceTriangle& t, int k) {
  return mix(mix(face_feature(t.patch), std::uint32_t(q.face.id)), std::uint32_t(k));
}

/// The prism over a triangle.
struct Prism {
  Vec3d outward[3];
  double offset[3];

  explicit Prism(const SurfaceTriangle& t) {
    for (int k = 0; k < 3; ++k) {
      const Vec3d m = cross(t.next(k) - t.v[k], t.n);
      outward[k] = m * (1.0 / norm(m));
      offset[k] = dot(outward[k], t.v[k]);
    }
  }
  double outside(int k, const Vec3d& p) const { return dot(outward[k], p) - offset[k]; }
  bool holds(const Vec3d& p, double slack, int except = -1) const {
    for (int k = 0; k < 3; ++k) {
      if (k != except && outside(k, p) > slack) return false;
    }
    return true;
  }
};

/// Points along the normal of the triangle. `least`: lowest height over it of the part of the face
/// that lies above it, features or not.
struct FacePoints {
  SurfacePoint points[kMaxFacePoints];
  int count = 0;
  double least = HUGE_VAL;

  void offer(const SurfaceTriangle& t, const Vec3d& on_shape, bool counts, std::uint32_t feature) {
    const double gap = dot(t.n, on_shape) - t.offset;
    least = std::fmin(least, gap);
    if (counts) points[count++] = {t.n, on_shape - t.n * gap, gap, feature, 0};
  }
};

bool in_face(const Polygon& face, const Vec3d& p, double slack) {
  const auto corner = [&](int i) -> const Vec3d& { return face.p[i]; };
  return over_polygon(face.count, corner, face.normal, p, slack);
}

void clip_corners(const ConvexOnSurface& q,
                  const SurfaceTriangle& t,
                  const Prism& prism,
                  double slack,
                  FacePoints& out) {
  for (int i = 0; i < q.face.count; ++i) {
    if (prism.holds(q.face.p[i], slack)) out.offer(t, q.face.p[i], true, corner_feature(q, t, i));
  }
}

void clip_edges(const ConvexOnSurface& q,
                const SurfaceTriangle& t,
                const Prism& prism,
                double slack,
                FacePoints& out) {
  const Polygon& f = q.face;
  const int edges = f.count > 2 ? f.count : f.count - 1;
  for (int k = 0; k < 3; ++k) {
    int crossings = 0;
    for (int i = 0; i < edges && crossings < 2; ++i) {
      const Vec3d &a = f.p[i], &b = f.p[i + 1 == f.count ? 0 : i + 1];
      const double da = prism.outside(k, a), db = prism.outside(k, b);
      if ((da > slack) == (db > slack)) continue;
      const double share = da / (da - db);
      const Vec3d p = a + (b - a) * std::fmin(std::fmax(share, 0.0), 1.0);
      if (!prism.holds(p, slack, k)) continue;
      ++crossings;
      out.offer(t, p, t.edge[k] != SurfaceEdge::kFlat, mix(edge_feature(t, k), std::uint32_t(i)));
    }
  }
}

void clip_peaks(const ConvexOnSurface& q, const SurfaceTriangle& t, double slack, FacePoints& out) {
  if (q.face.count < 3) return;
  const double slope = dot(q.face.normal, t.n);
  if (!(slope < -kSteepFace)) return;
  for (int k = 0; k < 3; ++k) {
    const double height = (q.face.offset - dot(q.face.normal, t.v[k])) / slope;
    const Vec3d p = t.v[k] + t.n * height;
    if (in_face(q.face, p, slack)) out.offer(t, p, t.sharp[k], peak_feature(t, k));
  }
}

void look_along(ConvexOnSurface& q, const Vec3d& n) {
  if (n.x == q.n.x && n.y == q.n.y && n.z == q.n.z) return;
  q.n = n;
  facing_polygon(q.shape, q.X, -n, q.face);
  q.low = dot(n, q.X * support(q.shape, transpose_times(q.X.R, -n)));
  q.high = dot(n, q.X * support(q.shape, transpose_times(q.X.R, n)));
}

const NearestTriangle& nearest(ConvexOnSurface& q) {
  if (!q.nearest_known) q.nearest = nearest_triangle(q.surface, q.centre, 4.0 * q.size);
  q.nearest_known = true;
  return q.nearest;
}

// A point behind the plane of the triangle by more than rounding is pushed out along its normal
// only if the shape crosses the triangle, or if the triangle is what is nearest to the point.
// Otherwise it lies beside a thin wall or a peak, on the far side of this triangle.
struct Depth {
  ConvexOnSurface& q;
  const SurfaceTriangle& t;
  bool known = false, crossing = false;

  bool crosses() {
    if (!known) {
      const Transform X_T{Mat3d::identity(), q.triangle.set(t.v, t.n)};
      crossing = dot(t.n, q.centre) > t.offset &&
                 overlap_general(q.shape, q.X, q.triangle.shape(), X_T, {}, nullptr, nullptr);
    }
    known = true;
    return crossing;
  }
  bool believable(const SurfacePoint& p) {
    if (p.gap >= -kFlush * q.size || crosses()) return true;
    const NearestTriangle near =
        nearest_triangle(q.surface, p.on_surface + p.normal * p.gap, -p.gap * (1.0 + 1e-6));
    return near.inside && near.distance >= -p.gap * (1.0 - 1e-6);
  }
};

void append(ConvexOnSurface& q, const SurfacePoint& p) {
  if (p.gap <= q.margin) q.points.push_back(p);
}

void append_all(ConvexOnSurface& q, const SurfaceTriangle& t, const FacePoints& found) {
  Depth depth{q, t};
  for (int i = 0; i < found.count; ++i) {
    const SurfacePoint& p = found.points[i];
    if (p.gap <= q.margin && depth.believable(p)) q.points.push_back(p);
  }
}

// The part of edge k under a face of the shape whose normal is -u: up to two points.
bool append_edge_under_face(
    ConvexOnSurface& q, const SurfaceTriangle& t, int k, const Polygon& face, double slack) {
  Vec3d a = t.v[k], b = t.next(k);
  std::uint32_t id_a = peak_feature(t, k), id_b = peak_feature(t, k == 2 ? 0 : k + 1);
  for (int i = 0; i < face.count; ++i) {
    const Vec3d& p = face.p[i];
    const Vec3d m = cross(face.p[i + 1 == face.count ? 0 : i + 1] - p, face.normal);
    const double reach = slack * norm(m), da = dot(m, a - p), db = dot(m, b - p);
    if (da > reach && db > reach) return false;
    const std::uint32_t id = mix(edge_feature(t, k), std::uint32_t(i));
    if (da > reach) {
      a = a + (b - a) * (da / (da - db));
      id_a = id;
    } else if (db > reach) {
      b = b + (a - b) * (db / (db - da));
      id_b = id;
    }
  }
  const Vec3d u = -face.normal;
  append(q, {u, a, dot(face.normal, a) - face.offset, id_a, 0});
  append(q, {u, b, dot(face.normal, b) - face.offset, id_b, 0});
  return true;
}

enum class Answer { kUnknown, kDone, kFace };

// The face of the shape as the plane between the two: right if the lowest corner or edge of the
// triangle above that plane lies under the face.
Answer face_of_shape(ConvexOnSurface& q, const SurfaceTriangle& t, double slack) {
  const Polygon& face = q.face;
  if (face.count < 3) return Answer::kUnknown;
  double s[3], least = HUGE_VAL;
  for (int k = 0; k < 3; ++k) {
    s[k] = dot(face.normal, t.v[k]) - face.offset;
    least = std::fmin(least, s[k]);
  }
  if (least > q.margin) return Answer::kDone;
  if (least < -kDeep * (q.high - q.low)) return Answer::kUnknown;
  int lowest[3], count = 0;
  for (int k = 0; k < 3; ++k) {
    if (s[k] <= least + slack) lowest[count++] = k;
  }
  const Vec3d u = -face.normal;
  if (count == 1) {
    const int k = lowest[0];
    if (!in_face(face, t.v[k], slack)) return Answer::kUnknown;
    if (!corner_looks_along(q.surface, t, k, u)) return Answer::kFace;
    append(q, {u, t.v[k], s[k], peak_feature(t, k), 0});
    return Answer::kDone;
  }
  if (count == 3) return Answer::kUnknown;
  const int k = lowest[0] == 0 && lowest[1] == 2 ? 2 : lowest[0];
  if (!edge_looks_along(t, k, u)) return Answer::kFace;
  return append_edge_under_face(q, t, k, face, slack) ? Answer::kDone : Answer::kUnknown;
}

// Edge or corner of the triangle that holds its witness point; both -1: inside.
void touched_feature(const Prism& prism, const Vec3d& p, double slack, int& edge, int& corner) {
  edge = corner = -1;
  for (int k = 0; k < 3; ++k) {
    if (prism.outside(k, p) < -slack) continue;
    if (edge < 0) {
      edge = k;
    } else {
      corner = edge == 0 && k == 2 ? 0 : k;  // edges k - 1 and k meet at corner k
    }
  }
}

// A line of a round shape all but level with the triangle across the edge: that one has the point
// where the line crosses the edge, along its own normal. With this one's of another normal it would
// be there twice, or not quite where the manifold's normal has it.
bool is_clipped_by_neighbour(
    const ConvexOnSurface& q, const SurfaceTriangle& t, int edge, const Vec3d& u, double slack) {
  const Vec3d& n = t.across[edge];
  if (t.edge[edge] != SurfaceEdge::kConvex || !(dot(u, n) > 1.0 - kSameNormal)) return false;
  Polygon line;
  facing_polygon(q.shape, q.X, -n, line);
  if (line.count != 2) return false;
  const Vec3d e = t.next(edge) - t.v[edge], m = cross(n, e), &a = line.p[0], &b = line.p[1];
  const double reach = slack * norm(e), da = dot(m, a - t.v[edge]), db = dot(m, b - t.v[edge]);
  if (!(std::fmin(da, db) < -reach && std::fmax(da, db) > reach)) return false;
  const double at = dot(e, a + (b - a) * (da / (da - db)) - t.v[edge]);
  return at > reach && at < squared_norm(e) - reach;
}

// GJK and EPA of shape and triangle.
Answer query_triangle(ConvexOnSurface& q,
                      const SurfaceTriangle& t,
                      const Prism& prism,
                      double slack) {
  const Transform X_T{Mat3d::identity(), q.triangle.set(t.v, t.n)};
  const GeneralResult r =
      query_general(q.shape, q.X, q.triangle.shape(), X_T, {}, std::fmax(q.margin, 0.0), nullptr);
  if (r.beyond || !(r.distance.distance <= q.margin)) return Answer::kDone;
  if (r.distance.distance < -kDeep * (q.high - q.low)) return Answer::kFace;
  const Vec3d u = -r.distance.normal;
  int edge, corner;
  touched_feature(prism, r.distance.witness_b, 1e-7 * q.size, edge, corner);
  if (edge < 0 || dot(u, t.n) > 1.0 - kSameNormal) return Answer::kFace;
  if (corner >= 0) {
    if (!corner_looks_along(q.surface, t, corner, u)) return Answer::kFace;
    append(q, {u, r.distance.witness_b, r.distance.distance, peak_feature(t, corner), 0});
    return Answer::kDone;
  }
  if (!edge_looks_along(t, edge, u)) return Answer::kFace;
  if (is_clipped_by_neighbour(q, t, edge, u, slack)) return Answer::kDone;
  Polygon face;
  facing_polygon(q.shape, q.X, -u, face);
  if (face.count >= 3 && dot(face.normal, -u) > 1.0 - kSameNormal &&
      append_edge_under_face(q, t, edge, face, slack)) {
    return Answer::kDone;
  }
  append(q, {u, r.distance.witness_b, r.distance.distance, edge_feature(t, edge), 0});
  return Answer::kDone;
}

// A ball whose centre is behind the surface is pushed to the nearest point of it.
void push_out(ConvexOnSurface& q, const SurfaceTriangle& t) {
  const NearestTriangle& near = nearest(q);
  if (near.id != t.id) return;
  const Vec3d w = near.p - q.centre;
  const Vec3d u = near.distance > 0.0 ? w * (1.0 / near.distance) : t.n;
  q.points.push_back({u, near.p, -near.distance - q.shape.size.x, face_feature(t.patch), 0});
}

void sphere_contact(ConvexOnSurface& q, SurfaceTriangle& t) {
  const ClosestOnTriangle at = closest_on_triangle(t.v, q.centre);
  const BallOverTriangle ball{q.centre, q.shape.size.x, at, t};
  if (ball.distance - ball.radius > q.margin) return;
  if (ball.height < 0.0 && nearest(q).inside) return push_out(q, t);
  SurfacePoint point;
  if (ball.pushes(q.surface, t, point)) q.points.push_back(point);
}

}  // namespace

void triangle_contact(ConvexOnSurface& q, SurfaceTriangle& t) {
  if (q.shape.type == ShapeType::kSphere) return sphere_contact(q, t);
  look_along(q, t.n);
  const double height = q.low - t.offset, slack = kFlush * q.size;
  if (height > q.margin) return;
  if (q.surface.mesh != nullptr && q.high < t.offset) return;  // wholly behind
  const Prism prism(t);
  FacePoints found;
  clip_corners(q, t, prism, slack, found);
  clip_edges(q, t, prism, slack, found);
  clip_peaks(q, t, slack, found);
  // A plane that no part of the shape comes nearer to than what lies above the triangle.
  bool face = t.plain() || found.least <= height + kFacePreference * q.size;
  if (!face) {
    Answer answer = face_of_shape(q, t, slack);
    if (answer == Answer::kUnknown) answer = query_triangle(q, t, prism, slack);
    face = answer == Answer::kFace;
  }
  if (face) append_all(q, t, found);
}

}  // namespace stiction::detail
