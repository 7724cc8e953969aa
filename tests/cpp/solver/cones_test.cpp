#include "stiction/contact/uniqueness.hpp"
#include "stiction/solver/solver.hpp"

#include "contact/circular_form.hpp"
#include "solver/ncp_newton/local_contact.hpp"
#include "solver/ncp_newton/multipliers.hpp"
#include "solver/ncp_newton/tree_space.hpp"
#include "support/allocation_guard.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>
#include <string>

// Contacts with torsional and rolling friction: 4 and 6 rows, whose cones are not circular.

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// A cone of 3, 4 or 6 rows, at times without friction in some of them.
ConstraintSet random_cone(Rng& rng) {
  const double mu = rng.uniform(0.1, 1.0);
  Cone cone = Cone::rolling(mu, rng.uniform(0.002, 0.05), rng.uniform(0.001, 0.02));
  cone.dim = std::array{3, 4, 6}[rng.below(3)];
  if (rng.below(3) == 0) cone.mu[1] *= rng.uniform(0.3, 2.0);
  if (rng.below(4) == 0) cone.mu[rng.below(5)] = 0.0;
  return ConstraintSet::cone(cone);
}

/// Levers of the angular rows are such that both kinds move alike: [m] of the size of mu.
VectorXd row_sizes(const std::vector<ConstraintSet>& sets) {
  VectorXd size = VectorXd::Ones(count_rows(sets));
  int at = 0;
  for (const ConstraintSet& set : sets) {
    for (int r = 2; set.is_cone() && r < set.dim - 1; ++r) size[at + r] = 50.0;
    at += set.dim;
  }
  return size;
}

Data random_cones(Rng& rng, double rank, bool others) {
  Data d;
  const int n = 1 + rng.below(5);
  for (int i = 0; i < n; ++i)
    d.sets.push_back(others && rng.below(4) == 0 ? random_set(rng, 0.5) : random_cone(rng));
  const int rows = count_rows(d.sets), dofs = std::max(1, static_cast<int>(std::ceil(rank * rows)));
  const MatrixXd A = row_sizes(d.sets).asDiagonal() * random_matrix(rng, rows, dofs);
  d.G = gram(A);
  d.g = A * random_vector(rng, dofs);
  return d;
}

/// Compliance of a like share in all rows.
VectorXd random_compliance(Rng& rng, const Data& d) {
  return 0.5 * row_sizes(d.sets).cwiseAbs2().cwiseProduct(
                   random_vector(rng, count_rows(d.sets)).cwiseAbs());
}

ContactSolution solved(const Data& d, const char* name, double tolerance) {
  SolverSettings s;
  s.name = name;
  s.tolerance = tolerance;
  s.max_iterations = 20000;
  SolverWorkspace work;
  ContactSolution out;
  solve(d.problem(), s, work, out);
  return out;
}

/// How far an impulse is from solving its cone, from the definitions alone: D^-1 lambda_T in K, c +
/// Gamma(c) in K*, and their product; in N s, m/s and J, with moments over a lever of mu / f.
double violation(const Cone& cone, const double* l, const double* c, bool shifted) {
  const int n = cone.dim - 1;
  double inside = 0.0, slip = 0.0, power = 0.0, wrong = 0.0;
  for (int r = 0; r < n; ++r) {
    slip += std::pow(cone.mu[r] * c[r], 2);
    power += l[r] * c[r];
    if (cone.mu[r] > 0.0)
      inside += std::pow(l[r] / cone.mu[r], 2);
    else
      wrong = std::max(wrong, std::abs(l[r]));
  }
  slip = std::sqrt(slip);
  const double y = c[n] + (shifted ? slip : 0.0);
  return std::max({wrong, std::sqrt(inside) - l[n], slip - y, std::abs(power + l[n] * y)});
}

