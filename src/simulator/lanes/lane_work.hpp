#pragma once

#include "simulator/lanes/lane_parameters.hpp"
#include "solver/dense/dense_problem.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// Entry (i, lane) at [i W + lane].
template <class Real>
inline double* numbers(Real* x) {
  return reinterpret_cast<double*>(x);
}
template <class Real>
inline const double* numbers(const Real* x) {
  return reinterpret_cast<const double*>(x);
}

/// What a pack keeps from its contacts to its integration.
template <class Real>
struct PackWork {
  TreeData<Real> data;
  Real* w;                   ///< [nv] L^-T dt (force - bias)
  Real* force;               ///< [nv] explicit, without the bias
  Real* root;                ///< [nv] D^-1/2
  Real* side;                ///< [nv] 1, -1: the upper, lower effort limit acts as a constant
  Real* y;                   ///< Y = D^-1/2 L^-T J^T by set, along its chain
  Mat3<Real>* frame;         ///< [cones] R_WC = [t1 t2 n]
  Real* active;              ///< [sets] 1 or 0
  Real* lambda;              ///< [total rows] warm start, then the solution
  Real* turn;                ///< [1] [rad] of the fastest body at the start
  Real* relative;            ///< [1]
  Real *contacts, *scalars;  ///< [1] how many sets of each kind are active
  Real* matters;             ///< [1] a correction is above a share of its cap
  Real* reference;           ///< [sets] c* of the normal
  Real* curvature;           ///< [3 cones] dt/2 kappa
  Real* impact;              ///< [cones] > 0: c* is a rebound
  Real* arm;                 ///< [rows of joints] ConstraintSet::arm
  Real* scale;               ///< [1] ContactProblem::velocity_scale
  Real *impacts, *gains;     ///< [1] > 0: there is one; they would gain energy
  Real* feature;             ///< [found slots], then [places]
  int* guard;                ///< [places] whose point is there
  int num_places;            ///< in use, in the order of contacts
  int* used;                 ///< [sets] those that are active in any lane, ascending
  int num_used, num_rows;    ///< of the used sets
  int stride;                ///< from one row of their G to the next
  LaneRecord* record;        ///< of one world alone; null
};

/// Of the pack at hand, without meaning afterwards.
template <class Real>
struct LaneScratch {
  TreeData<Real> data;
  RigidTransform<Real>* pose;            ///< [geometries] world
  Vec3<Real>*linear, *angular;           ///< [geometries] of the middle of its ball, world
  Real* reach;                           ///< [geometries]
  Vec3<Real>* point;                     ///< [cones] world
  Vec3<Real>* normal;                    ///< [found slots] world, from A to B
  Real *touch_share, *touch_fixed;       ///< [found slots], then [places] TouchShift
  Real *face, *ball, *by_gap, *witness;  ///< [found slots], then [places] LanePairPoint's
  Real* touch;                           ///< [cones] touch_reach(); -1: touches at the start
  Real* meets;                           ///< [cones] > 0: carried, and its bodies meet fast
  Vec3<Real>* slides;                    ///< [cones] HalfStep's of the one that carried, or zero
  Real *side, *tree_rows;  ///< [6 nv], [3 nv] of a guard: J of its bodies, rows by dof
  Real *gap, *floor;       ///< [sets]
  Real *jv, *g;            ///< [total rows] J v; g
  Real* impulse;           ///< [total rows] of the last step, where its features are now
  Real* G;                 ///< of the used sets: lower blocks; of one world the dense problem's
  Real* by_dof;            ///< [nv x stride] Y of one world, in the order of that problem
  Real* free;              ///< [stride] likewise Y^T D^-1/2 w
  unsigned* touched;       ///< [nv] groups of eight of these rows that a dof moves
  Real *u, *change, *v;    ///< [nv]
  Real* q;                 ///< [nq]
  Motion<Real>* speed;     ///< [bodies]
  Real* fastest;           ///< [2 bodies]
  Real* carried;           ///< [bodies] carried_masses()
};

template <class Real>
struct LaneQueue {
  DenseProblem<Real> problem;
  int count;
  int *pack, *lane;  ///< [W] whose problems wait
  int* sets;         ///< [W x (kMaxLaneCones + kMaxLaneScalars)] of each
};

/// What a pack keeps of its tree; the rest is of the pack at hand.
constexpr int kept_tree_size(const TreeView& t) {
  return 12 * t.num_bodies + 7 * t.nv + t.packed_size;
}

constexpr int pack_work_size(const LaneScene& s) {
  return kept_tree_size(s.tree) + 4 * s.tree.nv + all_row_size(s) + 13 * num_cones(s) +
         2 * num_sets(s) + total_rows(s) + s.num_rows + 8 + s.num_found + s.places.count;
}

