#pragma once

#include "scenes/scenes.hpp"

// One function per built-in scene; `options.n` is already resolved. Registered in scenes.cpp.

namespace stiction {

Scene make_solo12(const SceneOptions& options);
Scene make_solo12_trot(const SceneOptions& options);
Scene make_solo12_rough(const SceneOptions& options);
Scene make_solo12_trot_bumpy(const SceneOptions& options);
Scene make_talos(const SceneOptions& options);
Scene make_allegro_ball(const SceneOptions& options);
Scene make_cube_slide(const SceneOptions& options);
Scene make_cube_drag(const SceneOptions& options);
Scene make_two_cubes(const SceneOptions& options);
Scene make_box_stack(const SceneOptions& options);
Scene make_ball_drop(const SceneOptions& options);
Scene make_slope(const SceneOptions& options);
Scene make_cartpole(const SceneOptions& options);
Scene make_double_pendulum(const SceneOptions& options);
Scene make_four_bar(const SceneOptions& options);
Scene make_ycb_pile(const SceneOptions& options);

/// The scene's friction and restitution unless the options give others.
inline Material scene_material(const SceneOptions& options,
                               double friction,
                               double restitution = 0.0) {
  Material material;
  material.friction = options.friction >= 0.0 ? options.friction : friction;
  material.restitution = options.restitution >= 0.0 ? options.restitution : restitution;
  return material;
}

}  // namespace stiction
