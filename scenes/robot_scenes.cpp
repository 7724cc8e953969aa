#include "math/split_mix.hpp"
#include "scenes/builders.hpp"
#include "scenes/data_paths.hpp"
#include "scenes/posture.hpp"

#include <stdexcept>
#include <string>

// Robots. Numbers that are equal to the peers' benchmark models: feet, gains, friction, postures.

namespace stiction {
namespace {

// Standing posture named by the SRDF, put on the ground.
std::vector<double> on_the_ground(const Robot& robot, const std::string& configuration) {
  const auto found = robot.configurations.find(configuration);
  if (found == robot.configurations.end()) {
    throw std::runtime_error(robot.path + ": the SRDF has no group_state '" + configuration + "'");
  }
  std::vector<double> q = found->second;
  q[2] = standing_height(robot, q);
  return q;
}

Scene standing_on(const Shape& ground,
                  Robot robot,
                  const std::vector<double>& q,
                  const Material& material) {
  robot.configurations["standing"] = q;
  Scene scene;
  scene.add_geometry("ground", -1, ground, Transform::identity(), material);
  scene.add_robot(robot);
  scene.set_configuration("default", scene.configurations().at("standing"));
  return scene;
}

}  // namespace

namespace {

Scene solo12_with_gains(const SceneOptions& options,
                        double friction,
                        double kp,
                        double kd,
                        const Shape& ground = Shape::half_space()) {
  const double foot_radius = 0.0191;  // [m]
  LoadOptions load;
  load.material = scene_material(options, friction);
  load.collision_geometry = options.all_collision_geometry;
  load.srdf = data_file("solo12/solo12.srdf");
  Robot robot = load_urdf(data_file("solo12/solo12.urdf"), load);
  robot.name = "solo12";
  if (!options.all_collision_geometry) {
    for (const std::string foot : {"FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"}) {
      add_sphere(robot, foot, foot, {0, 0, 0}, foot_radius, load.material);
    }
  }
  Scene scene = standing_on(ground, robot, on_the_ground(robot, "standing"), load.material);
  for (int dof = 6; dof < scene.nv(); ++dof) scene.set_gains(dof, kp, kd);
  return scene;
}

constexpr double kTrotKp = 20.0, kTrotKd = 0.3;  // [N m/rad], [N m s/rad]

}  // namespace

Scene make_solo12(const SceneOptions& options) { return solo12_with_gains(options, 0.9, 5.0, 0.1); }

Scene make_solo12_trot(const SceneOptions& options) {
  return solo12_with_gains(options, 0.9, kTrotKp, kTrotKd);
}

// A height field whose samples, 0.15 m apart, are 0 to 40 mm below the level on which it stands.
Scene make_solo12_rough(const SceneOptions& options) {
  constexpr int kSamples = 81;
  const double cell = 0.15, deepest = 0.04;  // [m]
  SplitMix random{options.seed};
  std::vector<double> heights;
  for (int k = 0; k < kSamples * kSamples; ++k) heights.push_back(-deepest * random());
  const Shape ground = Shape::height_field(kSamples, kSamples, heights, cell, cell);
  return solo12_with_gains(options, 0.9, kTrotKp, kTrotKd, ground);
}

// Tiles of 0.15 m whose tops are 0 to 10 mm above the ground, in front of the robot's feet: the
// first row begins where the forefeet do not stand.
Scene make_solo12_trot_bumpy(const SceneOptions& options) {
  const double side = 0.15, first = 0.3, lowest_edge = -0.6, thickness = 0.1, bump = 0.01;  // [m]
  const int along = 24, across = 8;
  Scene scene = solo12_with_gains(options, 0.3, kTrotKp, kTrotKd);
  const Material material = scene_material(options, 0.3);
  SplitMix random{options.seed};
  for (int i = 0; i < along; ++i) {
    for (int j = 0; j < across; ++j) {
      const double top = bump * random();
      scene.add_geometry(
          "tile_" + std::to_string(i) + "_" + std::to_string(j),
          -1,
          Shape::box({0.5 * side, 0.5 * side, 0.5 * thickness}),
          {Mat3d::identity(),
           {first + side * (i + 0.5), lowest_edge + side * (j + 0.5), top - 0.5 * thickness}},
          material);
    }
  }
  return scene;
}

Scene make_talos(const SceneOptions& options) {
  const double radius = 0.01;  // of the corner spheres; their lowest points are on the sole
  const double sole = -0.107;  // [m], in the ankle link
  const double kp_per_effort = 20.0, kd_per_kp = 0.02;
  LoadOptions load;
  load.material = scene_material(options, 0.9);
  load.collision_geometry = options.all_collision_geometry;
  load.srdf = robot_file("talos_data/srdf/talos.srdf");
  Robot robot = load_urdf(robot_file("talos_data/robots/talos_reduced.urdf"), load);
  if (!options.all_collision_geometry) {
    for (const std::string side : {"left", "right"}) {
      int corner = 0;
      for (const double x : {0.1, -0.1}) {
        for (const double y : {0.06, -0.06}) {
          add_sphere(robot,
                     side + "_sole_" + std::to_string(corner++),
                     "leg_" + side + "_6_link",
                     {x, y, sole + radius},
                     radius,
                     load.material);
        }
      }
    }
  }
  Scene scene =
      standing_on(Shape::half_space(), robot, on_the_ground(robot, "half_sitting"), load.material);
  for (int dof = 6; dof < scene.nv(); ++dof) {
    const double kp = kp_per_effort * robot.dofs[dof].effort_limit;
    scene.set_gains(dof, kp, kd_per_kp * kp);
  }
  return scene;
}

namespace {

// Closing posture of the fingers [rad]; the hand starts half way.
std::vector<double> grasp(const Robot& hand) {
  const double finger[4] = {0.0, 0.15, 1.2, 0.8}, thumb[4] = {1.3, 0.6, 0.9, 0.9};
  std::vector<double> q(hand.nq(), 0.0);
  for (int joint = 0; joint < 16; ++joint) {
    const double angle = joint < 12 ? finger[joint % 4] : thumb[joint % 4];
    q[q_index(hand, "joint_" + std::to_string(joint) + ".0")] = angle;
  }
  return q;
}

std::vector<double> append(std::vector<double> q, const std::vector<double>& all) {
  q.insert(q.end(), all.begin() + static_cast<std::ptrdiff_t>(q.size()), all.end());
  return q;
}

}  // namespace

Scene make_allegro_ball(const SceneOptions& options) {
  LoadOptions load;
  load.free_flyer = false;
  load.material = scene_material(options, 0.7);
  // Four links of the file have inertias that no solid has; MuJoCo refuses them unbalanced.
  load.balance_inertia = true;
  Robot hand = load_urdf(robot_file("allegro_hand_description/urdf/allegro_right_hand.urdf"), load);
  // The file's damping (3 to 8) and dry friction (5 to 10 N m) would freeze the hand.
  for (DofDescription& dof : hand.dofs) {
    dof.damping = 0.1;
    dof.dry_friction = 0.0;
  }
  const std::vector<double> closed = grasp(hand);
  std::vector<double> open = closed;
  for (double& angle : open) angle *= 0.5;

  Scene scene;
  // Palm normal (+x of the palm) up: -90 degrees about y.
  scene.add_robot(hand, {{{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}}, {0, 0, 0}}, "hand");
  scene.add_body(
      "ball", Shape::sphere(0.05), 0.1, {Mat3d::identity(), {-0.02, 0.0, 0.12}}, load.material);
  for (int dof = 0; dof < 16; ++dof) scene.set_gains(dof, 1.0, 0.1);
  const std::vector<double> neutral = scene.default_q();
  scene.set_configuration("open", append(open, neutral));
  scene.set_configuration("closed", append(closed, neutral));
  scene.set_configuration("default", append(open, neutral));
  if (!options.all_collision_geometry) {
    std::vector<std::pair<int, int>> pairs;
    const int ball = scene.geometry("ball");
    for (int g = 0; g < ball; ++g) pairs.push_back({g, ball});
    scene.enable_only(pairs);
  }
  return scene;
}

}  // namespace stiction
