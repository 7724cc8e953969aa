#include "stiction/contact/residuals.hpp"

#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

using namespace stiction;
using stiction::test::Rng;

namespace {

/// Distance of x from the cone {|x_T| <= k x_N} by search: along the rays in the plane of x and the
/// axis, the nearest point of each in closed form, the best ray by repeated refinement.
double searched_distance(const Eigen::Vector3d& x, double k) {
  const double t = x.head<2>().norm();
  const auto along = [&](double slope) {  // nearest point of the ray (slope, 1) s, s >= 0
    const double s = std::max(0.0, (slope * t + x[2]) / (slope * slope + 1.0));
    return std::hypot(slope * s - t, s - x[2]);
  };
  double low = 0.0, high = k, best = 1e300, at = 0.0;
  for (int round = 0; round < 12; ++round) {
    const double h = (high - low) / 20.0;
    for (int i = 0; i <= 20; ++i) {
      if (along(low + i * h) < best) {
        best = along(low + i * h);
        at = low + i * h;
      }
    }
    low = std::max(0.0, at - h);
    high = std::min(k, at + h);
  }
  return best;
}

/// Two contacts, a limit, a dry friction row and a weld, solved: G = I, the velocity is chosen.
struct Solved {
  std::vector<ConstraintSet> sets{ConstraintSet::cone(0.5),
                                  ConstraintSet::cone(0.5),
                                  ConstraintSet::non_negative(),
                                  ConstraintSet::box(-1.0, 2.0),
                                  ConstraintSet::free(2)};
  Eigen::VectorXd impulse{{0.3, 0.4, 1.0, 0.1, 0.0, 1.0, 0.7, 2.0, 0.3, -0.2}};
  Eigen::VectorXd velocity{{-0.6, -0.8, 0.0, 0.0, 0.0, 0.0, 0.0, -0.4, 0.0, 0.0}};

