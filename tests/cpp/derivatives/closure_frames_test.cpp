#include "scenes/scenes.hpp"
#include "support/random_tree.hpp"
#include "support/random_world.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

// The derivatives of one step by the frames of closures, against differences of the step: welds and
// points that close loops of one tree, join two, or hold a body to the world, as A and as B.

namespace stiction::test {
namespace {

/// Adds one at the configuration of the world, open by up to `open` [m, rad]; says which.
std::string add_closure(
    Rng& rng, World& w, const std::vector<Transform>& poses, int number, double open) {
  const int n = w.scene.num_bodies();
  int a = rng.below(n), b = rng.below(n);  // the last one is loose
  if (rng.below(3) == 0) b = n - 1;
  if (a == b || rng.below(4) == 0) (rng.below(2) ? a : b) = -1;
  const auto pose = [&](int body) { return body < 0 ? Transform::identity() : poses[body]; };
  const auto tree = [&](int body) { return w.scene.tree_of_body(body); };
  const int moves = a < 0 ? b : a;
  const Transform X_W = pose(moves) * Transform{rotation(rng), uniform_vector(rng, 0.2)};
  const Transform off{small_rotation(uniform_vector(rng, open)), uniform_vector(rng, open)};
  const Transform X_A = inverse(pose(a)) * X_W, X_B = inverse(pose(b)) * (X_W * off);
  const bool weld = rng.below(2) == 0;
  const std::string name = "closure" + std::to_string(number);
  if (weld) {
    w.scene.add_weld(name, a, X_A, b, X_B);
  } else {
    w.scene.add_point_closure(name, a, X_A.p, b, X_B.p);
  }
  const char* where = a < 0                ? " to A, the world"
                      : b < 0              ? " to B, the world"
                      : tree(a) == tree(b) ? " within a tree"
                                           : " of two trees";
  return (weld ? "weld" : "point") + std::string(where);
}

/// An arm that holds a load by two welds, one of which repeats the other: in the same place, in
/// other axes; or `apart`, of what is at rest: where welds turn on, places that part in the step
/// ask for what no rigid motion is.
struct TwiceWelded {
  Scene scene;
  SimulatorSettings settings;
  State state;
  Control control;

