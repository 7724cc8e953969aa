#include "common.hpp"
#include "dynamics/forest.hpp"
#include "inside.hpp"
#include "scene_holder.hpp"

namespace stiction::python {
namespace {

std::shared_ptr<Control> make_control(int nv) {
  if (nv < 0) throw std::invalid_argument("Control: nv = " + std::to_string(nv) + ": must be >= 0");
  auto c = std::make_shared<Control>();
  c->torque = c->position_target = c->velocity_target = Eigen::VectorXd::Zero(nv);
  return c;
}

// All three vectors keep the size they were made with, so that views of them stay valid.
template <Eigen::VectorXd Control::* Member>
struct Vector {
  static Control& control(const bp::object& self) { return bp::extract<Control&>(self); }
  static const char* name() {
    return Member == &Control::torque            ? "torque"
           : Member == &Control::position_target ? "position_target"
                                                 : "velocity_target";
  }
  static bp::object get(const bp::object& self) {
    Control& c = bp::extract<Control&>(self);
    Eigen::VectorXd& x = c.*Member;
    const bp::object array = array_view(self, x.data(), {x.size()});
    if (is_pinned(&c)) array.attr("setflags")(false);
    return array;
  }
  static void set(const bp::object& self, const bp::object& value) {
    before_changing(&bp::extract<Control&>(self)(), "Control");
    try {
      get(self).attr("__setitem__")(bp::slice(), value);
    } catch (const bp::error_already_set&) {
      if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw;
      PyErr_Clear();
      const std::string shape =
          bp::extract<std::string>(bp::str(bp::import("numpy").attr("shape")(value)));
      throw std::invalid_argument("control." + std::string(name()) + " has shape " + shape +
                                  ": must be (" + std::to_string((control(self).*Member).size()) +
                                  ",), one entry a dof, six of a floating base first");
    }
  }
};

std::shared_ptr<ExternalWrench> make_wrench(const bp::object& body,
                                            const bp::object& force,
                                            const bp::object& moment) {
  auto w = std::make_shared<ExternalWrench>();
  w->body = index_of_body(body, "body");
  w->force = vec3_from(force, "force");
  if (!moment.is_none()) w->moment = vec3_from(moment, "moment");
  return w;
}

int wrench_body(const ExternalWrench& w) { return w.body; }
void set_wrench_body(ExternalWrench& w, const bp::object& x) { w.body = index_of_body(x, "body"); }
bp::object force(const ExternalWrench& w) { return to_array(w.force); }
bp::object moment(const ExternalWrench& w) { return to_array(w.moment); }
void set_force(ExternalWrench& w, const bp::object& x) { w.force = vec3_from(x, "force"); }
void set_moment(ExternalWrench& w, const bp::object& x) { w.moment = vec3_from(x, "moment"); }

/// A tuple that says how to change the control.
bp::object wrenches(const Control& c) {
  return bp::import("stiction.wrenches").attr("Wrenches")(to_list(c.wrenches));
}
void set_wrenches(Control& c, const bp::object& given) {
  std::vector<ExternalWrench> out;
  for (bp::stl_input_iterator<bp::object> it(given), end; it != end; ++it) {
    const bp::extract<const ExternalWrench&> w(*it);
    if (!w.check())
      throw std::invalid_argument("wrenches[" + std::to_string(out.size()) +
                                  "]: must be an ExternalWrench");
    out.push_back(w());
  }
  before_changing(&c, "Control.wrenches");
  c.wrenches = out;
}

Control copy(const Control& c) { return c; }

std::string wrench_repr(const ExternalWrench& w) {
  return "ExternalWrench(" + std::to_string(w.body) + ", " + vector_text(w.force) + ", " +
         vector_text(w.moment) + ")";
}

std::string control_repr(const Control& c) {
  return "Control(nv=" + std::to_string(c.torque.size()) +
         ", wrenches=" + std::to_string(c.wrenches.size()) + ")";
}

}  // namespace

void expose_control() {
  using bp::arg;
  bp::class_<ExternalWrench, std::shared_ptr<ExternalWrench>> wrench(
      "ExternalWrench",
      "Force (3,) [N] and moment (3,) [N m] on a body, at its origin, world axes. `body` is an "
      "index: scene.body(name) gives it.",
      bp::no_init);
  wrench
      .def("__init__",
           refusal("ExternalWrench", {{"body"}, {"force"}, {"moment", Argument::kAny, false}}))
      .def("__init__",
           bp::make_constructor(&make_wrench,
                                bp::default_call_policies(),
                                (arg("body"), arg("force"), arg("moment") = bp::object())))
      .add_property("body", &wrench_body, &set_wrench_body, "Index of the body.")
      .add_property("force", &force, &set_force, "(3,) [N]; a copy.")
      .add_property("moment", &moment, &set_moment, "(3,) [N m]; a copy.")
      .def("__repr__", &wrench_repr);
  forbid_new_attributes(wrench);
  bp::class_<Control, std::shared_ptr<Control>> control(
      "Control",
      "What a controller may say at each step; made by Simulator.hold or Control(nv) (zero).",
      bp::no_init);
  control.def("__init__", refusal("Control", {{"nv", Argument::kInteger}}))
      .def("__init__", bp::make_constructor(&make_control, bp::default_call_policies(), arg("nv")))
      .add_property("torque",
                    &Vector<&Control::torque>::get,
                    &Vector<&Control::torque>::set,
                    "(nv,) generalised force, added to the servos' [N m or N]; a writable view.")
      .add_property("position_target",
                    &Vector<&Control::position_target>::get,
                    &Vector<&Control::position_target>::set,
                    "(nv,) servo targets of one-dof joints [rad or m]; a writable view.")
      .add_property("velocity_target",
                    &Vector<&Control::velocity_target>::get,
                    &Vector<&Control::velocity_target>::set,
                    "(nv,) [rad/s or m/s]; a writable view.")
      .add_property("wrenches",
                    &wrenches,
                    &set_wrenches,
                    "tuple of ExternalWrench, copies; assign new ones to change it.")
      .def("copy", &copy, arg("self"), "An independent copy.")
      .def("__repr__", &control_repr);
  forbid_new_attributes(control);
}

}  // namespace stiction::python
