#include "common.hpp"
#include <boost/python/object/function.hpp>

// Functions of Boost.Python tell no signature, and answer a wrong call with the C++ types of what
// they would take. Both are mended at their type: it learns `__signature__`, and a call that does
// not fit is explained from the stub (stiction/_signatures.py). Functions of other modules, which
// share the type, are left alone; a call that fits costs one jump more.

namespace stiction::python {
namespace {

using Function = bp::objects::function;

ternaryfunc plain_call = nullptr;

/// A string of Python; empty: x is none.
std::string text_of(const bp::object& x) {
  const char* text = PyUnicode_Check(x.ptr()) ? PyUnicode_AsUTF8(x.ptr()) : nullptr;
  if (text == nullptr) PyErr_Clear();
  return text == nullptr ? "" : text;
}

/// "Scene.add_body"; empty: not a function of this module.
std::string qualified_name(PyObject* self) {
  const auto& function = *reinterpret_cast<const Function*>(self);
  // Names: of the class, or of the module; and the module of the class.
  const std::string name = text_of(function.name()), space = text_of(function.get_namespace());
  const bool in_module = space.ends_with("_stiction");
  if (name.empty() || !(in_module || text_of(function.get_module()).ends_with("_stiction")))
    return "";
  return space.empty() || in_module ? name : space + "." + name;
}

bp::object helper(const char* name) { return bp::import("stiction._signatures").attr(name); }

/// True if the error that is set is Boost.Python's of a call that does not fit; clears it then.
bool take_argument_error() {
  PyObject* type = PyErr_Occurred();
  if (type == nullptr || !PyType_Check(type)) return false;
  if (std::string(reinterpret_cast<PyTypeObject*>(type)->tp_name) != "ArgumentError") return false;
  PyErr_Clear();
  return true;
}

PyObject* call(PyObject* self, PyObject* args, PyObject* keywords) {
  PyObject* out = plain_call(self, args, keywords);
  if (out != nullptr) return out;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  try {
    const std::string name = qualified_name(self);
    PyErr_Restore(type, value, trace);
    if (name.empty() || !take_argument_error()) return nullptr;
    const bp::tuple given(bp::handle<>(bp::borrowed(args)));
    const bp::dict named =
        keywords == nullptr ? bp::dict() : bp::dict(bp::handle<>(bp::borrowed(keywords)));
    const std::string text = bp::extract<std::string>(helper("call_message")(name, given, named));
    PyErr_SetString(PyExc_TypeError, text.c_str());
  } catch (const bp::error_already_set&) {
  }
  return nullptr;
}

PyObject* signature(PyObject* self, void*) {
  try {
    const std::string name = qualified_name(self);
    if (!name.empty()) {
      const bp::object found = helper("signature")(name);
      if (!found.is_none()) return bp::incref(found.ptr());
    }
  } catch (const bp::error_already_set&) {
    PyErr_Clear();
  }
  PyErr_SetString(PyExc_AttributeError, "__signature__");
  return nullptr;
}

PyGetSetDef signature_property = {"__signature__", &signature, nullptr, "From the stub.", nullptr};

}  // namespace

void explain_attribute(PyObject* self, PyObject* name, PyObject* value) {
  if (!take_argument_error()) return;
  try {
    const bp::object type(bp::handle<>(bp::borrowed(reinterpret_cast<PyObject*>(Py_TYPE(self)))));
    const bp::object owner = type.attr("__name__");
    const bp::object text =
        helper("attribute_message")(owner,
                                    bp::object(bp::handle<>(bp::borrowed(name))),
                                    bp::object(bp::handle<>(bp::borrowed(value))));
    PyErr_SetObject(PyExc_TypeError, text.ptr());
  } catch (const bp::error_already_set&) {
  }
}

void explain_calls() {
  PyTypeObject* type = Py_TYPE(bp::object(bp::scope().attr("make_state")).ptr());
  plain_call = type->tp_call;
  type->tp_call = &call;
  const bp::handle<> property(PyDescr_NewGetSet(type, &signature_property));
  PyDict_SetItemString(type->tp_dict, "__signature__", property.get());
  PyType_Modified(type);
}

}  // namespace stiction::python
