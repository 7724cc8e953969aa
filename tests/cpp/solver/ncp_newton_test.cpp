#include "stiction/solver/solver.hpp"

#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace stiction::test;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// What a row of one dimension misses its law by, c = 0 or no room in the set [m/s].
double missed_velocity(double G, double room, double c) {
  return std::min(std::abs(c), G * std::max(0.0, room));
}

/// The relative residual from its definition and the dense matrix (residuals_test checks
/// set_residual).
double relative_residual(const Data& d, const std::vector<double>& impulse) {
  const VectorXd l = Eigen::Map<const VectorXd>(impulse.data(), impulse.size());
  const MatrixXd G = d.R.size() ? MatrixXd(d.G + MatrixXd(d.R.asDiagonal())) : d.G;
  const VectorXd c = G * l + d.g;
  double primal = 0.0, dual = 0.0, work = 0.0;
  int o = 0;
  for (const ConstraintSet& s : d.sets) {
    const SetResidual x = set_residual(s, &l[o], &c[o]);
    primal = std::max(primal, x.primal);
    dual = std::max(dual, x.dual);
    const bool box = s.kind == SetKind::kBox;
    if (s.is_cone()) work = std::max(work, x.complementarity);
    if (c[o] > 0.0 && (box || s.kind == SetKind::kNonNegative))
      dual = std::max(dual, missed_velocity(G(o, o), l[o] - (box ? s.lower : 0.0), c[o]));
    if (c[o] < 0.0 && box) dual = std::max(dual, missed_velocity(G(o, o), s.upper - l[o], c[o]));
    o += s.dim;
  }
  const double V = velocity_scale(d, l);
  const double L = std::max(l.lpNorm<Eigen::Infinity>(), V / G.diagonal().maxCoeff());
  return std::max({primal / L, dual / V, work / (L * V)});
}

ContactSolution solved(const ContactProblem& problem, const SolverSettings& settings) {
  SolverWorkspace work;
  ContactSolution out;
  solve(problem, settings, work, out);
  return out;
}

SolverSettings settings(double tolerance, int max_iterations = 20000) {
  SolverSettings s;
  s.tolerance = tolerance;
  s.max_iterations = max_iterations;
  return s;
}

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ncp_newton_test)

// Whenever the solver says "converged", a residual computed from the definition agrees; nearly all
// random problems converge, hyperstatic and compliant ones too. Every kind of set is among them.
BOOST_AUTO_TEST_CASE(converged_means_solved) {
  Rng rng(1);
  const SolverSettings s = settings(1e-8, 2000);
  int total = 0, converged = 0, hyperstatic = 0, compliant = 0, kinds[5] = {};
  for (int trial = 0; trial < 1500; ++trial) {
    const double rank = rng.uniform(0.3, 1.2);
    const Data d = random_problem(rng, rank, rng.below(3) == 0);
    const ContactSolution x = solved(d.problem(), s);
    ++total;
    hyperstatic += rank < 0.9 && d.R.size() == 0;
    compliant += d.R.size() > 0;
    for (const ConstraintSet& set : d.sets) {
      ++kinds[set.kind == SetKind::kCone && set.friction.mu[0] == 0.0 ? 4
                                                                      : static_cast<int>(set.kind)];
    }
    const double relative = relative_residual(d, x.impulse);
    BOOST_TEST_CONTEXT("trial " << trial) {
      BOOST_TEST(std::abs(relative - x.residuals.relative) <= 1e-9 + 1e-6 * relative);
      BOOST_TEST(x.iterations <= s.max_iterations);
      if (x.converged()) {
        BOOST_TEST(x.residuals.relative <= s.tolerance);
        BOOST_TEST(relative <= s.tolerance + 1e-12);
      } else {
        BOOST_TEST(x.residuals.relative > s.tolerance);
      }
    }
    converged += x.converged();
  }
  BOOST_TEST_MESSAGE(converged << " of " << total << " converged");
  BOOST_TEST(converged == total);
  BOOST_TEST(hyperstatic > 200);
  BOOST_TEST(compliant > 200);
  for (const int k : kinds) BOOST_TEST(k > 300);
}

