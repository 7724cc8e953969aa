#include "stiction/collision/manifold.hpp"

#include "support/manifolds.hpp"
#include <boost/test/unit_test.hpp>

// What a manifold keeps from step to step: features, the reference face, the depth.

namespace stiction::test {

BOOST_AUTO_TEST_SUITE(manifold_memory_test)

// Motions of 1e-6 rad and of the size keep every feature of a body resting on another one.
BOOST_AUTO_TEST_CASE(features_survive_small_motions) {
  Rng rng(43);
  const Shape box = Shape::box({0.5, 0.5, 0.5}), slab = Shape::box({2, 2, 0.5});
  const Shape box_mesh = Shape::convex_mesh(box_corners({0.5, 0.5, 0.5}));
  const Shape slab_mesh = Shape::convex_mesh(box_corners({2, 2, 0.5}));
  const Shape capsule = Shape::capsule(0.5, 1.0), plane = Shape::half_space();
  std::vector<Vec3d> prism;
  for (int i = 0; i < 12; ++i) {
    const double angle = 2 * 3.14159265358979 * i / 12;
    for (const double z : {-0.5, 0.5})
      prism.push_back({0.6 * std::cos(angle), 0.6 * std::sin(angle), z});
  }
  const Shape drum = Shape::convex_mesh(prism);
  for (const Shape* a : {&box, &slab, &box_mesh, &slab_mesh, &plane, &drum}) {
    for (const Shape* b : {&box, &box_mesh, &capsule, &drum}) {
      const double top = a == &plane ? 0.0 : 0.5;
      for (const double angle : {0.0, 0.3}) {
        const Mat3d lying =
            b == &capsule ? small_rotation({1.5707963267948966, 0, 0}) : Mat3d::identity();
        const Transform rest{small_rotation({0, 0, angle}) * lying, {0.0, 0.0, top + 0.5 - 1e-4}};
        const Manifold first = manifold_of({*a, *b, Transform::identity(), rest}, 1e-3);
        BOOST_TEST(first.count >= 2);
        for (int t = 0; t < 100; ++t) {
          const Mat3d R = small_rotation(uniform_vector(rng, 1e-6)) * rest.R;
          const Transform X{R, rest.p + uniform_vector(rng, 1e-6)};
          const Manifold m = manifold_of({*a, *b, Transform::identity(), X}, 1e-3);
          BOOST_TEST_CONTEXT(to_string(a->type)
                             << " / " << to_string(b->type) << ", angle " << angle) {
            BOOST_TEST(features(m) == features(first), boost::test_tools::per_element());
            BOOST_TEST(norm(m.normal - first.normal) <= 1e-5);
          }
        }
      }
    }
  }
}

// The cached reference face survives motions of 2e-5, at which equal boxes would take turns.
BOOST_AUTO_TEST_CASE(the_cache_keeps_the_reference_face) {
  Rng rng(44);
  const Shape a = Shape::box({0.5, 0.5, 0.5});
  DistanceCache cache;
  const Transform rest{Mat3d::identity(), {0.1, 0.2, 0.9999}};
  const Manifold first = manifold_of({a, a, Transform::identity(), rest}, 1e-3, &cache);
  for (int t = 0; t < 500; ++t) {
    const Transform X{small_rotation(uniform_vector(rng, 2e-5)),
                      rest.p + uniform_vector(rng, 1e-5)};
    const Manifold m = manifold_of({a, a, Transform::identity(), X}, 1e-3, &cache);
    BOOST_TEST(features(m) == features(first), boost::test_tools::per_element());
  }
}

// Overlapping hulls that turn by up to 0.2 rad per step: the carried polytope may lose its
// convexity, but the cache never changes the depth.
BOOST_AUTO_TEST_CASE(the_cache_keeps_the_depth_of_tumbling_hulls) {
  Rng rng(48);
  int overlapping = 0;
  for (int t = 0; t < 100; ++t) {
    const Shape a = random_shape(rng, t % 2 == 0 ? Kind::kCloud : Kind::kBall);
    const Shape b = random_shape(rng, t % 3 == 0 ? Kind::kBox : Kind::kCloud);
    Transform X_WB{rotation(rng), unit_vector(rng) * 0.5};
    DistanceCache cache;
    for (int k = 0; k < 30; ++k) {
      X_WB.R = small_rotation(uniform_vector(rng, 0.1)) * X_WB.R;
      X_WB.p += uniform_vector(rng, 0.03);
      const double cold = distance(a, Transform::identity(), b, X_WB).distance;
      const double warm = distance(a, Transform::identity(), b, X_WB, {}, &cache).distance;
      BOOST_TEST(std::abs(warm - cold) <= 1e-9);
      overlapping += cold < 0.0;
    }
  }
  BOOST_TEST(overlapping > 1000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
