#include "stiction/contact/contact_model.hpp"

#include "stiction/math/constants.hpp"
#include "stiction/math/lanes.hpp"

#include "contact/scaled_residuals.hpp"
#include "math/elementary.hpp"

namespace stiction {
namespace {

SetResidual lcp_residual(const ConstraintSet& set, int facets, const double* l, const double* c) {
  const double mu = set.friction.slope(), radius = mu * std::max(0.0, l[2]);
  const double vertex = 1.0 / cosine(kPi / facets);
  double p = std::max(0.0, -l[2]);
  double support = 0.0;  // of the polygon around the unit disk, in the direction -c_T
  for (int k = 0; k < facets; ++k) {
    const double a = 2.0 * kPi * k / facets, b = a + kPi / facets;
    const double over = cosine(a) * l[0] + sine(a) * l[1] - radius;
    p = std::max(p, over / std::sqrt(1.0 + mu * mu));
    support = std::max(support, -vertex * (cosine(b) * c[0] + sine(b) * c[1]));
  }
  return {p,
          std::max(0.0, -c[2]),
          std::max(std::abs(l[2] * c[2]), std::abs(radius * support + l[0] * c[0] + l[1] * c[1]))};
}

SetResidual raisim_residual(
    const ConstraintSet& set, const double* block, int stride, const double* l, const double* c) {
  const double mu = set.friction.slope(), lt = length(l[0], l[1]), ct = length(c[0], c[1]);
  double q = std::max(std::abs(l[2] * c[2]), std::max(0.0, mu * l[2] - lt) * ct);
  // A sliding point moves against lambda_T + mu^2 lambda_N G_TN / G_NN, eq. (21).
  const double k = block[2 * stride + 2] > 0.0 ? mu * mu * l[2] / block[2 * stride + 2] : 0.0;
  const double x = l[0] + k * block[2 * stride], y = l[1] + k * block[2 * stride + 1];
  const double norm = length(x, y);
  if (norm > 0.0) q = std::max(q, lt * length(c[0] + ct * x / norm, c[1] + ct * y / norm));
  return {distance(set.friction, l), std::max(0.0, -c[2]), std::isfinite(norm) ? q : norm};
}

}  // namespace

const char* to_string(ContactModel model) {
  switch (model) {
    case ContactModel::kNcp:
      return "NCP";
    case ContactModel::kCcp:
      return "CCP";
    case ContactModel::kLcp:
      return "LCP";
    case ContactModel::kRaisim:
      return "RaiSim";
  }
  return "unknown";
}

SetResidual contact_residual(ContactModel model,
                             int facets,
                             const ConstraintSet& set,
                             const double* block,
                             int stride,
                             const double* l,
                             const double* c) {
  switch (model) {
    case ContactModel::kNcp:
      break;
    case ContactModel::kCcp:
      return convex_residual(set, l, c);
    case ContactModel::kLcp:
      return lcp_residual(set, facets, l, c);
    case ContactModel::kRaisim:
      return raisim_residual(set, block, stride, l, c);
  }
  return set_residual(set, l, c);
}

Residuals model_residuals(ContactModel model,
                          int facets,
                          const ContactProblem& problem,
                          const double* lambda,
                          const double* velocity,
                          int first,
                          int last) {
  if (model == ContactModel::kNcp) return residuals_at(problem, lambda, velocity, first, last);
  const auto judge = [&](const ConstraintSet& set, int i, const double* l, const double* c) {
    if (!set.is_cone()) return set_residual(set, l, c);
    const double* block = problem.block(i);
    return contact_residual(model, facets, set, block, ContactProblem::stride(set.dim), l, c);
  };
  return scaled_residuals(problem, lambda, velocity, first, last, judge);
}

}  // namespace stiction