double worst_violation(const Data& d, const ContactSolution& s, bool shifted) {
  const VectorXd l = Eigen::Map<const VectorXd>(s.impulse.data(), d.g.size());
  VectorXd c = d.G * l + d.g;
  if (d.R.size() > 0) c += d.R.cwiseProduct(l);
  if (!s.regularisation.empty())
    c += Eigen::Map<const VectorXd>(s.regularisation.data(), l.size()).cwiseProduct(l);
  double worst = 0.0;
  int at = 0;
  for (const ConstraintSet& set : d.sets) {
    if (set.is_cone())
      worst = std::max(worst, violation(set.friction, l.data() + at, c.data() + at, shifted));
    if (set.kind == SetKind::kFree) worst = std::max(worst, c.segment(at, set.dim).norm());
    at += set.dim;
  }
  return worst;
}

/// Loose bodies on the ground and on each other, contacts of all dimensions.
ContactProblem problem_of_bodies(Rng& rng, int bodies, int contacts) {
  Data d;
  ContactSpace space;
  space.side_start = {0};
  for (int b = 0; b < bodies; ++b) space.tree_start.push_back(6 * b);
  space.tree_start.push_back(6 * bodies);
  for (int k = 0; k < 6 * bodies; ++k) space.inertia.push_back(rng.uniform(0.5, 2.0));
  space.dofs = {0, 1, 2, 3, 4, 5};
  for (int i = 0; i < contacts; ++i) d.sets.push_back(random_cone(rng));
  const VectorXd size = row_sizes(d.sets);
  MatrixXd Z = MatrixXd::Zero(6 * bodies, size.size());
  for (int i = 0, at = 0; i < contacts; at += d.sets[i++].dim) {
    const int dim = d.sets[i].dim, a = rng.below(bodies), b = rng.below(2 * bodies);
    for (const int body : {a, b}) {
      if (body >= bodies) continue;  // the ground
      const MatrixXd z = random_matrix(rng, 6, dim) * size.segment(at, dim).asDiagonal();
      Z.block(6 * body, at, 6, dim) += z;
      space.sides.push_back({body, 6, 0, static_cast<int>(space.z.size())});
      for (int m = 0; m < 6; ++m)
        for (int r = 0; r < dim; ++r) space.z.push_back(z(m, r));
      if (a == b) break;
    }
    space.side_start.push_back(static_cast<int>(space.sides.size()));
  }
  const VectorXd m = Eigen::Map<const VectorXd>(space.inertia.data(), 6 * bodies);
  d.G = Z.transpose() * m.cwiseInverse().asDiagonal() * Z;
  d.G = (0.5 * (d.G + d.G.transpose())).eval();
  d.g = Z.transpose() * random_vector(rng, 6 * bodies);
  ContactProblem p = d.problem();
  p.space = space;
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cones_test)

// "Converged" means what the definitions say, and most problems converge.
BOOST_AUTO_TEST_CASE(solvers_find_cones_of_any_dimension) {
  for (const SolverEntry& solver : solvers()) {
    if (solver.largest_cone < kMaxConeDim) continue;
    Rng rng(1), other(8);
    int converged = 0, slides = 0;
    constexpr int kTrials = 100;
    for (int trial = 0; trial < kTrials; ++trial) {
      Data d = random_cones(rng, rng.uniform(0.5, 1.3), trial % 2 == 0);
      if (trial % 3 == 0) d.R = random_compliance(other, d);
      const ContactSolution s = solved(d, solver.name, 1e-8);
      if (!s.converged()) continue;
      ++converged;
      const ContactProblem p = d.problem();
      for (const ConstraintSet& set : p.sets)
        slides +=
            set.is_cone() && set.dim > 3 && on_cone(set.friction, s.impulse.data() + set.offset);
      BOOST_TEST_CONTEXT(solver.name << ", trial " << trial) {
        BOOST_TEST(worst_violation(d, s, solver.model == ContactModel::kNcp) <= 1e-5);
        const Residuals r = s.residuals;
        if (solver.model == ContactModel::kNcp) BOOST_TEST(r.relative <= 1.01e-8);
      }
    }
    BOOST_TEST_MESSAGE(solver.name << ": " << converged << " of " << kTrials << ", " << slides
                                   << " on their cones");
    BOOST_TEST_CONTEXT(solver.name) {
      BOOST_TEST(converged >= 0.98 * kTrials);
      BOOST_TEST(slides > 30);
    }
  }
}

