#include "stiction/geometry/shape.hpp"

#include "support/shapes.hpp"
#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>

namespace stiction::test {
namespace {

// Midpoint rule on a grid of n^3 cells over the bounding box.
MassProperties integrate(const Shape& s, double density, int n) {
  const Aabb box = bounding_box(s, Transform::identity());
  const Vec3d side = (box.upper - box.lower) * (1.0 / n);
  const double cell = density * side.x * side.y * side.z;
  double mass = 0.0;
  Vec3d moment{0, 0, 0};
  Sym3d second{0, 0, 0, 0, 0, 0};
  for (int i = 0; i < n * n * n; ++i) {
    const Vec3d p =
        box.lower +
        Vec3d{side.x * (i % n + 0.5), side.y * (i / n % n + 0.5), side.z * (i / n / n + 0.5)};
    if (outside(s, Transform::identity(), p) > 0.0) continue;
    mass += cell;
    moment += p * cell;
    second = second + Sym3d{cell * p.x * p.x,
                            cell * p.x * p.y,
                            cell * p.y * p.y,
                            cell * p.x * p.z,
                            cell * p.y * p.z,
                            cell * p.z * p.z};
  }
  const Vec3d c = moment * (1.0 / mass);
  const Sym3d m{second.xx - mass * c.x * c.x,
                second.xy - mass * c.x * c.y,
                second.yy - mass * c.y * c.y,
                second.xz - mass * c.x * c.z,
                second.yz - mass * c.y * c.z,
                second.zz - mass * c.z * c.z};
  return {mass, c, {m.yy + m.zz, -m.xy, m.xx + m.zz, -m.xz, -m.yz, m.xx + m.yy}};
}

double largest_difference(const Sym3d& a, const Sym3d& b) {
  return std::max({std::abs(a.xx - b.xx),
                   std::abs(a.yy - b.yy),
                   std::abs(a.zz - b.zz),
                   std::abs(a.xy - b.xy),
                   std::abs(a.xz - b.xz),
                   std::abs(a.yz - b.yz)});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mass_properties_test)

// Mass, centre and inertia of every kind agree with brute integration on a grid, to its error.
BOOST_AUTO_TEST_CASE(agree_with_a_grid) {
  Rng rng(1);
  for (const Kind kind : {Kind::kSphere,
                          Kind::kCapsule,
                          Kind::kBox,
                          Kind::kCloud,
                          Kind::kBall,
                          Kind::kCylinder,
                          Kind::kCone,
                          Kind::kEllipsoid}) {
    const Shape s = random_shape(rng, kind);
    const MassProperties exact = mass_properties(s, 500.0), grid = integrate(s, 500.0, 100);
    const double r = bounding_radius(s);
    BOOST_TEST_CONTEXT(name(kind)) {
      BOOST_TEST(std::abs(exact.mass - grid.mass) <= 0.01 * exact.mass);
      BOOST_TEST(norm(exact.com - grid.com) <= 0.005 * r);
      BOOST_TEST(largest_difference(exact.inertia, grid.inertia) <= 0.01 * exact.mass * r * r);
    }
  }
}

// A box as a mesh, rotated and shifted, has the closed-form properties of the box.
BOOST_AUTO_TEST_CASE(a_mesh_of_a_box_is_the_box) {
  Rng rng(2);
  for (int t = 0; t < 20; ++t) {
    const Vec3d h{rng.uniform(0.1, 1), rng.uniform(0.1, 1), rng.uniform(0.1, 1)};
    const Transform X = pose(rng, 10.0);
    std::vector<Vec3d> corners;
    for (int i = 0; i < 8; ++i) {
      corners.push_back(X * Vec3d{i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z});
    }
    const MassProperties box = mass_properties(Shape::box(h), 700.0);
    const MassProperties mesh = mass_properties(Shape::convex_mesh(corners), 700.0);
    BOOST_TEST(std::abs(box.mass - mesh.mass) <= 1e-10 * box.mass);
    BOOST_TEST(norm(mesh.com - X.p) <= 1e-10);
    BOOST_TEST(largest_difference(mesh.inertia, rotate(X.R, box.inertia)) <= 1e-10 * box.mass);
  }
}

// A capsule of length zero is the sphere, and a finely faceted ball approaches it.
BOOST_AUTO_TEST_CASE(limits) {
  const MassProperties ball = mass_properties(Shape::sphere(0.5), 10.0);
  const MassProperties capsule = mass_properties(Shape::capsule(0.5, 0.0), 10.0);
  BOOST_TEST(std::abs(ball.mass - capsule.mass) < 1e-14);
  BOOST_TEST(largest_difference(ball.inertia, capsule.inertia) < 1e-14);
  std::vector<Vec3d> points;
  for (int i = 0; i < 3000; ++i) points.push_back(lattice_direction(i, 3000) * 0.5);
  const MassProperties mesh = mass_properties(Shape::convex_mesh(points), 10.0);
  BOOST_TEST(std::abs(ball.mass - mesh.mass) < 4e-3 * ball.mass);
  BOOST_TEST(largest_difference(ball.inertia, mesh.inertia) < 8e-3 * ball.inertia.xx);
}

// Each smooth solid has the limit of finely faceted meshes inscribed in it: their defect falls with
// the square of the facet's angle, so halving it must divide the defect by four.
BOOST_AUTO_TEST_CASE(smooth_solids_are_limits_of_meshes) {
  const double r = 0.3, l = 0.7;
  const Vec3d h{0.3, 0.5, 0.8};
  const auto prism = [&](int sides, bool cone) {
    std::vector<Vec3d> points;
    for (int i = 0; i < sides; ++i) {
      const double angle = 2 * 3.14159265358979323846 * i / sides;
      for (const double z : {-l, l}) {
        if (cone && z > 0.0) continue;
        points.push_back({r * std::cos(angle), r * std::sin(angle), z});
      }
    }
    if (cone) points.push_back({0, 0, l});
    return Shape::convex_mesh(points);
  };
  const auto egg = [&](int count) {
    std::vector<Vec3d> points;
    for (int i = 0; i < count; ++i) {
      const Vec3d d = lattice_direction(i, count);
      points.push_back({h.x * d.x, h.y * d.y, h.z * d.z});
    }
    return Shape::convex_mesh(points);
  };
  const struct {
    Shape smooth, coarse, fine;
    double quarter;  // allowed deviation of the ratio of the defects from 4
  } cases[] = {{Shape::cylinder(r, l), prism(64, false), prism(128, false), 0.01},
               {Shape::cone(r, l), prism(64, true), prism(128, true), 0.01},
               {Shape::ellipsoid(h), egg(500), egg(2000), 0.3}};
  for (const auto& c : cases) {
    const MassProperties exact = mass_properties(c.smooth, 900.0);
    const MassProperties coarse = mass_properties(c.coarse, 900.0);
    const MassProperties fine = mass_properties(c.fine, 900.0);
    BOOST_TEST_CONTEXT(to_string(c.smooth.type)) {
      const auto fourth = [&](double e, double a, double b) {
        BOOST_TEST(e > b);
        BOOST_TEST(std::abs((e - a) / (e - b) - 4.0) <= c.quarter);
      };
      fourth(exact.mass, coarse.mass, fine.mass);
      fourth(exact.inertia.xx, coarse.inertia.xx, fine.inertia.xx);
      fourth(exact.inertia.yy, coarse.inertia.yy, fine.inertia.yy);
      fourth(exact.inertia.zz, coarse.inertia.zz, fine.inertia.zz);
      BOOST_TEST(norm(exact.com - fine.com) <= 2e-3 * l);
    }
  }
  const Vec3d com = mass_properties(Shape::cone(r, l), 1.0).com;
  BOOST_TEST(norm(com - mass_properties(prism(64, true), 1.0).com) <= 1e-12);
}

// Density and shape are checked by name.
BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const auto says = [](const std::string& text) {
    return [text](const std::exception& e) {
      return std::string(e.what()).find(text) != std::string::npos;
    };
  };
  BOOST_CHECK_EXCEPTION(
      mass_properties(Shape::sphere(1), -2.0), std::invalid_argument, says("density = -2"));
  BOOST_CHECK_EXCEPTION(
      mass_properties(Shape::half_space(), 1.0), std::invalid_argument, says("half_space"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
