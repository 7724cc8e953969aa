#pragma once

#include "stiction/model/robot.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace stiction {

/// Throws std::invalid_argument naming field, coefficient and value if one is out of range;
/// `name` gives the words for a coefficient: "friction" is "field.friction" in the second.
using CoefficientName = std::function<std::string(const std::string& coefficient)>;
void validate_material(const Material& material, const CoefficientName& name);
void validate_material(const Material& material, const std::string& field);

/// Velocity of a rigid motion, at the origin of the frame whose axes it has.
struct Twist {
  Vec3d linear{0, 0, 0}, angular{0, 0, 0};  ///< [m/s], [rad/s]
};

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
  std::vector<double> effort_limit;      ///< of torque plus servo [N m; N]; infinite: none
  std::vector<double> spring_stiffness;  ///< of the joint [N m/rad; N/m], one-dof joints only; the
                                         ///< effort limit is none of the spring's
  std::vector<double> spring_rest;       ///< position where it pulls nowhere [rad; m]

  // Geometries.
  std::vector<Transform> geometry_placement;  ///< in the body, or in the world [m]
  std::vector<Material> material;             ///< of the surface, units in robot.hpp
  std::vector<Vec3d> geometry_size;      ///< Shape::size [m]: what a shape has no use for stays 0
  std::vector<Twist> geometry_velocity;  ///< of one that the user moves, beside its body's; its own
                                         ///< axes. A step leaves geometry_placement as it is
  std::vector<Twist> surface_velocity;   ///< of belts: likewise, of the material alone, which does
                                         ///< nothing along the normal

  // Pairs of geometries with a material of their own, in the order of Scene::material_pairs().
  std::vector<Material> pair_material;

  // Closures and gears.
  std::vector<Transform> closure_X_A, closure_X_B;  ///< the two frames in their bodies [m]
  std::vector<double> gear_ratio;                   ///< [rad or m of dof per rad or m of driver]
  std::vector<double> gear_offset;                  ///< [rad or m]

  /// Which edit these are: see EditWatch. Says nothing of parameters that no watch looks after.
  std::uint64_t version = 0;

  /// visit(name, array...) for gravity and each array, of one or several Parameters side by side.
  template <class Visit, class... P>
  static void each_array(Visit&& visit, P&... p);

  /// Throws std::invalid_argument naming the first field, index and value out of range, in the
  /// words of Python: material[2].damping is contact_damping[2].
  void validate() const;
  void validate_axes() const;  ///< of these alone
};

template <class Visit, class... P>
void Parameters::each_array(Visit&& visit, P&... p) {
  visit("gravity", p.gravity...);
  visit("placement", p.placement...);
  visit("axis", p.axis...);
  visit("axis_code", p.axis_code...);
  visit("mass", p.mass...);
  visit("com", p.com...);
  visit("inertia", p.inertia...);
  visit("base", p.base...);
  visit("armature", p.armature...);
  visit("damping", p.damping...);
  visit("dry_friction", p.dry_friction...);
  visit("lower", p.lower...);
  visit("upper", p.upper...);
  visit("kp", p.kp...);
  visit("kd", p.kd...);
  visit("effort_limit", p.effort_limit...);
  visit("spring_stiffness", p.spring_stiffness...);
  visit("spring_rest", p.spring_rest...);
  visit("geometry_placement", p.geometry_placement...);
  visit("material", p.material...);
  visit("geometry_size", p.geometry_size...);
  visit("geometry_velocity", p.geometry_velocity...);
  visit("surface_velocity", p.surface_velocity...);
  visit("pair_material", p.pair_material...);
  visit("closure_X_A", p.closure_X_A...);
  visit("closure_X_B", p.closure_X_B...);
  visit("gear_ratio", p.gear_ratio...);
  visit("gear_offset", p.gear_offset...);
}

/// The first entry whose bits differ, in the words of Python: "friction[2]"; empty if none does.
std::string first_difference(const Parameters& a, const Parameters& b);

/// Finds edits between steps by the bits of the numbers: anyone may hold a reference or a NumPy
/// view and write. Asked once a step; within it caches compare `version` alone.
class EditWatch {
 public:
  explicit EditWatch(const Parameters& p) : seen_(p) {}
  bool edited(const Parameters& p) const;           ///< since the last look
  void look(Parameters& p);                         ///< an edit raises the version, none keeps it
  const Parameters& seen() const { return seen_; }  ///< as they were at the last look

 private:
  Parameters seen_;
};

}  // namespace stiction
