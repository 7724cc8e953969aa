#include "simulator/lanes/lane_parameters.hpp"

#include "stiction/geometry/aabb.hpp"

#include "contact/surface_motion.hpp"
#include "math/symmetric_eigen.hpp"
#include "model/joint.hpp"
#include "simulator/lanes/lane_layout.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
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
bool is_scalar(const Material& m) {
  return std::isfinite(m.stiffness) || m.torsional_friction > 0.0 || m.rolling_friction > 0.0;
}

Material material_of(const Scene& scene, const Parameters& p, const LaneMaterials& pair) {
  return scene.pair_material(p, std::min(pair.shape, pair.other), std::max(pair.shape, pair.other));
}

/// Friction and restitution of the pairs. Returns whether one with slots is scalar.
bool put_materials(const Scene& scene,
                   const LaneLayout& layout,
                   const Parameters& p,
                   LaneWriter& out) {
  double* const friction = out.next;
  const std::size_t n = layout.pairs.size() * static_cast<std::size_t>(out.width);
  bool scalar = false;
  for (const LaneMaterials& pair : layout.pairs) {
    const Material m = material_of(scene, p, pair);
    const bool own = is_scalar(m);
    scalar = scalar || (own && pair.has_slots);
    out.next[n] = m.restitution;
    out.put(own && !pair.has_slots ? -1.0 : m.friction);
  }
  out.next = friction + 2 * n;
  return scalar;
}

/// The first dof for which a world never takes part; -1: none.
int scalar_dof(const LaneLayout& layout, const Parameters& p) {
  const Tree& tree = *layout.tree;
  for (int k = 0; k < tree.nv; ++k) {  // its position would need an arc tangent
    const bool wraps = joint_facts(tree.joint[tree.joint_of_dof[k]]).wraps;
    if (wraps && (p.kp[k] != 0.0 || p.spring_stiffness[k] != 0.0)) return k;
  }
  return -1;
}

void put_masses(const Scene& scene,
                const LaneLayout& layout,
                const Parameters& p,
                LaneWriter& out) {
  out.put(p.mass);
  out.put(p.inertia);
  out.put(p.gravity);
  out.put(p.kp);
  out.put(p.kd);
  const bool scalar = put_materials(scene, layout, p, out);
  put_least_inertia(layout, p, out);
  out.put(scalar || scalar_dof(layout, p) >= 0 || any_surface_moves(p) ? 1.0 : 0.0);
}

void put_joints(const Parameters& p, LaneWriter& out) {
  for (const std::vector<double>* x :
       {&p.armature, &p.damping, &p.dry_friction, &p.lower, &p.upper, &p.effort_limit})
    out.put(*x);
}

void put_shapes(const Scene& scene,
                const LaneLayout& layout,
                const Parameters& p,
                LaneWriter& out) {
  out.put(p.placement);
  out.put(p.axis);
  out.put(p.com);
  out.put(p.base[0]);
  out.put(p.geometry_placement);
  out.put(p.geometry_size);
  const int n = static_cast<int>(layout.geometries.size());
  for (int g = 0; g < n; ++g) out.put(bounding_ball(scene.shape(p, g)).centre);
  for (int g = 0; g < n; ++g) out.put(bounding_ball(scene.shape(p, g)).radius);
  out.put(p.spring_stiffness);
  out.put(p.spring_rest);
  for (const LaneMaterials& pair : layout.pairs) out.put(material_of(scene, p, pair).rest_offset);
}

}  // namespace

std::string why_never_in_lanes(const Scene& scene, const LaneLayout& layout, const Parameters& p) {
  const int dof = scalar_dof(layout, p);
  if (dof >= 0)
    return "a servo or spring holds " +
           scene.joint_names()[layout.tree->body_offset + layout.tree->joint_of_dof[dof]] +
           ", which turns without limits";
  for (const LaneMaterials& pair : layout.pairs) {
    const Material m = material_of(scene, p, pair);
    if (!pair.has_slots || !is_scalar(m)) continue;
    const std::vector<Geometry>& g = scene.geometries();
    return "contacts of " + g[pair.shape].name + " and " + g[pair.other].name +
           (std::isfinite(m.stiffness) ? " are compliant" : " have torsional or rolling friction");
  }
  return "";
}

void write_lane_parameters(const Scene& scene,
                           const LaneLayout& layout,
                           const Parameters& p,
                           LaneBlock block,
                           int width,
                           int lane,
                           double* out) {
  LaneWriter writer{out + lane, width};
  if (block == kMasses) put_masses(scene, layout, p, writer);
  if (block == kJoints) put_joints(p, writer);
  if (block == kShapes) put_shapes(scene, layout, p, writer);
}

}  // namespace stiction
