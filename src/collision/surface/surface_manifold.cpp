#include "collision/surface/surface_manifold.hpp"

#include "collision/manifold/collinear.hpp"
#include "collision/manifold/manifold_workspace.hpp"
#include "collision/manifold/reduce.hpp"
#include "collision/surface/ball_on_field.hpp"
#include "collision/surface/inside.hpp"
#include "collision/surface/separation_bound.hpp"
#include "collision/surface/surface_crossing.hpp"
#include "collision/surface/triangle_contact.hpp"

#include <algorithm>
#include <stdexcept>

namespace stiction {

TriangleShape::TriangleShape() : mesh_(std::make_shared<ConvexMesh>()) {
  ConvexMesh& m = *mesh_;
  m.vertices.assign(3, {0, 0, 0});
  m.faces = {{{0, 0, 1}, 0.0, 0, 3}, {{0, 0, -1}, 0.0, 3, 3}};
  m.face_vertices = {0, 1, 2, 0, 2, 1};
  m.neighbour_start = {0, 2, 4, 6};
  m.neighbours = {1, 2, 0, 2, 0, 1};
  m.vertex_face_start = {0, 2, 4, 6};
  m.vertex_faces = {0, 1, 0, 1, 0, 1};
  m.triangles = m.face_vertices;
  shape_.type = ShapeType::kConvexMesh;
  shape_.mesh = mesh_;
}

Vec3d TriangleShape::set(const Vec3d v[3], const Vec3d& normal) {
  const Vec3d centre = (v[0] + v[1] + v[2]) * (1.0 / 3.0);
  mesh_->bounding_radius = 0.0;
  for (int k = 0; k < 3; ++k) {
    mesh_->vertices[k] = v[k] - centre;
    mesh_->bounding_radius = std::fmax(mesh_->bounding_radius, norm(mesh_->vertices[k]));
  }
  for (int side = 0; side < 2; ++side) {
    ConvexMesh::Face& face = mesh_->faces[side];
    face.normal = side == 0 ? normal : -normal;
    face.offset = dot(face.normal, mesh_->vertices[0]);
  }
  return centre;
}

namespace detail {
namespace {

constexpr double kSamePoint = 1e-6;  // of the size: one point found twice
// Points of rough surfaces deep in each other that are compared with each other, at most.
constexpr std::size_t kMostPoints = 2000;

// The manifold of that normal, a new one if there is none.
int manifold_of(const Vec3d& normal, std::vector<Vec3d>& normals) {
  for (std::size_t m = 0; m < normals.size(); ++m) {
    if (dot(normals[m], normal) > 1.0 - kSameNormal) return static_cast<int>(m);
  }
  normals.push_back(normal);
  return static_cast<int>(normals.size()) - 1;
}

/// Keeps the deepest of too many points and every second, third ... other.
void thin_out(std::vector<SurfacePoint>& p) {
  if (p.size() <= kMostPoints) return;
  const auto deepest = std::min_element(
      p.begin(), p.end(), [](const auto& x, const auto& y) { return x.gap < y.gap; });
  std::swap(*deepest, p.front());
  const std::size_t stride = 1 + p.size() / kMostPoints;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < p.size(); i += stride) p[kept++] = p[i];
  p.resize(kept);
}

/// Points with their manifolds, each place once (the deeper of two).
void assign_manifolds(double size, ManifoldWorkspace& work) {
  std::vector<SurfacePoint>& p = work.points;
  work.normals.clear();
  const double same = kSamePoint * size * kSamePoint * size;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    p[i].manifold = manifold_of(p[i].normal, work.normals);
    bool known = false;
    for (std::size_t j = 0; j < kept && !known; ++j) {
      known =
          p[j].manifold == p[i].manifold &&
          (p[j].feature == p[i].feature || squared_norm(p[j].on_surface - p[i].on_surface) <= same);
      if (known && p[i].gap < p[j].gap) p[j] = p[i];
    }
    if (!known) p[kept++] = p[i];
  }
  p.resize(kept);
}

ManifoldPoint place(const SurfacePoint& p, const Transform& X_WS, bool surface_is_a) {
  return {midpoint(p, X_WS), p.gap, p.feature, witness_of(p, surface_is_a)};
}

/// Fills work.kept: manifolds represented by their deepest points, with the number as the feature,
/// and chosen as the points of one manifold would be.
void choose_manifolds(double size, ManifoldWorkspace& work) {
  work.candidates.clear();
  Vec3d mean{0, 0, 0};
  for (std::size_t m = 0; m < work.normals.size(); ++m) {
    const SurfacePoint* deepest = nullptr;
    for (const SurfacePoint& p : work.points) {
      if (p.manifold == static_cast<int>(m) && (deepest == nullptr || p.gap < deepest->gap)) {
        deepest = &p;
      }
    }
    mean += work.normals[m];
    if (deepest == nullptr) continue;
    work.candidates.push_back({deepest->on_surface, deepest->gap, std::uint32_t(m)});
  }
  const double length = norm(mean);
  const Vec3d axis = length > 0.0 ? mean * (1.0 / length) : Vec3d{0, 0, 1};
  const int count = static_cast<int>(work.candidates.size());
  work.candidates.resize(reduce(axis, size, kMaxManifolds, work.candidates.data(), count));
  work.kept.clear();
  for (const ManifoldPoint& p : work.candidates) work.kept.push_back(static_cast<int>(p.feature));
}

void unique_features(std::vector<Manifold>& manifolds) {
  const auto taken = [&](std::size_t m, int k) {
    const std::uint32_t id = manifolds[m].points[k].feature;
    for (std::size_t a = 0; a <= m; ++a) {
      const int count = a < m ? manifolds[a].count : k;
      for (int b = 0; b < count; ++b) {
        if (manifolds[a].points[b].feature == id) return true;
      }
    }
    return false;
  };
  for (std::size_t m = 0; m < manifolds.size(); ++m) {
    for (int k = 0; k < manifolds[m].count; ++k) {
      while (taken(m, k)) ++manifolds[m].points[k].feature;
    }
  }
}

}  // namespace

