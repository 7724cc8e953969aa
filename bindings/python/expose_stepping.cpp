#include "stiction/model/state_io.hpp"

#include "common.hpp"
#include "inside.hpp"
#include "scene_holder.hpp"
#include "simulator_holder.hpp"
#include "step_messages.hpp"

#include <cmath>
#include <limits>

// Simulator.step, run, rollout and their arguments.

namespace stiction::python {
namespace {

using Holder = SimulatorHolder;

void check_vector(const char* field, const Eigen::VectorXd& x, int nv) {
  if (x.size() != 0 && x.size() != nv) {
    throw std::invalid_argument(std::string("control.") + field + " has " +
                                std::to_string(x.size()) +
                                " entries: the scene has nv = " + std::to_string(nv));
  }
  if (x.allFinite()) return;
  Eigen::Index i = 0;
  while (std::isfinite(x[i])) ++i;
  throw std::invalid_argument(std::string("control.") + field + "[" + std::to_string(i) +
                              "] = " + number(x[i]) + ": must be finite");
}

void check_control(const Scene& scene, const Control& c) {
  check_vector("torque", c.torque, scene.nv());
  check_vector("position_target", c.position_target, scene.nv());
  check_vector("velocity_target", c.velocity_target, scene.nv());
  for (const ExternalWrench& w : c.wrenches) {
    if (w.body >= 0 && w.body < scene.num_bodies()) continue;
    throw std::invalid_argument("control.wrenches: body = " + std::to_string(w.body) +
                                ": must be in [0, " + std::to_string(scene.num_bodies()) + ")");
  }
}

}  // namespace

const Control& control_from(SimulatorHolder& sim, const bp::object& control, const char* caller) {
  if (control.is_none()) return sim.held;
  const bp::extract<const Control&> whole(control);
  if (!whole.check()) {
    const bp::extract<double> scalar(control);
    if (scalar.check())
      throw std::invalid_argument("control = " + number(scalar()) +
                                  ": must be None, torques or a Control; steps are named, as in "
                                  "run(state, steps=100)");
    const Inside inside(sim.occupancy, caller);  // the scratch is the simulator's
    sim.scratch.torque = vector_from(control, "control", sim.scene().nv());
  }
  const Control& c = whole.check() ? whole() : sim.scratch;
  check_control(sim.scene(), c);
  return c;
}

void validate_state_of(const SimulatorHolder& sim, const State& state) {
  validate_whole_state(sim.scene(), state);
  validate_scene_of(state, sim.fingerprint());
}

void check_parameters(const SimulatorHolder& sim) {
  if (sim.edited()) sim.scene().validate(sim.Simulator::parameters());
}

namespace {

/// What a step, run or rollout uses while other threads go on: the simulator for itself alone, the
/// state to write, the control to read; the parameters are pinned with the simulator.
class Use {
 public:
  Use(const Holder& sim, const char* caller, const State& state, const Control& control)
      : inside_(sim.occupancy, caller),
        state_(&state, caller, true),
        control_(&control, caller, false),
        parameters_(&sim.Simulator::parameters(), caller, false) {}
  void raise_signals() { inside_.raise_signals(); }
  template <class Work>
  void without_lock(Work&& work) {
    inside_.without_lock(work);
  }

