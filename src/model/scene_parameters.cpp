#include "stiction/model/scene.hpp"

#include "math/number_text.hpp"
#include "model/joint.hpp"
#include "model/physical_inertia.hpp"

#include <cmath>
#include <stdexcept>
#include <type_traits>

// Which numbers a scene can have, and its shapes with theirs.

namespace stiction {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument(what); }

}  // namespace

/// A full turn of the driver must be full turns of the driven joint: its angle is known up to
/// turns.
void Scene::check_gear(const std::string& field, const Gear& gear, double ratio) const {
  if (!joint_facts(joint_of_dof(gear.driver)).wraps || ratio == std::round(ratio)) return;
  fail(field + " = " + number_text(ratio) +
       ": must be an integer for a continuous driver; give the driver limits (revolute) instead");
}

void Scene::validate_shapes(const Parameters& p) const {
  Parameters::each_array(
      [](const char* name, const auto& given, const auto& own) {
        if constexpr (!std::is_same_v<decltype(given), const Vec3d&>) {
          if (given.size() == own.size()) return;
          fail("parameters: belong to another scene: " + std::string(name) + " has " +
               std::to_string(given.size()) + " entries, this one " + std::to_string(own.size()));
        }
      },
      p,
      parameters);
  for (std::size_t g = 0; g < geometries_.size(); ++g) {
    const std::string field =
        "parameters.geometry_size[" + std::to_string(g) + "] of \"" + geometries_[g].name + "\": ";
    validate_size(geometries_[g].shape.type, p.geometry_size[g], field);
  }
}

void Scene::validate_gains(const Parameters& p) const {
  for (int k = 0; k < nv_; ++k) {
    if (takes_servo(k)) continue;
    if (p.spring_stiffness[k] != 0.0) {
      fail("parameters.spring_stiffness[" + std::to_string(k) +
           "] = " + number_text(p.spring_stiffness[k]) + " of \"" + dof_names_[k] +
           "\": must be 0: springs need a revolute, continuous or prismatic joint");
    }
    const double gain = p.kp[k] != 0.0 ? p.kp[k] : p.kd[k];
    if (gain == 0.0) continue;
    fail("parameters." + std::string(p.kp[k] != 0.0 ? "kp" : "kd") + "[" + std::to_string(k) +
         "] = " + number_text(gain) + " of \"" + dof_names_[k] +
         "\": must be 0: servos need a revolute, continuous or prismatic joint; what has several "
         "dofs takes control.torque");
  }
}

void Scene::validate(const Parameters& p) const {
  validate_shapes(p);
  p.validate();
  validate_gains(p);
  for (std::size_t g = 0; g < gears_.size(); ++g)
    check_gear("parameters.gear_ratio[" + std::to_string(g) + "]", gears_[g], p.gear_ratio[g]);
  validate_inertias(p);
}

void Scene::validate_inertias(const Parameters& p) const {
  for (const Tree& tree : trees_) {
    std::vector<MovedBody> bodies;
    for (int i = 0; i < tree.num_bodies; ++i) {
      const int b = tree.body_offset + i;
      const double armature = p.armature[tree.v_offset + tree.v_index[i]];
      bodies.push_back({tree.parent[i],
                        tree.joint[i],
                        p.axis[b],
                        p.placement[b],
                        p.mass[b],
                        p.com[b],
                        p.inertia[b],
                        armature});
    }
    const int i = first_without_inertia(bodies);
    if (i < 0) continue;
    const int b = tree.body_offset + i;
    fail("parameters.mass[" + std::to_string(b) + "] = " + number_text(p.mass[b]) +
         " and parameters.inertia(" + std::to_string(b) + "): joint \"" + joint_names_[b] +
         "\" of body \"" + body_names_[b] + "\" moves no inertia");
  }
}

Shape Scene::shape(const Parameters& p, int geometry) const {
  Shape shape = geometries_[geometry].shape;
  shape.size = p.geometry_size[geometry];
  return shape;
}

}  // namespace stiction
