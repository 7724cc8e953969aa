#pragma once

#include "stiction/math/constants.hpp"

#include "math/elementary.hpp"

#include <cmath>
#include <cstdint>

namespace stiction::detail {

/// Independent standard normal numbers by pairs: splitmix64 (Steele et al. 2014), Box and Muller.
class NormalSamples {
 public:
  explicit NormalSamples(std::uint64_t seed) : state_(seed) {}
  struct Two {
    double x, y;
  };
  Two next() {
    const double r = std::sqrt(-2.0 * logarithm(uniform())), angle = 2.0 * kPi * uniform();
    return {r * cosine(angle), r * sine(angle)};
  }

 private:
  double uniform() {  // in (0, 1]
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<double>(((z ^ (z >> 31)) >> 11) + 1) * 0x1.0p-53;
  }
  std::uint64_t state_;
};

}  // namespace stiction::detail
