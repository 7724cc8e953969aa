#include "stiction/collision/manifold.hpp"

#include "support/judge.hpp"
#include "support/manifolds.hpp"
#include "support/placing.hpp"
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>
#include <limits>
#include <ostream>
#include <stdexcept>

namespace stiction::test {

namespace {

Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

/// Rotation by `angle` about the x-axis.
Mat3d about_x(double angle) { return small_rotation({angle, 0.0, 0.0}); }

Shape mesh_box(const Vec3d& h) { return Shape::convex_mesh(box_corners(h)); }

/// One of each bounded kind, about `s` large: flat and round ones, with the curved ones if asked.
std::vector<Shape> every_kind(double s, Family family = Family::kCurved) {
  Rng rng(3);
  std::vector<Shape> shapes = {Shape::sphere(s),
                               Shape::capsule(0.5 * s, s),
                               Shape::box({s, 0.8 * s, 0.6 * s}),
                               mesh_box({s, 0.8 * s, 0.6 * s}),
                               Shape::convex_mesh(random_points(rng, 30, {s, s, s}, true))};
  if (family == Family::kFlat) return shapes;
  shapes.push_back(Shape::cylinder(s, 0.7 * s));
  shapes.push_back(Shape::cone(s, 0.9 * s));
  shapes.push_back(Shape::ellipsoid({s, 0.8 * s, 0.6 * s}));
  return shapes;
}

bool is_curved(const Shape& s) { return s.type >= ShapeType::kCylinder; }
/// Pairs without and with a curved shape are tests of their own.
bool belongs(Family family, const Shape& a, const Shape& b) {
  return (family == Family::kCurved) == (is_curved(a) || is_curved(b));
}
const auto families = boost::unit_test::data::make(kFamilies);

/// Judges the answer as the fuzz does, with a sweep over directions if it penetrates.
DistanceResult judged(const PosedPair& p, double relative_tolerance = 0.0) {
  FuzzCase c{};
  c.pair = p;
  Faults faults;
  const DistanceResult r = query(p);
  const double tolerance = std::max(promised_tolerance(p), relative_tolerance * radii(p));
  Judge j(c, r, tolerance, faults);
  Rng rng(1);
  j.definition();
  if (r.distance < 0.0) j.sweep(40, rng);
  BOOST_TEST(faults.none(), to_string(p.a.type) << " / " << to_string(p.b.type) << faults.text());
  return r;
}

void check(const PosedPair& p, double distance, const Vec3d& normal) {
  const DistanceResult r = judged(p);
  BOOST_TEST_CONTEXT(to_string(p.a.type) << " / " << to_string(p.b.type) << " size " << radii(p)
                                         << " distance " << r.distance << " for " << distance) {
    BOOST_TEST(std::abs(r.distance - distance) <= 1e-13 * radii(p));
    BOOST_TEST(norm(r.normal - normal) <= 1e-9);
  }
}

bool refused(const std::function<void()>& call, const std::string& word) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    const bool named = std::string(e.what()).find(word) != std::string::npos;
    if (!named) BOOST_TEST_MESSAGE("\"" << e.what() << "\" does not say " << word);
    return named;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(degenerate_test)

// Flat faces on each other, exactly touching, 1e-6 of the size apart and 1e-6 inside: the common
// normal and the exact gap.
BOOST_DATA_TEST_CASE(kissing_faces, families, family) {
  for (const double s : kFuzzScales) {
    const std::vector<Shape> stands = {Shape::box({s, s, s}),
                                       mesh_box({s, s, s}),
                                       Shape::cylinder(s, s),
                                       Shape::cone(s, s),
                                       Shape::box({1e-3 * s, 1e-3 * s, s}),
                                       Shape::cylinder(1e-3 * s, s)};
    for (const Shape& lower : {Shape::box({s, s, s}), mesh_box({s, s, s}), Shape::cylinder(s, s)}) {
      for (const Shape& upper : stands) {
        if (!belongs(family, lower, upper)) continue;
        for (const double gap : {0.0, 1e-6 * s, -1e-6 * s}) {
          check({lower, upper, at(0, 0, 0), at(0, 0, 2.0 * s + gap)}, gap, {0, 0, 1});
          check({lower, upper, at(0, 0, 0), at(0.3 * s, 0.2 * s, 2.0 * s + gap)}, gap, {0, 0, 1});
        }
      }
    }
  }
}

// Boxes standing on an edge over each other: parallel edges, and a parallel edge over a face.
BOOST_AUTO_TEST_CASE(parallel_edges) {
  const double half = std::sqrt(2.0), quarter = 0.25 * 3.14159265358979323846;
  for (const double gap : {1e-3, 1e-9, 0.0}) {
    for (const Shape& a : {Shape::box({1, 1, 1}), mesh_box({1, 1, 1})}) {
      for (const Shape& b : {Shape::box({1, 1, 1}), mesh_box({1, 1, 1})}) {
        const Transform low{about_x(quarter), {0, 0, 0}};
        const DistanceResult r = judged({a, b, low, {about_x(quarter), {0.4, 0, 2 * half + gap}}});
        BOOST_TEST(std::abs(r.distance - gap) <= 1e-13);
        if (gap >= 1e-9) BOOST_TEST(norm(r.normal - Vec3d{0, 0, 1}) <= 1e-6);
        check({a, b, at(0, 0, 0), {about_x(quarter), {0.4, 0, 1 + half + gap}}}, gap, {0, 0, 1});
      }
    }
  }
}

// A shape upon itself: the depth is its least width, whatever direction the tie takes.
BOOST_DATA_TEST_CASE(identical_shapes_at_one_pose, families, family) {
  Rng rng(4);
  for (const double s : kFuzzScales) {
    for (const Shape& shape : every_kind(s)) {
      if (!belongs(family, shape, shape)) continue;
      const Transform X = pose(rng, s);
      const DistanceResult r = judged({shape, shape, X, X});
      BOOST_TEST((r.status == DistanceStatus::kPenetrating), to_string(shape.type));
      BOOST_TEST(collide(shape, X, shape, X));
    }
    const auto depth = [&](const Shape& shape) {
      return -query({shape, shape, at(0, 0, 0), at(0, 0, 0)}).distance / s;
    };
    if (family == Family::kCurved) {
      BOOST_TEST(std::abs(depth(Shape::cylinder(s, 0.7 * s)) - 1.4) <= 1e-11);
      BOOST_TEST(std::abs(depth(Shape::ellipsoid({s, 0.8 * s, 0.6 * s})) - 1.2) <= 1e-11);
      continue;
    }
    BOOST_TEST(std::abs(depth(Shape::box({s, 0.8 * s, 0.6 * s})) - 1.2) <= 1e-13);
    BOOST_TEST(std::abs(depth(mesh_box({s, 0.8 * s, 0.6 * s})) - 1.2) <= 1e-12);
  }
}

// A ball of 1e-12 m in a plate of 1 mm: the nearest face is found from any height in it.
BOOST_AUTO_TEST_CASE(a_point_in_a_thin_plate) {
  const double r = 1e-12, h = 0.5e-3;
  const std::vector<Shape> plates = {
      Shape::box({1, 1, h}), mesh_box({1, 1, h}), Shape::cylinder(1, h)};
  for (const Shape& plate : plates) {
    for (const double z : {0.4e-3, 1e-6, 1e-12, -0.2e-3, 0.6e-3, -1e-2}) {
      const double sign = z < 0.0 ? 1.0 : -1.0;  // from the ball to the plate
      const Shape ball = Shape::sphere(r);
      check({ball, plate, at(0.3, 0.1, z), at(0, 0, 0)}, std::abs(z) - h - r, {0, 0, sign});
      check({plate, ball, at(0, 0, 0), at(0.3, 0.1, z)}, std::abs(z) - h - r, {0, 0, -sign});
    }
  }
}

// Sizes 1e5 apart: the normal of a face of 1 cm is known to 1e-11 rad where coordinates are rounded
// to 1e-13 m, and a corner 1 km away with it to 1e-11 of the size.
BOOST_DATA_TEST_CASE(sizes_far_apart, families, family) {
  constexpr double kRounding = 1e-11;
  for (const Shape& small : every_kind(1e-2)) {
    for (const Shape& large : every_kind(1e3)) {
      if (!belongs(family, small, large)) continue;
      const Vec3d u{0.6, 0.0, 0.8};
      PosedPair p{large, small, at(0, 0, 0), {Mat3d::identity(), u * 2e3}};
      const DistanceResult far = judged(p, kRounding);
      p.X_WB.p += far.normal * (1e-4 - far.distance);
      BOOST_TEST(std::abs(judged(p, kRounding).distance - 1e-4) <= 1e-8);
      p.X_WB.p += far.normal * -2e-4;
      judged(p, kRounding);
    }
  }
}

// Aspects of 1e6.
BOOST_AUTO_TEST_CASE(needles_and_slabs) {
  const Shape needle = Shape::box({1e-6, 1e-6, 1}), slab = Shape::box({1, 1, 1e-6});
  const Shape thin = mesh_box({1e-6, 1e-6, 1}), flat = mesh_box({1, 1, 1e-6});
  for (const Shape& a : {needle, slab, thin, flat}) {
    for (const Shape& b : {needle, slab, thin, flat}) {
      Rng rng(8);
      for (int t = 0; t < 20; ++t) judged({a, b, pose(rng, 0.2), pose(rng, 0.2)});
    }
  }
}

// Zero lengths: only a capsule's, which is then a ball. The others are refused by name.
BOOST_AUTO_TEST_CASE(zero_sizes) {
  Rng rng(6);
  const Shape point_capsule = Shape::capsule(0.3, 0.0), ball = Shape::sphere(0.3);
  for (const Shape& other : every_kind(1.0)) {
    const Transform X = pose(rng, 0.1), Y{rotation(rng), unit_vector(rng) * rng.uniform(0.5, 2.5)};
    const DistanceResult r = judged({point_capsule, other, X, Y});
    BOOST_TEST(std::abs(r.distance - query({ball, other, X, Y}).distance) <= 1e-10);
  }
  BOOST_TEST(refused([] { Shape::sphere(0.0); }, "radius = 0"));
  BOOST_TEST(refused([] { Shape::box({1, 0, 1}); }, "half_extents.y = 0"));
  BOOST_TEST(refused([] { Shape::cylinder(1, 0); }, "half_length = 0"));
  BOOST_TEST(refused([] { Shape::cone(0, 1); }, "radius = 0"));
  BOOST_TEST(refused([] { Shape::ellipsoid({1, 1, 0}); }, "half_axes.z = 0"));
}

// Points that add nothing to a hull change no answer: repeated, inside, on faces and edges.
BOOST_AUTO_TEST_CASE(redundant_hull_points) {
  Rng rng(7);
  const std::vector<Vec3d> corners = box_corners({1, 0.8, 0.6});
  std::vector<Vec3d> more = corners;
  for (const Vec3d& c : corners) {
    more.push_back(c);
    more.push_back(c * 0.5);
    for (const Vec3d& d : corners) more.push_back((c + d) * 0.5);
  }
  const Shape clean = Shape::convex_mesh(corners), cluttered = Shape::convex_mesh(more);
  BOOST_TEST(cluttered.mesh->vertices.size() == 8u);
  BOOST_TEST(cluttered.mesh->faces.size() == 6u);
  for (int t = 0; t < 200; ++t) {
    const Shape other = fuzz_shape(rng, FuzzKind(t % kFuzzKinds));
    const Transform X = pose(rng, 0.1), Y{rotation(rng), unit_vector(rng) * rng.uniform(0.5, 2.5)};
    const double d = query({clean, other, X, Y}).distance;
    BOOST_TEST(std::abs(query({cluttered, other, X, Y}).distance - d) <= 1e-9);
  }
}

// Sets without a volume, too few or not finite points: refused in words, at every scale.
BOOST_AUTO_TEST_CASE(hulls_without_volume_are_refused) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = HUGE_VAL;
  for (const double s : {1e-9, 1e-3, 1.0, 1e3, 1e9}) {
    Rng rng(9);
    std::vector<Vec3d> flat, line, same(6, Vec3d{s, s, s});
    const Transform X = pose(rng, s);
    for (int i = 0; i < 12; ++i) {
      const double a = rng.uniform(-s, s), b = rng.uniform(-s, s);
      flat.push_back({a, b, 0.5 * s});
      line.push_back({a, a, a});
    }
    BOOST_TEST(refused([&] { Shape::convex_mesh(flat); }, "coplanar"), "flat " << s);
    BOOST_TEST(refused([&] { Shape::convex_mesh(line); }, "coplanar"), "line " << s);
    BOOST_TEST(refused([&] { Shape::convex_mesh(same); }, "coincide"), "same " << s);
    for (Vec3d& p : flat) p = X * p;  // coplanar to rounding only
    BOOST_TEST(refused([&] { Shape::convex_mesh(flat); }, "coplanar"), "inclined " << s);
  }
  BOOST_TEST(refused([] { Shape::convex_mesh({}); }, "count 0"));
  BOOST_TEST(refused([] { Shape::convex_mesh({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}); }, "count 3"));
  std::vector<Vec3d> bad = box_corners({1, 1, 1});
  bad[5].y = nan;
  BOOST_TEST(refused([&] { Shape::convex_mesh(bad); }, "points[5].y = nan"));
  bad[5].y = inf;
  BOOST_TEST(refused([&] { Shape::convex_mesh(bad); }, "points[5].y = inf"));
}

// Hulls from 1e-9 to 1e9 m work; sheets as thin as 1e-6 of their extent keep their two sides.
BOOST_AUTO_TEST_CASE(hulls_of_any_scale) {
  for (const double s : {1e-9, 1e-6, 1e6, 1e9}) {
    const Shape mesh = mesh_box({s, 0.8 * s, 0.6 * s}), ball = Shape::sphere(s);
    const DistanceResult r = query({mesh, ball, at(0, 0, 0), at(0, 0, 2.6 * s)});
    BOOST_TEST(std::abs(r.distance - s) <= std::max(1e-10 * (s < 1), 1e-12 * s), "scale " << s);
    const DistanceResult in = query({mesh, ball, at(0, 0, 0), at(0, 0, 1.5 * s)});
    BOOST_TEST(std::abs(in.distance + 0.1 * s) <= 1e-12 * s, "scale " << s);
  }
}

// NaN and infinite poses are the caller's mistake, named.
BOOST_AUTO_TEST_CASE(bad_poses_are_named) {
  const Transform X = at(0, 0, 0.5);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL}) {
    std::vector<Transform> broken(3, X);
    broken[0].p.y = bad;
    broken[1].R.c2.x = bad;
    broken[2].p = {bad, bad, bad};
    std::vector<Shape> shapes = every_kind(1.0);
    shapes.push_back(Shape::half_space());
    for (const Transform& Y : broken) {
      for (const Shape& a : shapes) {
        for (const Shape& b : shapes) {
          if (!a.bounded() && !b.bounded()) continue;
          Manifold m;
          BOOST_TEST(refused([&] { distance(a, Y, b, X); }, "X_WA"));
          BOOST_TEST(refused([&] { distance(a, X, b, Y); }, "X_WB"));
          BOOST_TEST(refused([&] { collide(a, Y, b, X); }, "X_WA"));
          BOOST_TEST(refused([&] { collide(a, X, b, Y); }, "X_WB"));
          BOOST_TEST(refused([&] { contact_manifold(a, Y, b, X, 0.0, m); }, "X_WA"));
          BOOST_TEST(refused([&] { contact_manifold(a, X, b, Y, 0.0, m); }, "X_WB"));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
