#include "stiction/solver/solver.hpp"

#include "solver/workspace.hpp"
#include "support/allocation_guard.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/pfr.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
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

/// The model's relative residual with velocities from the dense matrix.
double relative_residual(const Data& d, const ContactSolution& s) {
  const ContactProblem p = d.problem();
  VectorXd c = p.dense() * vector(s.impulse) + d.g;
  if (!s.regularisation.empty()) c += vector(s.regularisation).cwiseProduct(vector(s.impulse));
  return model_residuals(s.model, 4, p, s.impulse.data(), c.data(), 0, p.num_sets()).relative;
}

/// Sets in a row, each coupled to its neighbours alone: where one between opens, what is left of G
/// falls apart.
Data chain(Rng& rng) {
  const int bodies = 3 + rng.below(6);
  Data d;
  for (int k = 0; k + 1 < bodies; ++k) d.sets.push_back(random_set(rng, 1.0));
  const int n = count_rows(d.sets);
  MatrixXd J = MatrixXd::Zero(n, 3 * bodies);
  for (int k = 0, row = 0; k + 1 < bodies; row += d.sets[k++].dim)
    J.block(row, 3 * k, d.sets[k].dim, 6) = random_matrix(rng, d.sets[k].dim, 6);
  d.G = J * J.transpose();
  d.g = J * random_vector(rng, 3 * bodies);
  d.R = VectorXd::Zero(n);
  return d;
}

template <class T>
void poison(Buffer<T>& x) {
  for (std::size_t k = 0; k < x.size(); ++k)
    std::memset(static_cast<void*>(x + k), 0x7f, sizeof(T));
  if constexpr (std::is_same_v<T, double>)
    std::fill(x.data(), x + x.size(), std::numeric_limits<double>::quiet_NaN());
}
/// Leaves nothing in a workspace that a solve could mistake for its own: whatever fields it has.
template <class Work>
  requires(!std::is_aggregate_v<Work>)
void poison(Work&) {}
template <class Work>
  requires(std::is_aggregate_v<Work>)
void poison(Work& work) {
  boost::pfr::for_each_field(work, [](auto& field) { poison(field); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(every_solver_test)

// A step must not depend on the steps before it, other than by its state: to the bit.
BOOST_AUTO_TEST_CASE(what_a_workspace_held_before_does_not_matter) {
  int unsolved = 0, large = 0;
  for (const SolverEntry& solver : solvers()) {
    Rng rng(23);
    SolverSettings s = settings(solver, 1e-8, 60);
    s.max_factorisations = 150;
    SolverWorkspace used;
    for (int trial = 0; trial < 60; ++trial) {
      const Data d =
          trial % 2 == 0 ? chain(rng) : random_problem(rng, 0.2 + 0.2 * (trial % 5), false);
      const ContactProblem p = d.problem();
      const ContactSolution fresh = solved(p, s);
      poison(used.parts());
      ContactSolution again;
      solve(p, s, used, again);
      BOOST_TEST_CONTEXT(solver.name << " trial " << trial) {
        BOOST_TEST(again.impulse == fresh.impulse);
        BOOST_TEST(again.iterations == fresh.iterations);
        BOOST_TEST(again.factorisations == fresh.factorisations);
        BOOST_TEST((again.status == fresh.status));
      }
      unsolved += !finished(fresh);
      large += p.num_rows() > 12;
    }
  }
  BOOST_TEST(unsolved > 50);  // the last stages were visited
  BOOST_TEST(large > 200);
}

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
    BOOST_TEST_CONTEXT(solver.name)
    BOOST_TEST(converged >= 0.9 * kTrials);
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
    BOOST_TEST(tried >= 30);
  }
}

// A second solve of the same size allocates nothing, and a used workspace changes no bit.
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
      solve(p, s, work, used);
      BOOST_TEST_CONTEXT(solver.name << ", trial " << trial) {
        BOOST_TEST((fresh.impulse == used.impulse && fresh.status == used.status));
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
    BOOST_TEST_CONTEXT(solver.name) BOOST_TEST(allocation_count() - before == 0);
  }
}

// Units and the order of the sets do not matter where the solution is unique.
BOOST_AUTO_TEST_CASE(units_and_order_do_not_matter) {
  for (const SolverEntry& solver : solvers()) {
    Rng rng(5);
    for (int trial = 0; trial < 40; ++trial) {
      const Data d = easy_data(rng);
      const SolverSettings s = settings(solver, 1e-10, 20000);
      const ContactSolution a = solved(d.problem(), s);
      Data e;  // reversed, in grams and millimetres
      const double mass = 1e3, speed = 1e3;
      std::vector<int> rows;
      for (int i = static_cast<int>(d.sets.size()) - 1, end = count_rows(d.sets); i >= 0; --i) {
        e.sets.push_back(d.sets[i]);
        e.sets.back().lower *= mass * speed;
        e.sets.back().upper *= mass * speed;
        const int begin = end - d.sets[i].dim;
        for (int r = begin; r < end; ++r) rows.push_back(r);
        end = begin;
      }
      e.G = d.G(rows, rows) / mass;
      e.g = d.g(rows) * speed;
      const ContactSolution b = solved(e.problem(), s);
      BOOST_TEST_CONTEXT(solver.name << ", trial " << trial << ", relative "
                                     << a.model_residuals.relative << " and "
                                     << b.model_residuals.relative) {
        BOOST_REQUIRE((finished(a) && finished(b)));
        for (std::size_t r = 0; r < rows.size(); ++r) {
          BOOST_TEST(std::abs(a.velocity[rows[r]] - b.velocity[r] / speed) <
                     2e-5 * d.g.cwiseAbs().maxCoeff());
        }
      }
    }
  }
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
        p.values[p.diagonal_start[rng.below(p.num_sets())]] = bad;
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
