#include "stiction/collision/distance.hpp"

#include "support/shapes.hpp"
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>

namespace stiction::test {
namespace {

constexpr double kScales[] = {1e-3, 1.0, 1e3};

DistanceResult query(const PosedPair& p) { return distance(p.a, p.X_WA, p.b, p.X_WB); }

std::string label(Kind a, Kind b, int trial) {
  return std::string(name(a)) + " / " + name(b) + ", trial " + std::to_string(trial);
}

// The definitions of distance.hpp: unit normal, witnesses on both shapes, their difference.
void check_definition(const PosedPair& p, const DistanceResult& r, double tolerance) {
  BOOST_TEST(std::abs(norm(r.normal) - 1.0) < 1e-12);
  BOOST_TEST(norm(r.witness_b - r.witness_a - r.normal * r.distance) <= tolerance);
  BOOST_TEST(outside(p.a, p.X_WA, r.witness_a) <= tolerance);
  BOOST_TEST(outside(p.b, p.X_WB, r.witness_b) <= tolerance);
}

// Every direction bounds the signed distance from below; the normal attains it. Separated, this
// and the witness points inside the shapes prove the distance without any other implementation.
void check_certificate(const PosedPair& p, const DistanceResult& r, double tolerance) {
  BOOST_TEST(std::abs(gap_along(p.a, p.X_WA, p.b, p.X_WB, r.normal) - r.distance) <= tolerance);
}

int trials(int quick) { return std::getenv("STICTION_FUZZ") != nullptr ? 50 * quick : quick; }

}  // namespace

BOOST_AUTO_TEST_SUITE(distance_test)

// Each pair of shapes at 1 mm, 1 m and 1 km: answers satisfy their definition and certify
// themselves to rounding of the size, no direction of a sweep separates better, every status is a
// regular one, and both signs occur.
BOOST_AUTO_TEST_CASE(every_pair_certifies_itself_at_every_scale) {
  Rng rng(11);
  for (const Kind ka : kBoundedKinds) {
    for (const Kind kb : kBoundedKinds) {
      int overlapping = 0;
      const int count = trials(30);
      for (int t = 0; t < count; ++t) {
        const PosedPair p = scaled(random_pair(rng, ka, kb), kScales[t % 3]);
        const DistanceResult r = query(p);
        const double tolerance = 1e-12 * size_of(p);
        BOOST_TEST_CONTEXT(label(ka, kb, t)
                           << " distance " << r.distance << " " << to_string(r.status)) {
          check_definition(p, r, tolerance);
          check_certificate(p, r, tolerance);
          BOOST_TEST(
              (r.status == DistanceStatus::kSeparated || r.status == DistanceStatus::kPenetrating));
          BOOST_TEST((r.distance < 0.0) == (r.status == DistanceStatus::kPenetrating));
          double best = -HUGE_VAL;
          for (int i = 0; i < 200; ++i) {
            const Vec3d n = lattice_direction(i, 200);
            best = std::max(best, gap_along(p.a, p.X_WA, p.b, p.X_WB, n));
          }
          BOOST_TEST(best <= r.distance + tolerance);
          BOOST_TEST(collide(p.a, p.X_WA, p.b, p.X_WB) == (r.distance <= 0.0));
        }
        overlapping += r.distance < 0.0;
      }
      BOOST_TEST_CONTEXT(name(ka) << " / " << name(kb)) {
        BOOST_TEST(overlapping >= 0.05 * count);
        BOOST_TEST(overlapping <= 0.95 * count);
      }
    }
  }
}

// Over all kinds together the sampler spends 30 to 70 % of its pairs on overlap, or the tests above
// would prove little about one of the two branches.
BOOST_AUTO_TEST_CASE(the_sampler_visits_both_branches) {
  Rng rng(5);
  int overlapping = 0, count = 0;
  for (const Kind ka : kBoundedKinds) {
    for (const Kind kb : kBoundedKinds) {
      for (int t = 0; t < 30; ++t, ++count)
        overlapping += query(random_pair(rng, ka, kb)).distance < 0;
    }
  }
  BOOST_TEST_MESSAGE("overlap rate " << double(overlapping) / count);
  BOOST_TEST(overlapping > 0.3 * count);
  BOOST_TEST(overlapping < 0.7 * count);
}

// Penetration depth is a minimum over all directions: a sweep over 20000 of them never beats it,
// and comes as close as its spacing of about 0.02 rad allows.
BOOST_AUTO_TEST_CASE(no_direction_is_shallower_than_the_depth) {
  Rng rng(12);
  int overlapping = 0;
  for (int t = 0; t < 60; ++t) {
    const Kind ka = kBoundedKinds[rng.below(8)], kb = kBoundedKinds[rng.below(8)];
    const PosedPair p = random_pair(rng, ka, kb);
    const DistanceResult r = query(p);
    double best = -HUGE_VAL;
    for (int i = 0; i < 20000; ++i) {
      best = std::max(best, gap_along(p.a, p.X_WA, p.b, p.X_WB, lattice_direction(i, 20000)));
    }
    const double radii = bounding_radius(p.a) + bounding_radius(p.b);
    BOOST_TEST_CONTEXT(label(ka, kb, t)) {
      BOOST_TEST(best <= r.distance + 1e-12);
      BOOST_TEST(best >= r.distance - 0.03 * (radii + norm(p.X_WA.p - p.X_WB.p)));
    }
    overlapping += r.distance < 0.0;
  }
  BOOST_TEST(overlapping > 18);
  BOOST_TEST(overlapping < 42);
}

// Half-spaces against every bounded shape: the definition, the certificate, both orders.
BOOST_AUTO_TEST_CASE(half_spaces) {
  Rng rng(13);
  for (const Kind kind : kBoundedKinds) {
    int overlapping = 0;
    for (int t = 0; t < 60; ++t) {
      PosedPair p = scaled(random_pair(rng, Kind::kHalfSpace, kind), kScales[t % 3]);
      const DistanceResult r = query(p);
      const double tolerance = 1e-12 * size_of(p);
      check_definition(p, r, tolerance);
      const double lowest = -extent_along(p.b, p.X_WB, -p.X_WA.R.c2) - dot(p.X_WA.R.c2, p.X_WA.p);
      BOOST_TEST(std::abs(r.distance - lowest) <= tolerance);
      const DistanceResult s = distance(p.b, p.X_WB, p.a, p.X_WA);
      BOOST_TEST(s.distance == r.distance);
      BOOST_TEST(norm(s.normal + r.normal) == 0.0);
      BOOST_TEST(norm(s.witness_a - r.witness_b) <= tolerance);
      overlapping += r.distance < 0.0;
    }
    BOOST_TEST(overlapping > 18);
    BOOST_TEST(overlapping < 42);
  }
}

// Exchanging the shapes exchanges the witnesses and turns the normal round.
BOOST_AUTO_TEST_CASE(symmetric_in_a_and_b) {
  Rng rng(14);
  for (int t = 0; t < 400; ++t) {
    const PosedPair p = random_pair(rng, kBoundedKinds[rng.below(8)], kBoundedKinds[rng.below(8)]);
    const DistanceResult r = query(p), s = distance(p.b, p.X_WB, p.a, p.X_WA);
    BOOST_TEST(std::abs(r.distance - s.distance) <= 1e-12);
    // Near-ties of the depth may pick another normal, which then certifies the same depth.
    BOOST_TEST(std::abs(gap_along(p.a, p.X_WA, p.b, p.X_WB, -s.normal) - r.distance) <= 1e-12);
  }
}

// Moving both shapes together moves the answer along.
BOOST_AUTO_TEST_CASE(invariant_under_rigid_motion) {
  Rng rng(15);
  for (int t = 0; t < 400; ++t) {
    PosedPair p = random_pair(rng, kBoundedKinds[rng.below(8)], kBoundedKinds[rng.below(8)]);
    const DistanceResult r = query(p);
    const Transform X = pose(rng, 5.0);
    p.X_WA = X * p.X_WA;
    p.X_WB = X * p.X_WB;
    const DistanceResult moved = query(p);
    BOOST_TEST(std::abs(moved.distance - r.distance) <= 1e-12);
    const Vec3d n = X.R * r.normal;
    BOOST_TEST(std::abs(gap_along(p.a, p.X_WA, p.b, p.X_WB, n) - r.distance) <= 1e-12);
  }
}

// A cache changes the work, never the answer, along a slow motion.
BOOST_AUTO_TEST_CASE(warm_starts_change_nothing) {
  Rng rng(16);
  long warm_work = 0, cold_work = 0;
  for (int t = 0; t < 60; ++t) {
    PosedPair p =
        random_pair(rng, kBoundedKinds[2 + rng.below(6)], kBoundedKinds[5 + rng.below(3)]);
    DistanceCache cache;
    const Vec3d spin = uniform_vector(rng, 1e-3), shift = uniform_vector(rng, 1e-3);
    for (int step = 0; step < 20; ++step) {
      p.X_WB = {small_rotation(spin) * p.X_WB.R, p.X_WB.p + shift};
      const DistanceResult warm = distance(p.a, p.X_WA, p.b, p.X_WB, {}, &cache);
      const DistanceResult cold = query(p);
      BOOST_TEST(std::abs(warm.distance - cold.distance) <= 1e-12);
      warm_work += warm.iterations;
      cold_work += cold.iterations;
    }
  }
  BOOST_TEST(warm_work < cold_work);
}

// Touching from both sides, at every scale: the distance is rounding, the normal is the common one.
BOOST_AUTO_TEST_CASE(touching_is_defined) {
  for (const double s : kScales) {
    const Shape ball = Shape::sphere(s), box = Shape::box({s, s, s});
    std::vector<Vec3d> corners;
    for (int i = 0; i < 8; ++i) {
      corners.push_back({i & 1 ? s : -s, i & 2 ? s : -s, i & 4 ? s : -s});
    }
    const Shape mesh = Shape::convex_mesh(corners), capsule = Shape::capsule(0.5 * s, 0.5 * s);
    const Transform O = Transform::identity(), above{O.R, {0, 0, 2.0 * s}};
    for (const Shape* a : {&ball, &box, &mesh, &capsule}) {
      for (const Shape* b : {&ball, &box, &mesh, &capsule}) {
        const DistanceResult r = distance(*a, O, *b, above);
        BOOST_TEST_CONTEXT(to_string(a->type) << " / " << to_string(b->type) << " scale " << s) {
          BOOST_TEST((r.status == DistanceStatus::kTouching));
          BOOST_TEST(std::abs(r.distance) <= 1e-13 * s);
          BOOST_TEST(norm(r.normal - Vec3d{0, 0, 1}) <= 1e-9);
          BOOST_TEST(collide(*a, O, *b, above));
        }
      }
    }
  }
}

// Slightly apart and slightly overlapping, down to 1e-12 of the size, the sign is always right.
BOOST_AUTO_TEST_CASE(the_sign_is_right_next_to_touching) {
  Rng rng(17);
  int overlapping = 0;
  for (int t = 0; t < 600; ++t) {
    const double s = kScales[t % 3];
    PosedPair p = random_pair(rng, kBoundedKinds[rng.below(8)], kBoundedKinds[rng.below(8)]);
    p.X_WA.p = {0, 0, 0};
    p.X_WB.p = unit_vector(rng) * 4.0;
    p = scaled(p, s);
    const DistanceResult far = query(p);
    const double gap = s * std::pow(10.0, rng.uniform(-12.0, -3.0)) * (t % 2 == 0 ? 1.0 : -1.0);
    p.X_WB.p += far.normal * (gap - far.distance);
    const DistanceResult r = query(p);
    BOOST_TEST_CONTEXT(to_string(p.a.type) << " / " << to_string(p.b.type) << " gap " << gap / s) {
      if (gap > 0.0) {
        BOOST_TEST(std::abs(r.distance - gap) <= 1e-12 * s);
      } else if (r.distance > 0.0) {
        // Two pointed corners may pass each other; then a plane must prove it.
        BOOST_TEST(gap_along(p.a, p.X_WA, p.b, p.X_WB, r.normal) > 0.0);
      } else {
        BOOST_TEST(r.distance >= gap - 1e-12 * s);
        ++overlapping;
      }
    }
  }
  BOOST_TEST(overlapping > 200);
}

// Concentric and identical shapes: a finite unit normal and the exact depth.
BOOST_AUTO_TEST_CASE(concentric_shapes) {
  Rng rng(18);
  for (const double s : kScales) {
    const Transform X = pose(rng, s);
    const Shape ball = Shape::sphere(0.3 * s), box = Shape::box({s, 2 * s, 3 * s});
    const Shape capsule = Shape::capsule(0.5 * s, s), cube = Shape::box({s, s, s});
    const auto depth = [&](const Shape& a, const Shape& b, double expected) {
      const DistanceResult r = distance(a, X, b, X);
      BOOST_TEST_CONTEXT(to_string(a.type) << " / " << to_string(b.type) << " scale " << s) {
        BOOST_TEST(std::abs(r.distance + expected) <= 1e-12 * s);
        BOOST_TEST(std::abs(norm(r.normal) - 1.0) <= 1e-12);
        BOOST_TEST((r.status == DistanceStatus::kPenetrating));
      }
    };
    depth(ball, ball, 0.6 * s);
    depth(ball, capsule, 0.8 * s);
    depth(capsule, capsule, 1.0 * s);
    depth(ball, box, 1.3 * s);
    depth(box, box, 2.0 * s);
    depth(cube, cube, 2.0 * s);
    depth(capsule, box, 1.5 * s);
    std::vector<Vec3d> corners;
    for (int i = 0; i < 8; ++i) {
      corners.push_back({i & 1 ? s : -s, i & 2 ? s : -s, i & 4 ? s : -s});
    }
    const Shape mesh = Shape::convex_mesh(corners);
    depth(mesh, mesh, 2.0 * s);
    depth(ball, mesh, 1.3 * s);
    depth(cube, mesh, 2.0 * s);
    depth(capsule, mesh, 1.5 * s);
  }
}

// Far from the world's origin only the rounding of the placements enters.
BOOST_AUTO_TEST_CASE(far_from_the_origin) {
  const Vec3d far{1e5, -2e5, 3e5};
  const Shape a = Shape::box({1, 1, 1}), b = Shape::capsule(0.5, 1.0);
  const Mat3d I = Mat3d::identity();
  const DistanceResult r = distance(a, {I, far}, b, {I, far + Vec3d{0, 0, 3}});
  BOOST_TEST(std::abs(r.distance - 0.5) <= 1e-9);
  BOOST_TEST(norm(r.normal - Vec3d{0, 0, 1}) <= 1e-9);
}

// The caller's mistakes are named with field and value.
BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const Shape plane = Shape::half_space(), ball = Shape::sphere(1.0);
  const Transform X = Transform::identity();
  const auto says = [](const std::string& text) {
    return [text](const std::exception& e) {
      return std::string(e.what()).find(text) != std::string::npos;
    };
  };
  BOOST_CHECK_EXCEPTION(distance(plane, X, plane, X), std::invalid_argument, says("half_space"));
  BOOST_CHECK_EXCEPTION(
      distance(ball, X, ball, X, {-1.0, 10}), std::invalid_argument, says("tolerance = -1"));
  BOOST_CHECK_EXCEPTION(
      distance(ball, X, ball, X, {1e-8, 0}), std::invalid_argument, says("max_iterations = 0"));
}

