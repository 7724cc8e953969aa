#include "stiction/collision/distance_derivatives.hpp"

#include "collision/derivatives/contact_derivatives.hpp"
#include "collision/scene/broad_phase.hpp"
#include "collision/scene/collide.hpp"
#include "support/allocation_guard.hpp"
#include "support/manifolds.hpp"
#include <boost/test/unit_test.hpp>

namespace stiction::test {

BOOST_AUTO_TEST_SUITE(no_allocation_test)

// Distance, collision and manifold of every pair of kinds take nothing from the heap.
BOOST_AUTO_TEST_CASE(queries_do_not_allocate) {
  Rng rng(1);
  std::vector<Kind> kinds(std::begin(kBoundedKinds), std::end(kBoundedKinds));
  kinds.insert(kinds.end(), std::begin(kSmoothKinds), std::end(kSmoothKinds));
  for (const Kind ka : kinds) {
    for (const Kind kb : kinds) {
      for (int t = 0; t < 10; ++t) {
        const PosedPair p = random_pair(rng, ka, kb);
        const PosedPair plane = random_pair(rng, Kind::kHalfSpace, kb);
        DistanceCache cache;
        Manifold m;
        const long before = allocation_count();
        distance(p.a, p.X_WA, p.b, p.X_WB, {}, &cache);
        collide(p.a, p.X_WA, p.b, p.X_WB);
        contact_manifold(p.a, p.X_WA, p.b, p.X_WB, 1e-3, m, &cache);
        contact_manifold(plane.a, plane.X_WA, plane.b, plane.X_WB, 1e-3, m);
        const long taken = allocation_count() - before;
        BOOST_TEST(taken == 0);
      }
    }
  }
}

// Nor do the derivatives of contact points.
BOOST_AUTO_TEST_CASE(contact_derivatives_do_not_allocate) {
  Rng rng(3);
  std::vector<Kind> kinds(std::begin(kBoundedKinds), std::end(kBoundedKinds));
  kinds.insert(kinds.end(), std::begin(kSmoothKinds), std::end(kSmoothKinds));
  int points = 0;
  for (const Kind ka : kinds) {
    for (const Kind kb : kinds) {
      for (int t = 0; t < 10; ++t) {
        const PosedPair p = random_pair(rng, t % 2 == 0 ? Kind::kHalfSpace : ka, kb);
        const Manifold m = manifold_of(p, 0.1);
        for (int i = 0; i < m.count; ++i, ++points) {
          Contact c{};
          c.feature = m.points[i].feature;
          c.position = m.points[i].position;
          c.frame = contact_frame(p.X_WA.R, m.normal);
          c.gap = m.points[i].gap;
          c.witness = m.points[i].witness;
          const long before = allocation_count();
          contact_derivatives(c, p.a, p.X_WA, p.b, p.X_WB);
          const long taken = allocation_count() - before;
          BOOST_TEST(taken == 0);
        }
      }
    }
  }
  BOOST_TEST(points > 1000);
}

// Nor do those of distances, by any method.
BOOST_AUTO_TEST_CASE(distance_derivatives_do_not_allocate) {
  Rng rng(4);
  std::vector<Kind> kinds(std::begin(kBoundedKinds), std::end(kBoundedKinds));
  kinds.insert(kinds.end(), std::begin(kSmoothKinds), std::end(kSmoothKinds));
  for (const Kind ka : kinds) {
    for (const Kind kb : kinds) {
      const PosedPair p = random_pair(rng, ka, kb);
      DistanceCache cache;
      const DistanceResult at = distance(p.a, p.X_WA, p.b, p.X_WB, {}, &cache);
      for (int method = 0; method < 5; ++method) {
        DerivativeSettings s;
        s.method = DerivativeMethod(method);
        const long before = allocation_count();
        distance_derivatives(p.a, p.X_WA, p.b, p.X_WB, at, s, &cache);
        const long taken = allocation_count() - before;
        BOOST_TEST(taken == 0);
      }
    }
  }
}

// A warm broad phase takes nothing from the heap either, while boxes move.
BOOST_AUTO_TEST_CASE(warm_broad_phase_does_not_allocate) {
  Rng rng(2);
  std::vector<Aabb> boxes(500);
  for (Aabb& b : boxes) {
    b.lower = uniform_vector(rng, 3.0);
    b.upper = b.lower + Vec3d{0.5, 0.5, 0.5};
  }
  BroadPhase broad_phase;
  broad_phase.reset(std::vector<std::uint8_t>(500, 0));
  std::vector<BroadPhase::Pair> pairs;
  pairs.reserve(10000);
  for (int t = 0; t < 20; ++t) {
    const long before = allocation_count();
    broad_phase.find_pairs(boxes, pairs);
    const long taken = allocation_count() - before;
    if (t > 9) BOOST_TEST(taken == 0);
    for (Aabb& b : boxes) {
      const Vec3d d = uniform_vector(rng, 1e-3);
      b.lower += d;
      b.upper += d;
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
