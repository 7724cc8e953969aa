#include "stiction/model/parameters.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace stiction {
namespace {

[[noreturn]] void fail(const char* field, std::size_t i, double value, const char* must) {
  std::ostringstream out;
  out << "parameters." << field << "[" << i << "] = " << value << ": must be " << must;
  throw std::invalid_argument(out.str());
}

template <class Predicate>
void check(const std::vector<double>& values, const char* field, const char* must, Predicate ok) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!ok(values[i])) fail(field, i, values[i], must);
  }
}

void check_materials(const std::vector<Material>& materials) {
  for (std::size_t i = 0; i < materials.size(); ++i) {
    const Material& m = materials[i];
    if (!(m.friction >= 0.0 && std::isfinite(m.friction))) {
      fail("material.friction", i, m.friction, ">= 0 and finite");
    }
    if (!(m.restitution >= 0.0 && m.restitution <= 1.0)) {
      fail("material.restitution", i, m.restitution, "in [0, 1]");
    }
    if (!(m.stiffness > 0.0)) fail("material.stiffness", i, m.stiffness, "> 0 [N/m]");
    if (!(m.damping >= 0.0 && std::isfinite(m.damping))) {
      fail("material.damping", i, m.damping, ">= 0 [N s/m] and finite");
    }
  }
}

}  // namespace

void Parameters::validate() const {
  const auto non_negative = [](double x) { return x >= 0.0 && std::isfinite(x); };
  check(mass, "mass", ">= 0 [kg] and finite", non_negative);
  check(armature, "armature", ">= 0 and finite", non_negative);
  check(damping, "damping", ">= 0 and finite", non_negative);
  check(dry_friction, "dry_friction", ">= 0 and finite", non_negative);
  check(kp, "kp", ">= 0 and finite", non_negative);
  check(kd, "kd", ">= 0 and finite", non_negative);
  check(effort_limit, "effort_limit", ">= 0", [](double x) { return x >= 0.0; });
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (!(lower[i] <= upper[i])) fail("lower", i, lower[i], "<= upper");
  }
  for (int k = 0; k < 3; ++k) {
    if (!std::isfinite(gravity[k])) fail("gravity", k, gravity[k], "finite");
  }
  check_materials(material);
}

}  // namespace stiction
