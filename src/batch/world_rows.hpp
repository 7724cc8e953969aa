#pragma once

#include "batch/world_range.hpp"

namespace stiction {

/// The arrays of a batch, and what is asked of them before a step.
class RowMemory {
 public:
  RowMemory(const Scene& scene, int worlds, double dt);
  WorldRows rows();  ///< from the first world on
  BatchArrays arrays();
  const WrenchTable& wrenches() const { return wrenches_; }
  Actuation& actuation() { return actuation_; }
  LastSteps& last_steps() { return last_steps_; }
  /// [worlds, 6] of a point of a body, made where there is none yet; it stays where it is.
  double* wrench(int body, const Vec3d& point);

  /// Throws std::invalid_argument, naming the entry, for controls that are not finite and
  /// configurations whose quaternions are not unit, of the worlds in [first, last) that will move.
  /// Numbers of q and v that are not finite are left to the step, which freezes their world.
  void check(int first, int last, const std::uint8_t* mask) const;
  /// The same of torque and targets alone.
  void check_commands(int world) const;

 private:
  struct UnitGroup {
    int first, count;
    std::string joint;
  };
  std::string entry(const char* field, int world, int k) const;
  void check_units(int world) const;
  void check_wrenches(int world) const;

  const int nq_, nv_;
  std::vector<UnitGroup> unit_groups_;
  std::vector<std::string> bodies_;  ///< names
  WrenchTable wrenches_;
  Actuation actuation_;
  LastSteps last_steps_;
  std::vector<double> q_, v_, torque_, position_target_, velocity_target_, time_, certificate_;
  std::vector<std::uint8_t> status_, lane_exit_;
  std::vector<std::int32_t> contacts_, scalar_steps_;
};

}  // namespace stiction
