#include "stiction/model/state.hpp"

#include "common.hpp"
#include "model/near_names.hpp"
#include "scene_holder.hpp"
#include <boost/python/raw_function.hpp>

#include <algorithm>

// What a user reads who calls a function with arguments it does not take, or sets an attribute that
// does not exist. Boost.Python by itself would answer with C++ signatures, or with silence.

namespace stiction::python {

std::string shown(const bp::object& x) {
  const bp::handle<> text(bp::allow_null(PyObject_Repr(x.ptr())));
  if (!text) bp::throw_error_already_set();
  std::string out = bp::extract<std::string>(bp::object(text));
  return out.size() > 60 ? out.substr(0, 57) + "..." : out;
}

namespace {

bool is_number(const bp::object& x) { return bp::extract<double>(x).check(); }
bool is_index(const bp::object& x) { return PyIndex_Check(x.ptr()) != 0; }
bool is_text(const bp::object& x) { return PyUnicode_Check(x.ptr()) != 0; }

bool fits(Argument::Kind kind, const bp::object& x) {
  switch (kind) {
    case Argument::kNumber:
      return is_number(x);
    case Argument::kInteger:
      return is_index(x);
    case Argument::kText:
      return is_text(x);
    case Argument::kShape:
      return bp::extract<const Shape&>(x).check();
    case Argument::kState:
      return bp::extract<const State&>(x).check();
    case Argument::kScene:
      return bp::extract<const SceneHolder&>(x).check();
    case Argument::kAny:
      return true;
  }
  return true;
}

const char* wanted(Argument::Kind kind) {
  switch (kind) {
    case Argument::kNumber:
      return "a number";
    case Argument::kInteger:
      return "an integer";
    case Argument::kText:
      return "a name (str)";
    case Argument::kShape:
      return "a Shape, such as stiction.Sphere(0.1)";
    case Argument::kState:
      return "a State, such as sim.initial_state()";
    case Argument::kScene:
      return "a Scene, such as stiction.load(\"solo12\")";
    case Argument::kAny:
      break;
  }
  return "something else";
}

[[noreturn]] void refuse_call(const std::string& function,
                              const std::vector<Argument>& arguments,
                              const bp::tuple& args,
                              const bp::dict& keywords) {
  const long given = bp::len(args) - 1;  // the first is self
  if (given > static_cast<long>(arguments.size())) {
    raise_type_error(function + "() takes at most " + std::to_string(arguments.size()) +
                     " arguments, not " + std::to_string(given));
  }
  std::vector<std::string> names;
  for (const Argument& a : arguments) names.emplace_back(a.name);
  for (bp::stl_input_iterator<bp::object> it(keywords.keys()), end; it != end; ++it) {
    const std::string name = bp::extract<std::string>(*it);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      raise_type_error(function + "() has no argument '" + name + "'" + near_names(name, names));
    }
    if (found - names.begin() < given)
      raise_type_error(function + "(): '" + name + "' is given twice");
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    const bool positional = static_cast<long>(i) < given;
    if (!positional && !keywords.has_key(a.name)) {
      if (a.required) raise_type_error(function + "() lacks the argument '" + a.name + "'");
      continue;
    }
    const bp::object value = positional ? bp::object(args[i + 1]) : bp::object(keywords[a.name]);
    if (fits(a.kind, value)) continue;
    raise_type_error(function + "(): " + a.name + " = " + shown(value) + ": must be " +
                     wanted(a.kind));
  }
  raise_type_error(function + "(): cannot take " + shown(args) + ", " + shown(keywords));
}

/// Names that can be assigned: those of properties.
std::vector<std::string> assignable(PyTypeObject* type) {
  std::vector<std::string> names;
  const bp::object listed(bp::handle<>(PyObject_Dir(reinterpret_cast<PyObject*>(type))));
  for (bp::stl_input_iterator<std::string> it(listed), end; it != end; ++it) {
    if ((*it)[0] == '_') continue;
    const bp::object found =
        bp::object(bp::handle<>(bp::borrowed(reinterpret_cast<PyObject*>(type)))).attr(it->c_str());
    if (Py_TYPE(found.ptr())->tp_descr_set != nullptr) names.push_back(*it);
  }
  return names;
}

/// What a flag is set to, NumPy's as Python's; null and an error: no truth value. Boost.Python
/// would take the truth of any object, None and "no" among them.
PyObject* flag_from(PyObject* self, PyObject* name, PyObject* value) {
  if (PyBool_Check(value)) return value;
  const bp::handle<> now(bp::allow_null(PyObject_GenericGetAttr(self, name)));
  if (!now) PyErr_Clear();
  if (!now || !PyBool_Check(now.get())) return value;  // is no flag
  if (std::string(Py_TYPE(value)->tp_name).starts_with("numpy.bool"))
    return PyObject_IsTrue(value) ? Py_True : Py_False;
  PyErr_Format(PyExc_TypeError, "%U = %R: must be True or False", name, value);
  return nullptr;
}

/// tp_setattro of a class without room for new attributes.
int set_known_attribute(PyObject* self, PyObject* name, PyObject* value) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject* found = _PyType_Lookup(type, name);
  if (found != nullptr && Py_TYPE(found)->tp_descr_set != nullptr) {
    if (value != nullptr && (value = flag_from(self, name, value)) == nullptr) return -1;
    const int result = PyObject_GenericSetAttr(self, name, value);
    if (result != 0) explain_attribute(self, name, value);
    return result;
  }
  try {
    const std::string wanted =
        bp::extract<std::string>(bp::object(bp::handle<>(bp::borrowed(name))));
    PyErr_SetString(PyExc_AttributeError,
                    (std::string(type->tp_name) + " has no attribute '" + wanted + "' to set" +
                     near_names(wanted, assignable(type)))
                        .c_str());
  } catch (const bp::error_already_set&) {
  }
  return -1;
}

}  // namespace

