#include "stiction/geometry/height_field.hpp"
#include "stiction/model/scene_io.hpp"
#include "stiction/model/state_io.hpp"
#include "stiction/simulator/simulator.hpp"

#include "model/byte_stream.hpp"
#include "model/saved_scene.hpp"
#include "scenes/scenes.hpp"
#include "support/random.hpp"
#include "support/random_world.hpp"
#include "support/test_data.hpp"
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

// A saved scene: what is read back is the same to the last bit, and nothing of a file is trusted.

namespace stiction::test {
namespace {

using Bytes = std::string;

/// Steps of a simulator, all of the state at the end.
Bytes after_steps(const Scene& scene, const SimulatorSettings& settings, State state, int steps) {
  Simulator simulator(scene, settings);
  Control control;
  for (int k = 0; k < steps; ++k) simulator.step(state, control);
  return save_state(state);
}

void check_restored(const Scene& scene, const Scene& other) {
  BOOST_TEST(other.fingerprint() == scene.fingerprint());
  BOOST_TEST(first_difference(other.parameters, scene.parameters) == "");
  BOOST_TEST(other.name == scene.name);
  BOOST_TEST((other.default_q() == scene.default_q()));
  BOOST_TEST((other.configurations() == scene.configurations()));
  BOOST_TEST((other.material_pairs() == scene.material_pairs()));
  BOOST_TEST(other.messages().size() == scene.messages().size());
  BOOST_TEST(other.robots().size() == scene.robots().size());
  const int n = static_cast<int>(scene.geometries().size());
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n && b < a + 50; ++b) {
      BOOST_TEST(other.pair_enabled(a, b) == scene.pair_enabled(a, b));
    }
  }
}

/// A small world with one of everything.
Scene one_of_everything() {
  Rng rng(7);
  Features f;
  f.springs = f.closures = f.gears = f.restitution = true;
  Scene scene = random_world(rng, f).scene;
  scene.name = "everything \xc3\xa9";
  std::vector<Vec3d> points;
  for (int i = 0; i < 30; ++i) points.push_back(unit_vector(rng) * 0.1);
  const Shape hull = Shape::convex_mesh(points);
  scene.add_body("stone", hull, 1.0, {Mat3d::identity(), {0, 0, 3}});
  scene.add_body("twin", hull, 2.0, {Mat3d::identity(), {0, 1, 3}});
  const Shape mesh = Shape::triangle_mesh({{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}},
                                          {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3});
  scene.add_geometry("splinter", scene.body("stone"), mesh, Transform::identity());
  const std::vector<double> heights{0, 0.1, 0.2, 0.05, 0.1, 0, 0.3, 0.2, 0.1};
  const Shape field = Shape::height_field(3, 3, heights, 0.1, 0.3, 0.7);
  scene.add_geometry("hills", -1, field, {Mat3d::identity(), {5, 0, 0}});
  Material soft;
  soft.stiffness = 1e4;
  soft.torsional_friction = 0.01;
  scene.set_pair_material(0, static_cast<int>(scene.geometries().size()) - 1, soft);
  scene.set_configuration("lifted", scene.default_q());
  scene.add_message({LoadMessage::Kind::kMesh, "a.urdf", 7, "a mesh"});
  return scene;
}

