#include "stiction/model/state_io.hpp"
#include "stiction/model/tangents.hpp"

#include "common.hpp"
#include "inside.hpp"
#include "model/contact_order.hpp"
#include "scene_holder.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::python {
namespace {

State& of(const bp::object& self) { return bp::extract<State&>(self); }

/// While a step is under way, a view of half a step: to be looked at at most.
bp::object view(const bp::object& self, Eigen::VectorXd& x) {
  const bool writable = !is_pinned(&of(self));
  const bp::object array = array_view(self, x.data(), {x.size()});
  if (!writable) array.attr("setflags")(false);
  return array;
}
bp::object q(const bp::object& self) { return view(self, of(self).q); }
bp::object v(const bp::object& self) { return view(self, of(self).v); }
void set_q(State& s, const bp::object& x) {
  before_changing(&s, "State.q");
  assign(x, "state.q", s.q.data(), s.q.size());
}
void set_v(State& s, const bp::object& x) {
  before_changing(&s, "State.v");
  assign(x, "state.v", s.v.data(), s.v.size());
}
double time(const State& s) { return s.time; }
void set_time(State& s, double time) {
  before_changing(&s, "State.time");
  if (!std::isfinite(time))
    throw std::invalid_argument("state.time = " + number(time) + ": must be finite [s]");
  s.time = time;
}

bp::list contacts(const State& s) {
  before_reading(&s, "State.contacts");
  return to_list(s.contacts);
}
void set_contacts(State& s, const bp::object& values) {
  std::vector<ContactMemory> given;
  for (bp::ssize_t i = 0; i < bp::len(values); ++i) {
    const bp::extract<const ContactMemory&> one(values[i]);
    if (!one.check()) {
      throw std::invalid_argument("state.contacts[" + std::to_string(i) +
                                  "]: must be a ContactMemory");
    }
    given.push_back(one());
  }
  std::sort(given.begin(), given.end(), contact_before);
  before_changing(&s, "State.contacts");
  s.contacts = given;
}

constexpr char kMustBe[] = "saved state: must be bytes from State.save()";

bp::object save(const State& s) {
  before_reading(&s, "State.save");
  return to_bytes(save_state(s));
}

std::shared_ptr<State> from_bytes(const bp::object& bytes) {
  return std::make_shared<State>(restore_state(bytes_from(bytes, kMustBe)));
}

void check_size(const char* name, Eigen::Index saved, Eigen::Index own) {
  if (saved == own) return;
  throw std::invalid_argument("saved state: has " + std::to_string(saved) + " entries of " + name +
                              ", this state has " + std::to_string(own));
}

void restore(State& s, const bp::object& bytes) {
  const State saved = restore_state(bytes_from(bytes, kMustBe));
  before_changing(&s, "State.restore");
  check_size("q", saved.q.size(), s.q.size());
  check_size("v", saved.v.size(), s.v.size());
  check_size("constraint_impulse",
             static_cast<Eigen::Index>(saved.constraint_impulse.size()),
             static_cast<Eigen::Index>(s.constraint_impulse.size()));
  if (s.scene != 0) validate_scene_of(saved, s.scene);
  s = saved;  // a copy of equal sizes keeps the memory under the views
}

bp::tuple reduce(const bp::object& self) {
  return bp::make_tuple(self.attr("__class__"), bp::make_tuple(save(of(self))));
}

State copy(const State& s) {
  before_reading(&s, "State.copy");
  return s;
}
State without_impulses(const State& s) { return cold(copy(s)); }
State deep_copy(const State& s, const bp::object&) { return copy(s); }
bp::object equal(const State& a, const bp::object& b) {
  const bp::extract<const State&> other(b);
  if (!other.check()) return bp::object(bp::handle<>(bp::borrowed(Py_NotImplemented)));
  before_reading(&a, "State.__eq__");
  before_reading(&other(), "State.__eq__");
  return bp::object(a == other());
}

std::string repr(const State& s) {
  return "State(nq=" + std::to_string(s.q.size()) + ", nv=" + std::to_string(s.v.size()) +
         ", time=" + number(s.time) + ")";
}

State make(const SceneHolder& scene, const bp::object& q, const bp::object& v) {
  const Eigen::VectorXd given = vector_from(q, "q", scene.nq());
  State state = make_state(scene, {given.data(), given.data() + given.size()});
  if (!v.is_none()) state.v = vector_from(v, "v", scene.nv());
  validate_state(scene, state);
  return state;
}

void validate(const SceneHolder& scene, const State& state) {
  before_reading(&state, "validate_state");
  validate_whole_state(scene, state);
  validate_scene_of(state, scene.fingerprint());
}

Eigen::VectorXd configuration_from(const SceneHolder& scene,
                                   const bp::object& q,
                                   const std::string& field) {
  const Eigen::VectorXd out = vector_from(q, field, scene.nq());
  validate_configuration(scene, out, field);
  return out;
}

bp::object integrated(const SceneHolder& scene, const bp::object& q, const bp::object& x) {
  return to_array(
      integrate(scene, configuration_from(scene, q, "q"), finite_vector_from(x, "x", scene.nv())));
}

bp::object tangent_between(const SceneHolder& scene, const bp::object& q0, const bp::object& q1) {
  return to_array(
      difference(scene, configuration_from(scene, q0, "q0"), configuration_from(scene, q1, "q1")));
}

}  // namespace

