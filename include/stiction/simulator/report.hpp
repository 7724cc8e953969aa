#pragma once

#include "stiction/integrator/step_report.hpp"
#include "stiction/math/spatial.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// One contact point of the last step. Forces are averages over the step: impulse / dt.
struct ContactReport {
  int geometry_a, geometry_b, body_a, body_b;
  std::uint32_t feature;
  Vec3d position;  ///< where the impulse acts, world [m]
  Mat3d frame;     ///< R_WC = [t1 t2 n], n from A to B
  double gap;      ///< at the start of the step [m]
  double friction;
  Vec3d impulse;  ///< contact frame, on B [N s]
  /// Velocity of B relative to A in the middle of the step that leaves v+, contact frame [m/s]:
  /// what sticks has none. Less velocity_change it is J v+ with J of the start.
  Vec3d velocity;
  Vec3d velocity_change{0, 0, 0};  ///< by what it changes in half a step, as the bodies turn [m/s]
  Vec3d force_on_b_world;          ///< [N]
  Vec3d extension;                 ///< of the springs after the step, contact frame [m]; 0: none
  bool sliding;  ///< on the cone, and what it resists moves: the point, or its turning
  double torsional_friction, rolling_friction;  ///< [m]
  /// Couple on B and angular velocity of B relative to A about the axes that have friction of their
  /// own, else 0; contact frame [N m s], [rad/s].
  Vec3d moment_impulse, angular_velocity;
  Vec3d moment_on_b_world;  ///< about the point, beside the force [N m]
};

/// Wrench on a body; axes and the point of the moment are those of the function that returns it.
struct BodyWrench {
  Vec3d force{0, 0, 0};   ///< [N]
  Vec3d moment{0, 0, 0};  ///< [N m]
};

/// Momentum and energy of the whole scene over the last step, world frame, about the world origin.
/// Defects are discretisation errors, O(dt^2) per step; exact for free bodies about their centre of
/// mass.
struct Balance {
  Vec3d linear_before, linear_after;    ///< [kg m/s]
  Vec3d angular_before, angular_after;  ///< [kg m^2/s]; of loose bodies half a step before
  Vec3d linear_impulse;                 ///< gravity + external + contacts with the world [N s]
  Vec3d angular_impulse;                ///< [N m s]
  double energy_before, energy_after;   ///< kinetic + potential [J]
  double friction_work;  ///< of all contacts, sum lambda_T . c_T with couples [J], <= 0 without
                         ///< springs
  double normal_work;    ///< sum lambda_N c_N [J]
  /// True if neither a fixed base nor a closure to the world exists; otherwise their reactions are
  /// missing from the impulses.
  bool base_is_free;
};

}  // namespace stiction
