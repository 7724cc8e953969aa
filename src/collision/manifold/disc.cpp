#include "collision/manifold/polygon.hpp"
#include "collision/manifold/rim.hpp"

// Round faces. Every answer is a set of exact points: the four points of the rim (rim.hpp) that lie
// over the other face, its corners that lie over the disc, and where the rim
// crosses its outline. All are found in the plane of a disc, where points of the other face are
// moved to along n, the direction of view.

namespace stiction::detail {
namespace {

// Cosine up to which a face is too steep to have a height over points of the rim.
constexpr double kSteepFace = 0.1;

struct Flat {
  double x, y;
};

double length(const Flat& q) { return std::sqrt(q.x * q.x + q.y * q.y); }

Flat between(const Flat& a, const Flat& b, double share) {
  return {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share};
}

/// The plane of a disc; points come into it along n.
struct DiscPlane {
  const Polygon& face;
  Vec3d n;

  Flat flat(const Vec3d& p) const {
    const double up = (face.offset - dot(face.normal, p)) / dot(face.normal, n);
    const Vec3d q = p + n * up - face.disc.centre;
    return {dot(q, face.disc.ex), dot(q, face.disc.ey)};
  }
  Vec3d point(const Flat& q) const {
    return face.disc.centre + face.disc.ex * q.x + face.disc.ey * q.y;
  }
  /// The rim against a plane with the outward normal `other`, whichever of the two is the
  /// reference.
  Rim rim(const Vec3d& other) const {
    return Rim::towards(-dot(other, face.disc.ex), -dot(other, face.disc.ey));
  }
  Flat rim_point(const Rim& rim, int k) const {
    return {face.disc.radius * rim.x_of(k), face.disc.radius * rim.y_of(k)};
  }
};

struct Points {
  ClippedPoint* out;
  int count = 0;
  void add(const Vec3d& p, int kind, int number) {
    if (count < kMaxClipped) out[count++] = {p, kind, number};
  }
};

/// A convex polygon in the plane of a disc.
struct Outline {
  Flat corner[kMaxPolygon];
  struct Edge {
    double x, y, offset;  // outward unit normal
  } edge[kMaxPolygon];
  int count;

