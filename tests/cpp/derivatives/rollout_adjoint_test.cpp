#include "scenes/scenes.hpp"
#include "support/random.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace stiction::test {
namespace {

SimulatorSettings tight() {
  SimulatorSettings settings;
  settings.solver.tolerance = 1e-13;
  return settings;
}

RowMajorMatrix random_rows(Rng& rng, int rows, int columns, double size) {
  RowMajorMatrix m(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) m(i, j) = size * rng.uniform(-1.0, 1.0);
  }
  return m;
}

/// A ball on two rails pushes a ball on the floor, from `gap` away.
Scene pusher(double gap) {
  Robot rails;
  rails.name = "pusher";
  for (int k = 0; k < 2; ++k) {
    BodyDescription body;
    body.name = k == 0 ? "carriage" : "finger";
    body.joint_name = k == 0 ? "x" : "y";
    body.parent = k - 1;
    body.joint = JointType::kPrismatic;
    body.axis = k == 0 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
    body.mass = 0.2;
    rails.bodies.push_back(body);
    rails.dofs.push_back({});
    rails.neutral.push_back(0.0);
  }
  GeometryDescription tip;
  tip.name = "tip";
  tip.body = 1;
  tip.shape = Shape::sphere(0.05);
  rails.geometries = {tip};
  Scene scene;
  scene.add_ground({0.5});
  scene.add_robot(rails, {Mat3d::identity(), {-0.1 - gap, 0.01, 0.06}});
  scene.add_body("ball", Shape::sphere(0.05), 0.2, {Mat3d::identity(), {0, 0, 0.05}}, {0.5});
  return scene;
}

/// A rollout and a cost that is linear in the tangents at its states.
struct Case {
  Scene scene;
  Simulator simulator;
  State start;
  Control base;
  RolloutInput input;
  RolloutTape tape;
  RolloutCotangents by;

  Case(Scene s, int steps, double torque, int settle = 0, SimulatorSettings settings = tight())
      : scene(std::move(s)),
        simulator(scene, settings),
        start(simulator.initial_state()),
        base(simulator.hold()) {
    for (int k = 0; k < settle; ++k) simulator.step(start, base);
    Rng rng(11);
    for (double& v : start.v) v += (settle > 0) * 0.02 * rng.uniform(-1.0, 1.0);
    input.taus = random_rows(rng, steps, scene.nv(), torque);
    input.stop_on_bad_status = false;
    by.states = random_rows(rng, steps + 1, 2 * scene.nv(), 1.0);
  }
  const RolloutGradient& gradient(const std::vector<std::string>& parameters = {}) {
    State state = start;
    log = simulator.rollout(state, base, input, &tape);
    return simulator.adjoint(tape, by, parameters);
  }
  /// Cost of another rollout as seen from this one.
  double cost(const State& from, const RolloutInput& controls) {
    State state = from;
    const RolloutLog other = simulator.rollout(state, base, controls);
    double sum = 0.0;
    for (int k = 0; k <= log.steps; ++k) {
      const Eigen::VectorXd dq = difference(scene, log.q.row(k), other.q.row(k)),
                            dv = other.v.row(k) - log.v.row(k);
      sum += by.states.row(k).head(scene.nv()).dot(dq) + by.states.row(k).tail(scene.nv()).dot(dv);
    }
    return sum;
  }

  RolloutLog log;
};

/// A change of everything that a rollout depends on.
struct Direction {
  RowMajorMatrix taus, targets;
  Eigen::VectorXd q, v, rates;  ///< rates: velocity targets, the same at each step

  Direction(Rng& rng, int steps, int nv)
      : taus(random_rows(rng, steps, nv, 1.0)),
        targets(random_rows(rng, steps, nv, 0.1)),
        q(1e-2 * random_rows(rng, nv, 1, 1.0)),
        v(1e-1 * random_rows(rng, nv, 1, 1.0)),
        rates(random_rows(rng, nv, 1, 1.0)) {}
  double along(const RolloutGradient& g) const {
    return taus.cwiseProduct(g.taus).sum() + targets.cwiseProduct(g.position_targets).sum() +
           q.dot(g.initial_q) + v.dot(g.initial_v) + rates.dot(g.velocity_targets.colwise().sum());
  }
  double difference(Case& c, double h) const {
    const auto moved_by = [&](double x) {
      State from = c.start;
      from.q = integrate(c.scene, c.start.q, x * q);
      from.v += x * v;
      RolloutInput controls = c.input;
      controls.taus += x * taus;
      controls.position_targets =
          c.base.position_target.transpose().replicate(taus.rows(), 1) + x * targets;
      const Control base = c.base;
      if (c.base.velocity_target.size() == 0) c.base.velocity_target.setZero(rates.size());
      c.base.velocity_target += x * rates;
      const double cost = c.cost(from, controls);
      c.base = base;
      return cost;
    };
    return (moved_by(h) - moved_by(-h)) / (2.0 * h);
  }
};

