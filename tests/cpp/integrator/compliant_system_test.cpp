#include "integrator/compliant_system.hpp"

#include "stiction/simulator/simulator.hpp"

#include "contact/contact_axes.hpp"
#include "integrator/step_coordinates.hpp"
#include "scenes/scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>

using namespace stiction;
using namespace stiction::compliance;

namespace {

struct Evaluation {
  Scene scene;
  Control control;
  SimulatorSettings settings;
  CompliantSystem system, other;

  explicit Evaluation(Scene s) : scene(std::move(s)) {
    for (Material& m : scene.parameters.material) {
      m.stiffness = 2e4;
      m.damping = 50.0;
    }
    system.resize(scene);
    other.resize(scene);
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
};

/// Velocities and spins at time t of the motion that starts at (q, v) with acceleration a.
std::vector<std::array<Vec3d, 2>> velocities_at(Evaluation& e,
                                                const State& s,
                                                const std::vector<double>& a,
                                                double t) {
  const int nv = e.scene.nv();
  std::vector<double> xi(nv), nu(nv);
  for (int k = 0; k < nv; ++k) {
    xi[k] = t * s.v[k] + 0.5 * t * t * a[k];
    nu[k] = s.v[k] + t * a[k];
  }
  Eigen::VectorXd q = s.q, v = s.v;
  displace(e.scene, s.q.data(), xi.data(), q.data());
  turn_axes(e.scene, s.q.data(), q.data(), nu.data(), v.data());
  locate(e.input(), q.data(), v.data(), {}, nullptr, 0.0, e.other);
  std::vector<std::array<Vec3d, 2>> out;
  for (const CompliantPoint& p : e.other.points) out.push_back({p.motion.velocity, p.motion.spin});
  return out;
}

/// x'' = b + Y f against central differences of x' along the motion, of turns too where `couples`.
/// Frames turn with the anchor body, and those of contact_frame() with A: the same where A carries
/// or rests.
void check_accelerations(Scene scene, State state, double tolerance, bool couples = false) {
  for (Material& m : scene.parameters.material)
    m.torsional_friction = m.rolling_friction = couples ? 0.05 : 0.0;
  Evaluation e(std::move(scene));
  const CompliantInput input = e.input();
  locate(input, state.q.data(), state.v.data(), {}, nullptr, 0.0, e.system);
  BOOST_TEST_REQUIRE(!e.system.points.empty());
  accelerate(input, false, 0.0, e.system);
  assemble(input, e.system);
  const int n = static_cast<int>(e.system.points.size());
  const int rows = e.system.row_start.back(), dim = couples ? 6 : 3;
  BOOST_TEST_REQUIRE(rows == dim * n);
  std::vector<double> f(rows), a(e.scene.nv()), jump(e.scene.nv());
  for (int i = 0; i < n; ++i) {
    const int row = e.system.row_start[i];
    f[row] = 0.3 * (i + 1);
    f[row + 1] = -0.2;
    f[row + dim - 1] = 5.0 + i;
    for (int r = 2; r < dim - 1; ++r) f[row + r] = 0.003 * r - 0.002 * i;
  }
  a = e.system.acceleration;
  apply_forces(e.scene, e.system, f, jump.data());
  for (int k = 0; k < e.scene.nv(); ++k) a[k] += jump[k];
  std::vector<double> Y(rows * rows);
  dense_delassus(e.system, 0, n, Y.data());
  const double step = 1e-5;
  const auto later = velocities_at(e, state, a, step), earlier = velocities_at(e, state, a, -step);
  BOOST_TEST_REQUIRE(later.size() == static_cast<std::size_t>(n));
  BOOST_TEST_REQUIRE(earlier.size() == static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    const CompliantPoint& p = e.system.points[i];
    const Vec3d change = later[p.contact][0] - earlier[p.contact][0];
    const double speeding_up = norm(change) / (2.0 * step);
    double b[6];
    add_drift(e.system, i, e.system.row_rate.data() + e.system.row_start[i], b);
    for (int r = 0; r < dim; ++r) {
      const int row = e.system.row_start[i] + r;
      double predicted = b[r];
      for (int c = 0; c < rows; ++c) predicted += Y[rows * c + row] * f[c];
      const bool turns = r >= 2 && r < dim - 1;
      const int axis = turns ? couple_axis(r) : r < 2 ? r : 2;
      const double seen =
          (later[p.contact][turns][axis] - earlier[p.contact][turns][axis]) / (2.0 * step);
      // A turn may be slow where its link is not: of differences the link's third rate is left.
      const double scale = turns ? speeding_up : std::abs(seen);
      BOOST_TEST(std::abs(predicted - seen) <= tolerance * (1.0 + scale),
                 "point " << i << " row " << r << ": " << predicted << ", seen " << seen);
    }
  }
}

State with_velocity(const State& state, double scale) {
  State s = state;
  for (int k = 0; k < s.v.size(); ++k) s.v[k] = scale * std::sin(1.0 + 2.3 * k);
  return s;
}

Scene one_body(const Shape& shape, double height, const Mat3d& R) {
  Scene scene;
  scene.add_ground();
  scene.add_body("body", shape, 1.3, {R, {0.1, 0.2, height}});
  return scene;
}

State start_of(const Scene& scene) { return make_state(scene, scene.default_q()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(compliant_system_test)

BOOST_AUTO_TEST_CASE(vertices_of_a_box) {
  const Scene scene = one_body(Shape::box({0.1, 0.2, 0.3}), 0.2999, Mat3d::identity());
  check_accelerations(scene, with_velocity(start_of(scene), 1.5), 1e-6);
}

// The point of a rolling ball has no centripetal acceleration towards its centre.
BOOST_AUTO_TEST_CASE(ball_and_capsule) {
  const Scene ball = one_body(Shape::sphere(0.1), 0.0999, Mat3d::identity());
  check_accelerations(ball, with_velocity(start_of(ball), 3.0), 1e-6);
  const Mat3d lying{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}};
  const Scene capsule = one_body(Shape::capsule(0.1, 0.2), 0.0999, lying);
  check_accelerations(capsule, with_velocity(start_of(capsule), 0.5), 1e-6);
}

// Points without a closed form: differences of the contact itself.
BOOST_AUTO_TEST_CASE(ellipsoid) {
  const Scene scene = one_body(Shape::ellipsoid({0.1, 0.15, 0.2}), 0.1999, Mat3d::identity());
  check_accelerations(scene, with_velocity(start_of(scene), 1.0), 1e-3);
}

BOOST_AUTO_TEST_CASE(feet_of_a_robot) {
  const Scene scene = make_scene("solo12");
  State state = start_of(scene);
  state.q[2] -= 1e-3;
  check_accelerations(scene, with_velocity(state, 1.0), 1e-5);
}

// Turns of bodies that tumble, in closed form and by differences, and of feet.
BOOST_AUTO_TEST_CASE(turns) {
  const Scene ball = one_body(Shape::sphere(0.1), 0.0999, Mat3d::identity());
  check_accelerations(ball, with_velocity(start_of(ball), 3.0), 1e-6, true);
  const Scene egg = one_body(Shape::ellipsoid({0.1, 0.15, 0.2}), 0.1999, Mat3d::identity());
  check_accelerations(egg, with_velocity(start_of(egg), 1.0), 1e-3, true);
  const Scene robot = make_scene("solo12");
  State standing = start_of(robot);
  standing.q[2] -= 1e-3;
  check_accelerations(robot, with_velocity(standing, 1.0), 1e-5, true);
}

BOOST_AUTO_TEST_CASE(displacement_and_its_rate) {
  Scene scene;
  scene.add_body("body", Shape::box({0.1, 0.2, 0.3}), 1.0, Transform::identity());
  State s = start_of(scene);
  const double xi[6] = {0.1, -0.2, 0.3, 0.7, -0.4, 0.9}, nu[6] = {0.4, 0.1, -0.3, 0.2, 0.5, -0.8};
  double rate[6];
  log_rate(scene, xi, nu, rate);
  // exp(xi + t rate) = exp(xi) exp(t w) to first order in t.
  const double t = 1e-6;
  double moved[6], turn[6] = {0, 0, 0, t * nu[3], t * nu[4], t * nu[5]};
  for (int k = 0; k < 6; ++k) moved[k] = xi[k] + t * rate[k];
  Eigen::VectorXd a = s.q, b = s.q;
  displace(scene, s.q.data(), moved, a.data());
  displace(scene, s.q.data(), xi, b.data());
  displace(scene, b.data(), turn, b.data());
  BOOST_TEST((a.tail(4) - b.tail(4)).norm() < 1e-11);
}

BOOST_AUTO_TEST_SUITE_END()
