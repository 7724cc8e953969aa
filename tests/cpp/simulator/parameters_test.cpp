#include "stiction/model/state_io.hpp"
#include "stiction/simulator/simulator.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace stiction;
using stiction::test::Rng;
using stiction::test::rotation;
using stiction::test::uniform_vector;

namespace parameters_test {

Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

Shape resized(Shape shape, const Vec3d& size) {
  shape.size = size;
  return shape;
}

/// Composes one and the same scene, with the numbers that are given in the place of its own.
struct Composer {
  static constexpr Vec3d kAxes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const Parameters* given;  ///< null: the scene's own
  Scene scene;

  template <class T>
  T number(const std::vector<T> Parameters::* member, std::size_t i, const T& own) const {
    return given == nullptr ? own : (given->*member)[i];
  }
  /// Of the next geometry.
  void geometry(const std::string& name, int body, const Shape& shape, const Transform& X) {
    const std::size_t g = scene.geometries().size();
    scene.add_geometry(name,
                       body,
                       resized(shape, number(&Parameters::geometry_size, g, shape.size)),
                       number(&Parameters::geometry_placement, g, X),
                       number(&Parameters::material, g, soft()));
    scene.parameters.geometry_velocity[g] = number(&Parameters::geometry_velocity, g, Twist{});
    scene.parameters.surface_velocity[g] = number(&Parameters::surface_velocity, g, Twist{});
  }
  static Material soft() { return {0.6, 0.1, 2e4, 60.0, 0.8, 0.7, 0.1}; }

  void body(const std::string& name, const Shape& shape, const Transform& X_W) {
    const std::size_t b = scene.num_bodies();
    const MassProperties m{
        number(&Parameters::mass, b, 0.5),
        number(&Parameters::com, b, Vec3d{0.001, 0.002, -0.003}),
        number(&Parameters::inertia, b, Sym3d{1e-3, 1e-5, 1.2e-3, 2e-5, 0.0, 1.1e-3})};
    const int body = scene.add_body(name, m, number(&Parameters::base, scene.trees().size(), X_W));
    geometry(name, body, shape, at(0.001, 0.0, 0.002));
  }

  void pair(int a, int b, const Material& own) {
    scene.set_pair_material(
        a, b, number(&Parameters::pair_material, scene.material_pairs().size(), own));
  }

  void arm() {
    Robot robot;
    robot.name = "arm";
    const JointType joints[] = {
        JointType::kRevolute, JointType::kRevolute, JointType::kRevolute, JointType::kPrismatic};
    const Vec3d axes[] = {{0, 1, 0}, {0.6, 0.0, 0.8}, {0, 1, 0}, {1, 0, 0}};
    const std::size_t body = scene.num_bodies(), dof = scene.nv();
    for (int i = 0; i < 4; ++i) {
      BodyDescription b;
      b.name = "link" + std::to_string(i);
      b.parent = i - 1;
      b.joint = joints[i];
      b.axis = number(&Parameters::axis, body + i, axes[i]);
      b.placement = number(&Parameters::placement, body + i, at(i == 0 ? 0.0 : 0.2, 0, 0));
      b.mass = number(&Parameters::mass, body + i, 0.8);
      b.com = number(&Parameters::com, body + i, Vec3d{0.1, 0.01, 0.0});
      b.inertia = number(&Parameters::inertia, body + i, Sym3d{1e-3, 0, 5e-3, 0, 0, 5e-3});
      robot.bodies.push_back(b);
      DofDescription d;
      d.armature = number(&Parameters::armature, dof + i, 0.01);
      d.damping = number(&Parameters::damping, dof + i, 0.1);
      d.dry_friction = number(&Parameters::dry_friction, dof + i, 0.3);
      d.lower = number(&Parameters::lower, dof + i, i == 3 ? 0.0 : -0.01);
      d.upper = number(&Parameters::upper, dof + i, 0.02);
      d.effort_limit = number(&Parameters::effort_limit, dof + i, 0.02);
      robot.dofs.push_back(d);
    }
    robot.neutral = {0.0, 0.0, 0.0, 0.0};
    GearDescription gear;
    gear.dof = 2;
    gear.driver = 0;
    gear.ratio = number(&Parameters::gear_ratio, 0, -1.5);
    gear.offset = number(&Parameters::gear_offset, 0, 0.001);
    robot.gears.push_back(gear);
    const Transform own = at(2.0, 0.0, 0.1);
    scene.add_robot(robot, number(&Parameters::base, scene.trees().size(), own));
    for (std::size_t i = 0; i < 4; ++i) {
      scene.set_gains(static_cast<int>(dof + i),
                      number(&Parameters::kp, dof + i, 20.0),
                      number(&Parameters::kd, dof + i, 1.0));
      scene.parameters.spring_stiffness[dof + i] =
          number(&Parameters::spring_stiffness, dof + i, 5.0);
      scene.parameters.spring_rest[dof + i] = number(&Parameters::spring_rest, dof + i, 0.2);
    }
    geometry("tip", static_cast<int>(body) + 3, Shape::sphere(0.105), at(0.05, 0, 0));
  }

