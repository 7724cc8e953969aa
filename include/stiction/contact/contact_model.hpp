#pragma once

#include "stiction/contact/residuals.hpp"

#include <cstdint>

namespace stiction {

/// The law that a solver asks of the contacts; every other set obeys the same law in all of them.
enum class ContactModel : std::uint8_t {
  kNcp,     ///< Signorini, Coulomb and maximum dissipation: K 3 lambda perp c + Gamma(c) in K*
  kCcp,     ///< its convex relaxation: K 3 lambda perp c in K*
  kLcp,     ///< Signorini; maximum dissipation on a pyramid around the cone
  kRaisim,  ///< Signorini; per sliding contact the least kinetic energy on K with c_N = 0
};
const char* to_string(ContactModel model);

/// How far impulses are from solving a model's own equations, in the units of the certificate, over
/// the sets [first_set, last_set). For kNcp it is residuals_at(). `facets` is used by kLcp only.
///   kCcp     dual = dist(c, K*), complementarity = |<lambda, c>|
///   kLcp     primal = distance to the pyramid with its facet normals at angles 2 pi k / facets
///   from
///            t1; dual = max(0, -c_N); complementarity = max(|lambda_N c_N|, mu lambda_N h(-c_T) +
///            <lambda_T, c_T>), h the support function of the polygon around the unit disk
///   kRaisim  dual = max(0, -c_N); complementarity = max(|lambda_N c_N|, power that a contact could
///            still dissipate: (mu lambda_N - |lambda_T|) |c_T| where it sticks, |lambda_T| times
///            what c_T lacks of the direction of eq. (21) where it slides)
Residuals model_residuals(ContactModel model,
                          int facets,
                          const ContactProblem& problem,
                          const double* lambda,
                          const double* velocity,
                          int first_set,
                          int last_set);

/// The same for one contact: b is its diagonal block, rows `stride` apart.
SetResidual contact_residual(ContactModel model,
                             int facets,
                             const ConstraintSet& set,
                             const double* block,
                             int stride,
                             const double* lambda,
                             const double* c);

}  // namespace stiction
