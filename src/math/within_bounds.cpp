#include "math/within_bounds.hpp"

#include <cmath>

namespace stiction {

bool within_bounds(const double* x, int n) {
  bool within = true;
  for (int k = 0; k < n; ++k) within &= std::abs(x[k]) < kLargestMotion;
  return within;
}

}  // namespace stiction