  ContactProblem problem() const {
    return ContactProblem::from_dense(Eigen::MatrixXd::Identity(10, 10), velocity - impulse, sets);
  }
};

Residuals certify(const ContactProblem& problem, const Eigen::VectorXd& impulse) {
  std::vector<double> c(impulse.size());
  return residuals(problem, impulse.data(), c.data());
}

/// relative as it would be if velocities had no rounding: max(primal / L, dual / V), dual that of
/// the row's law min(c, G_rr lambda) = 0, of one island of non-negative rows.
double plain_relative(const Eigen::MatrixXd& G,
                      const Eigen::VectorXd& g,
                      const Eigen::VectorXd& l) {
  const Eigen::VectorXd c = G * l + g;
  const double V = -g.minCoeff();
  const double L = std::max(l.lpNorm<Eigen::Infinity>(), V / G.diagonal().maxCoeff());
  double primal = std::max(0.0, -l.minCoeff()), dual = std::max(0.0, -c.minCoeff());
  for (int r = 0; r < l.size(); ++r) {
    if (l[r] > 0.0 && c[r] > 0.0)
      dual = std::max(dual, std::min(c[r], G(r, r) * (l[r] * c[r] / c[r])));
  }
  return std::max(primal / L, dual / V);
}

/// 16 u max_i sum_j |G_ij lambda_j| in parts of the fastest approach.
double rounding_share(const Eigen::MatrixXd& G,
                      const Eigen::VectorXd& g,
                      const Eigen::VectorXd& l) {
  const Eigen::VectorXd sum = G.cwiseAbs() * l.cwiseAbs();
  return 16.0 * 0x1p-53 * sum.lpNorm<Eigen::Infinity>() / -g.minCoeff();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(residuals_test)

// A contact's distances agree with a search for the nearest point, in every region of the cone and
// of the dual cone: inside, beside, and behind the apex.
BOOST_AUTO_TEST_CASE(cone_distances_match_a_search) {
  Rng rng(1);
  int primal_seen[3] = {}, dual_seen[2] = {};
  for (int trial = 0; trial < 6000; ++trial) {
    const double mu = rng.uniform(0.05, 2.0), k = 1.0 / mu;
    Eigen::Vector3d l, c;
    for (int i = 0; i < 3; ++i) {
      l[i] = rng.uniform(-1.0, 1.0);
      c[i] = rng.uniform(-1.0, 1.0);
    }
    const Eigen::Vector3d y(c[0], c[1], c[2] + mu * c.head<2>().norm());
    const SetResidual d = set_residual(ConstraintSet::cone(mu), l.data(), c.data());
    const double p = searched_distance(l, mu), q = searched_distance(y, k);
    BOOST_TEST_CONTEXT("trial " << trial << ", mu " << mu) {
      BOOST_TEST(std::abs(d.primal - p) < 1e-7);
      BOOST_TEST(std::abs(d.dual - q) < 1e-7);
      BOOST_TEST(std::abs(d.complementarity - std::abs(l.dot(y))) < 1e-15);
    }
    ++primal_seen[d.primal == 0.0 ? 0 : d.primal >= l.norm() ? 1 : 2];
    ++dual_seen[d.dual == 0.0 ? 0 : 1];
  }
  for (const int n : primal_seen) BOOST_TEST(n > 300);
  for (const int n : dual_seen) BOOST_TEST(n > 300);
}

// In the dual cone's apex region, c_N + mu |c_T| <= -|c_T| / mu, the distance is the length of c +
// Gamma.
BOOST_AUTO_TEST_CASE(dual_apex_region) {
  Rng rng(2);
  for (int trial = 0; trial < 500; ++trial) {
    const double mu = rng.uniform(0.1, 2.0), a = rng.uniform(0.0, 6.28), t = rng.uniform(0.01, 1.0);
    const double n = -t / mu * rng.uniform(1.01, 3.0);
    const double l[3] = {0, 0, 0}, c[3] = {t * std::cos(a), t * std::sin(a), n - mu * t};
    const SetResidual d = set_residual(ConstraintSet::cone(mu), l, c);
    BOOST_TEST(std::abs(d.dual - std::hypot(t, n)) < 1e-12);
    BOOST_TEST(std::abs(d.dual - searched_distance({c[0], c[1], n}, 1.0 / mu)) < 1e-7);
  }
}

// Without friction the cone is a ray and its dual a half-space: tangential velocity costs nothing.
BOOST_AUTO_TEST_CASE(frictionless_contact) {
  const ConstraintSet set = ConstraintSet::cone(0.0);
  for (const double n : {-2.0, 0.0, 3.0}) {
    for (const double t : {0.25, 0.5}) {
      const double l[3] = {0.0, t, n}, c[3] = {0.6, -0.8, n};
      const SetResidual d = set_residual(set, l, c);
      BOOST_TEST(std::abs(d.primal - (n < 0.0 ? std::hypot(t, n) : t)) < 1e-15);
      BOOST_TEST(d.dual == std::max(0.0, -n));
      BOOST_TEST(std::abs(d.complementarity - std::abs(n * n - 0.8 * t)) < 1e-15);
    }
  }
}

// One-row sets and bilateral rows, each side of each bound by hand.
BOOST_AUTO_TEST_CASE(scalar_and_free_sets) {
  const auto check = [](const ConstraintSet& s, double l, double c, double p, double d, double q) {
    const SetResidual x = set_residual(s, &l, &c);
    BOOST_TEST_CONTEXT("l " << l << ", c " << c) {
      BOOST_TEST(std::abs(x.primal - p) < 1e-15);
      BOOST_TEST(std::abs(x.dual - d) < 1e-15);
      BOOST_TEST(std::abs(x.complementarity - q) < 1e-15);
    }
  };
  check(ConstraintSet::non_negative(), 2.0, 0.0, 0, 0, 0);
  check(ConstraintSet::non_negative(), 0.0, 3.0, 0, 0, 0);
  check(ConstraintSet::non_negative(), 2.0, 3.0, 0, 0, 6.0);
  check(ConstraintSet::non_negative(), -2.0, 0.0, 2.0, 0, 0);
  check(ConstraintSet::non_negative(), 0.0, -3.0, 0, 3.0, 0);
  check(ConstraintSet::non_negative(), -2.0, -3.0, 2.0, 3.0, 6.0);
  const ConstraintSet box = ConstraintSet::box(-1.0, 2.0);
  check(box, -1.0, 5.0, 0, 0, 0);
  check(box, 2.0, -5.0, 0, 0, 0);
  check(box, 0.5, 0.0, 0, 0, 0);
  check(box, 0.5, 4.0, 0, 0, 6.0);
  check(box, 0.5, -4.0, 0, 0, 6.0);
  check(box, -1.0, -4.0, 0, 0, 12.0);
  check(box, 2.0, 4.0, 0, 0, 12.0);
  check(box, -1.5, 0.0, 0.5, 0, 0);
  check(box, 2.25, 0.0, 0.25, 0, 0);
  const double l[3] = {5, 6, 7}, c[3] = {2, -3, 6};
  const SetResidual x = set_residual(ConstraintSet::free(3), l, c);
  BOOST_TEST(x.primal == 0.0);
  BOOST_TEST(std::abs(x.dual - 7.0) < 1e-15);
  BOOST_TEST(x.complementarity == 0.0);
}

// A solution has no residual, and each planted error raises the component that names it, by its
// size.
BOOST_AUTO_TEST_CASE(planted_errors_raise_their_component) {
  const Solved solved;
  const Residuals good = certify(solved.problem(), solved.impulse);
  BOOST_TEST(std::max({good.primal, good.dual, good.complementarity, good.relative}) < 1e-15);
  // `l` is certified where the velocity is c: g = c - l makes each component independent.
  const auto planted = [&](int row, double impulse, double velocity) {
    Solved bad = solved;
    bad.impulse[row] += impulse;
    bad.velocity[row] += velocity;
    return certify(bad.problem(), bad.impulse);
  };
  const auto check = [](const Residuals& r, double p, double d, double q) {
    BOOST_TEST(std::abs(r.primal - p) < 1e-14);
    BOOST_TEST(std::abs(r.dual - d) < 1e-14);
    BOOST_TEST(std::abs(r.complementarity - q) < 1e-14);
    BOOST_TEST(r.relative > 1e-3);
  };
  check(planted(5, -2.0, 0.0), std::hypot(0.1, 1.0), 0.0, 0.0);  // pulling contact: apex is nearest
  check(planted(3, 0.9, 0.0), 0.5 / std::sqrt(1.25), 0.0, 0.0);  // outside the friction cone
  check(planted(5, 0.0, 0.3), 0.0, 0.0, 0.3);        // contact that pushes and separates
  check(planted(6, -1.2, 0.0), 0.5, 0.0, 0.0);       // limit that pulls
  check(planted(6, 0.0, 0.2), 0.0, 0.0, 0.7 * 0.2);  // limit that acts from afar
  check(planted(6, -0.7, -0.2), 0.0, 0.2, 0.0);      // limit passed
  check(planted(7, 0.5, 0.0), 0.5, 0.0, 0.0);        // more than dry friction can give
  check(planted(7, 0.0, 1.4), 0.0, 0.0, 3.0);        // dry friction that drives
  check(planted(8, 0.0, 0.25), 0.0, 0.25, 0.0);      // weld that drifts
  // A sliding contact: the scaled impulse is inside the cone, the flipped one drives the motion.
  Solved half = solved, flipped = solved;
  half.impulse.head<2>() *= 0.5;
  check(certify(half.problem(), half.impulse), 0.0, 0.0, 0.25);
  flipped.velocity.head<2>() *= -1.0;
  check(certify(flipped.problem(), flipped.impulse), 0.0, 0.0, 1.0);
}

// `relative` has no units: mass and velocity in other units change it by rounding only.
BOOST_AUTO_TEST_CASE(relative_has_no_units) {
  Rng rng(3);
  for (int trial = 0; trial < 200; ++trial) {
    Solved s;
    for (int r = 0; r < 10; ++r) s.impulse[r] += rng.uniform(-0.5, 0.5);
    const Residuals a = certify(s.problem(), s.impulse);
    BOOST_TEST(a.relative > 0.0);
    for (const double mass : {1e-6, 0.37, 1e6}) {
      for (const double speed : {1e-6, 2.3, 1e6}) {
        std::vector<ConstraintSet> sets = s.sets;
        sets[3] = ConstraintSet::box(-mass * speed, 2.0 * mass * speed);
        const ContactProblem p = ContactProblem::from_dense(
            Eigen::MatrixXd::Identity(10, 10) / mass, (s.velocity - s.impulse) * speed, sets);
        const Residuals b = certify(p, s.impulse * mass * speed);
        BOOST_TEST(std::abs(b.relative / a.relative - 1.0) < 1e-12);
        BOOST_TEST(std::abs(b.backward / a.backward - 1.0) < 1e-12);
      }
    }
  }
}

// Where the velocities are nothing but the rounding of G lambda, nothing is certified, however well
// they suit: two limits press against each other through a lever that is rounding itself, with an
// impulse that may be anything.
BOOST_AUTO_TEST_CASE(velocities_that_are_rounding_certify_nothing) {
  Rng rng(4);
  int suited = 0, sound = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const int n = 2 + static_cast<int>(rng.uniform(0.0, 4.0));
    // Rows 0 and 1 share a lever of both signs, in powers of two: their impulses cancel exactly.
    Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(n, n + 2);
    Z.rightCols(n).setIdentity();
    const double lever = std::ldexp(1.0, -static_cast<int>(rng.uniform(40.0, 60.0)));
    Z(0, 0) = lever;
    Z(0, 1) = -2.0 * lever;
    const Eigen::MatrixXd G = Z.transpose() * Z;
    Eigen::VectorXd g = Eigen::VectorXd::Zero(n + 2), l = Eigen::VectorXd::Zero(n + 2);
    for (int r = 2; r < n + 2; ++r) {
      g[r] = r == 2 ? -rng.uniform(0.0, 1.0) : rng.uniform(-1.0, 1.0);
      l[r] = std::max(0.0, -g[r]);
    }
    l[1] = std::ldexp(1.0, static_cast<int>(rng.uniform(0.0, 140.0)));
    l[0] = 2.0 * l[1];
    if (trial % 4 == 0) l[2] += 1e-3;  // no solution at all
    const ContactProblem p = ContactProblem::from_dense(
        G, g, std::vector<ConstraintSet>(n + 2, ConstraintSet::non_negative()));
    const double share = rounding_share(G, g, l), plain = plain_relative(G, g, l);
    const double relative = certify(p, l).relative;
    BOOST_TEST_CONTEXT("trial " << trial << ", lever " << lever << ", impulse " << l[0]) {
      BOOST_TEST(std::isfinite(relative));
      if (share > 1.0)
        BOOST_TEST(relative >= 1.0);
      else
        BOOST_TEST(relative == plain);
    }
    suited += share > 1.0 && plain <= 1e-8;
    sound += share <= 1.0 && share > 1e-6 && plain <= 1e-8;
  }
  BOOST_TEST(suited > 500);
  BOOST_TEST(sound > 100);
}

// Rows of one dimension that no impulse of their set can oppose have no share in the scale of
// velocities: a million times faster they change no residual.
BOOST_AUTO_TEST_CASE(a_bound_that_opens_by_itself_is_no_scale) {
  constexpr double kEnd = 1e300;
  struct Case {
    ConstraintSet set;
    int row;
    double g;
    bool opposed;
  };
  const Case cases[] = {{ConstraintSet::cone(0.5), 2, 1.0, true},
                        {ConstraintSet::cone(0.5), 2, -1.0, true},
                        {ConstraintSet::cone(0.5), 0, 1.0, true},
                        {ConstraintSet::non_negative(), 0, 1.0, false},
                        {ConstraintSet::non_negative(), 0, -1.0, true},
                        {ConstraintSet::box(0.0, kEnd), 0, 1.0, false},
                        {ConstraintSet::box(0.0, 2.0), 0, -1.0, true},
                        {ConstraintSet::box(-2.0, 0.0), 0, -1.0, false},
                        {ConstraintSet::box(-2.0, 0.0), 0, 1.0, true},
                        {ConstraintSet::box(-2.0, 2.0), 0, 1.0, true},
                        {ConstraintSet::box(-2.0, 2.0), 0, -1.0, true},
                        {ConstraintSet::free(1), 0, 1.0, true}};
  for (const Case& x : cases) {
    const int rows = x.set.dim + 1;
    Eigen::VectorXd g = Eigen::VectorXd::Zero(rows), l = Eigen::VectorXd::Zero(rows);
    g[rows - 1] = -1.0;
    l[rows - 1] = 0.9;  // a tenth of the approach is left
    const auto relative = [&](double factor) {
      g[x.row] = factor * x.g;
      const Eigen::MatrixXd G = Eigen::MatrixXd::Identity(rows, rows);
      return certify(ContactProblem::from_dense(G, g, {x.set, ConstraintSet::non_negative()}), l)
          .relative;
    };
    BOOST_TEST_CONTEXT("row " << x.row << " of " << x.set.dim << ", g " << x.g) {
      BOOST_TEST(relative(0.0) == 0.1, boost::test_tools::tolerance(1e-12));
      if (x.opposed)
        BOOST_TEST(std::abs(relative(1e6) - 0.1) > 0.09);
      else
        BOOST_TEST(relative(1e6) == relative(0.0));
    }
  }
}

// Extreme masses and internal forces are no runaway impulses: stacks of bodies of 1e-6 to 1e6 kg on
// doubled points, which push against each other a million times harder than the load.
BOOST_AUTO_TEST_CASE(extreme_masses_keep_their_certificate) {
  Rng rng(5);
  double largest = 0.0;
  for (int trial = 0; trial < 1000; ++trial) {
    const int n = 1 + static_cast<int>(rng.uniform(0.0, 8.0));
    Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(n, 2 * n);
    Eigen::VectorXd root(n), load(2 * n);
    for (int b = 0; b < n; ++b) root[b] = std::pow(10.0, rng.uniform(-3.0, 3.0));
    const double speed = std::pow(10.0, rng.uniform(-4.0, 2.0));
    double above = 0.0;
    for (int b = n - 1; b >= 0; --b) {
      above += root[b] * root[b];
      for (int k : {2 * b, 2 * b + 1}) {
        Z(b, k) = 1.0 / root[b];
        if (b > 0) Z(b - 1, k) = -1.0 / root[b - 1];
        load[k] = 0.5 * above * speed;
      }
    }
    const Eigen::MatrixXd G = Z.transpose() * Z;
    Eigen::VectorXd g = Eigen::VectorXd::Zero(2 * n);
    g[0] = g[1] = -speed;
    const ContactProblem p = ContactProblem::from_dense(
        G, g, std::vector<ConstraintSet>(2 * n, ConstraintSet::non_negative()));
    const double share = rounding_share(G, g, load);
    largest = std::max(largest, share);
    BOOST_TEST_CONTEXT("trial " << trial << ", share " << share) {
      BOOST_TEST(certify(p, load).relative <= share);
    }
  }
  BOOST_TEST(largest > 1e-5);
}

// An island's residual looks at its own sets only; the whole problem's absolute residuals are the
// maxima.
BOOST_AUTO_TEST_CASE(residual_of_a_range_of_sets) {
  Solved s;
  s.impulse[6] = -0.5;  // only the third set is wrong
  const ContactProblem p = s.problem();
  double c[10];
  for (int i = 0; i < 5; ++i) {
    const Residuals r = residuals(p, s.impulse.data(), c, i, i + 1);
    BOOST_TEST((r.primal > 0.4) == (i == 2));
    BOOST_TEST((r.relative > 0.4) == (i == 2));
  }
  BOOST_TEST(certify(p, s.impulse).primal == 0.5);
  BOOST_TEST(certify(ContactProblem{}, {}).relative == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
