#include "stiction/contact/compliant_law.hpp"

#include "stiction/model/parameters.hpp"
#include "stiction/model/scene.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>

using namespace stiction;
using stiction::test::Rng;

namespace {

PointCompliance some_compliance(double dissipation = 0.0) {
  Material m{0.6, 0.0, 2e4, 30.0};
  m.tangential_stiffness_ratio = 0.7;
  m.tangential_damping_ratio = 1.3;
  m.dissipation = dissipation;
  return point_compliance(m, 0.5);
}

PointMotion some_motion(Rng& rng) {
  PointMotion m;
  m.gap = rng.uniform(-2e-3, 2e-4);
  for (int k = 0; k < 3; ++k) {
    m.velocity[k] = rng.uniform(-0.3, 0.3);
    m.extension[k] = rng.uniform(-1e-3, 1e-3);
  }
  return m;
}

PointMotion moved(PointMotion m, int axis, double dx, double dc) {
  if (axis == 2) m.gap += dx;
  m.extension[axis] -= dx;
  m.velocity[axis] += dc;
  return m;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compliant_law_test)

BOOST_AUTO_TEST_CASE(derivatives_are_those_of_the_force) {
  Rng rng(5);
  int seen[3] = {0, 0, 0};
  for (int trial = 0; trial < 2000; ++trial) {
    const CompliantLaw law = trial % 2 ? CompliantLaw::kPublished : CompliantLaw::kContinuous;
    const PointCompliance c = some_compliance(trial % 3 ? 0.0 : 0.8);
    const PointMotion m = some_motion(rng);
    const PointForce f = compliant_force(law, c, m);
    const PointForceDerivatives by = compliant_force_derivatives(law, c, m, f);
    ++seen[static_cast<std::size_t>(f.mode)];
    for (int axis = 0; axis < 3; ++axis) {
      for (const bool displace : {true, false}) {
        const double h = displace ? 1e-8 : 1e-6;
        const PointForce plus =
            compliant_force(law, c, moved(m, axis, displace ? h : 0.0, displace ? 0.0 : h));
        const PointForce minus =
            compliant_force(law, c, moved(m, axis, displace ? -h : 0.0, displace ? 0.0 : -h));
        if (plus.mode != f.mode || minus.mode != f.mode) continue;
        const Vec3d slope = (plus.force - minus.force) * (0.5 / h);
        const Vec3d given = (displace ? by.displacement : by.velocity).column(axis);
        BOOST_TEST(norm(slope - given) <= 1e-5 * (norm(given) + (displace ? 1e4 : 15.0)));
      }
    }
  }
  for (const int count : seen) BOOST_TEST((count > 200));
}

/// `by` of a point with couples against differences; number 0, ..., 11 of (x, x', phi, w).
BOOST_AUTO_TEST_CASE(derivatives_are_those_of_force_and_couple) {
  Rng rng(6);
  int seen[3] = {0, 0, 0};
  for (int trial = 0; trial < 2000; ++trial) {
    PointCompliance c = some_compliance(trial % 3 ? 0.0 : 0.8);
    c.turning = {trial % 2 ? 0.02 : 0.0, trial % 2 ? 0.02 : 0.0, 0.05};
    c.sliding = trial % 5 ? 1.0 : 0.0;
    PointMotion m = some_motion(rng);
    for (int k = 0; k < 3; ++k) {
      m.spin[k] = rng.uniform(-5.0, 5.0);
      m.turn[k] = rng.uniform(-0.02, 0.02);
    }
    const CompliantLaw law = CompliantLaw::kContinuous;
    const PointForce f = compliant_force(law, c, m);
    const PointWrenchDerivatives by = compliant_wrench_derivatives(c, m, f);
    ++seen[static_cast<std::size_t>(f.mode)];
    for (int k = 0; k < 12; ++k) {
      const int axis = k % 3;
      const bool place = k / 3 % 2 == 0;
      const double h = place ? 1e-8 : 1e-6;
      const auto at = [&](double x) {
        if (k < 6) return compliant_force(law, c, moved(m, axis, place ? x : 0.0, place ? 0.0 : x));
        PointMotion other = m;
        (place ? other.turn : other.spin)[axis] += place ? -x : x;
        return compliant_force(law, c, other);
      };
      const PointForce plus = at(h), minus = at(-h);
      if (plus.mode != f.mode || minus.mode != f.mode) continue;
      const PointForceDerivatives &force = k < 6 ? by.force : by.force_by_turn,
                                  &couple = k < 6 ? by.couple : by.couple_by_turn;
      const auto check = [&](const PointForceDerivatives& d, const Vec3d& difference, double unit) {
        const Vec3d given = (place ? d.displacement : d.velocity).column(axis);
        const Vec3d slope = difference * (0.5 / h);
        BOOST_TEST(norm(slope - given) <= 1e-5 * (norm(given) + unit * (place ? 1e4 : 15.0)));
      };
      check(force, plus.force - minus.force, 1.0);
      check(couple, plus.couple - minus.couple, 0.05);
    }
  }
  for (const int count : seen) BOOST_TEST((count > 200));
}

/// On the ellipsoid (f / mu)^2 + (m_i / mu_i)^2 = f_N^2 where it slides, inside where it sticks,
/// and there the least work for the motion of all: (f, m) goes against D^2 (v, w) once e rests.
BOOST_AUTO_TEST_CASE(couples_share_the_ellipsoid) {
  Material pair{0.6, 0.0, 2e4, 30.0};
  pair.torsional_friction = 0.03;
  pair.rolling_friction = 0.01;
  const PointCompliance c = point_compliance(pair, 0.5);
  BOOST_TEST((norm(c.turning - Vec3d{0.01, 0.01, 0.03} * (1.0 / 0.6)) < 1e-15));
  Rng rng(7);
  for (int trial = 0; trial < 200; ++trial) {
    PointMotion m;
    m.gap = -1e-3;
    for (int k = 0; k < 2; ++k) m.velocity[k] = rng.uniform(-1.0, 1.0);
    for (int k = 0; k < 3; ++k) m.spin[k] = rng.uniform(-30.0, 30.0);
    PointForce f;
    for (int step = 0; step < 400; ++step) {  // until extension and turn rest
      f = compliant_force(CompliantLaw::kContinuous, c, m);
      m.extension = relaxed_extension(c, m.extension, f.force, 1e-4);
      m.turn = relaxed_turn(c, m.turn, f.couple, 1e-4);
    }
    BOOST_TEST((f.mode == ContactMode::kSlide));
    const double D[5] = {0.6, 0.6, 0.01, 0.01, 0.03};
    const double l[5] = {f.force.x, f.force.y, f.couple.x, f.couple.y, f.couple.z};
    const double v[5] = {m.velocity.x, m.velocity.y, m.spin.x, m.spin.y, m.spin.z};
    double S = 0.0, inside = 0.0;
    for (int i = 0; i < 5; ++i) {
      S += D[i] * D[i] * v[i] * v[i];
      inside += l[i] * l[i] / (D[i] * D[i]);
    }
    BOOST_TEST(std::sqrt(inside) == f.force.z, boost::test_tools::tolerance(1e-12));
    for (int i = 0; i < 5; ++i)
      BOOST_TEST(std::abs(l[i] + D[i] * D[i] * v[i] * f.force.z / std::sqrt(S)) <=
                 1e-6 * D[i] * f.force.z);
  }
}

// The continuous law has no jump at the cone and none at f_N = 0.
BOOST_AUTO_TEST_CASE(force_is_continuous_while_inside) {
  Rng rng(6);
  const PointCompliance c = some_compliance(0.5);
  for (int trial = 0; trial < 300; ++trial) {
    PointMotion a = some_motion(rng), b = some_motion(rng);
    a.gap = -std::abs(a.gap);
    b.gap = -std::abs(b.gap);
    Vec3d last = compliant_force(CompliantLaw::kContinuous, c, a).force;
    const int steps = 20000;
    for (int k = 1; k <= steps; ++k) {
      const double s = static_cast<double>(k) / steps;
      PointMotion m;
      m.gap = a.gap + s * (b.gap - a.gap);
      m.velocity = a.velocity + (b.velocity - a.velocity) * s;
      m.extension = a.extension + (b.extension - a.extension) * s;
      const Vec3d f = compliant_force(CompliantLaw::kContinuous, c, m).force;
      BOOST_REQUIRE(norm(f - last) < 0.05);
      last = f;
    }
  }
}

// While it slides the spring relaxes to the friction force; a damper of zero lets it jump there.
BOOST_AUTO_TEST_CASE(sliding_spring_carries_the_cone_force) {
  for (const double damping : {5.0, 300.0}) {
    PointCompliance c = some_compliance();
    c.tangential_damping = damping;
    PointMotion m;
    m.gap = -1e-3;
    m.velocity = {0.4, -0.3, 0.0};
    m.extension = {5e-4, 5e-4, 0.0};
    double rate = 0.0;
    for (int k = 0; k < 20000; ++k) {
      const PointForce f = compliant_force(CompliantLaw::kContinuous, c, m);
      if (f.mode == ContactMode::kStick) m.extension -= m.velocity * 1e-4;
      if (f.mode == ContactMode::kSlide)
        m.extension = relaxed_extension(c, m.extension, f.force, 1e-4);
      rate = norm(anchor_rate(CompliantLaw::kContinuous, c, m, f) - m.velocity);
    }
    const PointForce f = compliant_force(CompliantLaw::kContinuous, c, m);
    BOOST_TEST((f.mode == ContactMode::kSlide));
    const Vec3d spring = m.extension * c.tangential_stiffness;
    BOOST_TEST(std::abs(spring.x - f.force.x) < 1e-9);
    BOOST_TEST(std::abs(spring.y - f.force.y) < 1e-9);
    BOOST_TEST(rate < 1e-9);  // e' = anchor's rate - x' has come to rest
  }
  PointCompliance undamped = some_compliance();
  undamped.tangential_damping = 0.0;
  const Vec3d e = relaxed_extension(undamped, {5e-4, 5e-4, 0.0}, {1.0, -2.0, 9.0}, 1e-3);
  BOOST_TEST(e.x * undamped.tangential_stiffness == 1.0, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(e.y * undamped.tangential_stiffness == -2.0, boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(published_law_moves_the_anchor_onto_the_cone) {
  const PointCompliance c = some_compliance();
  PointMotion m;
  m.gap = -1e-3;
  m.velocity = {0.2, 0.0, 0.0};
  m.extension = {2e-3, 1e-3, 1e-3};
  const PointForce f = compliant_force(CompliantLaw::kPublished, c, m);
  BOOST_TEST((f.mode == ContactMode::kSlide));
  BOOST_TEST(f.force.z == c.stiffness * 1e-3);
  BOOST_TEST(std::hypot(f.force.x, f.force.y) == c.friction * f.force.z,
             boost::test_tools::tolerance(1e-14));
  const Vec3d e = settled_extension(CompliantLaw::kPublished, c, m, f);
  BOOST_TEST(e.x * c.tangential_stiffness == f.force.x, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(e.z == 1e-3);
  m.extension.z = -1e-4;  // would pull: no force, the anchor stays
  BOOST_TEST((compliant_force(CompliantLaw::kPublished, c, m).mode == ContactMode::kOpen));
  m.gap = 1e-9;
  BOOST_TEST((compliant_force(CompliantLaw::kPublished, c, m).mode == ContactMode::kOpen));
}

BOOST_AUTO_TEST_CASE(materials_in_series) {
  Material a{0.5, 0.0, 1e4, 20.0}, b{0.5, 0.0, 3e4, 60.0};
  a.tangential_stiffness_ratio = 0.5;
  b.tangential_stiffness_ratio = 1.0;
  a.dissipation = 0.2;
  b.dissipation = 1.0;
  const Material m = combine(a, b);
  BOOST_TEST(m.stiffness == 7500.0, boost::test_tools::tolerance(1e-14));
  const double kt = 1.0 / (1.0 / 5e3 + 1.0 / 3e4);
  BOOST_TEST(m.tangential_stiffness_ratio * m.stiffness == kt, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(m.damping == 15.0, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(m.tangential_damping_ratio == 1.0, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(m.dissipation == (3e4 * 0.2 + 1e4 * 1.0) / 4e4, boost::test_tools::tolerance(1e-14));
  const Material rigid;
  BOOST_TEST(combine(a, rigid).dissipation == 0.2);
  BOOST_TEST(combine(a, rigid).damping == 20.0);
  BOOST_TEST(combine(rigid, a).tangential_stiffness_ratio == 0.5);
}

BOOST_AUTO_TEST_CASE(refusals_name_the_field) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](auto&& edit, const std::string& field) {
    Material m;
    edit(m);
    try {
      validate_material(m, "material[3]");
    } catch (const std::invalid_argument& e) {
      return std::string(e.what()).find("material[3]." + field + " = ") != std::string::npos;
    }
    return false;
  };
  for (const double bad : {-1.0, nan}) {
    BOOST_TEST(refused([&](Material& m) { m.stiffness = bad; }, "stiffness"));
    BOOST_TEST(refused([&](Material& m) { m.damping = bad; }, "damping"));
    BOOST_TEST(refused([&](Material& m) { m.dissipation = bad; }, "dissipation"));
    BOOST_TEST(refused([&](Material& m) { m.tangential_stiffness_ratio = bad; },
                       "tangential_stiffness_ratio"));
    BOOST_TEST(refused([&](Material& m) { m.tangential_damping_ratio = bad; },
                       "tangential_damping_ratio"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
