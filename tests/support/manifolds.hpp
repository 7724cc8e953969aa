#pragma once

#include "stiction/collision/manifold.hpp"

#include "shapes.hpp"

#include <algorithm>
#include <vector>

namespace stiction::test {

inline Manifold manifold_of(const PosedPair& p, double margin, DistanceCache* cache = nullptr) {
  Manifold m;
  contact_manifold(p.a, p.X_WA, p.b, p.X_WB, margin, m, cache);
  return m;
}

inline std::vector<std::uint32_t> features(const Manifold& m) {
  std::vector<std::uint32_t> f;
  for (int i = 0; i < m.count; ++i) f.push_back(m.points[i].feature);
  std::sort(f.begin(), f.end());
  return f;
}

inline std::vector<Vec3d> box_corners(const Vec3d& h) {
  std::vector<Vec3d> corners;
  for (int i = 0; i < 8; ++i) {
    corners.push_back({i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z});
  }
  return corners;
}

struct Point2 {
  double x, y;
};

inline double area(const std::vector<Point2>& p) {
  double twice = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Point2 &a = p[i], &b = p[(i + 1) % p.size()];
    twice += a.x * b.y - a.y * b.x;
  }
  return 0.5 * twice;
}

/// Part of a convex polygon with a x + b y <= c.
inline std::vector<Point2> clip_to_line(const std::vector<Point2>& p,
                                        double a,
                                        double b,
                                        double c) {
  std::vector<Point2> out;
  const auto value = [&](const Point2& q) { return a * q.x + b * q.y - c; };
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Point2 &q = p[i], &r = p[(i + 1) % p.size()];
    const double vq = value(q), vr = value(r);
    if (vq <= 0.0) out.push_back(q);
    if ((vq < 0.0) != (vr < 0.0) && vq != vr) {
      const double f = vq / (vq - vr);
      out.push_back({q.x + f * (r.x - q.x), q.y + f * (r.y - q.y)});
    }
  }
  return out;
}

/// Part of a convex polygon inside |x| <= hx, |y| <= hy.
inline std::vector<Point2> clip_to_rectangle(std::vector<Point2> p, double hx, double hy) {
  const double planes[4][3] = {{1, 0, hx}, {-1, 0, hx}, {0, 1, hy}, {0, -1, hy}};
  for (const auto& plane : planes) p = clip_to_line(p, plane[0], plane[1], plane[2]);
  return p;
}

/// Part of a convex polygon inside another one, counter-clockwise.
inline std::vector<Point2> clip_to_polygon(std::vector<Point2> p, const std::vector<Point2>& by) {
  for (std::size_t i = 0; i < by.size(); ++i) {
    const Point2 &q = by[i], &r = by[(i + 1) % by.size()];
    const double a = r.y - q.y, b = q.x - r.x;
    p = clip_to_line(p, a, b, a * q.x + b * q.y);
  }
  return p;
}

/// Area of the hull of points that are corners of a convex polygon, in any order.
inline double hull_area(std::vector<Point2> p) {
  if (p.size() < 3) return 0.0;
  Point2 c{0, 0};
  for (const Point2& q : p) c = {c.x + q.x / p.size(), c.y + q.y / p.size()};
  std::sort(p.begin(), p.end(), [&](const Point2& a, const Point2& b) {
    return std::atan2(a.y - c.y, a.x - c.x) < std::atan2(b.y - c.y, b.x - c.x);
  });
  return area(p);
}

}  // namespace stiction::test
