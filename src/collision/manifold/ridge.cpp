#include "collision/manifold/ridge.hpp"

#include "geometry/mesh_features.hpp"
#include "geometry/mesh_support.hpp"

namespace stiction::detail {
namespace {

constexpr double kSteep = 0.3;     // sine of the angle to the plane normal to n
constexpr double kGrazing = 1e-6;  // cosine below which a ray runs along a face

Vec3d across(const Vec3d& axis, const Vec3d& v) { return v - axis * dot(axis, v); }

bool level(const Ridge& ridge, const Vec3d& n) {
  const Vec3d along = ridge.ends[1] - ridge.ends[0];
  return std::abs(dot(n, along)) <= kSteep * norm(along);
}

bool side(const Shape& shape, const Transform& X, const Vec3d& n, Ridge& ridge) {
  const double r = shape.size.x, l = shape.size.y;
  const Vec3d out = across(X.R.c2, n);
  const double length = norm(out);
  if (!(l > 0.0 && length > kSteep)) return false;
  const bool cone = shape.type == ShapeType::kCone;
  ridge.round = true;
  ridge.centre = X.p;
  ridge.axis = X.R.c2;
  ridge.half = l;
  ridge.radius = cone ? 0.5 * r : r;
  ridge.slope = cone ? -0.5 * r / l : 0.0;
  for (int end = 0; end < 2; ++end) {
    const double z = end == 0 ? -l : l;
    ridge.ends[end] = X.p + X.R.c2 * z + out * ((ridge.radius + ridge.slope * z) / length);
  }
  return level(ridge, n);
}

void set_edge(const Vec3d& from, const Vec3d& to, Ridge& ridge) {
  ridge.round = false;
  ridge.slope = 0.0;
  ridge.ends[0] = from;
  ridge.ends[1] = to;
  ridge.centre = midpoint(from, to);
  const double length = norm(to - from);
  ridge.axis = (to - from) * (1.0 / length);
  ridge.half = 0.5 * length;
}

bool box_edge(const Vec3d& h, const Transform& X, const Vec3d& n, Ridge& ridge) {
  const Vec3d d = transpose_times(X.R, n);
  const double x = std::abs(d.x), y = std::abs(d.y), z = std::abs(d.z);
  const int k = x <= y && x <= z ? 0 : (y <= z ? 1 : 2);
  Vec3d corner{d.x < 0.0 ? -h.x : h.x, d.y < 0.0 ? -h.y : h.y, d.z < 0.0 ? -h.z : h.z};
  for (int i = 0, face = 0; i < 3; ++i) {
    if (i == k) continue;
    ridge.normals[face] = X.R.column(i) * (d[i] < 0.0 ? -1.0 : 1.0);
    ridge.offsets[face] = h[i] + dot(ridge.normals[face], X.p);
    ridge.faces[face] = i;
    ++face;
  }
  corner[k] = -h[k];
  const Vec3d from = X * corner;
  corner[k] = h[k];
  set_edge(from, X * corner, ridge);
  return level(ridge, n);
}

bool mesh_edge(const ConvexMesh& mesh, const Transform& X, const Vec3d& n, Ridge& ridge) {
  const Vec3d d = transpose_times(X.R, n);
  const int v = mesh_support(mesh, d);
  const int best = level_neighbour(mesh, v, d, kSteep);
  if (best == v) return false;
  int found = 0;
  for (int i = mesh.vertex_face_start[v]; i < mesh.vertex_face_start[v + 1]; ++i) {
    for (int j = mesh.vertex_face_start[best]; j < mesh.vertex_face_start[best + 1]; ++j) {
      if (mesh.vertex_faces[i] != mesh.vertex_faces[j] || found == 2) continue;
      const ConvexMesh::Face& face = mesh.faces[mesh.vertex_faces[i]];
      ridge.normals[found] = X.R * face.normal;
      ridge.offsets[found] = face.offset + dot(ridge.normals[found], X.p);
      ridge.faces[found] = mesh.vertex_faces[i];
      ++found;
    }
  }
  if (found < 2) return false;  // a diagonal of a merged face
  set_edge(X * mesh.vertices[v < best ? v : best], X * mesh.vertices[v < best ? best : v], ridge);
  return true;
}

bool box_face_holds(const Vec3d& h, int axis, const Vec3d& q, double rim) {
  for (int k = 0; k < 3; ++k) {
    if (k != axis && std::abs(q[k]) > h[k] + rim) return false;
  }
  return true;
}

bool mesh_face_holds(const ConvexMesh& mesh,
                     const ConvexMesh::Face& face,
                     const Vec3d& q,
                     double rim) {
  const int* loop = mesh.face_vertices.data() + face.first;
  const auto corner = [&](int i) -> const Vec3d& { return mesh.vertices[loop[i]]; };
  return over_polygon(face.count, corner, face.normal, q, rim);
}

}  // namespace

// |across(p + gap n - centre)| = radius + slope z: a quadratic, of which the first root counts.
bool Ridge::enter_round(const Vec3d& p, const Vec3d& n, double& gap) const {
  const Vec3d q = across(axis, p - centre), d = across(axis, n);
  const double at = radius + slope * dot(axis, p - centre), change = slope * dot(axis, n);
  const double a = squared_norm(d) - change * change, b = dot(q, d) - at * change;
  const double discriminant = b * b - a * (squared_norm(q) - at * at);
  if (!(a > 0.0 && discriminant >= 0.0)) return false;
  gap = -(b + std::sqrt(discriminant)) / a;
  return true;
}

// The later of the two planes, on the face itself.
bool Ridge::enter_wedge(const Vec3d& p, const Vec3d& n, double rim, double& gap) const {
  gap = -HUGE_VAL;
  int on = -1;
  for (int i = 0; i < 2; ++i) {
    const double towards = -dot(normals[i], n);
    if (!(towards > kGrazing)) continue;
    const double g = (dot(normals[i], p) - offsets[i]) / towards;
    if (g > gap) gap = g, on = i;
  }
  if (on < 0) return false;
  const Vec3d q = transpose_times(X.R, p + n * gap - X.p);
  if (shape->type == ShapeType::kBox) return box_face_holds(shape->size, faces[on], q, rim);
  return mesh_face_holds(*shape->mesh, shape->mesh->faces[faces[on]], q, rim);
}

bool Ridge::enter(const Vec3d& p, const Vec3d& n, double rim, double& gap) const {
  if (!round) return enter_wedge(p, n, rim, gap);
  return enter_round(p, n, gap) && std::abs(dot(axis, p + n * gap - centre)) <= half + rim;
}

bool ridge_towards(const Shape& shape, const Transform& X, const Vec3d& n, Ridge& ridge) {
  ridge.shape = &shape;
  ridge.X = X;
  switch (shape.type) {
    case ShapeType::kCapsule:
    case ShapeType::kCylinder:
    case ShapeType::kCone:
      return side(shape, X, n, ridge);
    case ShapeType::kBox:
      return box_edge(shape.size, X, n, ridge);
    case ShapeType::kConvexMesh:
      return mesh_edge(*shape.mesh, X, n, ridge);
    default:
      return false;
  }
}

}  // namespace stiction::detail