namespace {

/// Whether the ball has its centre in front of a triangle and does not reach it: then no point of
/// the ball over the triangle is nearer to it than what the ball is, nor behind it.
bool stays_in_front(const Surface& surface, int id, const Vec3d& centre, double radius) {
  constexpr double kSure = 1.0 + 1e-9;
  Vec3d v[3];
  surface.corners(id, v);
  const Vec3d n = cross(v[1] - v[0], v[2] - v[0]);
  if (!(dot(n, centre - v[0]) > 0.0)) return false;
  const double reach = kSure * radius;
  return squared_norm(closest_on_triangle(v, centre).p - centre) > reach * reach;
}

}  // namespace

void convex_on_surface(const Shape& s,
                       const Shape& convex,
                       const Transform& X_SC,
                       double margin,
                       ManifoldWorkspace& work) {
  const Surface surface(s);
  const Aabb box = grown(bounding_box(convex, X_SC), std::fmax(margin, 0.0));
  work.triangles.clear();
  work.boxes_tested = surface.overlapping(box, [&](int id) { work.triangles.push_back(id); });
  std::sort(work.triangles.begin(), work.triangles.end());
  work.triangles_tested = static_cast<std::int64_t>(work.triangles.size());
  const Aabb own = bounding_box(convex, Transform::identity());
  const double radius = convex.type == ShapeType::kSphere ? convex.size.x : norm(half_extents(own));
  ConvexOnSurface q{convex,
                    surface,
                    X_SC,
                    margin,
                    bounding_radius(convex),
                    X_SC * centre(own),
                    work.triangle,
                    work.points};
  SurfaceTriangle t;
  const double reach = radius + std::fmax(margin, 0.0);
  const auto far = [&](int id) { return stays_in_front(surface, id, q.centre, reach); };
  work.triangles.erase(std::remove_if(work.triangles.begin(), work.triangles.end(), far),
                       work.triangles.end());
  for (const int id : work.triangles) {
    convex.type == ShapeType::kSphere ? surface.face(id, t) : surface.triangle(id, t);
    triangle_contact(q, t);
  }
  contact_of_overlap(q, work);
}

