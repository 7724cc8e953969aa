#include "simulator/step_kind.hpp"

namespace stiction {

StepKind::StepKind(const Scene& scene, const SimulatorSettings& settings)
    : projects_closures_(settings.project_closures) {
  loops.resize(scene);
}

void StepKind::judge(bool converged) {
  const SolveStatus s = report.solver_status;
  const bool solved = s == SolveStatus::kConverged || s == SolveStatus::kRoundingLimited;
  report.status = s == SolveStatus::kNotFinite ? StepStatus::kNotFinite
                  : solved && converged        ? StepStatus::kOk
                                               : StepStatus::kNotConverged;
}

ContactReport report_of(const Contact& c) {
  ContactReport r{};
  r.geometry_a = c.geometry_a;
  r.geometry_b = c.geometry_b;
  r.body_a = c.body_a;
  r.body_b = c.body_b;
  r.feature = c.feature;
  r.position = c.position;
  r.frame = c.frame;
  r.gap = c.gap;
  r.friction = c.material.friction;
  r.torsional_friction = c.material.torsional_friction;
  r.rolling_friction = c.material.rolling_friction;
  return r;
}

}  // namespace stiction
