#include "simulator/step_kind.hpp"

#include <stdexcept>

namespace stiction {

StepKind::StepKind(const Scene& scene, const SimulatorSettings& settings) {
  if (settings.project_closures) loops.resize(scene);
}

void StepKind::prepare(const StepInput& input, State&) {
  throw std::invalid_argument("integrator \"" + input.settings.integrator +
                              "\" has no contact problem to prepare: take semi-implicit-euler");
}

void StepKind::advance(const StepInput& input, const std::vector<double>&, State& state) {
  prepare(input, state);
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
  return r;
}

}  // namespace stiction
