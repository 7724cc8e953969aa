#include "solver/ncp_newton/multipliers.hpp"

#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"
#include "support/dense.hpp"
#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// Problems of several trees, solved in the coordinates of the trees.

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using stiction::test::gram;
using stiction::test::Rng;

namespace {

/// `count` problems of a scene, `every` steps apart from step `first` on, each after a kick.
std::vector<ContactProblem> problems_of(
    const char* name, int bodies, int first, int every, int count, Rng& rng) {
  SceneOptions options;
  options.n = bodies;
  Simulator sim(make_scene(name, options));
  State state = sim.initial_state();
  std::vector<ContactProblem> problems;
  for (int k = 0; static_cast<int>(problems.size()) < count; ++k) {
    const bool take = k >= first && (k - first) % every == 0;
    for (int j = 0; take && j < state.v.size(); ++j) state.v[j] += rng.uniform(-0.02, 0.02);
    sim.prepare(state, sim.hold());
    if (take && sim.problem().num_islands() > 0) problems.push_back(sim.problem());
    sim.step(state, sim.hold());
  }
  return problems;
}

Island largest_island(const ContactProblem& p) {
  int best = 0;
  for (int k = 1; k < p.num_islands(); ++k) {
    const auto sets = [&](int i) { return p.island_start[i + 1] - p.island_start[i]; };
    if (sets(k) > sets(best)) best = k;
  }
  return {p, p.island_start[best], p.island_start[best + 1]};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(multipliers_test)

BOOST_AUTO_TEST_CASE(tree_space_factors_the_delassus_matrix) {
  Rng rng(1);
  for (const char* name : {"box-stack", "ycb-pile", "allegro-ball"}) {
    const int bodies = name[0] == 'a' ? 0 : 8;
    const ContactProblem p =
        problems_of(name, bodies, name[0] == 'y' ? 900 : 60, 10, 1, rng).back();
    const Island island = largest_island(p);
    TreeSpace space;
    BOOST_REQUIRE(space.prepare(island, island.problem.space, 1000));
    const int n = space.num_coordinates(), rows = p.num_rows();
    for (const double m : space.inertia()) BOOST_REQUIRE(m > 0.0);
    MatrixXd Z(n, rows);
    for (int k = 0; k < rows; ++k)
      space.gather(VectorXd::Unit(rows, k).eval().data(), Z.col(k).data());
    const VectorXd m = Eigen::Map<const VectorXd>(space.inertia().data(), n);
    MatrixXd G = Z.transpose() * m.cwiseInverse().asDiagonal() * Z;
    for (int k = 0; k < rows; ++k) G(k, k) += p.compliance[k];
    const int b = island.begin, size = island.rows();
    const MatrixXd expected = p.dense().block(b, b, size, size);
    BOOST_TEST((G.block(b, b, size, size) - expected).norm() <= 1e-12 * expected.norm());

    VectorXd y = VectorXd::NullaryExpr(n, [&] { return rng.uniform(-1.0, 1.0); });
    VectorXd motion = VectorXd::Zero(rows);
    space.spread(y.data(), motion.data());
    BOOST_TEST((motion - Z.transpose() * y).segment(b, size).norm() <= 1e-12 * motion.norm());

    for (const bool symmetric : {true, false}) {
      MatrixXd A = m.asDiagonal();
      std::vector<double> slopes;
      for (const TreeSpace::Rows& row : space.rows()) {
        const int dim = row.dim;
        MatrixXd H = MatrixXd::NullaryExpr(dim, dim, [&] { return rng.uniform(-1.0, 1.0); });
        H = symmetric ? gram(H) : (0.1 * H + 2.0 * MatrixXd::Identity(dim, dim)).eval();
        for (int r = 0; r < dim; ++r)
          for (int c = 0; c < dim; ++c) slopes.push_back(H(r, c));
        const MatrixXd z = Z.middleCols(row.begin, dim);
        A += z * H * z.transpose();
      }
      BOOST_REQUIRE(space.factor(slopes.data(), symmetric));
      VectorXd x = y;
      space.solve(x.data());
      BOOST_TEST((A * x - y).norm() <= 1e-9 * y.norm());
    }
  }
}

BOOST_AUTO_TEST_CASE(solutions_are_exact) {
  Rng rng(2);
  std::vector<ContactProblem> problems = problems_of("ycb-pile", 12, 800, 30, 12, rng);
  for (const ContactProblem& p : problems_of("box-stack", 8, 50, 30, 12, rng))
    problems.push_back(p);
  int in_tree_space = 0;
  for (const ContactProblem& p : problems) {
    SolverSettings settings;
    settings.tolerance = settings.tolerance_large = 1e-9;
    SolverWorkspace work;
    ContactSolution solution;
    solve(p, settings, work, solution);
    BOOST_TEST((solution.status == SolveStatus::kConverged));
    BOOST_TEST(solution.residuals.relative <= 1e-9);
    TreeSpace space;
    in_tree_space += space.prepare(largest_island(p), p.space, largest_island(p).rows() / 2);
  }
  BOOST_TEST(in_tree_space > 12);
}

BOOST_AUTO_TEST_CASE(from_anywhere_and_never_worse) {
  Rng rng(3);
  for (const ContactProblem& p : problems_of("ycb-pile", 6, 800, 50, 6, rng)) {
    const Island island = largest_island(p);
    MultiplierWork work;
    BOOST_REQUIRE(work.trees.prepare(island, island.problem.space, 1000));
    std::vector<double> lambda(p.num_rows()), velocity(p.num_rows());
    for (double& x : lambda) x = rng.uniform(-1e-2, 1e-2);
    velocities(island, lambda.data(), velocity.data());
    const Residuals before =
        residuals_at(p, lambda.data(), velocity.data(), island.first, island.last);
    MultiplierSettings settings;
    for (const int budget : {1, 3, 500}) {
      settings.max_factorisations = budget;
      WorkAccount account;
      std::vector<double> l = lambda, c = velocity;
      const Residuals after =
          method_of_multipliers(island, settings, before, l.data(), c.data(), work, account);
      BOOST_TEST(after.relative <= before.relative);
      BOOST_TEST(account.factorisations <= budget);
      std::vector<double> exact(c.size());
      velocities(island, l.data(), exact.data());
      for (int r = island.begin; r < island.end; ++r) BOOST_TEST(c[r] == exact[r]);
      if (budget == 500) BOOST_TEST(after.relative <= settings.tolerance);
    }
  }
}

/// exp([w]), w a rotation vector [rad].
static Mat3d turned_frame(const Vec3d& w) {
  return {turned(w, Vec3d{1, 0, 0}), turned(w, Vec3d{0, 1, 0}), turned(w, Vec3d{0, 0, 1})};
}

// On impact a pile has few contacts for each body, many impulses are cold and islands are large:
// every step is solved all the same, in the coordinates of the trees.
BOOST_AUTO_TEST_CASE(boxes_on_impact_are_solved) {
  Rng rng(4);
  Scene scene;
  const Material material{0.5};
  scene.add_ground(material);
  for (int k = 0; k < 225; ++k) {
    const auto noise = [&](double size) { return rng.uniform(-size, size); };
    Transform X;
    X.p = {
        0.14 * (k / 5 % 5) + noise(0.015), 0.14 * (k % 5) + noise(0.015), 0.08 + 0.14 * (k / 25)};
    X.R = turned_frame({noise(1.5), noise(1.5), noise(1.5)});
    scene.add_body("box " + std::to_string(k), Shape::box({0.05, 0.05, 0.05}), 1.0, X, material);
  }
  SimulatorSettings settings;
  settings.dt = 2e-3;
  Simulator sim(scene, settings);
  State state = sim.initial_state();
  for (int k = 2; k < state.v.size(); k += 6) state.v[k] = -4.0;
  int large_with_few_contacts = 0;
  for (int k = 0; k < 58; ++k) {
    const StepReport& report = sim.step(state, sim.hold());
    BOOST_TEST_CONTEXT("step " << k << ", " << report.num_rows << " rows") {
      BOOST_TEST((report.solver_status == SolveStatus::kConverged));
      BOOST_TEST(report.factorisations <= 2000);
    }
    if (report.num_islands == 0) continue;
    const Island island = largest_island(sim.problem());
    TreeSpace space;
    large_with_few_contacts +=
        island.rows() >= 150 && !space.prepare(island, island.problem.space, island.rows() / 2);
  }
  BOOST_TEST_MESSAGE(large_with_few_contacts << " large islands with few contacts");
  BOOST_TEST(large_with_few_contacts > 10);
}

BOOST_AUTO_TEST_SUITE_END()
