#include "math/elementary.hpp"
#include "scenes/builders.hpp"

#include <cmath>
#include <numbers>
#include <string>

// Loose bodies on planes.

namespace stiction {
namespace {

constexpr double kSide = 0.2;                   // cube side a [m]
constexpr double kCornerRadius = kSide / 50.0;  // of the corner spheres

Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

// A cube's box, or eight spheres centred at its corners; the inertia is the box's in both cases.
// `lift` is the height of the centre above the surface it rests on.
double cube_lift(const SceneOptions& options) {
  return 0.5 * kSide + (options.corner_spheres ? kCornerRadius : 0.0);
}

std::vector<int> add_cube(Scene& scene,
                          const std::string& name,
                          double mass,
                          const Transform& X_W,
                          const Material& material,
                          const SceneOptions& options) {
  const double h = 0.5 * kSide;
  const Shape box = Shape::box({h, h, h});
  if (!options.corner_spheres) {
    scene.add_body(name, box, mass, X_W, material);
    return {scene.geometry(name)};
  }
  const int body = scene.add_body(name, mass_properties(box, mass / (kSide * kSide * kSide)), X_W);
  std::vector<int> geometries;
  for (int corner = 0; corner < 8; ++corner) {
    const Transform X_B = at(corner & 1 ? h : -h, corner & 2 ? h : -h, corner & 4 ? h : -h);
    geometries.push_back(scene.add_geometry(name + "_corner_" + std::to_string(corner),
                                            body,
                                            Shape::sphere(kCornerRadius),
                                            X_B,
                                            material));
  }
  return geometries;
}

Scene cube_on_floor(const SceneOptions& options, double y) {
  const Material material = scene_material(options, 0.4);
  Scene scene;
  scene.add_ground(material);
  add_cube(scene, "cube", 1.0, at(0.0, y, cube_lift(options)), material, options);
  return scene;
}

void set_pair_friction(Scene& scene,
                       const std::vector<int>& a,
                       const std::vector<int>& b,
                       const Material& material) {
  for (const int i : a) {
    for (const int j : b) scene.set_pair_material(i, j, material);
  }
}

}  // namespace

Scene make_cube_slide(const SceneOptions& options) { return cube_on_floor(options, -1.0); }

Scene make_cube_drag(const SceneOptions& options) { return cube_on_floor(options, 0.0); }

Scene make_two_cubes(const SceneOptions& options) {
  const Material floor = scene_material(options, 0.9), between = scene_material(options, 0.95);
  const double lift = cube_lift(options);
  Scene scene;
  const int ground = scene.add_ground(floor);
  const auto lower = add_cube(scene, "lower", 1e-3, at(0, 0, lift), floor, options);
  const auto upper = add_cube(scene, "upper", 1e3, at(0, 0, 3.0 * lift), between, options);
  set_pair_friction(scene, {ground}, lower, floor);
  set_pair_friction(scene, {ground}, upper, floor);
  set_pair_friction(scene, lower, upper, between);
  return scene;
}

Scene make_box_stack(const SceneOptions& options) {
  const Material material = scene_material(options, 0.7);
  const double h = 0.5 * kSide;
  Scene scene;
  scene.add_ground(material);
  for (int i = 0; i < options.n; ++i) {
    scene.add_body(
        "box" + std::to_string(i), Shape::box({h, h, h}), 1.0, at(0, 0, h + kSide * i), material);
  }
  return scene;
}

Scene make_ball_drop(const SceneOptions& options) {
  const Material material = scene_material(options, 0.9, 0.8);
  const double radius = 0.1, height = 1.0;
  Scene scene;
  scene.add_ground(material);
  scene.add_body("ball", Shape::sphere(radius), 1.0, at(0, 0, height + radius), material);
  return scene;
}

Scene make_slope(const SceneOptions& options) {
  const Material material = scene_material(options, 0.2);
  const double angle = 15.0 * std::numbers::pi / 180.0, h = 0.5 * kSide;
  const double c = cosine(angle), s = sine(angle);
  const Vec3d normal{s, 0.0, c};
  Scene scene;
  scene.add_half_space("slope", {0, 0, 0}, normal, material);
  scene.add_body(
      "box", Shape::box({h, h, h}), 1.0, {{{c, 0, -s}, {0, 1, 0}, normal}, normal * h}, material);
  return scene;
}

}  // namespace stiction
