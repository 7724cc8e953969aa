#pragma once

#include "solver/dense/dense_certificate.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// Residuals (stiction/contact/residuals.hpp) of one problem.
struct DenseResiduals {
  double primal, dual, complementarity, relative, backward;
};

/// Of p.lambda, with its velocity c.
inline DenseResiduals dense_residuals(const DenseProblem<double>& p, const double* c) {
  const DenseShape<double, -1> s{p};
  LargestOfAll x;
  add_sets(s, p.lambda, c, x);
  const Largest<double>& largest = x;
  const double relative = relative_residual(largest, p.floor[0], s.rows());
  return {x.all_primal,
          x.all_dual,
          x.all_complementarity,
          relative,
          relative < infinity<double>() ? scaled_residual(largest, x.made) : relative};
}

}  // namespace STICTION_ISA
}  // namespace stiction