  /// Every kind of joint row, shape and number; more geometries than the broad phase takes at once.
  static Scene compose(std::uint64_t seed, const Parameters* given) {
    Rng rng(seed);
    Composer c{given, {}};
    if (given != nullptr) c.scene.parameters.gravity = given->gravity;
    c.geometry("ground", -1, Shape::half_space(), at(0, 0, 0));
    for (int k = 0; k < 8; ++k)
      c.geometry("tile" + std::to_string(k), -1, Shape::box({0.2, 0.5, 0.02}), at(0.4 * k, 0, 0));
    const Shape shapes[] = {
        Shape::sphere(0.1),
        Shape::capsule(0.06, 0.05),
        Shape::box({0.1, 0.08, 0.09}),
        Shape::cylinder(0.09, 0.1),
        Shape::cone(0.1, 0.1),
        Shape::ellipsoid({0.1, 0.08, 0.09}),
        Shape::convex_mesh(
            {{0.1, 0, 0}, {-0.1, 0.1, 0}, {-0.1, -0.1, 0}, {0, 0, 0.1}, {0, 0, -0.1}})};
    for (int k = 0; k < 7; ++k) {
      const Transform X{rotation(rng),
                        {0.19 * k + rng.uniform(-0.02, 0.02), 0.0, rng.uniform(0.1, 0.12)}};
      c.body("body" + std::to_string(k), shapes[k], X);
    }
    c.arm();
    const auto frame = [&](auto member, std::size_t i, const Transform& own) {
      return c.number(member, i, own);
    };
    c.scene.add_point_closure("rope",
                              0,
                              frame(&Parameters::closure_X_A, 0, at(0.1, 0, 0)).p,
                              1,
                              frame(&Parameters::closure_X_B, 0, at(-0.09, 0, 0)).p);
    c.scene.add_weld("glue",
                     4,
                     frame(&Parameters::closure_X_A, 1, at(0.1, 0, 0)),
                     5,
                     frame(&Parameters::closure_X_B, 1, at(-0.09, 0, 0)));
    c.pair(0, 12, {0.3, 0.0, 1e4, 20.0});
    c.pair(2, 11, {0.2, 0.0, 3e4, 30.0});
    c.pair(9, 10, {0.4, 0.0, 3e4, 30.0});
    return c.scene;
  }
};

double changed(double x, Rng& rng) { return x * rng.uniform(0.9, 1.1); }
void change(double& x, Rng& rng) { x = changed(x, rng); }
void change(Vec3d& x, Rng& rng) {
  for (int k = 0; k < 3; ++k) change(x[k], rng);
}
void change(Sym3d& x, Rng& rng) {
  const double s = rng.uniform(0.9, 1.1);
  for (double* e : {&x.xx, &x.xy, &x.yy, &x.xz, &x.yz, &x.zz}) *e *= s;
}
void change(Transform& X, Rng& rng) { X.p = X.p + uniform_vector(rng, 0.005); }
void change(Twist& t, Rng& rng) { t = {uniform_vector(rng, 0.05), uniform_vector(rng, 0.05)}; }
void change(Material& m, Rng& rng) {
  for (double* x : {&m.friction,
                    &m.restitution,
                    &m.stiffness,
                    &m.damping,
                    &m.tangential_stiffness_ratio,
                    &m.tangential_damping_ratio,
                    &m.dissipation,
                    &m.rest_offset})
    change(*x, rng);
}

/// Other numbers in the array of that name; false if it cannot change.
bool change_array(Parameters& p, const std::string& array, Rng& rng) {
  bool any = false;
  Parameters::each_array(
      [&](const std::string& name, auto& values) {
        using T = std::decay_t<decltype(values)>;
        if (name != array) return;
        if constexpr (std::is_same_v<T, Vec3d>) {
          values = {0.3, -0.2, -9.0};
          any = true;
        } else if constexpr (!std::is_same_v<T, std::vector<std::int8_t>>) {
          for (auto& x : values) change(x, rng);
          any = true;
        }
      },
      p);
  if (array == "axis") {
    for (std::size_t b = 0; b < p.axis.size(); ++b) {
      Vec3d& a = p.axis[b];
      if (p.axis_code[b] < 3) a = Composer::kAxes[p.axis_code[b]];
      a = a * (1.0 / norm(a));
    }
  }
  for (std::size_t b = 0; b < 7; ++b)
    p.placement[b] = Transform::identity();  // free-flyers have no use for it
  if (array == "lower")                      // 0 stays 0 by a factor
    for (std::size_t k = 0; k < p.lower.size(); ++k) p.lower[k] = std::min(p.lower[k], p.upper[k]);
  return any;
}

std::vector<std::string> array_names() {
  std::vector<std::string> names;
  const Parameters none;
  Parameters::each_array([&](const char* name, const auto&) { names.push_back(name); }, none);
  return names;
}

SimulatorSettings settings(const std::string& integrator) {
  SimulatorSettings s;
  s.integrator = integrator;
  s.dt = 2e-3;
  return s;
}

bool same_numbers(const Parameters& a, const Parameters& b) { return !EditWatch(a).edited(b); }

}  // namespace parameters_test

