#include "collision/convex/core_feature.hpp"

#include "geometry/mesh_features.hpp"

#include <algorithm>

namespace stiction::detail {
namespace {

using Kind = CoreFeature::Kind;

constexpr double kNearCap = 0.9;    // |d.z| above which a cap or base is a candidate
constexpr double kOffRim = 0.9999;  // of the radius: a witness farther out is on the rim

Vec3d radial(const Vec3d& d) {
  const double l = std::sqrt(d.x * d.x + d.y * d.y), s = l > 0.0 ? 1.0 / l : 0.0;
  return l > 0.0 ? Vec3d{d.x * s, d.y * s, 0.0} : Vec3d{1.0, 0.0, 0.0};
}

CoreFeature point(const Vec3d& p, int number) {
  return {.kind = Kind::kPoint, .id = std::uint32_t(number), .p = p};
}

CoreFeature segment(const Vec3d& from, const Vec3d& to) {
  const Vec3d half = (to - from) * 0.5;
  const double l = norm(half);
  CoreFeature f{.kind = Kind::kSegment, .p = midpoint(from, to), .flat = 1};
  f.e[0] = half * (1.0 / l);
  f.reach[0] = l;
  return f;
}

CoreFeature rim(const Core& c, double z) {
  return {.kind = Kind::kRim, .id = z > 0.0, .p = {0.0, 0.0, z}, .radius = c.half.x};
}

CoreFeature disc(const Core& c, double z) {
  CoreFeature f{
      .kind = Kind::kDisc, .id = z > 0.0, .p = {0.0, 0.0, z}, .flat = 2, .radius = c.half.x};
  f.e[0] = {1.0, 0.0, 0.0};
  f.e[1] = {0.0, 1.0, 0.0};
  f.reach[0] = f.reach[1] = c.half.x;
  return f;
}

CoreFeature side(const Core& c) {
  CoreFeature f{.kind = Kind::kSide, .flat = 1, .radius = c.half.x, .slope = 0.0};
  f.reach[0] = c.half.z;
  if (c.type == ShapeType::kCone) {
    f.reach[0] = std::sqrt(0.25 * c.half.x * c.half.x + c.half.z * c.half.z);
    f.radius = 0.5 * c.half.x;
    f.slope = f.radius / f.reach[0];
  }
  return f;
}

struct List {
  CoreFeature* features;
  int count = 0;
  void add(const CoreFeature& f) {
    if (count < kMaxFeatures) features[count++] = f;
  }
};

// `free`: bits of the axes along which the feature extends; the other coordinates are those of the
// corner nearest to the witness.
CoreFeature box_feature(const Core& c, const Vec3d& witness, int free) {
  const Vec3d& h = c.half;
  CoreFeature f{.kind = Kind::kPoint, .id = std::uint32_t(free)};
  const double x[3] = {witness.x, witness.y, witness.z}, half[3] = {h.x, h.y, h.z};
  double p[3];
  for (int k = 0; k < 3; ++k) {
    p[k] = free >> k & 1 ? 0.0 : std::copysign(half[k], x[k]);
    f.id = 2 * f.id + (p[k] > 0.0);
    if (!(free >> k & 1)) continue;
    f.e[f.flat] = {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
    f.reach[f.flat++] = half[k];
  }
  f.p = {p[0], p[1], p[2]};
  f.kind = f.flat == 0 ? Kind::kPoint : f.flat == 1 ? Kind::kSegment : Kind::kRectangle;
  return f;
}

void box_features(const Core& c,
                  const Vec3d& d,
                  const Vec3d& witness,
                  const int* numbers,
                  int count,
                  List& list) {
  const double steep[3] = {std::abs(d.x), std::abs(d.y), std::abs(d.z)};
  int low = 0, high = 0;
  for (int k = 1; k < 3; ++k) {
    if (steep[k] < steep[low]) low = k;
    if (steep[k] >= steep[high]) high = k;
  }
  int spanned = 0;
  for (int i = 1; i < count; ++i) spanned |= numbers[i] ^ numbers[0];
  if (spanned == 7) spanned = 7 & ~(1 << high);
  const int tries[4] = {spanned, 0, 1 << low, 7 & ~(1 << high)};
  for (int i = 0; i < 4; ++i) {
    if (i == 0 || tries[i] != spanned) list.add(box_feature(c, witness, tries[i]));
  }
}

// The plane through v normal to n, which need not be unit.
CoreFeature polygon(const ConvexMesh& m, int v, int next, const Vec3d& n) {
  CoreFeature f{.kind = Kind::kPolygon, .p = m.vertices[v], .flat = 2, .mesh = &m};
  const Vec3d along = m.vertices[next] - m.vertices[v], side = cross(n, along);
  f.e[0] = along * (1.0 / norm(along));
  f.e[1] = side * (1.0 / norm(side));
  return f;
}

// The face at v that looks along d.
CoreFeature mesh_face(const ConvexMesh& m, int v, const Vec3d& d) {
  const int best = face_along(m, v, d);
  const ConvexMesh::Face& face = m.faces[best];
  const int* loop = m.face_vertices.data() + face.first;
  CoreFeature f = polygon(m, loop[0], loop[1], face.normal);
  f.loop = loop;
  f.id = std::uint32_t(best);
  f.corners = face.count;
  return f;
}

// Faces are merged to 1e-7 of the extent only: the triangle that was found may tell better.
CoreFeature mesh_triangle(const ConvexMesh& m, const int numbers[3]) {
  const Vec3d& v = m.vertices[numbers[0]];
  const Vec3d n = cross(m.vertices[numbers[1]] - v, m.vertices[numbers[2]] - v);
  CoreFeature f = polygon(m, numbers[0], numbers[1], n);
  f.corners = 3;
  for (int k = 0; k < 3; ++k) {
    f.triangle[k] = numbers[k];
    f.id += mix(0, std::uint32_t(numbers[k]));  // in any order
  }
  return f;
}

CoreFeature mesh_edge(const ConvexMesh& m, int v, int w) {
  CoreFeature f = segment(m.vertices[v], m.vertices[w]);
  f.id = mix(std::min(v, w), std::max(v, w));
  return f;
}

void mesh_features(const Core& c, const Vec3d& d, const int* numbers, int count, List& list) {
  const ConvexMesh& m = *c.mesh;
  int distinct = 0, corner[4];
  for (int i = 0; i < count; ++i) {
    if (std::find(corner, corner + distinct, numbers[i]) == corner + distinct) {
      corner[distinct++] = numbers[i];
    }
  }
  const int v = mesh_support(m, d);
  if (distinct == 1) list.add(point(m.vertices[v], v));
  if (distinct == 2) list.add(mesh_edge(m, corner[0], corner[1]));
  if (distinct == 3) list.add(mesh_triangle(m, corner));
  list.add(mesh_face(m, v, d));
  if (distinct != 2) list.add(mesh_edge(m, v, level_neighbour(m, v, d, HUGE_VAL)));
  if (distinct != 1) list.add(point(m.vertices[v], v));
}

void round_features(
    const Core& c, const Vec3d& d, const Vec3d& witness, const Vec3d* used, int count, List& list) {
  bool low = false, high = false;
  for (int i = 0; i < count; ++i) (used[i].z > 0.0 ? high : low) = true;
  const bool cone = c.type == ShapeType::kCone, both = low && high;
  const double z = !cone && (both ? witness.z : used[0].z) > 0.0 ? c.half.z : -c.half.z;
  const double inner = c.half.x * kOffRim;
  const bool flat = !both && !(cone && high) && std::abs(d.z) > kNearCap &&
                    witness.x * witness.x + witness.y * witness.y < inner * inner;
  const bool apex = cone && high && !low;
  if (both) list.add(side(c));
  if (apex) list.add(point({0.0, 0.0, c.half.z}, 1));
  if (flat) list.add(disc(c, z));
  list.add(rim(c, z));
  if (!both) list.add(side(c));
  if (!flat && std::abs(d.z) > kNearCap) list.add(disc(c, z));
  if (cone && !apex) list.add(point({0.0, 0.0, c.half.z}, 1));
}

}  // namespace

FeatureAt feature_at(const Core& core, const CoreFeature& f, const Vec3d& d) {
  if (f.kind == Kind::kEllipsoid) return {smooth_support(core, d), {}};
  if (f.kind != Kind::kRim && f.kind != Kind::kSide) return {f.p, {f.e[0], f.e[1]}};
  const Vec3d rho = radial(d), p = f.p + rho * f.radius;
  if (f.kind == Kind::kRim) return {p, {}};
  const double z = core.half.z / f.reach[0];
  return {p, {Vec3d{-rho.x * f.slope, -rho.y * f.slope, z}, Vec3d{0.0, 0.0, 0.0}}};
}

// Rim of radius r: the point moves by r along t_z = z x rho, the normal by |d_xy|, per rad.
Bend bend_of(const Core& core,
             const CoreFeature& f,
             const Vec3d& d,
             const Vec3d& s,
             const Vec3d& t,
             double along) {
  const Vec3d& h = core.half;
  if (f.kind == Kind::kEllipsoid) {
    const Vec3d hd{h.x * d.x, h.y * d.y, h.z * d.z}, hs{h.x * s.x, h.y * s.y, h.z * s.z},
        ht{h.x * t.x, h.y * t.y, h.z * t.z};
    const double i = 1.0 / norm(hd);
    // Rejections from hd: no cancellation where the ellipsoid is nearly flat.
    const Vec3d u = hd * i, rs = hs - u * dot(u, hs), rt = ht - u * dot(u, ht);
    return {dot(rs, rs) * i, dot(rs, rt) * i, dot(rt, rt) * i};
  }
  if (f.kind != Kind::kRim && f.kind != Kind::kSide) return {0.0, 0.0, 0.0};
  const double l = std::sqrt(d.x * d.x + d.y * d.y);
  if (!(l > 0.0)) return {0.0, 0.0, 0.0};
  const Vec3d rho = radial(d);
  const double r = (f.radius - f.slope * along) / l;
  const double a = rho.x * s.y - rho.y * s.x, b = rho.x * t.y - rho.y * t.x;
  return {r * a * a, r * a * b, r * b * b};
}

void clamp_to(const CoreFeature& f, double along[2]) {
  if (f.kind == Kind::kPolygon) return;
  if (f.kind == Kind::kDisc) {
    const double r = std::sqrt(along[0] * along[0] + along[1] * along[1]);
    const double s = r > f.radius ? f.radius / r : 1.0;
    along[0] *= s;
    along[1] *= s;
    return;
  }
  for (int k = 0; k < f.flat; ++k) along[k] = std::clamp(along[k], -f.reach[k], f.reach[k]);
}

double outside_polygon(const CoreFeature& f, const Vec3d& p) {
  if (f.kind != Kind::kPolygon) return 0.0;
  const int* loop = f.loop != nullptr ? f.loop : f.triangle;
  const Vec3d n = cross(f.e[0], f.e[1]);
  double most = 0.0, least = HUGE_VAL, level = 0.0;  // a triangle runs round either way
  for (int k = 0; k < f.corners; ++k) {
    const Vec3d& v = f.mesh->vertices[loop[k]];
    const Vec3d out = cross(f.mesh->vertices[loop[k + 1 < f.corners ? k + 1 : 0]] - v, n);
    const double x = dot(out, p - v) / norm(out);
    most = std::max(most, x);
    least = std::min(least, x);
    level = std::max(level, std::abs(dot(n, v - f.p)));
  }
  return std::max(level, std::min(most, -least));
}

int features_near(const Core& core,
                  const Vec3d& d,
                  const Vec3d& witness,
                  const Vec3d* used,
                  const int* numbers,
                  int count,
                  CoreFeature features[kMaxFeatures]) {
  List list{features};
  switch (core.type) {
    case ShapeType::kSphere:
      list.add(point({0.0, 0.0, 0.0}, 0));
      break;
    case ShapeType::kCapsule: {
      const Vec3d end{0.0, 0.0, core.half.z};
      list.add(segment(-end, end));
      list.add(point(witness.z < 0.0 ? -end : end, witness.z < 0.0 ? 0 : 1));
      break;
    }
    case ShapeType::kConvexMesh:
      mesh_features(core, d, numbers, count, list);
      break;
    case ShapeType::kEllipsoid:
      list.add({.kind = Kind::kEllipsoid});
      break;
    case ShapeType::kCylinder:
    case ShapeType::kCone:
      round_features(core, d, witness, used, count, list);
      break;
    default:
      box_features(core, d, witness, numbers, count, list);
      break;
  }
  return list.count;
}

}  // namespace stiction::detail