void raise_type_error(const std::string& text) {
  PyErr_SetString(PyExc_TypeError, text.c_str());
  throw bp::error_already_set();
}

bp::object refusal(const std::string& function, const std::vector<Argument>& arguments) {
  return bp::raw_function(
      [=](const bp::tuple& args, const bp::dict& keywords) -> bp::object {
        refuse_call(function, arguments, args, keywords);
      },
      1);
}

void forbid_new_attributes(const bp::object& type) {
  auto* t = reinterpret_cast<PyTypeObject*>(type.ptr());
  t->tp_setattro = &set_known_attribute;
  PyType_Modified(t);
}

const Parameters& parameters_from(const Scene& scene, const bp::object& parameters) {
  if (parameters.is_none()) return scene.parameters;
  const bp::extract<const Parameters&> given(parameters);
  if (given.check()) return given();
  raise_type_error("parameters = " + shown(parameters) +
                   ": must be Parameters, such as sim.parameters");
}

const Material& material_from(const bp::object& material, const char* field) {
  static const Material standard;
  if (material.is_none()) return standard;
  const bp::extract<const Material&> given(material);
  if (given.check()) return given();
  const std::string fix =
      is_number(material) ? "Material(friction=" + shown(material) + ")" : "Material(friction=0.5)";
  raise_type_error(std::string(field) + " = " + shown(material) + ": must be a Material, such as " +
                   fix);
}

std::optional<std::string> prefix_from(const bp::object& prefix) {
  if (prefix.is_none()) return std::nullopt;
  if (is_text(prefix)) return std::string(bp::extract<std::string>(prefix));
  raise_type_error("prefix = " + shown(prefix) + ": must be a str, such as \"left/\", or None");
}

int index_of_body(const bp::object& body, const char* field) {
  if (is_index(body)) {
    const Py_ssize_t i = PyNumber_AsSsize_t(body.ptr(), PyExc_OverflowError);
    if (i == -1 && PyErr_Occurred()) bp::throw_error_already_set();
    return static_cast<int>(i);
  }
  raise_type_error(std::string(field) + " = " + shown(body) + ": must be an index; scene.body(" +
                   (is_text(body) ? shown(body) : std::string("name")) + ") gives it");
}

}  // namespace stiction::python
