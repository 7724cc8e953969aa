#pragma once

#include "solver/common/island.hpp"
#include "solver/first_order/spectral_penalty.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

struct StaggeredWork {
  Buffer<double> blocks, best;
  Buffer<int> rows;
};

/// One of the two convex problems of staggered projections, by ADMM: min 1/2 x' G x + g' x over
/// some rows of an island, `pairs` pairs of them in sections of a cone, the others in intervals.
///   x     <- (G + rho + eta)^-1 (rho z + eta x - g - gamma)
///   z     <- projection of alpha x + (1 - alpha) z + gamma / rho
///   gamma <- gamma + rho (alpha x + (1 - alpha) z_old - z)
/// Unbounded rows have rho = gamma = 0: the first line solves them. z, gamma = -(G x + g), the
/// penalty and its factor are kept from call to call.
class BlockAdmm {
 public:
  static std::size_t doubles(std::size_t n) { return 2 * n * n + 10 * n; }
  /// The pairs come first.
  BlockAdmm(Scratch& scratch, int rows, int pairs);

  // Filled by the owner: G and the intervals before start(), the others before solve().
  Scratch::Matrix G;
  Scratch::Vector lower, upper, radius, g, z, gamma;
  int rows() const { return rows_; }

  /// Penalty and factor. eta bounds the eigenvalues of G + eta from below.
  void start(double eta, double over_relaxation, int& factorisations);

  struct Goal {
    double tolerance;                      ///< on both residuals, relative to
    double impulse_scale, velocity_scale;  ///< |x - z| and |G x + g + gamma|
    int max_iterations;
  };
  template <class Section>
  void solve(const Section& section, const Goal& goal, int& factorisations) {
    constexpr int kBalanceEvery = 10;  // a factor costs many iterations
    x_ = z;
    for (int k = 1; k <= goal.max_iterations; ++k) {
      minimise();
      for (int i = 0; i < pairs_; ++i) section.project(radius[i], z.data() + 2 * i);
      for (int r = 2 * pairs_; r < rows_; ++r) z[r] = std::min(upper[r], std::max(lower[r], z[r]));
      const Gap gap = update_multiplier();
      const double primal = gap.primal / goal.impulse_scale, dual = gap.dual / goal.velocity_scale;
      if (std::max(primal, dual) <= goal.tolerance) return;
      if (k % kBalanceEvery == 0 && penalty_.update(primal, dual)) factorise(factorisations);
    }
  }

 private:
  struct Gap {
    double primal = 0.0, dual = 0.0;
  };
  bool bounded(int r) const {
    return r < 2 * pairs_ || std::isfinite(lower[r]) || std::isfinite(upper[r]);
  }
  void factorise(int& factorisations);
  /// x, and what is to be projected in z.
  void minimise();
  Gap update_multiplier();

  int rows_, pairs_;
  Scratch::Matrix factor_;
  Scratch::Vector x_, x_old_, z_old_, relaxed_;
  double eta_ = 0.0, alpha_ = 1.0;
  SpectralPenalty penalty_{1.0, 1.0, {}};
};

}  // namespace stiction
