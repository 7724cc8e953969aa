#pragma once

#include "stiction/math/constants.hpp"
#include "stiction/math/spatial.hpp"

#include <string>

namespace stiction {

/// Throws std::invalid_argument naming `field` unless X is a rotation and a finite position.
void check_rotation(const Transform& X, const std::string& field);

}  // namespace stiction
