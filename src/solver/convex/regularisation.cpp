#include "solver/convex/regularisation.hpp"

#include "stiction/math/constants.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// R_N = weight ||G_ii||_F / (4 pi^2), R_T = 1e-3 R_N.
void contact_norm_rule(const Island& island, double weight, double* R) {
  constexpr double kPeriod = 4.0 * kPi * kPi;
  const ContactProblem& p = island.problem;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    double norm = 0.0;
    if (set.is_cone()) {
      const double* b = p.block(i);
      for (int c = 0; c < set.dim; ++c, b += ContactProblem::stride(set.dim)) {
        double column = b[0] * b[0];
        for (int r = 1; r < set.dim; ++r) column += b[r] * b[r];
        norm += column;
      }
      norm = std::sqrt(norm);
    }
    for (int r = 0; r < set.dim; ++r) {
      const bool pushes = set.is_normal(r);
      const double size = set.is_cone() ? norm : p.diagonal_entry(i, r);
      R[set.offset + r] = weight * (pushes ? 1.0 : 1e-3) * size / kPeriod;
    }
  }
}

}  // namespace

void find_regularisation(const Island& island, const SolverSettings& settings, double* R) {
  const ContactProblem& p = island.problem;
  const double weight = settings.regularisation_weight;
  if (settings.regularisation == RegularisationRule::kGiven) {
    const auto given = settings.given_regularisation.begin();
    std::copy(given + island.begin, given + island.end, R + island.begin);
  } else if (settings.regularisation == RegularisationRule::kContactNorm) {
    contact_norm_rule(island, weight, R);
  } else {
    for (int i = island.first; i < island.last; ++i) {
      for (int r = 0; r < p.sets[i].dim; ++r)
        R[p.sets[i].offset + r] = weight * p.diagonal_entry(i, r);
    }
  }
  const double floor = 1e-12 * mean_diagonal(island);
  for (int r = island.begin; r < island.end; ++r) R[r] = std::max(R[r], floor);
}

}  // namespace stiction
