#pragma once

#include "stiction/collision/collision_settings.hpp"
#include "stiction/contact/contact_settings.hpp"
#include "stiction/integrator/compliant_settings.hpp"
#include "stiction/simulator/sleep_settings.hpp"
#include "stiction/solver/solver_settings.hpp"

#include <cmath>
#include <string>
#include <tuple>

namespace stiction {

/// What the fields mean: kSimulatorSettings below, and the tables of the groups.
struct SimulatorSettings {
  double dt = 1e-3;
  std::string integrator = "semi-implicit-euler";  ///< see integrators()
  SolverSettings solver{.max_factorisations = 0, .max_work = 0.0, .regularise_infeasible = true};
  ContactSettings contact;
  CollisionSettings collision;
  SleepSettings sleeping;
  CompliantSettings compliant;
  bool project_closures = false;
  std::string impact_law = "newton-dissipative";
  double smoothing = 0.0;
  bool mean_bias = true;
  /// Throws std::invalid_argument naming the field and its value: out of range, or not its default
  /// and not read by the solver or the integrator.
  void validate() const;
};

inline constexpr std::tuple kSimulatorSettings{
    Setting<SimulatorSettings, double>{
        "dt",
        &SimulatorSettings::dt,
        {"> 0", [](const double& x) { return x > 0.0 && std::isfinite(x); }},
        "s",
        "Time step."},
    Setting<SimulatorSettings, std::string>{
        "impact_law",
        &SimulatorSettings::impact_law,
        {"\"newton-dissipative\" or \"newton\"",
         [](const std::string& x) { return x == "newton-dissipative" || x == "newton"; }},
        "",
        "Of impacts with restitution: \"newton-dissipative\" is Newton's law with e reduced where "
        "it "
        "would add kinetic energy, \"newton\" takes e as it is.",
        "semi-implicit-euler"},
    Setting<SimulatorSettings, double>{
        "smoothing",
        &SimulatorSettings::smoothing,
        {">= 0 and finite", [](const double& x) { return x >= 0.0 && std::isfinite(x); }},
        "J",
        "Contacts on the central path at this energy, a smooth step that acts at a distance: with "
        "its derivatives, for searches (docs/concepts.md); 0: the NCP. Impacts follow Newton's "
        "law, corrections are not capped together.",
        "semi-implicit-euler"},
    Setting<SimulatorSettings, bool>{
        "mean_bias",
        &SimulatorSettings::mean_bias,
        kEither,
        "",
        "Articulated trees without rows take Coriolis and gyroscopic forces at the mean velocity "
        "of the step; false: at that of its start, which feeds what turns fast with energy.",
        "semi-implicit-euler"},
    Setting<SimulatorSettings, bool>{
        "project_closures",
        &SimulatorSettings::project_closures,
        kEither,
        "",
        "Closed loops keep their energy: q and v end every step on the closures and gears, unless "
        "these are open by more than drift, and energy errors do not add up, at more than twice "
        "the "
        "time of a four-bar's step (docs/concepts.md)."}};

/// Every table with the group of SimulatorSettings that it describes: visit(table, settings,
/// defaults, kind, reader), kind "solver" or "integrator".
template <class Visit>
void each_table(const SimulatorSettings& s, const SimulatorSettings& d, Visit&& visit) {
  const char *solver = "solver", *integrator = "integrator";
  visit(kSimulatorSettings, s, d, integrator, s.integrator);
  visit(kSolverSettings, s.solver, d.solver, solver, s.solver.name);
  visit(kContactSettings, s.contact, d.contact, integrator, s.integrator);
  visit(kCollisionSettings, s.collision, d.collision, integrator, s.integrator);
  visit(kSleepSettings, s.sleeping, d.sleeping, integrator, s.integrator);
  visit(kCompliantSettings, s.compliant, d.compliant, integrator, s.integrator);
}

}  // namespace stiction
