#include "model/overlapping_pairs.hpp"

#include "stiction/collision/scene_distances.hpp"

#include "model/joint.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <utility>

namespace stiction {
namespace {

// Shapes that merely touch stay a pair [m]: closed fingers, a lid on its rim.
constexpr double kTouching = 1e-6;
// How far a joint is moved to see whether a pair lets it [rad or m].
constexpr double kTurn = 0.02, kSlide = 1e-3;

struct Overlap {
  double depth = 0.0;         ///< [m]
  std::string configuration;  ///< the one where it is deepest; empty: neutral
  std::string joint;          ///< that can move neither way; empty: the links overlap at rest
};

using ByGeometries = std::map<std::pair<int, int>, Overlap>;
using ByLinks = std::map<std::pair<std::string, std::string>, Overlap>;

void keep_deepest(Overlap& kept, const Overlap& found) {
  if (found.depth > kept.depth) kept = found;
}

/// Names the configuration in which the links are nowhere.
std::vector<PairDistance> overlapping(const Scene& scene,
                                      const std::string& file,
                                      const std::string& configuration,
                                      const std::vector<double>& q) {
  const Eigen::Map<const Eigen::VectorXd> x(q.data(), static_cast<Eigen::Index>(q.size()));
  try {
    return scene_distances(
        scene, scene.parameters, geometry_poses(scene, scene.parameters, x), 0.0);
  } catch (const std::invalid_argument& e) {
    throw std::runtime_error(file + ": the " +
                             (configuration.empty() ? "neutral configuration"
                                                    : "configuration '" + configuration + "'") +
                             " is out of range: " + e.what());
  }
}

void collect(const std::vector<PairDistance>& found,
             const std::string& configuration,
             ByGeometries& overlaps) {
  for (const PairDistance& pair : found) {
    if (!(pair.result.distance < -kTouching)) continue;
    keep_deepest(overlaps[{pair.geometry_a, pair.geometry_b}],
                 {-pair.result.distance, configuration, ""});
  }
}

/// q with a joint of one degree of freedom moved.
std::vector<double> moved(std::vector<double> q, JointType type, int at, double way) {
  const double far = joint_facts(type).linear_dofs > 0 ? kSlide : kTurn;
  visit_joint(type, [&](auto joint) {
    if constexpr (joint.facts.nv == 1) joint.integrate(&q[at], &way, far);
  });
  return q;
}

/// Pairs that overlap whichever way one joint moves: plates face to face across its axis. They lock
/// the joint, against its limit as well.
void collect_locking(const Robot& robot,
                     const Scene& scene,
                     const std::string& file,
                     ByGeometries& overlaps) {
  ByGeometries locking;
  int at = 0;
  for (const BodyDescription& body : robot.bodies) {
    const int first = std::exchange(at, at + joint_nq(body.joint));
    if (joint_nv(body.joint) != 1) continue;
    ByGeometries back, forth;
    collect(overlapping(scene, file, "", moved(robot.neutral, body.joint, first, -1.0)), "", back);
    collect(overlapping(scene, file, "", moved(robot.neutral, body.joint, first, 1.0)), "", forth);
    for (const auto& [pair, overlap] : back) {
      if (overlaps.count(pair) || !forth.count(pair)) continue;
      const double depth = std::min(overlap.depth, forth[pair].depth);
      keep_deepest(locking[pair], {depth, "", body.joint_name});
    }
  }
  overlaps.merge(locking);
}

std::string describe(const Robot& robot, const ByGeometries& overlaps) {
  ByLinks by_links;
  const auto name = [&](int g) {
    const GeometryDescription& geometry = robot.geometries[g];
    return geometry.link.empty() ? geometry.name : geometry.link;
  };
  for (const auto& [pair, overlap] : overlaps) {
    keep_deepest(by_links[{name(pair.first), name(pair.second)}], overlap);
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Overlap>> sorted(by_links.begin(),
                                                                              by_links.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.depth > b.second.depth;
  });
  std::string text = std::to_string(sorted.size()) +
                     (sorted.size() == 1 ? " pair of links overlaps" : " pairs of links overlap") +
                     " at the start and cannot collide:";
  for (const auto& [links, overlap] : sorted) {
    char depth[32];
    std::snprintf(depth, sizeof depth, " %.3g mm", overlap.depth * 1e3);
    text += (text.back() == ':' ? " " : ", ") + links.first + " / " + links.second + depth;
    if (!overlap.configuration.empty()) text += " in '" + overlap.configuration + "'";
    if (!overlap.joint.empty()) text += " whichever way '" + overlap.joint + "' moves";
  }
  return text;
}

}  // namespace

void disable_overlapping_pairs(Robot& robot, const std::string& file) {
  if (robot.geometries.size() < 2) return;
  Scene scene;
  scene.add_robot(robot);
  ByGeometries overlaps;
  collect(overlapping(scene, file, "", robot.neutral), "", overlaps);
  for (const auto& [name, q] : robot.configurations) {
    collect(overlapping(scene, file, name, q), name, overlaps);
  }
  collect_locking(robot, scene, file, overlaps);
  if (overlaps.empty()) return;
  for (const auto& [pair, overlap] : overlaps) robot.disabled_pairs.push_back(pair);
  robot.messages.push_back({LoadMessage::Kind::kOverlap, file, 0, describe(robot, overlaps)});
}

}  // namespace stiction
