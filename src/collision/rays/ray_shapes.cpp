#include "collision/rays/ray_shapes.hpp"

#include "collision/surface/surface.hpp"

// Closed forms: the ray o + t d enters a convex solid at the largest t at which it enters one of
// the surfaces that bound it, if no other has been left before.

namespace stiction::detail {
namespace {

/// The interval of a ray inside the parts of a convex solid met so far.
struct Interval {
  double enter = -kInfinity, leave = kInfinity;
  Vec3d normal{0, 0, 0};

  void meet(double from, double to, const Vec3d& n) {
    if (from > enter) {
      enter = from;
      normal = n;
    }
    leave = std::fmin(leave, to);
  }
  /// Half-space n . x <= offset.
  void plane(const Vec3d& o, const Vec3d& d, const Vec3d& n, double offset) {
    const double speed = dot(n, d), height = dot(n, o) - offset;
    if (speed < 0.0) meet(-height / speed, kInfinity, n);
    if (speed > 0.0) meet(-kInfinity, -height / speed, n);
    if (speed == 0.0 && height > 0.0) leave = -kInfinity;
  }
  bool entered(double max_distance, RayHit& hit) const {
    if (!(enter >= 0.0 && enter <= leave && enter <= max_distance)) return false;
    hit.distance = enter;
    hit.normal = normal;
    return true;
  }
};

/// Roots of a t^2 + 2 b t + c, a > 0; false if there are none.
bool roots(double a, double b, double c, double& t0, double& t1) {
  const double discriminant = b * b - a * c;
  if (!(discriminant >= 0.0)) return false;
  const double q = -(b + std::copysign(std::sqrt(discriminant), b));
  const double r0 = q / a, r1 = q != 0.0 ? c / q : r0;
  t0 = std::fmin(r0, r1);
  t1 = std::fmax(r0, r1);
  return true;
}

/// From a point near the solid: far origins would lose the digits of c in the discriminant.
struct Nearby {
  Vec3d o;
  double shift;  ///< t of o
  Nearby(const Vec3d& origin, const Vec3d& d) : shift(-dot(origin, d)) { o = origin + d * shift; }
};

bool ray_sphere(
    const Vec3d& centre, double r, const Vec3d& o, const Vec3d& d, double most, RayHit& hit) {
  const Nearby near(o - centre, d);
  double t0, t1;
  if (!roots(1.0, dot(near.o, d), squared_norm(near.o) - r * r, t0, t1)) return false;
  const double t = near.shift + t0;
  if (!(t >= 0.0 && t <= most)) return false;
  hit.distance = t;
  const Vec3d n = near.o + d * t0;
  hit.normal = n * (1.0 / norm(n));
  return true;
}

// Unit sphere in scaled coordinates; t is the same there.
bool ray_ellipsoid(const Vec3d& s, const Vec3d& o, const Vec3d& d, double most, RayHit& hit) {
  const Vec3d e{d.x / s.x, d.y / s.y, d.z / s.z}, p{o.x / s.x, o.y / s.y, o.z / s.z};
  const double ee = squared_norm(e), shift = -dot(p, e) / ee;
  const Vec3d near = p + e * shift;
  double t0, t1;
  if (!roots(ee, dot(near, e), squared_norm(near) - 1.0, t0, t1)) return false;
  const double t = shift + t0;
  if (!(t >= 0.0 && t <= most)) return false;
  const Vec3d u = near + e * t0, n{u.x / s.x, u.y / s.y, u.z / s.z};
  hit.distance = t;
  hit.normal = n * (1.0 / norm(n));
  return true;
}

// Infinite cylinder x^2 + y^2 <= r^2.
bool meet_cylinder(double r, const Vec3d& o, const Vec3d& d, Interval& in) {
  const double a = d.x * d.x + d.y * d.y, c = o.x * o.x + o.y * o.y - r * r;
  if (!(a > 0.0)) return c <= 0.0;
  const double shift = -(o.x * d.x + o.y * d.y) / a;
  const double x = o.x + d.x * shift, y = o.y + d.y * shift;
  double t0, t1;
  if (!roots(a, x * d.x + y * d.y, x * x + y * y - r * r, t0, t1)) return false;
  const Vec3d n{x + d.x * t0, y + d.y * t0, 0.0};
  in.meet(shift + t0, shift + t1, n * (1.0 / norm(n)));
  return true;
}

bool ray_cylinder(double r, double l, const Vec3d& o, const Vec3d& d, double most, RayHit& hit) {
  Interval in;
  in.plane(o, d, {0, 0, 1}, l);
  in.plane(o, d, {0, 0, -1}, l);
  return meet_cylinder(r, o, d, in) && in.entered(most, hit);
}

// Mantle or an end, whichever the ray enters first; inside one of them is inside the capsule.
bool ray_capsule(double r, double l, const Vec3d& o, const Vec3d& d, double most, RayHit& hit) {
  const Vec3d on_axis{0.0, 0.0, std::fmin(std::fmax(o.z, -l), l)};
  if (squared_norm(o - on_axis) < r * r) return false;
  RayHit best, one;
  if (ray_cylinder(r, l, o, d, most, one) && one.normal.z == 0.0) best = one;
  for (const double z : {-l, l}) {
    if (ray_sphere({0, 0, z}, r, o, d, std::fmin(most, best.distance), one) &&
        one.distance < best.distance) {
      best = one;
    }
  }
  if (best.distance == kInfinity) return false;
  hit.distance = best.distance;
  hit.normal = best.normal;
  return true;
}

// x^2 + y^2 <= k^2 (l - z)^2 with k = r / 2 l and z <= l, over the base. With u = l - z:
// a t^2 + 2 b t + c <= 0; where a < 0 the ray is steeper than the mantle and inside beyond a root.
bool ray_cone(double r, double l, const Vec3d& origin, const Vec3d& d, double most, RayHit& hit) {
  const double shift = std::fmax(0.0, -dot(origin, d));
  const Vec3d o = origin + d * shift;
  const double k = r / (2.0 * l), kk = k * k, u = l - o.z;
  const double a = d.x * d.x + d.y * d.y - kk * d.z * d.z;
  const double b = o.x * d.x + o.y * d.y + kk * u * d.z, c = o.x * o.x + o.y * o.y - kk * u * u;
  double at[3];
  int count = 0;
  if (std::abs(a) > 1e-14) {
    const double discriminant = b * b - a * c;
    if (discriminant >= 0.0) {
      const double q = -(b + std::copysign(std::sqrt(discriminant), b));
      at[count++] = q / a;
      if (q != 0.0) at[count++] = c / q;
    }
  } else if (b != 0.0) {
    at[count++] = -0.5 * c / b;
  }
  RayHit best;
  for (int i = 0; i < count; ++i) {
    const Vec3d p = o + d * at[i];
    if (std::abs(p.z) > l) continue;  // the other half of the double cone, or below the base
    Vec3d n{p.x, p.y, kk * (l - p.z)};
    const double t = at[i] + shift, length = norm(n);
    n = length > 0.0 ? n * (1.0 / length) : -d;
    if (dot(n, d) < 0.0 && t >= 0.0 && t < best.distance) best = {t, n, -1};
  }
  if (d.z > 0.0) {
    const double t = (-l - o.z) / d.z + shift;
    const Vec3d p = origin + d * t;
    if (t >= 0.0 && t < best.distance && p.x * p.x + p.y * p.y <= r * r) best = {t, {0, 0, -1}, -1};
  }
  if (!(best.distance <= most)) return false;
  hit.distance = best.distance;
  hit.normal = best.normal;
  return true;
}

bool ray_box(const Vec3d& h, const Vec3d& o, const Vec3d& d, double most, RayHit& hit) {
  Interval in;
  for (int k = 0; k < 3; ++k) {
    Vec3d n{0, 0, 0};
    n[k] = 1.0;
    in.plane(o, d, n, h[k]);
    in.plane(o, d, -n, h[k]);
  }
  return in.entered(most, hit);
}

bool ray_hull(const ConvexMesh& mesh, const Vec3d& o, const Vec3d& d, double most, RayHit& hit) {
  Interval in;
  for (const ConvexMesh::Face& face : mesh.faces) {
    in.plane(o, d, face.normal, face.offset);
    if (in.enter > in.leave) return false;
  }
  return in.entered(most, hit);
}

// The signed volumes of neighbours are each other's negatives to the last bit: a ray through an
// edge hits at least one of its triangles.
bool ray_triangle(const Vec3d v[3], const Vec3d& o, const Vec3d& d, double most, double& t) {
  const Vec3d a = v[0] - o, b = v[1] - o, c = v[2] - o;
  const double u = dot(d, cross(c, b)), w = dot(d, cross(a, c)), z = dot(d, cross(b, a));
  if (!(u >= 0.0 && w >= 0.0 && z >= 0.0)) return false;  // from outside only
  const double sum = u + w + z;
  if (!(sum > 0.0)) return false;
  const Vec3d n = cross(v[1] - v[0], v[2] - v[0]);
  const double speed = dot(n, d);
  if (!(speed < 0.0)) return false;
  t = dot(n, a) / speed;
  return t >= 0.0 && t <= most;
}

struct SurfaceRay {
  const Surface& surface;
  const Vec3d &o, &d;
  double most;
  int id = -1;

