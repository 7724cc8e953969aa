#include "stiction/solver/solver.hpp"

#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

using namespace stiction;
using namespace stiction::test;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

ContactSolution solved(const ContactProblem& problem,
                       double alpha_min,
                       double gamma,
                       double tolerance = 1e-9,
                       int sweeps = 3000) {
  SolverSettings s;
  s.name = "raisim";
  s.tolerance = tolerance;
  s.max_iterations = sweeps;
  s.raisim_alpha_min = alpha_min;
  s.raisim_gamma = gamma;
  SolverWorkspace work;
  ContactSolution out;
  solve(problem, s, work, out);
  return out;
}

/// Contacts only, moderately coupled: one solution.
Data easy_contacts(Rng& rng) {
  Data d;
  for (int i = 0; i < 5; ++i) d.sets.push_back(ConstraintSet::cone(rng.uniform(0.1, 0.6)));
  const MatrixXd A = random_matrix(rng, 15, 15);
  d.G = MatrixXd::Identity(15, 15) + 0.03 * gram(A);
  d.g = random_vector(rng, 15);
  return d;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(raisim_test)

// The relaxation is the path, not the result; where it goes to zero the iteration stands still, as
// with the defaults of the reference's Python binding, and says that it has not converged.
BOOST_AUTO_TEST_CASE(relaxation_does_not_change_the_solution) {
  Rng rng(1);
  int frozen = 0, plain = 0, falling = 0, low = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const ContactProblem p = easy_contacts(rng).problem();
    const ContactSolution a = solved(p, 1.0, 0.99), b = solved(p, 0.1, 0.99),
                          c = solved(p, 0.3, 0.0);
    BOOST_REQUIRE((a.converged() && b.converged() && c.converged()));
    plain += a.iterations;
    falling += b.iterations;
    low += c.iterations;
    for (int r = 0; r < p.num_rows(); ++r) {
      BOOST_TEST(std::abs(a.velocity[r] - b.velocity[r]) < 1e-6);
      BOOST_TEST(std::abs(a.velocity[r] - c.velocity[r]) < 1e-6);
    }
    const ContactSolution d = solved(p, 1e-12, 0.0);
    frozen += !d.converged() && d.model_residuals.relative > 1e-3;
  }
  BOOST_TEST(frozen > 60);
  BOOST_TEST((plain <= falling && falling < low));
}

// The first sweep is not relaxed, the k-th by alpha_min + gamma^(k-1) (1 - alpha_min): an opened
// contact that starts with an impulse keeps the product of what is left of it.
BOOST_AUTO_TEST_CASE(relaxation_falls_as_published) {
  const double alpha_min = 0.25, gamma = 0.5;
  Data d{Matrix3d::Identity(), Vector3d(0.0, 0.0, 1.0), {}, {ConstraintSet::cone(0.5)}};
  d.g[0] = 0.3;
  SolverSettings s;
  s.name = "raisim";
  s.tolerance = 1e-15;
  s.raisim_alpha_min = alpha_min;
  s.raisim_gamma = gamma;
  s.max_iterations = 1;
  SolverWorkspace work;
  ContactSolution x;
  x.impulse = {0.1, 0.0, 1.0};
  solve(d.problem(), s, work, x);
  BOOST_TEST((x.converged() && x.impulse[2] == 0.0));
  // Two contacts that push on each other: the second sweep moves alpha_2 of the way.
  Data two{MatrixXd::Identity(6, 6), VectorXd::Zero(6), {}, {}};
  two.sets = {ConstraintSet::cone(0.5), ConstraintSet::cone(0.5)};
  two.G(2, 5) = two.G(5, 2) = 0.5;
  two.g[2] = two.g[5] = -1.0;
  const ContactSolution one = solved(two.problem(), alpha_min, gamma, 1e-15, 1);
  const ContactSolution second = solved(two.problem(), alpha_min, gamma, 1e-15, 2);
  BOOST_TEST((one.impulse[2] == 1.0 && one.impulse[5] == 0.5));
  const double alpha = (1.0 - gamma) * alpha_min + gamma;
  BOOST_TEST(std::abs(second.impulse[2] - ((1.0 - alpha) * 1.0 + alpha * 0.75)) < 1e-15);
}

// A sliding contact of a tilted body: Signorini's law holds, energy is dissipated, but not as much
// as Coulomb's law would, so that the certificate of the NCP is large while the model is solved.
BOOST_AUTO_TEST_CASE(sliding_breaks_maximal_dissipation_only) {
  Matrix3d G;
  G << 1.0, 0.0, 0.4, 0.0, 1.0, 0.1, 0.4, 0.1, 1.0;
  const Data d{G, Vector3d(0.8, -1.0, -1.0), {}, {ConstraintSet::cone(0.5)}};
  const ContactSolution s = solved(d.problem(), 1.0, 0.99, 1e-12);
  BOOST_REQUIRE(s.converged());
  const Vector3d l = Eigen::Map<const Vector3d>(s.impulse.data()),
                 c = Eigen::Map<const Vector3d>(s.velocity.data());
  BOOST_TEST(std::abs(c[2]) < 1e-12);
  BOOST_TEST((l[2] > 0.0 && c.head<2>().norm() > 0.1));
  BOOST_TEST(l.dot(c) < 0.0);
  const double angle =
      std::acos(-l.head<2>().dot(c.head<2>()) / (l.head<2>().norm() * c.head<2>().norm()));
  BOOST_TEST((angle > 0.05 && angle < 1.0));
  BOOST_TEST(s.residuals.relative > 1e-3);
  // eq. (21)
  const Eigen::Vector2d against = l.head<2>() + 0.25 * l[2] * G.block<2, 1>(0, 2) / G(2, 2);
  BOOST_TEST(std::abs(against[0] * c[1] - against[1] * c[0]) < 1e-12);
  BOOST_TEST(against.dot(c.head<2>()) < 0.0);
}

// Without coupling of normal and tangent, RaiSim's model is the NCP.
BOOST_AUTO_TEST_CASE(is_the_ncp_without_coupling) {
  Rng rng(4);
  for (int trial = 0; trial < 100; ++trial) {
    Data d = easy_contacts(rng);
    for (int r = 0; r < 15; ++r) {
      for (int c = 0; c < 15; ++c)
        if ((r % 3 == 2) != (c % 3 == 2)) d.G(r, c) = 0.0;
    }
    const ContactProblem p = d.problem();
    const ContactSolution a = solved(p, 1.0, 0.99, 1e-10);
    SolverSettings s;
    s.tolerance = 1e-12;
    SolverWorkspace work;
    ContactSolution b;
    solve(p, s, work, b);
    BOOST_REQUIRE((a.converged() && b.converged()));
    BOOST_TEST(a.residuals.relative < 1e-9);
    for (int r = 0; r < 15; ++r) BOOST_TEST(std::abs(a.velocity[r] - b.velocity[r]) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(bad_settings_throw) {
  const auto message = [](double alpha_min, double gamma) {
    SolverSettings s;
    s.name = "raisim";
    s.raisim_alpha_min = alpha_min;
    s.raisim_gamma = gamma;
    try {
      s.validate();
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  BOOST_TEST(message(1.0, 1.0).empty());
  for (const double bad : {0.0, -1.0, 1.5})
    BOOST_TEST(message(bad, 0.5).find("raisim_alpha_min") != std::string::npos);
  for (const double bad : {-0.1, 1.5})
    BOOST_TEST(message(0.5, bad).find("raisim_gamma") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