namespace {

enum Region { kOpen, kStick, kSlide };

/// Velocities of all solutions of a single contact: open and sticking in closed form, sliding by a
/// scan of the direction of the friction force.
std::vector<std::pair<Region, Eigen::Vector3d>> single_contact(const Data& d) {
  std::vector<std::pair<Region, Eigen::Vector3d>> out;
  const Eigen::Matrix3d G = d.G;
  const Eigen::Vector3d g = d.g;
  const double mu = d.sets[0].friction.mu[0];
  if (g[2] >= 0.0) out.push_back({kOpen, g});
  if (mu == 0.0 && g[2] < 0.0) out.push_back({kSlide, g - G.col(2) * (g[2] / G(2, 2))});
  if (mu == 0.0) return out;
  const Eigen::Vector3d stick = -solve_semidefinite(G, g);
  if (stick.head<2>().norm() <= mu * stick[2]) out.push_back({kStick, {0, 0, 0}});
  const auto sliding = [&](double angle, Eigen::Vector3d& c) {
    const Eigen::Vector3d u(std::cos(angle), std::sin(angle), 0.0),
        ray = mu * u + Eigen::Vector3d::UnitZ();
    const double n = -g[2] / G.row(2).dot(ray);
    c = G * ray * n + g;
    c[2] = n;  // c_N = 0; the caller needs the impulse's sign
    return c[0] * u[1] - c[1] * u[0];
  };
  const int samples = 720;
  const double h = 8.0 * std::atan(1.0) / samples;
  Eigen::Vector3d c;
  for (int k = 0; k < samples; ++k) {
    double a = k * h, b = a + h, fa = sliding(a, c);
    if (fa * sliding(b, c) > 0.0) continue;
    for (int i = 0; i < 60; ++i) {
      const double m = 0.5 * (a + b), fm = sliding(m, c);
      (fm * fa > 0.0 ? a : b) = m;
    }
    const double f = sliding(0.5 * (a + b), c);
    const bool opposed = c[0] * std::cos(a) + c[1] * std::sin(a) <= 0.0;
    if (std::abs(f) < 1e-9 && opposed && c[2] >= 0.0) out.push_back({kSlide, {c[0], c[1], 0.0}});
  }
  return out;
}

}  // namespace

// One contact without wedging (G_NN > mu |G_TN|: no friction force can press it open or shut): the
// velocity is one of those that an exhaustive search finds; it finds all three modes.
BOOST_AUTO_TEST_CASE(one_contact_matches_brute_force) {
  Rng rng(2);
  int seen[3] = {};
  for (int trial = 0; trial < 600; ++trial) {
    Data d;
    d.sets = {ConstraintSet::cone(rng.below(10) == 0 ? 0.0 : rng.uniform(0.0, 1.2))};
    const MatrixXd A = random_matrix(rng, 3, 3);
    d.G = gram(A) + 0.05 * MatrixXd::Identity(3, 3);
    d.g = random_vector(rng, 3);
    if (trial % 2) d.g = Eigen::Vector3d(0.3 * d.g[0], 0.3 * d.g[1], -1.0);
    if (d.G(2, 2) <= d.sets[0].friction.mu[0] * d.G.block<2, 1>(0, 2).norm()) continue;
    const ContactSolution x = solved(d.problem(), settings(1e-11));
    BOOST_TEST_CONTEXT("trial " << trial << ", mu " << d.sets[0].friction.mu[0]) {
      BOOST_REQUIRE(x.converged());
      std::pair<double, Region> best{1e300, kOpen};
      for (const auto& [mode, c] : single_contact(d)) {
        const double e = (c - Eigen::Map<const Eigen::Vector3d>(x.velocity.data())).norm();
        best = std::min(best, {e, mode});
      }
      BOOST_TEST(best.first < 1e-7);
      ++seen[best.second];
    }
  }
  for (const int n : seen) BOOST_TEST(n > 40);
}

// The velocity is that of the impulse, also where Newton was tried from a start that it could not
// improve.
BOOST_AUTO_TEST_CASE(velocity_belongs_to_the_impulse) {
  Rng rng(21);
  int started_solved = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const Data d = random_problem(rng, rng.uniform(0.3, 1.2), trial % 3 == 0);
    const ContactProblem p = d.problem();
    const double tolerance = trial % 2 ? 1e-8 : 1e-14;  // the latter at the limit of double
    SolverSettings s = settings(tolerance, 300);
    ContactSolution x = solved(p, s);
    for (int again = 0; again < 3; ++again) {
      for (double& l : x.impulse) l *= 1.0 + tolerance * rng.uniform(0.0, 0.5);
      std::vector<double> c(p.g.size());
      started_solved += residuals(p, x.impulse.data(), c.data()).relative <= tolerance;
      SolverWorkspace work;
      solve(p, s, work, x);
      residuals(p, x.impulse.data(), c.data());
      double sum = 0.0;  // dense problems sum in another order
      for (int r = 0; r < p.num_rows(); ++r) sum += std::abs(p.g[r]);
      const Eigen::MatrixXd G = p.dense();
      for (int r = 0; r < p.num_rows(); ++r) {
        for (int k = 0; k < p.num_rows(); ++k) sum += std::abs(G(r, k) * x.impulse[k]);
      }
      for (int r = 0; r < p.num_rows(); ++r)
        BOOST_TEST(std::abs(c[r] - x.velocity[r]) <= 1e-15 * sum);
    }
  }
  BOOST_TEST(started_solved > 500);
}