 private:
  Inside inside_;
  Pin state_, control_, parameters_;
};

// --- one step, many steps ---

/// One step, and `work()` after it if it came to its end, while other threads go on; then
/// `result()`.
template <class Work, class Result>
auto step_inside(Holder& sim,
                 State& state,
                 const bp::object& control,
                 const char* caller,
                 Work work,
                 Result result) {
  const Control& c = control_from(sim, control, caller);
  Use use(sim, caller, state, c);
  validate_state_of(sim, state);
  check_parameters(sim);
  use.without_lock([&] {
    const bool whole = sim.step(state, c).whole();
    sim.stepped = true;
    if (whole) work();
  });
  note_not_converged(sim, sim.report(), state.time, true);
  finished(sim, state);
  return result();
}

/// Warns before the first step, if there is to be one, and after the first that was not solved.
template <class Work>
auto with_warnings(Holder& sim, State& state, bool steps, Work work) {
  if (steps) {
    sim.origin.warn_if_edited(
        "Simulator", sim.scene(), "edit sim.parameters, or make a new Simulator");
    check_start(sim, state);
  }
  auto result = work();
  say_not_converged(sim);
  return result;
}

StepReport step(Holder& sim, State& state, const bp::object& control) {
  return with_warnings(sim, state, true, [&] {
    return step_inside(sim, state, control, "Simulator.step", [] {}, [&] { return sim.report(); });
  });
}

/// Advances `state` and returns step_parts() of the derivatives.
bp::tuple step_derivatives(Holder& sim,
                           State& state,
                           const bp::object& control,
                           const bp::list& parameters) {
  const std::vector<std::string> names = names_from(parameters);
  const StepDerivatives* found = nullptr;
  return with_warnings(sim, state, true, [&] {
    return step_inside(
        sim,
        state,
        control,
        "Simulator.step_derivatives",
        [&] { found = &sim.Simulator::step_derivatives(names); },
        [&] { return step_parts(*found); });
  });
}

// --- the two halves of a step, on a simulator of one's own: for comparing solvers ---

/// The same scene and parameters with other settings.
std::shared_ptr<Holder> twin(const Holder& sim, const SettingsHolder& settings) {
  const Inside inside(sim.occupancy, "Simulator.compare");
  auto other = std::make_shared<Holder>(*sim.shown, settings);
  other->start_checked = true;
  static_cast<Simulator&>(*other).parameters() = sim.Simulator::parameters();
  return other;
}

void prepare(Holder& sim, State& state, const bp::object& control) {
  const Control& c = control_from(sim, control, "Simulator.prepare");
  const Use use(sim, "Simulator.prepare", state, c);
  validate_state_of(sim, state);
  check_parameters(sim);
  sim.prepare(state, c);
  sim.stepped = true;
}

StepReport advance(Holder& sim, State& state, const bp::object& impulse) {
  const Inside inside(sim.occupancy, "Simulator.advance");
  const Eigen::VectorXd l = vector_from(impulse, "impulse", sim.problem().num_rows());
  sim.advance(state, {l.data(), l.data() + l.size()});
  return finished(sim, state);
}

void check_steps(long steps) {
  if (steps >= 0 && steps <= std::numeric_limits<int>::max()) return;
  throw std::invalid_argument("steps = " + std::to_string(steps) +
                              (steps < 0 ? ": must be >= 0" : ": must be < 2^31"));
}

StepReport run_inside(Holder& sim, State& state, const bp::object& control, long steps) {
  const Control& c = control_from(sim, control, "Simulator.run");
  check_steps(steps);
  Use use(sim, "Simulator.run", state, c);
  validate_state_of(sim, state);
  check_parameters(sim);
  {
    AllowThreads free;
    const auto step = [&](long k) -> const StepReport& {
      return k == 0 ? sim.step(state, c) : sim.step_unedited(state, c);
    };
    for (long k = 0; k < steps && step(k).whole(); ++k)
      note_not_converged(sim, sim.report(), state.time, true);
  }
  sim.stepped = sim.stepped || steps > 0;
  use.raise_signals();
  return finished(sim, state);
}

StepReport run(Holder& sim, State& state, const bp::object& control, long steps) {
  return with_warnings(
      sim, state, steps > 0, [&] { return run_inside(sim, state, control, steps); });
}

RowMatrix rows_from(const bp::object& x, const char* field, int nv) {
  if (x.is_none()) return {};
  RowMatrix m = matrix_from(x, field, -1, nv);
  for (long i = 0; i < m.rows(); ++i) {
    if (!m.row(i).allFinite()) {
      throw std::invalid_argument(std::string(field) + "[" + std::to_string(i) +
                                  "] has an entry that is not finite");
    }
  }
  return m;
}

RolloutLog rollout_inside(Holder& sim,
                          State& state,
                          const bp::object& control,
                          const bp::object& taus,
                          const bp::object& targets,
                          long steps,
                          int checkpoint_every,
                          RolloutTape* tape) {
  const Control& c = control_from(sim, control, "Simulator.rollout");
  check_steps(steps);
  Use use(sim, "Simulator.rollout", state, c);
  validate_state_of(sim, state);
  check_parameters(sim);
  RolloutInput input;
  input.taus = rows_from(taus, "taus", sim.scene().nv());
  input.position_targets = rows_from(targets, "position_targets", sim.scene().nv());
  input.steps = static_cast<int>(steps);
  input.stop_on_bad_status = false;
  input.checkpoint_every = checkpoint_every;
  RolloutLog log;
  {
    AllowThreads free;
    log = sim.rollout(state, c, input, tape);
  }
  sim.stepped = sim.stepped || !log.reports.empty();
  use.raise_signals();
  if (!log.reports.empty() && log.reports.back().status == StepStatus::kNotFinite)
    raise_not_finite(sim, state);
  for (int k = 0; k < log.steps; ++k) {
    const int later = log.steps - 1 - k;
    note_not_converged(sim, log.reports[k], state.time - later * sim.settings().dt, later == 0);
  }
  return log;
}

/// (RolloutLog, RolloutTape or None).
bp::tuple rollout(Holder& sim,
                  State& state,
                  const bp::object& control,
                  const bp::object& taus,
                  const bp::object& targets,
                  long steps,
                  bool taped,
                  int checkpoint_every) {
  const auto tape = taped ? std::make_shared<RolloutTape>() : nullptr;
  const RolloutLog log = with_warnings(sim, state, steps > 0, [&] {
    return rollout_inside(sim, state, control, taus, targets, steps, checkpoint_every, tape.get());
  });
  return bp::make_tuple(log, tape);
}

constexpr const char* kStepDoc =
    "Advances `state` by dt, in place. control: None (zero torques, servos hold the default "
    "configuration), "
    "torques (nv,) [N m or N] added to those servos, or a Control. Returns a StepReport.\n\nRaises "
    "ValueError for "
    "a wrong size or a number that is not finite, SimulationError if the step gave one; the state "
    "is then as "
    "it was before. Other threads run meanwhile.";

}  // namespace

void expose_stepping(SimulatorClass& c) {
  using bp::arg;
  const bp::object none;
  c.def("step", refusal("step", {{"state", Argument::kState}, {"control", Argument::kAny, false}}))
      .def("run",
           refusal("run",
                   {{"state", Argument::kState},
                    {"control", Argument::kAny, false},
                    {"steps", Argument::kInteger, false}}))
      .def("step", &step, (arg("self"), arg("state"), arg("control") = none), kStepDoc)
      .def("run",
           &run,
           (arg("self"), arg("state"), arg("control") = none, arg("steps") = 1),
           "`steps` times step() with one control; the StepReport of the last.")
      .def("_step_derivatives",
           &step_derivatives,
           (arg("self"), arg("state"), arg("control"), arg("parameters")))
      .def("_rollout",
           &rollout,
           (arg("self"),
            arg("state"),
            arg("control") = none,
            arg("taus") = none,
            arg("position_targets") = none,
            arg("steps") = 0,
            arg("tape") = false,
            arg("checkpoint_every") = 0))
      .def("_twin", &twin, (arg("self"), arg("settings")))
      .def("_prepare", &prepare, (arg("self"), arg("state"), arg("control") = none))
      .def("_advance", &advance, (arg("self"), arg("state"), arg("impulse")));
}

}  // namespace stiction::python
