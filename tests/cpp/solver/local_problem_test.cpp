#include "stiction/math/constants.hpp"
#include "stiction/solver/solver.hpp"

#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <string>

// One contact: what per-contact solvers do to it, against searches that know the model only.

using namespace stiction;
using namespace stiction::test;
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

namespace {

struct Contact {
  Matrix3d G;
  Vector3d g;
  double mu;

  ContactProblem problem() const {
    return ContactProblem::from_dense(G, g, {ConstraintSet::cone(mu)});
  }
  double coupling() const { return mu * G.block<2, 1>(0, 2).norm() / G(2, 2); }
};

/// mu up to 5; every third block is nearly singular (1e-8 to 1e-6), every fifth sticks or opens
/// more often.
Contact random_contact(Rng& rng, int trial) {
  Eigen::MatrixXd A = random_matrix(rng, 3, 3);
  if (trial % 3 == 0) A.col(2) *= 1e-3;
  Contact x{gram(A), random_vector(rng, 3), rng.uniform(0.01, trial % 2 ? 5.0 : 1.0)};
  x.G += 1e-8 * x.G.trace() * Matrix3d::Identity();
  if (trial % 5 == 0) x.g.head<2>() *= 0.2;
  return x;
}

Vector2d unit(double angle) { return {std::cos(angle), std::sin(angle)}; }

ContactSolution solved(const Contact& x, const char* name, int max_iterations, double tolerance) {
  SolverSettings s;
  s.name = name;
  s.max_iterations = max_iterations;
  s.tolerance = tolerance;
  SolverWorkspace work;
  ContactSolution out;
  solve(x.problem(), s, work, out);
  return out;
}

Vector3d velocity(const ContactSolution& s) {
  return Eigen::Map<const Vector3d>(s.velocity.data());
}

enum Mode { kOpen, kStick, kSlide };
using Solutions = std::vector<std::pair<Mode, Vector3d>>;  // velocities

/// Roots of a function of the angle that changes its sign, by a scan and bisection.
template <class Function>
std::vector<double> roots(const Function& f) {
  constexpr int kSamples = 2000;
  std::vector<double> out;
  for (int k = 0; k < kSamples; ++k) {
    double a = 2.0 * kPi * k / kSamples, b = 2.0 * kPi * (k + 1) / kSamples, fa = f(a);
    if (fa * f(b) > 0.0) continue;
    for (int i = 0; i < 60; ++i) {
      const double m = 0.5 * (a + b), fm = f(m);
      (fm * fa > 0.0 ? a : b) = m;
      if (fm * fa > 0.0) fa = fm;
    }
    out.push_back(0.5 * (a + b));
  }
  return out;
}

/// All solutions of the NCP.
Solutions ncp_solutions(const Contact& x) {
  Solutions out;
  if (x.g[2] >= 0.0) out.push_back({kOpen, x.g});
  const Vector3d stick = -solve_semidefinite(x.G, x.g);
  if (stick.head<2>().norm() <= x.mu * stick[2] * (1.0 + 1e-9))
    out.push_back({kStick, Vector3d::Zero()});
  // Sliding: the impulse n (mu u, 1) with c_N = 0, times what makes n positive.
  const auto slide = [&](double a) {
    const Vector3d ray(x.mu * std::cos(a), x.mu * std::sin(a), 1.0);
    const double d = x.G.row(2).dot(ray);
    return std::pair<Vector3d, double>(d * x.g - x.g[2] * (x.G * ray), d);  // d c
  };
  for (const double a : roots([&](double a) {
         const Vector3d c = slide(a).first;
         return c[0] * std::sin(a) - c[1] * std::cos(a);
       })) {
    const auto [scaled, d] = slide(a);
    const Vector3d c = scaled / d;
    if (-x.g[2] / d >= 0.0 && c.head<2>().dot(unit(a)) <= 0.0) out.push_back({kSlide, c});
  }
  return out;
}

/// All solutions of the LCP with the square |l_1|, |l_2| <= mu l_N: each direction sticks, or
/// slides one way at its bound.
Solutions lcp_solutions(const Contact& x) {
  Solutions out;
  if (x.g[2] >= 0.0) out.push_back({kOpen, x.g});
  for (int first = -1; first <= 1; ++first) {
    for (int second = -1; second <= 1; ++second) {
      const int side[2] = {first, second};
      Matrix3d A = x.G;
      Vector3d b = -x.g;
      for (int r = 0; r < 2; ++r) {
        if (side[r] == 0) continue;
        A.row(r) << 0.0, 0.0, -side[r] * x.mu;
        A(r, r) = 1.0;
        b[r] = 0.0;
      }
      const Vector3d l = solve_dense(A, b), c = x.G * l + x.g;
      bool valid = l[2] >= 0.0;
      for (int r = 0; r < 2; ++r)
        valid = valid && (side[r] == 0 ? std::abs(l[r]) <= x.mu * l[2] : side[r] * c[r] <= 0.0);
      if (valid) out.push_back({first == 0 && second == 0 ? kStick : kSlide, c});
    }
  }
  return out;
}

/// Every solution that the solver calls converged is one of the search's; enough of each mode.
/// Where friction cannot wedge the contact there is a solution, and the solver finds it.
void check_against_search(const char* name,
                          Solutions (*search)(const Contact&),
                          double largest_friction = 1.0) {
  Rng rng(11);
  int seen[3] = {};
  for (int trial = 0; trial < 1500; ++trial) {
    const Contact x = random_contact(rng, trial);
    const ContactSolution s = solved(x, name, 200000, 1e-11);
    BOOST_TEST_CONTEXT(name << ", trial " << trial << ", mu " << x.mu << ", coupling "
                            << x.coupling() << ", relative " << s.model_residuals.relative) {
      if (largest_friction * x.coupling() < 0.95)
        BOOST_TEST((s.converged() || s.status == SolveStatus::kRoundingLimited));
      if (!s.converged()) continue;
      std::pair<double, Mode> nearest{1e300, kOpen};
      for (const auto& [mode, c] : search(x))
        nearest = std::min(nearest, {(c - velocity(s)).norm(), mode});
      BOOST_TEST(nearest.first <= 2e-4 * x.g.norm());
      ++seen[nearest.second];
    }
  }
  for (const int n : seen) BOOST_TEST(n > 100);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(local_problem_test)

BOOST_AUTO_TEST_CASE(ncp_pgs_finds_a_solution_of_the_search) {
  check_against_search("ncp-pgs", ncp_solutions);
}

BOOST_AUTO_TEST_CASE(ncp_admm_finds_a_solution_of_the_search) {
  check_against_search("ncp-admm", ncp_solutions);
}

BOOST_AUTO_TEST_CASE(lcp_pgs_finds_a_solution_of_the_search) {
  check_against_search("lcp-pgs", lcp_solutions, std::sqrt(2.0));  // at the square's corners
}

namespace {

/// The least 1/2 l^T G l + g^T l on the cone's surface with c_N = 0, over 20000 directions.
double least_energy(const Contact& x) {
  constexpr int kSamples = 20000;
  double least = 1e300;
  for (int k = 0; k < kSamples; ++k) {
    const Vector2d u = unit(2.0 * kPi * k / kSamples);
    const Vector3d ray(x.mu * u[0], x.mu * u[1], 1.0);
    const double n = -x.g[2] / x.G.row(2).dot(ray);
    if (!(n > 0.0)) continue;
    const Vector3d l = n * ray;
    least = std::min(least, 0.5 * l.dot(x.G * l) + x.g.dot(l));
  }
  return least;
}

}  // namespace

// One sweep of raisim is its definition: open, stick, or the least energy on K with c_N = 0, on
// ellipses and on hyperbolas, with an impulse on the cone and no better point in a dense search.
BOOST_AUTO_TEST_CASE(raisim_solves_its_local_problem) {
  Rng rng(12);
  int open = 0, sticks = 0, ellipses = 0, branches = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const Contact x = random_contact(rng, trial);
    const ContactSolution s = solved(x, "raisim", 30, 1e-9);  // singular blocks take a few sweeps
    const Vector3d l = Eigen::Map<const Vector3d>(s.impulse.data()), c = velocity(s);
    const Vector3d stick = -solve_semidefinite(x.G, x.g);
    BOOST_TEST_CONTEXT("trial " << trial << ", mu " << x.mu << ", coupling " << x.coupling()
                                << ", relative " << s.model_residuals.relative) {
      BOOST_TEST((s.converged() || s.status == SolveStatus::kRoundingLimited));
      if (x.g[2] >= 0.0) {
        BOOST_TEST(l.isZero(0.0));
        ++open;
      } else if (stick.head<2>().norm() <= x.mu * stick[2]) {
        BOOST_TEST((l - stick).norm() <= 1e-6 * stick.norm());
        ++sticks;
      } else {
        const double scale = l.norm() * x.g.norm(), least = least_energy(x);
        BOOST_TEST(std::abs(l.head<2>().norm() - x.mu * l[2]) <= 1e-9 * l.norm());
        BOOST_TEST(std::abs(c[2]) <= 1e-9 * x.g.norm());
        BOOST_TEST(0.5 * l.dot(x.G * l) + x.g.dot(l) <= least + 1e-9 * scale);
        (x.coupling() < 1.0 ? ellipses : branches) += 1;
      }
    }
  }
  BOOST_TEST((open > 300 && sticks > 100 && ellipses > 100 && branches > 50));
}

// The defect of a search from the angle of the sticking impulse: it finds the wrong one of several
// stationary points, or none. This ellipse is flat, its far side has a minimum of its own, and the
// branch has an end that the search would leave.
BOOST_AUTO_TEST_CASE(raisim_takes_the_least_of_several_stationary_points) {
  Rng rng(13);
  int several = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Contact x = random_contact(rng, trial);
    if (x.g[2] >= -0.05) continue;
    const Vector3d stick = -solve_semidefinite(x.G, x.g);
    if (stick.head<2>().norm() <= x.mu * stick[2]) continue;
    // Slope of the energy along the curve: d (w . c_T) - (mu G_TN . w) (u . c_T).
    const std::vector<double> stationary = roots([&](double a) {
      const Vector2d u = unit(a), w(-u[1], u[0]), couple = x.mu * x.G.block<2, 1>(0, 2);
      const double d = x.G(2, 2) + couple.dot(u);
      const Vector3d ray(x.mu * u[0], x.mu * u[1], 1.0);
      const Vector2d c = (d * x.g - x.g[2] * (x.G * ray)).head<2>();
      return (d * w - couple.dot(w) * u).dot(c);
    });
    if (stationary.size() < 4) continue;
    ++several;
    const ContactSolution s = solved(x, "raisim", 30, 1e-9);
    const Vector3d l = Eigen::Map<const Vector3d>(s.impulse.data());
    BOOST_TEST_CONTEXT("trial " << trial)
    BOOST_TEST(0.5 * l.dot(x.G * l) + x.g.dot(l) <= least_energy(x) + 1e-9 * l.norm() * x.g.norm());
  }
  BOOST_TEST(several > 50);
}

BOOST_AUTO_TEST_SUITE_END()
