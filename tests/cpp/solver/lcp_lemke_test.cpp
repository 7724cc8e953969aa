#include "stiction/solver/solver.hpp"

#include "solver/common/polygon.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

// The LCP of Stewart and Trinkle written down once more, its complementary bases enumerated.

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const char* const kNames[] = {"lcp-lemke", "lcp-pgs", "lcp-qp", "lcp-staggered"};

ContactSolution solved(const ContactProblem& p,
                       const std::string& name,
                       double tolerance,
                       int facets) {
  SolverSettings s;
  s.name = name;
  s.tolerance = tolerance;
  s.facets = facets;
  s.max_iterations = 20000;
  SolverWorkspace work;
  ContactSolution out;
  solve(p, s, work, out);
  return out;
}

/// Contacts only: lambda = P z, w = M z + q.
struct Lcp {
  MatrixXd P, M;
  VectorXd q;
};
Lcp stewart_trinkle(const Data& d, int facets) {
  const int contacts = static_cast<int>(d.sets.size()), size = facets + 2;
  const double half = std::acos(-1.0) / facets;
  Lcp out;
  out.P = MatrixXd::Zero(3 * contacts, size * contacts);
  out.M = MatrixXd::Zero(size * contacts, size * contacts);
  for (int i = 0; i < contacts; ++i) {
    const int v = size * i, normal = v + facets, sigma = normal + 1;
    for (int k = 0; k < facets; ++k) {
      out.P(3 * i, v + k) = std::cos((2 * k + 1) * half);
      out.P(3 * i + 1, v + k) = std::sin((2 * k + 1) * half);
      out.M(v + k, sigma) = 1.0;
      out.M(sigma, v + k) = -1.0;
    }
    out.P(3 * i + 2, normal) = 1.0;
    out.M(sigma, normal) = d.sets[i].friction.mu[0] / std::cos(half);
  }
  out.M += multiply(out.P.transpose(), multiply(d.G, out.P));
  out.q = out.P.transpose() * d.g;
  return out;
}

/// Velocities G P z + g of all basic solutions.
std::vector<VectorXd> enumerate(const Data& d, int facets) {
  const Lcp lcp = stewart_trinkle(d, facets);
  const int n = static_cast<int>(lcp.q.size());
  std::vector<VectorXd> out;
  for (unsigned basis = 0; basis < (1u << n); ++basis) {
    MatrixXd A = MatrixXd::Identity(n, n);  // basic variables: z_i of the basis, else w_i
    for (int i = 0; i < n; ++i)
      if (basis >> i & 1u) A.col(i) = -lcp.M.col(i);
    const VectorXd x = solve_dense(A, lcp.q);
    if (!x.allFinite() || x.minCoeff() < -1e-9 || (A * x - lcp.q).norm() > 1e-9) continue;
    VectorXd z = VectorXd::Zero(n);
    for (int i = 0; i < n; ++i)
      if (basis >> i & 1u) z[i] = x[i];
    out.push_back(d.G * (lcp.P * z) + d.g);
  }
  return out;
}

Data contacts_only(Rng& rng, int contacts, double mu_max) {
  Data d;
  const int rows = 3 * contacts;
  for (int i = 0; i < contacts; ++i)
    d.sets.push_back(ConstraintSet::cone(rng.uniform(0.1, mu_max)));
  const MatrixXd A = random_matrix(rng, rows, rows);
  d.G = gram(A) + 0.05 * MatrixXd::Identity(rows, rows);
  d.g = random_vector(rng, rows);
  for (int i = 0; i < contacts; ++i) d.g[3 * i + 2] -= 0.5;
  return d;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lcp_lemke_test)

// Up to two contacts: whatever a solver converges to is one of the solutions that enumeration of
// all complementary bases finds, with strong friction of several; Lemke always converges, G being
// regular.
BOOST_AUTO_TEST_CASE(enumeration_of_all_bases) {
  Rng rng(1);
  const std::pair<int, int> cases[] = {{1, 4}, {1, 8}, {2, 4}};  // contacts, facets
  int several = 0, converged[4] = {}, total = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const auto [contacts, facets] = cases[trial % 3];
    const Data d = contacts_only(rng, contacts, trial < 60 ? 1.5 : 6.0);
    const std::vector<VectorXd> all = enumerate(d, facets);
    BOOST_REQUIRE(!all.empty());
    double spread = 0.0;
    for (const VectorXd& c : all) spread = std::max(spread, (c - all[0]).norm());
    several += spread > 1e-6;
    ++total;
    for (int k = 0; k < 4; ++k) {
      const ContactSolution x = solved(d.problem(), kNames[k], 1e-10, facets);
      BOOST_TEST_CONTEXT(kNames[k] << ", trial " << trial << ", status " << to_string(x.status)) {
        if (k == 0) BOOST_TEST(x.converged());
        if (!x.converged()) continue;
        ++converged[k];
        double nearest = 1e300;
        for (const VectorXd& c : all)
          nearest = std::min(nearest,
                             (c - Eigen::Map<const VectorXd>(x.velocity.data(), c.size())).norm());
        BOOST_TEST(nearest < 1e-7);
      }
    }
  }
  BOOST_TEST_MESSAGE(several << " of " << total << " with several solutions; converged "
                             << converged[0] << " " << converged[1] << " " << converged[2] << " "
                             << converged[3]);
  BOOST_TEST(several >= 3);
  const double share[] = {1.0, 0.95, 0.75, 0.95};  // lcp-qp: stationary points that solve nothing
  for (int k = 0; k < 4; ++k) BOOST_TEST(converged[k] >= share[k] * total);
}

