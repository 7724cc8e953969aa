#define BOOST_TEST_MODULE narrow_phase_fuzz
#include "support/judge.hpp"
#include "support/placing.hpp"
#include <boost/test/unit_test.hpp>

#include <cstdlib>

namespace stiction::test {
namespace {

constexpr int kRound = 10000;  // cases per pool of shapes

int rounds() { return std::getenv("STICTION_FUZZ") != nullptr ? 100 : 1; }

struct Tally {
  long cases = 0, overlapping = 0, separated_normals = 0, smooth_normals = 0, facets = 0;
  int iterations[2][2] = {};  // [smooth][penetrating]
};

void judge(const FuzzCase& c, Rng& rng, Tally& tally, Faults& faults) {
  const DistanceResult r = query(c.pair);
  Judge j(c, r, 1e-8, faults);
  j.definition();
  const bool inside = r.distance < 0.0;
  if (inside && c.small_polytopes()) {
    j.facets();
    ++tally.facets;
  } else if (inside) {
    j.sweep(10, rng);
  } else if (c.small_polytopes() || rng.below(4) == 0) {
    tally.separated_normals += j.separated_reference();
  }
  tally.smooth_normals += j.smooth_normal();
  int& most = tally.iterations[!c.polytopes()][inside];
  most = std::max(most, r.iterations);
  ++tally.cases;
  tally.overlapping += inside;
}

}  // namespace

// The triangle of checks over random pairs of all kinds, see judge.hpp.
BOOST_AUTO_TEST_CASE(random_pairs_keep_the_promises) {
  Tally tally;
  Faults faults;
  for (int round = 0; round < rounds(); ++round) {
    Rng rng(1000 + round);
    const ShapePool pool(rng, 3);
    for (int i = 0; i < kRound; ++i) judge(next_case(rng, pool), rng, tally, faults);
  }
  BOOST_TEST_MESSAGE(tally.cases << " cases, overlap " << double(tally.overlapping) / tally.cases
                                 << ", normals checked: " << tally.separated_normals
                                 << " separated, " << tally.smooth_normals << " smooth, "
                                 << tally.facets << " by all facets");
  BOOST_TEST_MESSAGE("worst iterations: polytopes "
                     << tally.iterations[0][0] << " separated, " << tally.iterations[0][1]
                     << " penetrating; smooth " << tally.iterations[1][0] << ", "
                     << tally.iterations[1][1]);
  BOOST_TEST(faults.none(), faults.text());
  BOOST_TEST(tally.overlapping > 0.3 * tally.cases);
  BOOST_TEST(tally.overlapping < 0.7 * tally.cases);
  BOOST_TEST(tally.separated_normals > 0.05 * tally.cases);
  BOOST_TEST(tally.smooth_normals > 0.01 * tally.cases);
  BOOST_TEST(tally.facets > 0.02 * tally.cases);
  for (const auto& row : tally.iterations) {
    for (const int most : row) BOOST_TEST(most <= 128);
  }
}

// At the caller's tolerance of 1e-8 m: the same promises with that error.
BOOST_AUTO_TEST_CASE(a_loose_tolerance_is_kept) {
  Faults faults;
  for (int round = 0; round < rounds(); ++round) {
    Rng rng(2000 + round);
    const ShapePool pool(rng, 2);
    for (int i = 0; i < kRound / 5; ++i) {
      const FuzzCase c = next_case(rng, pool);
      const DistanceResult r = query(c.pair, {1e-8, 128});
      Judge j(c, r, 1e-8, faults);
      j.definition();
      if (r.distance < 0.0 && c.small_polytopes()) j.facets();
    }
  }
  BOOST_TEST(faults.none(), faults.text());
}

// Exchanging the shapes, moving both together, scaling by 1000, asking twice.
BOOST_AUTO_TEST_CASE(answers_are_invariant) {
  Faults faults;
  for (int round = 0; round < rounds(); ++round) {
    Rng rng(3000 + round);
    const ShapePool pool(rng, 3);
    for (int i = 0; i < kRound; ++i) {
      const FuzzCase c = next_case(rng, pool);
      const PosedPair& p = c.pair;
      const DistanceResult r = query(p);
      const double error = 2.0 * allowed_error(p, promised_tolerance(p));
      const auto compare = [&](const char* what,
                               const PosedPair& q,
                               double scale,
                               const ExactVec& normal,
                               double more) {
        const DistanceResult s = query(q);
        const double off = s.distance / scale - r.distance;
        faults.demand(std::abs(off) <= error + more, what, c, s, off);
        // A tie of the depth may choose another normal; the first one still certifies it.
        const double gap = double(exact_gap(q, normal)) / scale - r.distance;
        faults.demand(std::abs(gap) <= error + more, std::string(what) + " normal", c, s, gap);
      };
      faults.demand(same_bits(r, query(p)), "repeated", c, r, r.distance);
      compare("swapped", {p.b, p.a, p.X_WB, p.X_WA}, 1.0, -exact(r.normal), 0.0);
      const Transform X = pose(rng, radii(p));
      const PosedPair moved{p.a, p.b, X * p.X_WA, X * p.X_WB};
      compare("moved", moved, 1.0, to_world(X.R, exact(r.normal)), 4e-16 * size_of(moved));
      if (std::max(c.scale_a, c.scale_b) == 2) continue;
      const PosedPair large{pool.pick(c.kind_a, c.which_a, c.scale_a + 1),
                            pool.pick(c.kind_b, c.which_b, c.scale_b + 1),
                            {p.X_WA.R, p.X_WA.p * 1e3},
                            {p.X_WB.R, p.X_WB.p * 1e3}};
      compare("scaled", large, 1e3, exact(r.normal), 0.0);
    }
  }
  BOOST_TEST(faults.none(), faults.text());
}

}  // namespace stiction::test
