#include "collision/derivatives/contact_derivatives.hpp"

#include "stiction/collision/distance.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "support/posed_contacts.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>

using namespace stiction;
using namespace stiction::test;

namespace {

/// Worst relative error over the six motions; -1: the point or its slope changes within the step.
double error_of(const Posed& p,
                const Contact& c,
                const ContactDerivatives& d,
                ManifoldWorkspace& work) {
  double worst = 0.0;
  for (int k = 0; k < 6; ++k) {
    Vec3d u{0, 0, 0}, w{0, 0, 0};
    (k < 3 ? u : w)[k % 3] = 1.0;
    const Change expected = predicted(d, u, w);
    double best = HUGE_VAL;
    Change last{};
    double apart = HUGE_VAL;
    for (const double h : {1e-4, 1e-5, 1e-6}) {
      Change change;
      if (!central(p, c, u, w, h, work, change)) return -1.0;
      const double scale = 1.0 + size_of(change);
      if (h < 1e-4) apart = std::min(apart, size_of(change - last) / scale);
      best = std::min(best, size_of(change - expected) / scale);
      last = change;
    }
    if (best > 1e-6 && apart > 1e-3) return -1.0;
    worst = std::max(worst, best);
  }
  return worst;
}

Mat3d nearly(Rng& rng, const Mat3d& R) {
  const int turn = rng.below(3);
  const Mat3d flip = turn == 0   ? Mat3d::identity()
                     : turn == 1 ? Mat3d{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}
                                 : Mat3d{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
  return R * flip * small_rotation(unit_vector(rng) * std::pow(10.0, -1.0 - rng.below(2)));
}

Posed random_posed(Rng& rng, SolidKind ka, SolidKind kb) {
  Posed p{random_solid(rng, ka).shape, random_solid(rng, kb).shape, pose(rng, 1.0), pose(rng, 1.0)};
  if (rng.below(2) == 0) p.X_WB.R = nearly(rng, p.X_WA.R);
  static constexpr double kDistances[] = {0.03, 1e-3, 1e-6, -1e-3, -0.02};
  p.X_WB.p = p.X_WA.p + unit_vector(rng) * rng.uniform(0.3, 1.0);
  const double wanted = kDistances[rng.below(5)];
  for (int k = 0; k < 3; ++k) {
    const DistanceResult r = distance(p.a, p.X_WA, p.b, p.X_WB);
    p.X_WB.p += r.normal * (wanted - r.distance) + unit_vector(rng) * (k == 0 ? 0.05 : 0.0);
  }
  return p;
}

/// Where rims cross, and on surfaces, the points themselves are rounded to 1e-8 of the size.
double bar_of(const Contact& c) {
  const WitnessKind k = c.witness.kind;
  return k == WitnessKind::kClipped || k == WitnessKind::kSmooth ? 5e-5 : 5e-6;
}

constexpr std::array kBranches{"vertex-face",
                               "face-vertex",
                               "round-face",
                               "face-round",
                               "edge-edge",
                               "rim",
                               "rim oblique",
                               "clipped",
                               "clipped oblique",
                               "smooth",
                               "smooth ridge",
                               "smooth surface"};

int rounds() { return std::getenv("STICTION_FUZZ") != nullptr ? 1000 : 30; }

/// visit(pair, contacts, name of the pair) for pairs of every two kinds of solids.
template <class Visit>
void for_all_pairs(std::uint64_t seed, int count, Visit visit) {
  Rng rng(seed);
  ManifoldWorkspace work;
  for (int ka = 0; ka < kSolidKinds; ++ka) {
    for (int kb = 0; kb < kSolidKinds; ++kb) {
      if (std::min(ka, kb) >= int(SolidKind::kField)) continue;
      const bool boxes = ka == int(SolidKind::kBox) && kb == ka;
      for (int t = 0; t < (boxes ? 10 * count : count); ++t) {
        const Posed p = random_posed(rng, SolidKind(ka), SolidKind(kb));
        const std::string pair = std::string(name(SolidKind(ka))) + " / " + name(SolidKind(kb)) +
                                 ", trial " + std::to_string(t);
        visit(p, contacts_of(p, work), pair);
      }
    }
  }
}

struct Tally {
  int points = 0, apart = 0, overlapping = 0, inexact = 0, changing = 0;
  double worst = 0.0;
};

double difference(const Mat3d& a, const Mat3d& b) {
  return std::max({norm(a.c0 - b.c0), norm(a.c1 - b.c1), norm(a.c2 - b.c2)}) /
         (1.0 + std::max({norm(a.c0), norm(a.c1), norm(a.c2)}));
}
Mat3d times(const Mat3d& a, double s) { return {a.c0 * s, a.c1 * s, a.c2 * s}; }
Mat3d plus(const Mat3d& a, const Mat3d& b) { return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(contact_derivatives_test)

// Every kind of point of every pair of shapes, apart and overlapping, against central differences
// of the manifold. Left out: points that appear, vanish or change their slope within the step.
BOOST_AUTO_TEST_CASE(agree_with_differences_of_the_manifold) {
  ManifoldWorkspace work;
  std::map<std::string, Tally> tally;
  Tally all;
  int wrong = 0;
  for_all_pairs(
      11, rounds(), [&](const Posed& p, const std::vector<Contact>& contacts, const auto& pair) {
        for (const Contact& c : contacts) {
          const ContactDerivatives d = contact_derivatives(c, p.a, p.X_WA, p.b, p.X_WB);
          const double e = error_of(p, c, d, work);
          for (Tally* s : {&tally[branch_of(p, c)], &all}) {
            ++s->points;
            ++(c.gap > 0.0 ? s->apart : s->overlapping);
            s->inexact += !d.exact;
            s->changing += e < 0.0;
            if (d.exact) s->worst = std::max(s->worst, e);
          }
          if (!d.exact || e < bar_of(c)) continue;
          // Points on surfaces whose features coincide by chance with those of another point.
          const bool surface = is_surface(p.a.type) || is_surface(p.b.type);
          if (surface) ++wrong;
          BOOST_TEST(surface, pair << ": " << branch_of(p, c) << ", feature " << c.feature);
        }
      });
  for (const auto& [branch, s] : tally) {
    BOOST_TEST_MESSAGE(branch << ": " << s.points << " points, " << s.inexact << " inexact, "
                              << s.changing << " changing, worst " << s.worst);
  }
  for (const char* branch : kBranches) {
    BOOST_TEST(tally[branch].points >= 10, branch << ": " << tally[branch].points);
  }
  BOOST_TEST(all.apart > 1000);
  BOOST_TEST(all.overlapping > 1000);
  BOOST_TEST(wrong <= all.points / 10000);
  BOOST_TEST(all.inexact < 0.01 * all.points);
  BOOST_TEST(all.changing < 0.02 * all.points);
}

// A rigid motion of both turns the derivatives.
BOOST_AUTO_TEST_CASE(turn_with_a_motion_of_both) {
  Rng rng(12);
  int compared = 0;
  for_all_pairs(13, 4, [&](const Posed& p, const std::vector<Contact>& contacts, const auto& pair) {
    const Transform X = pose(rng, 2.0);
    for (const Contact& c : contacts) {
      Contact moved = c;
      moved.position = X * c.position;
      moved.frame = X.R * c.frame;
      const ContactDerivatives d = contact_derivatives(c, p.a, p.X_WA, p.b, p.X_WB);
      const ContactDerivatives e = contact_derivatives(moved, p.a, X * p.X_WA, p.b, X * p.X_WB);
      BOOST_TEST(d.exact == e.exact, pair);
      if (!d.exact || !e.exact) continue;
      ++compared;
      const auto turned = [&](const Mat3d& m) { return X.R * m * transpose(X.R); };
      BOOST_TEST(difference(turned(d.normal_u), e.normal_u) < 1e-7, pair);
      BOOST_TEST(difference(turned(d.normal_w), e.normal_w) < 1e-7, pair);
      BOOST_TEST(difference(turned(d.position_u), e.position_u) < 1e-7, pair);
      BOOST_TEST(difference(turned(d.position_w), e.position_w) < 1e-7, pair);
    }
  });
  BOOST_TEST(compared > 500);
}

// With A and B exchanged u, w and n change their signs, and A's own motion is that of B.
BOOST_AUTO_TEST_CASE(exchange_with_the_shapes) {
  ManifoldWorkspace work;
  int compared = 0;
  for_all_pairs(14, 4, [&](const Posed& p, const std::vector<Contact>& contacts, const auto& pair) {
    const std::vector<Contact> back = contacts_of({p.b, p.a, p.X_WB, p.X_WA}, work);
    for (const Contact& c : contacts) {
      const auto same = std::find_if(back.begin(), back.end(), [&](const Contact& x) {
        return norm(x.position - c.position) < 1e-9 && norm(x.frame.c2 + c.frame.c2) < 1e-9 &&
               x.witness.kind == c.witness.swapped().kind &&
               x.witness.normal_of == c.witness.swapped().normal_of;
      });
      if (same == back.end()) continue;
      const ContactDerivatives d = contact_derivatives(c, p.a, p.X_WA, p.b, p.X_WB);
      const ContactDerivatives e = contact_derivatives(*same, p.b, p.X_WB, p.a, p.X_WA);
      if (!d.exact || !e.exact) continue;
      ++compared;
      const Vec3d& n = c.frame.c2;
      const Mat3d turned{{0, n.z, -n.y}, {-n.z, 0, n.x}, {n.y, -n.x, 0}};  // w -> -(w x n)
      BOOST_TEST(difference(d.normal_u, e.normal_u) < 1e-7, pair);
      BOOST_TEST(difference(plus(d.normal_w, turned), e.normal_w) < 1e-7, pair);
      BOOST_TEST(
          difference(plus(Mat3d::identity(), times(d.position_u, -1.0)), e.position_u) < 1e-7,
          pair);
      BOOST_TEST(difference(times(d.position_w, -1.0), e.position_w) < 1e-7, pair);
      BOOST_TEST(norm(d.gap_u + e.gap_u) + norm(d.gap_w + e.gap_w) < 1e-7 * (1 + norm(d.gap_u)),
                 pair);
    }
  });
  BOOST_TEST(compared > 500);
}

// What is not known is said: points of a later moment, capsules side by side, a face on a face.
BOOST_AUTO_TEST_CASE(say_what_they_do_not_know) {
  ManifoldWorkspace work;
  const Transform I = Transform::identity();
  Posed p{Shape::capsule(0.1, 0.3), Shape::capsule(0.1, 0.3), I, {I.R, {0.21, 0, 0}}};
  const std::vector<Contact> lines = contacts_of(p, work);
  BOOST_TEST_REQUIRE(!lines.empty());
  for (const Contact& c : lines) {
    BOOST_TEST(!contact_derivatives(c, p.a, p.X_WA, p.b, p.X_WB).exact);
  }
  p = {Shape::box({0.1, 0.1, 0.1}), Shape::half_space(), {I.R, {0, 0, 0.1}}, I};
  for (Contact c : contacts_of(p, work)) {
    BOOST_TEST(contact_derivatives(c, p.a, p.X_WA, p.b, p.X_WB).exact);
    c.witness.swept = true;
    BOOST_TEST(!contact_derivatives(c, p.a, p.X_WA, p.b, p.X_WB).exact);
  }
}

// Overlapping shapes moved to where the normal of the least depth jumps: points that stand on
// features of both shapes say that they have no derivative there, and have one nearly everywhere
// else.
BOOST_AUTO_TEST_CASE(a_jump_of_the_normal_is_told) {
  Rng rng(15);
  ManifoldWorkspace work;
  int jumps = 0, told = 0, before = 0, exact_before = 0;
  const auto normal = [](const Posed& p) { return distance(p.a, p.X_WA, p.b, p.X_WB).normal; };
  const auto of_both = [](const Contact& c) {
    return c.gap < 0.0 &&
           (c.witness.kind == WitnessKind::kEdgeEdge || c.witness.kind == WitnessKind::kSmooth);
  };
  const auto count = [&](const Posed& p, int& all, int& exact) {
    for (const Contact& c : contacts_of(p, work)) {
      if (!of_both(c)) continue;
      ++all;
      exact += contact_derivatives(c, p.a, p.X_WA, p.b, p.X_WB).exact;
    }
  };
  for (int t = 0; t < 40 * rounds(); ++t) {
    const int kinds = int(SolidKind::kConvexMesh);
    Posed p = random_posed(rng, SolidKind(rng.below(kinds)), SolidKind(rng.below(kinds)));
    const Vec3d way = unit_vector(rng) * 0.1, start = p.X_WA.p + unit_vector(rng) * 0.1;
    const auto at = [&](double share) {
      p.X_WB.p = start + way * share;
      return p;
    };
    double low = 0.0, high = 1.0;
    const Vec3d first = normal(at(low));
    if (norm(normal(at(high)) - first) < 0.5) continue;
    while (high - low > 1e-9) {
      const double middle = 0.5 * (low + high);
      const Vec3d n = normal(at(middle));
      (norm(n - first) < norm(n - normal(at(high))) ? low : high) = middle;
    }
    if (norm(normal(at(low)) - normal(at(high))) < 0.1) continue;
    if (distance(p.a, p.X_WA, p.b, p.X_WB).distance > -1e-4) continue;
    int found = 0, exact = 0;
    count(at(low), found, exact);
    count(at(0.0), before, exact_before);
    jumps += found;
    told += found - exact;
  }
  BOOST_TEST_MESSAGE(told << " of " << jumps << " told; " << exact_before << " of " << before
                          << " before the jump exact");
  BOOST_TEST(jumps > 20);
  BOOST_TEST(told == jumps);
  BOOST_TEST(exact_before > 0.9 * before);
}

BOOST_AUTO_TEST_SUITE_END()
