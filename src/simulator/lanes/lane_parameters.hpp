#pragma once

#include "dynamics/tree_data.hpp"
#include "dynamics/tree_layout.hpp"
#include "simulator/lanes/lane_sets.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// LanePack::parameters and LanePack::shapes in the order in which they lie; written by
/// write_lane_parameters() and write_lane_shapes(). No WorldField changes the latter.
template <class Real>
struct LaneParameters {
  TreeParameters<Real> tree;
  const Real *armature, *damping, *dry_friction, *lower, *upper, *kp, *kd, *effort_limit,
      *spring_stiffness, *spring_rest;    ///< [nv]
  const RigidTransform<Real>* placement;  ///< [geometries]
  const Vec3<Real>*size, *centre;         ///< [geometries]
  const Real* radius;                     ///< [geometries] of the ball about the centre [m]
  const Real *friction, *restitution, *rest_offset;  ///< [pairs] friction < 0: of a guard whose
                                                     ///< contacts are not for lanes
  const Real *least_mass, *least_inertia;            ///< [1] of a body, 0 where a joint slides
  const Real* scalar;                                ///< [1] > 0: the world never takes part
};

/// Reals of them.
constexpr int lane_parameters_size(const LaneScene& s) {
  return 7 * s.tree.num_bodies + 3 + 8 * s.tree.nv + 2 * s.num_pairs + 3;
}
/// Reals of placements, shapes, springs and rest offsets.
constexpr int lane_shapes_size(const LaneScene& s) {
  return 18 * s.tree.num_bodies + 12 + 19 * s.num_geometries + 2 * s.tree.nv + s.num_pairs;
}

template <class Real>
inline LaneParameters<Real> read_lane_parameters(const LaneScene& s,
                                                 const double* block,
                                                 const double* shape_block) {
  Arena<const Real> arena{as_array<const Real>(block)};
  Arena<const Real> shapes{as_array<const Real>(shape_block)};
  const int nb = s.tree.num_bodies, nv = s.tree.nv, ng = s.num_geometries;
  LaneParameters<Real> p;
  p.tree.placement = shapes.template take<const RigidTransform<Real>>(nb);
  p.tree.axis = shapes.template take<const Vec3<Real>>(nb);
  p.tree.mass = arena.template take<const Real>(nb);
  p.tree.com = shapes.template take<const Vec3<Real>>(nb);
  p.tree.inertia = arena.template take<const Sym3<Real>>(nb);
  p.tree.base = *shapes.template take<const RigidTransform<Real>>(1);
  p.tree.gravity = *arena.template take<const Vec3<Real>>(1);
  const Real** const of_dofs[] = {
      &p.armature, &p.damping, &p.dry_friction, &p.lower, &p.upper, &p.kp, &p.kd, &p.effort_limit};
  for (const Real** x : of_dofs) *x = arena.template take<const Real>(nv);
  p.placement = shapes.template take<const RigidTransform<Real>>(ng);
  p.size = shapes.template take<const Vec3<Real>>(ng);
  p.centre = shapes.template take<const Vec3<Real>>(ng);
  p.radius = shapes.template take<const Real>(ng);
  p.spring_stiffness = shapes.template take<const Real>(nv);
  p.spring_rest = shapes.template take<const Real>(nv);
  p.friction = arena.template take<const Real>(s.num_pairs);
  p.restitution = arena.template take<const Real>(s.num_pairs);
  p.rest_offset = shapes.template take<const Real>(s.num_pairs);
  p.least_mass = arena.template take<const Real>(1);
  p.least_inertia = arena.template take<const Real>(1);
  p.scalar = arena.template take<const Real>(1);
  STICTION_ASSERT(arena.cursor - as_array<const Real>(block) == lane_parameters_size(s));
  STICTION_ASSERT(shapes.cursor - as_array<const Real>(shape_block) == lane_shapes_size(s));
  return p;
}

}  // namespace STICTION_ISA
}  // namespace stiction
