#pragma once

#include "solver/dense/dense_problem.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// What sweeps need of the diagonal blocks.
template <class Real, int Cones>
inline void prepare_sweeps(const DenseShape<Real, Cones>& s, DenseWork<Real>& work) {
  const DenseProblem<Real>& p = s.p;
  const int rows = s.rows(), cones = s.cones();
  Real largest(0.0);
  for (int r = 0; r < rows; ++r) largest = max(largest, p.G[r * (rows + 1)]);
  const Real floor = Real(1e-14) * largest;
  for (int i = 0; i < cones; ++i) {
    const Real* b = p.G + 3 * i * (rows + 1);
    const Real* t = b + rows;
    const Real block[6] = {t[1], t[2], b[1], t[rows + 2], b[2], b[0]};  // xx xy xz yy yz zz
    work.cones[i] = cone_step(block, floor);
  }
  for (int j = 0; j < s.scalars(); ++j)
    work.inverse[j] = safe_inverse(p.G[(3 * cones + j) * (rows + 1)], floor);
}

/// One projected Gauss-Seidel pass over lambda in the lanes of `at`.
template <class Real, int Cones>
inline void dense_sweep(const DenseShape<Real, Cones>& s,
                        const DenseWork<Real>& work,
                        Mask<Real> at,
                        Real* lambda) {
  const DenseProblem<Real>& p = s.p;
  const int rows = s.rows(), cones = s.cones();
  for (int i = 0; i < cones; ++i) {
    Real* own = lambda + 3 * i;
    Real c[3];
    for (int r = 0; r < 3; ++r) c[r] = p.g[3 * i + r];
    const Real* G = p.G + 3 * i * rows;
    for (int k = 0; k < rows; ++k) {
      for (int r = 0; r < 3; ++r) c[r] += G[r * rows + k] * lambda[k];
    }
    const Real in_order[3] = {c[1], c[2], c[0]};
    Real l[3] = {own[1], own[2], own[0]};
    update_cone(work.cones[i], p.mu[i], in_order, l);
    for (int r = 0; r < 3; ++r) own[r] = select(at, l[(r + 2) % 3], own[r]);
  }
  for (int j = 0; j < s.scalars(); ++j) {
    const int row = 3 * cones + j;
    Real c = p.g[row];
    for (int k = 0; k < rows; ++k) c += p.G[row * rows + k] * lambda[k];
    const Real l = min(p.upper[j], max(p.lower[j], lambda[row] - work.inverse[j] * c));
    lambda[row] = select(at, l, lambda[row]);
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