  TwiceWelded(Rng& rng, bool apart) {
    Robot arm;
    arm.name = "arm";
    arm.bodies.resize(3);
    for (int b = 0; b < 3; ++b) {
      BodyDescription& body = arm.bodies[b];
      body.name = "link" + std::to_string(b);
      body.parent = b - 1;
      body.axis = unit_vector(rng);
      if (b > 0) body.placement = {rotation(rng), uniform_vector(rng, 0.3)};
      random_mass(rng, body);
      arm.neutral.push_back(rng.uniform(-1.0, 1.0));
    }
    arm.dofs.resize(3);
    if (apart) scene.parameters.gravity = {0, 0, 0};
    scene.add_robot(arm);
    const int load = scene.add_body("load", Shape::sphere(0.1), 1.0, pose(rng, 0.5));
    settings.solver.tolerance = 1e-13;
    Simulator unwelded(scene, settings);
    const std::vector<Transform> poses = unwelded.body_poses(unwelded.initial_state());
    const Transform first = pose(rng, 0.2);
    for (int k = 0; k < 2; ++k) {
      const Transform X_B = apart ? pose(rng, 0.2) : Transform{rotation(rng), first.p};
      const Transform X_A = inverse(poses[2]) * (poses[load] * X_B);
      scene.add_weld("weld" + std::to_string(k), 2, X_A, load, X_B);
    }
    state = Simulator(scene, settings).initial_state();
    control.torque = random_vector(rng, scene.nv()) * (apart ? 0.0 : 1.0);
    if (apart) return;
    state.v = random_vector(rng, scene.nv());
  }
};

/// The tangent, in the axes of the frame X, of its motion with a body that shifts by u and turns by
/// w about its origin.
Eigen::VectorXd carried(const Transform& X, const Vec3d& u, const Vec3d& w) {
  const Vec3d shift = transpose_times(X.R, u + cross(w, X.p)), turn = transpose_times(X.R, w);
  return Eigen::VectorXd{{shift.x, shift.y, shift.z, turn.x, turn.y, turn.z}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(closure_frames_test)

BOOST_AUTO_TEST_CASE(frames_agree_with_differences) {
  Rng rng(31);
  std::map<std::string, int> seen;
  int columns = 0, kinks = 0, contradicting = 0;
  for (int k = 0; k < num_worlds(); ++k) {
    const auto chance = [&](double p) { return rng.uniform(0.0, 1.0) < p; };
    const bool springs = chance(0.3);
    World w = random_world(rng,
                           {springs,
                            springs && chance(0.5),
                            !springs && chance(0.5),
                            false,
                            chance(0.2),
                            chance(0.2),
                            chance(0.1) && smoothing_of(k) == 0.0});
    w.settings.smoothing = smoothing_of(k);
    if (chance(0.3)) w.settings.contact.closure_gain = rng.uniform(0.1, 0.9);
    const double open = chance(0.5) ? 1e-5 : 1e-3;
    const std::vector<Transform> poses = Simulator(w.scene, w.settings).body_poses(w.state);
    std::vector<std::string> kinds;
    for (int i = 0, n = 1 + rng.below(2); i < n; ++i)
      kinds.push_back(add_closure(rng, w, poses, i, open));
    const Eigen::VectorXd q = w.state.q, v = w.state.v;
    w.state = make_state(w.scene, {q.data(), q.data() + q.size()});
    w.state.v = v;
    Simulator simulator(w.scene, w.settings);
    State end = w.state;
    simulator.step(end, w.control);
    if (simulator.report().status != StepStatus::kOk) continue;
    const StepDerivatives d = simulator.step_derivatives({"closure_X_A", "closure_X_B"});
    if (!comparable(d.report) || d.report.smallest_pivot < 1e-4 ||
        d.report.num_parameter_kinks > 0) {
      contradicting += d.report.num_parameter_kinks > 0;
      continue;
    }
    const std::vector<std::string> rows = kinds_of(simulator, d.report);
    const int nv = w.scene.nv();
    for (const ParameterRange& range : d.parameters) {
      BOOST_TEST_REQUIRE(range.count == 6 * static_cast<int>(kinds.size()));
      const bool of_a = range.name == "closure_X_A";
      for (int j = 0; j < range.count; ++j) {
        if (!chance(0.5)) continue;
        Parameters& p = simulator.parameters();
        Transform& placed = (of_a ? p.closure_X_A : p.closure_X_B)[j / 6];
        const Transform X = placed;
        const ColumnCheck check =
            check_column(simulator,
                         w.state,
                         w.control,
                         end,
                         d.P.col(range.first + j).head(2 * nv),
                         1e-2,
                         [&](double h) { placed = h != 0.0 ? X * tangent_motion(j % 6, h) : X; });
        ++columns;
        kinks += !check.compared();
        const std::string what =
            kinds[j / 6] + (j % 6 < 3 ? ", shift of " : ", turn of ") + (of_a ? "A" : "B");
        // Where welds repeat each other differences see the solver's last digits.
        BOOST_TEST(check.error() <= 5.0, "world " << k << " " << what << ": " << check.error());
        if (!check.compared() || !check.seen()) continue;
        ++seen[what];
        for (const std::string& row : rows) ++seen[row];
      }
    }
  }
  BOOST_TEST_MESSAGE(columns << " columns, " << kinks << " with kinks, " << contradicting
                             << " steps with rows that contradict each other");
  BOOST_TEST(kinks < 0.02 * columns, kinks << " of " << columns << " columns have kinks");
  for (const char* where :
       {" to A, the world", " to B, the world", " within a tree", " of two trees"}) {
    for (const char* what : {", shift of A", ", shift of B", ", turn of A", ", turn of B"}) {
      // Point closures have a rotation of their own on neither side: turns of A turn their rows
      // only, which moves nothing.
      const bool turn = std::string(what).find("turn") != std::string::npos;
      const std::string weld = std::string("weld") + where + what,
                        point = std::string("point") + where + what;
      BOOST_TEST(seen[weld] >= 3, weld << ": " << seen[weld]);
      if (turn) {
        BOOST_TEST(seen[point] == 0, point << ": " << seen[point]);
      } else {
        BOOST_TEST(seen[point] >= 3, point << ": " << seen[point]);
      }
    }
  }
  for (const char* row : {"closure drift stick",
                          "closure recovery stick",
                          "contact recovery slide",
                          "contact recovery stick",
                          "contact speculative slide",
                          "contact spring stick",
                          "contact spring tangential slide",
                          "contact restitution stick",
                          "lower_limit recovery stick",
                          "dry_friction none stick"})
    BOOST_TEST(seen[row] >= 3, row << " was compared " << seen[row] << " times");
}

/// A linkage moves in a plane: of a frame shifted out of it nothing follows, whatever the axes of
/// the rows. Differences so small that the step does not cut this part have rows that contradict
/// each other.
BOOST_AUTO_TEST_CASE(a_frame_leaves_the_plane_of_a_linkage) {
  Rng rng(32);
  for (int k = 0; k < 5; ++k) {
    Scene scene = make_scene("four-bar");
    Mat3d& R = scene.parameters.closure_X_A[0].R;
    if (k > 0) R = R * rotation(rng);
    SimulatorSettings settings;
    settings.solver.tolerance = 1e-13;
    Simulator simulator(scene, settings);
    State state = simulator.initial_state();
    for (int i = 0; i < 20; ++i) simulator.step(state, {});
    State end = state;
    simulator.step(end, {});
    const StepDerivatives d = simulator.step_derivatives({"closure_X_A"});
    BOOST_TEST_REQUIRE(d.report.rank < d.report.unknowns);
    BOOST_TEST(d.report.num_parameter_kinks == 0);
    const int nv = scene.nv();
    double most = 0.0;
    for (int j = 0; j < 3; ++j) {
      Transform& placed = simulator.parameters().closure_X_A[0];
      const Transform X = placed;
      const auto at = [&](double h) {
        placed = X * tangent_motion(j, h);
        Eigen::VectorXd x = stepped(simulator, state, {}, end, Eigen::VectorXd::Zero(3 * nv));
        placed = X;
        return x;
      };
      const Eigen::VectorXd central = (at(1e-5) - at(-1e-5)) / 2e-5;
      const double size = central.cwiseAbs().maxCoeff();
      most = std::max(most, size);
      BOOST_TEST((d.P.col(j).head(2 * nv) - central).cwiseAbs().maxCoeff() <= 1e-6 * size + 1e-5,
                 "axes " << k << " column " << j);
    }
    BOOST_TEST(most > 100.0);
  }
}

/// Of two welds that repeat each other one alone cannot move: each of its columns is a kink, the
/// state has two sides as before. Both together can, and do.
BOOST_AUTO_TEST_CASE(welds_that_repeat_each_other) {
  Rng rng(33);
  for (int k = 0; k < 10; ++k) {
    TwiceWelded w(rng, k % 2 == 0);
    Simulator simulator(w.scene, w.settings);
    for (const char* field : {"closure_X_A", "closure_X_B"}) {
      State end = w.state;
      BOOST_TEST_REQUIRE(simulator.step(end, w.control).whole());
      BOOST_TEST(simulator.step_derivatives({"mass"}).report.num_parameter_kinks == 0);
      const StepDerivatives d = simulator.step_derivatives({field});
      BOOST_TEST_REQUIRE(d.report.rank == d.report.unknowns - 6);
      BOOST_TEST(d.report.num_parameter_kinks == 12, field);
      BOOST_TEST(simulator.gradient_report().num_parameter_kinks == 12);
      BOOST_TEST(d.report.two_sided());
      BOOST_TEST(d.report.exact());
      Parameters& p = simulator.parameters();
      std::vector<Transform>& frames =
          std::string(field) == "closure_X_A" ? p.closure_X_A : p.closure_X_B;
      const std::vector<Transform> at = frames;
      const Vec3d u = uniform_vector(rng, 1.0), turn = uniform_vector(rng, 1.0);
      for (const bool both : {true, false}) {
        const auto shift = [&](double h) {
          const Transform moved{small_rotation(turn * h), u * h};
          for (int i = 0; i < 1 + both; ++i) frames[i] = h != 0.0 ? moved * at[i] : at[i];
        };
        Eigen::VectorXd x = Eigen::VectorXd::Zero(12);
        for (int i = 0; i < 1 + both; ++i) x.segment(6 * i, 6) = carried(at[i], u, turn);
        const int nv = w.scene.nv();
        const auto end_at = [&](double h) {
          shift(h);
          return stepped(simulator, w.state, w.control, end, Eigen::VectorXd::Zero(3 * nv));
        };
        // Larger motions part the welds by their square: rows that contradict each other.
        const Eigen::VectorXd central = (end_at(1e-8) - end_at(-1e-8)) / 2e-8,
                              column = d.P.topRows(2 * nv) * x;
        shift(0.0);
        const double error = (column - central).norm() / column.norm();
        BOOST_TEST((both ? error < 1e-5 : error > 1e-2),
                   "arm " << k << " " << field << ", both " << both << ": " << error);
        if (both) BOOST_TEST(central.norm() > 1.0);
      }
    }
  }
}

/// So far open that recovery is cut: what it is cut to counts as constant, and is said.
BOOST_AUTO_TEST_CASE(frames_of_closures_that_are_far_open_are_not_called_exact) {
  Scene scene = make_scene("four-bar");
  scene.parameters.closure_X_B[0].p.x += 0.02;
  Simulator simulator(scene, {});
  State state = simulator.initial_state();
  BOOST_TEST_REQUIRE(simulator.step(state, {}).whole());
  const GradientReport report = simulator.step_derivatives({"closure_X_B"}).report;
  BOOST_TEST(report.num_capped == 1);
  BOOST_TEST(!report.exact());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
