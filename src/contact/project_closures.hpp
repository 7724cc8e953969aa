#pragma once

#include "contact/closed_loops.hpp"

namespace stiction {

/// The second half of the step that add_closure_curvature() began: the velocities of its loose
/// bodies at the node where their flight of dt ends.
void end_flight(const Scene& scene,
                const Parameters& parameters,
                double dt,
                const ClosedLoopWorkspace& work,
                State& state);

/// The end of a step: moves q onto the closures and gears, dq = -M^-1 J^T y with G y = Phi, and v
/// onto their tangent space at this q, J v = 0, in the metric of M. Only drift is taken back; a
/// closure or gear that is open by more (closure_recovery.cpp) stays so, with the velocity at which
/// its row closes it, no faster than is harmless. Ends when the rest is below 1e-12 m or rad, when
/// a round does not halve it (rows that repeat others and contradict them: there y leaves those
/// out), or after four.
void project_closures(const Scene& scene,
                      const Parameters& parameters,
                      const ContactSettings& settings,
                      double dt,
                      ClosedLoopWorkspace& work,
                      State& state);

}  // namespace stiction
