#pragma once

#include "contact/row_rules.hpp"
#include "dynamics/constraint_rows.hpp"
#include "simulator/lanes/lane_work.hpp"

// Rows of the contacts that have places: of two bodies of the robot, or of one with the world. J is
// that of B's point less that of A's along both chains, the sides in the order of
// contact/contact_rows.cpp; it is whitened by dof, as contact/rows_by_dof.cpp does, and kept
// along the dofs of both chains.

namespace stiction {
inline namespace STICTION_ISA {

/// Rows by dof of the tree, and back.
template <class Real>
inline void to_tree(const SetChain& chain, const Real* rows, Real* by_dof) {
  for (int m = 0; m < chain.length; ++m) {
    for (int r = 0; r < 3; ++r) by_dof[3 * chain.dofs[m] + r] = rows[3 * m + r];
  }
}
template <class Real>
inline void from_tree(const SetChain& chain, const Real* by_dof, Real* rows) {
  for (int m = 0; m < chain.length; ++m) {
    for (int r = 0; r < 3; ++r) rows[3 * m + r] = by_dof[3 * chain.dofs[m] + r];
  }
}

/// J of both sides, one after the other, with the lanes in which the point is in a pivot of each
/// body: there rows are zero, and the contact leaves as one that nothing moves.
template <class Real>
inline void side_jacobians(const LaneScene& s,
                           const LaneGuard& g,
                           int set,
                           const LaneParameters<Real>& p,
                           LaneScratch<Real>& x,
                           const PackWork<Real>& w) {
  const TreeView& t = s.tree;
  const RigidTransform<Real>& X = w.data.X_WR;
  const Vec3<Real> point = transpose_times(X.R, x.point[set] - X.p);
  const Mat3<Real> axes = transpose_times(X.R, w.frame[set]);
  const Real zero(0.0);
  Mask<Real> pivot = zero <= zero;
  for (int k = 0; k < 2; ++k) {
    const int body = g.body[k], last = g.last_dof[k];
    if (body < 0) continue;
    Real* J = x.side + 3 * t.nv * k;
    point_rows(t, w.data, last, point, axes, Real(k == 0 ? -1.0 : 1.0), J);
    pivot = pivot & is_in_pivot(t, last, p.tree.mass[body], p.tree.inertia[body], J);
  }
  if (!any(pivot)) return;
  for (int k = 0; k < 6 * t.nv; ++k) x.side[k] = select(pivot, zero, x.side[k]);
}

/// J of a place, J v, and the rounding of c* and J v.
template <class Real>
inline void place_jacobian(const LaneScene& s,
                           int set,
                           const Real* v,
                           const LaneParameters<Real>& p,
                           LaneScratch<Real>& x,
                           PackWork<Real>& w) {
  const TreeView& t = s.tree;
  const LaneGuard& g = s.guards[w.guard[set - s.num_slots]];
  const SetChain chain = chain_of(s, set, w);
  const Vec3<Real>& point = x.point[set];
  const Real arm = largest_of(point - w.data.X_WR.p), zero(0.0);
  Real *jv = x.jv + set_offset(s, set), *sum = x.tree_rows, speed = zero;
  side_jacobians(s, g, set, p, x, w);
  for (int r = 0; r < 3; ++r) jv[r] = zero;
  for (int m = 0; m < chain.length; ++m) {
    for (int r = 0; r < 3; ++r) sum[3 * chain.dofs[m] + r] = zero;
  }
  for (int k = 0; k < 2; ++k) {
    if (g.body[k] < 0) continue;
    const Real* J = x.side + 3 * t.nv * k;
    const int last = g.last_dof[k], *own = t.chain + t.row[last];
    rows_times<3>(t, last, J, v, jv);
    for (int m = 0; m <= t.depth[last]; ++m) {
      for (int r = 0; r < 3; ++r) sum[3 * own[m] + r] += J[3 * m + r];
    }
    speed = max(speed, size_of_velocity(w.data.V[g.body[k]], arm));
  }
  from_tree(chain, sum, w.y + set_start(s, set));
  x.floor[set] = rounding_of(max(largest_of(point), arm), Real(s.rules.dt), speed);
}

/// J^T -> L^-T J^T of a place, from the leaves to the root.
template <class Real>
inline void whiten_place(
    const TreeView& t, const SetChain& chain, const Real* L, Real* by_dof, Real* rows) {
  to_tree(chain, rows, by_dof);
  for (int i = chain.length - 1; i >= 0; --i) {
    const int k = chain.dofs[i];
    const int* ancestors = t.chain + t.row[k];
    const Real *l = L + t.row[k], *own = by_dof + 3 * k;
    for (int m = 0; m < t.depth[k]; ++m) {
      for (int r = 0; r < 3; ++r) by_dof[3 * ancestors[m] + r] -= l[m] * own[r];
    }
  }
  from_tree(chain, by_dof, rows);
}

/// J and J v of a place, and, unless all sets are whitened together, Y and the free velocity, as
/// whiten_set().
template <class Real>
STICTION_RARE void place_rows(const LaneScene& s,
                              int set,
                              const Real* v,
                              bool only_jacobian,
                              const LaneParameters<Real>& p,
                              LaneScratch<Real>& x,
                              PackWork<Real>& w) {
  place_jacobian(s, set, v, p, x, w);
  if (only_jacobian) return;
  const SetChain chain = chain_of(s, set, w);
  Real* rows = w.y + set_start(s, set);
  whiten_place(s.tree, chain, w.data.L, x.tree_rows, rows);
  Real sum[3] = {Real(0.0), Real(0.0), Real(0.0)};
  for (int m = 0; m < chain.length; ++m) {
    const Real root = w.root[chain.dofs[m]], free = root * w.w[chain.dofs[m]];
    for (int r = 0; r < 3; ++r) {
      rows[3 * m + r] *= root;
      sum[r] += rows[3 * m + r] * free;
    }
  }
  const int o = set_offset(s, set);
  for (int r = 0; r < 3; ++r) x.g[o + r] = x.jv[o + r] + sum[r];
}

/// Block of G of two sets over the dofs on which both act.
template <int Rows, int Cols, class Real>
inline void place_block(
    const SetChain& a, const Real* ya, const SetChain& b, const Real* yb, int stride, Real* G) {
  Real sum[Rows * Cols];
  for (int k = 0; k < Rows * Cols; ++k) sum[k] = Real(0.0);
  for (int i = 0, j = 0; i < a.length && j < b.length;) {
    const int ahead = a.dofs[i] - b.dofs[j];
    if (ahead == 0) {
      for (int r = 0; r < Rows; ++r) {
        for (int c = 0; c < Cols; ++c) sum[Cols * r + c] += ya[Rows * i + r] * yb[Cols * j + c];
      }
    }
    i += ahead <= 0;
    j += ahead >= 0;
  }
  for (int r = 0; r < Rows; ++r) {
    for (int c = 0; c < Cols; ++c) G[r * stride + c] = sum[Cols * r + c];
  }
}

/// Block of G of two sets of which one is a place, a cone unless it is the second.
template <class Real>
inline void block_with_place(
    const LaneScene& s, int a, int b, const PackWork<Real>& w, int stride, Real* G) {
  const SetChain chain_a = chain_of(s, a, w), chain_b = chain_of(s, b, w);
  const Real *ya = w.y + set_start(s, a), *yb = w.y + set_start(s, b);
  if (is_cone(s, a))
    place_block<3, 3>(chain_a, ya, chain_b, yb, stride, G);
  else
    place_block<1, 3>(chain_a, ya, chain_b, yb, stride, G);
}

}  // namespace STICTION_ISA
}  // namespace stiction
