#pragma once

#include "stiction/simulator/simulator.hpp"

#include "dynamics/forest.hpp"
#include "model/joint.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

// What a step made of a position error, seen from outside: speeds and energy after it.

namespace stiction::test {

/// Of random bodies, in the neutral configuration.
inline Robot random_robot(std::vector<BodyDescription> bodies) {
  Robot robot;
  robot.name = "robot";
  robot.bodies = std::move(bodies);
  int nv = 0;
  for (const BodyDescription& b : robot.bodies) {
    nv += joint_nv(b.joint);
    for (int k = 0; k < joint_nq(b.joint); ++k) {
      const bool quaternion = b.joint == JointType::kFreeFlyer || b.joint == JointType::kSpherical;
      const bool one =
          quaternion ? k == joint_nq(b.joint) - 1 : b.joint == JointType::kContinuous && k == 0;
      robot.neutral.push_back(one ? 1.0 : 0.0);
    }
  }
  robot.dofs.resize(nv);
  return robot;
}

struct Speeds {
  double joint_linear = 0.0, joint_angular = 0.0, body_linear = 0.0, body_angular = 0.0;
  double linear() const { return std::max(joint_linear, body_linear); }
  double angular() const { return std::max(joint_angular, body_angular); }
};

/// Of all joints and bodies.
inline Speeds speeds(const Scene& scene, const State& state) {
  Speeds s;
  DynamicsWorkspace work;
  work.resize(scene);
  forward_kinematics(scene, scene.parameters, state.q.data(), state.v.data(), work);
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    const double* v = state.v.data() + tree.v_offset;
    for (int b = 0; b < tree.num_bodies; ++b) {
      const Motion<double>& V = work.trees[t].V[b];
      const Vec3d com = work.trees[t].X_RB[b] * scene.parameters.com[tree.body_offset + b];
      s.body_linear = std::max(s.body_linear, norm(V.linear + cross(V.angular, com)));
      s.body_angular = std::max(s.body_angular, norm(V.angular));
      const double* own = v + tree.v_index[b];
      if (tree.joint[b] == JointType::kFreeFlyer) continue;
      double& joint = tree.joint[b] == JointType::kPrismatic ? s.joint_linear : s.joint_angular;
      const bool three = tree.joint[b] == JointType::kSpherical;
      joint = std::max(joint, three ? std::hypot(own[0], own[1], own[2]) : std::abs(own[0]));
    }
  }
  return s;
}

/// The same of a displacement over dt, from placements.
inline Speeds speeds_between(const Scene& scene, const State& start, const State& end, double dt) {
  Speeds s;
  DynamicsWorkspace a, b;
  a.resize(scene);
  b.resize(scene);
  forward_kinematics(scene, scene.parameters, start.q.data(), start.v.data(), a);
  forward_kinematics(scene, scene.parameters, end.q.data(), end.v.data(), b);
  const auto turn = [&](const Mat3d& R) {  // sin of the angle, which is small
    return 0.5 * std::hypot(R.c1.z - R.c2.y, R.c2.x - R.c0.z, R.c0.y - R.c1.x) / dt;
  };
  for (int k = 0; k < scene.num_bodies(); ++k) {
    const Transform A = body_placement(scene, a, k), B = body_placement(scene, b, k);
    const Vec3d com = scene.parameters.com[k];
    s.body_linear = std::max(s.body_linear, norm(B * com - A * com) / dt);
    s.body_angular = std::max(s.body_angular, turn(transpose_times(A.R, B.R)));
    const Tree& tree = scene.trees()[scene.tree_of_body(k)];
    const int body = k - tree.body_offset, parent = tree.parent[body];
    if (tree.joint[body] == JointType::kFreeFlyer) continue;
    if (tree.joint[body] == JointType::kPrismatic) {
      const int q = tree.q_offset + tree.q_index[body];
      s.joint_linear = std::max(s.joint_linear, std::abs(end.q[q] - start.q[q]) / dt);
    }
    const Mat3d before = parent < 0
                             ? A.R
                             : transpose_times(
                                   body_placement(scene, a, tree.body_offset + parent).R, A.R),
                after = parent < 0
                            ? B.R
                            : transpose_times(body_placement(scene, b, tree.body_offset + parent).R,
                                              B.R);
    s.joint_angular = std::max(s.joint_angular, turn(transpose_times(before, after)));
  }
  return s;
}

inline double kinetic_energy(const Scene& scene, const State& state) {
  Simulator sim(scene, {});
  State next = state;
  sim.prepare(next, {});
  return sim.advance(next, sim.warm_start()).kinetic_energy;
}

}  // namespace stiction::test
