#pragma once

#include "stiction/model/robot.hpp"

#include <string>
#include <vector>

namespace stiction {

/// Everything of a scene that is a number: settable between steps, an argument of every kernel.
/// Indices are the scene's: body, dof (v index), geometry, tree.
struct Parameters {
  Vec3d gravity{0.0, 0.0, -9.81};  ///< [m/s^2]

  // Bodies.
  std::vector<Transform> placement;  ///< joint frame in the parent body
  std::vector<Vec3d> axis;
  std::vector<double> mass;
  std::vector<Vec3d> com;
  std::vector<Sym3d> inertia;

  // Trees: root frame in the world, used by fixed bases.
  std::vector<Transform> base;

  // Degrees of freedom.
  std::vector<double> armature, damping, dry_friction;
  std::vector<double> lower, upper;
  std::vector<double> kp, kd;        ///< servo gains; 0: the dof takes torques only
  std::vector<double> effort_limit;  ///< of torque plus servo

  // Geometries.
  std::vector<Transform> geometry_placement;  ///< in the body, or in the world
  std::vector<Material> material;

  /// Throws std::invalid_argument naming the first field, index and value out of range.
  void validate() const;
};

}  // namespace stiction
