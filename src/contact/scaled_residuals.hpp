#pragma once

#include "stiction/contact/residuals.hpp"
#include "stiction/math/constants.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

/// Residuals over the sets [first, last), each judged by judge(set, index, lambda, c, primal, dual,
/// complementarity).
template <class Judge>
Residuals scaled_residuals(const ContactProblem& problem,
                           const double* lambda,
                           const double* velocity,
                           int first,
                           int last,
                           Judge&& judge) {
  Residuals out;
  double total = 0.0;  // a maximum drops a NaN, a sum keeps it
  double g_max = 0.0, lambda_max = 0.0, diag_max = 0.0, abs_max = 0.0;
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = problem.sets[i];
    const double* c = velocity + set.offset;
    double p, d, q;
    judge(set, i, lambda + set.offset, c, p, d, q);
    total += p + d + q;
    out.primal = std::max(out.primal, p);
    out.dual = std::max(out.dual, d);
    out.complementarity = std::max(out.complementarity, q);
    const double* block = problem.values.data() + problem.diagonal_start[i];
    const int s = ContactProblem::stride(set.dim);
    for (int r = 0; r < set.dim; ++r) {
      const double g = std::abs(problem.g[set.offset + r]), l = std::abs(lambda[set.offset + r]);
      total += g + l + std::abs(c[r]);
      diag_max = std::max(diag_max, block[s * r + r]);
      g_max = std::max(g_max, g);
      lambda_max = std::max(lambda_max, l);
      abs_max = std::max(abs_max, g + block[s * r + r] * l);
    }
  }
  if (!std::isfinite(total)) {
    out.relative = out.backward = kInfinity;
    return out;
  }
  if (g_max == 0.0 && lambda_max == 0.0) {  // no scale: only bounds that exclude 0 can be violated
    out.relative = out.backward = out.primal > 0.0 ? 1.0 : 0.0;
    return out;
  }
  const double L = std::max(lambda_max, diag_max > 0.0 ? g_max / diag_max : 0.0);
  const auto ratio = [](double x, double scale) { return x == 0.0 ? 0.0 : x / scale; };
  const auto scaled = [&](double v) {
    return std::max({ratio(out.primal, L), ratio(out.dual, v), ratio(out.complementarity, L * v)});
  };
  out.relative = scaled(g_max > 0.0 ? g_max : abs_max);
  out.backward = scaled(abs_max);
  return out;
}

}  // namespace stiction
