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

PairFriction::PairFriction(const FrictionRule& a, const FrictionRule& b)
    : condim_a(a.condim), condim_b(b.condim), mean(true) {
  if (a.priority != b.priority) {
    (a.priority > b.priority ? condim_b : condim_a) = 0;
    mean = false;
  } else if (a.larger && b.larger) {
    condim_a = condim_b = std::max(a.condim, b.condim);
    mean = false;
  }
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

void Scene::set_friction_rule(int geometry, const FrictionRule& rule) {
  check_pair(geometry, geometry, "set_friction_rule");
  if (rule.condim != 1 && rule.condim != 3 && rule.condim != 4 && rule.condim != 6) {
    throw std::invalid_argument("set_friction_rule(" + geometries_[geometry].name + ").condim = " +
                                std::to_string(rule.condim) + ": must be 1, 3, 4 or 6");
  }
  geometries_[geometry].friction_rule = rule;
}

int Scene::reach_of_friction(int geometry) const {
  const FrictionRule& own = geometries_[geometry].friction_rule;
  int reach = own.condim;
  for (const Geometry& g : geometries_) {
    if (own.larger && g.friction_rule.larger) reach = std::max(reach, g.friction_rule.condim);
  }
  return reach;
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
  const Material &A = p.material[a], &B = p.material[b];
  Material m = combine(A, B);
  const FrictionRule &of_a = geometries_[a].friction_rule, &of_b = geometries_[b].friction_rule;
  if (of_a == FrictionRule{} && of_b == FrictionRule{}) return m;
  const PairFriction rule(of_a, of_b);
  const auto larger = [&](double Material::* of, int least) {
    return std::max(rule.condim_a >= least ? A.*of : 0.0, rule.condim_b >= least ? B.*of : 0.0);
  };
  if (!rule.mean)
    m.friction = larger(&Material::friction, kCondimSliding);
  else if (std::min(rule.condim_a, rule.condim_b) < kCondimSliding)
    m.friction = 0.0;
  m.torsional_friction = larger(&Material::torsional_friction, kCondimTorsional);
  m.rolling_friction = larger(&Material::rolling_friction, kCondimRolling);
  return m;
}

std::vector<std::pair<int, int>> Scene::material_pairs() const {
  std::vector<std::pair<int, int>> pairs;
  for (const PairKey k : material_pairs_)
    pairs.push_back({static_cast<int>(k >> 32), static_cast<int>(k & 0xffffffffu)});
  return pairs;
}

}  // namespace stiction
