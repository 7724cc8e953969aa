#include "stiction/contact/residuals.hpp"

#include "scaled_residuals.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// `shifted`: with Gamma(c), else without.
void cone_residual(const Cone& cone,
                   const double* l,
                   const double* c,
                   bool shifted,
                   double& p,
                   double& d,
                   double& q) {
  const double mu = cone.friction(), ct = slip(cone, c);
  const double n = c[cone.normal()] + (shifted ? mu * ct : 0.0);
  p = distance(cone, l);
  d = circular::dual_distance(mu, ct, n);
  double power = l[0] * c[0];
  for (int r = 1; r < cone.normal(); ++r) power += l[r] * c[r];
  q = std::abs(power + l[cone.normal()] * n);
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
    const int dim = problem.sets[i].dim;
    double sum[kMaxSetDim] = {};
    problem.each_column(i, [&](int j, int at) {
      for (int r = 0; r < dim; ++r) sum[r] += std::abs(problem.values[at + r] * lambda[j]);
    });
    for (int r = 0; r < dim; ++r)
      largest = std::max(largest, sum[r] * problem.sets[i].velocity_unit(r));
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

void convex_residual(
    const ConstraintSet& set, const double* l, const double* c, double& p, double& d, double& q) {
  set.is_cone() ? cone_residual(set.friction, l, c, false, p, d, q)
                : set_residual(set, l, c, p, d, q);
}

void set_residual(
    const ConstraintSet& set, const double* l, const double* c, double& p, double& d, double& q) {
  switch (set.kind) {
    case SetKind::kCone:
      cone_residual(set.friction, l, c, true, p, d, q);
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
