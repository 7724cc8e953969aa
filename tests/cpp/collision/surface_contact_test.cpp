#include "stiction/collision/manifold.hpp"
#include "stiction/collision/ray_cast.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "support/allocation_guard.hpp"
#include "support/surfaces.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <stdexcept>

namespace stiction::test {
namespace {

Shape random_field(int n, double cell, double roughness, Rng& rng) {
  std::vector<double> heights(static_cast<std::size_t>(n) * n);
  for (double& h : heights) h = rng.uniform(-roughness, roughness);
  return Shape::height_field(n, n, heights, cell, cell);
}

Transform at(const Vec3d& p) { return {Mat3d::identity(), p}; }

/// Pyramid that stands on its tip, open above: k planes that meet at the origin.
Shape pit(int k, double steepness) {
  std::vector<Vec3d> vertices{{0, 0, 0}};
  std::vector<int> triangles;
  for (int i = 0; i < k; ++i) {
    const double a = 2.0 * M_PI * i / k;
    vertices.push_back({std::cos(a), std::sin(a), steepness});
    triangles.insert(triangles.end(), {0, 1 + i, 1 + (i + 1) % k});
  }
  return Shape::triangle_mesh(vertices, triangles);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(surface_contact_test)

BOOST_AUTO_TEST_CASE(warm_queries_do_not_allocate) {
  Rng rng(1);
  const Shape grounds[] = {floor_mesh(20, 0.1, rng),
                           random_field(21, 0.1, 0.05, rng),
                           torus_mesh(0.5, 0.2, 24, 12),
                           Shape::half_space()};
  const Shape bodies[] = {
      Shape::sphere(0.1),
      Shape::box({0.1, 0.2, 0.1}),
      Shape::capsule(0.1, 0.1),
      Shape::cylinder(0.1, 0.1),
      Shape::cone(0.1, 0.1),
      Shape::ellipsoid({0.1, 0.2, 0.1}),
      Shape::convex_mesh(
          {{0.1, 0, 0}, {-0.1, 0.05, 0}, {0, -0.1, 0.1}, {0, 0.1, 0.05}, {0, 0, -0.1}}),
      torus_mesh(0.3, 0.1, 16, 8)};
  ManifoldWorkspace work;
  long found = 0;
  for (int round = 0; round < 2; ++round) {
    Rng poses(2);
    long taken = 0;
    for (int t = 0; t < 200; ++t) {
      for (const Shape& ground : grounds) {
        for (const Shape& body : bodies) {
          if (!is_surface(ground.type) && !is_surface(body.type)) continue;
          const Transform X{rotation(poses), uniform_vector(poses, 0.3)};
          const long before = allocation_count();
          contact_manifolds(ground, Transform::identity(), body, X, 0.01, work);
          taken += allocation_count() - before;
          found += static_cast<long>(work.manifolds.size());
        }
      }
    }
    if (round == 1) BOOST_TEST(taken == 0);
  }
  BOOST_TEST(found > 1000);
}

// A body meets as many triangles on a large floor as on a small one, and finds them through
// a number of boxes that grows with the logarithm.
BOOST_AUTO_TEST_CASE(work_grows_logarithmically) {
  Rng rng(3);
  std::int64_t boxes[4], triangles[4];
  for (int k = 0; k < 4; ++k) {
    const Shape ground = floor_mesh(16 << k, 0.1, rng);
    ManifoldWorkspace work;
    boxes[k] = triangles[k] = 0;
    for (int t = 0; t < 200; ++t) {
      const Vec3d p{rng.uniform(-0.6, 0.6), rng.uniform(-0.6, 0.6), 0.0999};
      contact_manifolds(ground, Transform::identity(), Shape::sphere(0.1), at(p), 0.0, work);
      BOOST_TEST(work.manifolds.size() == 1u);
      boxes[k] += work.boxes_tested;
      triangles[k] += work.triangles_tested;
    }
  }
  // Four times the triangles: about two more levels each time, not four times the work.
  BOOST_TEST_MESSAGE("boxes per query: " << boxes[0] / 200 << " " << boxes[1] / 200 << " "
                                         << boxes[2] / 200 << " " << boxes[3] / 200);
  for (int k = 1; k < 4; ++k) {
    BOOST_TEST(double(boxes[k]) < 1.45 * double(boxes[k - 1]));
    BOOST_TEST(double(triangles[k]) < 1.3 * double(triangles[0]));
  }
  BOOST_TEST(boxes[3] - boxes[0] < 200 * 4 * 6);
}

BOOST_AUTO_TEST_CASE(a_single_manifold_is_refused_for_surfaces) {
  Rng rng(4);
  Manifold m;
  BOOST_CHECK_THROW(contact_manifold(floor_mesh(2, 1.0, rng),
                                     Transform::identity(),
                                     Shape::sphere(1.0),
                                     Transform::identity(),
                                     0.0,
                                     m),
                    std::invalid_argument);
}

// All points of one manifold differ in their ids, and of several manifolds too.
BOOST_AUTO_TEST_CASE(features_are_unique_in_a_pair) {
  Rng rng(5);
  const Shape ground = random_field(31, 0.05, 0.05, rng), body = Shape::box({0.3, 0.3, 0.05});
  ManifoldWorkspace work;
  for (int t = 0; t < 200; ++t) {
    const Transform X{Mat3d::identity(), {rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), 0.06}};
    contact_manifolds(ground, Transform::identity(), body, X, 0.02, work);
    std::vector<std::uint32_t> ids;
    BOOST_TEST(work.manifolds.size() <= std::size_t(kMaxManifolds));
    for (const Manifold& m : work.manifolds) {
      BOOST_TEST(std::abs(norm(m.normal) - 1.0) < 1e-12);
      for (int k = 0; k < m.count; ++k) {
        ids.push_back(m.points[k].feature);
        BOOST_TEST(m.points[k].gap <= 0.02);
      }
    }
    BOOST_TEST(ids.size() > 2u);
    std::sort(ids.begin(), ids.end());
    BOOST_TEST((std::adjacent_find(ids.begin(), ids.end()) == ids.end()));
  }
}

// Exchanging A and B turns the normals and keeps everything else, to the last bit.
BOOST_AUTO_TEST_CASE(order_of_the_pair_does_not_matter) {
  Rng rng(6);
  const Shape ground = random_field(21, 0.1, 0.1, rng), body = Shape::box({0.1, 0.2, 0.1});
  ManifoldWorkspace a, b;
  for (int t = 0; t < 200; ++t) {
    const Transform X{rotation(rng), uniform_vector(rng, 0.4)};
    const Transform G{rotation(rng), uniform_vector(rng, 0.4)};
    contact_manifolds(ground, G, body, G * X, 0.01, a);
    contact_manifolds(body, G * X, ground, G, 0.01, b);
    BOOST_TEST(a.manifolds.size() == b.manifolds.size());
    for (std::size_t m = 0; m < a.manifolds.size(); ++m) {
      BOOST_TEST(norm(a.manifolds[m].normal + b.manifolds[m].normal) == 0.0);
      BOOST_TEST(a.manifolds[m].count == b.manifolds[m].count);
      for (int k = 0; k < a.manifolds[m].count; ++k) {
        BOOST_TEST(a.manifolds[m].points[k].gap == b.manifolds[m].points[k].gap);
        BOOST_TEST(a.manifolds[m].points[k].feature == b.manifolds[m].points[k].feature);
      }
    }
  }
}

// A ball in a pit of k planes has k manifolds of one point each, where geometry says.
BOOST_AUTO_TEST_CASE(a_ball_touches_every_side_of_a_pit) {
  Rng rng(8);
  ManifoldWorkspace work;
  for (int trial = 0; trial < 200; ++trial) {
    const int k = 3 + trial % 5;
    const Shape ground = pit(k, 0.6);
    const Transform G = pose(rng, 1.0);
    const Vec3d centre{0, 0, 0.3};
    const auto& mesh = *ground.surface;
    const auto normal = [&](int i) {
      const Vec3d n = cross(mesh.vertices[1 + i], mesh.vertices[1 + (i + 1) % k]);
      return n * (1.0 / norm(n));
    };
    const double away = dot(normal(0), centre), radius = away - rng.uniform(-0.01, 0.005);
    const Transform X = G * at(centre);
    for (const bool exchanged : {false, true}) {
      const Shape ball = Shape::sphere(radius);
      if (exchanged) contact_manifolds(ball, X, ground, G, 0.01, work);
      if (!exchanged) contact_manifolds(ground, G, ball, X, 0.01, work);
      BOOST_TEST_REQUIRE(work.manifolds.size() == std::size_t(k));
      for (int i = 0; i < k; ++i) {
        const Vec3d n = G.R * normal(i);
        const Vec3d point = X.p - n * (0.5 * (away + radius));
        int found = 0;
        for (const Manifold& m : work.manifolds) {
          if (norm(m.normal * (exchanged ? -1.0 : 1.0) - n) > 1e-9) continue;
          ++found;
          BOOST_TEST(m.count == 1);
          BOOST_TEST(std::abs(m.points[0].gap - (away - radius)) < 1e-12);
          BOOST_TEST(norm(m.points[0].position - point) < 1e-12);
        }
        BOOST_TEST(found == 1);
      }
    }
  }
}

// A box on level ground of many triangles has one manifold, and its points are the box's corners.
BOOST_AUTO_TEST_CASE(a_box_stands_on_its_corners) {
  Rng rng(9);
  const Shape ground = floor_mesh(20, 0.1, rng);
  ManifoldWorkspace work;
  for (int trial = 0; trial < 100; ++trial) {
    const Vec3d h{rng.uniform(0.1, 0.4), rng.uniform(0.1, 0.4), 0.1};
    const double turn = rng.uniform(-M_PI, M_PI), gap = rng.uniform(-2e-3, 2e-3);
    const double c = std::cos(turn), s = std::sin(turn);
    const Transform X{{{c, s, 0}, {-s, c, 0}, {0, 0, 1}},
                      {rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), 0.1 + gap}};
    const Transform G = pose(rng, 1.0);
    contact_manifolds(ground, G, Shape::box(h), G * X, 0.01, work);
    BOOST_TEST_REQUIRE(work.manifolds.size() == 1u);
    const Manifold& m = work.manifolds[0];
    int corners = 0;
    for (int k = 0; k < m.count; ++k) {
      BOOST_TEST(std::abs(m.points[k].gap - gap) < 1e-12);
      const Vec3d p = inverse(G) * m.points[k].position;
      BOOST_TEST(std::abs(p.z - 0.5 * gap) < 1e-12);
      const Vec3d b = inverse(X) * p;  // in the box's axes
      BOOST_TEST(std::abs(b.x) < h.x + 1e-12);
      BOOST_TEST(std::abs(b.y) < h.y + 1e-12);
      corners += std::abs(std::abs(b.x) - h.x) < 1e-12 && std::abs(std::abs(b.y) - h.y) < 1e-12;
    }
    BOOST_TEST(corners == 4);
  }
}

// No ray slips through between the triangles of a closed mesh.
BOOST_AUTO_TEST_CASE(closed_meshes_are_watertight_to_rays) {
  Rng rng(7);
  const Shape ring = torus_mesh(1.0, 0.4, 32, 16);
  for (int t = 0; t < 20000; ++t) {
    // Towards a point well inside of the tube, often through a vertex or an edge.
    const int i = int(rng.uniform(0.0, 32.0)), j = int(rng.uniform(0.0, 16.0));
    const Vec3d v = ring.surface->vertices[i * 16 + j];
    const double a = 2.0 * M_PI * i / 32;
    const Vec3d core{std::cos(a), std::sin(a), 0.0}, out = v - core;
    RayHit hit;
    BOOST_REQUIRE(ray_cast(ring, core + out * 3.0, -out, 10.0, hit));
    BOOST_TEST(hit.distance <= 2.0 * norm(out) + 1e-12);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
