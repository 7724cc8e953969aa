#pragma once

#include "stiction/math/lanes.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// What the rows of an island with impacts do on its free motion, see impact_law.cpp: the work
/// W = lambda^T J v_free + lambda^T G lambda / 2, and what it may be.
struct ImpactEnergy {
  double work = 0.0, square = 0.0, allowed = 0.0;

  /// pushed: (G lambda) of the row.
  void add_row(double impulse, double g, double reference, double pushed) {
    work += impulse * (g + reference + 0.5 * pushed);
    square += impulse * pushed;
  }
  /// Above zero: energy is gained.
  double gain() const {
    constexpr double kRounding = 1e-10;  // of lambda^T G lambda, in W
    return work - allowed - kRounding * square;
  }
};

}  // namespace STICTION_ISA
}  // namespace stiction
