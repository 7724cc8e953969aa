#include "compliant_scenes.hpp"

#include "simulator/integrators.hpp"

#include <cmath>

namespace stiction::test {

const std::vector<std::string>& compliant_integrators() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const IntegratorEntry& entry : integrators())
      if (entry.compliant) all.push_back(entry.name);
    return all;
  }();
  return names;
}

SimulatorSettings settings(const std::string& integrator, double dt) {
  SimulatorSettings s;
  s.integrator = integrator;
  s.dt = dt;
  return s;
}

Transform at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

Mat3d about_y(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {{c, 0, -s}, {0, 1, 0}, {s, 0, c}};
}

Scene body_on_ground(
    const Shape& shape, double mass, double height, const Material& ground, const Mat3d& R) {
  Scene scene;
  scene.add_ground(ground);
  scene.add_body("body", shape, mass, {R, {0, 0, height}}, {1.0});
  return scene;
}

}  // namespace stiction::test