  void offer(int triangle) {
    Vec3d v[3];
    surface.corners(triangle, v);
    double t;
    if (!ray_triangle(v, o, d, most, t)) return;
    if (t == most && id >= 0 && triangle > id) return;
    most = t;
    id = triangle;
  }
};

// Blocks of cells from coarse to fine: over each, the ray is entered between two t and lies above
// its lower end there; below the block's highest sample it may hit.
void descend_field(const HeightField& f, SurfaceRay& ray) {
  struct Block {
    int level, i, j;
  } stack[4 * 32];
  int top = 0;
  stack[top++] = {static_cast<int>(f.levels.size()) - 1, 0, 0};
  while (top > 0) {
    const Block b = stack[--top];
    const HeightField::Level& level = f.levels[b.level];
    if (b.i >= level.nx || b.j >= level.ny) continue;
    const int width = 1 << b.level;
    const Vec3d lower{f.x0 + b.i * width * f.dx, f.y0 + b.j * width * f.dy, -kInfinity};
    const Aabb box{lower,
                   {f.x0 + std::min((b.i + 1) * width, f.cells_x()) * f.dx,
                    f.y0 + std::min((b.j + 1) * width, f.cells_y()) * f.dy,
                    level.upper[static_cast<std::size_t>(b.j) * level.nx + b.i]}};
    if (!ray_meets_box(box, ray.o, ray.d, ray.most)) continue;
    if (b.level == 0) {
      const int cell = b.j * f.cells_x() + b.i;
      ray.offer(2 * cell);
      ray.offer(2 * cell + 1);
      continue;
    }
    // The child the ray reaches first is looked at first.
    const int near_i = ray.d.x < 0.0 ? 1 : 0, near_j = ray.d.y < 0.0 ? 1 : 0;
    for (int n = 3; n >= 0; --n) {
      stack[top++] = {b.level - 1, 2 * b.i + ((n & 1) ^ near_i), 2 * b.j + ((n >> 1) ^ near_j)};
    }
  }
}

bool ray_surface(const Shape& s, const Vec3d& o, const Vec3d& d, double most, RayHit& hit) {
  const Surface surface(s);
  SurfaceRay ray{surface, o, d, most};
  if (surface.mesh != nullptr) {
    surface.mesh->bvh.descend([&](const Aabb& b) { return ray_meets_box(b, o, d, ray.most); },
                              [&](int id) { ray.offer(id); });
  } else {
    descend_field(*surface.field, ray);
  }
  if (ray.id < 0) return false;
  hit.distance = ray.most;
  hit.normal =
      surface.mesh != nullptr ? surface.mesh->normals[ray.id] : surface.field->normal(ray.id);
  return true;
}

}  // namespace

bool ray_meets_box(const Aabb& box, const Vec3d& o, const Vec3d& d, double most) {
  double enter = 0.0, leave = most;
  for (int k = 0; k < 3; ++k) {
    if (d[k] == 0.0) {
      if (o[k] < box.lower[k] || o[k] > box.upper[k]) return false;
      continue;
    }
    const double s = 1.0 / d[k];
    const double t0 = (box.lower[k] - o[k]) * s, t1 = (box.upper[k] - o[k]) * s;
    enter = std::fmax(enter, std::fmin(t0, t1));
    leave = std::fmin(leave, std::fmax(t0, t1));
  }
  // Rounding of the products must not lose a ray that runs in a face of the box.
  return enter <= leave * (1.0 + 1e-14) + 1e-300;
}

bool ray_shape(const Shape& s, const Vec3d& o, const Vec3d& d, double most, RayHit& hit) {
  switch (s.type) {
    case ShapeType::kSphere:
      return ray_sphere({0, 0, 0}, s.size.x, o, d, most, hit);
    case ShapeType::kCapsule:
      return ray_capsule(s.size.x, s.size.y, o, d, most, hit);
    case ShapeType::kBox:
      return ray_box(s.size, o, d, most, hit);
    case ShapeType::kHalfSpace: {
      Interval in;
      in.plane(o, d, {0, 0, 1}, 0.0);
      return in.entered(most, hit);
    }
    case ShapeType::kConvexMesh:
      return ray_hull(*s.mesh, o, d, most, hit);
    case ShapeType::kCylinder:
      return ray_cylinder(s.size.x, s.size.y, o, d, most, hit);
    case ShapeType::kCone:
      return ray_cone(s.size.x, s.size.y, o, d, most, hit);
    case ShapeType::kEllipsoid:
      return ray_ellipsoid(s.size, o, d, most, hit);
    case ShapeType::kHeightField:
    case ShapeType::kTriangleMesh:
      return ray_surface(s, o, d, most, hit);
  }
  return false;
}

}  // namespace stiction::detail