// Newton between the sweeps changes the path, not the result.
BOOST_AUTO_TEST_CASE(newton_and_sweeps_agree) {
  Rng rng(6);
  int fewer = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const ContactProblem p = easy_data(rng).problem();
    SolverSettings s = settings(1e-11);
    const ContactSolution a = solved(p, s);
    s.name = "ncp-pgs";
    const ContactSolution b = solved(p, s);
    BOOST_TEST_CONTEXT("trial " << trial) {
      BOOST_REQUIRE(a.converged());
      BOOST_REQUIRE(b.converged());
      for (int r = 0; r < p.num_rows(); ++r)
        BOOST_TEST(std::abs(a.velocity[r] - b.velocity[r]) < 1e-8);
    }
    fewer += a.iterations < b.iterations;
  }
  BOOST_TEST(fewer > 100);  // so that Newton has in fact worked
}

// No rows: converged at once, nothing to report.
BOOST_AUTO_TEST_CASE(empty_problem_converges) {
  const ContactSolution x = solved(ContactProblem::from_dense({}, {}, {}), settings(1e-8));
  BOOST_TEST((x.converged() && x.iterations == 0 && x.impulse.empty()));
  BOOST_TEST(x.residuals.relative == 0.0);
}

// One iteration is one iteration, and is not called convergence unless it is.
BOOST_AUTO_TEST_CASE(too_few_iterations_are_reported) {
  Rng rng(9);
  int stopped = 0, converged = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Data d = random_problem(rng, rng.uniform(0.3, 1.2), false);
    SolverSettings s = settings(1e-10, 1);
    if (trial % 2) s.name = "ncp-pgs";
    const ContactSolution x = solved(d.problem(), s);
    BOOST_TEST_CONTEXT("trial " << trial) {
      BOOST_TEST(x.iterations <= 1);
      const double relative = relative_residual(d, x.impulse);
      BOOST_TEST(std::abs(relative - x.residuals.relative) <= 1e-11 + 1e-6 * relative);
      BOOST_TEST((x.status == (x.residuals.relative <= 1e-10 ? SolveStatus::kConverged
                                                             : SolveStatus::kMaxIterations)));
    }
    (x.converged() ? converged : stopped) += 1;
  }
  BOOST_TEST(stopped > 100);
  BOOST_TEST(converged > 5);
}

// Sets that do not act on each other take at most two sweeps, however many there are.
BOOST_AUTO_TEST_CASE(decoupled_sets_take_two_sweeps) {
  Rng rng(10);
  for (const int n : {1, 10, 100}) {
    Data d;
    for (int i = 0; i < n; ++i) {
      d.sets.push_back(ConstraintSet::cone(2.0));
      d.sets.push_back(ConstraintSet::box(-0.1, 0.2));
    }
    const int rows = 4 * n;
    d.G = MatrixXd::Identity(rows, rows) * rng.uniform(0.5, 2.0);
    d.g = random_vector(rng, rows);
    for (int i = 0; i < n; ++i) d.g[4 * i + 2] = -1.0;  // every contact sticks
    SolverSettings s = settings(1e-8, 100);
    s.name = "ncp-pgs";
    const ContactSolution x = solved(d.problem(), s);
    BOOST_TEST(x.converged());
    BOOST_TEST(x.iterations <= 2);
  }
}

// Settings and names that make no sense throw and say which.
BOOST_AUTO_TEST_CASE(bad_settings_throw) {
  for (const double tolerance : {0.0, -1.0, kNaN}) {
    const std::string text = message_of([&] { settings(tolerance).validate(); });
    BOOST_TEST(text.find("tolerance") != std::string::npos);
  }
  for (const int n : {0, -5}) {
    const std::string text = message_of([&] { settings(1e-8, n).validate(); });
    BOOST_TEST(text.find("max_iterations = " + std::to_string(n)) != std::string::npos);
  }
  SolverSettings s;
  s.name = "gauss";
  for (const std::string& text : {message_of([&] { s.validate(); }),
                                  message_of([&] { find_solver("gauss"); }),
                                  message_of([&] { solved(ContactProblem{}, s); })}) {
    BOOST_TEST(text.find("gauss") != std::string::npos);
    BOOST_TEST(text.find("ncp-pgs") != std::string::npos);
  }
  for (std::size_t i = 0; i < solvers().size(); ++i) {
    BOOST_TEST(&find_solver(solvers()[i].name) == &solvers()[i]);
    if (i > 0) BOOST_TEST((std::string(solvers()[i - 1].name) < solvers()[i].name));
  }
}

BOOST_AUTO_TEST_SUITE_END()
