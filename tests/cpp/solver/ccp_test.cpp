#include "support/ccp.hpp"

#include "stiction/solver/solver.hpp"

#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>

// What holds for all solvers of the cone complementarity problem. What ccp-newton adds to diag(G)
// belongs to the problem it is judged by.

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

Vector3d nearest_in_cone(double mu, const Vector3d& x) {
  const double t = x.head<2>().norm();
  if (t <= mu * x[2]) return x;
  const double along = (mu * t + x[2]) / (1.0 + mu * mu);
  if (along <= 0.0) return Vector3d::Zero();
  Vector3d out(0.0, 0.0, along);
  if (mu > 0.0) out.head<2>() = mu * along / t * x.head<2>();
  return out;
}

/// What a row of one dimension misses its law by, c = 0 or no room in the set [m/s].
double missed_velocity(double G, double room, double c) {
  return std::min(std::abs(c), G * std::max(0.0, room));
}

/// The relative residual of the CCP from its definition, dist(c, K*) by Moreau's decomposition.
double ccp_residual(const Data& d, const ContactSolution& x) {
  const VectorXd l = map(x.impulse);
  MatrixXd G = d.G;
  if (d.R.size()) G.diagonal() += d.R;
  VectorXd c = G * l + d.g;
  if (!x.regularisation.empty()) c += map(x.regularisation).cwiseProduct(l);
  double primal = 0.0, dual = 0.0, work = 0.0, e[3];
  int o = 0;
  for (const ConstraintSet& s : d.sets) {
    if (s.kind == SetKind::kCone) {
      const Vector3d li = l.segment<3>(o), ci = c.segment<3>(o);
      e[0] = (li - nearest_in_cone(s.friction.mu[0], li)).norm();
      e[1] = nearest_in_cone(s.friction.mu[0], -ci).norm();
      e[2] = std::abs(li.dot(ci));
    } else {
      const SetResidual x = set_residual(s, &l[o], &c[o]);
      const bool box = s.kind == SetKind::kBox;
      e[0] = x.primal;
      e[1] = x.dual;
      e[2] = 0.0;
      if (c[o] > 0.0 && (box || s.kind == SetKind::kNonNegative))
        e[1] = std::max(e[1], missed_velocity(G(o, o), l[o] - (box ? s.lower : 0.0), c[o]));
      if (c[o] < 0.0 && box) e[1] = std::max(e[1], missed_velocity(G(o, o), s.upper - l[o], c[o]));
    }
    primal = std::max(primal, e[0]);
    dual = std::max(dual, e[1]);
    work = std::max(work, e[2]);
    o += s.dim;
  }
  const double V = velocity_scale(d, l);
  const double L = std::max(l.lpNorm<Eigen::Infinity>(), V / G.diagonal().maxCoeff());
  return std::max({primal / L, dual / V, work / (L * V)});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ccp_test)

// "converged" means that the residual computed from the definition is below the tolerance, the
// reported one is that residual, and nearly all random problems converge.
BOOST_AUTO_TEST_CASE(converged_means_solved) {
  for (const std::string& name : kCcpNames) {
    Rng rng(11);
    int converged = 0, kinds[5] = {};
    const int total = 500;
    for (int trial = 0; trial < total; ++trial) {
      const Data d = random_problem(rng, rng.uniform(0.3, 1.2), rng.below(3) == 0);
      const ContactSolution x = solved(d.problem(), settings(name, 1e-8, 5000));
      for (const ConstraintSet& set : d.sets)
        ++kinds[set.kind == SetKind::kCone && set.friction.mu[0] == 0.0
                    ? 4
                    : static_cast<int>(set.kind)];
      const double relative = ccp_residual(d, x);
      BOOST_TEST_CONTEXT(name << ", trial " << trial) {
        BOOST_TEST(std::abs(relative - x.model_residuals.relative) <= 1e-9 + 1e-6 * relative);
        BOOST_TEST(x.converged() == (x.model_residuals.relative <= 1e-8));
        if (x.converged()) BOOST_TEST(relative <= 1e-8 + 1e-12);
      }
      converged += x.converged();
    }
    BOOST_TEST_MESSAGE(name << ": " << converged << " of " << total << " converged");
    BOOST_TEST(converged >= (name == "ccp-newton" ? total : 0.98 * total));
    for (const int k : kinds) BOOST_TEST(k > 100);
  }
}

// Different algorithms find the same velocity: it is unique, also where the impulse is not. For
// ccp-newton the others get what it adds to diag(G) as compliance.
BOOST_AUTO_TEST_CASE(solvers_agree) {
  Rng rng(12);
  int compared = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Data d = random_problem(rng, rng.uniform(0.4, 1.2), trial % 2 == 0);
    const ContactSolution a = solved(d.problem(), settings("ccp-admm", 1e-11)),
                          b = solved(d.problem(), settings("ccp-pgs", 1e-11)),
                          n = solved(d.problem(), settings("ccp-newton", 1e-11));
    const VectorXd added = map(n.regularisation);
    d.R = d.R.size() ? VectorXd(d.R + added) : added;
    const ContactSolution m = solved(d.problem(), settings("ccp-admm", 1e-11));
    const double V = d.g.cwiseAbs().maxCoeff();
    BOOST_TEST_CONTEXT("trial " << trial) {
      if (a.converged() && b.converged()) {
        ++compared;
        BOOST_TEST((map(a.velocity) - map(b.velocity)).cwiseAbs().maxCoeff() <= 1e-5 * V);
      }
      if (n.converged() && m.converged()) {
        ++compared;
        const VectorXd c = map(n.velocity) + added.cwiseProduct(map(n.impulse));
        BOOST_TEST((c - map(m.velocity)).cwiseAbs().maxCoeff() <= 1e-5 * V);
      }
    }
  }
  BOOST_TEST(compared >= 360);
}

// A warm start may be anything finite, also far outside the sets.
BOOST_AUTO_TEST_CASE(wild_warm_starts_converge) {
  for (const std::string& name : kCcpNames) {
    Rng rng(14);
    for (int trial = 0; trial < 100; ++trial) {
      const Data d = easy_data(rng);
      const ContactProblem p = d.problem();
      const ContactSolution cold = solved(p, settings(name, 1e-9));
      ContactSolution x;
      for (int r = 0; r < p.num_rows(); ++r) x.impulse.push_back(rng.uniform(-1e3, 1e3));
      SolverWorkspace work;
      solve(p, settings(name, 1e-9), work, x);
      BOOST_TEST_CONTEXT(name << ", trial " << trial) {
        BOOST_REQUIRE(cold.converged());
        BOOST_REQUIRE(x.converged());
        BOOST_TEST((map(x.velocity) - map(cold.velocity)).cwiseAbs().maxCoeff() < 1e-6);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
