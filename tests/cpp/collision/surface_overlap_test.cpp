#include "stiction/collision/manifold.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "support/allocation_guard.hpp"
#include "support/surfaces.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>

// Solids that overlap: which contacts they have, what their distance is, in either order.

namespace stiction::test {
namespace {

const Transform kHome = Transform::identity();

Transform at(const Vec3d& p) { return {Mat3d::identity(), p}; }

Shape cube_mesh(double h) {
  std::vector<Vec3d> v;
  for (int k = 0; k < 8; ++k) v.push_back({k & 4 ? h : -h, k & 2 ? h : -h, k & 1 ? h : -h});
  return Shape::triangle_mesh(v, {0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1,
                                  2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3});
}

Shape level_field() { return Shape::height_field(11, 11, std::vector<double>(121, 0.0), 0.1, 0.1); }

// Three walls that meet in the origin and face the first octant.
Shape corner_mesh() {
  return Shape::triangle_mesh(
      {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}, {1, 0, 1}},
      {0, 1, 2, 0, 2, 3, 0, 3, 5, 0, 5, 4, 0, 4, 6, 0, 6, 1});
}

struct Pair {
  const Shape &a, &b;
  Transform X;

  double there() const { return distance(a, kHome, b, X).distance; }
  double back() const { return distance(b, X, a, kHome).distance; }
  bool hit() const { return collide(a, kHome, b, X); }
  std::vector<Manifold> manifolds(double margin = 0.0) const {
    ManifoldWorkspace work;
    contact_manifolds(a, kHome, b, X, margin, work);
    return work.manifolds;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(surface_overlap_test)

// Gaps, places and number of all points, in a corner of three walls.
BOOST_AUTO_TEST_CASE(a_box_in_a_corner_touches_three_walls_with_four_points_each) {
  const Shape walls = corner_mesh(), box = Shape::box({0.1, 0.1, 0.1});
  const double gap[3] = {1e-3, 2e-3, 3e-3};
  const Pair p{walls, box, at({0.1 + gap[0], 0.1 + gap[1], 0.1 + gap[2]})};
  const std::vector<Manifold> found = p.manifolds(0.01);
  BOOST_REQUIRE(found.size() == 3u);
  int axes = 0;
  for (const Manifold& m : found) {
    int axis = 0;
    while (axis < 2 && m.normal[axis] < 0.5) ++axis;
    axes += 1 << axis;
    BOOST_TEST(std::abs(m.normal[axis] - 1.0) < 1e-12);
    BOOST_REQUIRE(m.count == 4);
    int corners = 0;
    for (int k = 0; k < 4; ++k) {
      BOOST_TEST(std::abs(m.points[k].gap - gap[axis]) < 1e-12);
      BOOST_TEST(std::abs(m.points[k].position[axis] - 0.5 * gap[axis]) < 1e-12);
      int corner = 0;
      for (int other = 0; other < 3; ++other) {
        if (other == axis) continue;
        const double x = m.points[k].position[other] - gap[other];
        BOOST_TEST(std::min(std::abs(x), std::abs(x - 0.2)) < 1e-12);
        corner = 2 * corner + (x > 0.1);
      }
      corners |= 1 << corner;
    }
    BOOST_TEST(corners == 15);
  }
  BOOST_TEST(axes == 7);
}

// The middle of a ring is not in it.
BOOST_AUTO_TEST_CASE(linked_rings_are_apart) {
  const Shape ring = torus_mesh(0.3, 0.1, 48, 24);
  const Mat3d upright{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}};
  for (const double x : {0.25, 0.3, 0.35}) {
    const Pair p{ring, ring, {upright, {x, 0, 0}}};
    BOOST_TEST(std::abs(p.there() - (0.1 - std::abs(x - 0.3))) < 3e-3);
    BOOST_TEST(std::abs(p.there() - p.back()) < 1e-9);
    BOOST_TEST(!p.hit());
    BOOST_TEST(p.manifolds(1e-3).empty());
  }
}

BOOST_AUTO_TEST_CASE(what_is_wholly_inside_overlaps_in_either_order) {
  const Shape small = cube_mesh(0.1), large = cube_mesh(1.0), field = level_field();
  const Pair inside{large, small, at({0.3, 0.1, 0.0})},
      buried{field, small, at({0.01, 0.02, -0.35})};
  BOOST_TEST(std::abs(inside.there() + 0.8) < 1e-9);
  BOOST_TEST(std::abs(inside.back() + 0.8) < 1e-9);
  BOOST_TEST(std::abs(buried.there() + 0.45) < 1e-9);
  BOOST_TEST(std::abs(buried.back() + 0.45) < 1e-9);
  BOOST_TEST(inside.hit());
  BOOST_TEST(buried.hit());
  const Pair above{field, small, at({0.01, 0.02, 0.35})};
  BOOST_TEST(std::abs(above.there() - 0.25) < 1e-9);
  BOOST_TEST(std::abs(above.back() - 0.25) < 1e-9);
}

// A sheet has no inside: what lies behind it is apart from it.
BOOST_AUTO_TEST_CASE(nothing_is_inside_of_a_sheet) {
  Rng rng(1);
  const Shape sheet = floor_mesh(4, 0.5, rng), ball = Shape::sphere(0.1);
  BOOST_TEST(std::abs(Pair{sheet, ball, at({0.1, 0.2, -0.5})}.there() - 0.4) < 1e-9);
}

// The depth of Box against Box, whose overlap is too deep for corners and edges alone.
BOOST_AUTO_TEST_CASE(deep_cubes_push_apart_along_the_least_way) {
  const Shape mesh = cube_mesh(0.1), box = Shape::box({0.1, 0.1, 0.1});
  for (const Shape* other : {&mesh, &box}) {
    for (const Vec3d& side : {Vec3d{0.01, 0.02, 0}, Vec3d{0, 0, 0}, Vec3d{0.05, 0, 0}}) {
      for (const double depth : {1e-3, 0.015, 0.03, 0.08}) {
        const Pair p{mesh, *other, at(side + Vec3d{0, 0, 0.2 - depth})};
        const DistanceResult r = distance(p.a, kHome, p.b, p.X);
        BOOST_TEST(std::abs(r.distance + depth) < 1e-6);
        BOOST_TEST(norm(r.normal - Vec3d{0, 0, 1}) < 1e-6);
        BOOST_TEST(std::abs(p.back() + depth) < 1e-6);
        int touching = 0;
        for (const Manifold& m : p.manifolds()) {
          for (int k = 0; k < m.count; ++k) touching += std::abs(m.points[k].gap + depth) < 1e-6;
        }
        BOOST_TEST(touching >= 2);  // two crossings of edges, or four corners
      }
    }
  }
}

// At any pose: a contact where the cubes overlap, the sign of Box against Box, a depth that is near
// the least way out, the same in either order.
BOOST_AUTO_TEST_CASE(overlapping_cubes_always_have_a_contact) {
  Rng rng(2);
  const Shape mesh = cube_mesh(0.1), box = Shape::box({0.1, 0.1, 0.1});
  int overlapping = 0, far_off[2] = {0, 0};
  for (int t = 0; t < 600; ++t) {
    const Transform X{rotation(rng), uniform_vector(rng, 0.15)};
    const double truth = distance(box, kHome, box, X).distance;
    if (std::abs(truth) < 1e-4) continue;
    overlapping += truth < 0.0;
    for (const Shape* other : {&mesh, &box}) {
      const Pair p{mesh, *other, X};
      const double d = p.there();
      BOOST_TEST((d < 0.0) == (truth < 0.0));
      BOOST_TEST(p.hit() == (truth < 0.0));
      BOOST_TEST(std::abs(p.back() - d) < 1e-6);
      if (truth > 0.0) BOOST_TEST(std::abs(d - truth) < 1e-9);
      if (truth < 0.0) BOOST_TEST(!p.manifolds().empty());
      if (truth < 0.0) far_off[other == &box] += d < 2.0 * truth || d > 0.5 * truth;
    }
  }
  BOOST_TEST_MESSAGE(overlapping << " overlap, depths off by a factor of two: meshes " << far_off[0]
                                 << ", mesh and box " << far_off[1]);
  BOOST_TEST(overlapping > 300);
  BOOST_TEST(far_off[0] < overlapping / 20);
  BOOST_TEST(far_off[1] < overlapping / 20);
}

BOOST_AUTO_TEST_CASE(overlapping_rings_always_have_a_contact) {
  Rng rng(3);
  const Shape ring = torus_mesh(0.3, 0.1, 24, 12);
  int overlapping = 0;
  ManifoldWorkspace work;
  for (int t = 0; t < 150; ++t) {
    const Pair p{ring, ring, {rotation(rng), uniform_vector(rng, 0.5)}};
    const double d = p.there();
    BOOST_TEST(std::abs(p.back() - d) < 1e-6);
    BOOST_TEST(d > -0.4);
    contact_manifolds(ring, kHome, ring, p.X, 0.0, work);
    if (d < -1e-6) BOOST_TEST(!work.manifolds.empty());
    overlapping += d < -1e-6;
  }
  BOOST_TEST(overlapping > 50);
}

BOOST_AUTO_TEST_CASE(overlaps_allocate_nothing_when_warm) {
  const Shape mesh = cube_mesh(0.1), field = level_field(), box = Shape::box({0.1, 0.1, 0.1});
  ManifoldWorkspace work;
  long taken = 0;
  for (int round = 0; round < 2; ++round) {
    Rng rng(4);
    taken = 0;
    for (int t = 0; t < 200; ++t) {
      const Transform X{rotation(rng), uniform_vector(rng, 0.15)};
      for (const Shape* a : {&mesh, &field}) {
        for (const Shape* b : {&mesh, &box}) {
          const long before = allocation_count();
          contact_manifolds(*a, kHome, *b, X, 1e-3, work);
          taken += allocation_count() - before;
        }
      }
    }
  }
  BOOST_TEST(taken == 0);
}

// Rounding of the corners of two triangles has no depth.
BOOST_AUTO_TEST_CASE(meshes_that_touch_say_so) {
  const Shape mesh = cube_mesh(0.125);
  for (const Vec3d& side : {Vec3d{0, 0, 0.25}, Vec3d{0.0625, 0.03125, 0.25}}) {
    const DistanceResult r = distance(mesh, kHome, mesh, at(side));
    BOOST_TEST(to_string(r.status) == std::string("touching"));
    BOOST_TEST(r.distance == 0.0);
    BOOST_TEST(!std::signbit(r.distance));
    BOOST_TEST(collide(mesh, kHome, mesh, at(side)));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
