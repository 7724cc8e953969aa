#include "stiction/model/scene.hpp"

#include "common.hpp"

// Bodies, geometries and dofs of a scene, by name or by number.

namespace stiction::python {
namespace {

std::string text_of(const bp::object& x) { return bp::extract<std::string>(bp::str(x)); }

/// What an object with __index__ says; false: more than fits.
bool read_index(const bp::object& x, Py_ssize_t& out) {
  out = PyNumber_AsSsize_t(x.ptr(), PyExc_OverflowError);
  if (out != -1 || PyErr_Occurred() == nullptr) return true;
  if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) bp::throw_error_already_set();
  PyErr_Clear();
  return false;
}

/// Number x in [low, high), or find(name).
template <class Find>
int index_from(const bp::object& x, const char* field, int low, int high, Find&& find) {
  const bp::extract<std::string> name(x);
  if (name.check()) return find(name());
  if (!PyIndex_Check(x.ptr())) {
    throw std::invalid_argument(std::string(field) + ": must be a name or a number");
  }
  Py_ssize_t i;
  if (!read_index(x, i) || i < low || i >= high) {
    throw std::invalid_argument(std::string(field) + " = " + text_of(x) + ": must be in [" +
                                std::to_string(low) + ", " + std::to_string(high) + ")");
  }
  return static_cast<int>(i);
}

}  // namespace

int integer_from(const bp::object& x, const char* field, int low, int high) {
  if (!PyIndex_Check(x.ptr())) raise_type_error(std::string(field) + ": must be an integer");
  Py_ssize_t i;
  if (read_index(x, i) && i >= low && i <= high) return static_cast<int>(i);
  throw std::invalid_argument(std::string(field) + " = " + text_of(x) + ": must be in [" +
                              std::to_string(low) + ", " + std::to_string(high) + "]");
}

int body_from(const Scene& scene, const bp::object& body, const char* field) {
  return index_from(body, field, -1, scene.num_bodies(), [&](const std::string& name) {
    return name == "world" ? -1 : scene.body(name);
  });
}

int joint_from(const Scene& scene, const bp::object& joint, const char* field) {
  return index_from(joint, field, 0, scene.num_bodies(), [&](const std::string& name) {
    return scene.joint(name);
  });
}

int geometry_from(const Scene& scene, const bp::object& geometry, const char* field) {
  return index_from(geometry,
                    field,
                    0,
                    static_cast<int>(scene.geometries().size()),
                    [&](const std::string& name) { return scene.geometry(name); });
}

int dof_from(const Scene& scene, const bp::object& dof, const char* field) {
  return index_from(
      dof, field, 0, scene.nv(), [&](const std::string& name) { return scene.dof(name); });
}

}  // namespace stiction::python
