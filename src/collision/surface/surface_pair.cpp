#include "collision/manifold/manifold_workspace.hpp"
#include "collision/pairs/pair.hpp"
#include "collision/surface/separation_bound.hpp"
#include "collision/surface/surface_crossing.hpp"

// Two surfaces touch where a corner of one meets a triangle of the other, or two edges cross; each
// only in directions in which both may push. A corner behind a triangle counts if no other part of
// that surface is nearer to it.

namespace stiction::detail {
namespace {

constexpr double kNearer = 1e-6;   // relative
constexpr double kNoSide = 1e-7;   // of the size: a depth within which no side is told
constexpr double kDeepEdge = 0.1;  // of the shorter edge: deeper crossings are left to the corners
constexpr double kFacing = 0.7071067811865476;  // cosine of 45 degrees
// What a pair of surfaces deep in each other may cost, some 50 ms: nodes of the trees, pairs of
// triangles that are listed, those that are cut with each other (all of them or none: curves must
// close), those of which corners and edges are met, and corners whose depth is asked for. Of more
// pairs every second, third ... one is met.
constexpr std::int64_t kMostBoxes = 400000;
constexpr std::size_t kMostListed = 200000, kMostCut = 30000, kMostMet = 8000;
constexpr int kMostLooks = 1500;

void move(SurfaceTriangle& t, const Transform& X) {
  t.n = X.R * t.n;
  for (int k = 0; k < 3; ++k) {
    t.v[k] = X * t.v[k];
    t.across[k] = X.R * t.across[k];
  }
  t.offset = dot(t.n, t.v[0]);
}

struct SurfacePair {
  const Surface& a;
  const Surface& b;
  Transform X_AB;
  double margin, size;
  std::vector<SurfacePoint>& points;
  int looks = kMostLooks;  // for the depth of a corner, that are left

