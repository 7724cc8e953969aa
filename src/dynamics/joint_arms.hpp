#pragma once

#include "stiction/model/scene.hpp"

#include <vector>

namespace stiction {

/// [nv, m] Lengths that make velocities of angular dofs m/s: the root mean square distance, from the
/// joint's origin, of all mass that the joint carries, at the neutral configuration and with the
/// scene's own parameters. It is at least a hundredth of that of its whole tree. 1 of dofs that
/// slide, of those of free-flyers, and where there is no mass.
std::vector<double> joint_arms(const Scene& scene);

}  // namespace stiction