// The convex problem has one solution where G is regular: all find it.
BOOST_AUTO_TEST_CASE(convex_solvers_agree) {
  Rng rng(2);
  int compared = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Data d = random_cones(rng, 1.5, false);
    const VectorXd size = row_sizes(d.sets);
    d.G += size.cwiseAbs2().asDiagonal();
    const ContactSolution a = solved(d, "ccp-pgs", 1e-11), b = solved(d, "ccp-admm", 1e-11);
    if (!a.converged() || !b.converged()) continue;
    ++compared;
    const Eigen::Map<const VectorXd> x(a.impulse.data(), size.size()),
        y(b.impulse.data(), size.size());
    BOOST_TEST((x - y).cwiseProduct(size).norm() <= 1e-8 * x.cwiseProduct(size).norm());
  }
  BOOST_TEST(compared >= 35);
}

// R is in the units of the rows, whatever the solver makes of them: the softened problem is solved.
BOOST_AUTO_TEST_CASE(regularisation_is_in_the_units_of_the_rows) {
  Rng rng(9);
  int angular = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const Data d = random_cones(rng, 1.2, false);
    const VectorXd R = random_compliance(rng, d).array() + 1e-3;
    SolverSettings s;
    s.name = "ccp-newton";
    s.regularisation = RegularisationRule::kGiven;
    s.given_regularisation.assign(R.data(), R.data() + R.size());
    s.tolerance = 1e-10;
    SolverWorkspace work;
    ContactSolution x;
    solve(d.problem(), s, work, x);
    BOOST_TEST((x.converged() && worst_violation(d, x, false) <= 1e-7));
    for (Eigen::Index r = 0; r < R.size(); ++r) {
      angular += R[r] > 1.0 && x.regularisation[r] != 0.0;
      if (x.regularisation[r] != 0.0)  // there is friction
        BOOST_TEST(std::abs(x.regularisation[r] - R[r]) <= 1e-12 * R[r]);
    }
  }
  BOOST_TEST(angular > 20);
}

// A single contact has a solution whatever its block: the local solver finds it, in the plane the
// same as the trigonometric one where that is unique.
BOOST_AUTO_TEST_CASE(local_contacts_are_solved_exactly) {
  Rng rng(3);
  std::array<int, 3> modes{};
  for (int trial = 0; trial < 1500; ++trial) {
    const int dim = std::array{3, 4, 6}[trial % 3];
    const double mu = trial % 11 == 0 ? 0.0 : rng.uniform(0.05, trial % 2 ? 3.0 : 0.5);
    const MatrixXd G = gram(random_matrix(rng, dim, dim)) + 1e-6 * MatrixXd::Identity(dim, dim);
    VectorXd v = random_vector(rng, dim), l = VectorXd::Zero(dim);
    if (trial % 5 == 0) v.head(dim - 1) *= 0.1;
    const bool found = with_dim(
        dim, [&](auto D) { return solve_local_contact<D>(G.data(), dim, mu, v.data(), l.data()); });
    BOOST_REQUIRE(found);
    Cone cone{dim, {}};
    std::fill(cone.mu, cone.mu + dim - 1, mu);
    const VectorXd c = G * l + v;
    const double scale = std::max(1.0, l.norm());
    BOOST_TEST_CONTEXT("trial " << trial << ", dim " << dim << ", mu " << mu)
    BOOST_TEST(violation(cone, l.data(), c.data(), true) <= 1e-8 * scale);
    ++modes[l[dim - 1] == 0.0 ? 0 : c.norm() <= 1e-9 * scale ? 1 : 2];
    if (dim != 3 || mu * G.block(0, 2, 2, 1).norm() > 0.5 * G(2, 2)) continue;
    const double block[6] = {G(0, 0), G(0, 1), G(0, 2), G(1, 1), G(1, 2), G(2, 2)};
    double planar[3] = {0, 0, 0};
    if (!solve_local_contact(block, mu, v.data(), planar)) continue;
    for (int r = 0; r < 3; ++r) BOOST_TEST(std::abs(planar[r] - l[r]) <= 1e-7 * scale);
  }
  for (const int n : modes) BOOST_TEST(n > 100);
}

