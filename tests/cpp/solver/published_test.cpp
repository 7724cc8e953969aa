#include "stiction/solver/solver.hpp"

#include "solver/raisim/raisim_slide.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <cmath>

// Algorithms as published beside ours: iterates written out with dense matrices, answers, units,
// and when sweeps end.

using namespace stiction;
using namespace stiction::test;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

ContactSolution solved(const ContactProblem& problem,
                       const char* name,
                       double tolerance,
                       int iterations = 20000,
                       double bisection = 1e-6) {
  SolverSettings s;
  s.name = name;
  s.tolerance = tolerance;
  s.max_iterations = iterations;
  s.raisim_bisection_tolerance = bisection;
  SolverWorkspace work;
  ContactSolution out;
  solve(problem, s, work, out);
  return out;
}

/// Contacts alone, moderately coupled; the tangential diagonals differ.
Data contacts(Rng& rng, int count) {
  Data d;
  const int n = 3 * count;
  for (int i = 0; i < count; ++i) d.sets.push_back(ConstraintSet::cone(rng.uniform(0.2, 0.8)));
  d.G = MatrixXd::Identity(n, n) + 0.1 * gram(random_matrix(rng, n, n));
  d.g = random_vector(rng, n);
  return d;
}

/// Contacts of a body with six degrees of freedom: hyperstatic from three on.
Data standing(Rng& rng, int count) {
  Data d;
  for (int i = 0; i < count; ++i) d.sets.push_back(ConstraintSet::cone(0.7));
  const MatrixXd A = random_matrix(rng, 3 * count, 6);
  d.G = gram(A);
  d.g = A * random_vector(rng, 6);
  return d;
}

void project_all(const Data& d, VectorXd& y) {
  for (std::size_t i = 0; i < d.sets.size(); ++i) project(d.sets[i].friction, y.data() + 3 * i);
}

/// De Saxce's correction.
VectorXd shift_of(const Data& d, const VectorXd& c) {
  VectorXd s = VectorXd::Zero(c.size());
  for (std::size_t i = 0; i < d.sets.size(); ++i)
    s[3 * i + 2] = d.sets[i].friction.slope() * c.segment<2>(3 * i).norm();
  return s;
}

/// y after so many iterations of the published rules, cold, with full matrices; L as the solver
/// has it, which scales the penalty only.
VectorXd admm_by_hand(const Data& d, bool ncp, double L, int iterations) {
  const int n = static_cast<int>(d.g.size());
  const double eta = 1e-6, ratio = (L + eta) / eta;
  double rho = std::sqrt((L + eta) * eta) * std::pow(ratio, ncp ? 0.2 : 0.4) * (ncp ? 0.5 : 1.0);
  VectorXd x = VectorXd::Zero(n), y = x, z = x;
  if (ncp) z = d.g + shift_of(d, d.g);
  for (int k = 0; k < iterations; ++k) {
    VectorXd rhs = rho * y + eta * x + z - d.g;
    if (ncp) rhs -= shift_of(d, z);
    const MatrixXd H = d.G + (eta + rho) * MatrixXd::Identity(n, n);
    const VectorXd next = solve_semidefinite(H, rhs), before = y;
    y = next - z / rho;
    project_all(d, y);
    z -= rho * (next - y);
    const double primal = (next - y).lpNorm<Eigen::Infinity>();
    const double dual = (rho * (y - before) + eta * (next - x)).lpNorm<Eigen::Infinity>();
    x = next;
    const double factor = std::pow(ratio, ncp ? 0.05 : 0.1);
    if (primal > 10.0 * dual) rho *= factor;
    if (dual > 10.0 * primal) rho /= factor;
  }
  return y;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(published_test)

// The iterates of both are those of the formulas; G has one eigenvalue, so that a power iteration
// finds it.
BOOST_AUTO_TEST_CASE(admm_iterates_as_printed) {
  for (const bool ncp : {false, true}) {
    Rng rng(1);
    int compared = 0;
    for (int trial = 0; trial < 40; ++trial) {
      Data d = contacts(rng, 3);
      const double L = rng.uniform(0.01, 100.0);
      d.G = L * MatrixXd::Identity(9, 9);
      const int iterations = 1 + rng.below(15);
      const ContactSolution x =
          solved(d.problem(), ncp ? "ncp-admm-published" : "ccp-admm-published", 1e-14, iterations);
      if (x.iterations < iterations || x.status != SolveStatus::kMaxIterations) continue;
      const VectorXd y = admm_by_hand(d, ncp, L, iterations);
      const Eigen::Map<const VectorXd> ours(x.impulse.data(), 9);
      if (ours.isZero(0.0)) continue;  // the start was better
      // 8 is judged too, and may be better than the last.
      const double last = (ours - y).norm(),
                   eighth = iterations > 8 ? (ours - admm_by_hand(d, ncp, L, 8)).norm() : last;
      BOOST_TEST_CONTEXT("trial " << trial << ", " << iterations << " iterations, NCP " << ncp)
      BOOST_TEST(std::min(last, eighth) <= 1e-9 * y.norm());
      ++compared;
    }
    BOOST_TEST(compared > 10);
  }
}

// ...-published weighs N s against m/s: the iteration is another one in grams. Ours is the same.
BOOST_AUTO_TEST_CASE(units_of_mass_change_published_admm_alone) {
  for (const char* model : {"ccp", "ncp"}) {
    Rng rng(2);
    int published = 0;
    for (int trial = 0; trial < 40; ++trial) {
      Data d = contacts(rng, 4);
      const ContactProblem kilograms = d.problem();
      d.G /= 1000.0;
      const ContactProblem grams = d.problem();
      const auto differ = [&](const std::string& name) {
        const ContactSolution a = solved(kilograms, name.c_str(), 1e-8),
                              b = solved(grams, name.c_str(), 1e-8);
        BOOST_TEST((a.converged() && b.converged()));
        return std::abs(a.iterations - b.iterations);
      };
      BOOST_TEST(differ(std::string(model) + "-admm") <= 1);
      published += differ(std::string(model) + "-admm-published") > 1;
    }
    BOOST_TEST(published > 20);
  }
}

// The impulse moves along the null space of G long after the velocities stand: the residual ends
// the sweeps, at most 16 later than it could.
BOOST_AUTO_TEST_CASE(sweeps_end_within_sixteen_of_their_tolerance) {
  for (const char* name : {"ncp-pgs", "ncp-pgs-published"}) {
    Rng rng(3);
    int long_ones = 0;
    for (int trial = 0; trial < 30; ++trial) {
      const ContactProblem p = standing(rng, 3 + rng.below(6)).problem();
      const ContactSolution x = solved(p, name, 1e-6, 400);
      if (!x.converged()) continue;
      int first = 0;
      while (!solved(p, name, 1e-6, first + 1).converged()) ++first;
      BOOST_TEST_CONTEXT(name << ", trial " << trial) BOOST_TEST(x.iterations <= first + 16);
      long_ones += first > 16;
    }
    BOOST_TEST(long_ones > 3);
  }
}

// One sweep over one contact, normal first, then friction with its velocity and the larger of the
// two steps; stick is not tried.
BOOST_AUTO_TEST_CASE(sweep_of_gauss_seidel_as_printed) {
  Rng rng(4);
  int compared = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const Data d = contacts(rng, 1);
    const double mu = d.sets[0].friction.slope();
    Vector3d l(0.0, 0.0, std::max(0.0, -d.g[2] / d.G(2, 2)));
    Eigen::Vector2d t =
        -(d.g.head<2>() + d.G.block<2, 1>(0, 2) * l[2]) / std::min(d.G(0, 0), d.G(1, 1));
    if (t.norm() > mu * l[2]) t *= mu * l[2] / t.norm();
    l.head<2>() = t;
    const ContactSolution x = solved(d.problem(), "ncp-pgs-published", 1e-15, 1);
    if (l[2] == 0.0 || x.impulse[2] == 0.0) continue;  // or the start was better
    for (int r = 0; r < 3; ++r) BOOST_TEST(std::abs(x.impulse[r] - l[r]) <= 1e-14);
    ++compared;
  }
  BOOST_TEST(compared > 20);
}

