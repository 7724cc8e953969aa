#pragma once

#include "solver/dense/dense_problem.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// What sweeps need of the diagonal blocks.
template <class Real, int Cones>
inline void prepare_sweeps(const DenseShape<Real, Cones>& s, DenseWork<Real>& work) {
  const DenseProblem<Real>& p = s.p;
  const int rows = s.rows(), cones = s.cones(), stride = s.stride();
  const Real zero(0.0);
  Real largest(0.0);
  for (int r = 0; r < rows; ++r) largest = max(largest, p.G[r * (stride + 1)]);
  const Real floor = Real(1e-14) * largest;
  for (int i = 0; i < cones; ++i) {
    const Real* b = p.G + 3 * i * (stride + 1);
    const Real* t = b + stride;
    Real block[6] = {t[1], t[2], b[1], t[stride + 2], b[2], b[0]};  // xx xy xz yy yz zz
    if (work.compliance > 0.0) {
      block[0] += work.compliance_of(3 * i + 1);
      block[3] += work.compliance_of(3 * i + 2);
      block[5] += work.compliance_of(3 * i);
    }
    work.cones[i] = cone_step(block, floor);
  }
  for (int j = 0; j < s.scalars(); ++j) {
    const int r = 3 * cones + j;
    Real diagonal = p.G[r * (stride + 1)];
    if (work.compliance > 0.0)
      diagonal = select(diagonal > zero, diagonal + work.compliance_of(r), zero);
    work.inverse[j] = safe_inverse(diagonal, floor);
  }
}

/// c += of `Rows` columns of G from `first` on, those of a set, for the changes of its impulses.
template <int Rows, class Real, int Cones>
inline void add_change(const DenseShape<Real, Cones>& s, int first, const Real* change, Real* c) {
  const int stride = s.stride();
  const Real* G = s.p.G + first * stride;
  if constexpr (lane_width<Real> == 1) {
    if (is_never_packed(s.rows())) {  // most rows hold still
      double sum = 0.0;
      for (int r = 0; r < Rows; ++r) sum += abs(change[r]);
      if (sum == 0.0) return;
    }
    for (int k = 0; k < stride; k += kWide) {
      Wide sum = wide(G + k) * change[0];
      for (int r = 1; r < Rows; ++r) sum += wide(G + r * stride + k) * change[r];
      wide(c + k) += sum;
    }
  } else {
    for (int k = 0; k < s.rows(); ++k) {
      Real sum = G[k] * change[0];
      for (int r = 1; r < Rows; ++r) sum += G[r * stride + k] * change[r];
      c[k] += sum;
    }
  }
}

/// One projected Gauss-Seidel pass over lambda, whose velocity is c, in the lanes of `at`.
template <class Real, int Cones>
inline void dense_sweep(const DenseShape<Real, Cones>& s,
                        const DenseWork<Real>& work,
                        Mask<Real> at,
                        Real* lambda,
                        Real* c) {
  const DenseProblem<Real>& p = s.p;
  const int cones = s.cones();
  const Real zero(0.0);
  for (int i = 0; i < cones; ++i) {
    Real *own = lambda + 3 * i, *of_c = c + 3 * i, change[3];
    const Real in_order[3] = {of_c[1], of_c[2], of_c[0]};
    Real l[3] = {own[1], own[2], own[0]};
    update_cone(work.cones[i], p.mu[i], in_order, l);
    for (int r = 0; r < 3; ++r) {
      const Real next = l[(r + 2) % 3];
      change[r] = select(at, next - own[r], zero);
      own[r] = select(at, next, own[r]);
    }
    add_change<3>(s, 3 * i, change, c);
    if (work.compliance > 0.0) {
      for (int r = 0; r < 3; ++r) of_c[r] += work.compliance_of(3 * i + r) * change[r];
    }
  }
  for (int j = 0; j < s.scalars(); ++j) {
    const int row = 3 * cones + j;
    const Real l = min(p.upper[j], max(p.lower[j], lambda[row] - work.inverse[j] * c[row]));
    const Real change = select(at, l - lambda[row], zero);
    lambda[row] = select(at, l, lambda[row]);
    add_change<1>(s, row, &change, c);
    if (work.compliance > 0.0) c[row] += work.compliance_of(row) * change;
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
