#pragma once

#include <array>
#include <cstdint>

namespace stiction {

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// What random numbers are for; nothing else has a say in them.
struct RandomPlace {
  std::uint64_t seed;
  std::uint32_t world, episode;
  std::uint32_t stream = 0;
};
/// `count` numbers in [0, 1) of 53 bits each.
void counted_uniform(const RandomPlace& place, int count, double* out);

}  // namespace stiction
