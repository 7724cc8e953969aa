#include "simulator/lanes/lane_layout.hpp"

#include "stiction/geometry/aabb.hpp"

#include "math/symmetric_eigen.hpp"
#include "model/joint.hpp"
#include "solver/dense/dense_problem.hpp"

#include <algorithm>
#include <cmath>

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

/// Places for points of a pair that are found. A pair with more of them leaves the lanes.
int found_points(const Shape& shape, const Shape& other) {
  const bool round = shape.type == ShapeType::kSphere || shape.type == ShapeType::kCapsule;
  const bool rim = other.type == ShapeType::kHalfSpace && shape.type != ShapeType::kConvexMesh;
  return round || rim ? 4 : kMostFoundPoints;
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
  if (settings.solver.centred_loads) return "centred_loads is on";
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
           s.contact.recovery_speed,
           s.contact.recovery_angular_speed,
           s.contact.limit_margin,
           s.contact.restitution_threshold};
  add_geometries(scene);
  add_joint_rows(scene);
}

/// All geometries, with a slot for each point against a plane and a guard for each other pair;
/// contacts are sorted by pair and feature, and so are slots.
void LaneLayout::add_geometries(const Scene& scene) {
  const std::vector<Geometry>& all = scene.geometries();
  const int n = static_cast<int>(all.size());
  for (int g = 0; g < n; ++g) geometries.push_back({g, all[g].body});
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      if (!may_meet(scene, a, b)) continue;
      const int world = all[a].body < 0 ? a : b, other = world == a ? b : a;
      if (all[world].body >= 0) {
        guards.push_back({a, b, false});
      } else if (is_plane(all[world]) && plane_points(all[other].shape.type) > 0) {
        add_slots(scene, other, world);
      } else if (static_cast<int>(slots.size()) < kMostSlots) {
        add_found(scene, other, world);
      } else if (is_plane(all[world])) {
        guards.push_back({other, world, true});
      } else {
        guards.push_back({a, b, false});
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
  pairs.push_back({shape, plane});
}

void LaneLayout::add_found(const Scene& scene, int shape, int other) {
  const std::vector<Geometry>& all = scene.geometries();
  const int points = found_points(all[shape].shape, all[other].shape);
  found_pairs.push_back({std::min(shape, other),
                         std::max(shape, other),
                         is_plane(all[other]),
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
  pairs.push_back({shape, other});
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

void LaneLayout::add_joint_rows(const Scene&) {
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

LaneScene LaneLayout::view() const {
  return {tree->view(),
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
          nullptr,
          nullptr};
}

namespace {

/// Appends numbers of one lane.
struct LaneWriter {
  double* next;
  int width;

  void put(double x) {
    *next = x;
    next += width;
  }
  void put(const Vec3d& x) {
    for (int k = 0; k < 3; ++k) put(x[k]);
  }
  void put(const Transform& X) {
    for (int k = 0; k < 3; ++k) put(X.R.column(k));
    put(X.p);
  }
  void put(const Sym3d& m) {
    for (const double x : {m.xx, m.xy, m.yy, m.xz, m.yz, m.zz}) put(x);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    for (const T& x : values) put(x);
  }
};

/// The smallest mass and principal moment of a body, for a bound of its speeds by an energy; 0
/// where a joint slides, whose rate they do not bound.
void put_least_inertia(const LaneLayout& layout, const Parameters& p, LaneWriter& out) {
  double mass = kInfinity, inertia = kInfinity;
  for (int b = 0; b < layout.tree->num_bodies; ++b) {
    const JointFacts& joint = joint_facts(layout.tree->joint[b]);
    mass = std::min(mass, p.mass[b]);
    const Sym3d& I = p.inertia[b];
    double matrix[9] = {I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz};
    double moments[3], axes[9], scratch[7 * 3 + 24];
    if (!symmetric_eigen(matrix, 3, moments, axes, scratch)) inertia = 0.0;
    for (const double m : moments) inertia = std::min(inertia, m);
    if (!joint.free && joint.linear_dofs > 0) inertia = 0.0;
  }
  out.put(mass);
  out.put(std::max(inertia, 0.0));
}

struct Ball {
  Vec3d centre;
  double radius;
};
/// Of a half-space a point.
Ball bounding_ball(const Shape& shape) {
  if (!shape.bounded()) return {{0, 0, 0}, 0.0};
  const Aabb box = bounding_box(shape, Transform::identity());
  const bool round = shape.type == ShapeType::kSphere;
  return {centre(box), round ? shape.size.x : 0.5 * norm(box.upper - box.lower)};
}

/// What the lanes have no rows for.
bool is_scalar(const Scene& scene, const LaneLayout& layout, const Parameters& p) {
  for (const auto& [shape, plane] : layout.pairs) {
    const int a = std::min(shape, plane), b = std::max(shape, plane);
    const Material pair = scene.pair_material(p, a, b);
    if (std::isfinite(pair.stiffness)) return true;
    if (pair.torsional_friction > 0.0 || pair.rolling_friction > 0.0) return true;
  }
  const Tree& tree = *layout.tree;
  for (int k = 0; k < tree.nv; ++k) {  // its position would need an arc tangent
    const bool wraps = joint_facts(tree.joint[tree.joint_of_dof[k]]).wraps;
    if (wraps && (p.kp[k] != 0.0 || p.spring_stiffness[k] != 0.0)) return true;
  }
  return false;
}

}  // namespace

std::uint64_t pair_of(const LaneLayout& layout, const LaneSlot& slot) {
  const auto [shape, plane] = layout.pairs[slot.pair];
  return static_cast<std::uint64_t>(std::min(shape, plane)) << 32 |
         static_cast<std::uint32_t>(std::max(shape, plane));
}

void write_lane_parameters(const Scene& scene,
                           const LaneLayout& layout,
                           const Parameters& p,
                           int width,
                           int lane,
                           double* block) {
  LaneWriter out{block + lane, width};
  out.put(p.mass);
  out.put(p.inertia);
  out.put(p.gravity);
  for (const std::vector<double>* x : {&p.armature,
                                       &p.damping,
                                       &p.dry_friction,
                                       &p.lower,
                                       &p.upper,
                                       &p.kp,
                                       &p.kd,
                                       &p.effort_limit,
                                       &p.spring_stiffness,
                                       &p.spring_rest})
    out.put(*x);
  for (const auto number : {&Material::friction, &Material::restitution, &Material::rest_offset}) {
    for (const auto& [shape, plane] : layout.pairs)
      out.put(scene.pair_material(p, std::min(shape, plane), std::max(shape, plane)).*number);
  }
  for (const LaneGuard& g : layout.guards)
    out.put(scene.pair_material(p, std::min(g.a, g.b), std::max(g.a, g.b)).rest_offset);
  put_least_inertia(layout, p, out);
  out.put(is_scalar(scene, layout, p) ? 1.0 : 0.0);
}

void write_lane_shapes(const Scene& scene,
                       const LaneLayout& layout,
                       const Parameters& p,
                       int width,
                       int lane,
                       double* block) {
  LaneWriter out{block + lane, width};
  out.put(p.placement);
  out.put(p.axis);
  out.put(p.com);
  out.put(p.base[0]);
  out.put(p.geometry_placement);
  out.put(p.geometry_size);
  const int n = static_cast<int>(layout.geometries.size());
  for (int g = 0; g < n; ++g) out.put(bounding_ball(scene.shape(p, g)).centre);
  for (int g = 0; g < n; ++g) out.put(bounding_ball(scene.shape(p, g)).radius);
}

}  // namespace stiction
