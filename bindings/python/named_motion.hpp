#pragma once

#include "stiction/simulator/report.hpp"
#include "stiction/simulator/scene_motion.hpp"

#include "common.hpp"
#include "scene_holder.hpp"

#include <utility>

namespace stiction::python {

/// With the scene, for its names.
struct NamedMotion {
  bp::object scene;
  SceneMotion motion;

  const SceneHolder& names() const { return bp::extract<const SceneHolder&>(scene)(); }
};

/// A body by name or number, or a named frame: the body and where it lies there. "world": -1.
std::pair<int, Transform> place_from(const Scene& scene, const bp::object& of, const char* field);

/// A wrench about the point `about`, world axes, in the axes of X and about its origin.
BodyWrench wrench_in(const Transform& X, const Vec3d& about, const Vec3d& f, const Vec3d& m);

}  // namespace stiction::python