// With one iteration the status says so, and the distance is an upper bound.
BOOST_AUTO_TEST_CASE(running_out_of_iterations_is_a_status) {
  Rng rng(19);
  int limited = 0;
  for (int t = 0; t < 100; ++t) {
    const PosedPair p = random_pair(rng, Kind::kBall, Kind::kBall);
    const DistanceResult exact = query(p), rough = distance(p.a, p.X_WA, p.b, p.X_WB, {1e-10, 1});
    limited += rough.status == DistanceStatus::kMaxIterations;
    BOOST_TEST(std::isfinite(rough.distance));
    if (exact.distance > 0.0) BOOST_TEST(rough.distance >= exact.distance - 1e-12);
  }
  BOOST_TEST(limited > 50);
}

// All pairs say so alike if they are farther apart than asked.
BOOST_AUTO_TEST_CASE(far_pairs_are_beyond) {
  const Shape shapes[] = {Shape::sphere(0.1),
                          Shape::capsule(0.1, 0.1),
                          Shape::box({0.1, 0.1, 0.1}),
                          Shape::cone(0.1, 0.1),
                          Shape::half_space()};
  DistanceSettings s;
  s.max_distance = 0.1;
  const Transform far{Mat3d::identity(), {0.0, 0.0, 3.0}};
  for (const Shape& a : shapes) {
    for (int k = 0; k < 4; ++k) {
      const DistanceResult r = distance(a, Transform::identity(), shapes[k], far, s);
      BOOST_TEST(to_string(r.status) == std::string("beyond"));
      BOOST_TEST(r.distance > 0.1);
    }
  }
}

