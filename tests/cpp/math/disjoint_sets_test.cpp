#include "math/disjoint_sets.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <vector>

using namespace stiction;
using stiction::test::Rng;

namespace {

/// The least number that can be reached from each, by passing labels along until none changes.
std::vector<int> reachable(int count, const std::vector<std::pair<int, int>>& joins) {
  std::vector<int> label(count);
  for (int i = 0; i < count; ++i) label[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [a, b] : joins) {
      const int least = std::min(label[a], label[b]);
      changed = changed || label[a] != least || label[b] != least;
      label[a] = label[b] = least;
    }
  }
  return label;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(disjoint_sets_test)

// The least member names its set, whatever the order of the joins.
BOOST_AUTO_TEST_CASE(labels_are_the_least_that_is_reachable) {
  Rng rng(7);
  DisjointSets sets;
  for (int trial = 0; trial < 200; ++trial) {
    const int count = 1 + rng.below(40);
    std::vector<std::pair<int, int>> joins;
    for (int k = rng.below(2 * count); k > 0; --k)
      joins.emplace_back(rng.below(count), rng.below(count));
    const std::vector<int> expected = reachable(count, joins);
    for (const bool backwards : {false, true}) {
      sets.reset(count);
      if (backwards) std::reverse(joins.begin(), joins.end());
      for (const auto& [a, b] : joins) sets.join(backwards ? b : a, backwards ? a : b);
      for (int i = 0; i < count; ++i) BOOST_TEST(sets.find(i) == expected[i]);
      BOOST_TEST(sets.labels() == expected, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
