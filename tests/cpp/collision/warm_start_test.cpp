#include "support/judge.hpp"
#include "support/placing.hpp"
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdlib>
#include <ostream>
#include <vector>

namespace stiction::test {

namespace {

int rounds() { return std::getenv("STICTION_FUZZ") != nullptr ? 100 : 1; }

/// A motion of B of `step` times the smaller size and `step` rad per query.
struct Motion {
  Vec3d shift, spin;
  void advance(PosedPair& p) const { p.X_WB = {small_rotation(spin) * p.X_WB.R, p.X_WB.p + shift}; }
};

Motion random_motion(Rng& rng, const PosedPair& p, double step) {
  const double smaller = std::min(bounding_radius(p.a), bounding_radius(p.b));
  return {unit_vector(rng) * (step * smaller), unit_vector(rng) * step};
}

/// Iterations of the general query, GJK's and EPA's, of the answers that had some to save.
struct Effort {
  long warm = 0, cold = 0, steps = 0;
  double mean_warm() const { return double(warm) / double(steps); }
  double mean_cold() const { return double(cold) / double(steps); }
};

struct Work {
  Effort separated, overlapping;
  long steps() const { return separated.steps + overlapping.steps; }
};

int effort(const DistanceResult& r) { return r.iterations + r.epa_iterations; }

/// The warm answer is judged as a cold one is, and both agree to the tolerance of each.
void compare(const FuzzCase& c, DistanceCache& cache, Work& work, Faults& faults) {
  const PosedPair& p = c.pair;
  const DistanceResult warm = distance(p.a, p.X_WA, p.b, p.X_WB, {}, &cache), cold = query(p);
  Judge(c, warm, promised_tolerance(c.pair), faults).definition();
  const double off = warm.distance - cold.distance;
  const double error = 2.0 * allowed_error(p, promised_tolerance(p));
  faults.demand(std::abs(off) <= error, "warm against cold", c, warm, off);
  if (effort(cold) == 0) return;  // closed forms
  Effort& spent = cold.distance < 0.0 ? work.overlapping : work.separated;
  spent.warm += effort(warm);
  spent.cold += effort(cold);
  ++spent.steps;
}

const auto families = boost::unit_test::data::make(kFamilies);

}  // namespace

BOOST_AUTO_TEST_SUITE(warm_start_test)

// Slow motions of 1e-4 and 1e-3 of the size and rad per query, near contact on both sides of it:
// the same answers as without the cache, for a small part of the work.
BOOST_DATA_TEST_CASE(a_cache_never_changes_an_answer, families, family) {
  Faults faults;
  for (const double step : {1e-4, 1e-3}) {
    Work work;
    for (int round = 0; round < rounds(); ++round) {
      Rng rng(4000 + round);
      const ShapePool pool(rng, 2);
      for (int sequence = 0; sequence < 80; ++sequence) {
        FuzzCase c = fuzz_case(rng, pool, family);
        const double share = std::pow(10.0, rng.uniform(-4.0, -1.5));
        place(c, sequence % 2 == 0 ? share : -share);
        const Motion motion = random_motion(rng, c.pair, step);
        DistanceCache cache;
        for (int k = 0; k < 20; ++k, motion.advance(c.pair)) compare(c, cache, work, faults);
      }
    }
    for (const Effort& e : {work.separated, work.overlapping}) {
      BOOST_TEST_MESSAGE("motion " << step << ": " << e.mean_warm() << " iterations warm, "
                                   << e.mean_cold() << " cold, " << e.steps);
      BOOST_TEST(e.steps > 300);
    }
    // Of flat pairs the first query of the twenty is cold; most others confirm what they are told.
    const Effort &apart = work.separated, &inside = work.overlapping;
    if (family == Family::kFlat) {
      BOOST_TEST(apart.mean_warm() < 2.0);
      BOOST_TEST(apart.mean_warm() < 0.3 * apart.mean_cold());  // the simplex
      BOOST_TEST(inside.mean_warm() < 2.0);
      BOOST_TEST(inside.mean_warm() < 0.2 * inside.mean_cold());  // the polytope
    } else {
      // Curved pairs have no vertices to keep, only a direction, which spares EPA nothing.
      BOOST_TEST(apart.mean_warm() < 0.8 * apart.mean_cold());
      BOOST_TEST(inside.mean_warm() < 1.3 * inside.mean_cold());
    }
  }
  BOOST_TEST(faults.none(), faults.text());
}

// Prisms that rest on a face or an edge of each other and drift by rounding: many faces of the kept
// polytope are coplanar to 1e-12 of the size, and no more convex when the next query looks at them.
BOOST_AUTO_TEST_CASE(a_cache_keeps_the_depth_of_prisms_at_rest) {
  Rng rng(8000);
  const auto prism = [&] {
    std::vector<Vec3d> corners;
    const int n = 3 + rng.below(30);
    const double radius = rng.uniform(0.3, 1.0), turn = rng.uniform(0.0, 6.0);
    for (int k = 0; k < n; ++k) {
      const double angle = turn + 2.0 * kPi * k / n;
      for (const double z : {-0.5, 0.5})
        corners.push_back({radius * std::cos(angle), radius * std::sin(angle), z});
    }
    return Shape::convex_mesh(corners);
  };
  int overlapping = 0;
  for (int sequence = 0; sequence < 600 * rounds(); ++sequence) {
    const Shape a = prism(), b = prism();
    const Transform X_WA = pose(rng, 1.0);
    const double tilt = sequence % 2 == 0 ? 0.0 : rng.uniform(0.0, 3.0);
    Transform X_AB{small_rotation({tilt, 0, 0}), {0.1, 0.2, 3.0}};
    X_AB.p.z -= distance(a, Transform::identity(), b, X_AB).distance;
    DistanceCache cache;
    for (int k = 0; k < 40; ++k) {
      const double depth = std::pow(10.0, rng.uniform(-14.0, -6.0));
      X_AB.R = small_rotation(unit_vector(rng) * std::pow(10.0, rng.uniform(-15.0, -6.0))) * X_AB.R;
      const Transform X_WB = X_WA * Transform{X_AB.R, X_AB.p - Vec3d{0.0, 0.0, depth}};
      const DistanceResult warm = distance(a, X_WA, b, X_WB, {}, &cache),
                           cold = distance(a, X_WA, b, X_WB);
      overlapping += cold.distance < 0.0;
      BOOST_TEST(std::abs(warm.distance - cold.distance) < 1e-12,
                 "sequence " << sequence << ": " << warm.distance << ", cold " << cold.distance);
    }
  }
  BOOST_TEST(overlapping > 5000);
}

// Straight through contact and out again: the signed distance is continuous (it changes by no more
// than the motion), and warm equals cold on every step.
BOOST_DATA_TEST_CASE(through_contact, families, family) {
  Faults faults;
  Work work;
  for (int round = 0; round < rounds(); ++round) {
    Rng rng(5000 + round);
    const ShapePool pool(rng, 2);
    for (int sequence = 0; sequence < 60; ++sequence) {
      FuzzCase c = fuzz_case(rng, pool, family);
      place(c, 1e-3);
      PosedPair& p = c.pair;
      const double smaller = std::min(bounding_radius(p.a), bounding_radius(p.b));
      const Vec3d shift = query(p).normal * (-1e-4 * smaller);
      DistanceCache cache;
      double last = query(p).distance;
      for (int k = 0; k < 40; ++k) {
        p.X_WB.p += k < 20 ? shift * (1.0 + k) : shift * (k - 40.0);
        compare(c, cache, work, faults);
        const DistanceResult r = query(p);
        const double jump = std::abs(r.distance - last) - norm(shift) * (k < 20 ? 1.0 + k : 40 - k);
        faults.demand(jump <= 2.0 * allowed_error(p, promised_tolerance(p)),
                      "jump through contact",
                      c,
                      r,
                      jump);
        last = r.distance;
      }
    }
  }
  BOOST_TEST(work.overlapping.steps > 0.1 * work.steps());
  BOOST_TEST(work.overlapping.steps < 0.9 * work.steps());
  BOOST_TEST(faults.none(), faults.text());
}

// A cache of a wholly different pose of the pair is useless, never harmful.
BOOST_DATA_TEST_CASE(a_stale_cache_does_no_harm, families, family) {
  Faults faults;
  Work work;
  for (int round = 0; round < rounds(); ++round) {
    Rng rng(6000 + round);
    const ShapePool pool(rng, 2);
    for (int i = 0; i < 800; ++i) {
      FuzzCase c = next_case(rng, pool, family);
      DistanceCache cache;
      distance(c.pair.a, c.pair.X_WA, c.pair.b, c.pair.X_WB, {}, &cache);
      c.pair.X_WA = pose(rng, 0.5 * radii(c.pair));
      c.pair.X_WB = {rotation(rng), c.pair.X_WA.p + unit_vector(rng) * (1.2 * radii(c.pair))};
      place(c, fuzz_distance(rng));
      compare(c, cache, work, faults);
    }
  }
  BOOST_TEST(faults.none(), faults.text());
}

// A sequence gives the same bits when run again, caches included.
BOOST_DATA_TEST_CASE(a_sequence_repeats_to_the_bit, families, family) {
  std::vector<DistanceResult> first;
  for (int run = 0; run < 2; ++run) {
    Rng rng(7000);
    const ShapePool pool(rng, 2);
    std::size_t at = 0;
    for (int sequence = 0; sequence < 40; ++sequence) {
      FuzzCase c = next_case(rng, pool, family);
      const Motion motion = random_motion(rng, c.pair, 1e-3);
      DistanceCache cache;
      for (int k = 0; k < 10; ++k, motion.advance(c.pair)) {
        const DistanceResult r = distance(c.pair.a, c.pair.X_WA, c.pair.b, c.pair.X_WB, {}, &cache);
        if (run == 0) first.push_back(r);
        if (run == 1) BOOST_TEST(same_bits(first[at++], r), c.label());
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
