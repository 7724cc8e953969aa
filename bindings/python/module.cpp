#include "common.hpp"

namespace stiction::python {
void expose_queries();
void expose_scene_motion();
void take_numpy_scalars();
}  // namespace stiction::python

BOOST_PYTHON_MODULE(_stiction) {
  using namespace stiction::python;
  bp::docstring_options only_ours(true, false, false);
  bp::scope().attr("__doc__") =
      "Compiled part of stiction; use the names of the package `stiction`.";
  // Registers pinocchio.Model, GeometryModel and SE3, and fills numpy's function table.
  bp::import("pinocchio");
  create_exceptions();
  take_numpy_scalars();
  expose_geometry();
  expose_collision();
  expose_model();
  expose_robot();
  expose_scene();
  expose_queries();
  expose_state();
  expose_scene_motion();
  expose_contact();
  expose_solver();
  expose_solution_derivatives();
  expose_integrator();
  expose_simulator();
  expose_batch();
  expose_episodes();
  expose_velocity_task();
  expose_scenes();
  expose_study();
  explain_calls();
}
