#include "integrator/contact_motion.hpp"

#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

// The walker against the classical Runge-Kutta method on the same piecewise law, with steps that
// are halved wherever a point changes its mode.

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using stiction::test::Rng;

namespace {

struct Points {
  MatrixXd Y;
  std::vector<PointCompliance> compliance;
  std::vector<PointMotion> start;
  VectorXd b0, b1;
  double h = 0.0;
};

/// x, v, e, int f, intint f, stacked, and the modes there.
struct Fine {
  VectorXd z;
  std::vector<ContactMode> mode;
};

enum Transition { kTouchStick, kTouchSlide, kLiftOff, kSlip, kRest, kTransitions };
using Counts = std::array<int, kTransitions>;

void count(const std::vector<ContactMode>& a, const std::vector<ContactMode>& b, Counts& counts) {
  using M = ContactMode;
  for (std::size_t i = 0; i < a.size(); ++i) {
    counts[kTouchStick] += a[i] == M::kOpen && b[i] == M::kStick;
    counts[kTouchSlide] += a[i] == M::kOpen && b[i] == M::kSlide;
    counts[kLiftOff] += a[i] != M::kOpen && b[i] == M::kOpen;
    counts[kSlip] += a[i] == M::kStick && b[i] == M::kSlide;
    counts[kRest] += a[i] == M::kSlide && b[i] == M::kStick;
  }
}

/// z' and the modes.
VectorXd rate(const Points& p, double t, const VectorXd& z, std::vector<ContactMode>& mode) {
  const Eigen::Index n = p.Y.rows();
  VectorXd f(n), e_rate = VectorXd::Zero(n), out(5 * n);
  mode.resize(n / 3);
  for (int i = 0; i < n / 3; ++i) {
    const double *x = z.data() + 3 * i, *v = x + n, *e = v + n;
    const PointMotion motion{x[2], {v[0], v[1], v[2]}, {e[0], e[1], 0.0}};
    const PointCompliance& c = p.compliance[i];
    const PointForce force = compliant_force(CompliantLaw::kContinuous, c, motion);
    mode[i] = force.mode;
    for (int r = 0; r < 3; ++r) f[3 * i + r] = force.force[r];
    for (int r = 0; r < 2 && force.mode != ContactMode::kOpen; ++r)
      e_rate[3 * i + r] = (force.force[r] - c.tangential_stiffness * e[r]) / c.tangential_damping;
  }
  out << z.segment(n, n), p.b0 + (p.b1 - p.b0) * (t / p.h) + p.Y * f, e_rate, f,
      z.segment(3 * n, n);
  return out;
}

Fine fine_motion(const Points& p, Counts& counts) {
  const Eigen::Index n = p.Y.rows();
  const double longest = p.h / 4000.0, shortest = 1e-13;
  Fine at;
  at.z = VectorXd::Zero(5 * n);
  for (int i = 0; i < n / 3; ++i) {
    at.z[3 * i + 2] = p.start[i].gap;
    for (int r = 0; r < 3; ++r) at.z[n + 3 * i + r] = p.start[i].velocity[r];
    for (int r = 0; r < 2; ++r) at.z[2 * n + 3 * i + r] = p.start[i].extension[r];
  }
  rate(p, 0.0, at.z, at.mode);
  std::vector<ContactMode> mode;
  double t = 0.0, step = longest;
  while (t < p.h) {
    const double d = std::min(step, p.h - t);
    const VectorXd k1 = rate(p, t, at.z, mode), k2 = rate(p, t + d / 2, at.z + d / 2 * k1, mode),
                   k3 = rate(p, t + d / 2, at.z + d / 2 * k2, mode),
                   k4 = rate(p, t + d, at.z + d * k3, mode);
    VectorXd z = at.z + d / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    rate(p, t + d, z, mode);
    if (mode != at.mode && d > shortest) {
      step = 0.5 * d;
      continue;
    }
    count(at.mode, mode, counts);
    for (int i = 0; i < n / 3; ++i) {
      if (mode[i] == ContactMode::kOpen) z.segment(2 * n + 3 * i, 3).setZero();
    }
    at = {z, mode};
    t = d == p.h - t ? p.h : t + d;
    step = std::min(longest, 2.0 * step);
  }
  return at;
}

/// Largest difference of v, of x over h and of the integrals, as speeds.
double difference(const Points& p, const ContactMotion& walker, const Fine& fine) {
  const Eigen::Index n = p.Y.rows();
  const auto map = [&](const std::vector<double>& a) { return VectorXd::Map(a.data(), n); };
  VectorXd apart = map(walker.end().v) - fine.z.segment(n, n);
  double worst = apart.cwiseAbs().maxCoeff();
  apart = (map(walker.end().x) - fine.z.head(n)) / p.h;
  worst = std::max(worst, apart.cwiseAbs().maxCoeff());
  apart = p.Y * (map(walker.F1) - fine.z.segment(3 * n, n));
  worst = std::max(worst, apart.cwiseAbs().maxCoeff());
  apart = p.Y * (map(walker.F2) - fine.z.tail(n)) / p.h;
  return std::max(worst, apart.cwiseAbs().maxCoeff());
}

/// Points near the ground at walking speed, pushed down and along. `planar`: nothing moves along
/// t2, so that friction keeps its line.
Points random_points(Rng& rng, int n, bool planar) {
  Points p;
  MatrixXd J = MatrixXd::NullaryExpr(3 * n, 3 * n, [&] { return rng.uniform(-1.0, 1.0); });
  p.h = std::pow(10.0, rng.uniform(-3.3, -2.3));
  p.b0 = p.b1 = VectorXd::Zero(3 * n);
  for (int i = 0; i < n; ++i) {
    if (planar) J.row(3 * i + 1).setZero();
    PointCompliance c;
    c.stiffness = std::pow(10.0, rng.uniform(4.0, 5.5));
    c.damping = 2.0 * rng.uniform(0.05, 1.0) * std::sqrt(c.stiffness);
    c.tangential_stiffness = c.stiffness * rng.uniform(0.3, 1.0);
    c.tangential_damping = c.damping * rng.uniform(0.3, 1.0);
    c.friction = rng.uniform(0.2, 0.9);
    p.compliance.push_back(c);
    PointMotion m;
    m.gap = rng.uniform(-3e-4, 3e-4);
    m.velocity = {rng.uniform(-0.3, 0.3), planar ? 0.0 : rng.uniform(-0.3, 0.3), 0.0};
    m.velocity.z = rng.uniform(-0.3, 0.1);
    p.start.push_back(m);
    for (VectorXd* b : {&p.b0, &p.b1}) {
      (*b)[3 * i] = rng.uniform(-60.0, 60.0);
      (*b)[3 * i + 1] = planar ? 0.0 : rng.uniform(-60.0, 60.0);
      (*b)[3 * i + 2] = rng.uniform(-60.0, 10.0);
    }
  }
  p.Y = J * J.transpose() / n + 0.5 * MatrixXd::Identity(3 * n, 3 * n);
  return p;
}

/// One point that is pressed down, slides along t1 and is pulled along t2 harder than friction
/// holds it.
Points turning_point(Rng& rng) {
  Points p;
  PointCompliance c;
  c.stiffness = 1e5;
  c.damping = 100.0;
  c.tangential_stiffness = 5e4;
  c.tangential_damping = rng.uniform(300.0, 2000.0);
  c.friction = 0.5;
  p.compliance = {c};
  p.h = 4e-3;
  const double press = rng.uniform(20.0, 60.0), speed = rng.uniform(0.05, 0.2);
  PointMotion m;
  m.gap = -press / c.stiffness;  // at rest along n
  m.velocity = {speed, 0.0, 0.0};
  m.extension = {-c.friction * press / c.tangential_stiffness, 0.0, 0.0};
  p.start = {m};
  p.b0 = p.b1 =
      Eigen::Vector3d(rng.uniform(-2.0, 0.0) * press, rng.uniform(0.5, 2.0) * press, -press);
  p.Y = MatrixXd::Identity(3, 3);
  return p;
}

void walk(const Points& p, ContactMotion& walker) {
  ContactIsland& island = walker.renew();
  island.size = static_cast<int>(p.start.size());
  island.Y.assign(p.Y.data(), p.Y.data() + p.Y.size());
  island.compliance = p.compliance;
  island.start = p.start;
  walker.run(p.b0.data(), p.b1.data(), p.h);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(contact_motion_test)

// Where friction keeps its line the segments are exact, whatever happens at their ends.
BOOST_AUTO_TEST_CASE(exact_along_a_line) {
  Rng rng(21);
  Counts counts{};
  double worst = 0.0;
  ContactMotion walker;
  for (int i = 0; i < 400; ++i) {
    const Points p = random_points(rng, 1 + i % 3, true);
    walk(p, walker);
    const Fine fine = fine_motion(p, counts);
    const double apart = difference(p, walker, fine);
    worst = std::max(worst, apart);
    BOOST_TEST(apart < 2e-10,
               "case " << i << ": " << apart << " m/s, switches " << walker.switches);
    BOOST_TEST((walker.mode() == fine.mode), "case " << i);
  }
  for (const int transition : counts) BOOST_TEST(transition >= 10);
  BOOST_TEST_MESSAGE("worst " << worst << " m/s");
}

// Where friction turns, a segment holds its mean direction: second order between switches.
BOOST_AUTO_TEST_CASE(near_where_friction_turns) {
  Rng rng(22);
  Counts counts{};
  double worst = 0.0, sum = 0.0;
  ContactMotion walker;
  for (int i = 0; i < 200; ++i) {
    const Points p = random_points(rng, 1 + i % 3, false);
    walk(p, walker);
    const double apart = difference(p, walker, fine_motion(p, counts));
    worst = std::max(worst, apart);
    sum += apart;
    BOOST_TEST(apart < 5e-2, "case " << i << ": " << apart << " m/s, switches " << walker.switches);
  }
  for (const int transition : counts) BOOST_TEST(transition >= 5);
  BOOST_TEST(sum / 200 < 2e-3);
  BOOST_TEST_MESSAGE("worst " << worst << ", mean " << sum / 200 << " m/s");
}

// A sliding point is driven across its way: its velocity passes near zero and leaves at another
// angle. A segment ends where the direction that it took for the friction is 20 degrees off.
BOOST_AUTO_TEST_CASE(a_velocity_that_turns_ends_its_segment) {
  Rng rng(23);
  Counts counts{};
  double worst = 0.0, sum = 0.0;
  int switches = 0;
  ContactMotion walker;
  for (int i = 0; i < 100; ++i) {
    const Points p = turning_point(rng);
    walk(p, walker);
    const double apart = difference(p, walker, fine_motion(p, counts));
    worst = std::max(worst, apart);
    sum += apart;
    switches += walker.switches;
  }
  BOOST_TEST(worst < 2e-2);  // [m/s], of 0.05 to 0.2; 7e-2 without that end
  BOOST_TEST(sum / 100 < 6e-3);
  BOOST_TEST(switches > 200);
  BOOST_TEST(counts[kRest] + counts[kSlip] < 20);  // else the points only slide
}

BOOST_AUTO_TEST_SUITE_END()
