#pragma once

#include "integrator/keep_recovery_speeds.hpp"
#include "integrator/take_safe_answer.hpp"
#include "integrator/tree_motion.hpp"
#include "simulator/lanes/lane_of_one.hpp"
#include "simulator/sleeping.hpp"
#include "simulator/step_kind.hpp"
#include "solver/common/impact_law.hpp"

namespace stiction {

/// Semi-implicit Euler with rigid contacts: impulses by a solver.
class RigidStep final : public StepKind {
 public:
  RigidStep(const Scene& scene, const SimulatorSettings& settings);

  /// On lanes of width 1 where scene, settings and the step are for them, which leaves no record
  /// until complete() is asked for it; the bits are the same.
  void step(const StepInput& input, State& state) override;
  void complete(const StepInput& input) override;
  /// Its halves: up to record().problem, and from any impulses [rows] on.
  void prepare(const StepInput& input, State& state);
  void advance(const StepInput& input, const std::vector<double>& impulse, State& state);

  const StepRecord& record() const override { return record_; }
  /// For who ends a prepared step otherwise.
  StepRecord& prepared_record() { return record_; }
  RigidStep* rigid() override { return this; }
  void contacts(double dt, std::vector<ContactReport>& out) const override;
  std::int64_t most_factorisations(const SolverSettings& settings) const override;
  double most_work() const override;
  const CollisionCounters& counters() const override { return collision_.counters; }
  bool asleep(int tree) const override { return record_.dynamics.asleep[tree]; }

  /// Takes the bias of trees without rows to the mean velocity of the step by so many passes from
  /// change [nv], v+ - v, which becomes that of the new bias; not without
  /// SimulatorSettings::mean_bias. One pass, where the end is known.
  void centre_free_trees(const StepInput& input, int passes, double* change);

  /// From velocities [nv] that a prepared step leaves to those that bodies moved with, axes of its
  /// end.
  void take_back_kicks(const StepInput& input, double* v);

  /// For a motion that is given: what closures ask for stays as it is, possible or not.
  void keep_contradictions() { reconciles_ = false; }

 private:
  bool step_on_lanes(const StepInput& input, State& state);
  void step_whole(const StepInput& input, State& state);
  void pause_lanes();
  void build(const StepInput& input, const ContactSettings& contact, State& state);
  void change_velocity(const StepInput& input);
  void refactor(const StepInput& input, const State& state);
  bool ends_otherwise(const StepInput& input, const State& state, ContactSettings& rules);
  bool jumps_a_limit(const StepInput& input, const State& state) const;
  void find_awake_contacts(const StepInput& input, State& state);
  void solve_problem(const StepInput& input, State& state);
  const SolverSettings& rules_of_step(const SolverSettings& settings);
  void find_impacts(const StepInput& input);
  const std::vector<std::uint8_t>* trees_at_nodes(const SimulatorSettings& settings) const;
  void finish(const StepInput& input, State& state);
  void fill_report(const StepInput& input);
  std::int64_t most_of_last_solve(const SolverSettings& settings) const;
  double largest_load() const;
  double inside_of_cone(const SolverSettings& settings) const;
  RowContext row_context(const StepInput& input,
                         const ContactSettings& contact,
                         const State& state);

  CollisionWorkspace collision_;
  StepRecord record_;
  RowScratch scratch_;
  SolverWorkspace solver_;
  SleepWorkspace sleep_;
  RecoveryWorkspace recovery_work_;
  ImpactWork impact_;
  bool dissipative_;        ///< settings.impact_law
  bool reconciles_ = true;  ///< make_references_consistent()
  SafeAnswerRows safe_rows_;
  TreeMotion tree_motion_;
  SolverSettings rules_;  ///< of the last solve
  int safe_islands_ = 0;
  struct {
    int iterations = 0, factorisations = 0;
    std::int64_t most_factorisations = 0;
  } spent_;  ///< before the solve that the step ended with

  /// Where the scene is for lanes. It is not tried in the first step, which makes room for what a
  /// whole step needs, nor for some steps after it failed or the record was asked for: then it is
  /// slower. The bits are the same either way.
  std::unique_ptr<LaneOfOne> lane_;  ///< from the first step on, where for_lanes_
  bool for_lanes_;
  bool without_record_ = false;  ///< the last step was on lanes
  int wait_ = 1, pause_ = 0;     ///< steps until it is tried again; the last such number
  struct {
    State state;
    SimulatorSettings settings;
  } repeated_;  ///< by complete()
};

}  // namespace stiction