// Angular rows in other units (a power of two: no rounding) are the same problem.
BOOST_AUTO_TEST_CASE(units_of_angles_do_not_matter) {
  Rng rng(4);
  constexpr double kUnit = 128.0;
  for (const char* name : {"ncp-newton", "ncp-pgs", "ccp-admm"}) {
    for (int trial = 0; trial < 20; ++trial) {
      Data d = random_cones(rng, 1.2, false);
      if (trial % 2) d.R = random_compliance(rng, d);
      Data e = d;
      VectorXd unit = VectorXd::Ones(d.g.size());
      int at = 0;
      for (ConstraintSet& set : e.sets) {
        Cone& cone = set.friction;
        if (cone.mu[0] == 0.0 && cone.mu[1] == 0.0) cone = Cone{cone.dim, {0.3, 0.3}};
        d.sets[&set - e.sets.data()].friction = cone;
        for (int r = 2; r < cone.normal(); ++r) {
          unit[at + r] = kUnit;
          cone.mu[r] /= kUnit;
        }
        at += set.dim;
      }
      e.G = unit.asDiagonal() * d.G * unit.asDiagonal();
      e.g = unit.cwiseProduct(d.g);
      if (d.R.size() > 0) e.R = unit.cwiseAbs2().cwiseProduct(d.R);
      const ContactSolution x = solved(d, name, 1e-8), y = solved(e, name, 1e-8);
      BOOST_TEST((x.status == y.status && x.iterations == y.iterations));
      BOOST_TEST(x.residuals.relative == y.residuals.relative);
      for (Eigen::Index r = 0; r < unit.size(); ++r)
        BOOST_TEST(x.impulse[r] == y.impulse[r] * unit[r]);
    }
  }
}

