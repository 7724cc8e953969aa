#include "stiction/collision/ray_cast.hpp"

#include "stiction/geometry/bvh.hpp"

#include "collision/rays/ray_shapes.hpp"
#include "collision/scene/scene_poses.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace stiction {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::invalid_argument("ray_cast: " + what);
}

template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

Vec3d unit(const Vec3d& d, const std::string& field) {
  const double length = norm(d);
  if (!(length > 0.0 && std::isfinite(length))) {
    fail(field + " has length " + text(length) + ": must be finite and > 0");
  }
  return d * (1.0 / length);
}

void check_origin(const Vec3d& o, const std::string& field) {
  for (int k = 0; k < 3; ++k) {
    if (!std::isfinite(o[k])) {
      fail(field + "[" + text(k) + "] = " + text(o[k]) + ": must be finite");
    }
  }
}

void check_bound(double max_distance) {
  if (!(max_distance >= 0.0)) fail("max_distance = " + text(max_distance) + ": must be >= 0 [m]");
}

/// The geometries to be seen, bounded ones in a tree of their boxes.
struct Targets {
  Bvh tree;
  std::vector<Shape> shapes;  ///< of all
  std::vector<int> bounded, unbounded;

  Targets(const Scene& scene,
          const Parameters& parameters,
          const std::vector<Transform>& poses,
          const std::vector<int>& ignored) {
    std::vector<Aabb> boxes;
    for (std::size_t g = 0; g < scene.geometries().size(); ++g) {
      const int body = scene.geometries()[g].body;
      shapes.push_back(scene.shape(parameters, static_cast<int>(g)));
      if (std::find(ignored.begin(), ignored.end(), body) != ignored.end()) continue;
      if (!shapes[g].bounded()) {
        unbounded.push_back(static_cast<int>(g));
        continue;
      }
      bounded.push_back(static_cast<int>(g));
      boxes.push_back(bounding_box(shapes[g], poses[g]));
    }
    tree = Bvh::build(boxes);
  }
};

}  // namespace

bool ray_cast(const Shape& shape,
              const Vec3d& origin,
              const Vec3d& direction,
              double max_distance,
              RayHit& hit) {
  check_origin(origin, "origin");
  check_bound(max_distance);
  return detail::ray_shape(shape, origin, unit(direction, "direction"), max_distance, hit);
}

std::vector<RayHit> ray_cast(const Scene& scene,
                             const Parameters& parameters,
                             const std::vector<Transform>& poses,
                             const std::vector<Vec3d>& origins,
                             const std::vector<Vec3d>& directions,
                             double max_distance,
                             const std::vector<int>& ignored) {
  detail::check_poses("ray_cast", scene, poses);
  if (directions.size() != origins.size()) {
    fail("directions has " + text(directions.size()) + " rows: must be as many as origins, " +
         text(origins.size()));
  }
  check_bound(max_distance);
  const Targets targets(scene, parameters, poses, ignored);
  std::vector<RayHit> hits(origins.size());
  for (std::size_t i = 0; i < origins.size(); ++i) {
    check_origin(origins[i], "origins[" + text(i) + "]");
    const Vec3d d = unit(directions[i], "directions[" + text(i) + "]");
    RayHit& best = hits[i];
    double most = max_distance;
    const auto offer = [&](int g) {
      const Transform& X = poses[g];
      RayHit one;
      if (!detail::ray_shape(targets.shapes[g],
                             transpose_times(X.R, origins[i] - X.p),
                             transpose_times(X.R, d),
                             most,
                             one)) {
        return;
      }
      if (best.geometry >= 0 && one.distance == best.distance && g > best.geometry) return;
      best = {one.distance, X.R * one.normal, g};
      most = one.distance;
    };
    for (const int g : targets.unbounded) offer(g);
    targets.tree.descend(
        [&](const Aabb& box) { return detail::ray_meets_box(box, origins[i], d, most); },
        [&](int n) { offer(targets.bounded[n]); });
  }
  return hits;
}

}  // namespace stiction
