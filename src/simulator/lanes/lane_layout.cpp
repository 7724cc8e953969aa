#include "simulator/lanes/lane_layout.hpp"

#include "model/joint.hpp"
#include "solver/dense/dense_problem.hpp"

#include <algorithm>

namespace stiction {
namespace {

constexpr int kMostSlots = 256;  // blocks of Y of more would not be worth their memory

bool is_plane(const Geometry& g) { return g.body < 0 && g.shape.type == ShapeType::kHalfSpace; }

/// Points of a shape that may touch a plane; 0: not known to the lanes.
int plane_points(ShapeType type) {
  switch (type) {
    case ShapeType::kSphere:
      return 1;
    case ShapeType::kCapsule:
      return 2;
    case ShapeType::kBox:
      return 8;
    default:
      return 0;
  }
}

bool is_ball_on_field(const Shape& shape, const Shape& other) {
  return shape.type == ShapeType::kSphere && other.type == ShapeType::kHeightField;
}

/// Places for points of a pair that are found. A pair with more of them leaves the lanes.
int found_points(const Shape& shape, const Shape& other) {
  if (is_ball_on_field(shape, other)) return 2;
  const bool round = shape.type == ShapeType::kSphere || shape.type == ShapeType::kCapsule;
  const bool rim = other.type == ShapeType::kHalfSpace && shape.type != ShapeType::kConvexMesh;
  return round || rim ? 4 : kMostFoundPoints;
}

/// State::contacts' pair of two geometries.
std::uint64_t pair_key(int a, int b) {
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 |
         static_cast<std::uint32_t>(std::max(a, b));
}

/// Pairs that never meet: of the same body, off, or both in the world.
bool may_meet(const Scene& scene, int a, int b) {
  const std::vector<Geometry>& g = scene.geometries();
  return (g[a].body >= 0 || g[b].body >= 0) && scene.pair_enabled(a, b);
}

}  // namespace

std::string why_not_lanes(const Scene& scene, const SimulatorSettings& settings) {
  const std::vector<Tree>& trees = scene.trees();
  if (trees.size() != 1) return "the scene has " + std::to_string(trees.size()) + " trees, not one";
  if (trees[0].free_root && trees[0].num_bodies == 1) return "the scene is a loose body";
  if (!scene.closures().empty()) return "the scene has closures";
  if (!scene.gears().empty()) return "the scene has gears";
  if (settings.integrator != "semi-implicit-euler")
    return "the integrator is " + settings.integrator;
  if (settings.solver.name != "ncp-newton") return "the solver is " + settings.solver.name;
  if (settings.solver.time_budget > 0.0) return "there is a time budget";
  if (settings.solver.max_iterations < kMostDenseSweeps) return "max_iterations is small";
  if (settings.solver.max_factorisations > 0 &&
      settings.solver.max_factorisations < kMostDenseSteps)
    return "max_factorisations is small";
  if (settings.smoothing > 0.0) return "smoothing is on";
  if (settings.sleeping.enabled) return "sleeping is on";
  if (settings.collision.points_per_pair > 0) return "points_per_pair is given";
  if (settings.contact.tangential_compliance) return "tangential_compliance is on";
  for (const Geometry& g : scene.geometries()) {
    if (g.body >= 0 && g.shape.type == ShapeType::kHalfSpace)
      return g.name + " is a moving half-space";
  }
  return "";
}

LaneLayout::LaneLayout(const Scene& scene, const SimulatorSettings& s) : tree(&scene.trees()[0]) {
  rules = {s.dt,
           s.solver.tolerance,
           s.collision.margin,
           s.contact.baumgarte,
           s.contact.limit_margin,
           s.contact.restitution_threshold,
           {s.contact.recovery_speed, s.contact.recovery_angular_speed},
           s.impact_law == "newton-dissipative",
           s.mean_bias};
  add_geometries(scene);
  add_joint_rows();
}

/// All geometries, with slots for pairs with the world and a guard for each other pair; contacts
/// are sorted by pair and feature, and so are slots and guards.
void LaneLayout::add_geometries(const Scene& scene) {
  const std::vector<Geometry>& all = scene.geometries();
  const int n = static_cast<int>(all.size());
  for (int g = 0; g < n; ++g) geometries.push_back({g, all[g].body});
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      if (!may_meet(scene, a, b)) continue;
      const int world = all[a].body < 0 ? a : b, other = world == a ? b : a;
      if (all[world].body >= 0) {
        add_guard(scene, a, b);
      } else if (is_plane(all[world]) && plane_points(all[other].shape.type) > 0) {
        add_slots(scene, other, world);
      } else if (static_cast<int>(slots.size()) < kMostSlots) {
        add_found(scene, other, world);
      } else {
        add_guard(scene, other, world);
      }
    }
  }
}

void LaneLayout::add_slots(const Scene& scene, int shape, int plane) {
  const Geometry& g = scene.geometries()[shape];
  const int points = plane_points(g.shape.type), body = g.body - tree->body_offset;
  for (int f = 0; f < points; ++f) {
    LaneSlot slot{};
    slot.kind = points == 1   ? LaneSlot::Kind::kSphere
                : points == 2 ? LaneSlot::Kind::kCapsuleEnd
                              : LaneSlot::Kind::kBoxCorner;
    slot.body_is_a = shape < plane;
    for (int k = 0; k < 3; ++k) slot.sign[k] = f >> k & 1 ? 1 : -1;
    if (points == 2) slot.sign[2] = f == 0 ? -1 : 1;
    slot.shape = shape;
    slot.plane = plane;
    slot.body = body;
    slot.feature = static_cast<std::uint32_t>(f);
    add_slot(slot);
  }
  pairs.push_back({shape, plane, true});
}

