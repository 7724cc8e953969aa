#include "stiction/collision/distance.hpp"

#include "support/shapes.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numbers>

// Curved pairs whose answer is known in closed form, or checked by the conditions of a solution in
// long double, from a gap of a tenth of the size through 1e-9 of it to the same overlap.

namespace stiction::test {
namespace {

constexpr double kGaps[] = {0.1, 1e-2, 1e-3, 1e-5, 1e-7, 1e-9, -1e-9, -1e-7, -1e-5, -1e-3, -1e-2};
constexpr double kNormal = 1e-9;  // [rad]

double between(const Vec3d& a, const Vec3d& b) { return std::atan2(norm(cross(a, b)), dot(a, b)); }

/// Everything a query promises, against the distance and normal known. `size` [m].
void check(const DistanceResult& r, double distance, const Vec3d& normal, double size) {
  BOOST_TEST(std::abs(r.distance - distance) <= 2e-13 * size);
  BOOST_TEST(between(r.normal, normal) <= kNormal);
  BOOST_TEST(norm(r.witness_b - r.witness_a - r.normal * r.distance) <= 1e-14 * size);
  BOOST_TEST(
      (r.status == (distance > 0.0 ? DistanceStatus::kSeparated : DistanceStatus::kPenetrating)));
}

/// Moves B along n.
DistanceResult moved(PosedPair p, const Vec3d& n, double by) {
  p.X_WB.p += n * by;
  return distance(p.a, p.X_WA, p.b, p.X_WB);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(smooth_polish_test)

// The ball as an ellipsoid is a smooth core of its own, as a sphere a point with a radius. While
// the centre stays outside the other shape both have the same answer.
BOOST_AUTO_TEST_CASE(a_round_ellipsoid_is_a_sphere) {
  Rng rng(1);
  const Kind others[] = {Kind::kSphere, Kind::kCapsule, Kind::kBox, Kind::kCloud, Kind::kBall};
  for (const Kind kind : others) {
    for (int i = 0; i < 60; ++i) {
      const double scale = std::pow(10.0, rng.uniform(-3.0, 3.0)), radius = 0.5 * scale;
      PosedPair p{scaled(random_shape(rng, kind), scale),
                  Shape::sphere(radius),
                  pose(rng, scale),
                  Transform{Mat3d::identity(), {0, 0, 0}}};
      p.X_WB.p = p.X_WA.p + unit_vector(rng) * (4.0 * scale);
      const DistanceResult far = distance(p.a, p.X_WA, p.b, p.X_WB);
      p.X_WB = {rotation(rng), p.X_WB.p - far.normal * far.distance};
      for (const double gap : kGaps) {
        PosedPair q = p;
        q.X_WB.p += far.normal * (gap * scale);
        const DistanceResult ball = distance(q.a, q.X_WA, q.b, q.X_WB);
        q.b = Shape::ellipsoid({radius, radius, radius});
        BOOST_TEST_CONTEXT(name(kind) << " " << i << " gap " << gap) {
          check(distance(q.a, q.X_WA, q.b, q.X_WB), ball.distance, ball.normal, 2.0 * scale);
        }
      }
    }
  }
}

// Far from its ends the side of a cylinder is that of a capsule: crossed and parallel ones, a
// sphere, and the vertex of a box.
BOOST_AUTO_TEST_CASE(the_side_of_a_cylinder) {
  Rng rng(2);
  for (int i = 0; i < 120; ++i) {
    const double r = rng.uniform(0.01, 0.5), s = rng.uniform(0.01, 0.5);
    const Transform X = pose(rng, 1.0);
    // B's axis crosses A's in the middle of both, at an angle, or is parallel to it.
    const double turn = i % 3 == 0 ? 0.0 : rng.uniform(0.4, 1.5);
    const Mat3d R{{0.0, std::cos(turn), -std::sin(turn)},
                  {-1.0, 0.0, 0.0},
                  {0.0, std::sin(turn), std::cos(turn)}};
    const double height = rng.uniform(-0.2, 0.2);
    const Shape a = Shape::cylinder(r, 2.0);
    for (const Shape& b : {Shape::cylinder(s, 1.5), Shape::capsule(s, 1.5), Shape::sphere(s)}) {
      for (const double gap : kGaps) {
        const double size = 4.0, d = std::max(gap, -1.5 * std::min(r, s) / size) * size;
        const Transform X_AB{R, {r + s + d, 0.0, height}};
        const DistanceResult q = distance(a, X, b, X * X_AB);
        BOOST_TEST_CONTEXT(to_string(b.type) << " " << i << " gap " << gap) {
          // The smaller types come first, so the normal may be that of B to A.
          check(q, d, X.R * Vec3d{1, 0, 0}, size);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_vertex_at_the_side_of_a_cylinder) {
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const double r = rng.uniform(0.05, 0.5), phi = rng.uniform(0.0, 6.28);
    const Vec3d h = uniform_vector(rng, 0.2) + Vec3d{0.4, 0.4, 0.4};
    // The diagonal of the box looks along -x: its corner is the nearest point, for any small tilt.
    const Vec3d x = Vec3d{1, 1, 1} * (-1.0 / std::sqrt(3.0));
    const Vec3d y = Vec3d{1, -1, 0} * (1.0 / std::sqrt(2.0)), z = cross(x, y);
    const Mat3d R = transpose(Mat3d{x, y, z});
    const Transform X = pose(rng, 1.0);
    const Vec3d n{std::cos(phi), std::sin(phi), 0.0};
    const Mat3d turned{{n.x, n.y, 0.0}, {-n.y, n.x, 0.0}, {0.0, 0.0, 1.0}};
    for (const double gap : kGaps) {
      const double d = std::max(gap, -0.02);
      const Mat3d R_AB = turned * R;
      const Transform X_AB{R_AB, n * (r + d) - R_AB * h};
      // The box is the smaller type: asked as cylinder against box all the same.
      const DistanceResult q = distance(Shape::cylinder(r, 2.0), X, Shape::box(h), X * X_AB);
      BOOST_TEST_CONTEXT(i << " gap " << gap) { check(q, d, X.R * n, 3.0); }
    }
  }
}

// A tilted cylinder or cone over the middle of a box: the lowest point of its rim, or its apex.
BOOST_AUTO_TEST_CASE(a_rim_on_a_plane) {
  Rng rng(4);
  for (int i = 0; i < 200; ++i) {
    const double r = rng.uniform(0.1, 0.5), h = rng.uniform(0.1, 0.5);
    const double tilt = std::pow(10.0, rng.uniform(-4.0, 0.1)), turn = rng.uniform(0.0, 6.28);
    const double c = std::cos(tilt), s = std::sin(tilt);
    const Mat3d lean{{c, 0.0, -s}, {0.0, 1.0, 0.0}, {s, 0.0, c}};
    const Mat3d spin{{std::cos(turn), std::sin(turn), 0.0},
                     {-std::sin(turn), std::cos(turn), 0.0},
                     {0.0, 0.0, 1.0}};
    const bool cone = i % 2 == 0;
    const Shape b = cone ? Shape::cone(r, h) : Shape::cylinder(r, h);
    const double low = h * c + r * s;  // below the centre; the apex of the cone is above the plane
    const Transform X = pose(rng, 1.0);
    for (const double gap : kGaps) {
      const double d = std::max(gap, -0.1 * std::min(r, h));
      const Transform X_AB{lean * spin, {0.0, 0.0, 1.0 + low + d}};
      const DistanceResult q = distance(Shape::box({3.0, 3.0, 1.0}), X, b, X * X_AB);
      BOOST_TEST_CONTEXT((cone ? "cone " : "cylinder ")
                         << i << " tilt " << tilt << " gap " << gap) {
        check(q, d, X.R * Vec3d{0, 0, 1}, 5.0);
      }
    }
  }
}

namespace {

using Exact = long double;
using ExactVec = Vec3<Exact>;

ExactVec exact(const Vec3d& v) { return {v.x, v.y, v.z}; }

/// Farthest point of a posed ellipsoid along n.
ExactVec farthest(const Shape& s, const Transform& X, const ExactVec& n) {
  const ExactVec c[3] = {exact(X.R.c0), exact(X.R.c1), exact(X.R.c2)};
  const Exact h[3] = {s.size.x, s.size.y, s.size.z};
  Exact e[3], sum = 0.0L;
  for (int k = 0; k < 3; ++k) {
    e[k] = h[k] * dot(c[k], n);
    sum += e[k] * e[k];
  }
  ExactVec p = exact(X.p);
  for (int k = 0; k < 3; ++k) p += c[k] * (h[k] * e[k] / std::sqrt(sum));
  return p;
}

}  // namespace

// Stationary: the support points along the normal lie on a line along it, and the gap between them
// is the distance. Of separated ellipsoids that is the proof; for the others the depth is also
// compared with that of many directions.
BOOST_AUTO_TEST_CASE(ellipsoids_are_stationary) {
  Rng rng(5);
  for (int i = 0; i < 300; ++i) {
    const auto axis = [&] {
      return i % 3 == 0 ? std::pow(10.0, rng.uniform(-2.5, 0.0)) : rng.uniform(0.2, 1.0);
    };
    PosedPair p{Shape::ellipsoid({axis(), axis(), axis()}),
                Shape::ellipsoid({axis(), axis(), axis()}),
                pose(rng, 0.5),
                pose(rng, 0.5)};
    p.X_WB.p = p.X_WA.p + unit_vector(rng) * 3.0;
    const DistanceResult far = distance(p.a, p.X_WA, p.b, p.X_WB);
    const double size = bounding_radius(p.a) + bounding_radius(p.b);
    const double thin =
        std::min({p.a.size.x, p.a.size.y, p.a.size.z, p.b.size.x, p.b.size.y, p.b.size.z});
    for (const double gap : kGaps) {
      const double by = std::max(gap * size, -0.2 * thin) - far.distance;
      const DistanceResult r = moved(p, far.normal, by);
      Transform X_WB = p.X_WB;
      X_WB.p += far.normal * by;
      const auto gap_along = [&](ExactVec n) {
        n = n * (1.0L / std::sqrt(dot(n, n)));
        return dot(n, farthest(p.b, X_WB, -n) - farthest(p.a, p.X_WA, n));
      };
      const ExactVec n = exact(r.normal);
      const ExactVec w = farthest(p.b, X_WB, -n) - farthest(p.a, p.X_WA, n);
      const ExactVec across = w - n * (dot(n, w) / dot(n, n));
      BOOST_TEST_CONTEXT(i << " gap " << gap) {
        BOOST_TEST(double(std::sqrt(dot(across, across))) <= 1e-12 * size);
        BOOST_TEST(std::abs(double(gap_along(n)) - r.distance) <= 2e-13 * size);
        BOOST_TEST((r.status != DistanceStatus::kMaxIterations));
        if (r.distance > 0.0) continue;
        double better = 0.0;
        for (int k = 0; k < 300; ++k) {
          const Exact g = gap_along(exact(unit_vector(rng)));
          better = std::max(better, double(g) - r.distance);
        }
        BOOST_TEST(better <= 0.0);
      }
    }
  }
}

// Named methods run to their own end and are not polished: they agree, for more support points.
BOOST_AUTO_TEST_CASE(named_methods_agree) {
  Rng rng(6);
  int polished = 0, plain = 0;
  for (int i = 0; i < 100; ++i) {
    PosedPair p{random_shape(rng, kSmoothKinds[i % 7]),
                random_shape(rng, kBoundedKinds[i % 8]),
                pose(rng, 0.5),
                pose(rng, 0.5)};
    p.X_WB.p = p.X_WA.p + unit_vector(rng) * 4.0;
    const DistanceResult r = distance(p.a, p.X_WA, p.b, p.X_WB);
    DistanceSettings settings;
    settings.method = DistanceMethod::kGjk;
    const DistanceResult g = distance(p.a, p.X_WA, p.b, p.X_WB, settings);
    BOOST_TEST(std::abs(r.distance - g.distance) <= 1e-9);
    polished += r.iterations;
    plain += g.iterations;
  }
  BOOST_TEST(polished < 0.6 * plain);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
