#pragma once

#include "stiction/math/spatial.hpp"

namespace stiction {

/// Rotation vector of R, angle in [0, pi] [rad].
Vec3d rotation_vector(const Mat3d& R);

}  // namespace stiction
