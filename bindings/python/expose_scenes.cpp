#include "common.hpp"
#include "path_argument.hpp"
#include "scene_holder.hpp"
#include "scenes/scenes.hpp"

namespace stiction::python {
namespace {

SceneHolder built_in(const std::string& name, const SceneOptions& options) {
  return SceneHolder(with_stiction_errors([&] { return make_scene(name, options); }));
}

void data_directory(const bp::object& path) { set_data_directory(path_from(path)); }
void robots_directory(const bp::object& path) { set_robots_directory(path_from(path)); }

bp::list infos() { return to_list(scenes()); }

}  // namespace

void expose_scenes() {
  using bp::arg;
  bp::class_<SceneOptions>("SceneOptions", "Options of built-in scenes; see stiction.load.")
      .def_readwrite(
          "all_collision_geometry",
          &SceneOptions::all_collision_geometry,
          "Robots: the collision shapes of their files instead of a few spheres and boxes.")
      .def_readwrite(
          "friction", &SceneOptions::friction, "Of every pair, >= 0; negative: the scene's own.")
      .def_readwrite(
          "restitution", &SceneOptions::restitution, "In [0, 1]; negative: the scene's own.")
      .def_readwrite("n", &SceneOptions::n, "Number of bodies; 0: the scene's own.")
      .def_readwrite("corner_spheres",
                     &SceneOptions::corner_spheres,
                     "Cubes: eight small spheres at the corners instead of the box.")
      .def_readwrite("seed", &SceneOptions::seed, "Of random orientations.");
  bp::class_<SceneInfo>("SceneInfo", "A built-in scene.", bp::no_init)
      .def_readonly("name", &SceneInfo::name)
      .def_readonly("description", &SceneInfo::description)
      .def_readonly("default_n", &SceneInfo::default_n, "0: takes no number.")
      .def_readonly(
          "needs_robots", &SceneInfo::needs_robots, "Needs the robots of stiction[robots].");
  bp::def("make_scene",
          &built_in,
          (arg("name"), arg("options")),
          "A built-in Scene by name; see stiction.load.");
  bp::def("scenes", &infos, "list of SceneInfo.");
  bp::def("set_data_directory", &data_directory, arg("path"), "Folder that holds solo12/.");
  bp::def("set_robots_directory",
          &robots_directory,
          arg("path"),
          "`robots` folder of example-robot-data.");
}

}  // namespace stiction::python
