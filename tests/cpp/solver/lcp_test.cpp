#include "stiction/math/constants.hpp"
#include "stiction/solver/solver.hpp"

#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <numeric>

// What all solvers on a pyramid, and staggered projections on the cone, have in common.

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const char* const kNames[] = {"lcp-lemke", "lcp-pgs", "lcp-qp", "lcp-staggered", "ncp-staggered"};

SolverSettings settings(const std::string& name,
                        double tolerance,
                        int max_iterations = 3000,
                        int facets = 4) {
  SolverSettings s;
  s.name = name;
  s.tolerance = tolerance;
  s.max_iterations = max_iterations;
  s.facets = facets;
  return s;
}

ContactSolution solved(const ContactProblem& problem,
                       const SolverSettings& settings,
                       const std::vector<double>& start = {}) {
  SolverWorkspace work;
  ContactSolution out;
  out.impulse = start;
  solve(problem, settings, work, out);
  return out;
}

VectorXd vector(const std::vector<double>& x) {
  return Eigen::Map<const VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

/// max |l - P(l - c / r)| over all rows, P the projection on the sets with the normal impulse held
/// fixed (friction: nearest point of the polygon by search along its edges, or of the disk), r the
/// block's mean diagonal; relative to max(|l|, |g| / r). Zero exactly at the solutions.
Eigen::Vector2d nearest_on_polygon(const Eigen::Vector2d& t, double radius, int facets) {
  const double half = std::acos(-1.0) / facets;
  bool inside = true;
  Eigen::Vector2d best(0, 0);
  double distance = 1e300;
  for (int k = 0; k < facets; ++k) {
    const double a = 2 * half * k;
    inside = inside && std::cos(a) * t[0] + std::sin(a) * t[1] <= radius;
    const Eigen::Vector2d p = radius / std::cos(half) *
                              Eigen::Vector2d(std::cos(a - half), std::sin(a - half)),
                          q = radius / std::cos(half) *
                              Eigen::Vector2d(std::cos(a + half), std::sin(a + half));
    const double l2 = (q - p).squaredNorm();
    const double u = l2 > 0.0 ? std::clamp((t - p).dot(q - p) / l2, 0.0, 1.0) : 0.0;
    const Eigen::Vector2d x = p + u * (q - p);
    if ((x - t).norm() < distance) distance = (x - t).norm(), best = x;
  }
  return inside ? t : best;
}

Eigen::Vector2d nearest(ContactModel model, const Eigen::Vector2d& t, double radius, int facets) {
  if (model == ContactModel::kLcp) return nearest_on_polygon(t, radius, facets);
  return t.norm() <= radius ? t : Eigen::Vector2d(t * (radius / t.norm()));
}

double natural_residual(const Data& d, const ContactSolution& x, int facets) {
  const VectorXd l = vector(x.impulse);
  MatrixXd G = d.G;
  if (d.R.size() > 0) G.diagonal() += d.R;
  const VectorXd c = G * l + d.g;
  double worst = 0.0;
  int o = 0;
  for (const ConstraintSet& s : d.sets) {
    for (int r = o; r < o + s.dim; ++r) {
      const double step = 1.0 / std::max(1e-9, G.diagonal().segment(o, s.dim).mean());
      const double y = l[r] - step * c[r];
      if (s.kind == SetKind::kFree) worst = std::max(worst, step * std::abs(c[r]));
      if (s.kind == SetKind::kBox)
        worst = std::max(worst, std::abs(l[r] - std::clamp(y, s.lower, s.upper)));
      if (s.kind == SetKind::kNonNegative || (s.kind == SetKind::kCone && r == o + 2))
        worst = std::max(worst, std::abs(l[r] - std::max(0.0, y)));
      if (s.kind == SetKind::kCone && r == o) {
        const Eigen::Vector2d t = l.segment<2>(o) - step * c.segment<2>(o);
        const Eigen::Vector2d p =
            nearest(x.model, t, s.friction.mu[0] * std::max(0.0, l[o + 2]), facets);
        worst = std::max(worst, (p - l.segment<2>(o)).lpNorm<Eigen::Infinity>());
      }
    }
    o += s.dim;
  }
  const double scale = l.size() ? l.lpNorm<Eigen::Infinity>() : 0.0;
  return worst / std::max(scale, d.g.lpNorm<Eigen::Infinity>() / G.diagonal().maxCoeff());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lcp_test)

// "Converged" means solved, by a residual of another form from the dense matrix; other statuses
// mean that the model's residual is above the tolerance. Singular G, compliance, all kinds of sets.
BOOST_AUTO_TEST_CASE(converged_means_solved) {
  const int facets[] = {4, 8, 16};
  for (const char* name : kNames) {
    Rng rng(1);
    int total = 0, converged = 0;
    for (int trial = 0; trial < 300; ++trial) {
      const double rank = rng.uniform(0.3, 1.2);
      const Data d = random_problem(rng, rank, rng.below(3) == 0, 1.0);
      const SolverSettings s = settings(name, 1e-8, 2000, facets[trial % 3]);
      const ContactSolution x = solved(d.problem(), s);
      ++total;
      converged += x.converged();
      BOOST_TEST_CONTEXT(name << ", trial " << trial) {
        BOOST_TEST(vector(x.impulse).allFinite());
        BOOST_TEST(x.iterations <= s.max_iterations);
        BOOST_TEST(x.converged() == (x.model_residuals.relative <= s.tolerance));
        if (x.converged())
          BOOST_TEST(natural_residual(d, x, s.facets) <= 3e-4);  // root of the tolerance
      }
    }
    BOOST_TEST_MESSAGE(name << ": " << converged << " of " << total << " converged");
    BOOST_TEST(converged >= 0.97 * total);
  }
}

// Where G is well conditioned and friction low, the solution is unique: all solvers of the LCP find
// it, for every number of facets.
BOOST_AUTO_TEST_CASE(solvers_agree) {
  Rng rng(2);
  const int facets[] = {4, 8, 16};
  for (int trial = 0; trial < 60; ++trial) {
    const Data d = easy_data(rng);
    VectorXd reference;
    for (const char* name : kNames) {
      const ContactSolution a =
          solved(d.problem(), settings(name, 1e-10, 20000, facets[trial % 3]));
      if (a.model != ContactModel::kLcp) continue;
      BOOST_TEST_CONTEXT(name << ", trial " << trial) {
        BOOST_REQUIRE(a.converged());
        const VectorXd c = vector(a.velocity);
        if (reference.size() == 0) reference = c;
        BOOST_TEST((c - reference).lpNorm<Eigen::Infinity>() < 1e-7);
      }
    }
  }
}

// Staggered projections on the cone find what ncp-pgs finds.
BOOST_AUTO_TEST_CASE(staggered_agrees_with_pgs_on_the_cone) {
  Rng rng(3);
  for (int trial = 0; trial < 60; ++trial) {
    const ContactProblem p = easy_data(rng).problem();
    const ContactSolution a = solved(p, settings("ncp-staggered", 1e-11)),
                          b = solved(p, settings("ncp-pgs", 1e-11));
    BOOST_REQUIRE(a.converged());
    BOOST_REQUIRE(b.converged());
    BOOST_TEST((vector(a.velocity) - vector(b.velocity)).lpNorm<Eigen::Infinity>() < 1e-8);
  }
}

// From its own solution a solver takes no iteration; from impulses outside the sets it converges.
BOOST_AUTO_TEST_CASE(warm_starts) {
  for (const char* name : kNames) {
    Rng rng(4);
    int tried = 0;
    for (int trial = 0; trial < 100; ++trial) {
      const Data d = random_problem(rng, rng.uniform(0.5, 1.2), trial % 3 == 0, 0.8);
      const ContactProblem p = d.problem();
      const ContactSolution cold = solved(p, settings(name, 1e-9));
      if (!cold.converged()) continue;
      ++tried;
      const ContactSolution again = solved(p, settings(name, 1e-8), cold.impulse);
      BOOST_TEST((again.converged() && again.iterations == 0 && again.impulse == cold.impulse));
      std::vector<double> near = cold.impulse, far = cold.impulse;
      for (double& l : near) l *= 1.0 + 1e-7;
      for (double& l : far) l = 3.0 * rng.uniform(-1.0, 1.0);
      const ContactSolution x = solved(p, settings(name, 1e-8), near),
                            y = solved(p, settings(name, 1e-8), far);
      BOOST_TEST_CONTEXT(name << ", trial " << trial) {
        BOOST_TEST((x.converged() && x.iterations <= std::max(10, cold.iterations)));
        BOOST_TEST(vector(y.impulse).allFinite());
      }
    }
    BOOST_TEST(tried > 80);
  }
}

// mu = 0 is frictionless contact: the same as its normal rows alone.
BOOST_AUTO_TEST_CASE(no_friction) {
  for (const char* name : kNames) {
    Rng rng(7);
    for (int trial = 0; trial < 40; ++trial) {
      Data d = easy_data(rng), normals;
      const int contacts = 1 + rng.below(5), rows = 3 * contacts;
      d.sets.assign(contacts, ConstraintSet::cone(0.0));
      const MatrixXd A = random_matrix(rng, rows, rows);
      d.G = gram(A) + 0.1 * MatrixXd::Identity(rows, rows);
      d.g = random_vector(rng, rows);
      normals.sets.assign(contacts, ConstraintSet::non_negative());
      std::vector<int> n;
      for (int i = 0; i < contacts; ++i) n.push_back(3 * i + 2);
      normals.G = d.G(n, n);
      normals.g = d.g(n);
      const ContactSolution a = solved(d.problem(), settings(name, 1e-10)),
                            b = solved(normals.problem(), settings(name, 1e-10));
      BOOST_TEST_CONTEXT(name << ", trial " << trial) {
        BOOST_REQUIRE(a.converged());
        BOOST_REQUIRE(b.converged());
        for (int i = 0; i < contacts; ++i) {
          BOOST_TEST((a.impulse[3 * i] == 0.0 && a.impulse[3 * i + 1] == 0.0));
          BOOST_TEST(std::abs(a.impulse[3 * i + 2] - b.impulse[i]) < 1e-6);
        }
      }
    }
  }
}

// Physical compliance acts on normal and tangential rows: one contact at rest on springs.
BOOST_AUTO_TEST_CASE(compliance_is_honoured) {
  Data d;
  d.sets = {ConstraintSet::cone(1.0)};
  d.G = MatrixXd::Identity(3, 3);
  d.g = Eigen::Vector3d(-0.2, 0.1, -1.0);
  d.R = Eigen::Vector3d(1.0, 3.0, 0.5);
  for (const char* name : kNames) {
    const ContactSolution x = solved(d.problem(), settings(name, 1e-12));
    BOOST_REQUIRE(x.converged());
    BOOST_TEST(std::abs(x.impulse[0] - 0.1) < 1e-10);
    BOOST_TEST(std::abs(x.impulse[1] + 0.025) < 1e-10);
    BOOST_TEST(std::abs(x.impulse[2] - 1.0 / 1.5) < 1e-10);
  }
}

// Rows that nothing can move, an empty problem, g = 0, a box away from zero and half a box: no NaN,
// and solved.
BOOST_AUTO_TEST_CASE(degenerate_problems) {
  Rng rng(8);
  for (const char* name : kNames) {
    const ContactSolution none =
        solved(ContactProblem::from_dense({}, {}, {}), settings(name, 1e-8));
    BOOST_TEST((none.converged() && none.iterations == 0));
    std::vector<Data> cases(5);
    for (Data& d : cases) {
      d = Data();
      d.sets = {ConstraintSet::cone(0.5),
                ConstraintSet::box(-0.1, 0.2),
                ConstraintSet::non_negative(),
                ConstraintSet::free(2),
                ConstraintSet::cone(0.7)};
      const MatrixXd A = random_matrix(rng, 10, 10);
      d.G = gram(A);
      d.g = A * random_vector(rng, 10);
    }
    const auto still = [](Data& d, int row) {
      d.G.row(row).setZero();
      d.G.col(row).setZero();
      d.g[row] = 0.0;
    };
    for (const int row : {0, 2, 3, 4, 5}) still(cases[0], row);
    for (int row = 0; row < 10; ++row) still(cases[1], row);
    cases[2].g.setZero();
    cases[2].sets[1] = ConstraintSet::box(0.3, 0.4);
    cases[3].sets[1] = ConstraintSet::box(-kInfinity, -0.1);
    cases[4].sets[1] = ConstraintSet::box(-kInfinity, kInfinity);
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const ContactSolution x = solved(cases[k].problem(), settings(name, 1e-7, 20000));
      BOOST_TEST_CONTEXT(name << ", case " << k << ", " << to_string(x.status) << " "
                              << x.model_residuals.relative) {
        BOOST_TEST(vector(x.impulse).allFinite());
        BOOST_TEST(x.converged());
      }
    }
  }
}

