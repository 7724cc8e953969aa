#include "step_messages.hpp"

#include "common.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace stiction::python {
namespace {

using Holder = SimulatorHolder;

/// Of the contacts at the start of the step the one with the largest force, where forces are finite
/// numbers, else the deepest; null: none.
const ContactReport* worst_contact(const std::vector<ContactReport>& contacts) {
  const ContactReport* worst = nullptr;
  const auto rank = [](const ContactReport& c) {
    const double force = norm(c.force_on_b_world);
    return std::pair(std::isfinite(force) ? force : kInfinity, -c.gap);
  };
  for (const ContactReport& c : contacts) {
    if (worst == nullptr || rank(c) > rank(*worst)) worst = &c;
  }
  return worst;
}

std::string contact_text(const Scene& scene, const ContactReport& c) {
  return "\"" + scene.geometries()[c.geometry_a].name + "\" and \"" +
         scene.geometries()[c.geometry_b].name + "\"";
}

/// Three digits, without Python: its lock may be another's.
std::string digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

}  // namespace

[[noreturn]] void raise_not_finite(const Simulator& sim, const State& state) {
  const Scene& scene = sim.scene();
  scene.validate(sim.parameters());  // some are only looked at when a step fails
  Eigen::Index worst = 0;
  if (state.v.size() > 0) state.v.cwiseAbs().maxCoeff(&worst);
  SimulationFailure failure;
  failure.time = state.time;
  failure.step = std::lround(state.time / sim.settings().dt);
  std::string text = "step " + std::to_string(failure.step) + " at time " + number(state.time) +
                     " s gave a number that is not finite";
  if (state.v.size() > 0) {
    failure.dof = scene.dof_names()[worst];
    failure.body = scene.body_names()[scene.body_of_dof(static_cast<int>(worst))];
    text += "; fastest dof before it \"" + failure.dof + "\" of body \"" + failure.body +
            "\" with " + number(state.v[worst]);
  }
  const std::vector<ContactReport> contacts = sim.contacts();
  if (const ContactReport* c = worst_contact(contacts)) {
    failure.contact = contact_text(scene, *c);
    const double force = norm(c->force_on_b_world);
    text += "; contact of " + failure.contact + " with " +
            (std::isfinite(force) ? number(force) + " N" : std::string("a force without bound")) +
            (c->gap < 0.0 ? ", " + number(-c->gap) + " m deep" : std::string());
  }
  raise_simulation_error(text + ". The state is as it was before that step.", failure);
}

StepReport finished(const Simulator& sim, const State& state) {
  if (sim.report().status == StepStatus::kNotFinite) raise_not_finite(sim, state);
  return sim.report();
}

void check_start(Holder& sim, State& state) {
  if (sim.start_checked) return;
  validate_state_of(sim, state);  // what is refused is no first step
  sim.start_checked = true;
  bp::import("stiction.starting")
      .attr("warn_of_first_step")(sim.shared_from_this(), bp::ptr(&state));
}

/// What a user can do about a step that ended so.
static const char* advice(SolveStatus status) {
  switch (status) {
    case SolveStatus::kBudget:
      return "; max_factorisations, max_work or time_budget ended it";
    case SolveStatus::kMaxIterations:
      return "; max_iterations ended it";
    case SolveStatus::kStalled:
      return "; constraints may contradict each other";
    case SolveStatus::kRegularised:
    case SolveStatus::kInfeasible:
      return "; constraints contradict each other";
    default:
      return "";
  }
}

void note_not_converged(Holder& sim, const StepReport& report, double end, bool last) {
  if (sim.noted || report.status != StepStatus::kNotConverged) return;
  sim.noted = true;
  const double dt = sim.settings().dt;
  sim.notice = sim.scene().name + ": step " + std::to_string(std::lround(end / dt) - 1) +
               " at time " + digits(std::max(end - dt, 0.0)) + " s did not converge: ";
  if (report.solver_status <= SolveStatus::kRoundingLimited) {
    sim.notice += "the iteration of the integrator " + sim.settings().integrator +
                  " stopped short of newton_tolerance";
  } else {
    sim.notice += "solver status \"" + std::string(to_string(report.solver_status)) +
                  "\", relative residual " + digits(report.residuals.relative) +
                  advice(report.solver_status);
  }
  if (report.safe_islands > 0)
    sim.notice += ", safe answer in " + std::to_string(report.safe_islands) + " of " +
                  std::to_string(report.num_islands) + " islands";
  if (!last) return;
  const std::vector<ContactReport> contacts = sim.contacts();
  if (const ContactReport* c = worst_contact(contacts)) {
    sim.notice += "; contact of " + contact_text(sim.scene(), *c) + " with " +
                  digits(norm(c->force_on_b_world)) + " N";
    if (c->gap < 0.0) sim.notice += ", " + digits(-c->gap) + " m deep";
  }
}

void say_not_converged(Holder& sim) {
  if (sim.notice.empty()) return;
  const std::string text = std::exchange(sim.notice, {});
  bp::import("stiction.not_converged").attr("warn_not_converged")(text);
}

}  // namespace stiction::python