  /// corner_looks_along() of B, which needs B's own frame; u in that of A.
  bool corner_of_b_looks_along(int triangle, int corner, const Vec3d& u) const {
    SurfaceTriangle own;
    b.triangle(triangle, own);
    return corner_looks_along(b, own, corner, transpose_times(X_AB.R, u));
  }
};

// On a field, a face that is turned along u lands on each of its corners, not on the lowest alone.
bool lands_on(const Surface& s, const SurfaceTriangle& t, int k, const Vec3d& u) {
  return s.mesh == nullptr && t.sharp[k] && dot(t.n, u) >= kFacing;
}

bool over(const SurfaceTriangle& t, const Vec3d& p, double slack) {
  const auto corner = [&](int k) -> const Vec3d& { return t.v[k]; };
  return over_polygon(3, corner, t.n, p, slack);
}

// True depth: is there nothing of the surface nearer to p (its frame) than `depth`? A depth of
// `touching` or less is rounding, on which no side is told.
bool nearest_is(const Surface& s, const Vec3d& p, double depth, double touching, int& looks) {
  if (depth <= touching) return true;
  if (looks == 0) return false;
  --looks;
  const NearestTriangle n = nearest_triangle(s, p, depth * (1.0 + kNearer));
  return n.id >= 0 && n.inside && n.distance >= depth * (1.0 - kNearer) - touching;
}

void corners_of_a(SurfacePair& q, const SurfaceTriangle& ta, const SurfaceTriangle& tb) {
  const Vec3d u = -tb.n;
  for (int k = 0; k < 3; ++k) {
    const double gap = dot(tb.n, ta.v[k]) - tb.offset;
    if (gap > q.margin || !over(tb, ta.v[k], kFlush * q.size)) continue;
    const bool lowest = corner_looks_along(q.a, ta, k, u);
    if (!lowest && !lands_on(q.b, ta, k, u)) continue;
    const Vec3d p_B = transpose_times(q.X_AB.R, ta.v[k] - q.X_AB.p);
    if (gap < 0.0 && !nearest_is(q.b, p_B, -gap, kNoSide * q.size, q.looks)) continue;
    const std::uint32_t id = mix(kCornerOfAFeature, std::uint32_t(ta.vertex[k]));
    q.points.push_back({u, ta.v[k], gap, id, lowest ? 0 : kBesideLowest});
  }
}

void corners_of_b(SurfacePair& q, const SurfaceTriangle& ta, const SurfaceTriangle& tb) {
  for (int k = 0; k < 3; ++k) {
    const double gap = dot(ta.n, tb.v[k]) - ta.offset;
    if (gap > q.margin || !over(ta, tb.v[k], kFlush * q.size)) continue;
    const bool lowest = q.corner_of_b_looks_along(tb.id, k, -ta.n);
    if (!lowest && !lands_on(q.a, tb, k, -ta.n)) continue;
    if (gap < 0.0 && !nearest_is(q.a, tb.v[k], -gap, kNoSide * q.size, q.looks)) continue;
    const Vec3d on_a = tb.v[k] - ta.n * gap;
    const std::uint32_t id = mix(kCornerOfBFeature, std::uint32_t(tb.vertex[k]));
    q.points.push_back({ta.n, on_a, gap, id, lowest ? 0 : kBesideLowest});
  }
}

// A corner of A nearest to an edge or corner of B: apart only, corners that reach deeper meet
// faces.
void corners_near_b(SurfacePair& q, const SurfaceTriangle& ta, const SurfaceTriangle& tb) {
  for (int k = 0; k < 3; ++k) {
    const ClosestOnTriangle at = closest_on_triangle(tb.v, ta.v[k]);
    const Vec3d w = at.p - ta.v[k];
    const double gap = norm(w);
    if ((at.edge < 0 && at.corner < 0) || gap > q.margin || !(gap > kNoSide * q.size)) continue;
    const Vec3d u = w * (1.0 / gap);
    if (!corner_looks_along(q.a, ta, k, u)) continue;
    if (at.corner >= 0 ? !q.corner_of_b_looks_along(tb.id, at.corner, -u)
                       : !edge_looks_along(tb, at.edge, -u)) {
      continue;
    }
    q.points.push_back({u, ta.v[k], gap, mix(kCornerOfAFeature, std::uint32_t(ta.vertex[k])), 0});
  }
}

// A corner of B nearest to an edge of A.
void corners_near_a(SurfacePair& q, const SurfaceTriangle& ta, const SurfaceTriangle& tb) {
  for (int k = 0; k < 3; ++k) {
    const ClosestOnTriangle at = closest_on_triangle(ta.v, tb.v[k]);
    const Vec3d w = tb.v[k] - at.p;
    const double gap = norm(w);
    if (at.edge < 0 || gap > q.margin || !(gap > kNoSide * q.size)) continue;
    const Vec3d u = w * (1.0 / gap);
    if (!edge_looks_along(ta, at.edge, u) || !q.corner_of_b_looks_along(tb.id, k, -u)) continue;
    q.points.push_back({u, at.p, gap, mix(kCornerOfBFeature, std::uint32_t(tb.vertex[k])), 0});
  }
}

std::uint32_t edge_word(const SurfaceTriangle& t, int k) {
  const int a = t.vertex[k], b = t.vertex[k == 2 ? 0 : k + 1];
  return mix(std::uint32_t(a < b ? a : b), std::uint32_t(a < b ? b : a));
}

void cross_edges(
    SurfacePair& q, const SurfaceTriangle& ta, int i, const SurfaceTriangle& tb, int k) {
  const Vec3d ea = ta.next(i) - ta.v[i], eb = tb.next(k) - tb.v[k], d = tb.v[k] - ta.v[i];
  const Vec3d n = cross(ea, eb);
  const double nn = squared_norm(n), la = squared_norm(ea), lb = squared_norm(eb);
  if (nn <= 1e-12 * la * lb) return;  // parallel: their corners tell
  const double s = dot(cross(d, eb), n) / nn, r = dot(cross(d, ea), n) / nn;
  if (!(s >= 0.0 && s <= 1.0 && r >= 0.0 && r <= 1.0)) return;
  for (const double sign : {1.0, -1.0}) {
    const Vec3d u = n * (sign / std::sqrt(nn));
    const double gap = dot(u, d);
    if (gap > q.margin || gap < -kDeepEdge * std::sqrt(std::fmin(la, lb))) continue;
    if (!edge_looks_along(ta, i, u) || !edge_looks_along(tb, k, -u)) continue;
    const std::uint32_t id = mix(mix(kCrossingFeature, edge_word(ta, i)), edge_word(tb, k));
    q.points.push_back({u, ta.v[i] + ea * s, gap, id, 0});
    return;
  }
}

void triangle_pair(SurfacePair& q, const SurfaceTriangle& ta, const SurfaceTriangle& tb) {
  corners_of_a(q, ta, tb);
  corners_of_b(q, ta, tb);
  corners_near_b(q, ta, tb);
  corners_near_a(q, ta, tb);
  for (int i = 0; i < 3; ++i) {
    if (ta.edge[i] == SurfaceEdge::kFlat || ta.edge[i] == SurfaceEdge::kConcave) continue;
    for (int k = 0; k < 3; ++k) {
      if (tb.edge[k] == SurfaceEdge::kFlat || tb.edge[k] == SurfaceEdge::kConcave) continue;
      cross_edges(q, ta, i, tb, k);
    }
  }
}

// Is every corner farther in front of the plane than the margin?
bool in_front(const Vec3d& n, double offset, const Vec3d v[3], double margin) {
  return dot(n, v[0]) - offset > margin && dot(n, v[1]) - offset > margin &&
         dot(n, v[2]) - offset > margin;
}

// The box about a box in another frame.
Aabb moved(const Aabb& b, const Transform& X, double margin) {
  const Vec3d c = X * centre(b), h = half_extents(b);
  Vec3d e;
  for (int k = 0; k < 3; ++k) {
    e[k] =
        h.x * std::abs(X.R.c0[k]) + h.y * std::abs(X.R.c1[k]) + h.z * std::abs(X.R.c2[k]) + margin;
  }
  return {c - e, c + e};
}

void add_pair(int a, int b, ManifoldWorkspace& work) {
  work.triangle_pairs.push_back(static_cast<std::uint64_t>(a) << 32 |
                                static_cast<std::uint32_t>(b));
}

// The pairs of two leaves whose boxes overlap and of which B does not lie in front of A.
void pair_leaves(SurfacePair& q, const Bvh::Node& a, const Bvh::Node& b, ManifoldWorkspace& work) {
  const TriangleMesh &ma = *q.a.mesh, &mb = *q.b.mesh;
  for (int k = 0; k < b.count; ++k) {
    const int tb = mb.bvh.items[b.first + k];
    const Vec3d v[3] = {
        q.X_AB * mb.corner(tb, 0), q.X_AB * mb.corner(tb, 1), q.X_AB * mb.corner(tb, 2)};
    const Aabb box = grown(triangle_box(v), q.margin);
    if (!boxes_overlap(a.box, box)) continue;
    for (int i = 0; i < a.count; ++i) {
      const int ta = ma.bvh.items[a.first + i];
      const Vec3d& n = ma.normals[ta];
      if (in_front(n, dot(n, ma.corner(ta, 0)), v, q.margin)) continue;
      const Vec3d w[3] = {ma.corner(ta, 0), ma.corner(ta, 1), ma.corner(ta, 2)};
      if (boxes_overlap(triangle_box(w), box)) add_pair(ta, tb, work);
    }
  }
}

// Both trees at once: the larger node is opened.
void descend_both(SurfacePair& q, ManifoldWorkspace& work) {
  const Bvh &ta = q.a.mesh->bvh, &tb = q.b.mesh->bvh;
  struct Nodes {
    int a, b;
  } stack[2 * Bvh::kMaxDepth + 2];
  int top = 0;
  stack[top++] = {0, 0};
  while (top > 0 && work.boxes_tested < kMostBoxes && work.triangle_pairs.size() < kMostListed) {
    const Nodes n = stack[--top];
    const Bvh::Node &a = ta.nodes[n.a], &b = tb.nodes[n.b];
    ++work.boxes_tested;
    if (!boxes_overlap(a.box, moved(b.box, q.X_AB, q.margin))) continue;
    if (a.count > 0 && b.count > 0) {
      pair_leaves(q, a, b, work);
      continue;
    }
    const bool open_a = b.count > 0 || (a.count == 0 && norm(a.box.upper - a.box.lower) >=
                                                            norm(b.box.upper - b.box.lower));
    stack[top++] = open_a ? Nodes{a.first, n.b} : Nodes{n.a, b.first};
    stack[top++] = open_a ? Nodes{n.a + 1, n.b} : Nodes{n.a, n.b + 1};
  }
}

// With a height field: each triangle of B near the box of A.
void walk_cells(SurfacePair& q, const Shape& a, ManifoldWorkspace& work) {
  const Transform X_BA = inverse(q.X_AB);
  const Aabb box = moved(bounding_box(a, Transform::identity()), X_BA, q.margin);
  work.boxes_tested += q.b.overlapping(box, [&](int id) {
    Vec3d v[3];
    q.b.corners(id, v);
    for (Vec3d& p : v) p = q.X_AB * p;
    work.boxes_tested += q.a.overlapping(grown(triangle_box(v), q.margin),
                                         [&](int other) { add_pair(other, id, work); });
  });
}

}  // namespace

void surface_on_surface(const Shape& s,
                        const Shape& other,
                        const Transform& X_SO,
                        double margin,
                        ManifoldWorkspace& work) {
  const Surface a(s), b(other);
  const double size = std::fmin(bounding_radius(s), bounding_radius(other));
  SurfacePair q{a, b, X_SO, std::fmax(margin, 0.0), size, work.points};
  work.triangle_pairs.clear();
  work.segments.clear();
  if (a.mesh != nullptr && b.mesh != nullptr) {
    descend_both(q, work);
  } else {
    walk_cells(q, s, work);
  }
  std::sort(work.triangle_pairs.begin(), work.triangle_pairs.end());
  const std::size_t listed = work.triangle_pairs.size(), stride = 1 + listed / kMostMet;
  const bool solids = solid(a) && solid(b), cut = solids && listed <= kMostCut;
  const Vec3d shift = crossing_shift(size);
  SurfaceTriangle ta, tb;
  ta.id = -1;
  Aabb box_a{};
  for (std::size_t k = 0; k < listed; k += cut ? 1 : stride) {
    const std::uint64_t pair = work.triangle_pairs[k];
    if (static_cast<int>(pair >> 32) != ta.id) {
      a.triangle(static_cast<int>(pair >> 32), ta);
      box_a = grown(triangle_box(ta.v), q.margin);
    }
    Vec3d v[3];
    b.corners(static_cast<int>(pair & 0xffffffffu), v);
    for (Vec3d& p : v) p = X_SO * p;
    ++work.triangles_tested;
    if (in_front(ta.n, ta.offset, v, q.margin) || !boxes_overlap(box_a, triangle_box(v))) continue;
    b.triangle(static_cast<int>(pair & 0xffffffffu), tb);
    move(tb, X_SO);
    if (in_front(tb.n, tb.offset, ta.v, q.margin)) continue;
    if (k % stride == 0) triangle_pair(q, ta, tb);
    if (cut) cross_triangles(ta, tb, shift, work.segments);
  }
  contacts_of_crossings(a, b, X_SO, size, work);
  if (solids && !cut && deepest(work.points) > -kNoSide * size)
    push_apart(s, other, X_SO, work.points);
}

}  // namespace stiction::detail
