#pragma once

#include "stiction/model/scene.hpp"

#include <list>

namespace stiction::python {

/// The scene as Python holds it. NumPy views of its parameters must not dangle when a robot or body
/// is added and the vectors grow: once `parameters` was lent, each addition works on fresh arrays
/// and the old ones stay here, alive but no longer the scene's.
struct SceneHolder : Scene {
  SceneHolder() = default;
  explicit SceneHolder(const Scene& scene) : Scene(scene) {}
  SceneHolder(const SceneHolder& other) : Scene(other) {}

  void before_adding() {
    if (!lent) return;
    retired.push_back(parameters);
    std::swap(retired.back(), parameters);
  }

  bool lent = false;
  std::list<Parameters> retired;
};

}  // namespace stiction::python
