#include "stiction/model/scene_io.hpp"
#include "stiction/simulator/simulator.hpp"

#include "math/quaternion.hpp"
#include "scenes/scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

// Scenes as parts of others: they move as alone, keep what they say, and leave the rest as it is.

using namespace stiction;

BOOST_AUTO_TEST_SUITE(composed_scenes_test)

namespace {

Transform turned(double angle, const Vec3d& p) {
  const double q[4] = {0.0, 0.0, std::sin(angle / 2), std::cos(angle / 2)};
  return {rotation_from_quaternion(q), p};
}

void refuses(const std::function<void()>& call, const std::string& text) {
  try {
    call();
    BOOST_TEST(false, "no error: " << text);
  } catch (const std::invalid_argument& e) {
    BOOST_TEST(std::string(e.what()).find(text) != std::string::npos, e.what());
  }
}

/// A post in the world, a box welded to it and one that hangs from it in a point, a servo.
Scene rig() {
  Scene scene;
  scene.name = "rig";
  const int post = scene.add_geometry("post", -1, Shape::sphere(0.1), turned(0.0, {0, 0, 1}));
  const int held = scene.add_body("held", Shape::box({0.1, 0.1, 0.1}), 1.0, turned(0.0, {1, 0, 1}));
  scene.add_body("hung", Shape::box({0.1, 0.2, 0.1}), 2.0, turned(0.0, {-1, 0, 1}));
  scene.add_weld("weld", -1, turned(0.0, {1, 0, 1}), held, Transform::identity());
  scene.add_point_closure("pin", -1, {-1, 0.2, 1}, 2 - 1, {0, 0.2, 0});
  Material slick;
  slick.friction = 0.1;
  scene.set_pair_material(post, 1, slick);
  scene.disable_pair(post, 2);
  scene.set_collision_filter(post, 3, 5);
  scene.add_visual({held, Shape::sphere(0.3), turned(0.0, {0, 0, 0.1}), {1, 0, 0, 1}});
  scene.add_visual({-1, Shape::sphere(0.2), turned(0.0, {0, 0, 1}), {0, 1, 0, 0.5}});
  std::vector<double> v(12, 0.0);
  v[7] = 0.5;
  scene.set_configuration("moving", scene.default_q(), v);
  return scene;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_part_moves_as_alone) {
  const Scene alone = rig();
  const Transform X = turned(0.7, {3.0, -2.0, 0.5});
  Scene both = make_scene("two-cubes");
  const int bodies = both.num_bodies(), shapes = static_cast<int>(both.geometries().size());
  const int nq = both.nq(), nv = both.nv();
  both.add_scene(alone, X, "r/");
  for (int a = 0; a < shapes; ++a)
    for (int b = shapes; b < shapes + 3; ++b) both.disable_pair(a, b);
  Simulator one(alone, {}), two(both, {});
  State x = make_state(alone, alone.default_q()), y = make_state(both, both.default_q());
  for (int k = 0; k < 200; ++k) {
    one.step(x, {});
    two.step(y, {});
  }
  BOOST_TEST(std::abs(x.q[9] - 1.0) > 0.01);  // the second box swings
  for (int b = 0; b < 2; ++b) {
    const Vec3d p{x.q[7 * b], x.q[7 * b + 1], x.q[7 * b + 2]};
    const Vec3d moved = X * p;
    for (int k = 0; k < 3; ++k) BOOST_TEST(std::abs(y.q[nq + 7 * b + k] - moved[k]) < 1e-9);
    for (int k = 0; k < 6; ++k)  // in axes of the bodies
      BOOST_TEST(std::abs(y.v[nv + 6 * b + k] - x.v[6 * b + k]) < 1e-8);
  }
  BOOST_TEST(both.num_bodies() == bodies + 2);
}

BOOST_AUTO_TEST_CASE(what_a_part_says_goes_with_it) {
  const Scene alone = rig();
  Scene both = make_scene("two-cubes");
  const int g = static_cast<int>(both.geometries().size()), nv = both.nv();
  both.add_scene(alone, turned(0.0, {0, 0, 2}));
  BOOST_TEST(both.geometries()[g].name == "rig/post");
  BOOST_TEST(both.geometries()[g].contype == 3u);
  BOOST_TEST(both.geometries()[g].conaffinity == 5u);
  BOOST_TEST(both.pair_material(both.parameters, g, g + 1).friction == 0.1);
  BOOST_TEST(both.pair_enabled(g, g + 1));
  BOOST_TEST(!both.pair_enabled(g, g + 2));
  BOOST_TEST(both.closures()[1].name == "rig/pin");
  BOOST_TEST(both.configuration_velocity("moving")[nv + 7] == 0.5);
  BOOST_TEST(both.visuals()[1].placement.p.z == 3.0);
  const Scene read = scene_from_bytes(scene_to_bytes(both), "both");
  BOOST_TEST(scene_to_bytes(read) == scene_to_bytes(both));
  BOOST_TEST(read.visuals().size() == 2u);
  BOOST_TEST(read.geometries()[g].conaffinity == 5u);
  BOOST_TEST(read.configuration_velocity("moving")[nv + 7] == 0.5);
}

BOOST_AUTO_TEST_CASE(listed_pairs_stay_listed) {
  Scene listed = rig(), open = rig();
  listed.enable_only({{0, 1}});
  Scene one = open;
  one.add_scene(listed, Transform::identity(), "b/");
  BOOST_TEST(one.pair_enabled(3, 4));
  BOOST_TEST(!one.pair_enabled(4, 5));
  BOOST_TEST(one.pair_enabled(1, 4));  // of the two
  Scene two = listed;
  two.add_scene(open, Transform::identity(), "b/");
  BOOST_TEST(two.pair_enabled(0, 1));
  BOOST_TEST(two.pair_enabled(4, 5));
  BOOST_TEST(!two.pair_enabled(3, 5));
  BOOST_TEST(!two.pair_enabled(1, 4));
}

BOOST_AUTO_TEST_CASE(filters_and_exceptions_from_them) {
  Scene scene = rig();
  scene.set_collision_filter(1, 8, 16);
  BOOST_TEST(!scene.pair_enabled(1, 2));
  scene.enable_pair(1, 2);
  BOOST_TEST(scene.pair_enabled(1, 2));
  scene.disable_pair(1, 2);
  BOOST_TEST(!scene.pair_enabled(1, 2));
  scene.enable_pair(1, 2);
  scene.enable_only({});
  BOOST_TEST(!scene.pair_enabled(1, 2));
}

/// Closed forms of each rule, and what of it is saved.
BOOST_AUTO_TEST_CASE(rules_of_friction) {
  Scene scene;
  Material one, two;
  one.friction = 0.25, one.torsional_friction = 0.03, one.rolling_friction = 0.001;
  two.friction = 0.81, two.torsional_friction = 0.02, two.rolling_friction = 0.004;
  scene.add_geometry("one", -1, Shape::sphere(0.1), Transform::identity(), one);
  scene.add_body("two", Shape::sphere(0.1), 1.0, Transform::identity(), two);
  const auto check = [&](const FrictionRule& a, const FrictionRule& b, std::array<double, 3> mu) {
    scene.set_friction_rule(0, a);
    scene.set_friction_rule(1, b);
    const Scene read = scene_from_bytes(scene_to_bytes(scene), "rules");
    for (const Scene* s : {&std::as_const(scene), &read}) {
      for (const auto& [g, h] : {std::pair(0, 1), std::pair(1, 0)}) {
        const Material m = s->pair_material(s->parameters, g, h);
        BOOST_TEST(std::abs(m.friction - mu[0]) < 1e-15);
        BOOST_TEST(m.torsional_friction == mu[1]);
        BOOST_TEST(m.rolling_friction == mu[2]);
      }
    }
  };
  check({}, {}, {0.45, 0.03, 0.004});
  check({true}, {}, {0.45, 0.03, 0.004});
  check({true, 3}, {false, 4}, {0.45, 0.02, 0.0});
  check({true, 1}, {}, {0.0, 0.02, 0.004});
  check({true}, {true}, {0.81, 0.03, 0.004});
  check({true, 1}, {true, 4}, {0.81, 0.03, 0.0});
  check({true, 3}, {true, 1}, {0.81, 0.0, 0.0});
  check({true, 6, 1}, {true, 6, 0}, {0.25, 0.03, 0.001});
  check({true, 3, 1}, {false, 6, 0}, {0.25, 0.0, 0.0});
  check({false, 6, -1}, {true, 1, 0}, {0.0, 0.0, 0.0});
  BOOST_CHECK_EXCEPTION(
      scene.set_friction_rule(0, {true, 2}), std::invalid_argument, [](const auto& e) {
        return std::string(e.what()) == "set_friction_rule(one).condim = 2: must be 1, 3, 4 or 6";
      });
}

/// MuJoCo's default geom has torsional friction that its condim lets none of count.
BOOST_AUTO_TEST_CASE(couples_that_cannot_count_need_no_solver_for_them) {
  Scene scene;
  Material m;
  m.torsional_friction = 0.005;
  scene.add_body("ball", Shape::sphere(0.1), 1.0, Transform::identity(), m);
  scene.add_ground(m);
  SimulatorSettings settings;
  settings.solver.name = "lcp-pgs";
  const auto refused = [&](const std::exception& e) {
    return std::string(e.what()).find("torsional_friction[0]") != std::string::npos;
  };
  for (int g = 0; g < 2; ++g) scene.set_friction_rule(g, {true, 3});
  BOOST_CHECK_NO_THROW(Simulator(scene, settings));
  scene.set_friction_rule(1, {true, 4});
  BOOST_CHECK_EXCEPTION(Simulator(scene, settings), std::invalid_argument, refused);
  scene.set_friction_rule(1, {false, 3});
  BOOST_CHECK_NO_THROW(Simulator(scene, settings));
}

BOOST_AUTO_TEST_CASE(what_has_no_name_gets_none) {
  Robot chain;  // as joints of two axes are: a body between them without a name
  chain.name = "chain";
  for (int k = 0; k < 2; ++k) {
    BodyDescription b;
    b.name = k == 0 ? "" : "end";
    b.joint_name = k == 0 ? "" : "turn";
    b.parent = k - 1;
    b.joint = JointType::kRevolute;
    b.mass = 1.0;
    b.inertia = {1, 0, 1, 0, 0, 1};
    chain.bodies.push_back(b);
    chain.dofs.push_back({});
    chain.neutral.push_back(0.0);
  }
  Scene alone, both;
  alone.add_robot(chain);
  both.add_scene(alone, Transform::identity(), "left/");
  both.add_scene(alone, Transform::identity(), "right/");
  const std::vector<std::string> bodies{"", "left/end", "", "right/end"};
  const std::vector<std::string> joints{"", "left/turn", "", "right/turn"};
  BOOST_TEST(both.body_names() == bodies);
  BOOST_TEST(both.joint_names() == joints);
}

BOOST_AUTO_TEST_CASE(constraints_keep_their_names_apart) {
  Scene scene;
  scene.add_body("ball", Shape::sphere(0.1), 1.0, Transform::identity());
  scene.add_weld("hold", -1, Transform::identity(), 0, Transform::identity());
  const std::string before = scene_to_bytes(scene);
  Scene part;
  part.name = "part";
  part.add_body("cube", Shape::box({0.1, 0.1, 0.1}), 1.0, Transform::identity());
  part.add_point_closure("hold", -1, {0, 0, 0}, 0, {0, 0, 0});
  refuses([&] { scene.add_scene(part, Transform::identity(), ""); },
          "add_scene(\"part\"): closure \"hold\" is taken; give another prefix than \"\"");
  BOOST_TEST((scene_to_bytes(scene) == before));
  scene.add_scene(part);
  BOOST_TEST(scene.closures()[1].name == "part/hold");
}

BOOST_AUTO_TEST_CASE(another_gravity_is_told) {
  Scene scene = rig(), moon = rig();
  scene.name = "here";
  moon.parameters.gravity = {0, 0, -1.62};
  scene.add_scene(rig(), Transform::identity(), "a/");
  BOOST_TEST(scene.messages().empty());
  scene.add_scene(moon, Transform::identity(), "b/");
  BOOST_TEST(scene.messages().size() == 1u);
  BOOST_TEST((scene.messages()[0].kind == LoadMessage::Kind::kWarning));
  BOOST_TEST(scene.messages()[0].text ==
             "scene \"rig\" was added to \"here\": its gravity [0, 0, -1.62] is not that of the "
             "scene, [0, 0, -9.81], which holds; set parameters.gravity to change it");
  BOOST_TEST(scene.parameters.gravity.z == -9.81);
}

BOOST_AUTO_TEST_CASE(errors_leave_the_scene) {
  Scene scene = rig();
  const std::string before = scene_to_bytes(scene);
  refuses([&] { scene.add_scene(rig(), Transform::identity(), ""); },
          "add_scene(\"rig\"): body \"held\" is taken; give another prefix than \"\"");
  Scene only;
  only.add_geometry("post", -1, Shape::sphere(1.0), Transform::identity());
  refuses([&] { scene.add_scene(only, Transform::identity(), ""); }, "geometry \"post\" is taken");
  Transform scaled;
  scaled.R.c0 = {2, 0, 0};
  refuses([&] { scene.add_scene(rig(), scaled, "b/"); }, "add_scene(\"rig\").X_W: rotation");
  refuses([&] { scene.enable_pair(0, 9); }, "enable_pair: geometry 9 does not exist");
  refuses([&] { scene.enable_pair(1, 1); }, "both belong to one body");
  refuses([&] { scene.set_collision_filter(9, 1, 1); }, "set_collision_filter: geometry 9");
  refuses([&] { scene.add_visual({7, Shape::sphere(1.0)}); }, "add_visual.body = 7");
  refuses([&] { scene.add_visual({0, Shape::sphere(1.0), Transform::identity(), {2, 0, 0, 1}}); },
          "add_visual.color");
  refuses([&] { scene.configuration_velocity("no"); }, "there are: moving");
  refuses([&] { scene.set_configuration("a", scene.default_q(), {1.0}); },
          "set_configuration(\"a\").v has 1 entries, the scene has nv = 12");
  BOOST_TEST((scene_to_bytes(scene) == before));
  scene.add_scene(scene);  // of itself
  BOOST_TEST(scene.body_names()[2] == "rig/held");
}

BOOST_AUTO_TEST_SUITE_END()
