#include "support/posed_contacts.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

// How contacts change with the sizes of their shapes, against central differences of the manifold.

namespace stiction::test {
namespace {

int rounds() { return std::getenv("STICTION_FUZZ") != nullptr ? 1000 : 30; }

/// Faces, edges and axes that are nearly parallel.
Mat3d aligned(Rng& rng, const Mat3d& R) {
  const int turn = rng.below(3);
  const Mat3d flip = turn == 0   ? Mat3d::identity()
                     : turn == 1 ? Mat3d{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}
                                 : Mat3d{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
  return R * flip * small_rotation(unit_vector(rng) * std::pow(10.0, -1.0 - rng.below(2)));
}

Posed near_each_other(Rng& rng, SolidKind ka, SolidKind kb) {
  Posed p{random_solid(rng, ka).shape, random_solid(rng, kb).shape, pose(rng, 1.0), pose(rng, 1.0)};
  if (rng.below(2) == 0) p.X_WB.R = aligned(rng, p.X_WA.R);
  static constexpr double kDistances[] = {0.03, 1e-3, 1e-6, -1e-3, -0.02};
  p.X_WB.p = p.X_WA.p + unit_vector(rng) * rng.uniform(0.3, 1.0);
  const double wanted = kDistances[rng.below(5)];
  for (int k = 0; k < 3; ++k) {
    const DistanceResult r = distance(p.a, p.X_WA, p.b, p.X_WB);
    p.X_WB.p += r.normal * (wanted - r.distance) + unit_vector(rng) * (k == 0 ? 0.05 : 0.0);
  }
  return p;
}

/// Worst relative error by the sizes of one shape; -1: the point or its slope changes within the
/// step.
double error_of(const Posed& p,
                const Contact& c,
                bool of_a,
                const ContactChange (&by)[3],
                ManifoldWorkspace& work) {
  double worst = 0.0;
  for (int k = 0; k < 3; ++k) {
    const Change expected{by[k].normal, by[k].position, by[k].gap};
    if ((of_a ? p.a : p.b).size[k] == 0.0) {
      worst = std::max(worst, size_of(expected));
      continue;
    }
    double best = HUGE_VAL, apart = HUGE_VAL;
    Change last{};
    for (const double h : {1e-4, 1e-5, 1e-6}) {
      const auto at = [&](double step) {
        Posed q = p;
        (of_a ? q.a : q.b).size[k] += step;
        return contacts_of(q, work);
      };
      const std::vector<Contact> ahead = at(h), back = at(-h);
      const Contact *x = find(ahead, c), *y = find(back, c);
      if (x == nullptr || y == nullptr) return -1.0;
      const Change change = difference(*x, *y, 0.5 / h);
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

/// Points themselves are rounded to 1e-8 of the size where rims cross and on surfaces.
double allowed(const Contact& c) {
  const WitnessKind k = c.witness.kind;
  return k == WitnessKind::kClipped || k == WitnessKind::kSmooth ? 5e-5 : 5e-6;
}

struct Count {
  int points = 0, changing = 0;
  double worst = 0.0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(contact_sizes_test)

BOOST_AUTO_TEST_CASE(agree_with_differences_of_the_manifold) {
  Rng rng(41);
  ManifoldWorkspace work;
  std::map<std::string, Count> branches, shapes;
  Count all;
  int inexact = 0, wrong = 0;
  for (int ka = 0; ka < kSolidKinds; ++ka) {
    for (int kb = 0; kb < kSolidKinds; ++kb) {
      if (std::min(ka, kb) >= static_cast<int>(SolidKind::kField)) continue;
      const bool boxes = ka == static_cast<int>(SolidKind::kBox) && kb == ka;  // edges that cross
      for (int t = 0; t < (boxes ? 10 : 1) * rounds(); ++t) {
        const Posed p = near_each_other(rng, SolidKind(ka), SolidKind(kb));
        for (const Contact& c : contacts_of(p, work)) {
          if (!contact_derivatives(c, p.a, p.X_WA, p.b, p.X_WB).exact) {
            ++inexact;
            continue;
          }
          ContactChange by_a[3], by_b[3];
          contact_changes_by_size(c, p.a, p.X_WA, p.b, p.X_WB, by_a, by_b);
          for (const bool of_a : {true, false}) {
            const double e = error_of(p, c, of_a, of_a ? by_a : by_b, work);
            const std::string shape = to_string((of_a ? p.a : p.b).type);
            for (Count* s : {&branches[branch_of(p, c)], &shapes[shape], &all}) {
              ++s->points;
              s->changing += e < 0.0;
              s->worst = std::max(s->worst, e);
            }
            // Points on surfaces whose features coincide by chance with those of another point.
            if (e >= allowed(c) && (is_surface(p.a.type) || is_surface(p.b.type))) {
              ++wrong;
              continue;
            }
            BOOST_TEST(e < allowed(c),
                       name(SolidKind(ka)) << " / " << name(SolidKind(kb)) << ", trial " << t
                                           << ": " << branch_of(p, c) << ", feature " << c.feature
                                           << (of_a ? ", of A: " : ", of B: ") << e);
          }
        }
      }
    }
  }
  for (const auto* tally : {&branches, &shapes}) {
    for (const auto& [what, s] : *tally)
      BOOST_TEST_MESSAGE(what << ": " << s.points << " points, " << s.changing
                              << " changing, worst " << s.worst);
  }
  for (const auto& [what, s] : branches) BOOST_TEST(s.points >= 10, what << ": " << s.points);
  BOOST_TEST(branches.size() == 12u);
  for (const char* shape : {"sphere", "capsule", "box", "cylinder", "cone", "ellipsoid"})
    BOOST_TEST(shapes[shape].points > 500, shape << ": " << shapes[shape].points);
  BOOST_TEST(all.changing < 0.02 * all.points);
  BOOST_TEST(wrong <= all.points / 10000, wrong << " wrong on surfaces");
  BOOST_TEST(inexact < 0.01 * all.points);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
