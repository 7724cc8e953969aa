#pragma once

#include "stiction/solver/solver.hpp"

#include <cstdint>

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
  double tolerance = 0.0;  ///< that the residuals were held to: 1e-3 in SolverSettings::
                           ///< tolerance_large, 1e-6 where no cheap stage reached more
  int factorisations = 0;  ///< linear systems the solver factored, all islands
  double work = 0.0;       ///< multiplications, about, of what the integrator and ncp-newton solve
                           ///< (SolverSettings::max_work); finding contacts is no part of it
  int safe_islands = 0;    ///< islands that were not solved and whose impulses are those of the
                           ///< convex, regularised problem instead: no energy gained, ncp-newton
  int num_contacts = 0;
  int num_rows = 0;  ///< of the contact problem
  int num_islands = 0;
  int num_asleep = 0;        ///< trees that sleep; contacts, rows and islands leave them out
  int num_fast_trees = 0;    ///< articulated trees that turn by over 0.1 rad in the step: their
                             ///< kinetic energy was made right by scaling, a shorter dt needs none
  double penetration = 0.0;  ///< deepest overlap at the start of the step [m], >= 0
  double creep = 0.0;        ///< fastest tangential speed of a sticking contact that carries more
                             ///< than 1e-6 of the step's largest normal impulse, or than the
                             ///< tolerance of a pile that moves [m/s]; in the rigid step less that
                             ///< of its spring
  double kinetic_energy = 0.0;    ///< of bodies and rotors (armature) at the start of the step [J]
  double potential_energy = 0.0;  ///< at the start of the step: of gravity, zero at the world
                                  ///< origin, and of the springs of joints [J]
  double elastic_energy = 0.0;    ///< of the springs of contacts at the start [J]
  double recovery_energy = 0.0;   ///< that corrections of position errors add in the step [J], at
                                  ///< most: see recovery_energy() of contact/build_problem.hpp
  double error_estimate = 0.0;    ///< largest of a velocity or displacement [SI], by integrators
                                  ///< that have one, else 0
  /// The state is the end of the step.
  bool whole() const { return status <= StepStatus::kNotConverged; }
  int switches = 0;  ///< of points between stick, slide and open, located inside: exponential
};

}  // namespace stiction
