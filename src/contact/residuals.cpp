#include "stiction/contact/residuals.hpp"

#include "contact/contact_space.hpp"
#include "contact/scaled_residuals.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// Of D rows in one unit. `shifted`: with Gamma(c), else without.
template <int D>
SetResidual circular_residual(double mu, const double* l, const double* c, bool shifted) {
  constexpr int N = D - 1;
  const double ct = circular::tangent<D>(c), n = shifted ? c[N] + mu * ct : c[N];
  double power = l[0] * c[0];
  for (int r = 1; r < N; ++r) power += l[r] * c[r];
  return {circular::distance(mu, circular::tangent<D>(l), l[N]),
          circular::dual_distance(mu, ct, n),
          std::abs(power + l[N] * n)};
}

SetResidual cone_residual(const Cone& cone, const double* l, const double* c, bool shifted) {
  return with_dim(cone.dim, [&](auto D) {
    if (cone.is_circular()) return circular_residual<D>(cone.slope(), l, c, shifted);
    const ConeRows rows(cone, l, c);
    SetResidual out = circular_residual<D>(cone.friction(), rows.l, rows.c, shifted);
    out.primal = distance(cone, l);
    return out;
  });
}

/// c must vanish inside; its positive part is complementary to l - lower, the negative to upper -
/// l. An end at infinity is never reached: that part of c is just wrong.
SetResidual box_residual(const ConstraintSet& set, double l, double c) {
  const double outside = std::max({0.0, set.lower - l, l - set.upper});
  SetResidual out{outside / set.arm, 0.0 * c, 0.0};  // keeps a NaN
  if (c == 0.0 || std::isnan(c)) return out;
  const double room = c > 0.0 ? l - set.lower : set.upper - l, speed = std::abs(c);
  if (std::isinf(room))
    out.dual = speed * set.arm;
  else
    out.complementarity = speed * std::max(0.0, room);
  return out;
}

}  // namespace

RowUnits row_units(const ConstraintSet& set, int row) {
  return {set.velocity_unit(row), set.impulse_unit(row)};
}

double product_rounding(const ContactProblem& problem, const double* lambda, int first, int last) {
  double largest = 0.0;
  for (int i = first; i < last; ++i) {
    if (problem.space.loose(i)) {
      largest = std::max(largest, largest_loose_term(problem, i, last, lambda));
      break;
    }
    const int dim = problem.sets[i].dim;
    double sum[kMaxSetDim] = {};
    problem.each_column(i, [&](int j, const double* column) {
      for (int r = 0; r < dim; ++r) sum[r] += std::abs(column[r] * lambda[j]);
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

SetResidual convex_residual(const ConstraintSet& set, const double* l, const double* c) {
  return set.is_cone() ? cone_residual(set.friction, l, c, false) : set_residual(set, l, c);
}

SetResidual set_residual(const ConstraintSet& set, const double* l, const double* c) {
  switch (set.kind) {
    case SetKind::kCone:
      return cone_residual(set.friction, l, c, true);
    case SetKind::kNonNegative:
      return {
          std::max(0.0, -l[0]) / set.arm, std::max(0.0, -c[0]) * set.arm, std::abs(l[0] * c[0])};
    case SetKind::kBox:
      return box_residual(set, l[0], c[0]);
    case SetKind::kFree:
      break;
  }
  double sum = 0.0;
  for (int r = 0; r < set.dim; ++r) {
    const double speed = c[r] * set.velocity_unit(r);
    sum += speed * speed;
  }
  return {0.0, std::sqrt(sum), 0.0};
}

static Residuals judged(const ContactProblem& problem,
                        const double* lambda,
                        const double* velocity,
                        int first,
                        int last,
                        RowSizes* sizes) {
  const auto judge = [](const ConstraintSet& set, int, const double* l, const double* c) {
    return set_residual(set, l, c);
  };
  return scaled_residuals(problem, lambda, velocity, first, last, judge, sizes);
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
  problem.velocities(first, last, lambda, velocity);
  return judged(problem, lambda, velocity, first, last, nullptr);
}

Residuals residuals(const ContactProblem& problem,
                    const double* lambda,
                    double* velocity,
                    int first,
                    int last,
                    RowSizes& sizes) {
  problem.velocities(first, last, lambda, velocity);
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
