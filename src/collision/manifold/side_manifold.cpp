#include "collision/manifold/manifold_pairs.hpp"
#include "collision/manifold/ridge.hpp"
#include "collision/pairs/closed_forms.hpp"

// A round side that touches along a line: logs side by side, a wheel on a kerb. Each shape shows a
// ridge towards the other one; the points are those ends of the two ridges that lie over the other
// shape, seen along the normal. Every gap is that of two points of the surfaces, one above the
// other, so none is less than the distance. A line needs no more than two, one to either side.
// Ridges that cross touch in between: there the ends stand off, and the point where they cross, as
// deep as the pair, takes the place of the higher one, or of both where they stand off clearly.

namespace stiction::detail {
namespace {

constexpr double kCrossing = kFacePreference;  // of the size: ends farther off do not touch
// Ends count that a turn of the smaller shape by this angle reaches [rad].
constexpr double kStandsOff = 1e-3;
constexpr double kAside = 1e-3;  // [rad] between n and the common normal of two ridges that touch

bool holds(const Manifold& m, const Vec3d& p, double rim) {
  for (int i = 0; i < m.count; ++i) {
    if (squared_norm(m.points[i].position - p) <= rim * rim) return true;
  }
  return false;
}

/// Ends of `from` over `to`; no gap is below `least`.
void add_ends(const Ridge& from,
              const Ridge& to,
              const Vec3d& n,
              double rim,
              double least,
              double margin,
              int feature,
              Manifold& m) {
  for (int end = 0; end < 2; ++end) {
    const Vec3d& p = from.ends[end];
    double gap;
    if (!to.enter(p, n, rim, gap) || gap > margin) continue;
    gap = std::fmax(gap, least);  // beyond the end of a tilted ridge, by at most `rim`
    const Vec3d middle = p + n * (0.5 * gap);
    if (holds(m, middle, rim)) continue;  // two ends side by side
    m.points[m.count++] = {middle, gap, std::uint32_t(feature + end)};
  }
}

/// Where two ridges cross seen along n = +-(axis x axis). False if they touch elsewhere.
bool crossing(const Ridge& a, const Ridge& b, const Vec3d& n, Vec3d& middle) {
  const Vec3d u = (a.ends[1] - a.ends[0]) * 0.5, v = (b.ends[1] - b.ends[0]) * 0.5;
  const Vec3d l = cross(u, v), d = b.middle() - a.middle();
  const double ll = squared_norm(l);
  if (!(ll > 1e-20 * squared_norm(u) * squared_norm(v))) return false;
  if (squared_norm(cross(l, n)) > kAside * kAside * ll) return false;
  const double s = dot(cross(d, v), l) / ll, t = dot(cross(d, u), l) / ll;
  if (std::abs(s) > 1.0 || std::abs(t) > 1.0) return false;
  middle = midpoint(a.middle() + u * s, b.middle() + v * t);
  return true;
}

/// Keeps the lower end to either side of `middle` along the axis, the first of equals.
void keep_one_per_side(const Vec3d& middle, const Vec3d& axis, double tie, Manifold& m) {
  int kept[2] = {-1, -1};
  for (int i = 0; i < m.count; ++i) {
    int& side = kept[dot(axis, m.points[i].position - middle) < 0.0 ? 0 : 1];
    if (side < 0 || m.points[i].gap < m.points[side].gap - tie) side = i;
  }
  int count = 0;
  for (int i = 0; i < m.count; ++i) {
    if (i == kept[0] || i == kept[1]) m.points[count++] = m.points[i];
  }
  m.count = count;
}

/// The crossing of two ridges whose ends stand off from it, and the lower one of these.
void add_crossing(const Vec3d& middle, double depth, double smaller, Manifold& m) {
  if (m.count > 1 && m.points[1].gap < m.points[0].gap) m.points[0] = m.points[1];
  m.count = m.points[0].gap > depth + kStandsOff * smaller ? 0 : 1;
  m.points[m.count++] = {middle, depth, 0};
}

/// How far n (unit) separates the pair [m].
double separation(
    const Shape& a, const Transform& X_WA, const Shape& b, const Transform& X_WB, const Vec3d& n) {
  const Vec3d top = X_WA.R * support(a, transpose_times(X_WA.R, n));
  const Vec3d bottom = X_WB.R * support(b, -transpose_times(X_WB.R, n));
  return dot(n, bottom - top + (X_WB.p - X_WA.p));
}

/// Axes and edges are segments, and the line from one to the other is normal to both surfaces:
/// exact where a query of curved shapes is good to the root of its tolerance. Of the two normals
/// the one that separates more is the better one.
Vec3d polished_normal(const Shape& a,
                      const Transform& X_WA,
                      const Shape& b,
                      const Transform& X_WB,
                      const Ridge& ridge_a,
                      const Ridge& ridge_b,
                      const Vec3d& n) {
  if (ridge_a.slope != 0.0 || ridge_b.slope != 0.0) return n;
  const ClosestPoints c = closest_points(
      {ridge_a.centre, ridge_a.axis * ridge_a.half, ridge_b.centre, ridge_b.axis * ridge_b.half});
  const Vec3d d = c.has_normal ? c.normal : c.p2 - c.p1;
  const double length = norm(d);
  if (!(length > 0.0)) return n;
  const Vec3d exact = d * (1.0 / length);
  const bool better = separation(a, X_WA, b, X_WB, exact) > separation(a, X_WA, b, X_WB, n);
  return better ? exact : n;
}

}  // namespace

bool has_side(const Shape& s) {
  return s.type == ShapeType::kCapsule || s.type == ShapeType::kCylinder ||
         s.type == ShapeType::kCone;
}

void manifold_sides(const Shape& a,
                    const Transform& X_WA,
                    const Shape& b,
                    const Transform& X_WB,
                    const DistanceResult& r,
                    double margin,
                    Manifold& m) {
  m.count = 0;
  Ridge ridge_a, ridge_b;
  if (!ridge_towards(a, X_WA, r.normal, ridge_a)) return;
  if (!ridge_towards(b, X_WB, -r.normal, ridge_b)) return;
  const Vec3d n = polished_normal(a, X_WA, b, X_WB, ridge_a, ridge_b, r.normal);
  if (n.x != r.normal.x || n.y != r.normal.y || n.z != r.normal.z) {
    ridge_towards(a, X_WA, n, ridge_a);  // the lines turn with the normal
    ridge_towards(b, X_WB, -n, ridge_b);
  }
  const double size = bounding_radius(a) + bounding_radius(b);
  const double rim = kFlush * size;
  // The query of curved shapes is good to its tolerance, the normal of segments to rounding.
  const double depth = std::fmin(margin, std::fmax(r.distance, separation(a, X_WA, b, X_WB, n)));
  add_ends(ridge_a, ridge_b, n, rim, depth, margin, 1, m);
  add_ends(ridge_b, ridge_a, -n, rim, depth, margin, 3, m);
  if (m.count == 0) return;
  m.normal = n;
  Vec3d middle = midpoint(r.witness_a, r.witness_b);
  crossing(ridge_a, ridge_b, n, middle);
  double least = m.points[0].gap;
  for (int i = 1; i < m.count; ++i) least = std::fmin(least, m.points[i].gap);
  if (least > depth + kCrossing * size) {
    keep_one_per_side(middle, ridge_a.axis, kCrossing * size, m);
    add_crossing(middle, depth, std::fmin(bounding_radius(a), bounding_radius(b)), m);
  } else if (m.count > 2) {
    Vec3d sum{0.0, 0.0, 0.0};
    for (int i = 0; i < m.count; ++i) sum += m.points[i].position;
    keep_one_per_side(sum * (1.0 / m.count), ridge_a.axis, kCrossing * size, m);
  }
}

}  // namespace stiction::detail
