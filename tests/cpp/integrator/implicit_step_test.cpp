#include "integrator/implicit_step.hpp"

#include "stiction/simulator/simulator.hpp"

#include "integrator/step_coordinates.hpp"
#include "scenes/scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>

using namespace stiction;
using namespace stiction::compliance;

namespace {

/// r(nu) of one step and its Jacobian, over all dofs of the scene.
struct Step {
  Scene scene;
  Control control;
  SimulatorSettings settings;
  State state;
  CompliantSystem start, end;
  EndDerivatives derivatives;
  std::vector<Motion<double>> scratch;

  Step(Scene s, State x, const std::string& law) : scene(std::move(s)), state(std::move(x)) {
    settings.compliant.law = law;
    settings.dt = 2e-3;
    start.resize(scene);
    end.resize(scene);
    control.torque = Eigen::VectorXd::Constant(scene.nv(), 0.1);
    locate(input(), state.q.data(), state.v.data(), state.contacts, nullptr, settings.dt, start);
  }
  CompliantInput input() const {
    return {scene,
            scene.parameters,
            control,
            settings.compliant,
            settings.contact,
            settings.collision,
            settings.solver,
            settings.dt};
  }
  std::vector<double> residual(const std::vector<double>& nu) {
    std::vector<double> xi(nu), r(nu.size());
    for (double& x : xi) x *= settings.dt;
    Eigen::VectorXd q = state.q, v = state.v;
    displace(scene, state.q.data(), xi.data(), q.data());
    turn_axes(scene, state.q.data(), q.data(), nu.data(), v.data());
    locate(input(), q.data(), v.data(), state.contacts, &start, 0.0, end);
    settle_end(input(), start, end, derivatives);
    const CompliantInput at = input();
    end_residual({at, state, nu.data()}, end, scratch, r.data());
    return r;
  }
  std::vector<double> jacobian(const std::vector<double>& nu) {
    const int n = scene.nv();
    residual(nu);
    std::vector<int> place(n);
    for (int k = 0; k < n; ++k) place[k] = k;
    std::vector<double> J(static_cast<std::size_t>(n) * n, 0.0);
    for (std::size_t t = 0; t < scene.trees().size(); ++t) {
      DualTree dual;
      dual.resize(scene.trees()[t]);
      const CompliantInput at = input();
      end_columns({at, state, nu.data()},
                  end,
                  derivatives,
                  static_cast<int>(t),
                  dual,
                  {place, n, J.data()});
    }
    return J;
  }
};

void check(Step step, const std::vector<double>& nu, double tolerance) {
  const int n = step.scene.nv();
  const std::vector<double> J = step.jacobian(nu);
  BOOST_TEST(!step.end.points.empty());
  double scale = 0.0, worst = 0.0;
  for (const double x : J) scale = std::max(scale, std::abs(x));
  for (int k = 0; k < n; ++k) {
    const double h = 1e-6;
    std::vector<double> plus = nu, minus = nu;
    plus[k] += h;
    minus[k] -= h;
    const std::vector<double> a = step.residual(plus), b = step.residual(minus);
    for (int i = 0; i < n; ++i)
      worst = std::max(worst, std::abs((a[i] - b[i]) / (2.0 * h) - J[n * i + k]));
  }
  BOOST_TEST(worst <= tolerance * scale, "off by " << worst / scale << " of " << scale);
}

std::vector<double> velocity(int n, double scale) {
  std::vector<double> v(n);
  for (int k = 0; k < n; ++k) v[k] = scale * std::cos(2.0 + 1.7 * k);
  return v;
}

void soften(Scene& scene, double friction, double torsion = 0.0, double rolling = 0.0) {
  for (Material& m : scene.parameters.material) {
    m = {friction, 0.0, 2e4, 40.0};
    m.torsional_friction = torsion;
    m.rolling_friction = rolling;
  }
}

State moving(const Scene& scene, double down, double scale) {
  State s = make_state(scene, scene.default_q());
  s.q[2] -= down;
  const std::vector<double> v = velocity(scene.nv(), scale);
  for (int k = 0; k < scene.nv(); ++k) s.v[k] = v[scene.nv() - 1 - k];
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(implicit_step_test)

// Sticking, sliding and touching feet of a robot with servos, both laws.
BOOST_AUTO_TEST_CASE(robot_on_its_feet) {
  for (const char* law : {"continuous", "published"}) {
    for (const double friction : {0.2, 5.0}) {
      for (const double down : {1e-3, -3e-4}) {
        Scene scene = make_scene("solo12");
        soften(scene, friction);
        scene.set_gains(6, 3.0, 0.1);
        const State state = moving(scene, down, 0.3);
        std::vector<double> nu = velocity(scene.nv(), 0.3);
        nu[2] -= 0.4;
        check(Step(scene, state, law), nu, 1e-6);
      }
    }
  }
}

// The same feet with torsional friction, with rolling friction and without sliding friction.
BOOST_AUTO_TEST_CASE(robot_on_feet_with_couples) {
  const double coefficients[][3] = {
      {0.2, 0.01, 0.0}, {0.2, 0.03, 0.02}, {5.0, 0.5, 0.4}, {0.0, 0.02, 0.01}};
  for (const auto& [friction, torsion, rolling] : coefficients) {
    for (const double down : {1e-3, -3e-4}) {
      Scene scene = make_scene("solo12");
      soften(scene, friction, torsion, rolling);
      const State state = moving(scene, down, 0.3);
      std::vector<double> nu = velocity(scene.nv(), 0.3);
      nu[2] -= 0.4;
      check(Step(scene, state, "continuous"), nu, 1e-6);
    }
  }
}

BOOST_AUTO_TEST_CASE(box_that_twists) {
  for (const double friction : {0.4, 5.0}) {
    Scene scene;
    scene.add_ground();
    scene.add_body("box", Shape::box({0.2, 0.2, 0.1}), 2.0, {Mat3d::identity(), {0, 0, 0.1}});
    soften(scene, friction, 0.02, 0.01);
    for (const double down : {1e-3, -3e-4}) {
      std::vector<double> nu = velocity(6, 0.2);
      nu[2] -= down < 0.0 ? 0.4 : 0.0;
      check(Step(scene, moving(scene, down, 0.2), "continuous"), nu, 1e-6);
    }
  }
}

// Vertices of a box on a plane.
BOOST_AUTO_TEST_CASE(box_on_the_ground) {
  Scene scene;
  scene.add_ground();
  scene.add_body("box", Shape::box({0.2, 0.2, 0.1}), 2.0, {Mat3d::identity(), {0, 0, 0.1}});
  soften(scene, 0.4);
  check(Step(scene, moving(scene, 1e-3, 0.2), "continuous"), velocity(6, 0.2), 1e-7);
}

// A ball on a free box: rows of one tree in columns of the other. The point's own way over the face
// is left out of the Jacobian, f / r beside k.
BOOST_AUTO_TEST_CASE(two_free_trees) {
  Scene scene;
  scene.add_body("box", Shape::box({0.2, 0.2, 0.1}), 3.0, Transform::identity());
  scene.add_body("ball", Shape::sphere(0.1), 0.5, {Mat3d::identity(), {0.05, 0, 0.1995}});
  soften(scene, 0.4);
  State state = make_state(scene, scene.default_q());
  state.v.setConstant(0.05);
  check(Step(scene, state, "continuous"), velocity(scene.nv(), 0.05), 1e-2);
}

BOOST_AUTO_TEST_SUITE_END()
