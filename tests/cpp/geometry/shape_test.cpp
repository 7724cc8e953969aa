#include "stiction/geometry/shape.hpp"

#include "support/shapes.hpp"
#include <boost/test/unit_test.hpp>

#include <limits>
#include <stdexcept>
#include <string>

namespace stiction::test {
namespace {

auto says(const std::string& text) {
  return [text](const std::exception& e) {
    return std::string(e.what()).find(text) != std::string::npos;
  };
}

std::vector<Kind> bounded_kinds() {
  std::vector<Kind> kinds(std::begin(kBoundedKinds), std::end(kBoundedKinds));
  kinds.insert(kinds.end(), std::begin(kSmoothKinds), std::end(kSmoothKinds));
  return kinds;
}

/// A point of the solid, found without its support function.
Vec3d point_inside(Rng& rng, const Shape& s) {
  const double reach = bounding_radius(s);
  for (;;) {
    const Aabb box = bounding_box(s, Transform::identity());
    Vec3d p;
    for (int k = 0; k < 3; ++k) p[k] = rng.uniform(box.lower[k], box.upper[k]);
    if (outside(s, Transform::identity(), p) <= 0.0 && norm(p) <= reach * (1 + 1e-12)) return p;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shape_test)

// No point of the solid lies farther along d than the support point, and none outside of the ball.
BOOST_AUTO_TEST_CASE(support_is_the_farthest_point) {
  Rng rng(3);
  for (const Kind kind : bounded_kinds()) {
    for (int t = 0; t < 50; ++t) {
      const Shape s = random_shape(rng, kind);
      const Vec3d n = unit_vector(rng);
      const double most = dot(n, support(s, n));
      for (int i = 0; i < 20; ++i) BOOST_TEST(dot(n, point_inside(rng, s)) <= most + 1e-12);
    }
  }
}

// Directions along the axes, where a cap, a base or an apex is not unique or has no direction in
// the plane: still a point of the solid, at its extent.
BOOST_AUTO_TEST_CASE(support_along_the_axes) {
  for (const Shape& s : {Shape::cylinder(0.3, 0.7),
                         Shape::cone(0.3, 0.7),
                         Shape::cone(2.0, 0.1),
                         Shape::ellipsoid({0.1, 0.2, 0.3}),
                         Shape::capsule(0.1, 0.0)}) {
    for (int k = 0; k < 6; ++k) {
      Vec3d d{0, 0, 0};
      d[k / 2] = k % 2 == 0 ? 1.0 : -1.0;
      const Vec3d p = support(s, d);
      BOOST_TEST(outside(s, Transform::identity(), p) <= 1e-15);
      BOOST_TEST(std::abs(dot(d, p) - extent_along(s, Transform::identity(), d)) <= 1e-15);
    }
    BOOST_TEST(outside(s, Transform::identity(), support(s, {0, 0, 0})) <= 1e-15);
  }
}

// The support point lies in the shape and attains its extent along any direction, of any length.
BOOST_AUTO_TEST_CASE(support_attains_the_extent) {
  Rng rng(1);
  for (const Kind kind : bounded_kinds()) {
    for (int t = 0; t < 200; ++t) {
      const Shape s = random_shape(rng, kind);
      const Vec3d n = unit_vector(rng), p = support(s, n * rng.uniform(0.01, 100.0));
      BOOST_TEST(outside(s, Transform::identity(), p) <= 1e-12);
      BOOST_TEST(std::abs(dot(n, p) - extent_along(s, Transform::identity(), n)) <= 1e-12);
    }
  }
}

// The box of a posed shape is the tightest one: each side equals the extent along its axis.
BOOST_AUTO_TEST_CASE(bounding_box_is_tight) {
  Rng rng(2);
  for (const Kind kind : bounded_kinds()) {
    for (int t = 0; t < 100; ++t) {
      const Shape s = random_shape(rng, kind);
      const Transform X = pose(rng, 3.0);
      const Aabb box = bounding_box(s, X);
      for (int k = 0; k < 3; ++k) {
        Vec3d e{0, 0, 0};
        e[k] = 1.0;
        BOOST_TEST(std::abs(box.upper[k] - extent_along(s, X, e)) <= 1e-12);
        BOOST_TEST(std::abs(box.lower[k] + extent_along(s, X, -e)) <= 1e-12);
      }
      BOOST_TEST(norm(support(s, unit_vector(rng))) <= bounding_radius(s) * (1.0 + 1e-12));
    }
  }
}

// A half-space has an infinite box and no support point.
BOOST_AUTO_TEST_CASE(half_space_is_unbounded) {
  const Shape plane = Shape::half_space();
  const Aabb box = bounding_box(plane, Transform::identity());
  BOOST_TEST(std::isinf(box.lower.x));
  BOOST_TEST(std::isinf(box.upper.z));
  BOOST_TEST(std::isinf(bounding_radius(plane)));
  BOOST_TEST(!plane.bounded());
  BOOST_CHECK_THROW(support(plane, {0, 0, 1}), std::invalid_argument);
}

// Each maker names the field and its value.
BOOST_AUTO_TEST_CASE(bad_sizes_are_named) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_EXCEPTION(Shape::sphere(-1.5), std::invalid_argument, says("radius = -1.5"));
  BOOST_CHECK_EXCEPTION(Shape::sphere(nan), std::invalid_argument, says("radius = nan"));
  BOOST_CHECK_EXCEPTION(Shape::capsule(0.0, 1.0), std::invalid_argument, says("radius = 0"));
  BOOST_CHECK_EXCEPTION(Shape::capsule(1.0, -2.0), std::invalid_argument, says("half_length = -2"));
  BOOST_CHECK_EXCEPTION(Shape::box({1, -3, 1}), std::invalid_argument, says("half_extents.y = -3"));
  BOOST_CHECK_NO_THROW(Shape::capsule(1.0, 0.0));
  BOOST_CHECK_EXCEPTION(Shape::cylinder(-1, 1), std::invalid_argument, says("radius = -1"));
  BOOST_CHECK_EXCEPTION(Shape::cylinder(1, 0), std::invalid_argument, says("half_length = 0"));
  BOOST_CHECK_EXCEPTION(Shape::cone(nan, 1), std::invalid_argument, says("radius = nan"));
  BOOST_CHECK_EXCEPTION(Shape::cone(1, -2), std::invalid_argument, says("half_length = -2"));
  BOOST_CHECK_EXCEPTION(
      Shape::ellipsoid({1, 1, 0}), std::invalid_argument, says("half_axes.z = 0"));
}

// Every type has a name of its own.
BOOST_AUTO_TEST_CASE(names) {
  BOOST_TEST(std::string(to_string(ShapeType::kConvexMesh)) == "convex_mesh");
  BOOST_TEST(std::string(to_string(ShapeType::kHalfSpace)) == "half_space");
  BOOST_TEST(std::string(to_string(ShapeType::kCylinder)) == "cylinder");
  BOOST_TEST(std::string(to_string(ShapeType::kCone)) == "cone");
  BOOST_TEST(std::string(to_string(ShapeType::kEllipsoid)) == "ellipsoid");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
