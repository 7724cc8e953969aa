#include "integrator/end_by_impulses.hpp"

#include "model/contact_order.hpp"

#include <algorithm>

namespace stiction::compliance {

/// All contacts are rows of the problem, sorted by (pair, feature) as they were found.
static void take_as_rows(CompliantSystem& start) {
  start.rigid.insert(start.rigid.end(), start.contacts.begin(), start.contacts.end());
  std::sort(start.rigid.begin(), start.rigid.end(), contact_before);
  start.contacts.clear();
  start.points.clear();
}

void end_by_impulses(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  ContactSettings springs = input.contact;
  springs.tangential_compliance = true;  // extensions go on
  const CompliantInput rest{input.scene,
                            input.parameters,
                            input.control,
                            input.settings,
                            springs,
                            input.collision,
                            input.solver,
                            input.h};
  CompliantSystem& start = work.start;
  const int nv = input.scene.nv();
  locate_start(rest, state, start);
  std::vector<double>& held = start.held;
  held.clear();
  accelerate(rest, false, rest.h, start);
  report_energies(rest, start, work.outcome);
  take_as_rows(start);
  hold_rigid_rows(rest, state, work);
  accelerate(rest, false, rest.h, start);
  for (int k = 0; k < nv; ++k) {
    work.nu[k] = state.v[k] + rest.h * start.acceleration[k];
    work.xi[k] = rest.h * work.nu[k];
  }
  conclude(rest, PositionRule::kEndVelocity, work, state);
  work.outcome.converged = false;
  work.outcome.solver_status = std::max(work.outcome.solver_status, SolveStatus::kBudget);
}

}  // namespace stiction::compliance
