#include "stiction/collision/distance.hpp"

#include "collision/convex/search_direction.hpp"
#include "support/manifolds.hpp"
#include <boost/test/unit_test.hpp>

// Every method by name against the default, and the promises of the stopping rules.

namespace stiction::test {
namespace {

constexpr Kind kKinds[] = {Kind::kSphere,
                           Kind::kCapsule,
                           Kind::kBox,
                           Kind::kCloud,
                           Kind::kBall,
                           Kind::kCylinder,
                           Kind::kCone,
                           Kind::kEllipsoid};

PosedPair pair_of(Rng& rng, int t) { return random_pair(rng, kKinds[t % 8], kKinds[t / 8 % 8]); }

DistanceSettings settings_of(const std::string& method) {
  DistanceSettings s;
  s.method = distance_method(method);
  return s;
}

bool is_slow(const std::string& m) { return m.rfind("frank-wolfe", 0) == 0 || m == "nesmino"; }

}  // namespace

BOOST_AUTO_TEST_SUITE(methods_test)

BOOST_AUTO_TEST_CASE(names_go_both_ways) {
  for (const std::string& name : distance_methods())
    BOOST_TEST(to_string(distance_method(name)) == name);
  BOOST_CHECK_EXCEPTION(
      distance_method("newton"), std::invalid_argument, [](const std::invalid_argument& e) {
        const std::string what = e.what();
        return what.find("\"newton\"") != std::string::npos &&
               what.find("nesterov-normalized") != std::string::npos;
      });
}

BOOST_AUTO_TEST_CASE(simplex_methods_agree) {
  Rng rng(1);
  int overlapping = 0, accelerated_differs = 0;
  for (int t = 0; t < 640; ++t) {
    const PosedPair p = pair_of(rng, t);
    const DistanceResult reference = distance(p.a, p.X_WA, p.b, p.X_WB);
    const double size = bounding_radius(p.a) + bounding_radius(p.b);
    overlapping += reference.distance < 0.0;
    const int plain = distance(p.a, p.X_WA, p.b, p.X_WB, settings_of("gjk")).iterations;
    for (const std::string& name : distance_methods()) {
      if (is_slow(name)) continue;
      const DistanceResult r = distance(p.a, p.X_WA, p.b, p.X_WB, settings_of(name));
      BOOST_TEST(
          std::abs(r.distance - reference.distance) <= 2e-8 * size,
          name << " " << to_string(r.status) << " " << r.distance << " " << reference.distance);
      accelerated_differs += name != "auto" && r.iterations != plain;
    }
  }
  BOOST_TEST(overlapping > 150);
  BOOST_TEST(overlapping < 500);
  BOOST_TEST(accelerated_differs > 500);
}

// Frank-Wolfe needs 1 / epsilon iterations on polytopes; it is held to what it promises.
BOOST_AUTO_TEST_CASE(the_gap_of_the_paper_bounds_the_error) {
  Rng rng(2);
  int separated = 0;
  for (int t = 0; t < 320; ++t) {
    const PosedPair p = pair_of(rng, t);
    const double exact = distance(p.a, p.X_WA, p.b, p.X_WB).distance;
    for (const std::string& name : distance_methods()) {
      if (name == "auto" || name == "nesmino") continue;
      DistanceSettings s = settings_of(name);
      s.stopping = StoppingRule::kPaperGap;
      s.tolerance = 1e-4;
      s.max_iterations = 3000;
      const DistanceResult r = distance(p.a, p.X_WA, p.b, p.X_WB, s);
      if (r.status == DistanceStatus::kMaxIterations || !(exact > 0.0)) continue;
      ++separated;
      // |x - x*|^2 <= 2 <x, x - s>, and | |x| - |x*| | <= |x - x*|.
      BOOST_TEST(std::abs(r.distance - exact) <= 1e-2, name);
      BOOST_TEST(r.distance >= exact - 1e-9);
    }
  }
  BOOST_TEST(separated > 1000);
}

BOOST_AUTO_TEST_CASE(nesmino_reaches_its_tolerance) {
  Rng rng(3);
  int reached = 0;
  for (int t = 0; t < 192; ++t) {
    const PosedPair p = pair_of(rng, t);
    DistanceSettings s = settings_of("nesmino");
    s.tolerance = 1e-3;
    s.max_iterations = 3000;
    const double exact = distance(p.a, p.X_WA, p.b, p.X_WB).distance;
    const DistanceResult r = distance(p.a, p.X_WA, p.b, p.X_WB, s);
    if (r.status == DistanceStatus::kMaxIterations) continue;
    ++reached;
    BOOST_TEST(std::abs(r.distance - exact) <= 1.1e-3);
  }
  BOOST_TEST(reached > 180);
}

BOOST_AUTO_TEST_CASE(boolean_queries_tell_the_sign) {
  Rng rng(4);
  int hits = 0, fewer = 0, total = 0;
  for (int t = 0; t < 640; ++t) {
    const PosedPair p = pair_of(rng, t);
    const DistanceResult r = distance(p.a, p.X_WA, p.b, p.X_WB);
    if (std::abs(r.distance) < 1e-7) continue;
    hits += r.distance < 0.0;
    for (const std::string& name : distance_methods()) {
      if (is_slow(name)) continue;
      int iterations = -1;
      const DistanceSettings s = settings_of(name);
      BOOST_TEST(collide(p.a, p.X_WA, p.b, p.X_WB, s, nullptr, &iterations) == (r.distance < 0.0),
                 name);
      if (r.distance < 0.0 || name == "auto") continue;  // auto: closed forms have no iterations
      ++total;
      fewer += iterations <= distance(p.a, p.X_WA, p.b, p.X_WB, s).iterations;
    }
  }
  BOOST_TEST(hits > 150);
  BOOST_TEST(fewer == total);
}

BOOST_AUTO_TEST_CASE(far_pairs_end_at_a_plane) {
  Rng rng(5);
  int beyond = 0;
  for (int t = 0; t < 640; ++t) {
    const PosedPair p = pair_of(rng, t);
    const double exact = distance(p.a, p.X_WA, p.b, p.X_WB).distance;
    DistanceSettings s = settings_of("gjk");
    s.max_distance = 0.3;
    const DistanceResult r = distance(p.a, p.X_WA, p.b, p.X_WB, s);
    BOOST_TEST((r.status == DistanceStatus::kBeyond) == (exact > 0.3));
    if (r.status != DistanceStatus::kBeyond) continue;
    ++beyond;
    BOOST_TEST(r.distance > 0.3);
    BOOST_TEST(r.distance <= exact + 1e-9);
    BOOST_TEST(gap_along(p.a, p.X_WA, p.b, p.X_WB, r.normal) >= r.distance - 1e-9);
  }
  BOOST_TEST(beyond > 50);
}

// GJK++ Alg. 6 and facts of the authors' code, written out for two iterations.
BOOST_AUTO_TEST_CASE(momentum_as_published) {
  const Vec3d x0{1, 2, 3}, x{0.5, -1, 2}, s{-1, 0.25, 4};
  const auto near = [](const Vec3d& a, const Vec3d& b) { return norm(a - b) <= 1e-15; };
  using M = DistanceMethod;
  const auto first = [&](M m, int k) { return detail::SearchDirection(m, x0).next(k, x, s); };
  // k = 1: delta = 1/2; the factor 2 is that of grad f.
  BOOST_TEST(near(first(M::kPolyak, 1), x0 * 0.5 + x));
  BOOST_TEST(near(first(M::kNesterov, 1), x0 * 0.5 + (x * 0.5 + s * 0.5)));
  BOOST_TEST(near(first(M::kPolyakReference, 1), x0 * 0.5 + x * 0.5));
  BOOST_TEST(near(first(M::kNesterovReference, 1), x0 * 0.5 + (x * 0.5 + s * 0.5) * 0.5));
  const Vec3d y = x * 0.5 + s * 0.5, z = x * 0.75 + s * 0.25;
  BOOST_TEST(near(first(M::kNesterovNormalized, 1), x0 * (0.5 / norm(x0)) + y * (0.5 / norm(y))));
  BOOST_TEST(near(first(M::kNesterovNormalizedReference, 1),  // delta = 3/4
                  x0 * (0.75 / norm(x0)) + z * (0.25 / norm(z))));
}

BOOST_AUTO_TEST_CASE(bad_settings_are_named) {
  const Shape a = Shape::sphere(1.0);
  const Transform X = Transform::identity();
  const auto refuses = [&](const DistanceSettings& s, const char* field) {
    BOOST_CHECK_EXCEPTION(
        distance(a, X, a, X, s), std::invalid_argument, [&](const std::invalid_argument& e) {
          return std::string(e.what()).find(field) != std::string::npos;
        });
  };
  DistanceSettings s;
  s.tolerance = 0.0;
  refuses(s, "tolerance");
  s = {};
  s.max_iterations = 0;
  refuses(s, "max_iterations");
  s = {};
  s.max_distance = std::nan("");
  refuses(s, "max_distance");
}

// Ended at the limit of iterations, the methods for study still know on which side of contact the
// shapes are.
BOOST_AUTO_TEST_CASE(slow_methods_do_not_guess_at_their_limit) {
  Rng rng(7);
  int ended = 0;
  for (int t = 0; t < 640; ++t) {
    const PosedPair p = pair_of(rng, t);
    const double truth = distance(p.a, p.X_WA, p.b, p.X_WB).distance;
    const double size = bounding_radius(p.a) + bounding_radius(p.b);
    if (std::abs(truth) < 1e-4 * size) continue;
    for (const std::string& name : distance_methods()) {
      if (!is_slow(name)) continue;
      const DistanceResult r = distance(p.a, p.X_WA, p.b, p.X_WB, settings_of(name));
      ended += r.status == DistanceStatus::kMaxIterations;
      BOOST_TEST((r.distance < 0.0) == (truth < 0.0), name << " " << r.distance << " " << truth);
      BOOST_TEST(r.distance >= truth - 1e-7 * size);
      if (r.status == DistanceStatus::kPenetrating) {
        BOOST_TEST(r.distance <= truth + 1e-7 * size);
      }
      BOOST_TEST(collide(p.a, p.X_WA, p.b, p.X_WB, settings_of(name)) == (truth < 0.0));
    }
  }
  BOOST_TEST(ended > 200);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