std::string refusal(const Bytes& bytes) {
  try {
    scene_from_bytes(bytes);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

Bytes with_checksum(Bytes bytes) {
  const std::uint64_t size = bytes.size(), end = size - sizeof size;
  std::memcpy(&bytes[kSceneHeaderSize - sizeof size], &size, sizeof size);
  const std::uint64_t sum = checksum(bytes.data(), end);
  std::memcpy(&bytes[end], &sum, sizeof sum);
  return bytes;
}

void has(const std::string& text, const std::string& part) {
  BOOST_TEST(text.find(part) != std::string::npos, "\"" << text << "\" lacks \"" << part << "\"");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(saved_scenes_test)

BOOST_AUTO_TEST_CASE(built_in_scenes_step_on_with_the_same_bits) {
  for (const SceneInfo& info : scenes()) {
    if (info.name == "ycb-pile") continue;  // below, with few bodies
    const Scene scene = make_scene(info.name);
    const Bytes bytes = scene_to_bytes(scene);
    const Scene other = scene_from_bytes(bytes);
    BOOST_TEST_CONTEXT(info.name) {
      check_restored(scene, other);
      BOOST_TEST((scene_to_bytes(other) == bytes));
      const State state = make_state(scene, scene.default_q());
      BOOST_TEST((after_steps(scene, {}, state, 10) == after_steps(other, {}, state, 10)));
    }
  }
  const Scene pile = make_scene("ycb-pile(7)"), other = scene_from_bytes(scene_to_bytes(pile));
  const State state = make_state(pile, pile.default_q());
  BOOST_TEST((after_steps(pile, {}, state, 30) == after_steps(other, {}, state, 30)));
}

BOOST_AUTO_TEST_CASE(random_worlds_step_on_with_the_same_bits) {
  Rng rng(99);
  for (int i = 0; i < 60; ++i) {
    const World world = draw_world(rng, i, 0.3, 0.5).world;
    const Bytes bytes = scene_to_bytes(world.scene);
    const Scene other = scene_from_bytes(bytes);
    BOOST_TEST_CONTEXT("world " << i) {
      check_restored(world.scene, other);
      BOOST_TEST((scene_to_bytes(other) == bytes));
      BOOST_TEST((after_steps(world.scene, world.settings, world.state, 3) ==
                  after_steps(other, world.settings, world.state, 3)));
    }
  }
}

BOOST_AUTO_TEST_CASE(one_of_everything_comes_back) {
  const Scene scene = one_of_everything();
  const Scene other = scene_from_bytes(scene_to_bytes(scene));
  check_restored(scene, other);
  const auto shape = [](const Scene& s, const char* name) {
    return s.geometries()[s.geometry(name)].shape;
  };
  BOOST_TEST(shape(other, "stone").mesh == shape(other, "twin").mesh);  // shared again
  BOOST_TEST(shape(other, "hills").field->base == shape(scene, "hills").field->base);
  BOOST_TEST((shape(other, "splinter").mesh != nullptr));  // a convex solid
  BOOST_TEST(other.closures().size() == scene.closures().size());
  BOOST_TEST(other.gears().size() == scene.gears().size());
  BOOST_TEST(!scene.closures().empty());
  BOOST_TEST(!scene.gears().empty());
  const LoadMessage& message = other.messages().back();
  BOOST_TEST((message.kind == LoadMessage::Kind::kMesh && message.line == 7));
  BOOST_TEST(message.file == "a.urdf");
  BOOST_TEST(message.text == "a mesh");
}

// Such a dof is computed as one about any axis, whatever its axis is now.
BOOST_AUTO_TEST_CASE(an_axis_turned_to_x_stays_a_general_one) {
  Robot robot;
  robot.name = "arm";
  BodyDescription b;
  b.name = "link";
  b.axis = {0.6, 0.0, 0.8};
  b.mass = 1.0;
  b.com = {0, 0.2, 0};
  b.inertia = {0.1, 0, 0.1, 0, 0, 0.1};
  robot.bodies = {b};
  robot.dofs.resize(1);
  robot.neutral = {0.0};
  Scene scene;
  scene.add_robot(robot);
  scene.parameters.axis[0] = {1, 0, 0};
  const Scene other = scene_from_bytes(scene_to_bytes(scene));
  BOOST_TEST(int(other.parameters.axis_code[0]) == 3);
  const State state = make_state(scene, {0.3});
  BOOST_TEST((after_steps(scene, {}, state, 50) == after_steps(other, {}, state, 50)));
}

BOOST_AUTO_TEST_CASE(three_thousand_bodies) {
  Scene scene;
  scene.add_ground();
  for (int i = 0; i < 3000; ++i) {
    const Transform X{Mat3d::identity(), {double(i % 50), double(i / 50 % 60), 1.0}};
    scene.add_body("body " + std::to_string(i), Shape::box({0.1, 0.2, 0.3}), 1.0, X);
  }
  const Bytes bytes = scene_to_bytes(scene);
  BOOST_TEST(bytes.size() < 3000u * 1500u);
  check_restored(scene, scene_from_bytes(bytes));
}

BOOST_AUTO_TEST_CASE(a_scene_that_no_simulator_takes_is_not_saved) {
  Scene scene = make_scene("two-cubes");
  scene.parameters.mass[1] = -1.0;
  const auto says = [](const char* part) {
    return [part](const std::invalid_argument& e) {
      return std::string(e.what()).find(part) != std::string::npos;
    };
  };
  BOOST_CHECK_EXCEPTION(
      scene_to_bytes(scene), std::invalid_argument, says("parameters.mass[1] = -1"));
  Scene named = make_scene("two-cubes");
  named.add_message({LoadMessage::Kind::kWarning, "", 0, "\xff"});
  BOOST_CHECK_EXCEPTION(
      scene_to_bytes(named), std::invalid_argument, says("message.text: byte 0 is not UTF-8"));
}

BOOST_AUTO_TEST_CASE(damage_is_told_apart) {
  const Bytes good = scene_to_bytes(make_scene("two-cubes"));
  has(refusal("STIC"), "saved scene: is not a saved scene");
  has(refusal(""), "is not a saved scene");
  has(refusal(good.substr(0, 20)), "truncated: ends in its header");
  Bytes newer = good;
  newer[kSceneMagicSize] = kSceneVersion + 1;
  has(refusal(newer),
      "has version 5, this library reads versions 1 to 4: install a newer stiction");
  has(refusal(good.substr(0, good.size() - 1)), "truncated: it has");
  has(refusal(good + "x"), "has bytes left over");
  for (std::size_t end = 0; end < good.size(); end += 7) {
    const std::string why = refusal(good.substr(0, end));
    const bool told = why.find("truncated") != std::string::npos || end < kSceneMagicSize;
    BOOST_TEST(told, "cut at " << end << ": " << why);
  }
  for (std::size_t at = kSceneHeaderSize; at < good.size(); at += 3) {
    Bytes bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    has(refusal(bad), "damaged: its checksum does not match");
  }
}

// A field at a time, with a checksum that fits.
BOOST_AUTO_TEST_CASE(the_field_that_does_not_fit_is_named) {
  Scene scene;
  scene.name = "s";
  scene.add_body("left", Shape::sphere(0.5), 1.0, Transform::identity());
  scene.add_body("right", Shape::sphere(0.25), 1.0, Transform::identity());
  scene.add_point_closure("rope", 0, {0, 0, 0}, 1, {0, 0, 0});
  const Bytes good = scene_to_bytes(scene);
  const auto replaced = [&](const Bytes& from, const Bytes& to) {
    const std::size_t at = good.find(from);
    BOOST_REQUIRE(at != Bytes::npos);
    BOOST_REQUIRE(from.size() == to.size());
    Bytes bytes = good;
    bytes.replace(at, from.size(), to);
    return refusal(with_checksum(bytes));
  };
  const auto number = [](auto x) { return Bytes(reinterpret_cast<const char*>(&x), sizeof x); };
  has(replaced("free_flyer", "free_flier"),
      "trees[0].bodies[0].joint: there is only: free_flyer, ");
  has(replaced("sphere", "sphera"), "geometries[0].type: there is only: sphere, capsule, box");
  has(replaced("left",
               "le\xff"
               "t"),
      "trees[0].bodies[0].name: byte 2 is not UTF-8");
  has(replaced(Bytes("left\0", 4), Bytes("le\0t", 4)), "must hold no zero byte");
  has(replaced("rope" + number(false) + number(0), "rope" + number(false) + number(2)),
      "closures[0].body_a: 2 must be in [-1, 2)");
  has(replaced("rope" + number(false) + number(0) + number(1),
               "rope" + number(false) + number(1) + number(1)),
      "body_a and body_b are the same");
  has(replaced("rope" + number(false), "rope" + number(std::uint8_t{7})), "weld: 7 must be 0 or 1");
  has(replaced("sphere" + number(0.5), "sphere" + number(-0.5)), "radius = -0.5 must be finite");
  has(replaced("armature", "armatura"), "there is no array \"armatura\" in this library");
  has(replaced("mass" + number(std::uint32_t{1}), "mass" + number(std::uint32_t{2})), "parameters");
  has(replaced("mass" + number(std::uint32_t{1}) + number(std::uint64_t{2}) + number(1.0),
               "mass" + number(std::uint32_t{1}) + number(std::uint64_t{2}) + number(-1.0)),
      "parameters.mass[0] = -1: must be");
  has(replaced(number(std::uint64_t{4}) + "left", number(std::uint64_t{1} << 60) + "left"),
      "truncated");
}

// Bytes anywhere changed, checksums that fit: refused in words, or a scene that steps.
BOOST_AUTO_TEST_CASE(no_mutant_breaks_the_reader) {
  const Bytes whole = scene_to_bytes(one_of_everything());
  const Bytes small = scene_to_bytes(make_scene("double-pendulum"));
  const int count = std::getenv("STICTION_FUZZ") != nullptr ? 100000 : 1000;
  int taken = 0, refused = 0;
  Rng rng(31);
  for (int i = 0; i < count; ++i) {
    Bytes bytes = rng.below(2) == 0 ? whole : small;
    for (int k = 0; k <= rng.below(3); ++k) {
      const std::size_t at = kSceneHeaderSize + rng.bits() % (bytes.size() - kSceneHeaderSize - 8);
      const int how = rng.below(5);
      if (how == 0) bytes[at] = static_cast<char>(rng.below(256));
      if (how == 1) bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
      if (how == 2) bytes.erase(at, 1 + rng.bits() % 16);
      if (how == 3) bytes.insert(at, bytes.substr(at, 1 + rng.bits() % 16));
      if (how == 4) bytes[at] = static_cast<char>(rng.below(2) == 0 ? 0x7f : 0xff);
    }
    try {
      const Scene scene = scene_from_bytes(with_checksum(bytes));
      Simulator simulator(scene, {});
      State state = make_state(scene, scene.default_q());
      simulator.step(state, {});
      ++taken;
    } catch (const std::invalid_argument& e) {
      ++refused;
      BOOST_TEST(std::string(e.what()).find('\n') == std::string::npos);
    }
  }
  BOOST_TEST(taken > count / 20);
  BOOST_TEST(refused > count / 5);
}

// Written by Python of tests/data/mjcf/rest.xml, in version 1: five shapes and others on a plane.
BOOST_AUTO_TEST_CASE(a_scene_of_an_mjcf_file_needs_no_mujoco) {
  const Scene scene = load_scene(test_data("rest_v1.stiction"));
  BOOST_TEST(scene.name == "rest");
  BOOST_TEST(scene.num_bodies() == 7);
  BOOST_TEST(scene.messages().size() == 1u);
  Simulator simulator(scene, {});
  State state = make_state(scene, scene.default_q());
  for (int k = 0; k < 300; ++k) {
    BOOST_TEST((simulator.step(state, {}).status == StepStatus::kOk), "step " << k);
  }
  BOOST_TEST(simulator.contacts().size() == 24u);
  BOOST_TEST(state.v.norm() < 1e-3);
}

BOOST_AUTO_TEST_CASE(files) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "stiction_saved_scenes_test";
  fs::create_directories(folder);
  const std::string path = (folder / "two.stiction").string();
  const Scene scene = make_scene("two-cubes");
  save_scene(scene, path);
  save_scene(scene, path);  // again, over it
  BOOST_TEST(load_scene(path).fingerprint() == scene.fingerprint());
  BOOST_TEST(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
  const auto fails = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  std::ofstream(path, std::ios::binary) << "STICSTAT";
  has(fails([&] { load_scene(path); }), path + ": is not a saved scene");
  has(fails([&] { load_scene(folder.string()); }), "it is a folder");
  has(fails([&] { load_scene(path + ".none"); }), path + ".none: cannot be opened");
  const std::string nowhere = (folder / "no" / "x.stiction").string();
  has(fails([&] { save_scene(scene, nowhere); }), nowhere + ": cannot be written");
  has(fails([&] { save_scene(scene, folder.string()); }), folder.string() + ": cannot be written");
  BOOST_TEST(!fs::exists(folder.string() + ".part"));
  fs::remove_all(folder);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
