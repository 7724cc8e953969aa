#include "common.hpp"
#include "inside.hpp"
#include "simulator_holder.hpp"
// RolloutTape and the gradients of a rollout; stiction.RolloutTape checks the arguments.

namespace stiction::python {
namespace {

using Holder = SimulatorHolder;

/// (by torques, position and velocity targets, initial q, v and springs, parameters, their ranges,
/// report, which springs).
bp::tuple parts(const RolloutGradient& g) {
  return bp::make_tuple(to_array(g.taus),
                        to_array(g.position_targets),
                        to_array(g.velocity_targets),
                        to_array(g.initial_q),
                        to_array(g.initial_v),
                        to_array(g.initial_springs),
                        to_array(g.parameters),
                        ranges_list(g.ranges),
                        g.report,
                        springs_list(g.springs));
}

bp::tuple adjoint(Holder& sim,
                  const RolloutTape& tape,
                  const bp::object& states,
                  const bp::object& taus,
                  const bp::list& parameters) {
  constexpr const char* kCaller = "RolloutTape.adjoint";
  Inside inside(sim.occupancy, kCaller);
  const Pin pin(&sim.Simulator::parameters(), kCaller, false);
  RolloutCotangents by;
  by.states = matrix_from(states, "dl_dx", -1, 2 * sim.scene().nv());
  if (!taus.is_none()) by.taus = matrix_from(taus, "dl_du", tape.steps, sim.scene().nv());
  const std::vector<std::string> names = names_from(parameters);
  const RolloutGradient* g = nullptr;
  {
    AllowThreads free;
    g = &sim.adjoint(tape, by, names);
  }
  inside.raise_signals();
  return parts(*g);
}

std::string report_repr(const RolloutGradientReport& r) {
  std::string text = std::string("RolloutGradientReport(") + std::to_string(r.steps) + " steps, " +
                     (r.two_sided() ? "two-sided" : "one-sided") +
                     (r.exact() ? ", exact" : ", not exact");
  const auto tell = [&](int count, const char* what) { text += counted(count, what); };
  tell(r.gap_kinks, "with a gap of zero");
  tell(r.at_switch, "at a switch");
  tell(r.not_unique, "not unique");
  tell(r.capped, "capped");
  tell(r.scaled_impacts, "with scaled impacts");
  tell(r.swept, "swept");
  tell(r.inexact, "inexact");
  tell(r.contradicting, "with contradicting rows");
  tell(r.parameter_kinks, "with kinks of parameters");
  tell(r.slowed, "with trees slowed");
  tell(r.undecided, "undecided");
  tell(r.not_followed, "not followed");
  tell(r.safe, "with safe islands");
  tell(r.saturated, "saturated");
  tell(r.asleep, "with trees asleep");
  tell(r.not_converged, "not converged");
  tell(r.by_differences, "by differences");
  tell(r.kinks, "with columns of two sides");
  text += least("smallest margin", r.smallest_margin) + least("smallest gap", r.smallest_gap);
  return text + (r.touches_nothing ? ", touches nothing)" : ")");
}

void expose_rollout_report() {
  using R = RolloutGradientReport;
  bp::class_<R>("RolloutGradientReport",
                "In how many steps of a rollout GradientReport says what; a copy.",
                bp::no_init)
      .def_readonly("steps", &R::steps)
      .def_readonly("gap_kinks", &R::gap_kinks, "Gaps that are zero to rounding: one-sided.")
      .def_readonly("at_switch", &R::at_switch, "Contacts between two modes: one-sided.")
      .def_readonly(
          "not_unique",
          &R::not_unique,
          "v+ depends on the warm start: the derivative of a step of Newton's method from it.")
      .def_readonly("capped", &R::capped, "Recovery cut to the recovery speeds, or at its bound.")
      .def_readonly("scaled_impacts", &R::scaled_impacts, "Restitution cut: its share constant.")
      .def_readonly("swept", &R::swept, "Contacts of a later moment of the step.")
      .def_readonly("inexact", &R::inexact, "Contacts that do not say how their point moves.")
      .def_readonly("contradicting",
                    &R::contradicting,
                    "Redundant rows that no motion keeps together: neither two-sided nor exact.")
      .def_readonly("parameter_kinks",
                    &R::parameter_kinks,
                    "By the parameters asked for, GradientReport.num_parameter_kinks: their "
                    "gradients are of neither side. Says nothing of those by states and controls.")
      .def_readonly("slowed", &R::slowed, "Trees that turn by over 0.1 rad a step.")
      .def_readonly("undecided",
                    &R::undecided,
                    "Contacts whose mode or direction the solver's residual leaves open.")
      .def_readonly("not_followed",
                    &R::not_followed,
                    "Not unique, and chosen by sweeps: the derivative is of another solution.")
      .def_readonly("safe", &R::safe, "Islands with the answer of the convex problem.")
      .def_readonly("saturated", &R::saturated, "Dofs at their effort limit.")
      .def_readonly("asleep", &R::asleep, "Trees that sleep.")
      .def_readonly("not_converged", &R::not_converged, "StepReport.status \"not_converged\".")
      .def_readonly("by_differences",
                    &R::by_differences,
                    "GradientReport.method \"differences\": of compliant integrators.")
      .def_readonly("kinks", &R::kinks, "Columns of these with two sides; they hold the mean.")
      .def_readonly("error_estimate", &R::error_estimate, "The largest of these.")
      .def_readonly("smallest_gap", &R::smallest_gap, "Of all steps [m, rad]; infinite: none.")
      .def_readonly("smallest_margin",
                    &R::smallest_margin,
                    "GradientReport.smallest_margin of all steps [N s or m/s].")
      .def_readonly("smallest_margin_step", &R::smallest_margin_step, "The step that has it.")
      .def_readonly("smallest_pivot",
                    &R::smallest_pivot,
                    "Of the scaled reduced systems of all steps; small: contacts nearly redundant.")
      .def_readonly("smallest_pivot_step", &R::smallest_pivot_step, "The step that has it.")
      .def_readonly("touches_nothing",
                    &R::touches_nothing,
                    "No active contact, limit or closure of any step links a robot or body that is "
                    "controlled to those of the cost: the gradient by its controls is zero. "
                    "Controlled is what has torques or a servo, where nothing has, what has "
                    "joints.")
      .add_property("two_sided", &R::two_sided, "Either side of every state has this derivative.")
      .add_property("exact", &R::exact, "Agrees with differences of the rollout if two_sided.")
      .def("__repr__", &report_repr);
}

}  // namespace

void expose_rollout_tape(SimulatorClass& c) {
  using bp::arg;
  expose_rollout_report();
  bp::class_<RolloutTape, std::shared_ptr<RolloutTape>, boost::noncopyable>(
      "RolloutTape", "See stiction.RolloutTape.", bp::no_init)
      .def_readonly("steps", &RolloutTape::steps)
      .def_readonly("checkpoint_every", &RolloutTape::checkpoint_every)
      .add_property("bytes", &RolloutTape::bytes);
  c.def("_adjoint",
        &adjoint,
        (arg("self"), arg("tape"), arg("states"), arg("taus"), arg("parameters")));
}

}  // namespace stiction::python
