#include "stiction/collision/distance_derivatives.hpp"
#include "stiction/math/constants.hpp"

#include "support/flush.hpp"
#include "support/posed_contacts.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

// Shapes laid on each other with parallel faces, edges and lines, with their borders, and nearly
// so.

using namespace stiction;
using namespace stiction::test;

namespace {

DistanceResult query(const LaidPair& p) { return distance(p.a, p.X_WA, p.b, p.X_WB); }

LaidPair moved(LaidPair p, int k, double h) {
  Vec3d linear{0, 0, 0}, angular{0, 0, 0};
  (k < 3 ? linear : angular)[k % 3] = h;
  p.X_WB = {small_rotation(angular) * p.X_WB.R, p.X_WB.p + linear};
  return p;
}

/// Of one column or its differences: distance, normal, witness points.
struct Rates {
  double distance;
  Vec3d normal, a, b;
};
Rates column(const DistanceDerivatives& d, int k) {
  Rates r{d.distance[k], {}, {}, {}};
  for (int i = 0; i < 3; ++i) {
    r.normal[i] = d.normal[i][k];
    r.a[i] = d.witness_a[i][k];
    r.b[i] = d.witness_b[i][k];
  }
  return r;
}
Rates difference(const DistanceResult& x, const DistanceResult& y, double h) {
  return {(x.distance - y.distance) / h,
          (x.normal - y.normal) * (1 / h),
          (x.witness_a - y.witness_a) * (1 / h),
          (x.witness_b - y.witness_b) * (1 / h)};
}
/// Of each of the four, over 1 + its size.
double relative(const Rates& x, const Rates& exact) {
  const auto off = [](const Vec3d& u, const Vec3d& v) { return norm(u - v) / (1.0 + norm(v)); };
  return std::max({std::abs(x.distance - exact.distance) / (1.0 + std::abs(exact.distance)),
                   off(x.normal, exact.normal),
                   off(x.a, exact.a),
                   off(x.b, exact.b)});
}

/// Of the differences to either side, in the worst column, at the best of three steps.
double one_sided_error(const LaidPair& p, const DistanceDerivatives& d) {
  const DistanceResult here = query(p);
  double worst = 0.0;
  for (int k = 0; k < 6; ++k) {
    const Rates exact = column(d, k);
    double best = HUGE_VAL;
    for (const double h : {1e-5, 1e-6, 1e-7, 1e-8}) {
      const Rates ahead = difference(query(moved(p, k, h)), here, h),
                  back = difference(here, query(moved(p, k, -h)), h);
      best = std::min(best, std::max(relative(ahead, exact), relative(back, exact)));
    }
    worst = std::max(worst, best);
  }
  return worst;
}

int rounds() { return std::getenv("STICTION_FUZZ") != nullptr ? 600 : 20; }

struct Tally {
  int count = 0, exact = 0, wrong = 0;
  double worst = 0.0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(flush_derivatives_test)

// What is called smooth has one derivative, to either side. Of surfaces a few are not: their kinks
// are found by a few queries, and not for sure.
BOOST_AUTO_TEST_CASE(what_is_called_smooth_is) {
  Rng rng(31);
  std::map<double, Tally> by_off;
  int convex = 0, wrong_convex = 0, hollow = 0, wrong_hollow = 0;
  for (int ka = 0; ka < kSolidKinds; ++ka) {
    for (int kb = 0; kb < kSolidKinds; ++kb) {
      if (std::min(ka, kb) >= int(SolidKind::kField)) continue;
      for (int t = 0; t < rounds(); ++t) {
        const LaidPair p = laid_pair(rng, SolidKind(ka), SolidKind(kb));
        const DistanceResult r = query(p);
        const DistanceDerivatives d = distance_derivatives(p.a, p.X_WA, p.b, p.X_WB, r);
        const double e = d.smooth() ? one_sided_error(p, d) : 0.0;
        const bool of_surface = p.a.hollow() || p.b.hollow(), wrong = e > 0.03;
        ++(of_surface ? hollow : convex);
        (of_surface ? wrong_hollow : wrong_convex) += wrong;
        Tally& s = by_off[p.off];
        ++s.count;
        s.exact += d.smooth();
        s.worst = std::max(s.worst, e);
        if (wrong)
          BOOST_TEST_MESSAGE(name(SolidKind(ka))
                             << " / " << name(SolidKind(kb)) << ", trial " << t << ", off " << p.off
                             << ", distance " << r.distance << ": " << e);
      }
    }
  }
  for (const auto& [off, s] : by_off)
    BOOST_TEST_MESSAGE("off by " << off << ": " << s.count << " pairs, " << s.exact
                                 << " smooth, worst " << s.worst);
  BOOST_TEST(wrong_convex <= convex / 1000, wrong_convex << " of " << convex);
  BOOST_TEST(wrong_hollow <= hollow / 200, wrong_hollow << " of " << hollow);
  BOOST_TEST(by_off[0.0].exact < 0.5 * by_off[0.0].count);
  BOOST_TEST(by_off[1e-2].exact > 0.75 * by_off[1e-2].count);
  BOOST_TEST(by_off[1e-3].exact > 0.7 * by_off[1e-3].count);
}

// Parallel cylinders, capsules and edges of boxes, ends level or not: the points are free along
// the lines.
BOOST_AUTO_TEST_CASE(lines_side_by_side_are_kinks) {
  Rng rng(32);
  for (int t = 0; t < 200; ++t) {
    const auto line = [&](double& reach) {
      const double r = rng.uniform(0.05, 0.2), l = rng.uniform(0.1, 0.4);
      const int kind = rng.below(3);
      reach = kind == 2 ? r * std::sqrt(2.0) : r;
      return kind == 0   ? Shape::cylinder(r, l)
             : kind == 1 ? Shape::capsule(r, l)
                         : Shape::box({r, r, l});
    };
    LaidPair p;
    double out_a, out_b;
    p.a = line(out_a);
    p.b = line(out_b);
    if (rng.below(4) == 0) p.b = p.a, out_b = out_a;

    const double angle = 0.25 * kPi, up = rng.below(2) == 0 ? 0.0 : rng.uniform(-0.1, 0.1);
    p.X_WA = pose(rng, 1.0);
    // The edges of boxes look at each other.
    const Vec3d way = p.X_WA.R * Vec3d{std::cos(angle), std::sin(angle), 0.0};
    const double gap = rng.below(4) == 0 ? -1e-3 : rng.uniform(0.0, 0.3);
    p.X_WB = {p.X_WA.R, p.X_WA.p + way * (out_a + out_b + gap) + p.X_WA.R.c2 * up};
    const DistanceResult r = query(p);
    const DistanceDerivatives d = distance_derivatives(p.a, p.X_WA, p.b, p.X_WB, r);
    BOOST_TEST(!d.smooth(), "types " << int(p.a.type) << ", " << int(p.b.type));
  }
}

// To either side contact points go as they say, unless they vanish.
BOOST_AUTO_TEST_CASE(points_go_to_either_side_as_they_say) {
  Rng rng(16);
  ManifoldWorkspace work;
  std::map<std::string, Tally> tally;
  Tally convex, surfaces;
  for (int ka = 0; ka < kSolidKinds; ++ka) {
    for (int kb = 0; kb < kSolidKinds; ++kb) {
      if (std::min(ka, kb) >= int(SolidKind::kField)) continue;
      for (int t = 0; t < rounds() / 2; ++t) {
        const LaidPair laid = laid_pair(rng, SolidKind(ka), SolidKind(kb));
        const Posed p{laid.a, laid.b, laid.X_WA, laid.X_WB};
        for (const Contact& c : contacts_of(p, work)) {
          const ContactDerivatives d = contact_derivatives(c, p.a, p.X_WA, p.b, p.X_WB);
          const double e = d.exact ? one_sided_error(p, c, d, work) : 0.0;
          const bool surface = is_surface(p.a.type) || is_surface(p.b.type);
          for (Tally* s : {&tally[branch_of(p, c)], surface ? &surfaces : &convex}) {
            ++s->count;
            s->exact += d.exact;
            s->wrong += e > 0.03;
            s->worst = std::max(s->worst, e);
          }
          if (e > 0.03)
            BOOST_TEST_MESSAGE(name(SolidKind(ka))
                               << " / " << name(SolidKind(kb)) << ", trial " << t << ", off "
                               << laid.off << ", gap " << c.gap << ": " << branch_of(p, c)
                               << ", feature " << c.feature << ": " << e);
        }
      }
    }
  }
  for (const auto& [branch, s] : tally)
    BOOST_TEST_MESSAGE(branch << ": " << s.count << " points, " << s.exact << " exact, " << s.wrong
                              << " wrong, worst " << s.worst);
  BOOST_TEST(convex.wrong <= 0.01 * convex.count, convex.wrong << " of " << convex.count);
  BOOST_TEST(convex.exact > 0.7 * convex.count, convex.exact << " of " << convex.count);
  BOOST_TEST(surfaces.wrong <= 0.03 * surfaces.count, surfaces.wrong << " of " << surfaces.count);
  BOOST_TEST(surfaces.exact > 0.6 * surfaces.count, surfaces.exact << " of " << surfaces.count);
}

BOOST_AUTO_TEST_SUITE_END()
