#include "stiction/contact/contact_model.hpp"

#include "stiction/math/constants.hpp"

#include "scaled_residuals.hpp"

namespace stiction {
namespace {

void lcp_residual(const ConstraintSet& set,
                  int facets,
                  const double* l,
                  const double* c,
                  double& p,
                  double& d,
                  double& q) {
  const double mu = set.friction.slope(), radius = mu * std::max(0.0, l[2]),
               vertex = 1.0 / std::cos(kPi / facets);
  p = std::max(0.0, -l[2]);
  double support = 0.0;  // of the polygon around the unit disk, in the direction -c_T
  for (int k = 0; k < facets; ++k) {
    const double a = 2.0 * kPi * k / facets, b = a + kPi / facets;
    const double over = std::cos(a) * l[0] + std::sin(a) * l[1] - radius;
    p = std::max(p, over / std::sqrt(1.0 + mu * mu));
    support = std::max(support, -vertex * (std::cos(b) * c[0] + std::sin(b) * c[1]));
  }
  d = std::max(0.0, -c[2]);
  q = std::max(std::abs(l[2] * c[2]), std::abs(radius * support + l[0] * c[0] + l[1] * c[1]));
}

void raisim_residual(const ConstraintSet& set,
                     const double* block,
                     int stride,
                     const double* l,
                     const double* c,
                     double& p,
                     double& d,
                     double& q) {
  set_residual(set, l, c, p, d, q);
  d = std::max(0.0, -c[2]);
  const double mu = set.friction.slope(), lt = std::hypot(l[0], l[1]), ct = std::hypot(c[0], c[1]);
  q = std::max(std::abs(l[2] * c[2]), std::max(0.0, mu * l[2] - lt) * ct);
  // A sliding point moves against lambda_T + mu^2 lambda_N G_TN / G_NN, eq. (21).
  const double k = block[2 * stride + 2] > 0.0 ? mu * mu * l[2] / block[2 * stride + 2] : 0.0;
  const double x = l[0] + k * block[2 * stride], y = l[1] + k * block[2 * stride + 1];
  const double norm = std::hypot(x, y);
  if (norm > 0.0) q = std::max(q, lt * std::hypot(c[0] + ct * x / norm, c[1] + ct * y / norm));
  if (!std::isfinite(norm)) q = norm;
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

void contact_residual(ContactModel model,
                      int facets,
                      const ConstraintSet& set,
                      const double* block,
                      int stride,
                      const double* l,
                      const double* c,
                      double& p,
                      double& d,
                      double& q) {
  switch (model) {
    case ContactModel::kNcp:
      return set_residual(set, l, c, p, d, q);
    case ContactModel::kCcp:
      return convex_residual(set, l, c, p, d, q);
    case ContactModel::kLcp:
      return lcp_residual(set, facets, l, c, p, d, q);
    case ContactModel::kRaisim:
      return raisim_residual(set, block, stride, l, c, p, d, q);
  }
}

Residuals model_residuals(ContactModel model,
                          int facets,
                          const ContactProblem& problem,
                          const double* lambda,
                          const double* velocity,
                          int first,
                          int last) {
  if (model == ContactModel::kNcp) return residuals_at(problem, lambda, velocity, first, last);
  return scaled_residuals(problem,
                          lambda,
                          velocity,
                          first,
                          last,
                          [&](const ConstraintSet& set,
                              int i,
                              const double* l,
                              const double* c,
                              double& p,
                              double& d,
                              double& q) {
                            if (!set.is_cone()) return set_residual(set, l, c, p, d, q);
                            contact_residual(model,
                                             facets,
                                             set,
                                             problem.values.data() + problem.diagonal_start[i],
                                             ContactProblem::stride(set.dim),
                                             l,
                                             c,
                                             p,
                                             d,
                                             q);
                          });
}

}  // namespace stiction
