#include "manifold_pairs.hpp"

// Round sides that touch along a line: logs side by side, a capsule along a cylinder. Each side
// shows a line towards the other one; the points are those ends of the two lines that lie over the
// other side, seen along the normal. Every gap is that of two points of the surfaces, one above the
// other, so none is less than the distance. Sides that cross touch in between: there the ends stand
// off by the curvature of the sides, and the point where they cross, as deep as the pair, joins
// them.

namespace stiction::detail {
namespace {

constexpr double kUpright = 0.3;  // sine between normal and side above which its end touches
constexpr double kCrossing = 0.1 * kFacePreference;  // of the size: ends farther off do not touch

struct Side {
  Vec3d centre, axis;  // axis: unit
  double half, radius;
};

Side side_of(const Shape& s, const Transform& X) { return {X.p, X.R.c2, s.size.y, s.size.x}; }

Vec3d across(const Side& s, const Vec3d& v) { return v - s.axis * dot(s.axis, v); }

/// Where the ray p + gap n enters the side; false if it misses it or its straight part. `rim`: how
/// far beyond the ends it may lie [m].
bool enter(const Side& s, const Vec3d& p, const Vec3d& n, double rim, double& gap) {
  const Vec3d q = across(s, p - s.centre), d = across(s, n);
  const double dd = squared_norm(d), qd = dot(q, d);
  const double discriminant = qd * qd - dd * (squared_norm(q) - s.radius * s.radius);
  if (!(dd > 0.0 && discriminant >= 0.0)) return false;
  gap = -(qd + std::sqrt(discriminant)) / dd;
  return std::abs(dot(s.axis, p + n * gap - s.centre)) <= s.half + rim;
}

/// Ends of the line of `from` that is nearest along n, over the side `to`; no gap is below `least`.
void add_ends(const Side& from,
              const Side& to,
              const Vec3d& n,
              double rim,
              double least,
              double margin,
              int feature,
              Manifold& m) {
  Vec3d towards = across(from, n);
  towards = towards * (from.radius / norm(towards));
  for (int end = 0; end < 2; ++end) {
    const Vec3d p = from.centre + towards + from.axis * (end == 0 ? -from.half : from.half);
    double gap;
    if (!enter(to, p, n, rim, gap) || gap > margin) continue;
    gap = std::fmax(gap, least);  // beyond the end of a tilted side, by at most `rim`
    m.points[m.count++] = {p + n * (0.5 * gap), gap, std::uint32_t(feature + end)};
  }
}

/// Where the two lines cross seen along n = +-(axis x axis): c_a + s a and c_b + t b are the
/// closest points of the axes. False if they are parallel or cross beyond an end.
bool crossing(const Side& a, const Side& b, const Vec3d& n, Vec3d& middle) {
  const Vec3d l = cross(a.axis, b.axis), d = b.centre - a.centre;
  const double ll = squared_norm(l);
  if (!(ll > 1e-20)) return false;
  const double s = dot(cross(d, b.axis), l) / ll, t = dot(cross(d, a.axis), l) / ll;
  if (std::abs(s) > a.half || std::abs(t) > b.half) return false;
  const Vec3d up_a = across(a, n), up_b = across(b, n);
  middle = midpoint(a.centre + a.axis * s + up_a * (a.radius / norm(up_a)),
                    b.centre + b.axis * t - up_b * (b.radius / norm(up_b)));
  return true;
}

}  // namespace

bool has_side(const Shape& s) {
  return (s.type == ShapeType::kCapsule && s.size.y > 0.0) || s.type == ShapeType::kCylinder;
}

void manifold_sides(const Shape& a,
                    const Transform& X_WA,
                    const Shape& b,
                    const Transform& X_WB,
                    const DistanceResult& r,
                    double margin,
                    Manifold& m) {
  m.count = 0;
  const Side side_a = side_of(a, X_WA), side_b = side_of(b, X_WB);
  const Vec3d& n = r.normal;
  if (std::abs(dot(side_a.axis, n)) > kUpright || std::abs(dot(side_b.axis, n)) > kUpright) return;
  const double size = bounding_radius(a) + bounding_radius(b);
  // Where two ends lie side by side, that of A is the one kept.
  add_ends(side_a, side_b, n, kFlush * size, r.distance, margin, 1, m);
  add_ends(side_b, side_a, -n, -kFlush * size, r.distance, margin, 3, m);
  if (m.count == 0) return;
  m.normal = n;
  double least = m.points[0].gap;
  for (int i = 1; i < m.count; ++i) least = std::fmin(least, m.points[i].gap);
  if (least > r.distance + kCrossing * size) {
    Vec3d middle = midpoint(r.witness_a, r.witness_b);
    crossing(side_a, side_b, n, middle);
    m.points[m.count++] = {middle, r.distance, 0};
  }
}

}  // namespace stiction::detail
