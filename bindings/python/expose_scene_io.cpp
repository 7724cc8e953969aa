#include "stiction/model/scene_io.hpp"

#include "common.hpp"
#include "path_argument.hpp"
#include "scene_holder.hpp"

// Scenes in files and as bytes.

namespace stiction::python {
namespace {

/// The scene with these numbers in the place of its own; None: as it is.
Scene with_numbers(const SceneHolder& s, const bp::object& parameters) {
  const Parameters& p = parameters_from(s, parameters);
  if (!parameters.is_none()) s.validate_shapes(p);
  Scene scene = s;
  scene.parameters = p;
  return scene;
}

void save(const SceneHolder& s, const bp::object& path, const bp::object& parameters) {
  const std::string file = path_from(path);
  with_stiction_errors([&] { save_scene(with_numbers(s, parameters), file); });
}

std::shared_ptr<SceneHolder> load(const bp::object& path) {
  const std::string file = path_from(path);
  return with_stiction_errors([&] { return std::make_shared<SceneHolder>(load_scene(file)); });
}

bp::object as_bytes(const SceneHolder& s, const bp::object& parameters) {
  return to_bytes(scene_to_bytes(with_numbers(s, parameters)));
}

std::shared_ptr<SceneHolder> from_bytes(const bp::object& bytes) {
  return std::make_shared<SceneHolder>(
      scene_from_bytes(bytes_from(bytes, "saved scene: must be bytes from Scene.to_bytes()")));
}

}  // namespace

void add_files(SceneClass& c) {
  using bp::arg;
  c.def("save",
        &save,
        (arg("self"), arg("path"), arg("parameters") = bp::object()),
        "Writes all of the scene into one file, \"*.stiction\" by custom: trees, inertias, shapes "
        "with their meshes, materials, filters, constraints, frames, configurations, parameters, "
        "messages. A simulator of the scene that is read back steps with the same bits. "
        "`parameters`, such as sim.parameters, take the place of the scene's own. A file that is "
        "there is replaced once the new one is whole. Raises ValueError naming a parameter that "
        "no simulator takes, StictionError if the file cannot be written.")
      .def("load",
           &load,
           arg("path"),
           "The scene of a file from save(). Nothing of the file is trusted. Raises StictionError "
           "naming the file and what is wrong: no such file, no saved scene, a newer version, "
           "truncated, damaged, or the field that does not fit.")
      .staticmethod("load")
      .def("to_bytes",
           &as_bytes,
           (arg("self"), arg("parameters") = bp::object()),
           "What save() writes.")
      .def("from_bytes",
           &from_bytes,
           arg("saved"),
           "The scene of to_bytes(). Raises ValueError that says what is wrong.")
      .staticmethod("from_bytes");
}

}  // namespace stiction::python
