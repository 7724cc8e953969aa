#include "stiction/model/state_io.hpp"

#include "common.hpp"
#include "contact/build_problem.hpp"
#include "inside.hpp"
#include "scene_holder.hpp"
#include "simulator_holder.hpp"

namespace stiction::python {
namespace {

using Holder = SimulatorHolder;

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
  return sim.scene().pair_material(static_cast<const Simulator&>(sim).parameters(),
                                   geometry_from(sim.scene(), a, "geometry_a"),
                                   geometry_from(sim.scene(), b, "geometry_b"));
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

}  // namespace

void expose_control();
void expose_report();
void expose_settings();
void expose_last_step(SimulatorClass& c);
void expose_derivatives(SimulatorClass& c);
void expose_inverse(SimulatorClass& c);
void expose_stepping(SimulatorClass& c);
void expose_rollout_tape(SimulatorClass& c);
void expose_timing(SimulatorClass& c);

void expose_simulator() {
  using bp::arg;
  const bp::object none;
  expose_settings();
  expose_control();
  expose_report();
  SimulatorClass c("Simulator", "See stiction.Simulator.", bp::no_init);
  c.def("__init__",
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
      .def_readonly("_starts", &Holder::starts)
      .def_readwrite("_start_checked", &Holder::start_checked)
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
      .def("find_contacts", refusal("find_contacts", {{"state", Argument::kState}}))
      .def("find_contacts",
           &find_contacts,
           (arg("self"), arg("state")),
           "The collision part of a step alone, at `state`: kinematics, broad and narrow phase, "
           "manifolds. Returns CollisionCounters. Leaves the narrow phase's warm starts in the "
           "state, as a step does; what is known of the last step stays.")
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
      .def("body_poses", refusal("body_poses", {{"state", Argument::kState}}))
      .def("body_poses",
           &body_poses,
           (arg("self"), arg("state")),
           "list of pinocchio.SE3, world, by body.")
      .def("__repr__", &simulator_repr);
  expose_stepping(c);
  expose_last_step(c);
  expose_derivatives(c);
  expose_inverse(c);
  expose_rollout_tape(c);
  expose_timing(c);
}

}  // namespace stiction::python
