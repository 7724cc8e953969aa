#include "collision/derivatives/touching_feature.hpp"

#include "stiction/math/constants.hpp"
#include "stiction/math/lanes.hpp"

#include "geometry/mesh_features.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::detail {
namespace {

constexpr double kLevel = 1e-6;  // sine up to which a direction is normal to an edge or face
constexpr double kAtEnd = 1e-9;  // of the length: a point this near to the end of an edge is there
constexpr double kLow = 1e-7;    // of the size: a point this far below the farthest is not there
constexpr double kFlatFace = 1e-12;  // 1 - cosine of kLevel

void add_direction(const ContactSide& s, const Vec3d& e_S, PointFeature& f) {
  f.e[f.flat++] = s.X.R * e_S;
}

void add_plane(const ContactSide& s, const Vec3d& normal_S, PointFeature& f) {
  const PointFeature plane = plane_feature(s.X.R * normal_S);
  f.flat = 2;
  f.e[0] = plane.e[0];
  f.e[1] = plane.e[1];
}

void box_feature(const ContactSide& s, const Vec3d& d, const Vec3d& p, PointFeature& f) {
  Vec3d axis{0, 0, 0};
  const auto room = [&](int k) { return s.core.half[k] - std::abs(p[k]); };
  for (int k = 0; k < 3; ++k) {
    if (std::abs(d[k]) <= 1.0 - kFlatFace) continue;
    axis[k] = 1.0;
    add_plane(s, axis, f);
    f.room = std::min(room((k + 1) % 3), room((k + 2) % 3));
    return;
  }
  for (int k = 0; k < 3; ++k) {
    if (std::abs(d[k]) > kLevel) {
      f.lean = std::min(f.lean, std::abs(d[k]));
      continue;
    }
    axis[k] = 1.0;
    f.room = room(k);
    if (f.room > kAtEnd * s.core.half[k]) add_direction(s, axis, f);
  }
}

/// From the border of a face that holds p [m].
double room_in(const ConvexMesh& m, const ConvexMesh::Face& face, const Vec3d& p) {
  const int* loop = m.face_vertices.data() + face.first;
  double room = kInfinity;
  for (int k = 0; k < face.count; ++k) {
    const Vec3d &a = m.vertices[loop[k]], &b = m.vertices[loop[k + 1 == face.count ? 0 : k + 1]];
    room = std::min(room, dot(face.normal, cross(b - a, p - a)) / norm(b - a));
  }
  return room;
}

void mesh_feature(const ContactSide& s, const Vec3d& d, const Vec3d& p, PointFeature& f) {
  const ConvexMesh& m = *s.core.mesh;
  const int v = mesh_support(m, d);
  const ConvexMesh::Face& face = m.faces[face_along(m, v, d)];
  if (dot(face.normal, d) > 1.0 - kFlatFace) {
    add_plane(s, face.normal, f);
    f.room = room_in(m, face, p);
    return;
  }
  const int w = level_neighbour(m, v, d, 1.0);
  const Vec3d along = m.vertices[w] - m.vertices[v];
  const double length = norm(along), slope = std::abs(dot(along, d)) / length;
  if (slope >= kLevel) {
    f.lean = slope;
    return;
  }
  const double at = dot(along, p - m.vertices[v]) / (length * length);
  f.lean = norm(face.normal - d);
  f.room = std::min(at, 1.0 - at) * length;
  if (f.room > kAtEnd * length) add_direction(s, along * (1.0 / length), f);
}

void ellipsoid_feature(const ContactSide& s, const Vec3d& d, PointFeature& f) {
  const Vec3d& h = s.core.half;
  const Vec3d q{h.x * h.x * d.x, h.y * h.y * d.y, h.z * h.z * d.z};
  const double i = 1.0 / std::sqrt(dot(q, d));
  Mat3d H = outer(q * (-i * i * i), q);
  for (int k = 0; k < 3; ++k) H.column(k)[k] += h[k] * h[k] * i;
  f.by_normal = scaled(s.X.R * H * transpose(s.X.R), s.sign());
}

bool round_feature(const ContactSide& s, const Vec3d& d, const Vec3d& p, PointFeature& f) {
  const double across = length(d.x, d.y), r = s.core.half.x, l = s.core.half.z;
  const bool cone = s.core.type == ShapeType::kCone;
  const Vec3d down{cone ? r : 0.0, 0.0, -2.0 * l};  // along the side
  const double slope = std::abs(across * down.x + d.z * down.z) / norm(down);
  if (across < kLevel) {
    if (cone && d.z > 0.0) return true;
    add_plane(s, {0, 0, 1}, f);
    f.room = r - length(p.x, p.y);
    return true;
  }
  const double end = l * (1.0 - kAtEnd);
  if (slope < kLevel) {
    f.room = l - std::abs(p.z);
  } else {
    f.lean = std::min(slope, cone && p.z > end ? slope : across);
  }
  if (cone && p.z > end) return true;
  f.by_normal = scaled(turn_about_axis(s, s.outward, 0.0), s.sign());
  if (std::abs(p.z) > end) return true;
  const Vec3d line = cone ? Vec3d{0, 0, l} - p : Vec3d{0, 0, 1};
  add_direction(s, line * (1.0 / norm(line)), f);
  return slope < kLevel;
}

void capsule_feature(const ContactSide& s, const Vec3d& p, PointFeature& f) {
  const double rise = std::abs(s.local_direction(s.outward).z);
  const double room =
      s.core.half.z - std::abs(p.z - s.core.radius * s.local_direction(s.outward).z);
  if (room > kAtEnd * s.core.half.z) add_direction(s, {0, 0, 1}, f);
  (rise < kLevel ? f.room : f.lean) = rise < kLevel ? room : rise;
}

/// Is p (frame of the shape) as far along d as the shape is?
bool is_farthest(const Core& core, const Vec3d& d, const Vec3d& p) {
  int number;
  const Vec3d top = core_support(core, d, number);
  return std::abs(dot(d, top - p) + core.radius) <= kLow * (norm(top) + norm(p) + core.radius);
}

}  // namespace

