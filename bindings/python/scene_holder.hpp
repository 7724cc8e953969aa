#pragma once

#include "stiction/model/scene.hpp"

#include "inside.hpp"

#include <list>
#include <stdexcept>

namespace stiction::python {

/// The scene as Python holds it. NumPy views of its parameters must not dangle when a robot or body
/// is added and the vectors grow: once `parameters` was lent, each addition works on fresh arrays
/// and the old ones stay here, alive but no longer the scene's.
struct SceneHolder : Scene {
  SceneHolder() = default;
  explicit SceneHolder(const Scene& scene) : Scene(scene) {}
  SceneHolder(const SceneHolder& other) : Scene(other) {}

  void before_editing() const {
    before_changing(this, "Scene");
    if (!fixed) return;
    throw std::invalid_argument(
        "the scene of a Simulator is fixed: edit sim.scene.copy() and make a new Simulator of it; "
        "numbers that may change between steps are in sim.parameters");
  }
  void before_adding() {
    before_editing();
    if (!lent) return;
    retired.push_back(parameters);
    std::swap(retired.back(), parameters);
  }

  bool lent = false;
  bool fixed = false;  ///< of a Simulator; a copy is free again
  std::list<Parameters> retired;
};

using SceneClass = bp::class_<SceneHolder, std::shared_ptr<SceneHolder>>;

/// Parameters that a Simulator's scene shows: to be read.
struct FixedParameters : Parameters {
  explicit FixedParameters(const Parameters& p) : Parameters(p) {}
};

}  // namespace stiction::python
