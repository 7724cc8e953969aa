#pragma once

#include "stiction/model/robot.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stiction {

/// Throws std::invalid_argument naming field, coefficient and value if one is out of range.
void validate_material(const Material& material, const std::string& field);

/// Everything of a scene that is a number: settable between steps, an argument of every kernel.
/// Indices are the scene's: body, dof (v index), geometry, tree. Finite numbers are at most
/// kLargest.
struct Parameters {
  Vec3d gravity{0.0, 0.0, -9.81};  ///< world [m/s^2]

  // Bodies.
  std::vector<Transform> placement;  ///< joint frame in the parent body [m]; unused by free-flyers
  std::vector<Vec3d> axis;  ///< unit, joint frame; stays where the scene's was +x, +y or +z
  std::vector<std::int8_t> axis_code;  ///< as in TreeView, what `axis` may be; never changes
  std::vector<double> mass;            ///< [kg], 0 or at least 1 / kLargest
  std::vector<Vec3d> com;              ///< centre of mass, body frame [m]
  std::vector<Sym3d> inertia;          ///< about the com, body axes [kg m^2]

  // Trees.
  std::vector<Transform> base;  ///< root frame in the world [m]; used by fixed bases

  // Degrees of freedom. Units of a turning dof; of a sliding one.
  std::vector<double> armature;      ///< [kg m^2; kg] on the diagonal of M^
  std::vector<double> damping;       ///< of the joint [N m s/rad; N s/m]
  std::vector<double> dry_friction;  ///< of the joint [N m; N]; not of free-flyers
  std::vector<double> lower, upper;  ///< limits of position [rad; m]; infinite: none. Revolute and
                                     ///< prismatic joints only
  std::vector<double> kp, kd;  ///< servo gains [N m/rad; N/m], [N m s/rad; N s/m], one-dof joints
                               ///< only; 0: the dof takes torques only
  std::vector<double> effort_limit;  ///< of torque plus servo [N m; N]; infinite: none

  // Geometries.
  std::vector<Transform> geometry_placement;  ///< in the body, or in the world [m]
  std::vector<Material> material;             ///< of the surface, units in robot.hpp

  /// Throws std::invalid_argument naming the first field, index and value out of range.
  void validate() const;
  void validate_axes() const;  ///< of these alone
};

}  // namespace stiction
