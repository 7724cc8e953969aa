#include "support/judge.hpp"
#include "support/placing.hpp"
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <ostream>

namespace stiction::test {

namespace {

constexpr int kRound = 5000;  // cases per pool of shapes

int rounds() { return std::getenv("STICTION_FUZZ") != nullptr ? 100 : 1; }

struct Tally {
  long cases = 0, overlapping = 0, separated_normals = 0, smooth_normals = 0, facets = 0;
  int iterations[2] = {};  // separated, penetrating
};

void judge(const FuzzCase& c, Rng& rng, Tally& tally, Faults& faults) {
  const DistanceResult r = query(c.pair);
  Judge j(c, r, promised_tolerance(c.pair), faults);
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
  int& most = tally.iterations[inside];
  most = std::max(most, r.iterations + r.epa_iterations);
  ++tally.cases;
  tally.overlapping += inside;
}

void compare(const char* what,
             const FuzzCase& c,
             const DistanceResult& r,
             const PosedPair& q,
             double scale,
             const ExactVec& normal,
             double error,
             Faults& faults) {
  const DistanceResult s = query(q);
  const double off = s.distance / scale - r.distance;
  faults.demand(std::abs(off) <= error, what, c, s, off);
  // A tie of the depth may choose another normal; the first one still certifies it.
  const double gap = double(exact_gap(q, normal)) / scale - r.distance;
  faults.demand(std::abs(gap) <= error, std::string(what) + " normal", c, s, gap);
}

void compare_transformed(const FuzzCase& c, const ShapePool& pool, Rng& rng, Faults& faults) {
  const PosedPair& p = c.pair;
  const DistanceResult r = query(p);
  const double error = 2.0 * allowed_error(p, promised_tolerance(p));
  const ExactVec n = exact(r.normal);
  faults.demand(same_bits(r, query(p)), "repeated", c, r, r.distance);
  compare("swapped", c, r, {p.b, p.a, p.X_WB, p.X_WA}, 1.0, -n, error, faults);
  const Transform X = pose(rng, radii(p));
  const PosedPair moved{p.a, p.b, X * p.X_WA, X * p.X_WB};
  const double rounding = 4e-16 * size_of(moved);
  compare("moved", c, r, moved, 1.0, to_world(X.R, n), error + rounding, faults);
  if (std::max(c.scale_a, c.scale_b) == 2) return;
  const PosedPair large{pool.pick(c.kind_a, c.which_a, c.scale_a + 1),
                        pool.pick(c.kind_b, c.which_b, c.scale_b + 1),
                        {p.X_WA.R, p.X_WA.p * 1e3},
                        {p.X_WB.R, p.X_WB.p * 1e3}};
  compare("scaled", c, r, large, 1e3, n, error, faults);
}

const auto families = boost::unit_test::data::make(kFamilies);

}  // namespace

BOOST_AUTO_TEST_SUITE(narrow_phase_fuzz_test)

// The triangle of checks over random pairs of all kinds, see judge.hpp.
BOOST_DATA_TEST_CASE(random_pairs_keep_the_promises, families, family) {
  Tally tally;
  Faults faults;
  for (int round = 0; round < rounds(); ++round) {
    Rng rng(1000 + round);
    const ShapePool pool(rng, 3);
    for (int i = 0; i < kRound; ++i) judge(next_case(rng, pool, family), rng, tally, faults);
  }
  BOOST_TEST_MESSAGE(tally.cases << " " << family << " cases, overlap "
                                 << double(tally.overlapping) / tally.cases << ", normals checked: "
                                 << tally.separated_normals << " separated, "
                                 << tally.smooth_normals << " smooth, " << tally.facets
                                 << " by all facets; worst iterations " << tally.iterations[0]
                                 << " separated, " << tally.iterations[1] << " penetrating");
  BOOST_TEST(faults.none(), faults.text());
  BOOST_TEST(tally.overlapping > 0.3 * tally.cases);
  BOOST_TEST(tally.overlapping < 0.7 * tally.cases);
  const bool flat = family == Family::kFlat;
  BOOST_TEST(tally.separated_normals > 0.05 * tally.cases);
  BOOST_TEST(tally.smooth_normals > (flat ? 0.005 : 0.02) * tally.cases);
  if (flat) BOOST_TEST(tally.facets > 0.1 * tally.cases);
  for (const int most : tally.iterations) BOOST_TEST(most <= (flat ? 64 : 256));
}

// At the caller's tolerance of 1e-8 m: the same promises.
BOOST_DATA_TEST_CASE(a_loose_tolerance_is_kept, families, family) {
  Faults faults;
  for (int round = 0; round < rounds(); ++round) {
    Rng rng(2000 + round);
    const ShapePool pool(rng, 2);
    for (int i = 0; i < kRound / 4; ++i) {
      const FuzzCase c = next_case(rng, pool, family);
      const DistanceResult r = query(c.pair, {1e-8, 128});
      Judge j(c, r, promised_tolerance(c.pair), faults);
      j.definition();
      if (r.distance < 0.0 && c.small_polytopes()) j.facets();
    }
  }
  BOOST_TEST(faults.none(), faults.text());
}

// Exchanging the shapes, moving both together, scaling by 1000, asking twice.
BOOST_DATA_TEST_CASE(answers_are_invariant, families, family) {
  Faults faults;
  for (int round = 0; round < rounds(); ++round) {
    Rng rng(3000 + round);
    const ShapePool pool(rng, 3);
    for (int i = 0; i < kRound; ++i) {
      compare_transformed(next_case(rng, pool, family), pool, rng, faults);
    }
  }
  BOOST_TEST(faults.none(), faults.text());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
