#pragma once

#include "dynamics/free_root.hpp"
#include "model/joint.hpp"

// The joint-space mass matrix in branch-sparse packed rows and its factorisation M = L^T D L, which
// has no fill-in when dofs are eliminated from the leaves (Featherstone, Rigid Body Dynamics
// Algorithms, 2008, section 6.5 and table 6.2, 6.3).

namespace stiction {
inline namespace STICTION_ISA {

/// Composite-rigid-body algorithm on packed rows: data.L <- M. Destroys body inertias (composite).
template <class Real>
inline void mass_matrix(const TreeView& tree, TreeData<Real>& data) {
  for (int b = tree.num_bodies - 1; b >= root_bodies(tree); --b) {
    const Inertia<Real>& I = data.inertia[b];
    const int j0 = tree.v_index[b];
    for (int j = j0; j < j0 + joint_nv(tree.joint[b]); ++j) {
      const Force<Real> F = I * data.S[j];
      Real* row = data.L + tree.row[j];
      const int* chain = tree.chain + tree.row[j];
      for (int m = root_products(tree, F, row); m <= tree.depth[j]; ++m)
        row[m] = dot(data.S[chain[m]], F);
    }
    const int p = tree.parent[b];
    if (p >= 0) data.inertia[p] = data.inertia[p] + I;
  }
  root_inertia(tree, data.inertia[0], data.L);
}

/// L, D of M = L^T D L in place; D_inverse. The diagonal of L is left holding D.
template <class Real>
inline void factorise(const TreeView& tree, TreeData<Real>& data) {
  for (int k = tree.nv - 1; k >= 0; --k) {
    Real* row_k = data.L + tree.row[k];
    const int* chain = tree.chain + tree.row[k];
    const int d = tree.depth[k];
    STICTION_ASSERT(chain[d] == k);
    const Real inverse = Real(1.0) / row_k[d];
    data.D_inverse[k] = inverse;
    for (int i = d - 1; i >= 0; --i) {
      const Real a = row_k[i] * inverse;
      Real* row_i = data.L + tree.row[chain[i]];
      for (int m = 0; m <= i; ++m) row_i[m] -= a * row_k[m];
      row_k[i] = a;
    }
  }
}

/// x <- L^-T x, x indexed by dof.
template <class Real>
inline void solve_transposed(const TreeView& tree, const TreeData<Real>& data, Real* x) {
  // The dofs of a free root are in every chain: they stay in registers.
  const int root = root_dofs(tree);
  Real base[kRootDofs];
  for (int m = 0; m < root; ++m) base[m] = x[m];
  for (int k = tree.nv - 1; k >= root; --k) {
    const Real* row = data.L + tree.row[k];
    const int* chain = tree.chain + tree.row[k];
    const Real xk = x[k];
    if (root > 0) {
      for (int m = 0; m < kRootDofs; ++m) base[m] -= row[m] * xk;
    }
    for (int m = root; m < tree.depth[k]; ++m) x[chain[m]] -= row[m] * xk;
  }
  for (int k = root - 1; k >= 0; --k) {
    const Real* row = data.L + tree.row[k];
    for (int m = 0; m < k; ++m) base[m] -= row[m] * base[k];
    x[k] = base[k];
  }
}

/// x <- L^-1 x.
template <class Real>
inline void solve_lower(const TreeView& tree, const TreeData<Real>& data, Real* x) {
  const int root = root_dofs(tree);
  Real base[kRootDofs];
  for (int k = 0; k < root; ++k) {
    const Real* row = data.L + tree.row[k];
    Real sum = x[k];
    for (int m = 0; m < k; ++m) sum -= row[m] * base[m];
    x[k] = base[k] = sum;
  }
  for (int k = root; k < tree.nv; ++k) {
    const Real* row = data.L + tree.row[k];
    const int* chain = tree.chain + tree.row[k];
    Real sum = x[k];
    if (root > 0) {
      for (int m = 0; m < kRootDofs; ++m) sum -= row[m] * base[m];
    }
    for (int m = root; m < tree.depth[k]; ++m) sum -= row[m] * x[chain[m]];
    x[k] = sum;
  }
}

/// x <- L^-1 D^-1 x, the second half of M^-1 = L^-1 D^-1 L^-T.
template <class Real>
inline void solve_scaled_lower(const TreeView& tree, const TreeData<Real>& data, Real* x) {
  for (int k = 0; k < tree.nv; ++k) x[k] *= data.D_inverse[k];
  solve_lower(tree, data, x);
}

}  // namespace STICTION_ISA
}  // namespace stiction
