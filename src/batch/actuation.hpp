#pragma once

#include "stiction/batch/batch.hpp"

#include <memory>
#include <vector>

namespace stiction {

/// A world's rows of commands, [nv] each.
struct CommandRows {
  const double *torque, *position_target, *velocity_target;

  double at(int group, int dof) const {
    return (group == 0 ? torque : group == 1 ? position_target : velocity_target)[dof];
  }
};

/// What stands between the commands of a world and its servos: delays of whole steps, then motors
/// of first order,
///
///   y <- y + (1 - exp(-dt / T)) (u - y),   u: the command of `delay` steps ago,
///
/// the exact course of T dy/dt = u - y where u is held over the step. Alike for torque, position
/// and velocity target of a dof; the effort limit comes after. Stored for worlds that have any.
/// Calls for different worlds may run on different threads.
class Actuation {
 public:
  Actuation(int worlds, int nv, double dt);
  ~Actuation();

  static bool has(WorldField field) {
    return field == WorldField::kCommandDelay || field == WorldField::kMotorTime;
  }
  bool on(std::ptrdiff_t world) const { return worlds_[world] != nullptr; }
  /// Throws std::invalid_argument naming the entry of values [nv] that is out of range.
  void check(WorldField field, const double* values) const;
  /// Checked. A longer delay goes on from the oldest command known.
  void assign(WorldField field, std::ptrdiff_t world, const double* values, const CommandRows& now);
  void read(WorldField field, std::ptrdiff_t world, double* values) const;

  /// As if these commands had always held.
  void settle(std::ptrdiff_t world, const CommandRows& now);
  /// What the servos get in the next step, [3, nv]; the world is on.
  const double* next(std::ptrdiff_t world, const CommandRows& now) const;
  /// The step of the last next() was taken.
  void advance(std::ptrdiff_t world, const CommandRows& now);

  /// What a world remembers, [1 + depth, 3, nv]: what its servos got last, and its commands of the
  /// steps before, the latest first.
  int depth(std::ptrdiff_t world) const;
  void remembered(std::ptrdiff_t world, const CommandRows& now, double* out) const;
  void remember(std::ptrdiff_t world, const double* rows);

 private:
  struct World;
  void turn_on(std::ptrdiff_t world, const CommandRows& now);

  int nv_;
  double dt_;
  std::vector<std::unique_ptr<World>> worlds_;
};

}  // namespace stiction
