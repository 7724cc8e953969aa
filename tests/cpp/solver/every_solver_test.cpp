#include "stiction/solver/solver.hpp"

#include "support/allocation_guard.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

// What the interface promises, for each solver of the registry.

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

SolverSettings settings(const SolverEntry& solver, double tolerance, int max_iterations = 5000) {
  SolverSettings s;
  s.name = solver.name;
  s.tolerance = tolerance;
  s.max_iterations = max_iterations;
  s.raisim_bisection_tolerance = 1e-16;
  return s;
}

ContactSolution solved(const ContactProblem& problem, const SolverSettings& settings) {
  SolverWorkspace work;
  ContactSolution out;
  solve(problem, settings, work, out);
  return out;
}

bool finished(const ContactSolution& s) {
  return s.converged() || s.status == SolveStatus::kRoundingLimited;
}

Eigen::Map<const VectorXd> vector(const std::vector<double>& x) {
  return {x.data(), static_cast<Eigen::Index>(x.size())};
}

/// What a solver reaches on the problems of this file, one less than measured but for Newton's.
struct Reach {
  const char* name;
  int converged;  ///< of 200 problems at 1e-7 within 3000 iterations
  int restarted;  ///< of 100 problems solved to 1e-10 within 5000
};
constexpr Reach kReach[] = {{"ccp-admm", 199, 98},
                            {"ccp-admm-published", 199, 98},
                            {"ccp-newton", 200, 99},
                            {"ccp-pgs", 194, 98},
                            {"lcp-lemke", 199, 99},
                            {"lcp-pgs", 195, 99},
                            {"lcp-qp", 190, 97},
                            {"lcp-staggered", 197, 98},
                            {"ncp-admm", 199, 99},
                            {"ncp-admm-published", 199, 99},
                            {"ncp-newton", 200, 99},
                            {"ncp-pgs", 196, 99},
                            {"ncp-pgs-published", 195, 98},
                            {"ncp-staggered", 199, 99},
                            {"raisim", 193, 98},
                            {"raisim-published", 193, 98}};
Reach reach_of(const SolverEntry& solver) {
  for (const Reach& r : kReach) {
    if (std::string(r.name) == solver.name) return r;
  }
  BOOST_FAIL(solver.name << " is not in kReach");
  return {};
}