using namespace parameters_test;

BOOST_AUTO_TEST_SUITE(parameters_test)

// Change numbers between two steps, through a reference held since before: the steps after it are,
// to the bit of the whole state, those of a simulator of a scene that was composed with them.
BOOST_AUTO_TEST_CASE(changed_numbers_are_those_of_a_scene_built_so) {
  std::map<std::string, int> felt;
  for (const std::string integrator : {"semi-implicit-euler", "exponential", "implicit-euler"}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const Scene scene = Composer::compose(seed, nullptr);
      Simulator sim(scene, settings(integrator));
      Parameters& held = sim.parameters();
      State before = sim.initial_state();
      const Control hold = sim.hold();
      sim.run(before, hold, 40);
      BOOST_REQUIRE(before.contacts.size() > 1u);
      Rng rng(seed);
      for (const std::string& array : array_names()) {
        const bool surface = array == "geometry_velocity" || array == "surface_velocity";
        if (surface && integrator != "semi-implicit-euler") continue;  // refused there
        Simulator unchanged(scene, settings(integrator));
        held = scene.parameters;
        if (!change_array(held, array, rng)) continue;
        scene.validate(held);
        const Scene built = Composer::compose(seed, &held);
        BOOST_TEST(same_numbers(built.parameters, held), array);
        Simulator fresh(built, settings(integrator));
        State here = before, there = before, old = before;
        for (int k = 0; k < 3; ++k) {
          sim.step(here, hold);
          fresh.step(there, hold);
          unchanged.step(old, hold);
          BOOST_TEST(save_state(here) == save_state(there), integrator << ": " << array);
        }
        felt[array] += save_state(here) != save_state(old);
      }
    }
  }
  for (const std::string& array : array_names())
    BOOST_TEST((felt[array] > 0) == (array != "axis_code"), array << " was never felt");
}

// A step that finds an edit raises the version by one, whatever was assigned to it; none keeps it.
BOOST_AUTO_TEST_CASE(the_version_counts_edits) {
  const Scene scene = Composer::compose(1, nullptr);
  Simulator sim(scene);
  State state = sim.initial_state();
  const auto step = [&] { return sim.step(state, {}), sim.parameters().version; };
  BOOST_TEST(step() == 0u);
  Rng rng(2);
  std::uint64_t version = 0;
  for (const std::string& array : array_names()) {
    if (!change_array(sim.parameters(), array, rng)) continue;
    BOOST_TEST(sim.edited(), array);
    BOOST_TEST(step() == ++version, array);
    BOOST_TEST(!sim.edited(), array);
    BOOST_TEST(step() == version, array);
  }
  sim.parameters() = scene.parameters;
  BOOST_TEST(step() == ++version);
  sim.parameters().version = 77;
  BOOST_TEST(step() == version);
}

