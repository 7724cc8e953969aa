#include "solver/first_order/admm.hpp"

#include "stiction/math/constants.hpp"

#include "solver/common/island.hpp"
#include "solver/common/projection.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

ContactSolution solved(const ContactProblem& problem, const SolverSettings& s, double penalty) {
  SolverWorkspace work;
  ContactSolution out;
  out.penalty = penalty;
  solve(problem, s, work, out);
  return out;
}

SolverSettings settings(double tolerance) {
  SolverSettings s;
  s.name = "ncp-admm";
  s.tolerance = tolerance;
  s.max_iterations = 20000;
  return s;
}

/// A cone, with or without De Saxce's term.
template <bool kShifts>
struct OneCone {
  const Cone& cone;
  void project(double* y) const { stiction::project(cone, y); }
  void subtract_shift(const double* z, double* rhs) const {
    if (kShifts) rhs[2] -= shift(cone, z);
  }
};

/// A step from a solution of the model with velocity c: by how much it moves, in gaps.
template <bool kShifts>
void test_fixed_point(const ContactProblem& p, const ContactSolution& x) {
  const Island island(p, 0, 1);
  const OneCone<kShifts> model{p.sets[0].friction};
  AdmmWork w;
  w.reserve(3);
  copy_dense(island, padded(3), w.G, w.g);
  std::copy(x.velocity.begin(), x.velocity.end(), w.z.data());
  if (kShifts) w.z[2] += shift(model.cone, w.z);
  for (int r = 0; r < 3; ++r) {
    w.split[r] = 1.0;
    w.x[r] = w.y[r] = x.impulse[r];
  }
  int factorisations = 0;
  const ShiftedDelassus delassus(w, 3, 1e-3, factorisations);
  Admm<OneCone<kShifts>> admm(
      model, delassus, {1e-3, delassus.largest_eigenvalue(), {0.2, 0.05, 1e-6, 1e6}}, 1.5, w);
  typename Admm<OneCone<kShifts>>::Gaps gaps;
  BOOST_REQUIRE(admm.step(gaps));
  BOOST_TEST(gaps.primal <= 1e-8);
  BOOST_TEST(gaps.dual <= 1e-8);
  for (int r = 0; r < 3; ++r) BOOST_TEST(std::abs(w.y[r] - x.impulse[r]) <= 1e-8);
  BOOST_TEST(factorisations == 1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(admm_test)

// The models differ by Gamma alone: what solves one moves by the other where the contact slides.
BOOST_AUTO_TEST_CASE(solutions_of_a_model_are_its_fixed_points) {
  Rng rng(6);
  int sliding = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Data d;
    d.sets = {ConstraintSet::cone(0.5)};
    d.G = gram(random_matrix(rng, 3, 3)) + 0.1 * MatrixXd::Identity(3, 3);
    d.g = random_vector(rng, 3);
    d.R = VectorXd::Zero(3);
    const ContactProblem p = d.problem();
    SolverSettings s = settings(1e-12);
    s.name = "ncp-newton";
    const ContactSolution ncp = solved(p, s, 0.0);
    s.name = "ccp-pgs";
    const ContactSolution ccp = solved(p, s, 0.0);
    if (!ncp.converged() || !ccp.converged()) continue;
    test_fixed_point<true>(p, ncp);
    test_fixed_point<false>(p, ccp);
    sliding += std::abs(ncp.impulse[2] - ccp.impulse[2]) > 1e-3;
  }
  BOOST_TEST(sliding > 20);
}

// The second of two islands, so that rows are offset: the eigenvalue and the solutions for several
// penalties are Eigen's; bilateral rows get eta only; an unchanged penalty is not factorised again.
BOOST_AUTO_TEST_CASE(matrix_of_the_linear_step) {
  Rng rng(1);
  for (int trial = 0; trial < 100; ++trial) {
    const Data a = random_problem(rng, 1.0, false), b = random_problem(rng, 0.8, true);
    const int n = count_rows(a.sets), m = count_rows(b.sets);
    Data both{MatrixXd::Zero(n + m, n + m), VectorXd::Zero(n + m), VectorXd::Zero(n + m), a.sets};
    both.sets.insert(both.sets.end(), b.sets.begin(), b.sets.end());
    both.G.topLeftCorner(n, n) = a.G;
    both.G.bottomRightCorner(m, m) = b.G;
    both.R.tail(m) = b.R;
    const ContactProblem p = both.problem();
    const Island island(p, static_cast<int>(a.sets.size()), p.num_sets());
    const MatrixXd G = p.dense().bottomRightCorner(m, m);
    const double eta = 1e-3;
    AdmmWork work;
    int factorisations = 0;
    work.reserve(m);
    copy_dense(island, padded(m), work.G, work.g);
    for (int i = island.first; i < island.last; ++i)
      std::fill_n(
          work.split + (p.sets[i].offset - n), p.sets[i].dim, p.sets[i].kind != SetKind::kFree);
    ShiftedDelassus delassus(work, m, eta, factorisations);
    VectorXd x(m);
    const double L = delassus.largest_eigenvalue();
    const double exact = largest_eigenvalue(G);
    BOOST_TEST((L >= 0.5 * exact && L <= exact * (1.0 + 1e-12)));
    for (const double rho : {2.0, 2.0, 0.01, 50.0}) {
      BOOST_REQUIRE(delassus.set_penalty(rho));
      MatrixXd H = G + eta * MatrixXd::Identity(m, m);
      for (const ConstraintSet& s : p.sets) {
        for (int r = s.offset; r < s.offset + s.dim; ++r)
          if (r >= n && s.kind != SetKind::kFree) H(r - n, r - n) += rho;
      }
      const VectorXd rhs = random_vector(rng, m), expected = solve_semidefinite(H, rhs);
      x = rhs;
      delassus.solve(x.data());
      BOOST_TEST((x - expected).norm() <= 1e-10 * expected.norm() * H.norm() / eta * 1e-3);
    }
    BOOST_TEST(factorisations == 3);
  }
}

BOOST_AUTO_TEST_CASE(penalty_is_kept_longer_after_every_change) {
  const SpectralPenalty::Rule rule{0.4, 0.1, 1e-9, 1e9, 4, 3, 1.5};
  SpectralPenalty penalty(0.5, 1.0, rule);
  BOOST_TEST(std::abs(penalty.rho() - std::sqrt(0.5) * std::pow(2.0, 0.4)) < 1e-15);
  const double start = penalty.rho();
  for (const int hold : {4, 7, 10}) {
    for (int k = 1; k < hold; ++k) BOOST_TEST(!penalty.update(100.0, 1.0));
    BOOST_TEST(penalty.update(100.0, 1.0));
  }
  BOOST_TEST(std::abs(penalty.rho() / start - 1.5 * 1.5 * 1.5) < 1e-14);  // not 2^0.1 each
}

BOOST_AUTO_TEST_CASE(penalty_follows_the_residuals_and_comes_to_rest) {
  const SpectralPenalty::Rule rule{0.2, 0.05, 1e-6, 1.0, 0, 1};
  SpectralPenalty penalty(1e-6, 1.0, rule);
  BOOST_TEST(std::abs(penalty.rho() - 1e-3 * std::pow(1e6, 0.2)) < 1e-15);
  const double factor = std::pow(1e6, 0.05), start = penalty.rho();
  BOOST_TEST(!penalty.update(9.0, 1.0));
  BOOST_TEST(penalty.update(11.0, 1.0));
  BOOST_TEST(std::abs(penalty.rho() - start * factor) < 1e-12);
  BOOST_TEST(penalty.update(1.0, 11.0));
  BOOST_TEST(std::abs(penalty.rho() - start) < 1e-12);
  int changes = 0;
  for (int k = 0; k < 5000; ++k)
    changes += penalty.update(k % 3 ? 100.0 : 1.0, k % 3 ? 1.0 : 100.0);
  BOOST_TEST((changes > 5 && changes < 110));
  for (int k = 0; k < 50000; ++k) penalty.update(1.0, 0.0);
  BOOST_TEST(penalty.rho() == 1.0);  // not beyond L
  BOOST_TEST(SpectralPenalty(1e-6, 1.0, rule, 0.3).rho() == 0.3);
  BOOST_TEST(SpectralPenalty(1e-6, 1.0, rule, 1e9).rho() == 1.0);
}

// What the reference announced and never did: the penalty of a solution starts the next solve. It
// is in the bounds of the problem, has no unit, and a wrong one costs iterations, not the result.
BOOST_AUTO_TEST_CASE(penalty_is_warm_started) {
  Rng rng(2);
  int cold = 0, warm = 0, cold_factorisations = 0, warm_factorisations = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Data d = random_problem(rng, 1.0, trial % 2 == 0);
    const ContactProblem p = d.problem();
    const ContactSolution a = solved(p, settings(1e-9), 0.0),
                          b = solved(p, settings(1e-9), a.penalty);
    BOOST_REQUIRE((a.converged() && b.converged()));
    BOOST_TEST((a.penalty > 0.0 || a.iterations == 0));
    cold += a.iterations;
    warm += b.iterations;
    cold_factorisations += a.factorisations;
    warm_factorisations += b.factorisations;
    Data e = d;
    e.G *= 0x1p-20;
    e.R *= 0x1p-20;
    for (ConstraintSet& s : e.sets) {
      s.lower *= 0x1p20;
      s.upper *= 0x1p20;
    }
    const ContactSolution heavy = solved(e.problem(), settings(1e-9), 0.0);
    BOOST_TEST(std::abs(heavy.penalty - a.penalty) <= 1e-9 * a.penalty);
    for (const double wrong : {1e-12, 1e12})
      BOOST_TEST(solved(p, settings(1e-9), wrong).converged());
  }
  BOOST_TEST(warm < cold);
  BOOST_TEST(warm_factorisations < 0.6 * cold_factorisations);
}

// Over-relaxation reaches the same residual, with fewer iterations in the mean.
BOOST_AUTO_TEST_CASE(over_relaxation_keeps_the_solution) {
  Rng rng(3);
  long plain = 0, relaxed = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const ContactProblem p = easy_data(rng).problem();
    SolverSettings s = settings(1e-11);
    const ContactSolution a = solved(p, s, 0.0);
    s.over_relaxation = 1.5;
    const ContactSolution b = solved(p, s, 0.0);
    s.over_relaxation = 0.7;
    const ContactSolution c = solved(p, s, 0.0);
    BOOST_REQUIRE((a.converged() && b.converged() && c.converged()));
    for (int r = 0; r < p.num_rows(); ++r) {
      BOOST_TEST(std::abs(a.velocity[r] - b.velocity[r]) < 1e-5);
      BOOST_TEST(std::abs(a.velocity[r] - c.velocity[r]) < 1e-5);
    }
    plain += a.iterations;
    relaxed += b.iterations;
  }
  BOOST_TEST(relaxed < plain);
}

BOOST_AUTO_TEST_SUITE_END()