void gather_manifolds(const Transform& X_WS,
                      double size,
                      bool surface_is_a,
                      ManifoldWorkspace& work) {
  thin_out(work.points);
  assign_manifolds(size, work);
  choose_manifolds(size, work);
  for (const int m : work.kept) {
    Manifold manifold;
    const Vec3d away = X_WS.R * work.normals[m];
    manifold.normal = surface_is_a ? away : -away;
    work.candidates.clear();
    for (const SurfacePoint& p : work.points) {
      if (p.manifold == m) work.candidates.push_back(place(p, X_WS, surface_is_a));
    }
    manifold.count = reduce(away,
                            size,
                            kMaxManifoldPoints,
                            work.candidates.data(),
                            static_cast<int>(work.candidates.size()));
    manifold.count = keep_line_ends(away, size, work.candidates.data(), manifold.count);
    std::copy_n(work.candidates.begin(), manifold.count, manifold.points);
    work.manifolds.push_back(manifold);
  }
  unique_features(work.manifolds);
}

}  // namespace detail

void contact_manifolds(const Shape& a,
                       const Transform& X_WA,
                       const Shape& b,
                       const Transform& X_WB,
                       double margin,
                       ManifoldWorkspace& work,
                       DistanceCache* cache) {
  using detail::hull_of, detail::is_convex_surface;
  work.manifolds.clear();
  work.points.clear();
  work.boxes_tested = work.triangles_tested = 0;
  if (a.bounded() && b.bounded()) {
    if (is_convex_surface(a)) {
      return contact_manifolds(hull_of(a), X_WA, b, X_WB, margin, work, cache);
    }
    if (is_convex_surface(b)) {
      return contact_manifolds(a, X_WA, hull_of(b), X_WB, margin, work, cache);
    }
  }
  if (!is_surface(a.type) && !is_surface(b.type)) {
    work.manifolds.resize(1);
    contact_manifold(a, X_WA, b, X_WB, margin, work.manifolds[0], cache);
    if (work.manifolds[0].count == 0) work.manifolds.clear();
    return;
  }
  detail::require_finite("contact_manifolds: X_WA", X_WA);
  detail::require_finite("contact_manifolds: X_WB", X_WB);
  const bool surface_is_a = is_surface(a.type);
  const Shape &s = surface_is_a ? a : b, &other = surface_is_a ? b : a;
  const Transform &X_WS = surface_is_a ? X_WA : X_WB, &X_WO = surface_is_a ? X_WB : X_WA;
  const Transform X_SO = relative(X_WS, X_WO);
  if (s.type == ShapeType::kHeightField && other.type == ShapeType::kSphere) {
    const double radius = other.size.x;
    if (detail::ball_on_field(detail::Surface(s), radius, X_SO.p, margin, work.points)) {
      if (!work.points.empty()) detail::gather_manifolds(X_WS, radius, surface_is_a, work);
      return;
    }
    work.points.clear();
  }
  double size = bounding_radius(other);
  if (is_surface(other.type)) {
    detail::surface_on_surface(s, other, X_SO, margin, work);
    size = std::fmin(size, bounding_radius(s));
  } else if (!other.bounded()) {
    detail::half_space_on_surface(s, X_SO, margin, work);
    size = bounding_radius(s);
  } else {
    detail::convex_on_surface(s, other, X_SO, margin, work);
  }
  if (other.bounded()) {
    if (detail::deepest(work.points) > detail::kFlush * size) {
      detail::contacts_inside(s, other, X_SO, size, work);
    }
    detail::limit_depth(s, other, X_SO, size, work.points);
  }
  detail::gather_manifolds(X_WS, size, surface_is_a, work);
}

}  // namespace stiction
