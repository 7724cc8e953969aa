#pragma once

#include "batch/lane_step.hpp"
#include "dynamics/bias.hpp"
#include "dynamics/constraint_rows.hpp"
#include "dynamics/integrate.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/loose_body.hpp"
#include "dynamics/mass_matrix.hpp"
#include "dynamics/tree_layout.hpp"
#include "solver/common/pgs_kernel.hpp"

// Included once per instruction set; see math/lanes.hpp.

namespace stiction {
inline namespace STICTION_ISA {

/// An array of doubles, entry (i, lane) at [i * W + lane], as one of T.
template <class T>
const T* lanes(const double* x) {
  return as_array<const T>(x);
}
template <class T>
T* lanes(double* x) {
  return as_array<T>(x);
}

template <class Real>
struct LaneWork {
  TreeData<Real> data;
  Real* whitened;         // [nv]
  Real* rows;             // 3 chain-lengths per contact
  Real* scaled;           // D^-1 rows
  Real* delassus;         // [3 n x 3 n] column-major
  Real* g;                // [3 n]
  ConeStep<Real>* steps;  // [n]
};

inline int row_doubles(const TreeView& tree) { return 3 * tree.nv; }

template <class Real>
std::size_t lane_workspace_size(const TreeView& t, int n) {
  constexpr int kStep = reals_in<ConeStep<Real>, Real>();
  const std::size_t reals =
      tree_data_size<Real>(t) + t.nv + n * (2 * row_doubles(t) + 3 + kStep) + 9 * n * n;
  return reals * lane_width<Real>;
}

template <class Real>
LaneWork<Real> carve(const TreeView& t, int n, double* workspace) {
  Arena<Real> arena{lanes<Real>(workspace)};
  LaneWork<Real> w;
  w.data = take_tree_data(t, arena);
  w.whitened = arena.template take<Real>(t.nv);
  w.rows = arena.template take<Real>(n * row_doubles(t));
  w.scaled = arena.template take<Real>(n * row_doubles(t));
  w.delassus = arena.template take<Real>(9 * n * n);
  w.g = arena.template take<Real>(3 * n);
  w.steps = arena.template take<ConeStep<Real>>(n);
  STICTION_ASSERT(reinterpret_cast<double*>(arena.cursor) - workspace ==
                  static_cast<std::ptrdiff_t>(lane_workspace_size<Real>(t, n)));
  return w;
}

template <class Real>
TreeParameters<Real> lane_parameters(const LaneStepArrays& a) {
  return {lanes<RigidTransform<Real>>(a.placement),
          lanes<Vec3<Real>>(a.axis),
          lanes<Real>(a.mass),
          lanes<Vec3<Real>>(a.com),
          lanes<Sym3<Real>>(a.inertia),
          *lanes<RigidTransform<Real>>(a.base),
          *lanes<Vec3<Real>>(a.gravity)};
}

template <class Real>
void lane_dynamics(const TreeView& t, double dt, const LaneStepArrays& a, LaneWork<Real>& w) {
  const TreeParameters<Real> p = lane_parameters<Real>(a);
  forward_kinematics(t, p, lanes<Real>(a.q), lanes<Real>(a.v), w.data);
  body_inertias_and_forces(t, p, w.data);
  if (is_loose_body(t)) {
    loose_body_bias(p, Real(dt), w.data);
  } else {
    bias_forces(t, w.data);
  }
  mass_matrix(t, w.data);
  for (int k = 0; k < t.nv; ++k) {
    w.data.L[t.row[k] + t.depth[k]] += lanes<Real>(a.diagonal)[k];
    w.whitened[k] = Real(dt) * (lanes<Real>(a.force)[k] - w.data.bias[k]);
    lanes<Real>(a.bias)[k] = w.data.bias[k];
  }
  factorise(t, w.data);
  solve_transposed(t, w.data, w.whitened);
  for (int k = 0; k < t.packed_size; ++k) lanes<Real>(a.factor)[k] = w.data.L[k];
}

template <class Real>
void lane_problem(const TreeView& t, int n, const LaneStepArrays& a, LaneWork<Real>& w) {
  const RigidTransform<Real>& X = w.data.X_WR;
  for (int i = 0; i < n; ++i) {
    Real* rows = w.rows + i * row_doubles(t);
    const Vec3<Real>& point = lanes<Vec3<Real>>(a.contact_point)[i];
    const Mat3<Real>& frame = lanes<Mat3<Real>>(a.contact_frame)[i];
    point_rows(t,
               w.data,
               a.contact_dof[i],
               transpose_times(X.R, point - X.p),
               transpose_times(X.R, frame),
               Real(1.0),
               rows);
    Real* g = w.g + 3 * i;
    for (int r = 0; r < 3; ++r) g[r] = Real(0.0);
    rows_times<3>(t, a.contact_dof[i], rows, lanes<Real>(a.v), g);
    whiten_rows<3>(t, w.data, a.contact_dof[i], rows);
    Real* scaled = w.scaled + i * row_doubles(t);
    scale_rows<3>(t, w.data, a.contact_dof[i], rows, scaled);
    rows_times<3>(t, a.contact_dof[i], scaled, w.whitened, g);
    g[2] -= lanes<Real>(a.reference)[i];
  }
  for (int k = 0; k < 9 * n * n; ++k) w.delassus[k] = Real(0.0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const int di = a.contact_dof[i], dj = a.contact_dof[j];
      int common = 0;
      while (common <= t.depth[di] && common <= t.depth[dj] &&
             t.chain[t.row[di] + common] == t.chain[t.row[dj] + common]) {
        ++common;
      }
      Real block[9];
      for (int k = 0; k < 9; ++k) block[k] = Real(0.0);
      delassus_block<3, 3>(
          common, w.rows + i * row_doubles(t), w.scaled + j * row_doubles(t), block, 3);
      for (int c = 0; c < 3; ++c) {
        for (int r = 0; r < 3; ++r) w.delassus[(3 * j + c) * 3 * n + 3 * i + r] = block[3 * c + r];
      }
    }
  }
}

template <class Real>
void lane_velocity(int n, int i, const Real* G, const Real* g, const Real* lambda, Real* c) {
  for (int r = 0; r < 3; ++r) c[r] = g[3 * i + r];
  for (int k = 0; k < 3 * n; ++k) {
    for (int r = 0; r < 3; ++r) c[r] += G[k * 3 * n + 3 * i + r] * lambda[k];
  }
}

template <class Real>
void lane_solve(int n, int sweeps, const LaneStepArrays& a, LaneWork<Real>& w) {
  Real* lambda = lanes<Real>(a.impulse);
  for (int i = 0; i < n; ++i) {
    const Real* b = w.delassus + 3 * i * 3 * n + 3 * i;
    const Real block[6] = {b[0], b[1], b[2], b[3 * n + 1], b[3 * n + 2], b[6 * n + 2]};
    w.steps[i] = cone_step(block, Real(0.0));
  }
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int i = 0; i < n; ++i) {
      Real c[3];
      lane_velocity(n, i, w.delassus, w.g, lambda, c);
      update_cone(w.steps[i], lanes<Real>(a.friction)[i], c, lambda + 3 * i);
    }
  }
  for (int i = 0; i < n; ++i)
    lane_velocity(n, i, w.delassus, w.g, lambda, lanes<Real>(a.velocity) + 3 * i);
}

template <class Real>
void lane_step(
    const TreeView& t, int n, int sweeps, double dt, const LaneStepArrays& a, double* workspace) {
  LaneWork<Real> w = carve<Real>(t, n, workspace);
  lane_dynamics(t, dt, a, w);
  lane_problem(t, n, a, w);
  lane_solve(n, sweeps, a, w);
  for (int i = 0; i < n; ++i) {
    add_impulse<3>(t,
                   a.contact_dof[i],
                   w.rows + i * row_doubles(t),
                   lanes<Real>(a.impulse) + 3 * i,
                   w.whitened);
  }
  solve_scaled_lower(t, w.data, w.whitened);
  Real* v = lanes<Real>(a.v);
  for (int k = 0; k < t.nv; ++k) v[k] += w.whitened[k];
  integrate_configuration(
      t, root_point(t, lane_parameters<Real>(a)), Real(dt), lanes<Real>(a.q), v);
}

}  // namespace STICTION_ISA
}  // namespace stiction
