#include "common.hpp"
#include "contact/build_problem.hpp"
#include "inside.hpp"
#include "integrator/step_record.hpp"
#include "named_contact.hpp"
#include "named_motion.hpp"
#include "scene_holder.hpp"
#include "simulator_holder.hpp"

#include <chrono>
#include <thread>

// What a Simulator tells of its last step.

namespace stiction::python {
namespace {

using Holder = SimulatorHolder;

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

void needs_step(const Holder& sim, const char* caller) { LastStep(sim, caller); }

bp::list contacts(const Holder& sim) {
  return named(sim.scene(), LastStep(sim, "Simulator.contacts")->contacts());
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

/// Of the last step, where it began.
Transform frame_of_step(const Holder& sim, const bp::object& frame) {
  const auto [body, X] = place_from(sim.scene(), frame, "frame");
  return sim.motion().pose(body) * X;
}

/// Of all contacts of two bodies, on B.
BodyWrench wrench_between(Holder& sim,
                          const bp::object& body_a,
                          const bp::object& body_b,
                          const bp::object& point,
                          const bp::object& frame) {
  const int a = body_from(sim.scene(), body_a, "body_a"),
            b = body_from(sim.scene(), body_b, "body_b");
  if (!point.is_none() && !frame.is_none())
    throw std::invalid_argument("point and frame: give one of them, the frame has its origin");
  Transform X = Transform::identity();
  if (!point.is_none()) X.p = vec3_from(point, "point");
  const LastStep last(sim, "Simulator.wrench_between");
  if (!frame.is_none()) X = frame_of_step(sim, frame);
  const BodyWrench w = sim.wrench_between(a, b, X.p);
  return wrench_in(X, X.p, w.force, w.moment);
}

std::shared_ptr<NamedMotion> motion(const Holder& sim) {
  const LastStep last(sim, "Simulator.motion");
  return std::make_shared<NamedMotion>(NamedMotion{bp::object(sim.shown), sim.motion()});
}

BodyWrench joint_reaction(Holder& sim, const bp::object& joint, const bp::object& frame) {
  const int body = joint_from(sim.scene(), joint, "joint");
  const LastStep last(sim, "Simulator.joint_reaction");
  const BodyWrench w = sim.joint_reaction(body);
  const Vec3d origin = sim.motion().pose(body).p;
  Transform X = Transform::identity();
  X.p = origin;
  if (!frame.is_none()) X = frame_of_step(sim, frame);
  return wrench_in(X, origin, w.force, w.moment);
}

Balance balance(Holder& sim, const State& after, const bp::object& control) {
  const Control& c = control_from(sim, control, "Simulator.balance");
  const LastStep last(sim, "Simulator.balance");
  before_reading(&after, "Simulator.balance");
  validate_state_of(sim, after);
  return sim.balance(after, c);
}

CollisionCounters collision_counters(const Holder& sim) {
  return LastStep(sim, "Simulator.collision_counters")->collision_counters();
}

StepReport report(const Holder& sim) { return LastStep(sim, "Simulator.report")->report(); }
ContactProblem problem(const Holder& sim) { return LastStep(sim, "Simulator.problem")->problem(); }
std::int64_t most_factorisations(const Holder& sim) {
  return LastStep(sim, "Simulator.most_factorisations")->most_factorisations();
}
double most_work(const Holder& sim) { return LastStep(sim, "Simulator.most_work")->most_work(); }
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

bp::list se3_list(const std::vector<Transform>& poses) {
  bp::list out;
  for (const Transform& X : poses) out.append(to_se3(X));
  return out;
}

/// All of it raises ValueError before the first step.
void expose_last_step(SimulatorClass& c) {
  using bp::arg;
  const bp::object none;
  expose_snapshot();
  c.def("_references", &references, bp::arg("self"))
      .def("_needs_step", &needs_step, (arg("self"), arg("caller")))
      .def("report", &report, arg("self"), "StepReport of the last step.")
      .def("contacts", &contacts, arg("self"), "list of ContactReport of the last step.")
      .def("snapshot",
           &snapshot,
           arg("self"),
           "Snapshot of the end of the last whole step, before the first one of the default "
           "configuration. For viewers: the one method that any thread may call at any time; while "
           "a step is under way the first call waits for its end.")
      .def("collision_counters",
           &collision_counters,
           arg("self"),
           "CollisionCounters of the last step.")
      .def("wrench_on",
           &wrench_on,
           (arg("self"), arg("body")),
           "BodyWrench of all contacts on a body, by name or number, in the last step: world axes, "
           "moment about the body's origin at the start of the step. Raises ValueError unless that "
           "step is whole, and for a body that sleeps.")
      .def("wrench_between",
           &wrench_between,
           (arg("self"), arg("body_a"), arg("body_b"), arg("point") = none, arg("frame") = none),
           "BodyWrench of all contacts between two bodies (\"world\": the fixed world) in the last "
           "step: what B feels. In world axes, the moment about `point` (3,), world [m], None: the "
           "world's origin; or in the axes of the body or named frame `frame` and about its "
           "origin, where the step began. Raises ValueError as wrench_on() does; bodies that are "
           "awake touch none that sleeps.")
      .def("motion",
           &motion,
           arg("self"),
           "SceneMotion of the start of the last step with the mean acceleration of the step, "
           "(v+ - v) / dt, contacts and drives included: what M a + bias = tau + J^T forces of the "
           "step holds for. Of a free joint v+ counts in the axes of the start. Raises ValueError "
           "where the step was not finite, or was repeated for gradients since.")
      .def("joint_reaction",
           &joint_reaction,
           (arg("self"), arg("joint"), arg("frame") = none),
           "BodyWrench that the body beyond a joint, by name or number, "
           "takes from its parent in the last step, drive, friction and limit of the joint "
           "included: the rate of momentum of all that the joint carries less its weight, "
           "contacts, closures and wrenches, at `motion()`. In world axes about the origin of the "
           "body; or in those of the body or named frame `frame`, about its origin. Rotors "
           "(armature) turn by forces of the joint itself: what turns them is not in it. Raises "
           "ValueError for a free joint, one that sleeps, and where what it carries has a closure "
           "with something else and the step is compliant or of `project_closures`.")
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
      .def("most_work",
           &most_work,
           arg("self"),
           "What `work` of the last step's report may have been at most.")
      .def("warm_start",
           &warm_start,
           arg("self"),
           "(n,) impulses that the solver of the last step started from [N s].");
}

}  // namespace stiction::python
