#include "stiction/model/tangents.hpp"

#include "model/contact_order.hpp"
#include "scenes/scenes.hpp"
#include "support/random_tree.hpp"
#include "support/recovery.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

namespace stiction::test {
namespace {

const char* const kIntegrators[] = {"explicit-euler",
                                    "exponential",
                                    "exponential-published",
                                    "implicit-euler",
                                    "rk4",
                                    "symplectic-euler"};

Scene soft(const std::string& name, double friction) {
  Scene scene = make_scene(name);
  for (Material& m : scene.parameters.material) m = {friction, 0.0, 2e4, 60.0};
  if (name == "solo12") scene.set_gains(6, 3.0, 0.1);
  return scene;
}

SimulatorSettings with(const std::string& integrator, const std::string& law = "") {
  SimulatorSettings settings;
  settings.integrator = integrator;
  settings.solver.tolerance = 1e-13;
  if (!law.empty()) settings.compliant.law = law;
  return settings;
}

/// A scene that has settled and was then disturbed: springs are stretched, no gap is zero.
struct Moment {
  Simulator simulator;
  State state;
  Control control;

  Moment(const Scene& scene, const SimulatorSettings& settings, double speed)
      : simulator(scene, settings), state(simulator.initial_state()), control(simulator.hold()) {
    simulator.run(state, control, 60);
    for (int k = 0; k < 1000 && simulator.report().elastic_energy == 0.0; ++k)
      simulator.step(state, control);
    Rng rng(11);
    for (double& v : state.v) v += speed * rng.uniform(-1.0, 1.0);
    for (double& t : control.torque) t += speed * rng.uniform(-1.0, 1.0);
    simulator.run(state, control, 3);
  }
  /// Of the next step, from `state`.
  const StepDerivatives& derivatives() {
    State next = state;
    simulator.step(next, control);
    return simulator.step_derivatives();
  }
};

Eigen::MatrixXd dense(const StepDerivatives& d) {
  Eigen::MatrixXd J(2 * d.nv(), 3 * d.nv());
  J << d.A(), d.B();
  return J;
}

/// Rows or columns of `from` that the springs `to` know, in their order; others are zero.
Eigen::MatrixXd matched(int fixed,
                        const std::vector<SpringName>& from,
                        const std::vector<SpringName>& to) {
  Eigen::MatrixXd S = Eigen::MatrixXd::Zero(fixed + 3 * to.size(), fixed + 3 * from.size());
  S.topLeftCorner(fixed, fixed).setIdentity();
  for (std::size_t i = 0; i < to.size(); ++i) {
    for (std::size_t j = 0; j < from.size(); ++j)
      if (to[i] == from[j]) S.block<3, 3>(fixed + 3 * i, fixed + 3 * j).setIdentity();
  }
  return S;
}

struct SpringErrors {
  double columns = 0.0, rows = 0.0;  ///< relative to the largest entry
  int compared = 0;
};

/// Columns by the extensions that the state has, and rows of extensions by q and v, of X = dx+/dx
/// against central differences.
SpringErrors spring_errors(Moment& m,
                           const std::vector<SpringName>& springs,
                           const Eigen::MatrixXd& X) {
  const int nv = m.state.v.size(), n = 2 * nv + 3 * springs.size();
  const Scene& scene = m.simulator.scene();
  State end = m.state;
  m.simulator.step(end, m.control);
  const auto ended = [&](State s) {
    m.simulator.step(s, m.control);
    Eigen::VectorXd y = Eigen::VectorXd::Zero(n);
    y.head(2 * nv) << difference(scene, end.q, s.q), s.v;
    for (std::size_t k = 0; k < springs.size(); ++k) {
      const ContactMemory* c = find_contact(s.contacts, springs[k]);
      if (c != nullptr)
        y.segment<3>(2 * nv + 3 * k) << c->extension.x, c->extension.y, c->extension.z;
    }
    return y;
  };
  SpringErrors out;
  for (std::size_t k = 0; k < springs.size(); ++k) {
    for (std::size_t i = 0; i < m.state.contacts.size(); ++i) {
      if (m.state.contacts[i].pair != springs[k].pair ||
          m.state.contacts[i].feature != springs[k].feature)
        continue;
      for (int r = 0; r < 3; ++r) {
        double error = 1e300;
        for (const double h : {1e-7, 1e-8, 1e-9}) {
          State plus = m.state, minus = m.state;
          plus.contacts[i].extension[r] += h;
          minus.contacts[i].extension[r] -= h;
          const Eigen::VectorXd column = (ended(plus) - ended(minus)) / (2.0 * h);
          const double size = X.rightCols(3 * springs.size()).cwiseAbs().maxCoeff();
          error =
              std::min(error, (X.col(2 * nv + 3 * k + r) - column).cwiseAbs().maxCoeff() / size);
        }
        out.columns = std::max(out.columns, error);
        ++out.compared;
      }
    }
  }
  const Eigen::MatrixXd rows = X.bottomRows(3 * springs.size());
  for (int k = 0; k < 2 * nv; ++k) {
    const double h = 1e-7;
    const Eigen::VectorXd x = Eigen::VectorXd::Unit(2 * nv, k) * h;
    State plus = m.state, minus = m.state;
    plus.q = integrate(scene, m.state.q, x.head(nv));
    minus.q = integrate(scene, m.state.q, -x.head(nv));
    plus.v += x.tail(nv);
    minus.v -= x.tail(nv);
    const Eigen::VectorXd column = (ended(plus) - ended(minus)) / (2.0 * h);
    out.rows = std::max(out.rows,
                        (rows.col(k) - column.tail(rows.rows())).cwiseAbs().maxCoeff() /
                            rows.leftCols(nv).cwiseAbs().maxCoeff());
  }
  m.simulator.step(end = m.state, m.control);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compliant_derivatives_test)

BOOST_AUTO_TEST_CASE(columns_agree_with_differences_made_elsewhere) {
  for (const char* integrator : kIntegrators) {
    for (const char* name : {"ball-drop", "cube-slide", "solo12"}) {
      for (const double friction : {0.1, 0.9}) {
        const std::string what =
            std::string(integrator) + ", " + name + ", friction " + std::to_string(friction);
        Moment m(soft(name, friction), with(integrator), 0.05);
        const StepDerivatives& d = m.derivatives();
        BOOST_TEST((d.report.method == "exact") == (std::string(integrator) == "implicit-euler"));
        BOOST_TEST(!d.report.springs.empty(), what);
        BOOST_TEST(d.report.num_kinks == 0, what << ": " << d.report.num_kinks << " kinks");
        const ColumnErrors e = column_errors(m.simulator, m.state, m.control, dense(d));
        const int nv = d.nv();
        for (int block = 0; block < 3; ++block)
          BOOST_TEST(e.worst(block * nv, nv) < 1e-6,
                     what << ", block " << block << ": " << e.worst(block * nv, nv) << ", said "
                          << d.report.error_estimate);
      }
    }
  }
}

// The implicit function theorem, rows and columns of springs too.
BOOST_AUTO_TEST_CASE(implicit_euler_is_exact) {
  int stick = 0, slide = 0, springs = 0;
  for (const char* name : {"ball-drop", "cube-slide", "solo12"}) {
    for (const double friction : {0.05, 0.2, 0.9}) {
      for (const double damping_ratio : {0.3, 2.0}) {
        Scene scene = soft(name, friction);
        for (Material& m : scene.parameters.material) m.tangential_damping_ratio = damping_ratio;
        Moment m(scene, with("implicit-euler"), 0.3);
        const std::string what = std::string(name) + ", friction " + std::to_string(friction);
        const StepDerivatives d = m.derivatives();
        BOOST_TEST(d.report.method == "exact", what);
        BOOST_TEST(d.report.error_estimate == 0.0);
        const ColumnErrors e = column_errors(m.simulator, m.state, m.control, dense(d));
        const int nv = d.nv();
        for (int block = 0; block < 3; ++block)
          BOOST_TEST(e.worst(block * nv, nv) < 1e-7,
                     what << ", block " << block << ": " << e.worst(block * nv, nv));
        const Eigen::MatrixXd X = d.dx_dx();
        const SpringErrors s = spring_errors(m, d.report.springs, X);
        BOOST_TEST(s.columns < 1e-7, what << ": " << s.columns);
        BOOST_TEST(s.rows < 1e-7, what << ": " << s.rows);
        springs += s.compared;
        for (const ContactReport& c : m.simulator.contacts()) (c.sliding ? slide : stick) += 1;
      }
    }
  }
  BOOST_TEST(stick > 10);
  BOOST_TEST(slide > 10);
  BOOST_TEST(springs > 20);
}

// Every type of joint, servos and losses, two trees, balls of which some press on the ground.
BOOST_AUTO_TEST_CASE(implicit_euler_of_random_robots) {
  Rng rng(3);
  int exact = 0, pressed = 0;
  for (int trial = 0; trial < 30; ++trial) {
    Scene scene;
    std::vector<std::pair<int, Vec3d>> feet;
    for (const char* name : {"one", "two"}) {
      const int first = scene.num_bodies();
      Robot robot = random_robot(random_tree(rng));
      robot.name = name;
      scene.add_robot(robot, {rotation(rng), uniform_vector(rng, 1.0)});
      for (int b = first; b < scene.num_bodies(); ++b)
        feet.push_back({b, uniform_vector(rng, 0.2)});
    }
    const std::vector<Transform> poses =
        Simulator(scene).body_poses(make_state(scene, scene.default_q()));
    const auto height = [&](std::size_t k) { return (poses[feet[k].first] * feet[k].second).z; };
    for (std::size_t k = 0; k < feet.size(); ++k) {
      scene.add_geometry("foot" + std::to_string(k),
                         feet[k].first,
                         Shape::sphere(0.02),
                         {Mat3d::identity(), feet[k].second},
                         {rng.uniform(0.1, 1.0), 0.0, 1e4, 50.0});
    }
    double lowest = height(0);
    for (std::size_t k = 1; k < feet.size(); ++k) lowest = std::min(lowest, height(k));
    scene.add_half_space("floor", {0, 0, lowest - 0.019}, {0, 0, 1}, {0.5, 0.0, 1e5, 100.0});
    std::vector<std::pair<int, int>> pairs;
    for (std::size_t k = 0; k < feet.size(); ++k)
      pairs.push_back({static_cast<int>(k), static_cast<int>(feet.size())});
    scene.enable_only(pairs);
    for (int k = 0; k < scene.nv(); ++k) {
      scene.parameters.damping[k] = rng.uniform(0.0, 0.3);
      scene.parameters.armature[k] = rng.uniform(0.0, 0.1);
    }
    Simulator simulator(scene, with("implicit-euler"));
    State state = simulator.initial_state();
    const Control control = simulator.hold();
    state.v = random_vector(rng, scene.nv());
    simulator.run(state, control, 3);
    const State before = state;
    simulator.step(state, control);
    for (const ContactReport& c : simulator.contacts()) pressed += norm(c.impulse) > 0.0;
    const StepDerivatives d = simulator.step_derivatives();
    exact += d.report.method == "exact";
    const ColumnErrors e = column_errors(simulator, before, control, dense(d));
    BOOST_TEST(e.worst(0, 3 * d.nv()) < 1e-6, trial << ": " << e.worst(0, 3 * d.nv()));
  }
  BOOST_TEST(exact > 15);
  BOOST_TEST(pressed > 10);
}

// Where the theorem is not worked out (a point that lands, rows that stay rigid, halved steps,
// another law) differences take over, and are right there too.
BOOST_AUTO_TEST_CASE(implicit_euler_falls_back) {
  Scene scene = soft("ball-drop", 0.3);
  Simulator simulator(scene, with("implicit-euler"));
  State state = simulator.initial_state();
  Control control = simulator.hold();
  state.v[0] = 0.3;
  int landed = 0;
  for (int k = 0; k < 1000; ++k) {
    const State before = state;
    simulator.step(state, control);
    const std::vector<ContactReport> contacts = simulator.contacts();
    if (contacts.empty() || norm(contacts[0].impulse) == 0.0) continue;
    const bool lands = contacts[0].gap > 0.0 || before.contacts.empty();
    const StepDerivatives d = simulator.step_derivatives();
    BOOST_TEST(d.report.method == (lands ? "differences" : "exact"), k);
    if (!lands) break;
    ++landed;
    const ColumnErrors e = column_errors(simulator, before, control, dense(d));
    BOOST_TEST(e.worst(0, 18) < 1e-6, e.worst(0, 18));
  }
  BOOST_TEST(landed == 1);
  SimulatorSettings parts = with("implicit-euler"), published = with("implicit-euler", "published");
  parts.compliant.substeps = 2;
  for (const SimulatorSettings& settings : {parts, published}) {
    Moment m(soft("cube-slide", 0.3), settings, 0.1);
    const StepDerivatives d = m.derivatives();
    BOOST_TEST(d.report.method == "differences");
    const ColumnErrors e = column_errors(m.simulator, m.state, m.control, dense(d));
    BOOST_TEST(e.worst(0, 18) < 1e-6, e.worst(0, 18));
  }
}

// Without the columns and rows of the springs a chain of steps is wrong.
BOOST_AUTO_TEST_CASE(chains_of_steps_need_the_springs) {
  for (const char* integrator : kIntegrators) {
    Moment m(soft("solo12", 0.9), with(integrator), 0.02);
    const int nv = m.state.v.size(), steps = 20;
    const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(2 * nv, -1.0, 1.0);
    const auto moved_by = [&](double h) {
      State s = m.state;
      s.q = integrate(m.simulator.scene(), m.state.q, x.head(nv) * h);
      s.v += x.tail(nv) * h;
      m.simulator.run(s, m.control, steps);
      return s;
    };
    State end = moved_by(0.0);
    const auto seen = [&](const State& s) {
      Eigen::VectorXd y(2 * nv);
      y << difference(m.simulator.scene(), end.q, s.q), s.v - end.v;
      return y;
    };
    const double h = 1e-7;
    const Eigen::VectorXd expected = (seen(moved_by(h)) - seen(moved_by(-h))) / (2.0 * h);
    Eigen::VectorXd chain = x, held = x;
    std::vector<SpringName> names;
    State s = m.state;
    for (int k = 0; k < steps; ++k) {
      m.simulator.step(s, m.control);
      const StepDerivatives& d = m.simulator.step_derivatives();
      chain = d.dx_dx() * (matched(2 * nv, names, d.report.springs) * chain);
      held = d.A() * held;
      names = d.report.springs;
    }
    const double size = expected.cwiseAbs().maxCoeff();
    const double error = (chain.head(2 * nv) - expected).cwiseAbs().maxCoeff() / size;
    BOOST_TEST(error < 1e-5, integrator << ": " << error);
    BOOST_TEST((held - expected).cwiseAbs().maxCoeff() > 1e-2 * size, integrator);
  }
}

BOOST_AUTO_TEST_CASE(products_are_those_of_the_matrix) {
  for (const char* integrator : kIntegrators) {
    Moment m(soft("solo12", 0.3), with(integrator), 0.05);
    const StepDerivatives& d = m.derivatives();
    const Eigen::MatrixXd X = d.dx_dx(), T = d.dx_dtorque();
    const int nv = d.nv(), n = static_cast<int>(X.rows());
    BOOST_TEST(n > 2 * nv);
    Rng rng(5);
    Eigen::VectorXd w(n), x(n + nv);
    for (double& y : w) y = rng.uniform(-1.0, 1.0);
    for (double& y : x) y = rng.uniform(-1.0, 1.0);
    Eigen::VectorXd state(n);
    state << x.head(2 * nv), x.tail(n - 2 * nv);
    const Eigen::VectorXd expected = X * state + T * x.segment(2 * nv, nv);
    const double size = X.cwiseAbs().maxCoeff() * nv;
    BOOST_TEST((m.simulator.jvp(x) - expected).cwiseAbs().maxCoeff() < 1e-6 * size, integrator);
    BOOST_TEST(m.simulator.jvp(x.head(3 * nv)).size() == 2 * nv);
    const StepGradient& g = m.simulator.vjp(w);
    Eigen::VectorXd gradient(n);
    gradient << g.q, g.v, g.springs;
    BOOST_TEST((gradient - X.transpose() * w).cwiseAbs().maxCoeff() < 1e-12 * size, integrator);
    BOOST_TEST((g.torque - T.transpose() * w).cwiseAbs().maxCoeff() < 1e-12 * size, integrator);
    const Eigen::VectorXd full = g.q, head = w.head(2 * nv);
    BOOST_TEST(m.simulator.vjp(head).q.size() == nv);
    BOOST_CHECK_THROW(m.simulator.vjp(w.head(2 * nv + 1)), std::invalid_argument);
    BOOST_CHECK_THROW(m.simulator.jvp(x.head(3 * nv + 1)), std::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(steps_are_the_same_with_and_without) {
  for (const char* integrator : kIntegrators) {
    const SimulatorSettings settings = with(integrator);
    Moment one(soft("cube-slide", 0.3), settings, 0.1), two(soft("cube-slide", 0.3), settings, 0.1);
    for (int k = 0; k < 30; ++k) {
      const StepReport before = one.simulator.step(one.state, one.control);
      const std::vector<ContactReport> contacts = one.simulator.contacts();
      one.simulator.step_derivatives();
      one.simulator.vjp(Eigen::VectorXd::Ones(12));
      BOOST_TEST(one.simulator.report().iterations == before.iterations);
      BOOST_TEST(one.simulator.report().creep == before.creep);
      const std::vector<ContactReport> after = one.simulator.contacts();
      BOOST_TEST_REQUIRE(after.size() == contacts.size());
      for (std::size_t i = 0; i < after.size(); ++i)
        BOOST_TEST(norm(after[i].impulse - contacts[i].impulse) == 0.0);
      two.simulator.step(two.state, two.control);
      BOOST_TEST((one.state == two.state), integrator << " step " << k);
    }
  }
}

// Parameters of the step that was taken, edits included.
BOOST_AUTO_TEST_CASE(parameters_are_those_of_the_step) {
  Moment m(soft("ball-drop", 0.3), with("implicit-euler"), 0.0);
  const Eigen::MatrixXd stiff = m.derivatives().A();
  for (Material& material : m.simulator.parameters().material) material.stiffness *= 0.5;
  const Eigen::MatrixXd softer = m.derivatives().A();
  BOOST_TEST((stiff - softer).cwiseAbs().maxCoeff() > 1e-2 * stiff.cwiseAbs().maxCoeff());
  const ColumnErrors e = column_errors(m.simulator, m.state, m.control, dense(m.derivatives()));
  BOOST_TEST(e.worst(0, 18) < 1e-6);
}

// A point exactly at the edge of its cone: one-sided.
BOOST_AUTO_TEST_CASE(kinks_are_counted) {
  Scene scene = soft("ball-drop", 0.5);
  Simulator simulator(scene, with("explicit-euler"));
  State state = simulator.initial_state();
  const Control control = simulator.hold();
  int most = 0;
  for (int k = 0; k < 2000 && most == 0; ++k) {
    State start = state;
    simulator.step(state, control);
    if (simulator.contacts().empty()) continue;
    const double gap = simulator.contacts()[0].gap;
    start.q[2] -= gap;  // just touching
    simulator.step(start, control);
    most = simulator.gradient_report().num_kinks;
    BOOST_TEST(!simulator.gradient_report().two_sided());
  }
  BOOST_TEST(most > 0);
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_said) {
  Moment m(soft("ball-drop", 0.3), with("rk4"), 0.0);
  BOOST_TEST(m.derivatives().report.method == "differences");
  BOOST_CHECK_THROW(m.simulator.step_derivatives({"mass"}), std::invalid_argument);
  Simulator fresh(soft("ball-drop", 0.3), with("rk4"));
  BOOST_CHECK_THROW(fresh.step_derivatives(), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
