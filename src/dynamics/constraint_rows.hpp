#pragma once

#include "dynamics/free_root.hpp"

// Rows of J along the chain of one body, packed by ancestor: entry (m, r) at [m * Dim + r] for the
// m-th dof of the chain and row r. Z = L^-T J^T has the same sparsity, so that
// G = J M^-1 J^T = Z^T D^-1 Z needs only the common prefix of two chains.

namespace stiction {
inline namespace STICTION_ISA {

/// J of the velocity of the body's point p, along the columns of `frame` (root axes).
template <class Real>
inline void point_rows(const TreeView& tree,
                       const TreeData<Real>& data,
                       int last_dof,
                       const Vec3<Real>& p,
                       const Mat3<Real>& frame,
                       Real sign,
                       Real* rows) {
  const int* chain = tree.chain + tree.row[last_dof];
  const int length = tree.depth[last_dof] + 1;
  STICTION_ASSERT(chain[length - 1] == last_dof && length >= root_dofs(tree));
  const Mat3<Real> T{frame.c0 * sign, frame.c1 * sign, frame.c2 * sign};
  for (int m = root_point_rows(tree, p, T, rows); m < length; ++m) {
    const Motion<Real>& S = data.S[chain[m]];
    const Vec3<Real> u = transpose_times(T, S.linear + cross(S.angular, p));
    rows[3 * m] = u.x;
    rows[3 * m + 1] = u.y;
    rows[3 * m + 2] = u.z;
  }
}

/// J of the angular velocity of the body along the columns of `frame`.
template <class Real>
inline void angular_rows(const TreeView& tree,
                         const TreeData<Real>& data,
                         int last_dof,
                         const Mat3<Real>& frame,
                         Real sign,
                         Real* rows) {
  const int* chain = tree.chain + tree.row[last_dof];
  for (int m = 0; m <= tree.depth[last_dof]; ++m) {
    const Vec3<Real> u = transpose_times(frame, data.S[chain[m]].angular) * sign;
    rows[3 * m] = u.x;
    rows[3 * m + 1] = u.y;
    rows[3 * m + 2] = u.z;
  }
}

/// out += (rows) x, x indexed by dof: J v, or (D^-1 Z)^T w.
template <int Dim, class Real>
inline void rows_times(
    const TreeView& tree, int last_dof, const Real* rows, const Real* v, Real* out) {
  const int* chain = tree.chain + tree.row[last_dof];
  Real sum[Dim];  // in registers: `out` might be where `rows` are, for all that a compiler knows
  for (int r = 0; r < Dim; ++r) sum[r] = out[r];
  for (int m = 0; m <= tree.depth[last_dof]; ++m) {
    const Real x = v[chain[m]];
    for (int r = 0; r < Dim; ++r) sum[r] += rows[Dim * m + r] * x;
  }
  for (int r = 0; r < Dim; ++r) out[r] = sum[r];
}

/// Whether a point's three rows of J are rounding: arms below 1e-8 radii of gyration of its body,
/// as in the centre of a ball joint, where an arm of 1e-17 m would let an impulse of 1e15 N s ask
/// for a velocity.
template <class Real>
inline Mask<Real> is_in_pivot(
    const TreeView& tree, int last_dof, Real mass, const Sym3<Real>& inertia, const Real* rows) {
  constexpr double kArm = 1e-8;
  const Real zero(0.0), limit = Real(kArm * kArm) * (inertia.xx + inertia.yy + inertia.zz);
  Mask<Real> small = mass > zero;
  for (int k = 3 * tree.depth[last_dof] + 2; k >= 0 && any(small); --k)
    small = small & (rows[k] * rows[k] * mass < limit);
  return small;
}

/// In place: J^T -> Z = L^-T J^T.
template <int Dim, class Real>
inline void whiten_rows(const TreeView& tree,
                        const TreeData<Real>& data,
                        int last_dof,
                        Real* rows) {
  const int* chain = tree.chain + tree.row[last_dof];
  for (int m = tree.depth[last_dof]; m > 0; --m) {
    const Real* l = data.L + tree.row[chain[m]];
    const Real* z = rows + Dim * m;
    for (int i = 0; i < m; ++i) {
      for (int r = 0; r < Dim; ++r) rows[Dim * i + r] -= l[i] * z[r];
    }
  }
}

/// scaled = D^-1 Z.
template <int Dim, class Real>
inline void scale_rows(const TreeView& tree,
                       const TreeData<Real>& data,
                       int last_dof,
                       const Real* rows,
                       Real* scaled) {
  const int* chain = tree.chain + tree.row[last_dof];
  for (int m = 0; m <= tree.depth[last_dof]; ++m) {
    const Real d = data.D_inverse[chain[m]];
    for (int r = 0; r < Dim; ++r) scaled[Dim * m + r] = d * rows[Dim * m + r];
  }
}

/// w += Z lambda.
template <int Dim, class Real>
inline void add_impulse(
    const TreeView& tree, int last_dof, const Real* rows, const Real* lambda, Real* w) {
  const int* chain = tree.chain + tree.row[last_dof];
  for (int m = 0; m <= tree.depth[last_dof]; ++m) {
    Real sum = rows[Dim * m] * lambda[0];
    for (int r = 1; r < Dim; ++r) sum += rows[Dim * m + r] * lambda[r];
    w[chain[m]] += sum;
  }
}

/// block(r, c) at [c * stride + r] += Z_a^T (D^-1 Z_b) over the first `common` dofs of both chains.
template <int Rows, int Cols, class Real>
inline void delassus_block(
    int common, const Real* za, const Real* scaled_b, Real* block, int stride) {
  STICTION_ASSERT(common >= 0 && stride >= Rows);
  // Few sums: even and odd dofs apart, since one chain of additions is bound by its latency. Nine
  // sums fill the registers as they are.
  constexpr bool kSplit = Rows * Cols <= 3;
  Real sum[Rows * Cols], odd[Rows * Cols];
  for (int k = 0; k < Rows * Cols; ++k) sum[k] = odd[k] = Real(0.0);
  int m = 0;
  for (; kSplit && m + 1 < common; m += 2) {
    for (int c = 0; c < Cols; ++c) {
      const Real x = scaled_b[Cols * m + c], y = scaled_b[Cols * (m + 1) + c];
      for (int r = 0; r < Rows; ++r) {
        sum[Rows * c + r] += za[Rows * m + r] * x;
        odd[Rows * c + r] += za[Rows * (m + 1) + r] * y;
      }
    }
  }
  for (; m < common; ++m) {
    for (int c = 0; c < Cols; ++c) {
      for (int r = 0; r < Rows; ++r) sum[Rows * c + r] += za[Rows * m + r] * scaled_b[Cols * m + c];
    }
  }
  for (int c = 0; c < Cols; ++c) {
    for (int r = 0; r < Rows; ++r) block[stride * c + r] += sum[Rows * c + r] + odd[Rows * c + r];
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
