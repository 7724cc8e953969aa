#pragma once

#include "dynamics/tree_data.hpp"
#include "dynamics/tree_layout.hpp"
#include "simulator/lanes/lane_sets.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// LanePack::parameters, read from where write_lane_parameters() puts them.
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

/// Reals of a block.
constexpr int lane_parameters_size(const LaneScene& s, LaneBlock block) {
  switch (block) {
    case kMasses:
      return 7 * s.tree.num_bodies + 3 + 2 * s.tree.nv + 2 * s.num_pairs + 3;
    case kJoints:
      return 6 * s.tree.nv;
    default:
      return 18 * s.tree.num_bodies + 12 + 19 * s.num_geometries + 2 * s.tree.nv + s.num_pairs;
  }
}

template <class Real>
inline LaneParameters<Real> read_lane_parameters(const LaneScene& s, const LaneBlocks& blocks) {
  const auto arena_of = [&](LaneBlock b) {
    return Arena<const Real>{as_array<const Real>(blocks.of[b])};
  };
  Arena<const Real> arena = arena_of(kMasses), joints = arena_of(kJoints),
                    shapes = arena_of(kShapes);
  const int nb = s.tree.num_bodies, nv = s.tree.nv, ng = s.num_geometries;
  LaneParameters<Real> p;
  p.tree.placement = shapes.template take<const RigidTransform<Real>>(nb);
  p.tree.axis = shapes.template take<const Vec3<Real>>(nb);
  p.tree.mass = arena.template take<const Real>(nb);
  p.tree.com = shapes.template take<const Vec3<Real>>(nb);
  p.tree.inertia = arena.template take<const Sym3<Real>>(nb);
  p.tree.base = *shapes.template take<const RigidTransform<Real>>(1);
  p.tree.gravity = *arena.template take<const Vec3<Real>>(1);
  p.kp = arena.template take<const Real>(nv);
  p.kd = arena.template take<const Real>(nv);
  const Real** const of_joints[] = {
      &p.armature, &p.damping, &p.dry_friction, &p.lower, &p.upper, &p.effort_limit};
  for (const Real** x : of_joints) *x = joints.template take<const Real>(nv);
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
  const auto read_all = [&](const Arena<const Real>& from, LaneBlock b) {
    return from.cursor - as_array<const Real>(blocks.of[b]) == lane_parameters_size(s, b);
  };
  STICTION_ASSERT(read_all(arena, kMasses) && read_all(joints, kJoints) &&
                  read_all(shapes, kShapes));
  return p;
}

}  // namespace STICTION_ISA
}  // namespace stiction
