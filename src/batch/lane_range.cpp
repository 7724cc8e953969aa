#include "batch/lane_batch.hpp"
#include "batch/world_range.hpp"

#include <algorithm>

namespace stiction {
namespace {

SimulatorSettings with(SimulatorSettings settings, const StopPoll& poll) {
  settings.solver.interrupt = poll.interrupt();
  return settings;
}

/// A LaneBatch. Rows go into lanes and back chunk by chunk, so that the steps of a call run on
/// numbers that are in the cache.
class LaneRange final : public WorldRange {
 public:
  LaneRange(const Scene& scene,
            const SimulatorSettings& settings,
            int worlds,
            int width,
            const WorldRows& rows,
            const StopPoll& poll)
      : batch_(scene, with(settings, poll), worlds, width),
        rows_(rows),
        poll_(&poll),
        moves_(batch_.worlds_of_chunk()) {}

  void step(const RangeCall& call) override {
    for (int first = 0; first < batch_.worlds(); first += batch_.worlds_of_chunk()) {
      const int count = std::min(batch_.worlds_of_chunk(), batch_.worlds() - first);
      if (!load(first, count, call.mask)) continue;
      for (int k = 0; k < call.steps && !poll_->requested(); ++k) {
        step_chunk(first, count, k == 0);
      }
      store(first, count);
    }
  }

  int width() const override { return batch_.width(); }
  const Scene& scene() const override { return batch_.scene(); }
  const SimulatorSettings& settings() const override { return batch_.settings(); }
  void set_state(int world, const State& state) override { batch_.set_state(world, state); }
  void get_state(int world, State& state) const override { batch_.get_state(world, state); }
  void each_contact(int world, const ContactVisit& visit) const override {
    batch_.each_contact(world, visit);
  }
  WorldParameters& parameters() override { return batch_.parameters(); }
  void set_parameters(int world, const Parameters& p) override { batch_.set_parameters(world, p); }
  void assign(WorldField field, int world, const double* values) override {
    batch_.assign(field, world, values);
  }

 private:
  static constexpr auto kNotFinite = static_cast<std::uint8_t>(LaneExit::kNotFinite);

  /// False: no world of the chunk moves.
  bool load(int first, int count, const std::uint8_t* mask) {
    bool any = false;
    for (int i = 0; i < count; ++i) {
      const int world = first + i;
      moves_[i] = (mask == nullptr || mask[world] != 0) && !rows_.frozen(world) &&
                  !freeze_not_finite(rows_, world, kNotFinite);
      batch_.hold(world, moves_[i] == 0);
      if (moves_[i] == 0) continue;
      any = true;
      const WorldRows row = rows_.from(world);
      batch_.set_motion(world, row.q, row.v);
      batch_.set_targets(world, row.torque, row.position_target, row.velocity_target);
      batch_.set_wrenches(world, *row.wrenches, row.world);
    }
    return any;
  }

  void step_chunk(int first, int count, bool first_step) {
    for (int i = 0; i < count; ++i) {
      if (moves_[i] == 0 || rows_.frozen(first + i)) continue;
      const WorldRows row = rows_.from(first + i);
      if (row.last_steps->kept())
        batch_.get_motion(
            first + i, row.last_steps->next_q(row.world), row.last_steps->next_v(row.world));
      if (!row.actuation->on(row.world)) continue;
      const double* x = row.actuation->next(row.world, row.commands());
      batch_.set_targets(first + i, x, x + row.nv, x + 2 * row.nv);
    }
    batch_.step_chunk_at(first);
    for (int i = 0; i < count; ++i) {
      const int world = first + i;
      if (moves_[i] == 0 || rows_.frozen(world)) continue;
      const LaneReport& report = batch_.report(world);
      add_step({report.status,
                report.relative,
                report.contacts,
                static_cast<std::uint8_t>(report.exit),
                first_step},
               rows_,
               world);
      if (report.status > StepStatus::kNotConverged) continue;  // not a whole step
      const WorldRows row = rows_.from(world);
      if (row.last_steps->kept()) row.last_steps->take(row.world);
      if (row.actuation->on(row.world)) row.actuation->advance(row.world, row.commands());
    }
  }

  void store(int first, int count) {
    for (int i = 0; i < count; ++i) {
      if (moves_[i] == 0) continue;
      const WorldRows row = rows_.from(first + i);
      batch_.get_motion(first + i, row.q, row.v);
      *row.time = batch_.time(first + i);
      if (row.last_steps->kept()) row.last_steps->end(row.world, row.q, row.v, settings().dt);
    }
  }

  LaneBatch batch_;
  WorldRows rows_;
  const StopPoll* poll_;
  std::vector<std::uint8_t> moves_;  ///< [worlds of a chunk] it takes part in the call
};

}  // namespace

std::unique_ptr<WorldRange> make_lane_range(const Scene& scene,
                                            const SimulatorSettings& settings,
                                            int worlds,
                                            int width,
                                            const WorldRows& rows,
                                            const StopPoll& poll) {
  return std::make_unique<LaneRange>(scene, settings, worlds, width, rows, poll);
}

}  // namespace stiction
