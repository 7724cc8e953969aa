#pragma once

#include <cstdint>

namespace stiction {

enum class JointType : std::uint8_t {
  kFreeFlyer,   ///< nq 7 (x y z, quaternion x y z w), nv 6 (linear, angular; body frame); root only
  kSpherical,   ///< nq 4 (quaternion x y z w), nv 3 (angular, body frame)
  kRevolute,    ///< nq 1 [rad], nv 1
  kContinuous,  ///< nq 2 (cos, sin), nv 1
  kPrismatic,   ///< nq 1 [m], nv 1
};

}  // namespace stiction
