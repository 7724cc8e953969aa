#pragma once

#include "simulator/lanes/lane_kernels.hpp"
#include "simulator/lanes/lane_layout.hpp"
#include "simulator/lanes/lane_memory.hpp"
#include "simulator/lanes/pair_finder.hpp"
#include "simulator/step_kind.hpp"

#include <memory>
#include <vector>

namespace stiction {

/// The step of a world alone as the instance of width 1 of the step on lanes: the same bits as
/// RigidStep's own course, without its record. Of a scene for which why_not_lanes() is empty.
class LaneOfOne {
 public:
  LaneOfOne(const Scene& scene, const SimulatorSettings& settings);
  LaneOfOne(LaneOfOne&&) = delete;  // view_ and record_ point into it

  /// Moves the state on and fills the report but for its status; or false, and nothing is changed:
  /// the step is none for lanes, or has more rows than a dense problem.
  bool step(const StepInput& input, State& state, StepReport& report);

 private:
  void read_parameters(const StepInput& input);
  LaneBlocks blocks() const;
  void read_control(const Control& control);
  bool read_impulses(const State& state);
  bool read_place(const ContactMemory& kept);
  void write_impulses(State& state) const;
  void fill_report(const StepInput& input, StepReport& report) const;

  LaneLayout layout_;
  LaneScene view_;
  PairFinder finder_;
  const LaneKernel& kernel_;
  std::vector<std::uint64_t> pair_;  ///< [slots] State::contacts' pair
  LaneMemory parameters_[kLaneBlocks], work_;
  std::vector<int> indices_, used_;
  std::vector<double> control_, impulse_, feature_, places_, record_memory_;
  LaneRecord record_;
  bool known_ = false;  ///< parameters_ are those of version_
  std::uint64_t version_ = 0;
};

}  // namespace stiction
