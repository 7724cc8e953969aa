#pragma once

#include "batch/lane_batch.hpp"
#include "support/contact_problems.hpp"
#include "support/random_tree.hpp"
#include "support/recovery.hpp"

#include <cmath>
#include <cstring>

// Worlds for lanes: random robots on a plane, and Solo-12 with its servos.

namespace stiction::test {

inline Material surface(Rng& rng) {
  Material m;
  m.friction = rng.uniform(0.0, 1.0) < 0.1 ? 0.0 : rng.uniform(0.1, 1.5);
  return m;
}

inline Shape small_shape(Rng& rng) {
  const double r = rng.uniform(0.01, 0.06);
  switch (rng.below(3)) {
    case 0:
      return Shape::sphere(r);
    case 1:
      return Shape::capsule(r, rng.uniform(0.02, 0.1));
    default:
      return Shape::box({r, rng.uniform(0.02, 0.1), rng.uniform(0.02, 0.1)});
  }
}

/// A shape whose points no slot of the lanes knows.
inline Shape found_shape(Rng& rng) {
  const double r = rng.uniform(0.01, 0.06), h = rng.uniform(0.02, 0.1);
  switch (rng.below(4)) {
    case 0:
      return Shape::cylinder(r, h);
    case 1:
      return Shape::ellipsoid({r, h, 0.05});
    case 2: {
      std::vector<Vec3d> points;
      for (int k = 0; k < 12; ++k) points.push_back(uniform_vector(rng, h));
      return Shape::convex_mesh(points);
    }
    default:
      return small_shape(rng);
  }
}

/// What a robot stands on whose highest point is the origin of the placement: a bumpy field, a
/// block, a ridge of two faces as a mesh.
inline Shape found_ground(Rng& rng) {
  constexpr int kSamples = 24;
  switch (rng.below(3)) {
    case 0: {
      std::vector<double> heights;
      for (int k = 0; k < kSamples * kSamples; ++k) heights.push_back(rng.uniform(-0.01, 0.0));
      return Shape::height_field(kSamples, kSamples, heights, 0.2, 0.2);
    }
    case 1:
      return Shape::box({2.0, 2.0, 0.1});
    default:
      return Shape::triangle_mesh(
          {{-3, -3, -0.2}, {3, -3, -0.2}, {3, 0, 0}, {-3, 0, 0}, {3, 3, -0.2}, {-3, 3, -0.2}},
          {0, 1, 2, 0, 2, 3, 3, 2, 4, 3, 4, 5});
  }
}

/// Adds shapes to some bodies of a robot; how far they reach down along n.
inline double add_shapes(Rng& rng, const Vec3d& n, Shape (*make)(Rng&), Scene& scene) {
  DynamicsWorkspace work;
  work.resize(scene);
  const State state = make_state(scene, scene.default_q());
  forward_kinematics(scene, scene.parameters, state.q.data(), state.v.data(), work);
  double lowest = 1e9;
  for (int b = 0; b < scene.num_bodies(); ++b) {
    if (rng.below(3) == 0 && b > 0) continue;
    const Shape shape = make(rng);
    const Transform X{rotation(rng), uniform_vector(rng, 0.2)};
    scene.add_geometry("shape" + std::to_string(b), b, shape, X, surface(rng));
    const Transform X_W = body_placement(scene, work, b) * X;
    lowest = std::min(lowest, dot(n, support(shape, -transpose_times(X_W.R, n))) + dot(n, X_W.p));
  }
  return lowest;
}

/// Only what a robot does against the ground.
inline void enable_only_with(Scene& scene, int ground) {
  std::vector<std::pair<int, int>> pairs;
  for (int g = 0; g < static_cast<int>(scene.geometries().size()); ++g) {
    if (g != ground) pairs.push_back({std::min(g, ground), std::max(g, ground)});
  }
  scene.enable_only(pairs);
}

inline std::vector<BodyDescription> lane_robot(Rng& rng) {
  std::vector<BodyDescription> bodies;
  // On fewer dofs a contact often has no solution.
  while (bodies.size() < 2 || (bodies[0].joint != JointType::kFreeFlyer && bodies.size() < 5))
    bodies = random_tree(rng);
  return bodies;
}

/// A random robot with shapes on some of its bodies, on a random plane that it nearly touches.
inline Scene lane_scene(Rng& rng) {
  const std::vector<BodyDescription> bodies = lane_robot(rng);
  Scene scene;
  const Vec3d n = unit_vector(rng);
  const bool plane_first = rng.below(2) == 0;
  if (plane_first) scene.add_half_space("plane", {0, 0, 0}, n, surface(rng));
  scene.add_robot(random_robot(bodies));
  const double lowest = add_shapes(rng, n, small_shape, scene);
  const Vec3d point = n * (lowest - rng.uniform(-1e-4, 1e-3));
  if (plane_first)
    scene.parameters.geometry_placement[0].p = point;
  else
    scene.add_half_space("plane", point, n, surface(rng));
  enable_only_with(scene, plane_first ? 0 : static_cast<int>(scene.geometries().size()) - 1);
  return scene;
}

/// A robot of any shapes on a ground whose contacts are found.
inline Scene found_scene(Rng& rng) {
  const std::vector<BodyDescription> bodies = lane_robot(rng);
  Scene scene;
  const bool ground_first = rng.below(2) == 0, plane = rng.below(4) == 0;
  const Shape shape = plane ? Shape::half_space() : found_ground(rng);
  const Material material = surface(rng);
  Transform X = Transform::identity();
  if (ground_first) scene.add_geometry("ground", -1, shape, X, material);
  scene.add_robot(random_robot(bodies));
  const double top = shape.type == ShapeType::kBox ? 0.1 : 0.0;
  X.p.z = add_shapes(rng, {0, 0, 1}, found_shape, scene) - top - rng.uniform(-5e-3, 1e-3);
  const double tilt = rng.uniform(-2e-3, 2e-3);
  X.R.c1 = {0, std::cos(tilt), std::sin(tilt)};
  X.R.c2 = {0, -std::sin(tilt), std::cos(tilt)};
  if (ground_first)
    scene.parameters.geometry_placement[0] = X;
  else
    scene.add_geometry("ground", -1, shape, X, material);
  enable_only_with(scene, ground_first ? 0 : static_cast<int>(scene.geometries().size()) - 1);
  return scene;
}

/// Parameters near those of the scene: masses, friction, servos, limits, dry friction.
inline Parameters varied(Rng& rng, const Scene& scene) {
  Parameters p = scene.parameters;
  for (std::size_t b = 0; b < p.mass.size(); ++b) {
    const double scale = rng.uniform(0.8, 1.2);
    p.mass[b] *= scale;
    p.inertia[b] = p.inertia[b] + p.inertia[b];
  }
  for (Material& m : p.material) m.friction *= rng.uniform(0.5, 1.5);
  Rng extras = rng;  // a stream of their own: the rest stays as it was
  for (Material& m : p.material)
    if (extras.below(3) == 0) m.rest_offset = extras.uniform(0.0, 2e-3);
  const std::vector<double> x = scene.dof_positions(scene.default_q());
  for (int k = 0; k < scene.nv(); ++k) {
    const JointFacts& joint = joint_facts(scene.joint_of_dof(k));
    p.damping[k] = rng.uniform(0.0, 0.1);
    if (joint.free) continue;
    p.armature[k] = rng.uniform(0.0, 0.05);
    if (rng.below(4) == 0) p.dry_friction[k] = rng.uniform(0.01, 2.0);
    if (joint.nv > 1 || joint.wraps) continue;
    if (extras.below(3) == 0) {
      p.spring_stiffness[k] = extras.uniform(0.0, 40.0);
      p.spring_rest[k] = x[k] + extras.uniform(-1.0, 1.0);
    }
    p.kp[k] = rng.uniform(0.0, 40.0);
    p.kd[k] = rng.uniform(0.0, 1.0);
    if (rng.below(3) == 0) p.effort_limit[k] = rng.uniform(0.1, 5.0);
    if (!joint.limited || rng.below(4) != 0) continue;
    const double gap = rng.uniform(-5e-5, 0.02);
    rng.below(2) == 0 ? p.lower[k] = x[k] - gap : p.upper[k] = x[k] + gap;
  }
  return p;
}

inline Control random_control(Rng& rng, const Scene& scene, double amplitude) {
  Control c;
  const std::vector<double> x = scene.dof_positions(scene.default_q());
  c.torque = random_vector(rng, scene.nv()) * amplitude;
  c.position_target = Eigen::Map<const Eigen::VectorXd>(x.data(), scene.nv()) +
                      random_vector(rng, scene.nv()) * amplitude;
  c.velocity_target = random_vector(rng, scene.nv()) * amplitude;
  return c;
}

inline bool same_bits(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), 8 * a.size()) == 0;
}
/// Contacts without an impulse count as none.
inline bool same_bits(State a, State b) {
  for (State* x : {&a, &b}) {
    std::erase_if(x->contacts, [](const ContactMemory& c) { return norm(c.impulse_A) == 0.0; });
  }
  if (!same_bits(a.q, b.q) || !same_bits(a.v, b.v) || a.contacts.size() != b.contacts.size())
    return false;
  for (std::size_t k = 0; k < a.contacts.size(); ++k) {
    const ContactMemory &x = a.contacts[k], &y = b.contacts[k];
    if (x.pair != y.pair || x.feature != y.feature) return false;
    if (std::memcmp(&x.impulse_A, &y.impulse_A, sizeof(Vec3d)) != 0) return false;
  }
  return a.constraint_impulse == b.constraint_impulse;
}

inline double difference(const State& a, const State& b) {
  return std::max((a.q - b.q).cwiseAbs().maxCoeff(), (a.v - b.v).cwiseAbs().maxCoeff());
}

}  // namespace stiction::test