/// The model's relative residual with velocities from the dense matrix.
double relative_residual(const Data& d, const ContactSolution& s) {
  const ContactProblem p = d.problem();
  VectorXd c = p.dense() * vector(s.impulse) + d.g;
  if (!s.regularisation.empty()) c += vector(s.regularisation).cwiseProduct(vector(s.impulse));
  return model_residuals(s.model, 4, p, s.impulse.data(), c.data(), 0, p.num_sets()).relative;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(every_solver_test)

// Whenever a solver says "converged", the residual of its model agrees; most problems converge.
BOOST_AUTO_TEST_CASE(converged_means_solved) {
  for (const SolverEntry& solver : solvers()) {
    Rng rng(1);
    const SolverSettings s = settings(solver, 1e-7, 3000);
    int converged = 0;
    constexpr int kTrials = 200;
    for (int trial = 0; trial < kTrials; ++trial) {
      const Data d = random_problem(rng, rng.uniform(0.3, 1.2), trial % 3 == 0, 1.0);
      const ContactSolution x = solved(d.problem(), s);
      const double relative = relative_residual(d, x), reported = x.model_residuals.relative;
      BOOST_TEST_CONTEXT(solver.name << ", trial " << trial) {
        BOOST_TEST(std::abs(relative - reported) <= 1e-9 + 1e-6 * relative);
        BOOST_TEST(x.converged() == (reported <= s.tolerance));
        BOOST_TEST(x.iterations <= s.max_iterations);
        BOOST_TEST((x.model == solver.model && vector(x.impulse).allFinite()));
      }
      converged += finished(x);
    }
    BOOST_TEST_MESSAGE(solver.name << ": " << converged << " of " << kTrials << " converged");
    BOOST_TEST_CONTEXT(solver.name) BOOST_TEST(converged >= reach_of(solver).converged);
  }
}

// Started from its own solution, a solver stops at once and stays converged.
BOOST_AUTO_TEST_CASE(warm_start_takes_at_most_one_iteration) {
  for (const SolverEntry& solver : solvers()) {
    Rng rng(2);
    int tried = 0;
    for (int trial = 0; trial < 100; ++trial) {
      const ContactProblem p = random_problem(rng, rng.uniform(0.5, 1.2), trial % 3 == 0).problem();
      SolverWorkspace work;
      ContactSolution x;
      solve(p, settings(solver, 1e-10), work, x);
      if (!x.converged()) continue;
      ++tried;
      solve(p, settings(solver, 1e-7), work, x);
      BOOST_TEST_CONTEXT(solver.name << ", trial " << trial << ", iterations " << x.iterations)
      BOOST_TEST((x.converged() && x.iterations <= 1));
    }
    BOOST_TEST_MESSAGE(solver.name << ": " << tried << " restarted");
    BOOST_TEST_CONTEXT(solver.name) BOOST_TEST(tried >= reach_of(solver).restarted);
  }
}

// A second solve of the same size allocates nothing, a used workspace changes no bit, and a warm
// start of the wrong size is none.
BOOST_AUTO_TEST_CASE(warm_calls_do_not_allocate_and_repeat_their_bits) {
  for (const SolverEntry& solver : solvers()) {
    Rng rng(3);
    SolverWorkspace work;
    for (int trial = 0; trial < 20; ++trial) {
      const Data d = random_problem(rng, rng.uniform(0.5, 1.2), trial % 2 == 0);
      const ContactProblem p = d.problem();
      const SolverSettings s = settings(solver, 1e-9, 200);
      const ContactSolution fresh = solved(p, s);
      ContactSolution used;
      if (trial % 2 == 0) used.impulse.assign(p.g.size() + 1, 0.7);
      solve(p, s, work, used);
      BOOST_TEST_CONTEXT(solver.name << ", trial " << trial) {
        BOOST_TEST((fresh.impulse == used.impulse && fresh.status == used.status));
        BOOST_TEST((fresh.velocity == used.velocity && fresh.penalty == used.penalty));
        BOOST_TEST(fresh.iterations == used.iterations);
        used.impulse.assign(p.g.size(), 0.0);
        const long before = allocation_count();
        solve(p, s, work, used);
        BOOST_TEST(allocation_count() - before == 0);
      }
    }
  }
}

// Large islands do not allocate either: blocked kernels of libraries would.
BOOST_AUTO_TEST_CASE(large_islands_do_not_allocate) {
  Rng rng(4);
  Data d;
  for (int i = 0; i < 60; ++i) d.sets.push_back(ConstraintSet::cone(0.4));
  const MatrixXd A = random_matrix(rng, 180, 180);
  d.G = MatrixXd::Identity(180, 180) + gram(A) / 180.0;
  d.g = random_vector(rng, 180);
  const ContactProblem p = d.problem();
  for (const SolverEntry& solver : solvers()) {
    if (std::string(solver.name) == "lcp-lemke" || std::string(solver.name) == "lcp-qp") continue;
    SolverWorkspace work;
    ContactSolution x;
    const SolverSettings s = settings(solver, 1e-6, 20);
    solve(p, s, work, x);
    x.impulse.assign(p.g.size(), 0.0);
    const long before = allocation_count();
    solve(p, s, work, x);
    const long allocations = allocation_count() - before;  // the context allocates
    BOOST_TEST_CONTEXT(solver.name) BOOST_TEST(allocations == 0);
  }
}

// The order of the sets does not matter where the solution is unique.
BOOST_AUTO_TEST_CASE(order_does_not_matter) {
  for (const SolverEntry& solver : solvers()) {
    Rng rng(5);
    for (int trial = 0; trial < 60; ++trial) {
      const Data d = easy_data(rng);
      std::vector<int> order(d.sets.size()), start(d.sets.size()), rows;
      std::iota(order.begin(), order.end(), 0);
      for (int i = static_cast<int>(order.size()) - 1; i > 0; --i)
        std::swap(order[i], order[rng.below(i + 1)]);
      for (std::size_t i = 1; i < start.size(); ++i) start[i] = start[i - 1] + d.sets[i - 1].dim;
      Data e;
      for (const int i : order) {
        e.sets.push_back(d.sets[i]);
        for (int r = 0; r < d.sets[i].dim; ++r) rows.push_back(start[i] + r);
      }
      e.G = d.G(rows, rows);
      e.g = d.g(rows);
      const SolverSettings s = settings(solver, 1e-10, 20000);
      const ContactSolution a = solved(d.problem(), s), b = solved(e.problem(), s);
      BOOST_TEST_CONTEXT(solver.name << ", trial " << trial) {
        BOOST_REQUIRE((finished(a) && finished(b)));
        for (std::size_t r = 0; r < rows.size(); ++r)
          BOOST_TEST(std::abs(a.velocity[rows[r]] - b.velocity[r]) < 1e-7);
      }
    }
  }
}

/// As published they compare N s with m/s, or with a tolerance in N s.
bool knows_units(const SolverEntry& solver) {
  const std::string name = solver.name;
  return name == "ccp-admm-published" || name == "ncp-admm-published" || name == "raisim-published";
}

// Units of mass and speed do not matter: impulses times the units, bit for bit where the factors
// are powers of 4; at 1e-6 and 1e6 a solver converges alike.
BOOST_AUTO_TEST_CASE(units_do_not_matter) {
  int rounded = 0;
  for (const SolverEntry& solver : solvers()) {
    if (knows_units(solver)) continue;
    Rng rng(7);
    for (int trial = 0; trial < 40; ++trial) {
      const Data d = random_problem(rng, rng.uniform(0.5, 1.2), trial % 3 == 0, 0.8);
      const SolverSettings s = settings(solver, 1e-8, 2000);
      const ContactSolution a = solved(d.problem(), s);
      for (const double mass : {0x1p-20, 0x1p20, 1e6}) {
        for (const double speed : {0x1p-20, 0x1p20, 1e-6}) {
          const bool exact = mass != 1e6 && speed != 1e-6;
          if (!exact && !(a.converged() && a.iterations < 1500)) continue;
          Data e = d;
          e.G /= mass;
          e.R /= mass;
          e.g *= speed;
          for (ConstraintSet& set : e.sets) {
            set.lower *= mass * speed;
            set.upper *= mass * speed;
          }
          const ContactSolution b = solved(e.problem(), s);
          BOOST_TEST_CONTEXT(solver.name << ", trial " << trial << ", mass " << mass << ", speed "
                                         << speed) {
            if (exact) {
              BOOST_TEST(a.iterations == b.iterations);
              for (std::size_t r = 0; r < a.impulse.size(); ++r)
                BOOST_TEST(a.impulse[r] * (mass * speed) == b.impulse[r]);
            } else {
              BOOST_TEST(b.converged());
              ++rounded;
            }
          }
        }
      }
    }
  }
  BOOST_TEST(rounded > 1500);
}

// Islands are solved one by one: the bits are those of each alone.
BOOST_AUTO_TEST_CASE(islands_are_solved_apart) {
  for (const SolverEntry& solver : solvers()) {
    Rng rng(6);
    for (int trial = 0; trial < 20; ++trial) {
      const Data a = random_problem(rng, 1.0, false), b = random_problem(rng, 1.0, true);
      const int n = count_rows(a.sets), m = count_rows(b.sets);
      Data both;
      both.sets = a.sets;
      both.sets.insert(both.sets.end(), b.sets.begin(), b.sets.end());
      both.G = MatrixXd::Zero(n + m, n + m);
      both.G.topLeftCorner(n, n) = a.G;
      both.G.bottomRightCorner(m, m) = b.G;
      both.g.resize(n + m);
      both.g << a.g, b.g;
      both.R = VectorXd::Zero(n + m);
      both.R.tail(m) = b.R;
      ContactProblem p = both.problem();
      p.island_start = {0, static_cast<int>(a.sets.size()), p.num_sets()};
      const SolverSettings s = settings(solver, 1e-8, 300);
      const ContactSolution x = solved(p, s), first = solved(a.problem(), s),
                            second = solved(b.problem(), s);
      std::vector<double> apart = first.impulse;
      apart.insert(apart.end(), second.impulse.begin(), second.impulse.end());
      BOOST_TEST_CONTEXT(solver.name << ", trial " << trial) {
        BOOST_TEST((x.impulse == apart));
        BOOST_TEST(x.iterations == std::max(first.iterations, second.iterations));
        BOOST_TEST(x.converged() == (first.converged() && second.converged()));
      }
    }
  }
}

// Rows and blocks of G that are zero, g = 0, no rows, one row, contradicting bilateral rows: a
// status, finite numbers, no false success.
BOOST_AUTO_TEST_CASE(degenerate_problems_end) {
  for (const SolverEntry& solver : solvers()) {
    Rng rng(7);
    const ContactSolution none =
        solved(ContactProblem::from_dense({}, {}, {}), settings(solver, 1e-8));
    BOOST_TEST((none.converged() && none.iterations == 0));
    for (int trial = 0; trial < 120; ++trial) {
      Data d = random_problem(rng, rng.uniform(0.3, 1.0), false);
      const int rows = count_rows(d.sets), row = rng.below(rows);
      const ConstraintSet set = d.sets[rng.below(static_cast<int>(d.sets.size()))];
      int offset = 0;
      for (const ConstraintSet& s : d.sets) {
        if (trial % 4 == 0 && s.dim == set.dim) {  // all blocks of that size
          d.G.middleRows(offset, s.dim).setZero();
          d.G.middleCols(offset, s.dim).setZero();
        }
        offset += s.dim;
      }
      if (trial % 4 == 1) {
        d.G.row(row).setZero();
        d.G.col(row).setZero();
      }
      if (trial % 4 == 2) d.g = random_vector(rng, rows);  // not in the range of G
      if (trial % 4 == 3) d.g.setZero();
      const SolverSettings s = settings(solver, 1e-6, 300);
      ContactSolution x;
      x.impulse.assign(rows, 0.0);
      if (trial % 3 == 0) {
        for (double& l : x.impulse) l = rng.uniform(-5.0, 5.0);  // outside of the sets
      }
      SolverWorkspace work;
      solve(d.problem(), s, work, x);
      BOOST_TEST_CONTEXT(solver.name << ", trial " << trial << ", status " << to_string(x.status)) {
        BOOST_TEST((vector(x.impulse).allFinite() && vector(x.velocity).allFinite()));
        const double relative = relative_residual(d, x);
        BOOST_TEST(x.converged() == (x.model_residuals.relative <= s.tolerance));
        BOOST_TEST((!x.converged() || relative <= 1.01 * s.tolerance));
      }
    }
  }
}

// A NaN or an infinity in the problem is not_finite with zero impulses.
BOOST_AUTO_TEST_CASE(not_finite_problems_are_said) {
  for (const SolverEntry& solver : solvers()) {
    Rng rng(8);
    for (int trial = 0; trial < 60; ++trial) {
      ContactProblem p = random_problem(rng, 1.0, false).problem();
      const double bad = trial % 2 ? std::nan("") : INFINITY;
      if (trial % 4 < 2) {
        p.g[rng.below(p.num_rows())] = bad;
      } else {
        p.set_diagonal_entry(rng.below(p.num_sets()), 0, bad);
      }
      const ContactSolution x = solved(p, settings(solver, 1e-8, 100));
      BOOST_TEST_CONTEXT(solver.name << ", trial " << trial) {
        BOOST_TEST((x.status == SolveStatus::kNotFinite));
        BOOST_TEST(vector(x.impulse).isZero(0.0));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
