#include "math/elementary.hpp"
#include "math/split_mix.hpp"
#include "scenes/builders.hpp"
#include "scenes/data_paths.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <string>

namespace stiction {
namespace {

// Uniform in (0, 1].
double uniform(SplitMix& generator) { return generator() + 0x1p-53; }

// Uniform over all rotations (Shoemake, Graphics Gems III, 1992), quaternion x y z w.
Mat3d random_rotation(SplitMix& generator) {
  const double u = uniform(generator);
  const double a = 2.0 * std::numbers::pi * uniform(generator);
  const double b = 2.0 * std::numbers::pi * uniform(generator);
  const double r = std::sqrt(1.0 - u), s = std::sqrt(u);
  const double q[4] = {r * sine(a), r * cosine(a), s * sine(b), s * cosine(b)};
  return rotation_from_quaternion(q);
}

struct Object {
  std::string name;
  Shape shape;
  Vec3d centre;  // of the bounding box, file frame
};

std::vector<Object> load_objects() {
  std::vector<Object> objects;
  for (const char* name :
       {"Banana", "CrackerBox", "FoamBrick", "MasterChefCan", "MustardBottle", "PowerDrill"}) {
    const MeshFile mesh = load_mesh(data_file(std::string("ycb/") + name + ".obj"));
    const Shape shape = Shape::convex_mesh(mesh.vertices);
    const Aabb box = bounding_box(shape, Transform::identity());
    objects.push_back({name, shape, (box.lower + box.upper) * 0.5});
  }
  return objects;
}

// Four planes at 60 degrees around a square of half side `half`.
void add_funnel(Scene& scene, double half, const Material& material) {
  const double tilt = std::numbers::pi / 3.0;
  for (int i = 0; i < 4; ++i) {
    const double a = 0.5 * std::numbers::pi * i;
    const Vec3d outward{cosine(a), sine(a), 0.0};
    scene.add_half_space("wall" + std::to_string(i),
                         outward * half,
                         outward * -sine(tilt) + Vec3d{0, 0, cosine(tilt)},
                         material);
  }
}

}  // namespace

Scene make_ycb_pile(const SceneOptions& options) {
  const Material material = scene_material(options, 0.6);
  const double pitch = 0.29;  // [m], above the largest diameter of a hull: no initial overlap
  const double mass = 0.3;    // [kg] each
  const double half = 0.12 + 0.02 * std::sqrt(static_cast<double>(options.n));
  const int columns = std::max(1, static_cast<int>(2.0 * (half - 0.15) / pitch) + 1);
  const std::vector<Object> objects = load_objects();

  Scene scene;
  scene.add_ground(material);
  add_funnel(scene, half, material);
  SplitMix generator{options.seed};
  for (int i = 0; i < options.n; ++i) {
    const Object& object = objects[static_cast<std::size_t>(i) % objects.size()];
    const int layer = i / (columns * columns), cell = i % (columns * columns);
    const double middle = 0.5 * (columns - 1);
    const Vec3d cell_centre{
        (cell % columns - middle) * pitch, (cell / columns - middle) * pitch, 0.2 + pitch * layer};
    const Mat3d R = random_rotation(generator);
    scene.add_body(object.name + "_" + std::to_string(i),
                   object.shape,
                   mass,
                   {R, cell_centre - R * object.centre},
                   material);
  }
  return scene;
}

}  // namespace stiction
