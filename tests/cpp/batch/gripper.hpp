#pragma once

#include "batch_sample.hpp"

namespace stiction::test {

/// Two fingers of two links on a palm that rests on the ground; their shapes come before and after
/// the ground, so that contacts of either kind stand between others.
inline Scene gripper(Shape left, Shape right) {
  std::vector<BodyDescription> bodies(5);
  for (int b = 0; b < 5; ++b) {
    BodyDescription& body = bodies[b];
    body.name = "body" + std::to_string(b);
    body.parent = b == 0 ? -1 : b == 3 ? 0 : b - 1;
    body.joint = b == 0 ? JointType::kFreeFlyer : JointType::kRevolute;
    body.axis = {0, 1, 0};
    if (b == 1) body.placement.p = {-0.03, 0, 0.01};
    if (b == 3) body.placement.p = {0.03, 0, 0.01};
    if (b == 2 || b == 4) body.placement.p = {0, 0, 0.06};
    body.mass = b == 0 ? 0.8 : 0.1;
    const double i = b == 0 ? 2e-3 : 1e-4;
    body.inertia = {i, 0, i, 0, 0, i};
  }
  Scene scene;
  scene.add_robot(random_robot(bodies));
  const Material m{0.8};
  const Transform middle{Mat3d::identity(), {0, 0, 0.03}};
  scene.add_geometry("left_tip", 2, left, middle, m);
  scene.add_geometry("left_link", 1, Shape::capsule(0.008, 0.015), middle, m);
  scene.add_half_space("ground", {0, 0, -0.01}, {0, 0, 1}, m);
  scene.add_geometry("right_tip", 4, right, middle, m);
  scene.add_geometry("right_link", 3, Shape::capsule(0.008, 0.015), middle, m);
  scene.add_geometry("palm", 0, Shape::box({0.06, 0.04, 0.01}), Transform::identity(), m);
  for (int k = 6; k < scene.nv(); ++k) scene.set_gains(k, 2.0, 0.02);
  return scene;
}

inline Scene ball_and_block() {
  return gripper(Shape::sphere(0.01), Shape::box({0.008, 0.012, 0.02}));
}

inline Scene random_gripper(Rng& rng) {
  const auto tip = [&] {
    switch (rng.below(4)) {
      case 0:
        return Shape::sphere(rng.uniform(0.008, 0.012));
      case 1:
        return Shape::capsule(0.008, rng.uniform(0.01, 0.02));
      case 2:
        return Shape::cylinder(0.01, rng.uniform(0.01, 0.02));
      default:
        return Shape::box({0.008, 0.012, rng.uniform(0.01, 0.02)});
    }
  };
  const Shape left = tip(), right = tip();
  return gripper(left, right);
}

/// Both fingers towards each other, world by world more or less.
inline WorldInput grasp(Rng& rng, const Scene& scene) {
  Simulator sim(scene);
  WorldInput x{scene.parameters, sim.initial_state("default"), sim.hold("default")};
  for (Material& m : x.parameters.material) m.friction *= rng.uniform(0.5, 1.2);
  for (double& m : x.parameters.mass) m *= rng.uniform(0.8, 1.2);
  const double close = rng.uniform(0.4, 0.7);
  for (int k = 6; k < scene.nv(); ++k) {
    const double sign = k < 8 ? 1.0 : -1.0;
    x.state.q[k + 1] = sign * rng.uniform(0.05, 0.2);
    x.control.position_target[k] = sign * close * rng.uniform(0.8, 1.2);
    x.state.v[k] = rng.uniform(-0.5, 0.5);
  }
  return x;
}

/// A state in which the tips touch each other.
inline State touching(const Scene& scene) {
  Rng rng(2);
  const WorldInput x = grasp(rng, scene);
  Simulator sim(scene);
  State state = x.state;
  for (int k = 0; k < 200; ++k) sim.step(state, x.control);
  return state;
}

inline std::vector<WorldInput> grasps(const Scene& scene, int worlds, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<WorldInput> out;
  for (int w = 0; w < worlds; ++w) out.push_back(grasp(rng, scene));
  return out;
}

}  // namespace stiction::test
