#include "solver/common/safe_answer.hpp"

#include "stiction/contact/residuals.hpp"

#include "solver/ncp_newton/ncp_newton.hpp"
#include "support/dense.hpp"
#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// What a step takes where there is no solution, judged from first principles with dense matrices:
// v+ = v_f + M^-1 J^T lambda, mass ratios to 1e12, friction to 10, hyperstatic, infeasible.

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using stiction::test::Rng;

namespace {

struct Wild {
  VectorXd mass, free;  // [dofs]
  MatrixXd J;
  VectorXd reference;
  std::vector<ConstraintSet> sets;
  ContactProblem problem() const {
    const MatrixXd G = J * mass.cwiseInverse().asDiagonal() * J.transpose();
    return ContactProblem::from_dense(0.5 * (G + G.transpose()), J * free - reference, sets);
  }
  double kinetic(const VectorXd& v) const { return 0.5 * v.dot(mass.asDiagonal() * v); }
  VectorXd after(const std::vector<double>& impulse) const {
    const VectorXd l = Eigen::Map<const VectorXd>(impulse.data(), impulse.size());
    return free + mass.cwiseInverse().asDiagonal() * (J.transpose() * l);
  }
};

Wild wild(Rng& rng, double decades, bool couples) {
  Wild w;
  int rows = 0;
  const int count = 1 + rng.below(12);
  for (int i = 0; i < count; ++i) {
    const int kind = rng.below(couples ? 8 : 6);
    const double bound = rng.uniform(0.0, 1.0);
    const double mu = rng.below(4) ? rng.uniform(0.0, 10.0) : 0.0;
    const double spin = rng.uniform(0.001, 0.1), roll = rng.uniform(0.001, 0.1);
    w.sets.push_back(kind == 0   ? ConstraintSet::non_negative()
                     : kind == 1 ? ConstraintSet::box(-bound, bound)
                     : kind == 2 ? ConstraintSet::free(1 + rng.below(3))
                     : kind == 6 ? ConstraintSet::cone(Cone{4, {mu, mu, spin}})
                     : kind == 7 ? ConstraintSet::cone(Cone{6, {mu, mu, spin, roll, roll}})
                                 : ConstraintSet::cone(mu));
    rows += w.sets.back().dim;
  }
  const int dofs = 1 + rng.below(rows);
  const auto noise = [&] { return rng.uniform(-1.0, 1.0); };
  w.mass = VectorXd::NullaryExpr(dofs, [&] { return std::pow(10.0, decades * noise()); });
  w.free = VectorXd::NullaryExpr(dofs, noise);
  w.J = MatrixXd::NullaryExpr(rows, dofs, noise);
  // A row and its opposite, both asked to open: no velocity is admissible.
  if (rng.below(2) && rows > 3) w.J.row(rows - 1) = -w.J.row(rng.below(rows - 1));
  w.reference = VectorXd::Zero(rows);
  int o = 0;
  for (const ConstraintSet& s : w.sets) {
    if (s.kind != SetKind::kBox) w.reference[o + s.dim - 1] = rng.below(3) ? 0.5 * noise() : 0.0;
    o += s.dim;
  }
  return w;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(safe_answer_test)

// Whatever impulses a solver leaves, those that the step takes gain no more energy than corrections
// of position errors at their own speeds; where masses span four decades, few sets sink in
// faster than 5 % of the velocities there.
BOOST_AUTO_TEST_CASE(no_energy_is_gained) {
  Rng rng(1);
  int replaced = 0, kept = 0, kinds[4] = {}, sinks[2] = {}, judged[2] = {};
  for (int trial = 0; trial < 3000; ++trial) {
    const double decades = trial % 4 ? 2.0 : 6.0;
    const bool couples = trial % 3 == 2;
    const Wild w = wild(rng, decades, couples);
    const ContactProblem p = w.problem();
    ContactSolution s;
    SolverSettings settings;
    settings.max_factorisations = trial % 3 ? 0 : 1;
    settings.regularise_infeasible = trial % 2 == 0;
    SolverWorkspace work;
    solve(p, settings, work, s);
    BOOST_TEST(s.factorisations <= most_factorisations(p, settings));
    if (s.status <= SolveStatus::kRoundingLimited) continue;
    if (trial % 5 == 0)  // garbage
      for (double& l : s.impulse) l = 100.0 * rng.uniform(-1.0, 1.0);
    residuals(p, s.impulse.data(), s.velocity.data());
    std::vector<double> references(w.reference.begin(), w.reference.end());
    const int earlier = 1000;  // of solutions before the last, which an impact may take
    const int solved = s.factorisations += earlier;
    const SafeAnswer answer = make_safe(p, {references, references}, settings, work, s);
    const bool safe = answer.islands > 0;
    BOOST_TEST(s.factorisations >= solved);
    BOOST_TEST(s.factorisations <= solved + most_safe_factorisations(p));
    ++(safe ? replaced : kept);
    const VectorXd v = w.after(s.impulse), c = w.J * v;
    double allowed = 0.0;
    const MatrixXd G = p.dense();
    for (int k = 0; k < c.size(); ++k)
      allowed += 0.5 * w.reference[k] * w.reference[k] / std::max(G(k, k), 1e-300);
    if (safe) allowed = 0.0;
    const double before = w.kinetic(w.free), after = w.kinetic(v);
    BOOST_TEST_CONTEXT("trial " << trial << ", safe " << safe) {
      BOOST_TEST(after <= before + allowed + 1e-6 * (before + after));
      int o = 0;
      for (const ConstraintSet& set : p.sets) {
        const double primal = set_residual(set, &s.impulse[o], &s.velocity[o]).primal;
        double size = 0.0;
        for (int r = 0; r < set.dim; ++r) size = std::max(size, std::abs(s.impulse[o + r]));
        BOOST_TEST(primal <= 1e-5 * size + 1e-12);
        ++kinds[static_cast<int>(set.kind)];
        const bool one_sided = set.kind == SetKind::kCone || set.kind == SetKind::kNonNegative;
        const int n = o + set.dim - 1;
        const double speed = w.free.lpNorm<Eigen::Infinity>() + 1.0;
        const bool sink = c[n] < std::min(w.reference[n], 0.0) - 0.05 * speed;
        if (decades < 3.0 && one_sided) {
          sinks[couples] += sink;
          ++judged[couples];
        }
        o += set.dim;
      }
    }
  }
  BOOST_TEST_MESSAGE(replaced << " replaced, " << kept << " kept, " << sinks[0] << " of "
                              << judged[0] << " sets sink, " << sinks[1] << " of " << judged[1]
                              << " with couples");
  BOOST_TEST(replaced > 100);
  BOOST_TEST(kept > 50);
  for (const int k : kinds) BOOST_TEST(k > 50);
  BOOST_TEST(sinks[0] < 0.06 * judged[0]);
  BOOST_TEST(sinks[1] < 0.06 * judged[1]);
}

/// f of the relaxed problem: less than zero wherever something approaches.
double relaxed_objective(const Wild& w, const std::vector<double>& impulse, double& approach) {
  const ContactProblem p = w.problem();
  const VectorXd l = Eigen::Map<const VectorXd>(impulse.data(), impulse.size());
  VectorXd g = Eigen::Map<const VectorXd>(p.g.data(), p.g.size());
  approach = 0.0;
  int k = 0;
  for (const ConstraintSet& set : p.sets) {
    for (int r = 0; r < set.dim; ++r, ++k) {
      const bool free = set.kind == SetKind::kFree;
      if (set.is_normal(r)) g[k] += std::max(w.reference[k], 0.0);
      if (free) g[k] += w.reference[k];
      if (set.is_normal(r)) approach = std::max(approach, -g[k]);
      if (free) approach = std::max(approach, std::abs(g[k]));
    }
  }
  return l.dot(g + 0.5 * p.dense() * l);
}

// No impulse at all is no answer: whatever approaches is met, at any mass ratio.
BOOST_AUTO_TEST_CASE(what_approaches_is_met) {
  Rng rng(7);
  int met = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const Wild w = wild(rng, trial % 2 ? 6.0 : 2.0, trial % 3 == 2);
    const ContactProblem p = w.problem();
    ContactSolution s;
    s.velocity.resize(p.g.size());
    for (std::size_t k = 0; k < p.g.size(); ++k) s.impulse.push_back(1e9 * rng.uniform(-1.0, 1.0));
    residuals(p, s.impulse.data(), s.velocity.data());
    const std::vector<double> references(w.reference.begin(), w.reference.end());
    SolverWorkspace work;
    const SafeAnswer answer = make_safe(p, {references, references}, SolverSettings{}, work, s);
    if (answer.islands < p.num_islands()) continue;
    double approach = 0.0;
    const double f = relaxed_objective(w, s.impulse, approach);
    if (approach < 1e-6) continue;
    ++met;
    BOOST_TEST_CONTEXT("trial " << trial << ", approach " << approach) {
      BOOST_TEST(f < 0.0);
      BOOST_TEST(answer.growth >= 0.0);
      BOOST_TEST(answer.growth < 1e3 * approach);
    }
  }
  BOOST_TEST(met > 500);
}

BOOST_AUTO_TEST_SUITE_END()
