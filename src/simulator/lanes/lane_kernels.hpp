#pragma once

#include "simulator/lanes/lane_scene.hpp"

#include <vector>

namespace stiction {

/// Every lane type this processor can run, narrowest first; entry 0 is `double`. All give the same
/// bits.
const std::vector<LaneKernel>& lane_kernels();

}  // namespace stiction
