#pragma once

#include "stiction/model/scene.hpp"

#include <cstdint>
#include <string>
#include <vector>

// The built-in scenes, shared by tests, benchmarks, studies and examples.

namespace stiction {

struct SceneOptions {
  /// Robots: load the collision shapes of their files (meshes as convex hulls) instead of the few
  /// spheres and boxes that the scene needs. allegro-ball: enable the hand's own pairs too.
  bool all_collision_geometry = false;
  double friction = -1.0;  ///< Coulomb coefficient of every pair, >= 0; negative: the scene's own
  double restitution = -1.0;  ///< Newton coefficient in [0, 1]; negative: the scene's own
  int n = 0;                  ///< number of bodies of box-stack and ycb-pile; 0: the scene's own
  /// cube-slide, cube-drag, two-cubes: eight spheres of radius a / 50 at the corners instead of the
  /// box, which makes at most four contacts per face with fixed feature points.
  bool corner_spheres = false;
  std::uint64_t seed =
      3;  ///< of the orientations of ycb-pile, heights of solo12-rough and solo12-trot-bumpy
};

struct SceneInfo {
  std::string name;
  std::string description;    ///< one line
  int default_n = 0;          ///< 0: the scene takes no number
  bool needs_robots = false;  ///< needs the robots of `pip install stiction[robots]`
};

/// All scenes, in the order of the documentation.
std::vector<SceneInfo> scenes();

/// "solo12", "box-stack", "box-stack(10)" or "box-stack:10". Throws std::invalid_argument for an
/// unknown name or an option out of range, std::runtime_error for a missing file.
Scene make_scene(const std::string& name, const SceneOptions& options = {});

/// Folder that holds solo12/ and ycb/. Otherwise: environment STICTION_DATA_DIR, then the folder
/// the library was built with.
void set_data_directory(const std::string& path);
/// The `robots` folder of example-robot-data. Otherwise: environment STICTION_ROBOTS_DIR, then the
/// folder the library was built with.
void set_robots_directory(const std::string& path);

}  // namespace stiction
