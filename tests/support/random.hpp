#pragma once

#include "stiction/math/spatial.hpp"

#include <cmath>
#include <cstdint>

// Seeded generator for tests (splitmix64, Steele et al. 2014): the same numbers on every platform,
// which the distributions of <random> do not promise. Functions take it by reference.

namespace stiction::test {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  double uniform(double low, double high) {
    return low + (high - low) * double(bits() >> 11) * 0x1.0p-53;
  }
  int below(int n) { return int(bits() % std::uint64_t(n)); }

 private:
  std::uint64_t state_;
};

inline Vec3d uniform_vector(Rng& rng, double bound) {
  const double x = rng.uniform(-bound, bound), y = rng.uniform(-bound, bound);
  return {x, y, rng.uniform(-bound, bound)};
}

/// Uniform on the sphere.
inline Vec3d unit_vector(Rng& rng) {
  for (;;) {
    const Vec3d v = uniform_vector(rng, 1.0);
    const double n = norm(v);
    if (n > 0.01 && n <= 1.0) return v * (1.0 / n);
  }
}

/// Uniform on SO(3).
inline Mat3d rotation(Rng& rng) {
  for (;;) {
    double q[4], n = 0.0;
    for (double& x : q) {
      x = rng.uniform(-1.0, 1.0);
      n += x * x;
    }
    if (n < 0.01 || n > 1.0) continue;
    for (double& x : q) x /= std::sqrt(n);
    return rotation_from_quaternion(q);
  }
}

inline Transform pose(Rng& rng, double reach) {
  const Mat3d R = rotation(rng);
  return {R, uniform_vector(rng, reach)};
}

/// Rotation by the angle |w| [rad] about w.
inline Mat3d small_rotation(const Vec3d& w) {
  double q[4] = {0, 0, 0, 1};
  integrate_quaternion(q, w);
  return rotation_from_quaternion(q);
}

}  // namespace stiction::test
