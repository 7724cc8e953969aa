// Collision queries alone: distance, warm starts, contact points, a height scan. Nothing moves.

#include "stiction/collision/manifold.hpp"
#include "stiction/collision/ray_cast.hpp"
#include "stiction/collision/scene_distances.hpp"

#include <Eigen/Core>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

using namespace stiction;

namespace {

// Turned about z by an angle [rad], then moved [m].
Transform at(double x, double y, double z, double angle = 0.0) {
  const double quaternion[4] = {0, 0, std::sin(0.5 * angle), std::cos(0.5 * angle)};
  return {rotation_from_quaternion(quaternion), {x, y, z}};
}

// A convex mesh is the hull of its points, here 200 on an ellipsoid.
Shape make_stone() {
  std::vector<Vec3d> points;
  for (int k = 0; k < 200; ++k) {
    const double z = 1.0 - (2 * k + 1) / 200.0, r = std::sqrt(1.0 - z * z);
    const double angle = k * std::numbers::pi * (3.0 - std::sqrt(5.0));
    points.push_back({0.12 * r * std::cos(angle), 0.08 * r * std::sin(angle), 0.05 * z});
  }
  return Shape::convex_mesh(points);
}

// z = 0.1 sin(2 x) cos(3 y) on 4 x 4 m, cells of 5 cm.
Shape make_hills() {
  std::vector<double> heights;  // row by row, x along a row
  for (int j = 0; j <= 80; ++j) {
    for (int i = 0; i <= 80; ++i) {
      const double x = 0.05 * i - 2.0, y = 0.05 * j - 2.0;
      heights.push_back(0.1 * std::sin(2.0 * x) * std::cos(3.0 * y));
    }
  }
  return Shape::height_field(81, 81, heights, 0.05, 0.05);
}

// Signed distance, the normal from A to B, and the closest point of each shape, in the world.
bool print_distance(const Shape& stone, const Shape& brick, const Transform& X_WB) {
  const DistanceResult r = distance(stone, Transform::identity(), brick, X_WB);
  const double defect = norm(r.witness_b - r.witness_a - r.normal * r.distance);
  std::printf("%s: %.6f m, normal [%.4f %.4f %.4f]\n",
              to_string(r.status),
              r.distance,
              r.normal.x,
              r.normal.y,
              r.normal.z);
  std::printf("  witness points lie along the normal: %s\n", defect < 1e-12 ? "yes" : "no");
  return defect < 1e-12;
}

// The brick turns past the stone. What the last query found is where the next one begins.
bool print_warm_starts(const Shape& stone, const Shape& brick) {
  int cold = 0, warm = 0;
  DistanceCache cache;
  for (int k = 0; k < 200; ++k) {
    const Transform X_WB = at(0.3, 0.05, 0.02, 0.4 + 0.2 * k / 199);
    cold += distance(stone, Transform::identity(), brick, X_WB).iterations;
    warm += distance(stone, Transform::identity(), brick, X_WB, {}, &cache).iterations;
  }
  std::printf("iterations of 200 queries, without and with warm starts: %d %d\n", cold, warm);
  return warm < cold / 2;
}

// Contact points of two bricks, the upper one 0.1 mm inside; `feature` names a point over time.
void print_contacts(const Shape& brick) {
  Manifold manifold;
  contact_manifold(brick, Transform::identity(), brick, at(0.05, 0.01, 0.0599, 0.3), 0.0, manifold);
  for (int k = 0; k < manifold.count; ++k) {
    const ManifoldPoint& p = manifold.points[k];
    std::printf("contact at [%.4f %.4f %.4f], gap %.6f m, feature %u\n",
                p.position.x,
                p.position.y,
                p.position.z,
                p.gap,
                p.feature);
  }
}

// The heights around a robot as a policy would see them. Its own body is not seen.
void print_heights(const Scene& scene, const std::vector<Transform>& poses) {
  std::vector<Vec3d> origins;
  for (const double y : {-0.2, 0.0, 0.2}) {
    for (const double x : {-0.6, -0.3, 0.0, 0.3, 0.6}) origins.push_back({x, y, 1.0});
  }
  const std::vector<Vec3d> down(origins.size(), {0, 0, -1});
  const auto hits =
      ray_cast(scene, scene.parameters, poses, origins, down, kInfinity, {scene.body("robot")});
  int on_stone = 0;
  std::printf("height scan [m]:");
  for (std::size_t k = 0; k < hits.size(); ++k) {
    std::printf("%s%.4f", k % 5 == 0 ? "\n" : " ", 1.0 - hits[k].distance);
    on_stone += hits[k].geometry == scene.geometry("stone");
  }
  std::printf("\nthe stone was hit by %d rays\n", on_stone);
}

}  // namespace

int main() {
  const Shape stone = make_stone(), brick = Shape::box({0.1, 0.05, 0.03});  // half extents
  bool good = print_distance(stone, brick, at(0.3, 0.05, 0.02, 0.4));
  good = print_distance(stone, brick, at(0.2, 0.05, 0.02, 0.4)) && good;
  good = print_warm_starts(stone, brick) && good;
  print_contacts(brick);

  Scene scene;
  scene.add_geometry("hills", -1, make_hills(), Transform::identity());
  scene.add_body("robot", brick, 1.0, at(0, 0, 0.4));
  scene.add_body("stone", stone, 1.0, at(0.3, 0, 0.4));
  const Eigen::VectorXd q = Eigen::Map<const Eigen::VectorXd>(scene.default_q().data(), scene.nq());
  const std::vector<Transform> poses = geometry_poses(scene, scene.parameters, q);
  print_heights(scene, poses);
  // All pairs of a scene that are closer than half a metre.
  for (const PairDistance& pair : scene_distances(scene, scene.parameters, poses, 0.5)) {
    const Geometry &a = scene.geometries()[pair.geometry_a],
                   &b = scene.geometries()[pair.geometry_b];
    std::printf(
        "%s and %s are %.4f m apart\n", a.name.c_str(), b.name.c_str(), pair.result.distance);
  }
  return good ? 0 : 1;
}
