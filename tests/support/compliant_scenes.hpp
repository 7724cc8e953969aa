#pragma once

#include "stiction/simulator/simulator.hpp"

#include <string>
#include <vector>

// What the tests of compliant contact share.

namespace stiction::test {

inline constexpr double kGravity = 9.81;

/// Names of all integrators with compliant contacts.
const std::vector<std::string>& compliant_integrators();

SimulatorSettings settings(const std::string& integrator, double dt);

Transform at(double x, double y, double z);
Mat3d about_y(double angle);

/// A body of friction 1 on the ground.
Scene body_on_ground(const Shape& shape,
                     double mass,
                     double height,
                     const Material& ground,
                     const Mat3d& R = Mat3d::identity());

}  // namespace stiction::test
