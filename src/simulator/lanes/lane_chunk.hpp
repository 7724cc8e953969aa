#pragma once

#include "dynamics/integrate.hpp"
#include "simulator/lanes/lane_curvature.hpp"
#include "simulator/lanes/lane_dynamics.hpp"
#include "simulator/lanes/lane_queue.hpp"
#include "simulator/lanes/lane_recovery.hpp"
#include "simulator/lanes/lane_touch.hpp"

// One step of a chunk of packs: every pack up to its contact problems, these solved by size, every
// pack to its end. Included once per instruction set; see math/lanes.hpp.

namespace stiction {
inline namespace STICTION_ISA {

/// Lanes that are still in the step.
template <class Real>
inline Mask<Real> stepped(const LaneExit* exit) {
  alignas(64) double on[lane_width<Real>];
  for (int i = 0; i < lane_width<Real>; ++i) on[i] = exit[i] == LaneExit::kStepped ? 1.0 : 0.0;
  return *as_array<const Real>(static_cast<const double*>(on)) > Real(0.0);
}

/// The lanes of m that are still in the step leave it.
template <class Real>
inline void leave(const Mask<Real>& m, LaneExit why, LaneExit* exit) {
  const int bits = lane_bits(m);
  for (int i = 0; i < lane_width<Real> && bits != 0; ++i) {
    if ((bits >> i & 1) != 0 && exit[i] == LaneExit::kStepped) exit[i] = why;
  }
}

/// Warm start: of contacts from the axes of body A.
template <class Real>
inline void load_impulses(const LaneScene& s,
                          const LanePack& pack,
                          LaneScratch<Real>& x,
                          PackWork<Real>& w) {
  const Real* kept = as_array<const Real>(static_cast<const double*>(pack.impulse));
  if (s.num_found > 0) {
    for (int r = 0; r < kept_rows(s); ++r) x.impulse[r] = kept[r];
    follow_features(s, pack.feature, kept, w, x.impulse);
    kept = x.impulse;
  }
  const RigidTransform<Real>& X = w.data.X_WR;
  for (int k = 0; k < w.num_used; ++k) {
    const int set = w.used[k], o = set_offset(s, set);
    if (!is_cone(s, set)) {
      w.lambda[o] = kept[kept_offset(s, set)];
      continue;
    }
    Vec3<Real> world;
    if (is_place(s, set)) {
      world = place_rotation(s, set, w) * kept_impulse<Real>(s, pack.places, set - s.num_slots, w);
    } else {
      const LaneSlot& slot = s.slots[set];
      world = {kept[o], kept[o + 1], kept[o + 2]};
      if (slot.body_is_a) world = (X.R * w.data.X_RB[slot.body].R) * world;
    }
    const Vec3<Real> local = transpose_times(w.frame[set], world);
    for (int r = 0; r < 3; ++r) w.lambda[o + r] = local[r];
  }
}

/// Up to the contact problems, which go to their queues.
template <class Real>
inline void prepare(const LaneScene& s,
                    const LaneParameters<Real>& p,
                    const LanePack& pack,
                    LaneScratch<Real>& x,
                    PackWork<Real>& w) {
  constexpr int W = lane_width<Real>;
  const Real* q = as_array<const Real>(static_cast<const double*>(pack.q));
  const Real* v = as_array<const Real>(static_cast<const double*>(pack.v));
  const auto leaves = [&](const Mask<Real>& m, LaneExit why) { leave<Real>(m, why, pack.exit); };
  for (int i = 0; i < W; ++i) pack.exit[i] = LaneExit::kStepped;
  w.relative[0] = w.contacts[0] = w.scalars[0] = Real(0.0);
  leaves(*as_array<const Real>(pack.held) > Real(0.0), LaneExit::kHeld);
  const Mask<Real> scalar = p.scalar[0] > Real(0.0);
  leaves(scalar, LaneExit::kScalar);
  leaves(not_finite(s.tree, q, v), LaneExit::kNotFinite);
  forward_kinematics(s.tree, p.tree, q, v, w.data);
  w.turn[0] = fastest_turn(s.tree, w.data, Real(s.rules.dt));
  leaves(w.turn[0] > Real(is_loose_body(s.tree) ? kFastestTurn : kBalancedTurn), LaneExit::kFast);
  lane_poses(s, p, w.data, x);
  lane_places(s, p, stepped<Real>(pack.exit), pack.exit, x, w);
  leaves(lane_contacts(s, p, x, w), LaneExit::kPair);
  if (s.num_found_pairs > 0)
    leaves(lane_found_contacts(s, p, stepped<Real>(pack.exit), x, w), LaneExit::kPair);
  if (s.finder.seams || w.num_places > 0)
    lane_seams(s, p, stepped<Real>(pack.exit), pack.exit, x, w);
  lane_touch(s, p, x, w);
  lane_dynamics(s, p, pack, q, v, w);
  leaves(lane_joint_rows(s, p, q, v, x, w), LaneExit::kFarOut);
  Real cones(0.0), scalars(0.0);
  const int used_cones = s.num_slots + w.num_places;
  for (int i = 0; i < used_cones; ++i) cones += w.active[i];
  for (int i = num_cones(s); i < num_sets(s); ++i) scalars += w.active[i];
  const Real rows = Real(3.0) * cones + scalars;
  leaves((cones > Real(kMaxLaneCones)) | (rows > Real(kMaxDenseRows)), LaneExit::kManyRows);
  const Mask<Real> at = stepped<Real>(pack.exit);
  for (int i = 0; i < used_cones; ++i) w.active[i] = select(at, w.active[i], Real(0.0));
  for (int i = num_cones(s); i < num_sets(s); ++i) w.active[i] = select(at, w.active[i], Real(0.0));
  lane_rows(s, p, q, v, x, w);
  load_impulses(s, pack, x, w);
  lane_curvature(s, p, x, w);
  leaves(lane_references(s, p, x, w), LaneExit::kImmovable);
  add_curvature(s, x, w);
}

/// u += Y lambda of one set: add_impulse() along its dofs.
template <int Dim, class Real>
inline void add_set_impulse(const SetChain& chain, const Real* y, const Real* lambda, Real* u) {
  for (int m = 0; m < chain.length; ++m) {
    Real sum = y[Dim * m] * lambda[0];
    for (int r = 1; r < Dim; ++r) sum += y[Dim * m + r] * lambda[r];
    u[chain.dofs[m]] += sum;
  }
}

/// u = D^-1 Z lambda; impulses of the sets that a lane does not have are zero.
template <class Real>
inline void impulse_forces(const LaneScene& s, PackWork<Real>& w, Real* u) {
  const TreeView& t = s.tree;
  const Real zero(0.0);
  for (int k = 0; k < t.nv; ++k) u[k] = zero;
  for (int i = 0; i < w.num_used; ++i) {
    const int set = w.used[i], dim = set_dim(s, set), o = set_offset(s, set);
    const Mask<Real> active = w.active[set] > zero;
    Real* lambda = w.lambda + o;
    for (int r = 0; r < dim; ++r) lambda[r] = select(active, lambda[r], zero);
    const Real* y = w.y + set_start(s, set);
    const SetChain chain = chain_of(s, set, w);
    dim == 3 ? add_set_impulse<3>(chain, y, lambda, u) : add_set_impulse<1>(chain, y, lambda, u);
  }
  for (int k = 0; k < t.nv; ++k) u[k] *= w.root[k];
}

/// Impulses for the next warm start, in the lanes of `at`; of sets without contact zero.
template <class Real>
inline void store_impulses(const LaneScene& s,
                           const LanePack& pack,
                           Mask<Real> at,
                           const PackWork<Real>& w) {
  Real* kept = as_array<Real>(pack.impulse);
  const RigidTransform<Real>& X = w.data.X_WR;
  const Real zero(0.0);
  for (int r = 0; r < kept_rows(s); ++r) kept[r] = select(at, zero, kept[r]);
  Real* features = as_array<Real>(pack.feature);
  for (int k = 0; k < s.num_found; ++k) features[k] = select(at, w.feature[k], features[k]);
  for (int k = 0; k < w.num_used; ++k) {
    const int set = w.used[k], o = kept_offset(s, set);
    if (is_place(s, set)) continue;
    const Real* l = w.lambda + set_offset(s, set);
    if (!is_cone(s, set)) {
      kept[o] = select(at, l[0], kept[o]);
      continue;
    }
    const LaneSlot& slot = s.slots[set];
    Vec3<Real> world = w.frame[set] * Vec3<Real>{l[0], l[1], l[2]};
    if (slot.body_is_a) world = transpose_times(X.R * w.data.X_RB[slot.body].R, world);
    for (int r = 0; r < 3; ++r) kept[o + r] = select(at, world[r], kept[o + r]);
  }
  if (has_places(s, pack, w)) store_places(s, pack, at, w);
}

/// What a world alone has beside its solution.
inline void record_rows(const LaneScene& s,
                        const LaneScratch<double>& x,
                        const PackWork<double>& w,
                        LaneRecord& record) {
  record.num_used = w.num_used;
  record.solved = {};
  record.kinetic_energy = w.data.kinetic_energy;
  record.potential_energy = w.data.potential_energy;
  for (int k = 0; k < w.num_used; ++k) {
    const int set = w.used[k];
    record.used[k] = set;
    const bool cone = is_cone(s, set);
    record.reference[set] = w.reference[set];
    if (!cone && joint_row(s, set).kind == LaneRow::Kind::kDryFriction) {  // has no gap
      record.gap[set] = record.corrects[set] = 0.0;
      continue;
    }
    record.gap[set] = x.gap[set];
    record.corrects[set] = (cone && w.impact[set] > 0.0) || x.gap[set] > 0.0 ? 0.0 : 1.0;
  }
}

/// Joints that dry friction stops have speed zero.
template <class Real>
inline void stop_joints(const LaneScene& s,
                        const LaneParameters<Real>& p,
                        const PackWork<Real>& w,
                        const Real* v,
                        Real* after) {
  const Real zero(0.0), dt(s.rules.dt);
  for (int k = w.num_used - 1; k >= 0 && !is_cone(s, w.used[k]); --k) {
    const LaneRow& row = joint_row(s, w.used[k]);
    if (row.kind != LaneRow::Kind::kDryFriction) continue;
    const int dof = row.dof;
    const Mask<Real> stops = is_stopped(w.lambda[set_offset(s, w.used[k])],
                                        dt * p.dry_friction[dof],
                                        v[dof],
                                        after[dof],
                                        w.scale[0] / w.arm[w.used[k] - num_cones(s)]);
    after[dof] = select(stops & (w.active[w.used[k]] > zero), zero, after[dof]);
  }
}

/// From the impulses to the end of the step. Lanes that cannot end it keep their state.
template <class Real>
inline void finish(const LaneScene& s,
                   const LaneParameters<Real>& p,
                   const LanePack& pack,
                   LaneScratch<Real>& x,
                   PackWork<Real>& w) {
  const TreeView& t = s.tree;
  Real *q = as_array<Real>(pack.q), *v = as_array<Real>(pack.v);
  const Real zero(0.0);
  leave<Real>(negated(w.relative[0] <= Real(s.rules.tolerance)), LaneExit::kUnsolved, pack.exit);
  leave<Real>(w.gains[0] > zero, LaneExit::kRestitution, pack.exit);
  impulse_forces(s, w, x.change);
  const Mask<Real> several = w.contacts[0] + w.scalars[0] > Real(1.0);
  const Mask<Real> suspect = several & (w.matters[0] > zero);
  if (any(suspect)) {
    for (int k = 0; k < t.nv; ++k) x.v[k] = x.change[k];
    solve_lower(t, w.data, x.v);
    const Mask<Real> fast = pushed_fast(s, p, v, x.v, x, w);
    leave<Real>(fast & suspect, LaneExit::kRecovery, pack.exit);
  }
  for (int k = 0; k < t.nv; ++k) x.change[k] += w.data.D_inverse[k] * w.w[k];
  solve_lower(t, w.data, x.change);
  const Mask<Real> flies = stepped<Real>(pack.exit) & (w.contacts[0] + w.scalars[0] < Real(1.0));
  if (!is_loose_body(t)) {
    if (s.rules.mean_bias && any(flies)) {
      leave<Real>(
          lane_mean_bias(s, p, pack, flies, v, x.change, x.u, w), LaneExit::kFast, pack.exit);
    }
    Real change(0.0);
    for (int k = 0; k < t.nv; ++k) change += abs(x.change[k]);
    leave<Real>(may_turn_fast(w.turn[0], change, Real(s.rules.dt)), LaneExit::kFast, pack.exit);
  }
  for (int k = 0; k < t.nv; ++k) x.v[k] = v[k] + x.change[k];
  stop_joints(s, p, w, v, x.v);
  for (int k = 0; k < t.nv; ++k) x.v[k] = settled(x.v[k]);
  leave<Real>(jump_limits(s, p, q, x.v, w), LaneExit::kFarOut, pack.exit);
  leave<Real>(lane_saturation_changes(s, p, pack, q, x.v, w), LaneExit::kSaturation, pack.exit);
  for (int k = 0; k < t.nq; ++k) x.q[k] = q[k];
  integrate_configuration(t, root_point(t, p.tree), Real(s.rules.dt), x.q, x.v);
  leave<Real>(not_finite(t, x.q, x.v), LaneExit::kUnsolved, pack.exit);
  const Mask<Real> at = stepped<Real>(pack.exit);
  for (int k = 0; k < t.nq; ++k) q[k] = select(at, x.q[k], q[k]);
  for (int k = 0; k < t.nv; ++k) v[k] = select(at, x.v[k], v[k]);
  store_impulses(s, pack, at, w);
  *as_array<Real>(pack.relative) = w.relative[0];
  *as_array<Real>(pack.contacts) = w.contacts[0];
}

template <class Real>
std::size_t lane_doubles(const LaneScene& s, int packs) {
  constexpr int kPadding = 8;
  std::size_t reals = lane_scratch_size<Real>(s) + packs * pack_work_size(s);
  for (int n = 0; n <= most_cones(s) && num_queues<Real>(s) > 0; ++n) {
    for (int c = 0; c < most_classes(s); ++c)
      reals += has_queue(n, c) ? dense_problem_size<Real>(n, kScalarClass * c) : 0;
  }
  reals += dense_work_size<Real>(most_cones(s), kScalarClass * (most_classes(s) - 1)) + kPadding;
  return reals * lane_width<Real> + doubles_alone<Real>(s);
}

template <class Real>
std::size_t lane_integers(const LaneScene& s, int packs) {
  return packs * indices_of_pack(s) + num_queues<Real>(s) * lane_width<Real> * (2 + kMaxLaneSets);
}

template <class Real>
std::size_t lane_parameter_doubles(const LaneScene& s, LaneBlock block) {
  return static_cast<std::size_t>(lane_parameters_size(s, block)) * lane_width<Real>;
}

template <class Real>
void lane_step(const LaneScene& s, const LanePack* packs, int count, double* memory, int* indices) {
  Arena<Real> arena{as_array<Real>(memory)};
  [[maybe_unused]] const int* first_index = indices;
  LaneParameters<Real> parameters[kMaxLanePacks];
  PackWork<Real> works[kMaxLanePacks];
  LaneQueue<Real> queues[(kMaxPackCones + 1) * (kMaxPackRows / kScalarClass + 1)];
  LaneScratch<Real> scratch = take_lane_scratch(s, arena);
  DenseWork<Real> dense =
      take_dense_work(most_cones(s), kScalarClass * (most_classes(s) - 1), arena);
  take_queues(s, arena, indices, queues);
  for (int k = 0; k < count; ++k) works[k] = take_pack_work(s, scratch, arena, indices);
  double* alone = numbers(arena.cursor);
  STICTION_ASSERT(static_cast<std::size_t>(alone - memory) + doubles_alone<Real>(s) <=
                  lane_doubles<Real>(s, count));
  STICTION_ASSERT(static_cast<std::size_t>(indices - first_index) <= lane_integers<Real>(s, count));
  for (int k = 0; k < count; ++k) {
    parameters[k] = read_lane_parameters<Real>(s, packs[k].parameters);
    prepare(s, parameters[k], packs[k], scratch, works[k]);
    if constexpr (lane_width<Real> == 1) {
      works[k].record = packs[k].record;
      if (packs[k].record != nullptr) record_rows(s, scratch, works[k], *packs[k].record);
    }
    enqueue(s, parameters[k], scratch, k, packs[k].exit, works, queues, dense, alone);
  }
  for (int i = 0; i < num_queues<Real>(s); ++i) {
    if (queues[i].count > 0) solve_queue(s, queues[i], dense, works);
  }
  for (int k = 0; k < count; ++k) finish(s, parameters[k], packs[k], scratch, works[k]);
}

template <class Real>
LaneKernel lane_kernel(const char* instruction_set) {
  return {lane_width<Real>,
          instruction_set,
          lane_step<Real>,
          lane_doubles<Real>,
          lane_integers<Real>,
          lane_parameter_doubles<Real>};
}

}  // namespace STICTION_ISA
}  // namespace stiction
