#pragma once

#include "integrator/compliant_substep.hpp"
#include "simulator/step_kind.hpp"

namespace stiction {

/// Contacts as springs and dampers: sub-steps of an integrator that looks for contacts wherever it
/// evaluates the motion.
class CompliantStep final : public StepKind {
 public:
  /// Throws std::invalid_argument for a scene without any pair that has a stiffness.
  CompliantStep(const Scene& scene, const SimulatorSettings& settings, Integrator integrate);

  void step(const StepInput& input, State& state) override;

  const StepRecord& record() const override { return work_.rigid; }
  void contacts(double dt, std::vector<ContactReport>& out) const override;
  std::int64_t most_factorisations(const SolverSettings&) const override {
    return work_.outcome.most_factorisations;
  }
  double most_work() const override;
  const CollisionCounters& counters() const override { return work_.start.collision.counters; }

 private:
  void fill_report();

  Integrator integrate_;
  CompliantWorkspace work_;
};

}  // namespace stiction
