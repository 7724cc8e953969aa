#include "stiction/simulator/simulator.hpp"

#include "batch/world_range.hpp"
#include "simulator/integrators.hpp"

namespace stiction {
namespace {

using Vector = Eigen::Map<Eigen::VectorXd>;

/// One Simulator and a State for each world, which are stepped one after the other.
class SimulatorRange final : public WorldRange {
 public:
  SimulatorRange(const Scene& scene,
                 SimulatorSettings settings,
                 int worlds,
                 const WorldRows& rows,
                 const StopPoll& poll)
      : simulator_(scene, settings),
        rows_(rows),
        poll_(&poll),
        parameters_(simulator_.scene(), worlds),
        states_(worlds, simulator_.initial_state()),
        control_(simulator_.hold()) {
    if (find_integrator(settings.integrator).compliant) kept_.resize(worlds);
    simulator_.set_interrupt(poll.interrupt());
  }

  void step(const RangeCall& call) override {
    for (int world = 0; world < static_cast<int>(states_.size()); ++world) {
      if ((call.mask != nullptr && call.mask[world] == 0) || rows_.frozen(world)) continue;
      if (poll_->requested()) return;
      if (freeze_not_finite(rows_, world, 0)) continue;
      step_world(world, call.steps);
    }
  }

  int width() const override { return 1; }
  const Scene& scene() const override { return simulator_.scene(); }
  const SimulatorSettings& settings() const override { return simulator_.settings(); }
  void set_state(int world, const State& state) override {
    states_[world] = state;
    if (!kept_.empty()) kept_[world].clear();
  }
  void get_state(int world, State& state) const override { state = states_[world]; }
  const std::vector<AppliedContact>* kept_contacts(int world) const override {
    return kept_.empty() ? nullptr : &kept_[world];
  }
  void each_contact(int world, const ContactVisit& visit) const override {
    if (kept_.empty()) return stiction::each_contact(states_[world].contacts, visit);
    for (const AppliedContact& c : kept_[world])
      visit.call(visit.object, c.geometry_a, c.geometry_b, c.force * settings().dt);
  }
  WorldParameters& parameters() override { return parameters_; }
  void set_parameters(int world, const Parameters& p) override {
    parameters_.set(world, p);
    changed(world);
  }
  void assign(WorldField field, int world, const double* values) override {
    parameters_.assign(field, world, values);
    changed(world);
  }

 private:
  /// Sleep does not notice an edit.
  void changed(int world) {
    if (simulated_ == world) simulated_ = kNoWorld;
    simulator_.wake(states_[world]);
  }

  void step_world(int world, int steps) {
    take_parameters(world);
    const WorldRows row = rows_.from(world);
    State& state = states_[world];
    state.q = Vector(row.q, row.nq);
    state.v = Vector(row.v, row.nv);
    const bool actuated = row.actuation->on(row.world);
    if (!actuated) take_commands(row.torque, row.position_target, row.velocity_target);
    const bool kept = row.last_steps->kept();
    for (int k = 0; k < steps && !poll_->requested(); ++k) {
      if (kept) {
        Vector(row.last_steps->next_q(row.world), row.nq) = state.q;
        Vector(row.last_steps->next_v(row.world), row.nv) = state.v;
      }
      if (actuated) {
        const double* x = row.actuation->next(row.world, row.commands());
        take_commands(x, x + row.nv, x + 2 * row.nv);
      }
      take_wrenches(
          *row.wrenches,
          row.world,
          [&](std::vector<Transform>& X) { simulator_.body_poses(state, X); },
          poses_,
          control_.wrenches);
      const StepReport& report = simulator_.step(state, control_);
      add_step(
          {report.status, report.residuals.relative, report.num_contacts, 0, k == 0}, rows_, world);
      if (!report.whole()) break;
      if (!kept_.empty()) keep_contacts(kept_[world]);
      if (kept) row.last_steps->take(row.world);
      if (actuated) row.actuation->advance(row.world, row.commands());
    }
    Vector(row.q, row.nq) = state.q;
    Vector(row.v, row.nv) = state.v;
    *row.time = state.time;
    if (kept) row.last_steps->end(row.world, row.q, row.v, settings().dt);
  }

  void keep_contacts(std::vector<AppliedContact>& kept) {
    simulator_.contacts(contacts_);
    kept.clear();
    for (const ContactReport& c : contacts_)
      kept.push_back(
          {c.geometry_a, c.geometry_b, c.position, c.force_on_b_world, c.moment_on_b_world});
  }

  void take_commands(const double* torque, const double* position, const double* velocity) {
    const int nv = rows_.nv;
    control_.torque = Eigen::Map<const Eigen::VectorXd>(torque, nv);
    control_.position_target = Eigen::Map<const Eigen::VectorXd>(position, nv);
    control_.velocity_target = Eigen::Map<const Eigen::VectorXd>(velocity, nv);
  }

  void take_parameters(int world) {
    const int wanted = parameters_.own(world) ? world : kShared;
    if (simulated_ != wanted) {
      parameters_.read(world, own_);
      simulator_.parameters() = own_;
    }
    simulated_ = wanted;
  }

  Simulator simulator_;
  WorldRows rows_;
  const StopPoll* poll_;
  WorldParameters parameters_;
  std::vector<State> states_;
  std::vector<std::vector<AppliedContact>> kept_;  ///< by world, of compliant steps; else empty
  Control control_;
  std::vector<Transform> poses_;
  std::vector<ContactReport> contacts_;  ///< scratch
  Parameters own_;                       ///< of the world at hand
  /// Whose parameters simulator_ has.
  static constexpr int kShared = -1, kNoWorld = -2;
  int simulated_ = kShared;
};

}  // namespace

std::unique_ptr<WorldRange> make_simulator_range(const Scene& scene,
                                                 const SimulatorSettings& settings,
                                                 int worlds,
                                                 const WorldRows& rows,
                                                 const StopPoll& poll) {
  return std::make_unique<SimulatorRange>(scene, settings, worlds, rows, poll);
}

}  // namespace stiction
