#include "common.hpp"

#include <stdexcept>

// C++ exceptions as Python ones: std::invalid_argument (a wrong argument, named) becomes ValueError
// by Boost.Python itself; std::runtime_error becomes StictionError where we call what throws it.
// Not by a registered translator: those are shared by all modules and would rename Pinocchio's
// errors.

namespace stiction::python {
namespace {

PyObject* stiction_error = nullptr;
PyObject* simulation_error = nullptr;

PyObject* new_exception(const char* name, const char* doc, PyObject* base) {
  const std::string qualified = std::string("stiction.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, base, nullptr);
  if (type == nullptr) bp::throw_error_already_set();
  bp::scope().attr(name) = bp::object(bp::handle<>(bp::borrowed(type)));
  return type;
}

}  // namespace

void create_exceptions() {
  stiction_error = new_exception("StictionError",
                                 "A file that cannot be read or a computation that failed; base of "
                                 "stiction's own errors.",
                                 PyExc_RuntimeError);
  simulation_error =
      new_exception("SimulationError",
                    "A step produced a number that is not finite. The state is as it was "
                    "before that step.\n\nAttributes: step (int, round(time / dt)), time [s], "
                    "dof (name of the fastest degree of freedom), body (that it moves), "
                    "contact (the pair of geometries that pushes most, \"\" without contact).",
                    stiction_error);
}

void raise_stiction_error(const char* text) {
  PyErr_SetString(stiction_error, text);
  throw bp::error_already_set();
}

void raise_simulation_error(const std::string& text, const SimulationFailure& failure) {
  const bp::object type(bp::handle<>(bp::borrowed(simulation_error)));
  bp::object error = type(text);
  error.attr("time") = failure.time;
  error.attr("step") = failure.step;
  error.attr("dof") = failure.dof;
  error.attr("body") = failure.body;
  error.attr("contact") = failure.contact;
  PyErr_SetObject(simulation_error, error.ptr());
  throw bp::error_already_set();
}

}  // namespace stiction::python
