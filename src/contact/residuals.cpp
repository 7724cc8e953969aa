#include "stiction/contact/residuals.hpp"

#include "scaled_residuals.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// Distance of (t, n) from the cone {t <= k n}, t >= 0 the tangential norm.
double cone_distance(double t, double n, double k) {
  if (n < 0.0 && k * t <= -n) return std::hypot(t, n);  // nearest point is the apex
  if (t <= k * n) return 0.0;
  return (t - k * n) / std::sqrt(1.0 + k * k);
}

void cone_residual(
    const ConstraintSet& set, const double* l, const double* c, double& p, double& d, double& q) {
  const double mu = set.mu;
  const double lt = std::sqrt(l[0] * l[0] + l[1] * l[1]), ct = std::sqrt(c[0] * c[0] + c[1] * c[1]);
  const double n = c[2] + mu * ct;  // c + Gamma
  p = cone_distance(lt, l[2], mu);
  // Dual cone {y_N >= mu ||y_T||}; for mu = 0 it is the half-space y_N >= 0.
  if (n >= mu * ct) {
    d = 0.0;
  } else if (ct <= -mu * n) {
    d = std::hypot(ct, n);
  } else {
    d = (mu * ct - n) / std::sqrt(1.0 + mu * mu);
  }
  q = std::abs(l[0] * c[0] + l[1] * c[1] + l[2] * n);
}

void bound_residual(double c, double room, double& complementarity, double& dual) {
  if (std::isinf(room)) {
    dual = c;
  } else {
    complementarity = c * std::max(0.0, room);
  }
}

}  // namespace

double product_rounding(const ContactProblem& problem, const double* lambda, int first, int last) {
  double largest = 0.0;
  for (int i = first; i < last; ++i) {
    const int dim = problem.sets[i].dim, stride = ContactProblem::stride(dim);
    double sum[kMaxSetDim] = {};
    const double* column = problem.values.data() + problem.panel_start[i];
    for (int k = problem.run_start[i]; k < problem.run_start[i + 1]; ++k) {
      const ContactProblem::Run& run = problem.runs[k];
      for (int c = 0; c < run.count; ++c, column += stride) {
        for (int r = 0; r < dim; ++r) sum[r] += std::abs(column[r] * lambda[run.column + c]);
      }
    }
    largest = std::max(largest, *std::max_element(sum, sum + dim));
  }
  return kSumRounding * largest;
}

void Residuals::merge(const Residuals& other) {
  primal = std::max(primal, other.primal);
  dual = std::max(dual, other.dual);
  complementarity = std::max(complementarity, other.complementarity);
  relative = std::max(relative, other.relative);
  backward = std::max(backward, other.backward);
}

bool on_cone(const ConstraintSet& set, const double* l) {
  return l[2] > 0.0 && std::sqrt(l[0] * l[0] + l[1] * l[1]) >= set.mu * l[2] * (1.0 - 1e-9);
}

void set_residual(
    const ConstraintSet& set, const double* l, const double* c, double& p, double& d, double& q) {
  switch (set.kind) {
    case SetKind::kCone:
      cone_residual(set, l, c, p, d, q);
      return;
    case SetKind::kNonNegative:
      p = std::max(0.0, -l[0]);
      d = std::max(0.0, -c[0]);
      q = std::abs(l[0] * c[0]);
      return;
    case SetKind::kBox:
      // c must vanish inside; its positive part is complementary to l - lower, the negative to
      // upper - l.
      p = std::max({0.0, set.lower - l[0], l[0] - set.upper});
      // An end at infinity is never reached: that part of c is just wrong.
      q = 0.0;
      d = 0.0 * c[0];  // keeps a NaN
      if (c[0] > 0.0) bound_residual(c[0], l[0] - set.lower, q, d);
      if (c[0] < 0.0) bound_residual(-c[0], set.upper - l[0], q, d);
      return;
    case SetKind::kFree:
      p = q = 0.0;
      d = 0.0;
      for (int r = 0; r < set.dim; ++r) d += c[r] * c[r];
      d = std::sqrt(d);
      return;
  }
}

static Residuals judged(const ContactProblem& problem,
                        const double* lambda,
                        const double* velocity,
                        int first,
                        int last,
                        RowSizes* sizes) {
  return scaled_residuals(
      problem,
      lambda,
      velocity,
      first,
      last,
      [](const ConstraintSet& set,
         int,
         const double* l,
         const double* c,
         double& p,
         double& d,
         double& q) { set_residual(set, l, c, p, d, q); },
      sizes);
}

Residuals residuals_at(const ContactProblem& problem,
                       const double* lambda,
                       const double* velocity,
                       int first,
                       int last) {
  return judged(problem, lambda, velocity, first, last, nullptr);
}

Residuals residuals(
    const ContactProblem& problem, const double* lambda, double* velocity, int first, int last) {
  for (int i = first; i < last; ++i) problem.velocity(i, lambda, velocity + problem.sets[i].offset);
  return judged(problem, lambda, velocity, first, last, nullptr);
}

Residuals residuals(const ContactProblem& problem,
                    const double* lambda,
                    double* velocity,
                    int first,
                    int last,
                    RowSizes& sizes) {
  for (int i = first; i < last; ++i) problem.velocity(i, lambda, velocity + problem.sets[i].offset);
  return judged(problem, lambda, velocity, first, last, &sizes);
}

Residuals residuals(const ContactProblem& problem, const double* lambda, double* velocity) {
  Residuals worst;
  for (int k = 0; k < problem.num_islands(); ++k) {
    worst.merge(
        residuals(problem, lambda, velocity, problem.island_start[k], problem.island_start[k + 1]));
  }
  return worst;
}

}  // namespace stiction
