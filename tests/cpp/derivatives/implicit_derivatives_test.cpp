#include "stiction/model/tangents.hpp"

#include "model/contact_order.hpp"
#include "support/compliant_moment.hpp"
#include "support/random_tree.hpp"
#include "support/recovery.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// Steps of implicit-euler, differentiated by the implicit function theorem.

namespace stiction::test {
namespace {

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

BOOST_AUTO_TEST_SUITE(implicit_derivatives_test)

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
