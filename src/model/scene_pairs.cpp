#include "stiction/model/scene.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

// Which pairs of geometries may collide, and with which material.

namespace stiction {
namespace {

double series(double a, double b) {
  if (std::isinf(a)) return b;
  if (std::isinf(b)) return a;
  return a + b > 0.0 ? a * b / (a + b) : 0.0;
}

/// Tangential over normal value of two elements in series, each x and ratio x.
double ratio_in_series(double xa, double ratio_a, double xb, double ratio_b) {
  const double normal = series(xa, xb);
  return normal > 0.0 ? series(ratio_a * xa, ratio_b * xb) / normal : 1.0;
}

}  // namespace

Material combine(const Material& a, const Material& b) {
  Material m;
  m.friction = std::sqrt(a.friction * b.friction);
  m.restitution = std::max(a.restitution, b.restitution);
  m.rest_offset = a.rest_offset + b.rest_offset;
  m.torsional_friction = std::max(a.torsional_friction, b.torsional_friction);
  m.rolling_friction = std::max(a.rolling_friction, b.rolling_friction);
  m.stiffness = series(a.stiffness, b.stiffness);
  // A rigid surface adds no damping of its own; two soft ones act in series.
  if (std::isinf(a.stiffness) || std::isinf(b.stiffness)) {
    const Material& soft = std::isinf(a.stiffness) ? b : a;
    m.damping = soft.damping;
    m.tangential_stiffness_ratio = soft.tangential_stiffness_ratio;
    m.tangential_damping_ratio = soft.tangential_damping_ratio;
    m.dissipation = soft.dissipation;
    return m;
  }
  m.damping = series(a.damping, b.damping);
  m.tangential_stiffness_ratio = ratio_in_series(
      a.stiffness, a.tangential_stiffness_ratio, b.stiffness, b.tangential_stiffness_ratio);
  m.tangential_damping_ratio =
      ratio_in_series(a.damping, a.tangential_damping_ratio, b.damping, b.tangential_damping_ratio);
  m.dissipation =
      (b.stiffness * a.dissipation + a.stiffness * b.dissipation) / (a.stiffness + b.stiffness);
  return m;
}

Scene::PairKey Scene::key(int a, int b) {
  const auto lo = static_cast<PairKey>(std::min(a, b)), hi = static_cast<PairKey>(std::max(a, b));
  return lo << 32 | hi;
}

void Scene::check_pair(int a, int b, const char* call) const {
  for (const int g : {a, b}) {
    if (g >= 0 && g < static_cast<int>(geometries_.size())) continue;
    throw std::invalid_argument(std::string(call) + ": geometry " + std::to_string(g) +
                                " does not exist; there are " + std::to_string(geometries_.size()));
  }
}

void Scene::disable_pair(int a, int b) {
  check_pair(a, b, "disable_pair");
  const PairKey k = key(a, b);
  const auto it = std::lower_bound(disabled_pairs_.begin(), disabled_pairs_.end(), k);
  if (it == disabled_pairs_.end() || *it != k) disabled_pairs_.insert(it, k);
  std::erase(enabled_pairs_, k);
}

void Scene::enable_pair(int a, int b) {
  check_pair(a, b, "enable_pair");
  if (geometries_[a].body == geometries_[b].body) {
    throw std::invalid_argument("enable_pair(" + geometries_[a].name + ", " + geometries_[b].name +
                                "): both belong to one body, or to the world");
  }
  const PairKey k = key(a, b);
  const auto it = std::lower_bound(enabled_pairs_.begin(), enabled_pairs_.end(), k);
  if (it == enabled_pairs_.end() || *it != k) enabled_pairs_.insert(it, k);
  std::erase(disabled_pairs_, k);
}

void Scene::set_collision_filter(int geometry, std::uint32_t contype, std::uint32_t conaffinity) {
  check_pair(geometry, geometry, "set_collision_filter");
  geometries_[geometry].contype = contype;
  geometries_[geometry].conaffinity = conaffinity;
}

void Scene::enable_only(const std::vector<std::pair<int, int>>& pairs) {
  for (const auto& [a, b] : pairs) check_pair(a, b, "enable_only");
  if (!only_enabled_) enabled_pairs_.clear();  // of enable_pair()
  only_enabled_ = true;
  for (const auto& [a, b] : pairs) enabled_pairs_.push_back(key(a, b));
  std::sort(enabled_pairs_.begin(), enabled_pairs_.end());
}

int Scene::set_pair_material(int a, int b, const Material& material) {
  check_pair(a, b, "set_pair_material");
  validate_material(material,
                    "set_pair_material(" + geometries_[a].name + ", " + geometries_[b].name + ")");
  const PairKey k = key(a, b);
  const auto it = std::lower_bound(material_pairs_.begin(), material_pairs_.end(), k);
  const auto i = it - material_pairs_.begin();
  std::vector<Material>& own = parameters.pair_material;
  if (it == material_pairs_.end() || *it != k) {
    material_pairs_.insert(it, k);
    own.insert(own.begin() + i, material);
  }
  own[i] = material;
  return static_cast<int>(i);
}

bool Scene::pair_enabled(int a, int b) const {
  const PairKey k = key(a, b);
  const int ba = geometries_[a].body, bb = geometries_[b].body;
  if (ba == bb) return false;  // also under enable_only: a body cannot push itself
  if (std::binary_search(enabled_pairs_.begin(), enabled_pairs_.end(), k)) return true;
  if (only_enabled_) return false;
  const Geometry &ga = geometries_[a], &gb = geometries_[b];
  if (((ga.contype & gb.conaffinity) | (gb.contype & ga.conaffinity)) == 0) return false;
  // Parent and child always touch at their joint.
  if (ba >= 0 && bb >= 0 && (body_parent_[ba] == bb || body_parent_[bb] == ba)) return false;
  return !std::binary_search(disabled_pairs_.begin(), disabled_pairs_.end(), k);
}

Material Scene::pair_material(const Parameters& p, int a, int b) const {
  const PairKey k = key(a, b);
  const auto it = std::lower_bound(material_pairs_.begin(), material_pairs_.end(), k);
  if (it != material_pairs_.end() && *it == k) return p.pair_material[it - material_pairs_.begin()];
  return combine(p.material[a], p.material[b]);
}

std::vector<std::pair<int, int>> Scene::material_pairs() const {
  std::vector<std::pair<int, int>> pairs;
  for (const PairKey k : material_pairs_)
    pairs.push_back({static_cast<int>(k >> 32), static_cast<int>(k & 0xffffffffu)});
  return pairs;
}

}  // namespace stiction
