#include "stiction/batch/counted_random.hpp"

namespace stiction {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> x,
                                    std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kFirst = 0xD2511F53, kSecond = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl[2] = {0x9E3779B9, 0xBB67AE85};
  constexpr int kRounds = 10;
  for (int k = 0; k < kRounds; ++k) {
    const std::uint64_t first = kFirst * x[0], second = kSecond * x[2];
    x = {static_cast<std::uint32_t>(second >> 32) ^ x[1] ^ key[0],
         static_cast<std::uint32_t>(second),
         static_cast<std::uint32_t>(first >> 32) ^ x[3] ^ key[1],
         static_cast<std::uint32_t>(first)};
    key[0] += kWeyl[0];
    key[1] += kWeyl[1];
  }
  return x;
}

void counted_uniform(const RandomPlace& place, int count, double* out) {
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(place.seed),
                                         static_cast<std::uint32_t>(place.seed >> 32)};
  const auto number = [](std::uint32_t high, std::uint32_t low) {
    return (static_cast<double>(high >> 5) * 0x1p26 + static_cast<double>(low >> 6)) * 0x1p-53;
  };
  for (int k = 0; k < count; k += 2) {
    const auto x =
        philox({static_cast<std::uint32_t>(k / 2), place.world, place.episode, place.stream}, key);
    out[k] = number(x[0], x[1]);
    if (k + 1 < count) out[k + 1] = number(x[2], x[3]);
  }
}

}  // namespace stiction