// Boxes of a third of a millimetre, parallel, a gap of 1e-9 of their size: rounding of the closest
// points must not turn the normal.
BOOST_AUTO_TEST_CASE(the_normal_of_parallel_boxes_is_that_of_a_face) {
  Rng rng(17);
  for (int t = 0; t < 500; ++t) {
    const Vec3d h{rng.uniform(1e-4, 3e-4), rng.uniform(1e-4, 3e-4), rng.uniform(1e-4, 3e-4)};
    const Shape box = Shape::box(h);
    const double gap = 1e-9 * norm(h);
    const Transform A{rotation(rng), uniform_vector(rng, 1e-3)};
    const Vec3d offset{0.3 * h.x, -0.2 * h.y, 2.0 * h.z + gap};
    const Transform B = A * Transform{Mat3d::identity(), offset};
    const DistanceResult r = distance(box, A, box, B);
    const double along = dot(r.normal, B.p - A.p) -
                         2.0 * dot(r.normal, A.R * support(box, transpose_times(A.R, r.normal)));
    BOOST_TEST(std::abs(along - gap) <= 1e-3 * gap);
    BOOST_TEST(std::abs(r.distance - gap) <= 1e-3 * gap);
  }
}

// Parallel boxes 4 km from the origin, where GJK ends without progress and with bounds 7e-10 m
// apart: the face that separates them proves the distance.
BOOST_AUTO_TEST_CASE(a_face_proves_what_gjk_cannot) {
  const Mat3d R{{-0.2776886618863042, -0.89871900336378174, -0.33940117862583286},
                {-0.80723275298231334, 0.026748450450433652, 0.58962683360842394},
                {-0.52083038464781328, 0.43770843422455480, -0.73290315665597960}};
  const Transform A{R, {3941.8598178252287, 3120.9493804798717, 555.93973304552549}},
      B{R, {3941.6942570748470, 3121.0885185542902, 555.70675893312773}};
  const Shape a = Shape::box({1.1205314665098132, 0.3004497539745211, 0.11570812342270824}),
              b = Shape::box({0.03187226780983184, 1.1205314665098132, 0.2019398272620041});
  const DistanceResult r = distance(a, A, b, B);
  BOOST_TEST(to_string(r.status) == std::string("separated"));
  const Vec3d low = B.R * support(b, transpose_times(B.R, -r.normal)),
              high = A.R * support(a, transpose_times(A.R, r.normal));
  BOOST_TEST(std::abs(dot(r.normal, (B.p - A.p) + (low - high)) - r.distance) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
