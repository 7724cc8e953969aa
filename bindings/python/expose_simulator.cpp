#include "stiction/model/state_io.hpp"

#include "common.hpp"
#include "contact/build_problem.hpp"
#include "inside.hpp"
#include "integrator/step_record.hpp"
#include "named_contact.hpp"
#include "scene_holder.hpp"
#include "simulator_holder.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <thread>
#include <utility>

namespace stiction::python {
namespace {

using Holder = SimulatorHolder;

// --- checks at the edge: the C++ step itself trusts its arguments ---

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

/// None: hold; a Control; or torques (nv,) added to servos that hold the default configuration.
const Control& control_from(Holder& sim, const bp::object& control, const char* caller) {
  if (control.is_none()) return sim.held;
  const bp::extract<const Control&> whole(control);
  if (!whole.check()) {
    const Inside inside(sim.occupancy, caller);  // the scratch is the simulator's
    sim.scratch.torque = vector_from(control, "control", sim.scene().nv());
  }
  const Control& c = whole.check() ? whole() : sim.scratch;
  check_control(sim.scene(), c);
  return c;
}

void validate_state_of(const Holder& sim, const State& state) {
  validate_whole_state(sim.scene(), state);
  validate_scene_of(state, sim.fingerprint());
}

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

 private:
  Inside inside_;
  Pin state_, control_, parameters_;
};

/// Arrays that were lent may have been written to: their bits tell.
void check_parameters(const Holder& sim) {
  if (sim.edited()) sim.scene().validate(sim.Simulator::parameters());
}

// --- one step, many steps ---

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

/// What is known: the step, the fastest dof with its body, the contact that pushes most.
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

/// Three digits, without Python: its lock may be another's.
std::string digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

/// Words on the first step of a simulator that ends not converged; kept until they are said.
/// `end`: the step's [s]; its contacts are known if it is the `last`.
void note_not_converged(Holder& sim, const StepReport& report, double end, bool last) {
  if (sim.noted || report.status != StepStatus::kNotConverged) return;
  sim.noted = true;
  const double dt = sim.settings().dt;
  sim.notice = sim.scene().name + ": step " + std::to_string(std::lround(end / dt) - 1) +
               " at time " + digits(std::max(end - dt, 0.0)) +
               " s did not converge: solver status \"" + to_string(report.solver_status) +
               "\", relative residual " + digits(report.residuals.relative);
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

/// Says them, to the caller `level` Python frames up. Nobody is inside any more: what the warning
/// calls may call the simulator.
void say_not_converged(Holder& sim, int level) {
  if (sim.notice.empty()) return;
  const std::string text = std::exchange(sim.notice, {});
  bp::import("stiction.not_converged").attr("warn_not_converged")(text, level);
}

StepReport step_inside(Holder& sim, State& state, const bp::object& control) {
  const Control& c = control_from(sim, control, "Simulator.step");
  Use use(sim, "Simulator.step", state, c);
  validate_state_of(sim, state);
  check_parameters(sim);
  {
    AllowThreads free;
    sim.step(state, c);
  }
  sim.stepped = true;
  use.raise_signals();
  note_not_converged(sim, sim.report(), state.time, true);
  return finished(sim, state);
}

StepReport step(Holder& sim, State& state, const bp::object& control) {
  const StepReport report = step_inside(sim, state, control);
  say_not_converged(sim, 2);
  return report;
}

// --- the two halves of a step, on a simulator of one's own: for comparing solvers ---

/// The same scene and parameters with other settings.
std::shared_ptr<Holder> twin(const Holder& sim, const SettingsHolder& settings) {
  const Inside inside(sim.occupancy, "Simulator.compare");
  auto other = std::make_shared<Holder>(sim.scene(), settings);
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
    for (long k = 0; k < steps && sim.step(state, c).whole(); ++k)
      note_not_converged(sim, sim.report(), state.time, true);
  }
  sim.stepped = sim.stepped || steps > 0;
  use.raise_signals();
  return finished(sim, state);
}

StepReport run(Holder& sim, State& state, const bp::object& control, long steps) {
  const StepReport report = run_inside(sim, state, control, steps);
  say_not_converged(sim, 2);
  return report;
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
                          long steps) {
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
  RolloutLog log;
  {
    AllowThreads free;
    log = sim.rollout(state, c, input);
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

RolloutLog rollout(Holder& sim,
                   State& state,
                   const bp::object& control,
                   const bp::object& taus,
                   const bp::object& targets,
                   long steps) {
  RolloutLog log = rollout_inside(sim, state, control, taus, targets, steps);
  say_not_converged(sim, 3);
  return log;
}

// --- reports on demand ---

/// What is told of the last step needs one, and nobody else inside.
class LastStep {
 public:
  LastStep(const Holder& sim, const char* caller) : inside_(sim.occupancy, caller), sim_(sim) {
    if (sim.stepped) return;
    throw std::invalid_argument(std::string(caller) + ": no step was taken yet; call step() first");
  }
  const Holder* operator->() const { return &sim_; }

 private:
  const Inside inside_;
  const Holder& sim_;
};

std::string body_name(const Scene& scene, int body) {
  return body < 0 ? "world" : scene.body_names()[body];
}

bp::list named(const Scene& scene, const std::vector<ContactReport>& reports) {
  bp::list out;
  for (const ContactReport& r : reports) {
    NamedContact c;
    static_cast<ContactReport&>(c) = r;
    c.geometry_a_name = scene.geometries()[r.geometry_a].name;
    c.geometry_b_name = scene.geometries()[r.geometry_b].name;
    c.body_a_name = body_name(scene, r.body_a);
    c.body_b_name = body_name(scene, r.body_b);
    out.append(c);
  }
  return out;
}

bp::list contacts(const Holder& sim) {
  return named(sim.scene(), LastStep(sim, "Simulator.contacts")->contacts());
}

bp::list se3_list(const std::vector<Transform>& poses) {
  bp::list out;
  for (const Transform& X : poses) out.append(to_se3(X));
  return out;
}

// --- for viewers ---

/// A snapshot as Python holds it.
struct SnapshotHolder : Snapshot {
  std::shared_ptr<SceneHolder> scene;
};

SnapshotHolder snapshot(Holder& sim) {
  SnapshotHolder out;
  out.scene = sim.shown;
  std::uint64_t request = 0;
  for (;;) {
    // Between two calls it can be read off. Within one, the thread inside publishes it.
    if (sim.occupancy.caller == nullptr || sim.occupancy.thread == PyThread_get_thread_ident()) {
      const Inside inside(sim.occupancy, "Simulator.snapshot");
      if (sim.stepped) static_cast<Snapshot&>(out) = sim.snapshot();
      if (out.q.size() != sim.scene().nq()) static_cast<Snapshot&>(out) = sim.start();
      return out;
    }
    if (sim.watch().read(request, out)) return out;
    const AllowThreads free;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

double snapshot_time(const SnapshotHolder& s) { return s.time; }
bp::object snapshot_q(const SnapshotHolder& s) { return to_array(s.q); }
bp::object snapshot_v(const SnapshotHolder& s) { return to_array(s.v); }
bp::list snapshot_poses(const SnapshotHolder& s) { return se3_list(s.body_poses); }
bp::list snapshot_contacts(const SnapshotHolder& s) { return named(*s.scene, s.contacts); }
std::string snapshot_repr(const SnapshotHolder& s) {
  return "Snapshot(time=" + number(s.time) + ", contacts=" + std::to_string(s.contacts.size()) +
         ")";
}

BodyWrench wrench_on(Holder& sim, const bp::object& body) {
  const int b = body_from(sim.scene(), body, "body");
  const LastStep last(sim, "Simulator.wrench_on");
  return sim.wrench_on(b);
}

Balance balance(Holder& sim, const State& after, const bp::object& control) {
  const Control& c = control_from(sim, control, "Simulator.balance");
  const LastStep last(sim, "Simulator.balance");
  before_reading(&after, "Simulator.balance");
  validate_state_of(sim, after);
  return sim.balance(after, c);
}

bp::list body_poses(Holder& sim, const State& state) {
  const Inside inside(sim.occupancy, "Simulator.body_poses");
  before_reading(&state, "Simulator.body_poses");
  validate_state_of(sim, state);
  return se3_list(sim.body_poses(state));
}

bp::list asleep(const Holder& sim, const State& state) {
  before_reading(&state, "Simulator.asleep");
  validate_state_of(sim, state);
  bp::list out;
  for (const int body : sim.asleep(state)) out.append(sim.scene().body_names()[body]);
  return out;
}

void wake(const Holder& sim, State& state) {
  before_changing(&state, "Simulator.wake");
  validate_state_of(sim, state);
  sim.wake(state);
}

CollisionCounters find_contacts(Holder& sim, State& state) {
  const Inside inside(sim.occupancy, "Simulator.find_contacts");
  const Pin pin(&state, "Simulator.find_contacts", true);
  check_parameters(sim);
  return sim.find_contacts(state);
}

Material pair_material(const Holder& sim, const bp::object& a, const bp::object& b) {
  const Inside inside(sim.occupancy, "Simulator.pair_material");
  return sim.scene().pair_material(static_cast<const Simulator&>(sim).parameters(),
                                   geometry_from(sim.scene(), a, "geometry_a"),
                                   geometry_from(sim.scene(), b, "geometry_b"));
}

CollisionCounters collision_counters(const Holder& sim) {
  return LastStep(sim, "Simulator.collision_counters")->collision_counters();
}

StepReport report(const Holder& sim) { return LastStep(sim, "Simulator.report")->report(); }
ContactProblem problem(const Holder& sim) { return LastStep(sim, "Simulator.problem")->problem(); }
std::int64_t most_factorisations(const Holder& sim) {
  return LastStep(sim, "Simulator.most_factorisations")->most_factorisations();
}
ContactSolution solution(const Holder& sim) {
  return LastStep(sim, "Simulator.solution")->solution();
}
bp::object warm_start(const Holder& sim) {
  return to_array(LastStep(sim, "Simulator.warm_start")->warm_start());
}
std::string row_name(const Scene& scene, const StepRecord& record, const ConstraintRow& row) {
  switch (row.source) {
    case RowSource::kContact: {
      const Contact& c = record.contacts[row.index];
      return scene.geometries()[c.geometry_a].name + " - " + scene.geometries()[c.geometry_b].name;
    }
    case RowSource::kClosure:
      return scene.closures()[row.index].name;
    case RowSource::kGear:
      return scene.gears()[row.index].name;
    default:
      return scene.dof_names()[row.index];
  }
}

/// (source, name, kind, c*) of every row.
bp::list references(const Holder& sim) {
  const StepRecord& record = LastStep(sim, "Simulator.references")->record();
  bp::list out;
  for (const ConstraintRow& row : record.rows.rows) {
    out.append(bp::make_tuple(to_string(row.source),
                              row_name(sim.scene(), record, row),
                              to_string(row.kind),
                              array_copy(row.reference, {row.set.dim})));
  }
  return out;
}

/// (kind, name, metres, radians) of every closure and gear.
bp::list open_closures(Holder& sim, const State& state) {
  const Inside inside(sim.occupancy, "Simulator.initial_state");
  bp::list out;
  for (const ClosureError& e : closure_errors(sim.scene(), sim.parameters(), state)) {
    const bool gear = e.source == RowSource::kGear;
    out.append(bp::make_tuple(
        gear ? "gear" : "closure",
        gear ? sim.scene().gears()[e.index].name : sim.scene().closures()[e.index].name,
        e.linear,
        e.angular));
  }
  return out;
}

State initial_state(const Holder& sim, const std::string& configuration) {
  return sim.initial_state(configuration);
}
Control hold(const Holder& sim, const std::string& configuration) {
  return sim.hold(configuration);
}
std::shared_ptr<SceneHolder> scene(const Holder& sim) { return sim.shown; }
SettingsHolder settings(const Holder& sim) {
  SettingsHolder shown(sim.settings());
  shown.fixed = true;
  shown.solver.interrupt = {};  // the simulator's own
  return shown;
}
Parameters& parameters(Holder& sim) { return sim.parameters(); }

std::string simulator_repr(const Holder& sim) {
  const SimulatorSettings& s = sim.settings();
  return "Simulator(\"" + sim.scene().name + "\", nv=" + std::to_string(sim.scene().nv()) +
         ", dt=" + number(s.dt) + ", solver=\"" + s.solver.name + "\")";
}

void set_parameters(Holder& sim, const Parameters& p) {
  const Inside inside(sim.occupancy, "Simulator.parameters");
  sim.scene().validate(p);
  sim.parameters() = p;  // a copy of equal sizes keeps the memory under the views
}

std::shared_ptr<Holder> make_simulator(const SceneHolder& scene, const SettingsHolder& settings) {
  return std::make_shared<Holder>(scene, settings);
}

void expose_snapshot() {
  bp::class_<SnapshotHolder>("Snapshot",
                             "The end of a simulator's last whole step; a copy. Made by "
                             "Simulator.snapshot.",
                             bp::no_init)
      .add_property("time", &snapshot_time, "[s]")
      .add_property("q", &snapshot_q, "(nq,) configuration.")
      .add_property("v", &snapshot_v, "(nv,) velocity.")
      .add_property("body_poses", &snapshot_poses, "list of pinocchio.SE3, world, by body.")
      .add_property("contacts", &snapshot_contacts, "list of ContactReport of that step.")
      .def("__repr__", &snapshot_repr);
}

}  // namespace

void expose_control();
void expose_report();
void expose_settings();

static const char* const kStepDoc =
    "Advances `state` by dt, in place. control: None (zero torques, servos hold the default "
    "configuration), "
    "torques (nv,) [N m or N] added to those servos, or a Control. Returns a StepReport.\n\nRaises "
    "ValueError for "
    "a wrong size or a number that is not finite, SimulationError if the step gave one; the state "
    "is then as "
    "it was before. Other threads run meanwhile.";

void expose_simulator() {
  using bp::arg;
  const bp::object none;
  expose_settings();
  expose_control();
  expose_report();
  expose_snapshot();
  bp::class_<Holder, std::shared_ptr<Holder>, boost::noncopyable>(
      "Simulator", "See stiction.Simulator.", bp::no_init)
      .def("__init__",
           bp::make_constructor(&make_simulator,
                                bp::default_call_policies(),
                                (arg("scene"), arg("settings") = SettingsHolder{})))
      .add_property("scene",
                    &scene,
                    "Its own copy of the Scene it was made from, fixed: editing it is an error "
                    "that says what "
                    "to do instead.")
      .add_property("settings", &settings, "A copy of its SimulatorSettings, fixed.")
      .add_property("parameters",
                    bp::make_function(&parameters, bp::return_internal_reference<>()),
                    &set_parameters,
                    "Parameters of the next step; arrays are writable views, checked by each step, "
                    "run or rollout once they were asked for.")
      .def("_references", &references, bp::arg("self"))
      .def("_closure_errors", &open_closures, (bp::arg("self"), bp::arg("state")))
      .def("initial_state", refusal("initial_state", {{"configuration", Argument::kText, false}}))
      .def("initial_state",
           &initial_state,
           (arg("self"), arg("configuration") = "default"),
           "State at a named configuration, at rest.")
      .def("hold", refusal("hold", {{"configuration", Argument::kText, false}}))
      .def("hold",
           &hold,
           (arg("self"), arg("configuration") = "default"),
           "Control with zero torques whose servo targets hold a named configuration.")
      .def("step",
           refusal("step", {{"state", Argument::kState}, {"control", Argument::kAny, false}}))
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
      .def("_rollout",
           &rollout,
           (arg("self"),
            arg("state"),
            arg("control") = none,
            arg("taus") = none,
            arg("position_targets") = none,
            arg("steps") = 0))
      // What follows tells of the last step, and raises ValueError before the first one.
      .def("report", &report, arg("self"), "StepReport of the last step.")
      .def("contacts", &contacts, arg("self"), "list of ContactReport of the last step.")
      .def("snapshot",
           &snapshot,
           arg("self"),
           "Snapshot of the end of the last whole step, before the first one of the default "
           "configuration. For viewers: the one method that any thread may call at any time; while "
           "a step is under way the first call waits for its end.")
      .def("find_contacts", refusal("find_contacts", {{"state", Argument::kState}}))
      .def("find_contacts",
           &find_contacts,
           (arg("self"), arg("state")),
           "The collision part of a step alone, at `state`: kinematics, broad and narrow phase, "
           "manifolds. Returns CollisionCounters. Leaves the narrow phase's warm starts in the "
           "state, as a step does; what is known of the last step stays.")
      .def("collision_counters",
           &collision_counters,
           arg("self"),
           "CollisionCounters of the last step.")
      .def("asleep", refusal("asleep", {{"state", Argument::kState}}))
      .def("asleep",
           &asleep,
           (arg("self"), arg("state")),
           "list of the names of the bodies that sleep in `state`.")
      .def("wake", refusal("wake", {{"state", Argument::kState}}))
      .def("wake",
           &wake,
           (arg("self"), arg("state")),
           "Wakes everything; to be called after parameters were changed, which sleep does not "
           "notice.")
      .def("pair_material",
           &pair_material,
           (arg("self"), arg("geometry_a"), arg("geometry_b")),
           "Material of a pair of geometries, by name or number, under the simulator's parameters.")
      .def("wrench_on",
           &wrench_on,
           (arg("self"), arg("body")),
           "BodyWrench of all contacts on a body, by name or number, in the last step.")
      .def("balance",
           refusal("balance", {{"state", Argument::kState}, {"control", Argument::kAny, false}}))
      .def("balance",
           &balance,
           (arg("self"), arg("state"), arg("control") = none),
           "Balance of the last step, from the state after it and the control that it had.")
      .def("problem", &problem, arg("self"), "ContactProblem of the last step; a copy.")
      .def("solution", &solution, arg("self"), "ContactSolution of the last step; a copy.")
      .def("most_factorisations",
           &most_factorisations,
           arg("self"),
           "Factorisations that the last step could have taken at most with ncp-newton, all "
           "islands\n"
           "together, with those of the impact law and of safe answers; of a compliant step those "
           "of\n"
           "its rigid rows and of implicit-euler's iterations.")
      .def("warm_start",
           &warm_start,
           arg("self"),
           "(n,) impulses that the solver of the last step started from [N s].")
      .def("_twin", &twin, (arg("self"), arg("settings")))
      .def("_prepare", &prepare, (arg("self"), arg("state"), arg("control") = none))
      .def("_advance", &advance, (arg("self"), arg("state"), arg("impulse")))
      .def("body_poses", refusal("body_poses", {{"state", Argument::kState}}))
      .def("body_poses",
           &body_poses,
           (arg("self"), arg("state")),
           "list of pinocchio.SE3, world, by body.")
      .def("__repr__", &simulator_repr);
}

}  // namespace stiction::python
