#include "stiction/model/scene.hpp"

#include "common.hpp"

// Bodies, geometries and dofs of a scene, by name or by number.

namespace stiction::python {
namespace {

/// Number x in [low, high), or find(name).
template <class Find>
int index_from(const bp::object& x, const char* field, int low, int high, Find&& find) {
  const bp::extract<std::string> name(x);
  if (name.check()) return find(name());
  if (!PyIndex_Check(x.ptr())) {
    throw std::invalid_argument(std::string(field) + ": must be a name or a number");
  }
  const long i = PyNumber_AsSsize_t(x.ptr(), nullptr);
  if (i < low || i >= high) {
    throw std::invalid_argument(std::string(field) + " = " + std::to_string(i) + ": must be in [" +
                                std::to_string(low) + ", " + std::to_string(high) + ")");
  }
  return static_cast<int>(i);
}

}  // namespace

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
