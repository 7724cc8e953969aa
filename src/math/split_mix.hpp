#pragma once

#include <cstdint>

namespace stiction {

/// SplitMix64 (Steele, Lea, Flood 2014): numbers in [0, 1) that are the same on every machine.
struct SplitMix {
  std::uint64_t state;

  double operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
};

}  // namespace stiction