void expose_state() {
  using bp::arg;
  bp::class_<State, std::shared_ptr<State>> c(
      "State",
      "All that the next step depends on: q, v, time and the warm starts. Made by "
      "Simulator.initial_state, make_state, or from the bytes of save(). Picklable.",
      bp::no_init);
  c.def("__init__", bp::make_constructor(&from_bytes, bp::default_call_policies(), arg("saved")))
      .add_property(
          "q",
          &q,
          &set_q,
          "(nq,) configuration in Pinocchio's layout, a writable view: free-flyer x y z [m], "
          "quaternion x y z w; joints [rad or m].")
      .add_property(
          "v",
          &v,
          &set_v,
          "(nv,) velocity, a writable view: free-flyer linear [m/s] and angular [rad/s] in the "
          "body frame; joints [rad/s or m/s].")
      .add_property("time", &time, &set_time, "[s]")
      .add_property("contacts",
                    &contacts,
                    &set_contacts,
                    "list of ContactMemory, sorted by pair and feature: impulses for the solver's "
                    "warm start, extensions of the springs of compliant integrators. A copy; "
                    "assign a list to change it.")
      .def("copy", &copy, arg("self"), "An independent copy, warm starts included.")
      .def("cold",
           &without_impulses,
           arg("self"),
           "An independent copy without the warm start of the contact solver: the next step starts "
           "from zero impulses. Springs of compliant contacts stay.")
      .def("__copy__", &copy)
      .def("__deepcopy__", &deep_copy)
      .def("save", &save, arg("self"), "bytes; restore(save()) continues bit for bit.")
      .def("restore",
           &restore,
           (arg("self"), arg("saved")),
           "Takes over the bytes of save(), in place. Raises ValueError for another version, "
           "damage or "
           "another size.")
      .def("__eq__", &equal)
      .def("__reduce__", &reduce)
      .def("__repr__", &repr)
      .setattr("__hash__", bp::object());
  forbid_new_attributes(c);
  bp::def(
      "make_state",
      &make,
      (arg("scene"), arg("q"), arg("v") = bp::object()),
      "State at q (nq,) and v (nv,), zero if None; cold warm starts. Raises ValueError naming the "
      "entry and its value.");
  bp::def("integrate",
          &integrated,
          (arg("scene"), arg("q"), arg("x")),
          "(nq,) q (+) x: the configuration q (nq,) moved by a tangent x (nv,), as a step moves "
          "it by dt v: of a free-flyer straight along x[:3] in the axes of the body, and turned by "
          "x[3:6]; to first order as pinocchio.integrate. Raises ValueError naming the entry and "
          "its value.");
  bp::def("difference",
          &tangent_between,
          (arg("scene"), arg("q0"), arg("q1")),
          "(nv,) x with q1 = integrate(scene, q0, x), the shortest way. Raises ValueError as "
          "integrate does.");
  bp::def("validate_state",
          &validate,
          (arg("scene"), arg("state")),
          "Raises ValueError unless the state fits the scene, is finite and has unit quaternions.");
}

}  // namespace stiction::python