/// Of the gradient along several directions, relative to the largest derivative among them.
double worst_error(Case& c, const RolloutGradient& g, bool level = false) {
  Rng rng(5);
  double worst = 0.0, size = 0.0;
  for (int trial = 0; trial < 4; ++trial) {
    Direction d(rng, c.tape.steps, c.scene.nv());
    if (level) {  // what lies on the floor is at a kink: along it alone
      d.taus.col(2).setZero();
      d.q[2] = d.v[2] = 0.0;
    }
    double error = 1e300;
    for (const double h : {1e-4, 1e-5, 1e-6, 1e-7})
      error = std::min(error, std::abs(d.along(g) - d.difference(c, h)));
    size = std::max(size, std::abs(d.along(g)));
    worst = std::max(worst, error);
  }
  return worst / size;
}

double relative(const RowMajorMatrix& a, const RowMajorMatrix& b) {
  return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rollout_adjoint_test)

BOOST_AUTO_TEST_CASE(gradients_agree_with_differences_of_rollouts) {
  SimulatorSettings smooth = tight();
  smooth.contact.baumgarte = 1.0;  // gaps of feet at rest pass through zero: without a kink
  Case solo(make_scene("solo12"), 100, 0.5, 40, smooth), cart(make_scene("cartpole"), 100, 5.0),
      pendulum(make_scene("double-pendulum"), 100, 1.0);
  for (Case* c : {&solo, &cart, &pendulum}) {
    const RolloutGradient g = c->gradient();
    BOOST_TEST(g.report.exact(), c->scene.name);
    BOOST_TEST(g.report.two_sided(), c->scene.name);
    const double error = worst_error(*c, g);
    BOOST_TEST(error < 1e-6, c->scene.name << ": " << error);
    RolloutGradient wrong = g;
    wrong.taus.row(50) *= -1.0;
    BOOST_TEST(worst_error(*c, wrong) > 1e-4, c->scene.name);
  }
}

BOOST_AUTO_TEST_CASE(a_pushed_ball_agrees_with_differences) {
  Scene scene;
  scene.add_ground({0.5});
  scene.add_body("ball", Shape::sphere(0.05), 0.2, {Mat3d::identity(), {0, 0, 0.05}}, {0.5});
  Case c(scene, 100, 0.05);
  c.input.taus.col(2).setConstant(-0.1);
  const RolloutGradient g = c.gradient();
  const double error = worst_error(c, g, true);
  BOOST_TEST(error < 1e-6, error);
  BOOST_TEST(g.taus.leftCols(2).cwiseAbs().minCoeff() > 0.0);
}

BOOST_AUTO_TEST_CASE(gradients_are_products_of_step_jacobians) {
  for (const char* name : {"solo12", "cube-slide", "box-stack(3)", "four-bar"}) {
    Case c(make_scene(name), 60, 0.3, 30);
    const int nv = c.scene.nv(), steps = 60;
    const RolloutGradient g = c.gradient();
    std::vector<Eigen::MatrixXd> A, B;
    State state = c.start;
    Control control = c.base;
    for (int k = 0; k < steps; ++k) {
      control.torque = c.input.taus.row(k);
      c.simulator.step(state, control);
      const StepDerivatives& d = c.simulator.step_derivatives();
      A.push_back(d.A());
      B.push_back(d.B());
    }
    RowMajorMatrix taus(steps, nv);
    Eigen::VectorXd w = c.by.states.row(steps);
    for (int k = steps - 1; k >= 0; --k) {
      taus.row(k) = B[k].transpose() * w;
      w = A[k].transpose() * w + c.by.states.row(k).transpose();
    }
    BOOST_TEST(relative(g.taus, taus) < 1e-12, name << " " << relative(g.taus, taus));
    Eigen::VectorXd start(2 * nv);
    start << g.initial_q, g.initial_v;
    BOOST_TEST((start - w).norm() < 1e-12 * w.norm(), name);
    const auto kp = Eigen::Map<const Eigen::RowVectorXd>(c.simulator.parameters().kp.data(), nv);
    const RowMajorMatrix targets = g.taus.array().rowwise() * kp.array();
    BOOST_TEST((g.position_targets == targets));
  }
}

