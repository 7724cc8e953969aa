#include "collision/scene/broad_phase.hpp"

#include "stiction/collision/distance.hpp"
#include "stiction/math/constants.hpp"

#include "collision/scene/cull.hpp"
#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <limits>
#include <stdexcept>

namespace stiction::test {
namespace {

bool overlap(const Aabb& a, const Aabb& b) {
  for (int k = 0; k < 3; ++k) {
    if (!(a.lower[k] <= b.upper[k] && b.lower[k] <= a.upper[k])) return false;
  }
  return true;
}

using Pairs = std::vector<std::pair<int, int>>;

Pairs all_pairs(const std::vector<Aabb>& boxes, const std::vector<std::uint8_t>& is_static) {
  Pairs pairs;
  for (int i = 0; i < int(boxes.size()); ++i) {
    for (int j = i + 1; j < int(boxes.size()); ++j) {
      if (!(is_static[i] && is_static[j]) && overlap(boxes[i], boxes[j])) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

Pairs found(BroadPhase& broad_phase, const std::vector<Aabb>& boxes) {
  std::vector<BroadPhase::Pair> pairs;
  broad_phase.find_pairs(boxes, pairs);
  Pairs result;
  for (const BroadPhase::Pair& p : pairs) result.emplace_back(p.a, p.b);
  return result;
}

// `ratio`: largest side over smallest. The density does not depend on n.
std::vector<Aabb> random_boxes(Rng& rng, int n, double ratio) {
  std::vector<Aabb> boxes;
  const double side = std::cbrt(double(n)) * (ratio > 1.0 ? 0.7 * ratio : 2.0);
  for (int i = 0; i < n; ++i) {
    const double e = std::pow(ratio, rng.uniform(0.0, 1.0));
    const Vec3d c = uniform_vector(rng, 0.5 * side);
    const Vec3d h{0.5 * e, 0.5 * e * rng.uniform(0.2, 1), 0.5 * e * rng.uniform(0.2, 1)};
    boxes.push_back({c - h, c + h});
  }
  return boxes;
}

Vec3d random_half(Rng& rng) {
  return {rng.uniform(0.05, 0.7), rng.uniform(0.05, 0.7), rng.uniform(0.05, 0.7)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(broad_phase_test)

// Any mixture of sizes, static, dynamic and unbounded boxes: the pairs of a double loop, sorted.
BOOST_AUTO_TEST_CASE(equals_the_double_loop) {
  Rng rng(1);
  std::size_t pairs = 0;
  for (int t = 0; t < 120; ++t) {
    const int n = 1 + rng.below(t % 4 == 0 ? 20 : 300);
    std::vector<Aabb> boxes = random_boxes(rng, n, t % 3 == 0 ? 1.0 : (t % 3 == 1 ? 100.0 : 1e4));
    std::vector<std::uint8_t> is_static(n);
    for (int i = 0; i < n; ++i) {
      is_static[i] = rng.below(3) == 0;
      if (rng.below(50) == 0) {
        boxes[i] = {{-kInfinity, -kInfinity, -kInfinity}, {kInfinity, kInfinity, kInfinity}};
      }
      if (rng.below(30) == 0) boxes[i].upper = boxes[i].lower;
    }
    BroadPhase broad_phase;
    broad_phase.reset(is_static);
    const Pairs expected = all_pairs(boxes, is_static);
    BOOST_TEST((found(broad_phase, boxes) == expected));
    pairs += expected.size();
  }
  BOOST_TEST(pairs > 1000u);
}

// The answer depends on the boxes only: after other boxes, and with moved static ones, it is the
// same as from a new broad phase.
BOOST_AUTO_TEST_CASE(has_no_memory) {
  Rng rng(2);
  std::vector<std::uint8_t> is_static(200);
  for (std::uint8_t& s : is_static) s = rng.below(4) == 0;
  BroadPhase used;
  used.reset(is_static);
  for (int t = 0; t < 20; ++t) {
    const std::vector<Aabb> boxes = random_boxes(rng, 200, 30.0);
    BOOST_TEST((found(used, boxes) == all_pairs(boxes, is_static)));
  }
}

// Boxes that move little are not searched for again, and the pairs stay those of the double loop
// step by step, through jumps too.
BOOST_AUTO_TEST_CASE(slow_motion_needs_few_searches) {
  Rng rng(6);
  std::vector<std::uint8_t> is_static(300);
  for (std::uint8_t& s : is_static) s = rng.below(6) == 0;
  for (const double speed : {0.0, 1e-3, 0.05}) {
    std::vector<Aabb> boxes = random_boxes(rng, 300, 4.0);
    std::vector<Vec3d> velocity;
    for (int i = 0; i < 300; ++i) {
      velocity.push_back(is_static[i] ? Vec3d{0, 0, 0} : uniform_vector(rng, speed));
    }
    BroadPhase broad_phase;
    broad_phase.reset(is_static);
    std::int64_t tested = 0, pairs = 0;
    for (int step = 0; step < 60; ++step) {
      const Pairs expected = all_pairs(boxes, is_static);
      BOOST_TEST((found(broad_phase, boxes) == expected));
      tested += broad_phase.tested_pairs();
      pairs += std::int64_t(expected.size());
      for (int i = 0; i < 300; ++i) {
        boxes[i].lower += velocity[i];
        boxes[i].upper += velocity[i];
      }
      if (step == 40) std::swap(boxes[0], boxes[150]);
    }
    BOOST_TEST_MESSAGE("speed " << speed << ": " << broad_phase.searches() << " searches, "
                                << double(tested) / pairs << " tests per pair");
    BOOST_TEST(broad_phase.searches() <= (speed == 0.0 ? 2 : 16));
  }
}

// The boxes at rest never hide a contact: where they prove a gap, the boxes have it, and few pairs
// of boxes beyond the margin are not proven so.
BOOST_AUTO_TEST_CASE(culling_is_a_proof) {
  Rng rng(7);
  int apart = 0, proven = 0;
  for (int t = 0; t < 20000; ++t) {
    const Vec3d a = random_half(rng), b = random_half(rng);
    const Transform A = pose(rng, 1.0), B = pose(rng, 1.0);
    const double margin = t % 2 == 0 ? 0.0 : 0.1;
    const bool cull = detail::boxes_apart(A.R, a, B.R, b, B.p - A.p, margin);
    const double d = distance(Shape::box(a), A, Shape::box(b), B).distance;
    BOOST_TEST((!cull || d > margin));
    apart += d > margin;
    proven += cull;
  }
  BOOST_TEST(apart > 6000);
  BOOST_TEST(apart < 14000);
  BOOST_TEST(proven > 0.95 * apart);
}

// Static boxes may move too, and their number is checked.
BOOST_AUTO_TEST_CASE(static_boxes_may_move) {
  Rng rng(3);
  std::vector<Aabb> boxes = random_boxes(rng, 100, 1.0);
  std::vector<std::uint8_t> is_static(100);
  for (int i = 0; i < 50; ++i) is_static[i] = 1;
  BroadPhase broad_phase;
  broad_phase.reset(is_static);
  for (int round = 0; round < 3; ++round) {
    BOOST_TEST((found(broad_phase, boxes) == all_pairs(boxes, is_static)));
    boxes[round] = boxes[60 + round];
  }
  std::vector<BroadPhase::Pair> pairs;
  BOOST_CHECK_THROW(broad_phase.find_pairs({}, pairs), std::invalid_argument);
}

// The number of compared boxes grows linearly with their number, for one size and for 1 : 100.
BOOST_AUTO_TEST_CASE(work_grows_linearly) {
  for (const double ratio : {1.0, 100.0}) {
    double per_box[4];
    int row = 0;
    for (const int n : {1000, 2000, 4000, 8000}) {
      Rng rng(4);
      BroadPhase broad_phase;
      broad_phase.reset(std::vector<std::uint8_t>(n, 0));
      found(broad_phase, random_boxes(rng, n, ratio));
      per_box[row++] = double(broad_phase.tested_pairs()) / n;
    }
    BOOST_TEST_MESSAGE("ratio " << ratio << ": " << per_box[0] << " to " << per_box[3]
                                << " per box");
    // The share of boxes at the border of the scene, which have fewer neighbours, shrinks with n.
    BOOST_TEST(per_box[3] < 1.4 * per_box[0]);
    BOOST_TEST(per_box[3] < 1.12 * per_box[2]);
    BOOST_TEST(per_box[3] < 100.0);
  }
}

// Many small static boxes under a few large dynamic ones cost linear work too.
BOOST_AUTO_TEST_CASE(fine_static_boxes_are_linear) {
  double per_box[2];
  int row = 0;
  for (const int n : {2000, 8000}) {
    Rng rng(5);
    std::vector<Aabb> boxes = random_boxes(rng, n, 1.0);
    std::vector<std::uint8_t> is_static(n, 1);
    for (int i = 0; i < n / 100; ++i) {
      is_static[i] = 0;
      boxes[i].upper += {4, 4, 4};
    }
    BroadPhase broad_phase;
    broad_phase.reset(is_static);
    BOOST_TEST((found(broad_phase, boxes) == all_pairs(boxes, is_static)));
    per_box[row++] = double(broad_phase.tested_pairs()) / n;
  }
  BOOST_TEST(per_box[1] < 1.5 * per_box[0]);
}

// Coordinates from 1e-300 to 1e300, equal boxes and NaN neither hang nor crash nor invent pairs.
BOOST_AUTO_TEST_CASE(extreme_coordinates) {
  std::vector<Aabb> boxes;
  for (int i = 0; i < 40; ++i) {
    const double x = std::pow(10.0, -300.0 + 15.0 * i);
    boxes.push_back({{-x, x, 0}, {x, 2 * x, x}});
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  boxes.push_back({{nan, nan, nan}, {nan, nan, nan}});
  const std::vector<std::uint8_t> is_static(boxes.size(), 0);
  BroadPhase broad_phase;
  broad_phase.reset(is_static);
  BOOST_TEST((found(broad_phase, boxes) == all_pairs(boxes, is_static)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
