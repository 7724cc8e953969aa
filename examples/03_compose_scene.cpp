// A scene of your own: a robot, boxes, a convex mesh, materials, filters.
//
// Solo-12 stands on the ground while a box slides past it on a slippery patch, a wedge of any shape
// falls on the box, and a ghost falls through everything but the ground.

#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"

#include <cstdio>
#include <string>
#include <vector>

using namespace stiction;

namespace {

// A placement without rotation [m].
Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

}  // namespace

int main() {
  // Or load_urdf("my_robot.urdf") of stiction/model/robot.hpp.
  const Robot robot = make_scene("solo12").robots()[0].description;
  const Material rubber{.friction = 0.9}, ice{.friction = 0.05};

  Scene scene;
  scene.name = "composed";
  const int ground = scene.add_ground(rubber);
  scene.add_robot(robot, at(0, 0, 0.34), "solo12");  // on straight legs
  for (int dof = 6; dof < scene.nv(); ++dof) scene.set_gains(dof, 5.0, 0.1);

  const Shape cube = Shape::box({0.1, 0.1, 0.1});  // half extents
  const int box = scene.add_body("box", cube, 1.0, at(0.8, 0, 0.1), rubber);
  const std::vector<Vec3d> points = {
      {0, 0, 0}, {0.15, 0, 0}, {0, 0.1, 0}, {0.15, 0.1, 0}, {0, 0, 0.1}, {0, 0.1, 0.1}};
  scene.add_body("wedge", Shape::convex_mesh(points), 0.3, at(0.75, -0.05, 0.4));
  const int ghost = scene.add_body("ghost", Shape::sphere(0.05), 0.1, at(0.8, 0, 0.6));

  // Two materials meet by combine(); this pair has its own.
  scene.set_pair_material(ground, scene.geometry("box"), ice);
  const int ghost_geometry = scene.geometry("ghost");
  for (int other = 0; other < static_cast<int>(scene.geometries().size()); ++other) {
    if (other != ground && other != ghost_geometry) scene.disable_pair(ghost_geometry, other);
  }

  SimulatorSettings settings;
  settings.dt = 1e-3;
  Simulator sim(scene, settings);
  State state = sim.initial_state();
  const int box_v = scene.trees()[scene.tree_of_body(box)].v_offset;
  state.v[box_v + 1] = 0.5;  // the box starts at 0.5 m/s along its y axis
  sim.run(state, sim.hold(), 1500);

  const std::vector<Transform> poses = sim.body_poses(state);
  for (const char* name : {"box", "wedge", "ghost"}) {
    const Vec3d p = poses[scene.body(name)].p;
    std::printf("%s is at [%.3f %.3f %.3f]\n", name, p.x, p.y, p.z);
  }
  bool only_ground = true;
  for (const ContactReport& c : sim.contacts()) {
    if (c.body_b == ghost) {
      std::printf("contact of the ghost: %d ground: %d\n", c.geometry_a, ground);
      only_ground = only_ground && c.geometry_a == ground;
    }
  }
  const BodyWrench wrench = sim.wrench_on(box);
  std::printf(
      "force on the box: [%.6f %.6f %.6f] N\n", wrench.force.x, wrench.force.y, wrench.force.z);
  return only_ground && sim.report().status == StepStatus::kOk ? 0 : 1;
}
