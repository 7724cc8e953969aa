#pragma once

#include <memory>
#include <string>
#include <vector>

namespace stiction {

class Scene;
class StepKind;  // src/simulator/step_kind.hpp
struct SimulatorSettings;

struct IntegratorEntry {
  const char* name;
  const char* description;  ///< one line
  bool compliant;           ///< contacts as springs; else rigid ones, impulses by the solver
  bool couples;             ///< torsional and rolling friction
  std::unique_ptr<StepKind> (*make)(const Scene& scene, const SimulatorSettings& settings);
};
/// The registry, in alphabetical order. A new compliant integrator adds a file in src/integrator
/// and one line in src/simulator/integrators.cpp.
const std::vector<IntegratorEntry>& integrators();
/// Throws std::invalid_argument listing the names.
const IntegratorEntry& find_integrator(const std::string& name);

}  // namespace stiction