template <class Real>
inline PackWork<Real> take_pack_work(const LaneScene& s,
                                     const LaneScratch<Real>& scratch,
                                     Arena<Real>& arena,
                                     int*& indices) {
  const auto take = [&](int n) { return arena.template take<Real>(n); };
  PackWork<Real> w;
  w.data = scratch.data;
  w.data.X_RB = arena.template take<RigidTransform<Real>>(s.tree.num_bodies);
  w.data.S = arena.template take<Motion<Real>>(s.tree.nv);
  w.data.D_inverse = take(s.tree.nv);
  w.data.L = take(s.tree.packed_size);
  w.w = take(s.tree.nv);
  w.force = take(s.tree.nv);
  w.root = take(s.tree.nv);
  w.side = take(s.tree.nv);
  w.y = take(all_row_size(s));
  w.frame = arena.template take<Mat3<Real>>(num_cones(s));
  w.active = take(num_sets(s));
  w.lambda = take(total_rows(s));
  w.turn = take(1);
  w.relative = take(1);
  w.contacts = take(1);
  w.scalars = take(1);
  w.matters = take(1);
  w.reference = take(num_sets(s));
  w.curvature = take(3 * num_cones(s));
  w.impact = take(num_cones(s));
  w.arm = take(s.num_rows);
  w.scale = take(1);
  w.impacts = take(1);
  w.gains = take(1);
  w.feature = take(s.num_found + s.places.count);
  w.used = indices;
  w.guard = w.used + num_sets(s);
  indices = w.guard + s.places.count;
  w.num_used = w.num_rows = w.stride = w.num_places = 0;
  w.record = nullptr;
  return w;
}

constexpr int indices_of_pack(const LaneScene& s) { return num_sets(s) + s.places.count; }

/// The dofs on which a set acts, ascending; its block of Y has them in this order.
struct SetChain {
  const int* dofs;
  int length;
};
template <class Real>
inline SetChain chain_of(const LaneScene& s, int set, const PackWork<Real>& w) {
  if (is_place(s, set)) {
    const LaneGuard& g = s.guards[w.guard[set - s.num_slots]];
    return {s.places.dofs + g.dofs, g.num_dofs};
  }
  const int last = set_dof(s, set);
  return {s.tree.chain + s.tree.row[last], s.tree.depth[last] + 1};
}

/// The pair of materials of a contact.
template <class Real>
inline int material_of(const LaneScene& s, int set, const PackWork<Real>& w) {
  return set < s.num_slots ? s.slots[set].pair : s.guards[w.guard[set - s.num_slots]].pair;
}

/// Rows that any lane of a pack has, none of them more than kMaxLaneCones contacts.
template <class Real>
constexpr int most_used_rows(const LaneScene& s) {
  constexpr int kMost = kMaxLaneCones * lane_width<Real>;
  const int cones = num_cones(s);
  return 3 * (cones < kMost ? cones : kMost) + s.num_rows;
}

/// Of one world, which leaves where it has more.
template <class Real>
constexpr int most_stride(const LaneScene& s) {
  const int most = most_used_rows<Real>(s);
  if (lane_width<Real> > 1) return most;
  return dense_stride<Real>((most < kMaxDenseRows ? most : kMaxDenseRows) + kScalarClass);
}

template <class Real>
constexpr int lane_scratch_size(const LaneScene& s) {
  const int stride = most_stride<Real>(s);
  return tree_data_size<double>(s.tree) + 19 * s.num_geometries + 8 * num_cones(s) +
         9 * s.num_found + 6 * s.places.count + (s.places.count > 0 ? 9 * s.tree.nv : 0) +
         2 * num_sets(s) + 3 * total_rows(s) + stride * stride +
         (lane_width<Real> == 1 ? (s.tree.nv + 1) * stride + s.tree.nv : 0) + 3 * s.tree.nv +
         9 * s.tree.num_bodies + s.tree.nq;
}

template <class Real>
inline LaneScratch<Real> take_lane_scratch(const LaneScene& s, Arena<Real>& arena) {
  const auto take = [&](int n) { return arena.template take<Real>(n); };
  LaneScratch<Real> x{};
  x.data = take_tree_data(s.tree, arena);
  x.pose = arena.template take<RigidTransform<Real>>(s.num_geometries);
  x.linear = arena.template take<Vec3<Real>>(s.num_geometries);
  x.angular = arena.template take<Vec3<Real>>(s.num_geometries);
  x.reach = take(s.num_geometries);
  x.point = arena.template take<Vec3<Real>>(num_cones(s));
  x.normal = arena.template take<Vec3<Real>>(s.num_found);
  x.touch_share = take(s.num_found + s.places.count);
  x.touch_fixed = take(s.num_found + s.places.count);
  const int found = s.num_found + s.places.count;
  x.face = take(found);
  x.ball = take(found);
  x.by_gap = take(found);
  x.witness = take(found);
  x.touch = take(num_cones(s));
  x.meets = take(num_cones(s));
  x.slides = arena.template take<Vec3<Real>>(num_cones(s));
  if (s.places.count > 0) {
    x.side = take(6 * s.tree.nv);
    x.tree_rows = take(3 * s.tree.nv);
  }
  x.gap = take(num_sets(s));
  x.floor = take(num_sets(s));
  x.jv = take(total_rows(s));
  x.g = take(total_rows(s));
  x.impulse = take(total_rows(s));
  const int stride = most_stride<Real>(s);
  x.G = take(stride * stride);
  if constexpr (lane_width<Real> == 1) {
    x.by_dof = take(s.tree.nv * stride);
    x.free = take(stride);
    x.touched = reinterpret_cast<unsigned*>(take(s.tree.nv));
  }
  x.u = take(s.tree.nv);
  x.change = take(s.tree.nv);
  x.v = take(s.tree.nv);
  x.q = take(s.tree.nq);
  x.speed = arena.template take<Motion<Real>>(s.tree.num_bodies);
  x.fastest = take(2 * s.tree.num_bodies);
  x.carried = take(s.tree.num_bodies);
  return x;
}

}  // namespace STICTION_ISA
}  // namespace stiction
