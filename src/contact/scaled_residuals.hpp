#pragma once

#include "stiction/contact/residuals.hpp"
#include "stiction/math/constants.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

/// What an impulse is divided and a velocity multiplied by, to be in N s and m/s. It is not in
/// line, so that circular cones do not pay for it.
struct RowUnits {
  double velocity = 1.0, impulse = 1.0;
};
RowUnits row_units(const ConstraintSet& set, int row);

/// Whether a set's complementarity q [J] is above rounding, given that of its velocities and
/// `diagonal`, the largest of its block: an impulse is known to floor / diagonal, the product of
/// both to what either makes of it.
inline bool above_rounding(const ConstraintSet& set,
                           double floor,
                           double diagonal,
                           const double* lambda,
                           const double* c,
                           double q) {
  double l_size = 0.0, c_size = 0.0;
  const bool plain = set.in_one_unit();
  for (int r = 0; r < set.dim; ++r) {
    const RowUnits unit = plain ? RowUnits{} : row_units(set, r);
    l_size += std::abs(lambda[r]) / unit.impulse;
    c_size += std::abs(c[r]) * unit.velocity;
  }
  // Gamma = f ||c_T||
  if (set.is_cone()) {
    const double f = set.friction.friction();
    l_size += f * std::abs(lambda[set.friction.normal()]);
    c_size *= 1.0 + f;
  }
  return !(q * diagonal <= floor * (l_size * diagonal + c_size));
}

/// 16 u max_i sum_j |G_ij lambda_j| over the sets [first, last): what rounding may do to G lambda
/// [m/s].
double product_rounding(const ContactProblem& problem, const double* lambda, int first, int last);

/// product_rounding() in parts of the velocities `known` if it exceeds them, at most 1e100; else 0.
/// `largest` is max G_ii max G_jj lambda_j^2, no less than any (G_ij lambda_j)^2: it tells cheaply
/// that nothing is lost.
inline double lost_in_rounding(const ContactProblem& problem,
                               const double* lambda,
                               int first,
                               int last,
                               double known,
                               double largest) {
  const ConstraintSet& end = problem.sets[last - 1];
  const int rows = end.offset + end.dim - problem.sets[first].offset;
  const double enough = known / (kSumRounding * rows);
  if (largest <= enough * enough) return 0.0;
  const double rounding = product_rounding(problem, lambda, first, last);
  return rounding > known ? std::min(rounding / known, 1e100) : 0.0;
}

/// Of the rows that residuals were taken of, if they are finite.
struct RowSizes {
  double velocity = 0.0;     ///< max of ConstraintSet::opposed() [m/s]
  double made = kInfinity;   ///< max opposed + G_rr |lambda_r| [m/s]
  double whole = kInfinity;  ///< `relative` with what is within rounding
};

/// residuals() that says these too.
Residuals residuals(const ContactProblem& problem,
                    const double* lambda,
                    double* velocity,
                    int first,
                    int last,
                    RowSizes& sizes);

/// The largest of some rows, in N s and m/s.
struct LargestRows {
  double total = 0.0;    ///< of everything: a maximum drops a NaN, a sum keeps it
  double opposed = 0.0;  ///< ConstraintSet::opposed() of g
  double lambda = 0.0, made = 0.0, energy = 0.0;  ///< made: opposed + G_rr |lambda_r|
};

/// The rows of set i; returns the largest of its diagonal. Dim = 3: a contact whose rows have one
/// unit, unrolled; 0: any set.
template <int Dim>
inline double add_rows(const ContactProblem& problem,
                       int i,
                       const double* lambda,
                       const double* c,
                       LargestRows& size) {
  const ConstraintSet& set = problem.sets[i];
  const double* block = problem.block(i);
  const int dim = Dim > 0 ? Dim : set.dim, stride = ContactProblem::stride(dim);
  const bool plain = Dim > 0 || set.in_one_unit();
  double own_diag = 0.0;
  for (int r = 0; r < dim; ++r) {
    const double at_rest = problem.g[set.offset + r];
    double g = std::abs(at_rest), l = std::abs(lambda[set.offset + r]);
    double opposed = set.opposed(at_rest);
    double diag = block[stride * r + r];
    size.total += g + l + std::abs(c[r]);
    if (!plain) {
      const RowUnits unit = row_units(set, r);
      g *= unit.velocity;
      opposed *= unit.velocity;
      diag *= unit.velocity * unit.velocity;
      l /= unit.impulse;
    }
    own_diag = std::max(own_diag, diag);
    size.opposed = std::max(size.opposed, opposed);
    size.lambda = std::max(size.lambda, l);
    size.made = std::max(size.made, opposed + diag * l);
    size.energy = std::max(size.energy, diag * l * l);
  }
  return own_diag;
}