// The bisection ends within its tolerance of the exact root.
BOOST_AUTO_TEST_CASE(bisection_of_raisim_finds_the_exact_root) {
  Rng rng(5);
  int slides = 0, loose = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const Matrix3d G = Matrix3d::Identity() + 0.3 * Matrix3d(gram(random_matrix(rng, 3, 3)));
    Vector3d c = random_vector(rng, 3);
    c[2] = -std::abs(c[2]) - 0.01;
    const double mu = rng.uniform(0.1, 0.8);
    const Vector3d stick = solve_semidefinite(G, -c), before(1.0, 2.0, 3.0);
    if (stick.head<2>().norm() <= 1.001 * mu * stick[2]) continue;
    ++slides;
    const Vector3d exact = slide_impulse(G, c, mu, stick, before);
    for (const double tolerance : {1e-2, 1e-6, 1e-12}) {
      const Vector3d found = bisected_slide_impulse(G, c, mu, stick, before, tolerance);
      const double error = (found - exact).lpNorm<Eigen::Infinity>();
      BOOST_TEST_CONTEXT("trial " << trial << ", tolerance " << tolerance)
      BOOST_TEST(error <= 2.0 * tolerance);
      loose += tolerance == 1e-2 && error > 1e-4;
    }
  }
  BOOST_TEST(slides > 500);
  BOOST_TEST(loose > 100);
}

// Tight, raisim-published has the answer of raisim; as loose as published it says that it has not.
BOOST_AUTO_TEST_CASE(raisim_as_published_agrees_with_the_exact_root) {
  Rng rng(6);
  int compared = 0, not_solved = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const ContactProblem p = contacts(rng, 4).problem();
    const ContactSolution a = solved(p, "raisim", 1e-10),
                          b = solved(p, "raisim-published", 1e-10, 20000, 1e-15);
    if (!a.converged() || !b.converged()) continue;
    ++compared;
    for (int r = 0; r < p.num_rows(); ++r)
      BOOST_TEST(std::abs(a.velocity[r] - b.velocity[r]) < 1e-7);
    const ContactSolution c = solved(p, "raisim-published", 1e-10, 2000, 1e-3);
    not_solved += !c.converged();
    BOOST_TEST((c.converged() || c.model_residuals.relative > 1e-10));
  }
  BOOST_TEST(compared > 80);
  BOOST_TEST(not_solved > 30);
}

BOOST_AUTO_TEST_SUITE_END()
