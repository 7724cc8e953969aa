#pragma once

#include "stiction/simulator/report.hpp"
#include "stiction/simulator/simulator_settings.hpp"

#include "contact/closed_loops.hpp"
#include "integrator/step_record.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// Share of a step's largest normal impulse below which a contact holds nothing.
inline constexpr double kLeastLoadShare = 1e-6;

/// What a step is given besides the state.
struct StepInput {
  const Scene& scene;
  const Parameters& parameters;
  const SimulatorSettings& settings;
  const Control& control;
  const State& before;  ///< the start of the step
};

class RigidStep;

/// The two kinds of step, RigidStep and CompliantStep: workspace and output of either. What it
/// leaves behind stays until the next step.
class StepKind {
 public:
  virtual ~StepKind() = default;

  /// Moves the state on by settings.dt and fills `report`.
  virtual void step(const StepInput& input, State& state) = 0;

  /// Makes what the last step left behind whole: record(), contacts() and counters() need it.
  virtual void complete([[maybe_unused]] const StepInput& input) {}
  virtual const StepRecord& record() const = 0;
  virtual RigidStep* rigid() { return nullptr; }
  virtual void contacts(double dt, std::vector<ContactReport>& out) const = 0;
  virtual std::int64_t most_factorisations(const SolverSettings& settings) const = 0;
  virtual double most_work() const = 0;
  virtual const CollisionCounters& counters() const = 0;
  /// The tree was left out of the step.
  virtual bool asleep([[maybe_unused]] int tree) const { return false; }
  /// project_closures has put q and v of the tree at the same time.
  bool ends_at_node(int tree) const { return projects_closures_ && loops.touched[tree]; }

  StepReport report;

 protected:
  StepKind(const Scene& scene, const SimulatorSettings& settings);
  /// The status, from the solver's and whether the integrator's own iteration converged.
  void judge(bool converged);

  ClosedLoopWorkspace loops;

 private:
  bool projects_closures_;
};

/// What a contact report tells before the step.
ContactReport report_of(const Contact& contact);

}  // namespace stiction
