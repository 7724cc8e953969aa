#pragma once

#include <algorithm>
#include <cmath>

// The penalty of ADMM from the spectrum of its matrix (Le Lidec et al. 2024, section III-D; the
// rule is from the authors' code): with m and L bounds of the eigenvalues of G + R + eta I,
//
//   rho_0 = sqrt(L m) (L / m)^0.4,   rho <- rho (L / m)^(+-0.1) where the primal and the dual
//   residual differ by more than 10.
//
// Deviations. The published ratio compares N s with m/s; here each residual is relative to its own
// scale, so that units do not matter. Published, every iteration may change rho and factorise
// again; here it is kept for a number of iterations that grows with every change.

namespace stiction {

class SpectralPenalty {
 public:
  /// m, L: bounds of the eigenvalues, 0 < m <= L. start: rho to begin with, 0: by rule.
  SpectralPenalty(double m, double L, double start)
      : rho_(start > 0.0 ? start : std::sqrt(L * m) * std::pow(L / m, 0.4)),
        factor_(std::pow(L / m, 0.1)),
        lowest_(1e-9 * L),
        highest_(1e9 * L) {
    rho_ = std::clamp(rho_, lowest_, highest_);
  }
  double rho() const { return rho_; }

  /// From the relative residuals of an iteration.
  void update(double primal, double dual) {
    if (++age_ < hold_) return;
    const double before = rho_;
    if (primal > 10.0 * dual) rho_ = std::min(highest_, rho_ * factor_);
    if (dual > 10.0 * primal) rho_ = std::max(lowest_, rho_ / factor_);
    if (rho_ == before) return;
    age_ = 0;
    hold_ += kHold;
  }

 private:
  static constexpr int kHold = 4;  // iterations, more by as many after every change
  double rho_, factor_, lowest_, highest_;
  int age_ = 0, hold_ = kHold;
};

}  // namespace stiction
