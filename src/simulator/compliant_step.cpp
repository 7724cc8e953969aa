#include "stiction/simulator/simulator.hpp"

#include "contact/project_closures.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

// The step of compliant integrators: sub-steps, then the report.

namespace stiction {

/// A pair of rigid surfaces keeps its rigid contact beside the compliant ones: links of a robot
/// rarely have a stiffness. That no pair at all has one is a mistake.
void Simulator::check_stiffness() const {
  const int count = static_cast<int>(scene_.geometries().size());
  std::string rigid;
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) {
      if (!scene_.pair_enabled(a, b)) continue;
      if (std::isfinite(scene_.pair_material(parameters_, a, b).stiffness)) return;
      if (rigid.empty())
        rigid =
            "\"" + scene_.geometries()[a].name + "\" and \"" + scene_.geometries()[b].name + "\"";
    }
  }
  if (rigid.empty()) return;
  throw std::invalid_argument(
      "integrator \"" + settings_.integrator + "\" needs a finite stiffness [N/m], but " + rigid +
      ", like every other pair, has stiffness = inf: give a material one, e.g. "
      "Material(stiffness=1e5, damping=300), or take integrator \"semi-implicit-euler\"");
}

const StepReport& Simulator::compliant_step(State& state, const Control& control) {
  check_sizes(state, control);
  before_ = state;
  CompliantOutcome& outcome = compliant_.outcome;
  const int substeps = settings_.compliant.substeps;
  const CompliantInput input{scene_,
                             parameters_,
                             control,
                             settings_.compliant,
                             settings_.contact,
                             settings_.collision,
                             settings_.solver,
                             settings_.dt / substeps};
  outcome.begin();
  report_ = {};
  for (int k = 0; k < substeps; ++k) {
    integrator_(input, state, compliant_);
    if (k == 0) report_energies(compliant_.start, outcome);  // where the integrator has not done so
    if (!(std::isfinite(state.q.sum()) && std::isfinite(state.v.sum()))) break;
    if (settings_.solver.interrupt.requested()) break;
  }
  if (settings_.project_closures)
    project_closures(scene_, parameters_, settings_.contact, settings_.dt, loops_, state);
  fill_compliant_report();
  return take_back_if_bad(state);
}

void Simulator::fill_compliant_report() {
  const CompliantOutcome& outcome = compliant_.outcome;
  StepReport& r = report_;
  r.solver_status = outcome.solver_status;
  r.residuals = outcome.residuals;
  const bool solved = r.solver_status == SolveStatus::kConverged ||
                      r.solver_status == SolveStatus::kRoundingLimited;
  r.status = solved && outcome.converged ? StepStatus::kOk : StepStatus::kNotConverged;
  r.iterations = outcome.iterations;
  r.factorisations = outcome.factorisations;
  r.num_rows = outcome.rows;
  r.num_contacts = static_cast<int>(outcome.contacts.size());
  r.num_islands = outcome.islands;
  r.error_estimate = outcome.error_estimate;
  r.switches = outcome.switches;
  r.kinetic_energy = outcome.kinetic_energy;
  r.potential_energy = outcome.potential_energy;
  r.elastic_energy = outcome.elastic_energy;
  r.recovery_energy = outcome.recovery_energy;
  contacts_.clear();
  for (const CompliantContact& c : outcome.contacts) {
    contacts_.push_back(c.contact);
    r.penetration = std::max(r.penetration, -c.contact.gap);
    if (c.mode == ContactMode::kStick)
      r.creep = std::max(r.creep, std::hypot(c.velocity.x, c.velocity.y));
  }
}

}  // namespace stiction