// A projection on the polygon is the nearest of many points of it; 4 facets are a clamp.
BOOST_AUTO_TEST_CASE(polygon_projection) {
  Rng rng(2);
  for (const int facets : {4, 8, 16}) {
    const Polygon polygon(facets);
    for (int trial = 0; trial < 200; ++trial) {
      const double radius = rng.uniform(0.0, 2.0), t[2] = {rng.uniform(-4, 4), rng.uniform(-4, 4)};
      double p[2] = {t[0], t[1]};
      polygon.project(radius, p);
      double best = 1e300;
      for (int k = 0; k < facets; ++k) {
        const double *a = polygon.vertex((k + facets - 1) % facets), *b = polygon.vertex(k);
        for (int i = 0; i <= 200; ++i)
          for (const double depth : {1.0, std::hypot(t[0], t[1]) / 8.0}) {
            const double u = i / 200.0, r = depth * radius * polygon.reach();
            best = std::min(best,
                            std::hypot(t[0] - r * (a[0] + u * (b[0] - a[0])),
                                       t[1] - r * (a[1] + u * (b[1] - a[1]))));
          }
      }
      const double distance = std::hypot(t[0] - p[0], t[1] - p[1]);
      BOOST_TEST(distance <= best + 1e-12);
      double again[2] = {p[0], p[1]};
      polygon.project(radius * (1.0 + 1e-14), again);
      BOOST_TEST(std::hypot(again[0] - p[0], again[1] - p[1]) < 1e-12);  // p is inside
      if (facets == 4)
        for (int r = 0; r < 2; ++r) BOOST_TEST(p[r] == std::clamp(t[r], -radius, radius));
    }
    double below[2] = {1.0, -2.0};
    polygon.project(-1.0, below);
    BOOST_TEST((below[0] == 0.0 && below[1] == 0.0));
  }
}

// Where a rigid motion explains g, Lemke ends at a solution, however singular G is: a box on many
// points, all of whose impulses are tied. That is also where least ratios tie.
BOOST_AUTO_TEST_CASE(hyperstatic_and_degenerate) {
  Rng rng(3);
  for (int trial = 0; trial < 30; ++trial) {
    const int contacts = 4 + trial % 8;
    Data d;
    MatrixXd J(3 * contacts, 6);
    for (int i = 0; i < contacts; ++i) {
      const double angle = 6.283185307179586 * i / contacts;
      const Eigen::Vector3d p(std::cos(angle), std::sin(angle), -0.5);
      J.block<3, 3>(3 * i, 0).setIdentity();
      J.block<3, 3>(3 * i, 3) << 0, p[2], -p[1], -p[2], 0, p[0], p[1], -p[0], 0;
      d.sets.push_back(ConstraintSet::cone(0.6));
    }
    VectorXd v = VectorXd::Zero(6);
    v[2] = -1.0;
    if (trial % 2) v[trial % 2] = 2.0;
    d.G = gram(J);
    d.g = J * v;
    for (const int facets : {4, 8}) {
      const ContactSolution x = solved(d.problem(), "lcp-lemke", 1e-10, facets);
      BOOST_TEST_CONTEXT(contacts << " contacts, " << facets << " facets, "
                                  << to_string(x.status)) {
        BOOST_TEST(x.converged());
        BOOST_TEST(x.iterations < 20 * contacts);
      }
    }
  }
}

// No solution: a normal impulse that moves nothing, or bilateral rows that contradict each other.
// Lemke ends on a ray; the status says stalled, for the other solvers likewise not converged.
BOOST_AUTO_TEST_CASE(infeasible_problems_are_not_solved) {
  Data push, contradiction;
  push.sets = {ConstraintSet::cone(0.5)};
  push.G = Eigen::Vector3d(1.0, 1.0, 0.0).asDiagonal();
  push.g = Eigen::Vector3d(0.0, 0.0, -1.0);
  contradiction.sets = {ConstraintSet::free(2)};
  contradiction.G = MatrixXd::Ones(2, 2);
  contradiction.g = Eigen::Vector2d(1.0, 2.0);
  for (const Data& d : {push, contradiction}) {
    for (const char* name : kNames) {
      SolverSettings s;
      s.name = name;
      SolverWorkspace work;
      ContactSolution x;
      solve(d.problem(), s, work, x);
      BOOST_TEST_CONTEXT(name << " " << to_string(x.status)) {
        BOOST_TEST(!x.converged());
        BOOST_TEST(Eigen::Map<VectorXd>(x.impulse.data(), x.impulse.size()).allFinite());
        if (std::string(name) == "lcp-lemke") BOOST_TEST((x.status == SolveStatus::kStalled));
      }
    }
  }
}

// Beyond its cap Lemke says so and leaves the impulses.
BOOST_AUTO_TEST_CASE(too_many_contacts_stall) {
  Data d;
  d.sets.assign(201, ConstraintSet::cone(0.5));
  d.G = MatrixXd::Identity(603, 603);
  d.g = VectorXd::Constant(603, -1.0);
  const ContactSolution x = solved(d.problem(), "lcp-lemke", 1e-8, 4);
  BOOST_TEST((x.status == SolveStatus::kStalled && x.iterations == 0));
  BOOST_TEST(x.impulse == std::vector<double>(603, 0.0), boost::test_tools::per_element());
  BOOST_TEST(solved(d.problem(), "lcp-pgs", 1e-8, 4).converged());
}

BOOST_AUTO_TEST_SUITE_END()