// Sleep does not notice parameters, as documented: what sleeps goes on to sleep. After wake() the
// steps are those of a scene built so.
BOOST_AUTO_TEST_CASE(sleep_goes_on_until_woken) {
  Scene scene;
  scene.add_ground();
  scene.add_body("ball", Shape::sphere(0.1), 1.0, at(0, 0, 0.1));
  SimulatorSettings s;
  s.sleeping.enabled = true;
  s.sleeping.time = 0.02;
  Simulator sim(scene, s);
  State state = sim.initial_state();
  sim.run(state, {}, 40);
  BOOST_REQUIRE(sim.asleep(state).size() == 1u);
  sim.parameters().geometry_size[1].x = 0.11;
  const Eigen::VectorXd q = state.q;
  sim.run(state, {}, 5);
  BOOST_TEST(sim.asleep(state).size() == 1u);
  BOOST_TEST(state.q == q);
  sim.wake(state);
  Scene larger;
  larger.add_ground();
  larger.add_body("ball",
                  {scene.parameters.mass[0], scene.parameters.com[0], scene.parameters.inertia[0]},
                  at(0, 0, 0.1));
  larger.add_geometry("ball", 0, Shape::sphere(0.11), Transform::identity());
  Simulator fresh(larger, s);
  State other = state;
  sim.run(state, {}, 10);
  fresh.run(other, {}, 10);
  BOOST_TEST(save_state(state) == save_state(other));
  BOOST_TEST(state.q[2] > 0.1 + 1e-4);
}

// Each is refused by name, index and value, and the message says what it must be.
BOOST_AUTO_TEST_CASE(numbers_out_of_range_are_named) {
  const Scene scene = Composer::compose(1, nullptr);
  const auto refusal = [&](const std::function<void(Parameters&)>& edit) {
    Parameters p = scene.parameters;
    edit(p);
    try {
      scene.validate(p);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  const auto check = [&](const std::function<void(Parameters&)>& edit,
                         const std::vector<std::string>& words) {
    const std::string text = refusal(edit);
    for (const std::string& word : words)
      BOOST_TEST(text.find(word) != std::string::npos, text << " lacks " << word);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(refusal([](Parameters&) {}) == "accepted");
  const int ball = scene.geometry("body0"), ground = scene.geometry("ground"),
            mesh = scene.geometry("body6"), box = scene.geometry("body2");
  const std::string of_ball = "geometry_size[" + std::to_string(ball) + "] of \"body0\"";
  check([&](auto& p) { p.geometry_size[ball].x = -0.1; },
        {of_ball, "sphere: radius = -0.1 must be finite and > 0"});
  check([&](auto& p) { p.geometry_size[ball].x = nan; }, {of_ball, "radius = nan"});
  check([&](auto& p) { p.geometry_size[ball].y = 0.3; }, {of_ball, "size[1] = 0.3 must stay 0"});
  check([&](auto& p) { p.geometry_size[box].z = 1e40; }, {"half_extents.z = 1e+40", "1e-30"});
  check([&](auto& p) { p.geometry_size[ground].x = 1.0; }, {"half_space", "must stay 0", "shape"});
  check([&](auto& p) { p.geometry_size[mesh].x = 2.0; }, {"convex_mesh", "must stay 0"});
  check([&](auto& p) { p.gear_ratio[0] = kInfinity; },
        {"parameters.gear_ratio[0] = inf", "finite"});
  check([&](auto& p) { p.gear_offset[0] = nan; }, {"parameters.gear_offset[0] = nan", "finite"});
  check([&](auto& p) { p.closure_X_A[1].R.c0 = {2, 0, 0}; }, {"closure_X_A(1)", "= 2: must be 1"});
  check([&](auto& p) { p.closure_X_B[0].p.y = nan; }, {"closure_X_B(0) position[1] = nan"});
  check([&](auto& p) { p.pair_material[2].friction = -1.0; },
        {"parameters.pair_friction[2] = -1: must be >= 0"});
  check([&](auto& p) { p.pair_material.pop_back(); },
        {"belong to another scene", "pair_material has 2 entries, this one 3"});
}

// The angle of a continuous joint is known up to turns.
BOOST_AUTO_TEST_CASE(a_continuous_driver_keeps_whole_ratios) {
  Robot robot;
  robot.name = "wheels";
  for (const char* name : {"one", "two"}) {
    BodyDescription b;
    b.name = name;
    b.joint = JointType::kContinuous;
    b.mass = 1.0;
    b.inertia = {1e-3, 0, 1e-3, 0, 0, 1e-3};
    robot.bodies.push_back(b);
    robot.neutral.insert(robot.neutral.end(), {1.0, 0.0});
  }
  robot.dofs.resize(2);
  Scene scene;
  scene.add_robot(robot);
  scene.add_gear("teeth", 0, 1, 2.0, 0.0);
  Parameters p = scene.parameters;
  p.gear_ratio[0] = -3.0;
  scene.validate(p);
  p.gear_ratio[0] = 2.5;
  BOOST_CHECK_EXCEPTION(scene.validate(p), std::invalid_argument, [](const auto& e) {
    return std::string(e.what()).find("parameters.gear_ratio[0] = 2.5: must be an integer") == 0;
  });
}

BOOST_AUTO_TEST_SUITE_END()
