#include "collision/derivatives/point_motion.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::detail {
namespace {

constexpr double kParallel = 1e-7;    // sine below which two directions are one
constexpr double kNearInside = 1e-5;  // kNear of normals of overlaps, which a query rounds more
constexpr double kSoft = 1e-10;       // of the size: H + gap must exceed it

/// V_B(x).
LinearMap velocity_of_b(const TouchingPoints& at, const Vec3d& x) {
  return {Mat3d::identity(), cross_with(x - at.p)};
}

Vec3d tangent(const Vec3d& n, const Vec3d& e) { return e - n * dot(n, e); }

/// A direction in the plane normal to n, and what is known along it.
struct Equation {
  Vec3d e;
  LinearForm value;
};

/// x in the plane with x . e = value for both.
LinearMap solve(const Vec3d& n, const Equation& i, const Equation& j, double determinant) {
  const double f = 1.0 / determinant;
  return outer(cross(j.e, n) * f, i.value) + outer(cross(n, i.e) * f, j.value);
}

struct Pair {
  int i = -1, j = -1;
  double determinant = 0.0;
};
Pair most_independent(const Vec3d& n, const Equation* q, int count) {
  Pair best;
  for (int i = 0; i < count; ++i) {
    for (int j = i + 1; j < count; ++j) {
      const double d = dot(n, cross(q[i].e, q[j].e));
      if (std::abs(d) > std::abs(best.determinant)) best = {i, j, d};
    }
  }
  return best;
}

struct Curvature {
  Mat3d H;         // H_A + H_B
  LinearMap rest;  // V_B - V_A + H_B (w x n) and what turns
};

Curvature curvature(const TouchingPoints& at, const PointFeature& a, const PointFeature& b) {
  const LinearMap turned{
      kZero,
      sum(sum(b.by_turn, scaled(a.by_turn, -1.0)), scaled(b.by_normal * cross_with(at.n), -1.0))};
  return {sum(a.by_normal, scaled(b.by_normal, -1.0)), velocity_of_b(at, at.p_b) + turned};
}

bool normal_along_one(const TouchingPoints& at,
                      const Equation& known,
                      const Curvature& c,
                      LinearMap& normal) {
  const Vec3d e = known.e * (1.0 / norm(known.e)), t = cross(at.n, e);
  const LinearForm r = known.value * (1.0 / norm(known.e));
  const double k = dot(t, c.H * t) + at.gap;
  if (!(k > kSoft * at.size)) return false;
  const LinearForm y = (along(t, c.rest) + r * -dot(t, c.H * e)) * (1.0 / k);
  normal = outer(e, r) + outer(t, y);
  return true;
}

bool normal_of_curved(const TouchingPoints& at, const Curvature& c, LinearMap& normal) {
  const Vec3d helper = std::abs(at.n.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d across = cross(at.n, helper), s = across * (1.0 / norm(across)), t = cross(at.n, s);
  const double ss = dot(s, c.H * s) + at.gap, st = dot(s, c.H * t), tt = dot(t, c.H * t) + at.gap;
  const double determinant = ss * tt - st * st;
  const double mean = 0.5 * (ss + tt), least = determinant / (mean + std::abs(mean));
  if (!(ss > 0.0 && least > kSoft * at.size)) return false;
  const LinearForm x = along(s, c.rest), y = along(t, c.rest);
  const double f = 1.0 / determinant;
  normal = outer(s, (x * tt + y * -st) * f) + outer(t, (y * ss + x * -st) * f);
  return true;
}

}  // namespace

PointFeature plane_feature(const Vec3d& n) {
  const Vec3d helper = std::abs(n.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d t = cross(n, helper), e = t * (1.0 / norm(t));
  return {.flat = 2, .e = {e, cross(n, e)}};
}

LinearMap motion_of_face_normal(const Vec3d& n, bool on_b) {
  return {kZero, on_b ? cross_with(n) : kZero};
}

bool motion_of_common_normal(const TouchingPoints& at,
                             const PointFeature& a,
                             const PointFeature& b,
                             LinearMap& normal) {
  Equation known[4];
  int count = 0;
  for (int k = 0; k < a.flat; ++k) known[count++] = {tangent(at.n, a.e[k]), {}};
  for (int k = 0; k < b.flat; ++k) {
    known[count++] = {tangent(at.n, b.e[k]), {{0, 0, 0}, cross(at.n, b.e[k])}};
  }
  if (a.flat == 2 || b.flat == 2) {
    normal = motion_of_face_normal(at.n, a.flat < 2);
    return count == 2;
  }
  const Pair best = most_independent(at.n, known, count);
  if (std::abs(best.determinant) > kParallel) {
    normal = solve(at.n, known[best.i], known[best.j], best.determinant);
    return count == 2;
  }
  if (count == 0) return normal_of_curved(at, curvature(at, a, b), normal);
  return normal_along_one(at, known[0], curvature(at, a, b), normal) && count == 1;
}

void motion_of_points(const TouchingPoints& at,
                      const PointFeature& a,
                      const PointFeature& b,
                      PointMotion& motion) {
  motion.a = a;
  motion.b = b;
  const LinearMap& dn = motion.normal;
  const LinearMap turned{kZero, scaled(cross_with(at.n), -1.0)};
  motion.point_a = a.by_normal * dn + LinearMap{kZero, a.by_turn};
  motion.point_b =
      velocity_of_b(at, at.p_b) + b.by_normal * (dn + turned) + LinearMap{kZero, b.by_turn};
  const LinearMap miss = motion.point_a - motion.point_b + dn * at.gap;
  Vec3d slide[4];
  Equation dual[4];
  const int count = a.flat + b.flat;
  for (int k = 0; k < count; ++k) {
    slide[k] = k < a.flat ? a.e[k] * -1.0 : b.e[k - a.flat];
    dual[k].e = tangent(at.n, slide[k]);
  }
  const auto move = [&](int k, const LinearForm& by) {
    const double rate = norm(by.u) * at.size + norm(by.w);
    if (k < a.flat) {
      motion.point_a = motion.point_a - outer(slide[k], by);
      motion.slide_a = std::max(motion.slide_a, rate);
    } else {
      motion.point_b = motion.point_b + outer(slide[k], by);
      motion.slide_b = std::max(motion.slide_b, rate);
    }
  };
  const Pair best = most_independent(at.n, dual, count);
  if (std::abs(best.determinant) > kParallel) {
    const Vec3d &i = dual[best.i].e, &j = dual[best.j].e;
    const double f = 1.0 / best.determinant;
    move(best.i, along(cross(j, at.n) * f, miss));
    move(best.j, along(cross(at.n, i) * f, miss));
    motion.exact = motion.exact && count == 2;
  } else if (count > 0) {
    const double length = squared_norm(dual[0].e);
    if (length > kParallel) move(0, along(dual[0].e * (1.0 / length), miss));
    motion.exact = motion.exact && count == 1;
  }
  motion.gap = along(at.n, motion.point_b - motion.point_a);
}

bool stays_on_features(const TouchingPoints& at,
                       const PointFeature& a,
                       const PointFeature& b,
                       const PointMotion& motion) {
  const auto size = [](const Mat3d& m) {
    return std::sqrt(squared_norm(m.c0) + squared_norm(m.c1) + squared_norm(m.c2));
  };
  const auto turn = [&](const LinearMap& m) { return size(m.u) * at.size + size(m.w); };
  const LinearMap turned{kZero, scaled(cross_with(at.n), -1.0)};
  const auto stays = [&](const PointFeature& f, double slide, const LinearMap& normal) {
    const double near = at.gap > 0.0 ? kNear : kNearInside;
    return f.room > kNear * (slide + at.size) && f.lean > near * (turn(normal) + 1.0);
  };
  return stays(a, motion.slide_a, motion.normal) &&
         stays(b, motion.slide_b, motion.normal + turned);
}

}  // namespace stiction::detail