BOOST_AUTO_TEST_CASE(checkpoints_change_no_bit) {
  for (const char* name : {"solo12", "box-stack(3)"}) {
    Case c(make_scene(name), 50, 0.3, 30, {});
    const RolloutGradient first = c.gradient();
    BOOST_TEST(c.tape.checkpoint_every == 8);
    for (const int every : {1, 3, 7, 49, 50, 1000}) {
      c.input.checkpoint_every = every;
      const RolloutGradient& g = c.gradient();
      BOOST_TEST(c.tape.checkpoints.size() == (50u + every - 1) / every + 1);
      BOOST_TEST((g.taus == first.taus && g.initial_q == first.initial_q &&
                  g.initial_v == first.initial_v));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_cost_of_the_end_and_of_torques_alone) {
  Case c(make_scene("solo12"), 30, 0.3, 30, {});
  const RowMajorMatrix end = c.by.states.row(30);
  c.by.states.topRows(30).setZero();
  const RolloutGradient all = c.gradient();
  c.by.states = end;
  const RolloutGradient last = c.gradient();
  BOOST_TEST((all.taus == last.taus && all.initial_q == last.initial_q));
  c.by.taus = c.input.taus;
  const RowMajorMatrix with = c.gradient().taus;
  BOOST_TEST((with == last.taus + c.input.taus));
}

BOOST_AUTO_TEST_CASE(parameters_agree_with_differences) {
  SimulatorSettings settings = tight();
  settings.contact.baumgarte = 1.0;  // no kink at gaps of zero, which those of turning feet come to
  Case c(make_scene("solo12"), 40, 0.5, 40, settings);
  const RolloutGradient g = c.gradient({"kp", "gravity"});
  BOOST_TEST(g.ranges.size() == 2u);
  const double h = 1e-5;
  const auto slope = [&](double& x) {
    const double was = x;
    x = was + h;
    const double plus = c.cost(c.start, c.input);
    x = was - h;
    const double minus = c.cost(c.start, c.input);
    x = was;
    return (plus - minus) / (2.0 * h);
  };
  Parameters& p = c.simulator.parameters();
  const double by_kp = slope(p.kp[8]), by_gravity = slope(p.gravity[0]);
  const double size = g.parameters.cwiseAbs().maxCoeff();
  BOOST_TEST(std::abs(g.parameters[g.ranges[0].first + 8] - by_kp) < 1e-6 * size);
  BOOST_TEST(std::abs(g.parameters[g.ranges[1].first] - by_gravity) < 1e-6 * size);
}

BOOST_AUTO_TEST_CASE(what_touches_nothing_is_named) {
  for (const bool near : {false, true}) {
    Case c(pusher(near ? 0.001 : 0.05), 40, 0.0);
    c.input.taus.col(0).setConstant(near ? 1.0 : 0.0);
    c.by.states.setZero();
    c.by.states.row(40).segment(2, 3).setOnes();  // where the ball is
    const RolloutGradient& g = c.gradient();
    BOOST_TEST(g.report.touches_nothing == !near);
    BOOST_TEST((g.taus.leftCols(2).isZero(0.0)) == !near);
    c.by.states.setOnes();  // the cost of the pusher itself
    BOOST_TEST(!c.simulator.adjoint(c.tape, c.by).report.touches_nothing);
  }
  Case ball(make_scene("ball-drop"), 10, 0.0);  // no controls to speak of: nothing to say
  BOOST_TEST(!ball.gradient().report.touches_nothing);
}

BOOST_AUTO_TEST_CASE(later_steps_are_the_same_with_and_without) {
  Case with(make_scene("solo12"), 30, 0.3, 30, {}), without(make_scene("solo12"), 30, 0.3, 30, {});
  State a = with.start, b = without.start;
  with.simulator.rollout(a, with.base, with.input, &with.tape);
  const Snapshot before = with.simulator.snapshot();
  with.simulator.adjoint(with.tape, with.by);
  BOOST_TEST(with.simulator.snapshot().time == before.time);
  without.simulator.rollout(b, without.base, without.input);
  for (int k = 0; k < 20; ++k) {
    with.simulator.step(a, with.base);
    without.simulator.step(b, without.base);
  }
  BOOST_TEST((a == b));
}

// Nothing of what the workspace held before is left in the output.
BOOST_AUTO_TEST_CASE(a_rollout_of_no_steps) {
  Case c(make_scene("cartpole"), 0, 0.0);
  RolloutInput some = c.input;
  some.taus = RowMajorMatrix::Ones(5, 2);
  std::swap(c.input, some);
  const RowMajorMatrix by = c.by.states;
  c.by.states = RowMajorMatrix::Ones(1, 4);
  BOOST_TEST(c.gradient({"mass", "damping"}).parameters.cwiseAbs().minCoeff() > 0.0);
  std::swap(c.input, some);
  c.by.states = by;
  const RolloutGradient& g = c.gradient({"damping", "gravity"});
  BOOST_TEST(g.taus.rows() == 0);
  BOOST_TEST((g.initial_q == c.by.states.row(0).head(2).transpose()));
  BOOST_TEST_REQUIRE(g.ranges.size() == 2u);
  BOOST_TEST(g.ranges[1].name == "gravity");
  BOOST_TEST(g.ranges[1].first == 2);
  BOOST_TEST(g.ranges[1].count == 3);
  BOOST_TEST_REQUIRE(g.parameters.size() == 5);
  BOOST_TEST(g.parameters.isZero(0.0));
  BOOST_CHECK_THROW(c.gradient({"no such field"}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_taken_back_is_refused) {
  const auto refused = [](Case& c, const std::string& says) {
    BOOST_CHECK_EXCEPTION(c.simulator.adjoint(c.tape, c.by), std::invalid_argument, [&](auto& e) {
      BOOST_TEST_INFO(e.what());
      return std::string(e.what()).find(says) != std::string::npos;
    });
  };
  Case c(make_scene("cartpole"), 20, 1.0);
  refused(c, "the tape is empty");
  c.gradient();
  c.simulator.parameters().damping[1] += 0.1;
  refused(c, "parameters.damping[1]");
  c.simulator.parameters().damping[1] = c.tape.parameters.damping[1];
  c.simulator.parameters().material[0].damping = 3.0;
  refused(c, "parameters.contact_damping[0]");
  c.simulator.parameters() = c.tape.parameters;
  c.gradient();
  c.by.states(3, 1) = NAN;
  refused(c, "not finite");
  c.by.states = RowMajorMatrix::Zero(4, 4);
  refused(c, "[21 x 4]");
  c.by.states = RowMajorMatrix::Zero(1, 4);
  c.by.taus = RowMajorMatrix::Zero(20, 3);
  refused(c, "taus is [20 x 3]");
  c.by.taus.resize(0, 0);
  SimulatorSettings settings;
  settings.dt = 2e-3;
  Case other(make_scene("cartpole"), 20, 1.0, 0, settings);
  other.tape = c.tape;
  refused(other, "step 19 does not repeat");
  Case elsewhere(make_scene("solo12"), 20, 1.0);
  elsewhere.tape = c.tape;
  BOOST_CHECK_THROW(elsewhere.simulator.adjoint(elsewhere.tape, elsewhere.by),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(rollouts_without_derivatives_are_refused) {
  const auto refused = [](const char* scene, SimulatorSettings settings, const std::string& says) {
    Case c(make_scene(scene), 5, 0.1, 0, settings);
    BOOST_CHECK_EXCEPTION(c.gradient(), std::invalid_argument, [&](auto& e) {
      return std::string(e.what()).find(says) != std::string::npos;
    });
  };
  SimulatorSettings settings;
  settings.project_closures = true;
  refused("four-bar", settings, "project_closures");
  settings = {};
  settings.solver.name = "lcp-pgs";
  refused("slope", settings, "step 4: derivatives: solver \"lcp-pgs\"");
}

BOOST_AUTO_TEST_CASE(a_step_that_is_not_whole_is_refused_by_its_number) {
  Case c(make_scene("cartpole"), 20, 1.0);
  c.input.taus(7, 0) = NAN;
  State state = c.start;
  BOOST_TEST(c.simulator.rollout(state, c.base, c.input, &c.tape).steps == 8);
  c.by.states = RowMajorMatrix::Ones(1, 4);
  BOOST_CHECK_EXCEPTION(c.simulator.adjoint(c.tape, c.by), std::invalid_argument, [](auto& e) {
    return std::string(e.what()).find("step 7 ended with status not_finite") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(bytes_are_counted) {
  Case c(make_scene("solo12"), 100, 0.3, 30, {});
  c.gradient();
  const std::size_t few = c.tape.bytes();
  c.input.checkpoint_every = 1;
  c.gradient();
  BOOST_TEST(c.tape.bytes() > 3 * few);
  BOOST_TEST(c.tape.bytes() > 100 * (sizeof(State) + (19 + 18) * 8));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
