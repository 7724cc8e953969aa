#pragma once

#include "stiction/contact/contact_problem.hpp"

namespace stiction {

/// How far impulses are from solving the nonlinear complementarity problem: the certificate. Always
/// from the final impulse with an exact velocity, maximum over the sets, Euclidean.
struct Residuals {
  double primal = 0.0;           ///< dist(lambda, K) [N s]
  double dual = 0.0;             ///< dist(c + Gamma, K*) [m/s]; |c| of bilateral rows
  double complementarity = 0.0;  ///< |<lambda, c + Gamma>| [J]
  double relative = 0.0;         ///< max(primal / L, dual / V, complementarity / (L V)), see below;
                                 ///< infinite if not finite
  double backward = 0.0;  ///< the same with V = max(|g| + diag G |lambda|): 1e-16 is rounding

  /// Nothing more can be had in double, unless the impulses run away: what every solver means by
  /// `rounding_limited`.
  bool rounding_limited() const { return backward <= 1e-12 && relative <= 1e-6; }
  /// The larger of each field.
  void merge(const Residuals& other);
};

/// V is the largest of ContactProblem::velocity_scale and ConstraintSet::opposed() of g, L =
/// max(||lambda||, V / max diag G), infinity norms over the sets [first_set, last_set), angular
/// rows in m/s by their arm. A row of one
/// dimension has no product: it is judged by the velocity that it misses its law by, the smaller of
/// |c| and of G_rr times the room of its impulse. What is within rounding (velocities v, the
/// largest velocity_floor of the sets; impulses v / diag G) counts as zero in `relative` and
/// `backward`. Where rounding may change G lambda by more than V and v, 16 u max_i sum_j |G_ij
/// lambda_j|, velocities tell nothing and `relative` is at least that share, above 1: impulses that
/// run away certify nothing.
Residuals residuals(const ContactProblem& problem,
                    const double* lambda,
                    double* velocity,
                    int first_set,
                    int last_set);
/// Of all islands, each by its own V and L: the worst of each field.
Residuals residuals(const ContactProblem& problem, const double* lambda, double* velocity);
/// The same where `velocity` is G lambda + g already.
Residuals residuals_at(const ContactProblem& problem,
                       const double* lambda,
                       const double* velocity,
                       int first_set,
                       int last_set);

/// Of one set, as the fields of `Residuals`.
struct SetResidual {
  double primal = 0.0, dual = 0.0, complementarity = 0.0;
};
/// Given lambda and c = G lambda + g of its rows.
SetResidual set_residual(const ConstraintSet& set, const double* lambda, const double* c);
/// The same without Gamma(c).
SetResidual convex_residual(const ConstraintSet& set, const double* lambda, const double* c);

}  // namespace stiction