// p = r(z) rho + z a with rho along the part of d across the axis a: with l its length,
// d rho = (a x rho)((a x rho) . dd) / l. All points of a rim turn together.
Mat3d turn_about_axis(const ContactSide& side, const Vec3d& d, double level) {
  const Vec3d& axis = side.X.R.c2;
  const Vec3d out = d - axis * dot(axis, d);
  const double length = norm(out);
  if (!(length > level)) return kZero;
  return outer(cross(axis, side.p - side.X.p) * (1.0 / length), cross(axis, out * (1.0 / length)));
}

bool touching_feature(const ContactSide& s, PointFeature& f) {
  const Vec3d d = s.local_direction(s.outward), p = s.local(s.p);
  f = {};
  if (s.core.type != ShapeType::kHalfSpace && !is_farthest(s.core, d, p)) return false;
  if (s.core.radius > 0.0) f.by_normal = scaled(across(s.outward), s.sign() * s.core.radius);
  switch (s.core.type) {
    case ShapeType::kSphere:
      return true;
    case ShapeType::kCapsule:
      capsule_feature(s, p, f);
      return true;
    case ShapeType::kBox:
      box_feature(s, d, p, f);
      return true;
    case ShapeType::kConvexMesh:
      mesh_feature(s, d, p, f);
      return true;
    case ShapeType::kCylinder:
    case ShapeType::kCone:
      return round_feature(s, d, p, f);
    case ShapeType::kEllipsoid:
      ellipsoid_feature(s, d, f);
      return true;
    case ShapeType::kHalfSpace:
      add_plane(s, {0, 0, 1}, f);
      return true;
    default:
      return false;
  }
}

}  // namespace stiction::detail
