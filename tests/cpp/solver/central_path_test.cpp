#include "stiction/solver/central_path.hpp"

#include "support/contact_problems.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace stiction::test {
namespace {

ContactSolution on_path(const ContactProblem& problem, double energy) {
  SolverWorkspace work;
  ContactSolution solution;
  solve_on_path(problem, energy, {}, work, solution);
  return solution;
}

/// How far a set is from the equations of the path as the header states them, with y from lambda
/// where c is known less well, and from c elsewhere: relative.
double set_error(const ConstraintSet& set,
                 const double* l,
                 const double* c,
                 const double* y,
                 double energy,
                 double velocity) {
  double worst = 0.0;
  const auto see = [&](double off, double size) { worst = std::max(worst, std::abs(off) / size); };
  const auto bound = [&](double room, double push, double size) {
    see(room * push - energy, std::max(energy, size * push));
  };
  if (set.is_cone() && set.friction.friction() > 0.0) {
    const Cone& cone = set.friction;
    const int n = cone.normal();
    const double mu = cone.friction();
    double tangent = 0.0, inner = mu * l[n] * y[n];
    for (int r = 0; r < n; ++r) {
      const double unit = cone.velocity_unit(r);
      see(unit * c[r] - y[r], velocity);
      if (unit > 0.0) inner += l[r] / unit * y[r];
      tangent += y[r] * y[r];
    }
    see(inner - energy, std::max(energy, mu * l[n] * y[n]));
    for (int r = 0; r < n; ++r) {
      const double unit = cone.velocity_unit(r);
      if (unit > 0.0)
        see(mu * l[n] * y[r] + y[n] * l[r] / unit, std::max(energy, mu * l[n] * y[n]));
    }
    see(c[n] - mu * (y[n] - std::hypot(std::sqrt(tangent), energy) + energy), velocity);
    return worst;
  }
  if (set.kind == SetKind::kFree) {
    for (int r = 0; r < set.dim; ++r) see(c[r], velocity);
  } else if (set.kind != SetKind::kBox) {
    const int n = set.dim - 1;
    for (int r = 0; r < n; ++r) see(l[r], 1.0);
    bound(l[n], y[n], std::abs(l[n]));
    see(c[n] - y[n], velocity);
  } else if (set.lower < set.upper) {
    const bool low = std::isfinite(set.lower), high = std::isfinite(set.upper);
    const double z = high ? (low ? y[0] - c[0] : y[0]) : 0.0, size = std::abs(l[0]);
    const double slack = high ? velocity / std::max(z, 1e-300) * 1e-4 : 0.0;
    if (low) bound(l[0] - set.lower, y[0], size + std::abs(set.lower));
    // z is what is left of y - c.
    if (high && slack < 1e-3)
      bound(set.upper - l[0], z, size + std::abs(set.upper) + velocity / z * (set.upper - l[0]));
  } else {
    see(l[0] - set.lower, 1.0);
  }
  return worst;
}

double worst_error(const ContactProblem& problem, const ContactSolution& s) {
  double velocity = 0.0, worst = 0.0;
  for (int i = 0; i < problem.num_sets(); ++i) {
    const int at = problem.sets[i].offset, dim = problem.sets[i].dim;
    problem.each_column(i, [&](int j, const double* column) {
      for (int r = 0; r < dim; ++r)
        velocity = std::max(velocity, std::abs(column[r] * s.impulse[j]));
    });
    for (int r = 0; r < dim; ++r) velocity = std::max(velocity, std::abs(problem.g[at + r]));
  }
  for (int i = 0; i < problem.num_sets(); ++i) {
    const int at = problem.sets[i].offset;
    worst = std::max(worst,
                     set_error(problem.sets[i],
                               s.impulse.data() + at,
                               s.velocity.data() + at,
                               s.path_velocity.data() + at,
                               s.path_energy,
                               velocity));
  }
  return worst;
}

/// Cones of every dimension among the other sets; rank: of the full one, below 1 hyperstatic. One
/// coordinate opens everything and is held by nothing: what is jammed without clearance, or held by
/// bilateral rows, has no path.
Data problem_of_dimensions(Rng& rng, double rank) {
  Data data;
  const int n = 1 + static_cast<int>(rng.uniform(0.0, 5.0));
  for (int i = 0; i < n; ++i) {
    const double mu = rng.uniform(0.0, 1.0) < 0.1 ? 0.0 : rng.uniform(0.1, 1.5);
    const double pick = rng.uniform(0.0, 1.0);
    data.sets.push_back(
        pick < 0.25  ? ConstraintSet::cone(Cone::torsional(mu, mu * rng.uniform(0.3, 1.0)))
        : pick < 0.5 ? ConstraintSet::cone(Cone::rolling(
                           mu, mu * rng.uniform(0.3, 1.0), mu * rng.uniform(0.3, 1.0)))
                     : random_set(rng, 1.0));
  }
  const int rows = count_rows(data.sets);
  const int width = 1 + static_cast<int>(rank * rows);
  Eigen::MatrixXd A = random_matrix(rng, rows, width);
  A.col(0).setZero();
  int row = 0;
  for (const ConstraintSet& set : data.sets) {
    row += set.dim;
    if (set.is_normal(set.dim - 1)) A(row - 1, 0) = 1.0;
  }
  data.G = A * A.transpose();
  data.g = A * random_vector(rng, width);
  data.R.setZero(rows);
  return data;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(central_path_test)

/// Sets of all kinds and dimensions, redundant and compliant ones, energies of nine decades.
BOOST_AUTO_TEST_CASE(points_obey_the_equations_of_the_path) {
  Rng rng(31);
  std::map<double, double> worst;
  std::map<double, int> failed, steps, solves;
  for (int k = 0; k < 200; ++k) {
    const Data data = k % 2 ? problem_of_dimensions(rng, k % 4 == 1 ? 1.5 : 0.7)
                            : random_problem(rng, 1.2, k % 4 == 0, 1.0);
    const ContactProblem problem = data.problem();
    for (const double energy : {1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
      const ContactSolution s = on_path(problem, energy);
      const double error = worst_error(problem, s);
      if (s.status != SolveStatus::kConverged) {
        ++failed[energy];
        continue;
      }
      ++solves[energy];
      steps[energy] += s.iterations;
      worst[energy] = std::max({worst[energy], error, s.model_residuals.relative});
    }
  }
  for (const auto& [energy, error] : worst) {
    BOOST_TEST_MESSAGE(energy << " J: error " << error << ", steps "
                              << double(steps[energy]) / solves[energy] << ", failed "
                              << failed[energy]);
    // An impulse on its cone is known to 1e-16: how far it is inside, to 1e-16 of l_N y_N.
    BOOST_CHECK_LE(error, energy < 1e-9 ? 1e-11 : 1e-12);
    BOOST_CHECK_EQUAL(failed[energy], 0);
  }
}

/// The path ends at the solution, with an error that falls with the energy.
BOOST_AUTO_TEST_CASE(it_tends_to_the_solution) {
  Rng rng(32);
  for (int k = 0; k < 40; ++k) {
    const ContactProblem problem = easy_data(rng).problem();
    SolverSettings settings;
    settings.tolerance = 1e-14;
    SolverWorkspace work;
    ContactSolution exact;
    solve(problem, settings, work, exact);
    double before = 1e300;
    for (const double energy : {1e-3, 1e-5, 1e-7, 1e-9}) {
      const ContactSolution s = on_path(problem, energy);
      double off = 0.0;
      for (int r = 0; r < problem.num_rows(); ++r)
        off = std::max(off, std::abs(s.impulse[r] - exact.impulse[r]));
      BOOST_CHECK_LE(off, std::max(0.5 * before, 1e-9));
      before = off;
    }
    BOOST_CHECK_LE(before, 1e-4);
  }
}

/// A contact that nothing moves, as of a pusher on rails above the ground, and touching: left out.
BOOST_AUTO_TEST_CASE(what_cannot_move_does_not_push) {
  Data data;
  data.sets = {ConstraintSet::cone(0.5), ConstraintSet::cone(0.5)};
  data.G = Eigen::VectorXd{{1.5, 2.0, 0.0, 1.0, 1.0, 1.0}}.asDiagonal();
  data.g.resize(6);
  data.R.setZero(6);
  for (const double gap : {0.0, 2.0}) {
    data.g << 0.1, 0.0, gap, 0.1, 0.0, -1.0;
    const ContactSolution s = on_path(data.problem(), 1e-3);
    BOOST_CHECK(s.status == SolveStatus::kConverged);
    for (int r = 0; r < 3; ++r) BOOST_CHECK_EQUAL(s.impulse[r], 0.0);
    BOOST_CHECK_GT(s.impulse[5], 0.9);
  }
}

BOOST_AUTO_TEST_CASE(an_energy_must_be_positive) {
  Rng rng(33);
  const ContactProblem problem = easy_data(rng).problem();
  for (const double energy : {0.0, -1.0, std::nan(""), 1.0 / 0.0})
    BOOST_CHECK_THROW(on_path(problem, energy), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace stiction::test