// One iteration is one iteration, and is not called convergence unless it is.
BOOST_AUTO_TEST_CASE(too_few_iterations_are_reported) {
  for (const char* name : kNames) {
    Rng rng(9);
    int stopped = 0;
    for (int trial = 0; trial < 60; ++trial) {
      const Data d = random_problem(rng, 1.0, false);
      const ContactSolution x = solved(d.problem(), settings(name, 1e-12, 1));
      BOOST_TEST(x.iterations <= 1);
      BOOST_TEST(vector(x.impulse).allFinite());
      stopped += x.status == SolveStatus::kMaxIterations || x.status == SolveStatus::kStalled;
    }
    BOOST_TEST(stopped > 20);
  }
}

// Relaxation changes the path, not the solution.
BOOST_AUTO_TEST_CASE(over_relaxation_keeps_the_solution) {
  for (const char* name : {"lcp-pgs", "lcp-staggered", "ncp-staggered"}) {
    Rng rng(10);
    int changed = 0;
    for (int trial = 0; trial < 40; ++trial) {
      const ContactProblem p = easy_data(rng).problem();
      SolverSettings s = settings(name, 1e-10, 20000);
      const ContactSolution a = solved(p, s);
      for (const double omega : {0.6, 1.3}) {
        s.over_relaxation = omega;
        const ContactSolution b = solved(p, s);
        BOOST_REQUIRE(b.converged());
        BOOST_TEST((vector(a.velocity) - vector(b.velocity)).lpNorm<Eigen::Infinity>() < 1e-7);
        changed += a.impulse != b.impulse;
      }
    }
    BOOST_TEST(changed > 20);
  }
}

BOOST_AUTO_TEST_SUITE_END()
