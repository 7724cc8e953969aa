#pragma once

#include "math/elementary.hpp"

#include <algorithm>
#include <cmath>

// The penalty of ADMM from the spectrum of its matrix (Le Lidec et al. 2024, section III-D; the
// rule is from the authors' code): with m and L bounds of the eigenvalues of G + R + eta I,
//
//   rho_0 = sqrt(L m) (L / m)^power,   rho <- rho (L / m)^(+-step) where the primal and the dual
//   residual differ by more than 10.
//
// As published every iteration may change rho and factorise again: a Rule with no holds. A penalty
// that never comes to rest can make the iteration circle; ours are kept for a number of iterations
// that grows with every change, and their residuals have one unit (island_admm.cpp).

namespace stiction {

class SpectralPenalty {
 public:
  struct Rule {
    double power, step;
    double lowest, highest;  ///< rho stays between
    /// Updates that a value is kept for: the first one, and so many more after every change.
    int first_hold = 0, hold = 0;
    double least_factor = 1.0;  ///< of a change
    double first = 1.0;         ///< factor of rho_0
  };
  /// 0 < m <= L. start: rho to begin with, 0: by rule.
  SpectralPenalty(double m, double L, const Rule& rule, double start = 0.0)
      : rho_(start > 0.0 ? start : rule.first * std::sqrt(L * m) * power(L / m, rule.power)),
        factor_(std::max(rule.least_factor, power(L / m, rule.step))),
        lowest_(rule.lowest),
        highest_(rule.highest),
        hold_(rule.first_hold),
        more_(rule.hold) {
    rho_ = std::clamp(rho_, lowest_, highest_);
  }
  double rho() const { return rho_; }

  /// Larger where the impulses are behind, smaller where the velocities are; true if it changed.
  bool update(double primal, double dual) {
    constexpr double kApart = 10.0;
    if (++age_ < hold_) return false;
    const double before = rho_;
    if (primal > kApart * dual) rho_ = std::min(highest_, rho_ * factor_);
    if (dual > kApart * primal) rho_ = std::max(lowest_, rho_ / factor_);
    if (rho_ == before) return false;
    age_ = 0;
    hold_ += more_;
    return true;
  }

 private:
  double rho_, factor_, lowest_, highest_;
  int age_ = 0, hold_, more_;
};

}  // namespace stiction