void LaneLayout::add_found(const Scene& scene, int shape, int other) {
  const std::vector<Geometry>& all = scene.geometries();
  const int points = found_points(all[shape].shape, all[other].shape);
  found_pairs.push_back({std::min(shape, other),
                         std::max(shape, other),
                         is_plane(all[other]),
                         is_ball_on_field(all[shape].shape, all[other].shape),
                         static_cast<int>(slots.size()),
                         points});
  for (int k = 0; k < points; ++k) {
    LaneSlot slot{};
    slot.kind = LaneSlot::Kind::kFound;
    slot.body_is_a = shape < other;
    slot.shape = shape;
    slot.plane = other;
    slot.body = all[shape].body - tree->body_offset;
    slot.found = num_found++;
    add_slot(slot);
  }
  pairs.push_back({shape, other, true});
}

void LaneLayout::add_guard(const Scene& scene, int shape, int other) {
  const std::vector<Geometry>& all = scene.geometries();
  LaneGuard g{};
  g.shape = shape;
  g.other = other;
  g.plane = is_plane(all[other]);
  g.pair = static_cast<int>(pairs.size());
  g.slots_before = static_cast<int>(slots.size());
  g.dofs = static_cast<int>(guard_dofs.size());
  const int sides[2] = {std::min(shape, other), std::max(shape, other)};
  for (int k = 0; k < 2; ++k) {
    const int body = all[sides[k]].body;
    g.body[k] = body < 0 ? -1 : body - tree->body_offset;
    g.last_dof[k] = body < 0 ? -1 : tree->last_dof[g.body[k]];
    if (body < 0) continue;
    const auto chain = tree->chain.begin() + tree->row[g.last_dof[k]];
    guard_dofs.insert(guard_dofs.end(), chain, chain + tree->depth[g.last_dof[k]] + 1);
  }
  std::sort(guard_dofs.begin() + g.dofs, guard_dofs.end());
  guard_dofs.erase(std::unique(guard_dofs.begin() + g.dofs, guard_dofs.end()), guard_dofs.end());
  g.num_dofs = static_cast<int>(guard_dofs.size()) - g.dofs;
  guards.push_back(g);
  pairs.push_back({shape, other, false});
}

int LaneLayout::guard_of(std::uint64_t pair) const {
  const auto at = std::lower_bound(
      guards.begin(), guards.end(), pair, [](const LaneGuard& g, std::uint64_t wanted) {
        return pair_of(g) < wanted;
      });
  return at == guards.end() || pair_of(*at) != pair ? -1 : static_cast<int>(at - guards.begin());
}

/// Of the pair that comes next.
void LaneLayout::add_slot(LaneSlot slot) {
  slot.last_dof = tree->last_dof[slot.body];
  slot.pair = static_cast<int>(pairs.size());
  slot.rows = place(slot.last_dof, 3);
  slots.push_back(slot);
}

int LaneLayout::place(int last_dof, int dim) {
  const int start = row_size;
  row_size += dim * (tree->depth[last_dof] + 1);
  return start;
}

void LaneLayout::add_joint_rows() {
  for (int b = 0; b < tree->num_bodies; ++b) {
    const JointFacts& joint = joint_facts(tree->joint[b]);
    const int first = tree->v_index[b], q = tree->q_index[b];
    const auto add = [&](LaneRow::Kind kind, int dof) {
      rows.push_back({kind, joint.linear_dofs > 0, dof, b, q, place(dof, 1)});
    };
    if (joint.free) continue;
    if (joint.limited) {
      add(LaneRow::Kind::kLower, first);
      add(LaneRow::Kind::kUpper, first);
    }
    for (int k = 0; k < joint.nv; ++k) add(LaneRow::Kind::kDryFriction, first + k);
  }
}

/// Whether a moving shape has two pairs with the world.
bool LaneLayout::has_seams() const {
  std::vector<int> with_world(geometries.size(), 0);
  for (const LaneMaterials& pair : pairs) {
    if (geometries[pair.other].body < 0 && ++with_world[pair.shape] > 1) return true;
  }
  return false;
}

LaneScene LaneLayout::view(int width) const {
  int most_guard_dofs = 0;
  for (const LaneGuard& g : guards) most_guard_dofs = std::max(most_guard_dofs, g.num_dofs);
  LaneScene scene{
      tree->view(),
      tree->common_length.data(),
      slots.data(),
      rows.data(),
      geometries.data(),
      guards.data(),
      static_cast<int>(slots.size()),
      static_cast<int>(rows.size()),
      static_cast<int>(geometries.size()),
      static_cast<int>(guards.size()),
      static_cast<int>(pairs.size()),
      row_size,
      rules,
      nullptr,
      0,
      found_pairs.data(),
      static_cast<int>(found_pairs.size()),
      num_found,
      {guard_dofs.data(), most_guard_dofs, guards.empty() ? 0 : kMaxLanePlaces * width}};
  scene.finder.seams = has_seams();
  return scene;
}

std::uint64_t pair_of(const LaneLayout& layout, const LaneSlot& slot) {
  const LaneMaterials& pair = layout.pairs[slot.pair];
  return pair_key(pair.shape, pair.other);
}

std::uint64_t pair_of(const LaneGuard& guard) { return pair_key(guard.shape, guard.other); }

}  // namespace stiction
