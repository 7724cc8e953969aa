#pragma once

#include "stiction/simulator/simulator.hpp"

#include "batch/world_parameters.hpp"
#include "batch/world_range.hpp"
#include "batch/world_wrenches.hpp"
#include "simulator/lanes/lane_kernels.hpp"
#include "simulator/lanes/lane_layout.hpp"
#include "simulator/lanes/lane_memory.hpp"
#include "simulator/lanes/pair_finder.hpp"

#include <array>
#include <memory>

namespace stiction {

/// What a world's last step was.
struct LaneReport {
  LaneExit exit = LaneExit::kStepped;  ///< why the scalar step did it, if it did
  StepStatus status = StepStatus::kOk;
  double relative = 0.0;  ///< certificate of the impulses, Residuals::relative
  int contacts = 0;
};

/// Worlds of one scene stepped together on lanes: bit for bit the same for any width, number of
/// worlds and place among them. A world whose step is not one for lanes takes a Simulator's step
/// from the same state, its warm start included. One per thread.
class LaneBatch {
 public:
  /// `width` 0: the widest this processor has. Throws std::invalid_argument with why_not_lanes(),
  /// or if there is no such width or no world.
  LaneBatch(const Scene& scene, const SimulatorSettings& settings, int worlds, int width = 0);

  LaneBatch(LaneBatch&&) = delete;  // the lanes point into it

  int worlds() const { return worlds_; }
  int width() const { return kernel_.width; }
  const Scene& scene() const { return scalar_.scene(); }
  const SimulatorSettings& settings() const { return scalar_.settings(); }

  /// Impulses of contacts and joints travel with a state.
  void set_state(int world, const State& state);
  void get_state(int world, State& state) const;
  /// Torques and targets, held until they are set again. Throws for wrenches.
  void set_control(int world, const Control& control);
  void set_position_target(int world, const double* target);  ///< [nv]
  void get_control(int world, Control& control) const;
  /// The configuration and velocity alone, [nq] and [nv].
  void set_motion(int world, const double* q, const double* v);
  void get_motion(int world, double* q, double* v) const;
  void set_targets(int world, const double* torque, const double* position, const double* velocity);
  /// Row `row` of the table, whose values may change until the world's next step; the table must
  /// stay.
  void set_wrenches(int world, const WrenchTable& table, std::ptrdiff_t row);
  /// As WorldRange has it.
  void each_contact(int world, const ContactVisit& visit) const;
  double time(int world) const { return data_.time[world]; }
  /// Validated. Worlds that were never given any have the scene's.
  void set_parameters(int world, const Parameters& parameters);
  WorldParameters& parameters() { return parameters_; }  ///< to be read and checked
  /// values [world_field_size()], checked.
  void assign(WorldField field, int world, const double* values);

  /// A world that is held keeps its state and report. One whose step is not finite is held from
  /// then on, until its state is set.
  void hold(int world, bool held) { data_.held.data()[world] = held ? 1.0 : 0.0; }
  bool held(int world) const { return data_.held.data()[world] > 0.0; }

  /// Allocates nothing once every world has been at its most contacts outside the lanes.
  void step(int steps = 1);
  /// Worlds that go through the cache together, to be stepped several times in a row.
  int worlds_of_chunk() const { return kMaxLanePacks * kernel_.width; }
  /// One step of the chunk whose first world this is, a multiple of worlds_of_chunk().
  void step_chunk_at(int world) { step_chunk(world / kernel_.width); }
  const LaneReport& report(int world) const { return data_.reports[world]; }
  /// World-steps by their exit since the last reset_counts().
  const std::array<std::int64_t, kLaneExits>& counts() const { return counts_; }
  void reset_counts() { counts_ = {}; }

 private:
  /// Entry (i, lane) of pack k at [(k size + i) W + lane].
  struct Worlds {
    LaneMemory control, wrench, q, v, impulse, feature, places, relative, contacts, held;
    std::vector<LaneMemory> parameters[kLaneBlocks];  ///< [packs] empty: shared
    std::vector<LaneExit> exit;                       ///< [lanes]
    std::vector<double> time;                         ///< [lanes]
    std::vector<std::vector<ContactMemory>> others;   ///< [lanes] those without a place
    std::vector<std::vector<ContactMemory>> turned;   ///< [lanes] those with moments
    std::vector<std::uint8_t> crowded;                ///< [lanes] some of them would be lost
    std::vector<LaneReport> reports;                  ///< [lanes]
  };

  /// One world taken out of the lanes.
  struct WorldAtHand {
    State state;
    Control control;
    std::vector<Transform> poses;
    Parameters parameters;
  };

  void allocate();
  void take_memory(int world, const ContactMemory& memory);
  bool take_place(int world, int guard, const ContactMemory& memory);
  template <class Visit>
  void each_place(int world, Visit&& visit) const;
  std::uint32_t feature_of(int world, int slot) const;
  double* at(LaneMemory& memory, int world, int entry_size);
  const double* at(const LaneMemory& memory, int world, int entry_size) const;
  void step_chunk(int first);
  void add_pack(int pack);
  void step_scalar(int world);
  void write_parameters(int world, LaneBlock block);
  void make_wrenches(const WrenchTable& table);

  Simulator scalar_;
  LaneLayout layout_;
  LaneScene view_;
  std::unique_ptr<PairFinder> finder_;
  LaneKernel kernel_;
  int worlds_, packs_;
  Worlds data_;
  WorldParameters parameters_;
  LaneMemory shared_[kLaneBlocks];  ///< parameters of all worlds that have none of their own
  LaneMemory work_;
  const WrenchTable* wrenches_ = nullptr;
  std::ptrdiff_t first_row_ = 0;  ///< of world 0 in wrenches_
  std::vector<LaneWrench> wrench_points_;
  std::vector<int> indices_;
  std::vector<LanePack> views_;
  std::array<std::int64_t, kLaneExits> counts_{};
  /// Whose parameters scalar_ has.
  static constexpr int kShared = -1, kNoWorld = -2;
  int simulated_ = kShared;
  WorldAtHand world_;
};

}  // namespace stiction
