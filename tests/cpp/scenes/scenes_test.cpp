#include "scenes/scenes.hpp"

#include "scenes/posture.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

using namespace stiction;

namespace {

// Scene bodies in the world at the default configuration.
std::vector<Transform> world_poses(const Scene& scene) {
  std::vector<Transform> poses(scene.num_bodies(), Transform::identity());
  for (const Tree& tree : scene.trees()) {
    Robot robot;
    for (int b = 0; b < tree.num_bodies; ++b) {
      BodyDescription body;
      body.parent = tree.parent[b];
      body.joint = tree.joint[b];
      body.axis = scene.parameters.axis[tree.body_offset + b];
      body.placement = scene.parameters.placement[tree.body_offset + b];
      robot.bodies.push_back(body);
    }
    const auto first = scene.default_q().begin() + tree.q_offset;
    const auto local = body_poses(robot, std::vector<double>(first, first + tree.nq));
    const Transform base = tree.free_root ? Transform::identity()
                                          : scene.parameters.base[&tree - scene.trees().data()];
    for (int b = 0; b < tree.num_bodies; ++b) poses[tree.body_offset + b] = base * local[b];
  }
  return poses;
}

double lowest_point(const Scene& scene) {
  const std::vector<Transform> poses = world_poses(scene);
  double lowest = kInfinity;
  for (std::size_t g = 0; g < scene.geometries().size(); ++g) {
    const Geometry& geometry = scene.geometries()[g];
    if (geometry.body < 0) continue;
    const Transform X = poses[geometry.body] * scene.parameters.geometry_placement[g];
    const Vec3d p = X * support(geometry.shape, transpose_times(X.R, Vec3d{0, 0, -1}));
    lowest = std::min(lowest, p.z);
  }
  return lowest;
}

bool throws_with(const std::string& name, const SceneOptions& options, const std::string& part) {
  try {
    make_scene(name, options);
  } catch (const std::exception& e) {
    const bool found = std::string(e.what()).find(part) != std::string::npos;
    BOOST_TEST(found, e.what());
    return found;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scenes_test)

BOOST_AUTO_TEST_CASE(every_scene_builds_and_is_consistent) {
  std::set<std::string> names;
  for (const SceneInfo& info : scenes()) {
    BOOST_TEST_CONTEXT(info.name) {
      BOOST_TEST(names.insert(info.name).second);
      BOOST_TEST(!info.description.empty());
      const Scene scene = make_scene(info.name);
      BOOST_TEST(scene.name == info.name);
      BOOST_TEST(static_cast<int>(scene.default_q().size()) == scene.nq());
      BOOST_TEST(static_cast<int>(scene.parameters.kp.size()) == scene.nv());
      BOOST_CHECK_NO_THROW(scene.parameters.validate());
      for (const auto& [name, q] : scene.configurations()) {
        BOOST_TEST(static_cast<int>(q.size()) == scene.nq(), name);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sizes) {
  struct Size {
    const char* name;
    int nq, nv, geometries;
  };
  for (const Size& s : {Size{"solo12", 19, 18, 5},
                        {"solo12-trot", 19, 18, 5},
                        {"solo12-rough", 19, 18, 5},
                        {"solo12-trot-bumpy", 19, 18, 197},
                        {"cube-slide", 7, 6, 2},
                        {"cube-drag", 7, 6, 2},
                        {"two-cubes", 14, 12, 3},
                        {"box-stack(3)", 21, 18, 4},
                        {"box-stack:30", 210, 180, 31},
                        {"ball-drop", 7, 6, 2},
                        {"slope", 7, 6, 2},
                        {"cartpole", 2, 2, 2},
                        {"double-pendulum", 2, 2, 2},
                        {"four-bar", 3, 3, 3},
                        {"ycb-pile(7)", 49, 42, 12}}) {
    const Scene scene = make_scene(s.name);
    BOOST_TEST(scene.nq() == s.nq, s.name);
    BOOST_TEST(scene.nv() == s.nv, s.name);
    BOOST_TEST(static_cast<int>(scene.geometries().size()) == s.geometries, s.name);
  }
}

BOOST_AUTO_TEST_CASE(things_rest_exactly_on_the_ground) {
  SceneOptions corners;
  corners.corner_spheres = true;
  for (const char* name : {"solo12", "cube-slide", "cube-drag", "two-cubes", "box-stack"}) {
    BOOST_TEST(std::abs(lowest_point(make_scene(name))) < 1e-15, name);
  }
  for (const char* name : {"cube-slide", "two-cubes"}) {
    BOOST_TEST(std::abs(lowest_point(make_scene(name, corners))) < 1e-15, name);
  }
  SceneOptions all;
  all.all_collision_geometry = true;
  BOOST_TEST(std::abs(lowest_point(make_scene("solo12", all))) < 1e-15);
}

BOOST_AUTO_TEST_CASE(solo12_is_the_benchmark_model) {
  const Scene scene = make_scene("solo12");
  const Parameters& p = scene.parameters;
  // Height and mass of the same robot compiled by MuJoCo 4.0.
  BOOST_TEST(std::abs(scene.default_q()[2] - 0.24204614699109298) < 1e-12);
  double mass = 0.0;
  for (const double m : p.mass) mass += m;
  BOOST_TEST(std::abs(mass - 2.5000027900000004) < 1e-12);
  for (int dof = 6; dof < 18; ++dof) {
    BOOST_TEST(p.kp[dof] == 5.0);
    BOOST_TEST(p.kd[dof] == 0.1);
    BOOST_TEST(p.damping[dof] == 0.0);
    BOOST_TEST(p.dry_friction[dof] == 0.0);
    BOOST_TEST(p.armature[dof] == 0.0);
    BOOST_TEST(p.lower[dof] == -10.0);
    BOOST_TEST(p.effort_limit[dof] == 1000.0);
  }
  const int ground = scene.geometry("ground"), foot = scene.geometry("HR_FOOT");
  BOOST_TEST(scene.pair_enabled(ground, foot));
  BOOST_TEST(std::abs(scene.pair_material(p, ground, foot).friction - 0.9) < 1e-15);
  BOOST_TEST(scene.geometries()[foot].shape.size.x == 0.0191);
  BOOST_TEST(scene.configurations().count("standing") == 1u);
  BOOST_TEST(scene.messages().empty());
}

BOOST_AUTO_TEST_CASE(tiles_of_the_bumpy_trot_are_low_and_ahead_of_the_feet) {
  SceneOptions options;
  const Scene scene = make_scene("solo12-trot-bumpy", options);
  const double hip_x = 0.1946, foot_radius = 0.0191;  // [m]
  int tiles = 0;
  for (std::size_t g = 0; g < scene.geometries().size(); ++g) {
    if (scene.geometries()[g].name.rfind("tile_", 0) != 0) continue;
    ++tiles;
    const Vec3d half = scene.geometries()[g].shape.size;
    const Vec3d p = scene.parameters.geometry_placement[g].p;
    BOOST_TEST(p.x - half.x > hip_x + foot_radius + 0.05);
    BOOST_TEST(p.z + half.z >= 0.0);
    BOOST_TEST(p.z + half.z < 0.01);
    BOOST_TEST(p.z - half.z < 0.0);
  }
  BOOST_TEST(tiles == 192);
  const int tile = scene.geometry("tile_0_0"), foot = scene.geometry("FL_FOOT");
  BOOST_TEST(scene.pair_enabled(tile, foot));
  BOOST_TEST(std::abs(scene.pair_material(scene.parameters, tile, foot).friction - 0.3) < 1e-15);
  options.seed = 4;
  BOOST_TEST(make_scene("solo12-trot-bumpy", options).parameters.geometry_placement[tile].p.z !=
             scene.parameters.geometry_placement[tile].p.z);
}

BOOST_AUTO_TEST_CASE(solo12_with_all_geometry_does_not_collide_with_itself_at_the_hips) {
  SceneOptions options;
  options.all_collision_geometry = true;
  const Scene scene = make_scene("solo12", options);
  BOOST_TEST(scene.geometries().size() == 18u);
  const int base = scene.geometry("base_link_0");
  BOOST_TEST(!scene.pair_enabled(base, scene.geometry("FL_SHOULDER_0")));   // neighbours
  BOOST_TEST(!scene.pair_enabled(base, scene.geometry("FL_UPPER_LEG_0")));  // by the SRDF
  BOOST_TEST(scene.pair_enabled(base, scene.geometry("FL_LOWER_LEG_0")));
}

BOOST_AUTO_TEST_CASE(talos_is_the_benchmark_model) {
  const Scene scene = make_scene("talos");
  const Parameters& p = scene.parameters;
  BOOST_TEST(scene.nq() == 39);
  BOOST_TEST(scene.nv() == 38);
  BOOST_TEST(scene.geometries().size() == 9u);
  BOOST_TEST(std::abs(lowest_point(scene)) < 1e-14);
  BOOST_TEST(std::abs(scene.default_q()[2] - 1.019375) < 1e-6);  // MuJoCo's, six digits printed
  double mass = 0.0;
  for (const double m : p.mass) mass += m;
  BOOST_TEST(std::abs(mass - 90.272192) < 1e-9);
  const int knee = scene.dof("leg_left_4_joint");
  BOOST_TEST(p.kp[knee] == 6000.0);
  BOOST_TEST(p.kd[knee] == 120.0);
  BOOST_TEST(p.effort_limit[knee] == 300.0);
  BOOST_TEST(p.damping[knee] == 0.0);
  const int head = scene.dof("head_1_joint");
  BOOST_TEST(p.damping[head] == 0.5);
  BOOST_TEST(p.dry_friction[head] == 1.0);
  BOOST_TEST(scene.dof_positions(scene.default_q())[knee] == 0.859395);
}

BOOST_AUTO_TEST_CASE(allegro_is_the_benchmark_model) {
  const Scene scene = make_scene("allegro-ball");
  const Parameters& p = scene.parameters;
  BOOST_TEST(scene.nq() == 23);
  BOOST_TEST(scene.nv() == 22);
  BOOST_TEST(scene.geometries().size() == 22u);
  for (int dof = 0; dof < 16; ++dof) {
    BOOST_TEST(p.damping[dof] == 0.1);
    BOOST_TEST(p.dry_friction[dof] == 0.0);
    BOOST_TEST(p.kp[dof] == 1.0);
  }
  const int ball = scene.geometry("ball");
  for (int g = 0; g < ball; ++g) {
    BOOST_TEST(scene.pair_enabled(g, ball));
    BOOST_TEST((g == 0 || !scene.pair_enabled(0, g)));
  }
  BOOST_TEST(scene.configurations().at("closed")[scene.dof("joint_2.0")] == 1.2);
  BOOST_TEST(scene.default_q()[scene.dof("joint_2.0")] == 0.6);
  // Palm box: centre (0.0475, 0, -0.0093) in the world, half extents along x y z (0.0475, 0.0565,
  // 0.0204): MuJoCo's model.
  const int palm = scene.geometry("palm_link_0");
  const Vec3d centre = p.geometry_placement[palm].p;
  BOOST_TEST(norm(centre - Vec3d{0.0475, 0.0, -0.0093}) < 1e-12);
  // Balanced inertia of the tip of finger 1, MuJoCo's compiled value.
  const Sym3d& tip = p.inertia[scene.body("link_3.0")];
  BOOST_TEST(std::abs(tip.xx - 9.673712484848508e-06) < 1e-14);
  BOOST_TEST(std::abs(tip.yy - 9.673712484848508e-06) < 1e-14);
  BOOST_TEST(std::abs(tip.zz - 5.318602666666689e-06) < 1e-14);
  BOOST_TEST(std::abs(tip.xy) < 1e-14);
}

BOOST_AUTO_TEST_CASE(two_cubes_have_two_frictions) {
  const Scene scene = make_scene("two-cubes");
  const int ground = scene.geometry("ground"), lower = scene.geometry("lower"),
            upper = scene.geometry("upper");
  BOOST_TEST(scene.pair_material(scene.parameters, ground, lower).friction == 0.9);
  BOOST_TEST(scene.pair_material(scene.parameters, lower, upper).friction == 0.95);
  BOOST_TEST(scene.parameters.mass[scene.body("lower")] == 1e-3);
  BOOST_TEST(scene.parameters.mass[scene.body("upper")] == 1e3);
}

BOOST_AUTO_TEST_CASE(corner_spheres_keep_the_inertia_of_the_box) {
  SceneOptions corners;
  corners.corner_spheres = true;
  const Scene box = make_scene("cube-slide"), spheres = make_scene("cube-slide", corners);
  BOOST_TEST(spheres.geometries().size() == 9u);
  BOOST_TEST(std::abs(box.parameters.inertia[0].xx - 0.04 / 6.0) < 1e-15);
  BOOST_TEST(std::abs(spheres.parameters.inertia[0].xx - 0.04 / 6.0) < 1e-15);
  BOOST_TEST(spheres.geometries()[1].shape.size.x == 0.004);
  BOOST_TEST(std::abs(spheres.default_q()[2] - 0.104) < 1e-15);
  BOOST_TEST(spheres.default_q()[1] == -1.0);
}

BOOST_AUTO_TEST_CASE(four_bar_starts_closed) {
  const Scene scene = make_scene("four-bar");
  const auto poses = world_poses(scene);
  BOOST_TEST(scene.closures().size() == 1u);
  const Closure& closure = scene.closures()[0];
  const Vec3d b = poses[closure.body_b] * scene.parameters.closure_X_B[0].p;
  BOOST_TEST(norm(b - scene.parameters.closure_X_A[0].p) < 1e-14);
}

BOOST_AUTO_TEST_CASE(pile_starts_apart_and_is_reproducible) {
  const Scene a = make_scene("ycb-pile(40)"), b = make_scene("ycb-pile:40");
  BOOST_TEST((a.default_q() == b.default_q()));
  SceneOptions other;
  other.seed = 4;
  BOOST_TEST((a.default_q() != make_scene("ycb-pile(40)", other).default_q()));
  const auto poses = world_poses(a);
  std::vector<Aabb> boxes;
  for (std::size_t g = 5; g < a.geometries().size(); ++g) {
    boxes.push_back(bounding_box(a.geometries()[g].shape, poses[a.geometries()[g].body]));
  }
  // Cells of 0.29 m hold the hulls: their boxes stay within half a pitch of the cell's centre.
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Vec3d side = boxes[i].upper - boxes[i].lower;
    BOOST_TEST(std::max({side.x, side.y, side.z}) < 0.29);
    BOOST_TEST(boxes[i].lower.z > 0.0);
  }
  for (const double m : a.parameters.mass) BOOST_TEST(std::abs(m - 0.3) < 1e-15);
}

BOOST_AUTO_TEST_CASE(options_reach_the_materials) {
  SceneOptions options;
  options.friction = 0.25;
  options.restitution = 0.5;
  const Scene scene = make_scene("ball-drop", options);
  const Material m = scene.pair_material(scene.parameters, 0, 1);
  BOOST_TEST(m.friction == 0.25);
  BOOST_TEST(m.restitution == 0.5);
  options.n = 4;
  BOOST_TEST(make_scene("box-stack", options).num_bodies() == 4);
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  SceneOptions options;
  BOOST_TEST(throws_with("solo13", options, "there are: solo12, solo12-trot"));
  BOOST_TEST(throws_with("box-stack(x)", options, "\"x\" is not an integer"));
  BOOST_TEST(throws_with("box-stack(0)", options, "n = 0 must be in"));
  BOOST_TEST(throws_with("solo12(3)", options, "takes no number"));
  options.restitution = 2.0;
  BOOST_TEST(throws_with("ball-drop", options, "restitution"));
}

BOOST_AUTO_TEST_CASE(missing_robots_say_what_to_install) {
  set_robots_directory("/nonexistent");
  BOOST_TEST(throws_with("talos", {}, "pip install stiction[robots]"));
  set_robots_directory("");
  set_data_directory("/nonexistent");
  BOOST_TEST(throws_with("solo12", {}, "STICTION_DATA_DIR"));
  set_data_directory("");
}

BOOST_AUTO_TEST_SUITE_END()
