#pragma once

#include "stiction/math/spatial.hpp"
#include "stiction/solver/solver.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

enum class StepStatus : std::uint8_t {
  kOk,            ///< stepped; the contact problem was solved (or is rounding limited)
  kNotConverged,  ///< stepped with the solver's last impulses; see residuals
  kNotFinite,     ///< a NaN or infinity appeared: the state is left as it was before the step
  kInterrupted,   ///< SolverSettings::interrupt ended the step: likewise
};
const char* to_string(StepStatus status);

/// What every step tells. Plain numbers; contacts and balances are read from the Simulator on
/// demand.
struct StepReport {
  StepStatus status = StepStatus::kOk;
  SolveStatus solver_status = SolveStatus::kConverged;
  Residuals residuals;     ///< the certificate, SI units
  int iterations = 0;      ///< of the solver, slowest island
  int factorisations = 0;  ///< linear systems the solver factored, all islands
  int safe_islands = 0;    ///< islands that were not solved and whose impulses are those of the
                           ///< convex, regularised problem instead: no energy gained, ncp-newton
  int num_contacts = 0;
  int num_rows = 0;  ///< of the contact problem
  int num_islands = 0;
  int num_asleep = 0;        ///< trees that sleep; contacts, rows and islands leave them out
  double penetration = 0.0;  ///< deepest overlap at the start of the step [m], >= 0
  double creep = 0.0;  ///< fastest tangential speed of a sticking contact [m/s]; in the rigid step
                       ///< less that of its spring
  double kinetic_energy = 0.0;    ///< at the start of the step [J]
  double potential_energy = 0.0;  ///< at the start of the step, zero at the world origin [J]
  double elastic_energy = 0.0;    ///< of the springs of contacts at the start [J]
  double recovery_energy = 0.0;   ///< that corrections of position errors add in the step [J], at
                                  ///< most: see recovery_energy() of contact/build_problem.hpp
  double error_estimate = 0.0;    ///< largest of a velocity or displacement [SI], by integrators
                                  ///< that have one, else 0
  /// The state is the end of the step.
  bool whole() const { return status <= StepStatus::kNotConverged; }
  int switches = 0;  ///< of points between stick, slide and open, located inside: exponential
};

/// One contact point of the last step. Forces are averages over the step: impulse / dt.
struct ContactReport {
  int geometry_a, geometry_b, body_a, body_b;
  std::uint32_t feature;
  Vec3d position;  ///< world [m]
  Mat3d frame;     ///< R_WC = [t1 t2 n], n from A to B
  double gap;      ///< at the start of the step [m]
  double friction;
  Vec3d impulse;           ///< contact frame, on B [N s]
  Vec3d velocity;          ///< of B relative to A after the step, contact frame [m/s]
  Vec3d force_on_b_world;  ///< [N]
  Vec3d extension;         ///< of the springs after the step, contact frame [m]; 0: none
  bool sliding;            ///< the force is on the cone and the point moves against it
};

/// Wrench on a body, world axes.
struct BodyWrench {
  Vec3d force{0, 0, 0};   ///< [N]
  Vec3d moment{0, 0, 0};  ///< about the body's origin at the start of the step [N m]
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
  double friction_work;  ///< of all contacts, sum lambda_T . c_T [J], <= 0 without springs
  double normal_work;    ///< sum lambda_N c_N [J]
  /// True if neither a fixed base nor a closure to the world exists; otherwise their reactions are
  /// missing from the impulses.
  bool base_is_free;
};

}  // namespace stiction