/// Velocity by which a row of one dimension misses its law, given q = |c| room, its room in the
/// set times its velocity [J], and its diagonal. One of both factors is zero in a solution: the
/// distance is the smaller of |c| and of the velocity that the room is worth, G_rr room. A product
/// would not do: dry friction leaves an impulse far more room than what moves needs.
inline double row_violation(const ConstraintSet& set, double diagonal, double c, double q) {
  const double speed = std::abs(c) * set.arm;
  return std::min(speed, diagonal * (q / speed));
}

/// Residuals over the sets [first, last), sizes of rows in N s and m/s, each set judged by
/// judge(set, index, lambda, c) -> SetResidual.
template <class Judge>
Residuals scaled_residuals(const ContactProblem& problem,
                           const double* lambda,
                           const double* velocity,
                           int first,
                           int last,
                           Judge&& judge,
                           RowSizes* sizes = nullptr) {
  Residuals out;
  double primal = 0.0, dual = 0.0, complementarity = 0.0;  // above rounding
  double all_dual = 0.0, of_cones = 0.0;                   // all of them, as `relative` has them
  double floor = 0.0;  // sets that act on each other share it, as they share V
  if (!problem.velocity_floor.empty()) {
    for (int i = first; i < last; ++i) floor = std::max(floor, problem.velocity_floor[i]);
  }
  LargestRows size;
  double diag_max = 0.0;
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = problem.sets[i];
    const double* c = velocity + set.offset;
    auto [p, d, q] = judge(set, i, lambda + set.offset, c);
    size.total += p + d + q;
    out.primal = std::max(out.primal, p);
    out.dual = std::max(out.dual, d);
    out.complementarity = std::max(out.complementarity, q);
    const double own_diag = set.dim == 3 && set.in_one_unit()
                                ? add_rows<3>(problem, i, lambda, c, size)
                                : add_rows<0>(problem, i, lambda, c, size);
    diag_max = std::max(diag_max, own_diag);
    if (set.dim == 1) {
      const bool outside = set.kind == SetKind::kNonNegative && !(c[0] > 0.0 && p == 0.0);
      if (q > 0.0 && !outside) d = std::max(d, row_violation(set, own_diag, c[0], q));
      q = 0.0;
    }
    all_dual = std::max(all_dual, d);
    of_cones = std::max(of_cones, q);
    const double least = own_diag > 0.0 ? floor : 0.0;
    if (d > dual && !(d <= least)) dual = d;
    if (p > primal && !(p * own_diag <= least && least > 0.0)) primal = p;
    if (q > complementarity &&
        (least == 0.0 || above_rounding(set, least, own_diag, lambda + set.offset, c, q)))
      complementarity = q;
  }
  if (!std::isfinite(size.total)) {
    out.relative = out.backward = kInfinity;
    return out;
  }
  if (sizes != nullptr) *sizes = {size.opposed, size.made, 0.0};
  const double least_V = std::max(size.opposed, problem.velocity_scale);
  // No scale: only bounds that exclude 0 can be violated.
  if (least_V == 0.0 && size.lambda == 0.0) {
    out.relative = out.backward = primal > 0.0 ? 1.0 : 0.0;
    return out;
  }
  const double L = std::max(size.lambda, diag_max > 0.0 ? least_V / diag_max : 0.0);
  const auto ratio = [](double x, double scale) { return x == 0.0 ? 0.0 : x / scale; };
  const auto scaled = [&](double p, double d, double q, double v) {
    return std::max({ratio(p, L), ratio(d, v), ratio(ratio(q, L), v)});
  };
  const double V = least_V > 0.0 ? least_V : size.made;
  out.relative = scaled(primal, dual, complementarity, V);
  out.backward = scaled(primal, dual, complementarity, std::max(V, size.made));
  if (sizes != nullptr) sizes->whole = scaled(out.primal, all_dual, of_cones, V);
  const double lost =
      lost_in_rounding(problem, lambda, first, last, std::max(V, floor), diag_max * size.energy);
  out.relative = std::max(out.relative, lost);
  return out;
}

}  // namespace stiction
