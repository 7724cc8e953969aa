#include "simulator/integrators.hpp"

#include "integrator/explicit_euler.hpp"
#include "integrator/implicit_euler.hpp"
#include "integrator/rk4.hpp"
#include "simulator/compliant_step.hpp"
#include "simulator/rigid_step.hpp"

#include <stdexcept>

namespace stiction {

static std::unique_ptr<StepKind> rigid(const Scene& scene, const SimulatorSettings& settings) {
  return std::make_unique<RigidStep>(scene, settings);
}

template <Integrator integrate>
static std::unique_ptr<StepKind> compliant(const Scene& scene, const SimulatorSettings& settings) {
  return std::make_unique<CompliantStep>(scene, settings, integrate);
}

const std::vector<IntegratorEntry>& integrators() {
  static const std::vector<IntegratorEntry> all{
      {"explicit-euler",
       "compliant contacts, forces of the start; q by the mean velocity",
       true,
       true,
       &compliant<&explicit_euler>},
      {"exponential",
       "compliant contacts in closed form, second order, switches located inside the step",
       true,
       true,
       &compliant<&exponential>},
      {"exponential-published",
       "compliant contacts by the matrix exponential of Hammoud et al. 2022, first order",
       true,
       false,
       &compliant<&exponential_published>},
      {"implicit-euler",
       "compliant contacts, forces of the end; full Newton with exact derivatives",
       true,
       true,
       &compliant<&implicit_euler>},
      {"rk4",
       "compliant contacts, the classical Runge-Kutta method of fourth order",
       true,
       true,
       &compliant<&rk4>},
      {"semi-implicit-euler",
       "rigid contacts; compliance of materials as a diagonal",
       false,
       true,
       &rigid},
      {"symplectic-euler",
       "compliant contacts, forces of the start; q by the end velocity",
       true,
       true,
       &compliant<&symplectic_euler>},
  };
  return all;
}

const IntegratorEntry& find_integrator(const std::string& name) {
  for (const IntegratorEntry& entry : integrators()) {
    if (name == entry.name) return entry;
  }
  std::string names;
  for (const IntegratorEntry& entry : integrators())
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  throw std::invalid_argument("integrator \"" + name + "\" is unknown; there are: " + names);
}

}  // namespace stiction