  Outline(const Polygon& polygon, const DiscPlane& plane) : count(polygon.count) {
    for (int i = 0; i < count; ++i) corner[i] = plane.flat(polygon.p[i]);
    double twice_area = 0.0;
    for (int i = 0; i < count; ++i) {
      const Flat &a = corner[i], &b = next(i);
      twice_area +=
          (a.x - corner[0].x) * (b.y - corner[0].y) - (a.y - corner[0].y) * (b.x - corner[0].x);
    }
    const double sign = twice_area < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < count; ++i) {
      const Flat &a = corner[i], &b = next(i);
      const double l = length({b.x - a.x, b.y - a.y}), s = l > 0.0 ? sign / l : 0.0;
      edge[i] = {(b.y - a.y) * s, (a.x - b.x) * s, 0.0};
      edge[i].offset = edge[i].x * a.x + edge[i].y * a.y;
    }
  }
  const Flat& next(int i) const { return corner[i + 1 == count ? 0 : i + 1]; }
  bool holds(const Flat& q, double flush) const {
    for (int i = 0; i < count; ++i) {
      if (edge[i].x * q.x + edge[i].y * q.y - edge[i].offset > flush) return false;
    }
    return true;
  }
};

/// Where a + t (b - a) crosses the circle, t in (low, high); false if the line misses it or cuts
/// off less than `flush`.
bool cross_circle(
    const Flat& a, const Flat& b, double radius, double flush, double& low, double& high) {
  const Flat d{b.x - a.x, b.y - a.y};
  const double dd = d.x * d.x + d.y * d.y, ad = a.x * d.x + a.y * d.y;
  if (!(dd > 0.0)) return false;
  const double middle = -ad / dd;
  const double off = length(between(a, b, middle));
  if (!(off < radius - flush)) return false;
  const double half = std::sqrt((radius - off) * (radius + off) / dd);
  low = middle - half;
  high = middle + half;
  return true;
}

/// Corners of the outline over the disc and its crossings with the rim; `place` turns the share of
/// the way from corner i to the next one into a point.
template <class Place>
void outline_points(
    const Outline& outline, double radius, double flush, Place place, Points& points) {
  for (int i = 0; i < outline.count; ++i) {
    const Flat &a = outline.corner[i], &b = outline.next(i);
    const bool a_in = length(a) <= radius + flush, b_in = length(b) <= radius + flush;
    if (a_in) points.add(place(i, 0.0), kCorner, i);
    double low, high;
    if ((a_in && b_in) || !cross_circle(a, b, radius, flush, low, high)) continue;
    if (!a_in && low > 0.0 && low < 1.0) points.add(place(i, low), kEnter, i);
    if (!b_in && high > 0.0 && high < 1.0) points.add(place(i, high), kLeave, i);
  }
}

void disc_over_polygon(
    const Polygon& disc, const Polygon& polygon, const Vec3d& n, double flush, Points& points) {
  const DiscPlane plane{disc, n};
  const Outline outline(polygon, plane);
  const Rim rim = plane.rim(polygon.normal);
  for (int k = 0; k < kRimPoints; ++k) {
    const Flat q = plane.rim_point(rim, k);
    if (outline.holds(q, flush)) points.add(plane.point(q), kRim, rim.first + k);
  }
  const auto place = [&](int i, double share) {
    return plane.point(between(outline.corner[i], outline.next(i), share));
  };
  outline_points(outline, disc.disc.radius, flush, place, points);
}

void polygon_over_disc(
    const Polygon& polygon, const Polygon& disc, const Vec3d& n, double flush, Points& points) {
  const DiscPlane plane{disc, n};
  const Outline outline(polygon, plane);
  const Rim rim = plane.rim(polygon.normal);
  const double facing = dot(polygon.normal, n);
  for (int k = 0; k < kRimPoints && facing < -kSteepFace; ++k) {
    const Flat q = plane.rim_point(rim, k);
    if (!outline.holds(q, flush)) continue;
    const Vec3d p = plane.point(q);
    const double up = (polygon.offset - dot(polygon.normal, p)) / facing;
    points.add(p + n * up, kRim, rim.first + k);
  }
  const auto place = [&](int i, double share) {
    const Vec3d &a = polygon.p[i], &b = polygon.p[i + 1 == polygon.count ? 0 : i + 1];
    return a + (b - a) * share;
  };
  outline_points(outline, disc.disc.radius, flush, place, points);
}

void segment_over_disc(
    const Polygon& segment, const Polygon& disc, const Vec3d& n, double flush, Points& points) {
  const DiscPlane plane{disc, n};
  const double r = disc.disc.radius;
  const Vec3d &p = segment.p[0], along = segment.p[1] - p;
  const Flat a = plane.flat(segment.p[0]), b = plane.flat(segment.p[1]);
  const bool a_in = length(a) <= r + flush, b_in = length(b) <= r + flush;
  double low = 0.0, high = 1.0;
  if (!(a_in && b_in)) {
    if (!cross_circle(a, b, r, 0.0, low, high)) return;
    if (a_in) low = 0.0;
    if (b_in) high = 1.0;
    if (high < 0.0 || low > 1.0) return;
  }
  points.add(p + along * low, a_in ? kCorner : kEnter, 0);
  if ((high - low) * norm(along) > flush) points.add(p + along * high, b_in ? kCorner : kLeave, 1);
}

/// Moves the unit vector `e`, a direction from the centre of `on`, to where the rim of `on` meets
/// the rim of `other`: Newton on |flat(point)| = radius along the rim, exact at once if the planes
/// are parallel. e + de with de normal to e is renormalised: a rotation to second order.
bool refine_crossing(const DiscPlane& on, const DiscPlane& other, double flush, Flat& e) {
  const double radius = on.face.disc.radius, r = other.face.disc.radius;
  for (int k = 0; k < 5; ++k) {
    const Flat q = other.flat(on.point({radius * e.x, radius * e.y}));
    const double far = length(q), miss = far - r;
    if (std::abs(miss) <= 1e-3 * flush) return true;
    const Flat ahead = other.flat(on.point({radius * (e.x - e.y), radius * (e.y + e.x)}));
    const double slope = (q.x * (ahead.x - q.x) + q.y * (ahead.y - q.y)) / far;  // per radian
    if (!(std::abs(slope) > 1e-6 * radius)) return false;
    const double turn = -miss / slope;
    e = {e.x - turn * e.y, e.y + turn * e.x};
    const double l = length(e);
    e = {e.x / l, e.y / l};
  }
  return false;
}

/// Where the two rims cross, seen along n: for parallel planes at the angles +-acos(cosine) from
/// the direction of the other centre.
void rim_crossings(const DiscPlane& on, const DiscPlane& other, double flush, Points& points) {
  const double radius = on.face.disc.radius, r = other.face.disc.radius;
  const Flat centre = on.flat(other.face.disc.centre);
  const double d = length(centre);
  if (!(d < radius + r - flush && d > std::abs(radius - r) + flush)) return;
  const double cosine = (d * d + radius * radius - r * r) / (2.0 * d * radius);
  const double sine = std::sqrt(std::fmax(0.0, (1.0 - cosine) * (1.0 + cosine)));
  const Flat to{centre.x / d, centre.y / d};
  for (int k = 0; k < 2; ++k) {
    const double s = k == 0 ? -sine : sine;
    Flat e{to.x * cosine - to.y * s, to.y * cosine + to.x * s};
    if (!refine_crossing(on, other, flush, e)) continue;
    points.add(other.point(other.flat(on.point({radius * e.x, radius * e.y}))), kEnter, k);
  }
}

void disc_over_disc(const Polygon& incident,
                    const Polygon& reference,
                    const Vec3d& n,
                    double flush,
                    Points& points) {
  const DiscPlane on{reference, n}, over{incident, n};
  const auto known = [&](const Vec3d& p) {
    for (int i = 0; i < points.count; ++i) {
      if (squared_norm(points.out[i].p - p) <= flush * flush) return true;
    }
    return false;
  };
  const Rim above = over.rim(reference.normal), below = on.rim(incident.normal);
  for (int k = 0; k < kRimPoints; ++k) {
    const Vec3d p = over.point(over.rim_point(above, k));
    if (length(on.flat(p)) > reference.disc.radius + flush) continue;
    points.add(p, kRim, above.first + k);
  }
  for (int k = 0; k < kRimPoints; ++k) {  // of the reference; equal drums share their rims
    const Flat q = over.flat(on.point(on.rim_point(below, k)));
    if (length(q) > incident.disc.radius + flush || known(over.point(q))) continue;
    points.add(over.point(q), kOtherRim, below.first + k);
  }
  rim_crossings(on, over, flush, points);
}

}  // namespace

int clip_disc(const Polygon& incident,
              const Polygon& reference,
              const Vec3d& n,
              double flush,
              ClippedPoint* out) {
  Points points{out};
  if (incident.count == 2) {
    segment_over_disc(incident, reference, n, flush, points);
  } else if (!incident.is_disc()) {
    polygon_over_disc(incident, reference, n, flush, points);
  } else if (reference.is_disc()) {
    disc_over_disc(incident, reference, n, flush, points);
  } else {
    disc_over_polygon(incident, reference, n, flush, points);
  }
  return points.count;
}

}  // namespace stiction::detail
