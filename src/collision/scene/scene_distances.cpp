#include "stiction/collision/scene_distances.hpp"

#include "collision/scene/broad_phase.hpp"
#include "collision/scene/scene_poses.hpp"
#include "dynamics/forest.hpp"
#include "math/number_text.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

std::vector<BroadPhase::Pair> near_pairs(const Scene& scene,
                                         const std::vector<Shape>& shapes,
                                         const std::vector<Transform>& poses,
                                         double max_distance) {
  const std::size_t n = poses.size();
  std::vector<std::uint8_t> is_static(n);
  std::vector<Aabb> boxes(n);
  const double reach = 0.5 * max_distance;
  for (std::size_t g = 0; g < n; ++g) {
    is_static[g] = scene.geometries()[g].body < 0;
    boxes[g] = grown(bounding_box(shapes[g], poses[g]), reach);
  }
  BroadPhase broad_phase;
  broad_phase.reset(is_static);
  std::vector<BroadPhase::Pair> pairs;
  broad_phase.find_pairs(boxes, pairs);
  return pairs;
}

}  // namespace

std::vector<Transform> geometry_poses(const Scene& scene,
                                      const Parameters& parameters,
                                      const Eigen::VectorXd& q) {
  if (q.size() != scene.nq()) {
    throw std::invalid_argument("geometry_poses: q has " + std::to_string(q.size()) +
                                " numbers: must be " + std::to_string(scene.nq()));
  }
  DynamicsWorkspace dynamics;
  dynamics.resize(scene);
  const Eigen::VectorXd v = Eigen::VectorXd::Zero(scene.nv());
  forward_kinematics(scene, parameters, q.data(), v.data(), dynamics);
  std::vector<Transform> poses;
  for (std::size_t g = 0; g < scene.geometries().size(); ++g) {
    const int body = scene.geometries()[g].body;
    const Transform& X = parameters.geometry_placement[g];
    poses.push_back(body < 0 ? X : body_placement(scene, dynamics, body) * X);
  }
  return poses;
}

std::vector<PairDistance> scene_distances(const Scene& scene,
                                          const Parameters& parameters,
                                          const std::vector<Transform>& poses,
                                          double max_distance) {
  detail::check_poses("scene_distances", scene, poses);
  if (!(max_distance >= 0.0)) {
    throw std::invalid_argument("scene_distances: max_distance = " + number_text(max_distance) +
                                ": must be >= 0 [m]");
  }
  DistanceSettings settings;
  settings.max_distance = max_distance;
  std::vector<PairDistance> found;
  std::vector<Shape> shapes;
  for (std::size_t g = 0; g < poses.size(); ++g)
    shapes.push_back(scene.shape(parameters, static_cast<int>(g)));
  for (const BroadPhase::Pair& pair : near_pairs(scene, shapes, poses, max_distance)) {
    if (!scene.pair_enabled(pair.a, pair.b)) continue;
    const DistanceResult r =
        distance(shapes[pair.a], poses[pair.a], shapes[pair.b], poses[pair.b], settings);
    const bool near = r.status != DistanceStatus::kBeyond && r.distance <= max_distance;
    if (near) found.push_back({pair.a, pair.b, r});
  }
  return found;
}

}  // namespace stiction