BOOST_AUTO_TEST_CASE(warm_calls_do_not_allocate) {
  for (const SolverEntry& solver : solvers()) {
    if (solver.largest_cone < kMaxConeDim) continue;
    Rng rng(5);
    SolverWorkspace work;
    for (int trial = 0; trial < 5; ++trial) {
      const ContactProblem p = random_cones(rng, 1.2, true).problem();
      SolverSettings s;
      s.name = solver.name;
      s.max_iterations = 200;
      ContactSolution x;
      solve(p, s, work, x);
      const std::vector<double> first = x.impulse;
      x.impulse.assign(first.size(), 0.0);
      x.penalty = 0.0;
      const long before = allocation_count();
      solve(p, s, work, x);
      const long allocated = allocation_count() - before;
      BOOST_TEST_CONTEXT(solver.name << ", trial " << trial) {
        BOOST_TEST(allocated == 0);
        BOOST_TEST((x.impulse == first));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(planar_solvers_refuse) {
  Rng rng(6);
  int refused = 0;
  for (const SolverEntry& solver : solvers()) {
    for (const Cone& cone : {Cone::torsional(0.5, 0.01), Cone::rolling(0.5, 0.01, 0.001)}) {
      if (solver.largest_cone >= cone.dim) continue;
      ++refused;
      Data d;
      d.sets = {ConstraintSet::non_negative(), ConstraintSet::cone(cone)};
      d.G = MatrixXd::Identity(cone.dim + 1, cone.dim + 1);
      d.g = VectorXd::Zero(cone.dim + 1);
      const auto says = [&](const std::invalid_argument& e) {
        const std::string text = e.what();
        return text.find(solver.name) != std::string::npos &&
               text.find("sets[1]") != std::string::npos &&
               text.find(cone.dim == 4 ? "torsional" : "rolling") != std::string::npos &&
               text.find("ncp-newton") != std::string::npos;
      };
      BOOST_CHECK_EXCEPTION(solved(d, solver.name, 1e-8), std::invalid_argument, says);
    }
  }
  BOOST_TEST(refused == 16);
}

// Two contacts at one place share one contact's impulse: all of it where they stick, the load where
// they slide.
BOOST_AUTO_TEST_CASE(uniqueness_counts_in_any_dimension) {
  for (const Cone& cone :
       {Cone::coulomb(0.5), Cone::torsional(0.5, 0.01), Cone::rolling(0.5, 0.01, 0.002)}) {
    for (const bool slides : {false, true}) {
      const int n = cone.dim;
      Data d;
      d.sets = {ConstraintSet::cone(cone), ConstraintSet::cone(cone)};
      MatrixXd both(2 * n, n);
      both << MatrixXd::Identity(n, n), MatrixXd::Identity(n, n);
      d.G = both * both.transpose();
      VectorXd g = VectorXd::Zero(n);
      g[n - 1] = -1.0;
      g[0] = slides ? 2.0 : 0.1;
      g[n - 2] = slides ? 0.3 : 0.0;
      d.g = both * g;
      const ContactSolution s = solved(d, "ncp-newton", 1e-12);
      BOOST_REQUIRE(s.residuals.relative <= 1e-10);
      const Uniqueness u = uniqueness(d.problem(), s.impulse);
      BOOST_TEST_CONTEXT("dim " << n << ", slides " << slides) {
        BOOST_TEST(u.null_dimension == (slides ? 1 : n));
        BOOST_TEST(u.velocity_dimension == 0);
        BOOST_TEST((u.modes[0] == (slides ? ContactMode::kSlide : ContactMode::kStick)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(multipliers_take_cones_of_any_dimension) {
  Rng rng(7);
  int solved = 0;
  for (int trial = 0; trial < 12; ++trial) {
    const ContactProblem given = problem_of_bodies(rng, 3, 10);
    CircularForm form;
    const ContactProblem& p = form.take(given);
    const Island island(p, 0, p.num_sets());
    MultiplierWork work;
    WorkAccount account;
    BOOST_REQUIRE(work.trees.prepare(island, p.space, 1000));
    // the trees are those of the circular problem
    const VectorXd x = random_vector(rng, p.num_rows());
    VectorXd y = VectorXd::Zero(work.trees.num_coordinates()), c(p.num_rows());
    work.trees.gather(x.data(), y.data());
    for (Eigen::Index k = 0; k < y.size(); ++k) y[k] /= work.trees.inertia()[k];
    work.trees.spread(y.data(), c.data());
    BOOST_TEST((c - p.dense() * x).norm() <= 1e-10 * c.norm());

    std::vector<double> l(p.num_rows()), v(p.num_rows());
    velocities(island, l.data(), v.data());
    const Residuals before = residuals_at(p, l.data(), v.data(), 0, p.num_sets());
    MultiplierSettings settings;
    settings.max_factorisations = 2000;
    const Residuals after =
        method_of_multipliers(island, settings, before, l.data(), v.data(), work, account);
    BOOST_TEST(after.relative <= before.relative);
    solved += after.relative <= settings.tolerance;
  }
  BOOST_TEST_MESSAGE("multipliers: " << solved << " of 12");
  BOOST_TEST(solved >= 9);
}

BOOST_AUTO_TEST_SUITE_END()
