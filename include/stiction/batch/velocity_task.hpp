#pragma once

#include "stiction/batch/batch.hpp"

#include <memory>
#include <string>
#include <vector>

namespace stiction {

/// Numbers of a task of trotting at a commanded velocity; those of stiction.envs.Solo12Velocity.
struct VelocityTaskSettings {
  std::vector<std::string> feet;           ///< names of spheres
  std::vector<double> stance_phase;        ///< [feet] added to the clock, in [0, 1)
  std::string configuration;               ///< that worlds stand in
  double control_dt = 0.02;                ///< of an action [s]
  double clock_frequency = 2.5;            ///< [Hz]
  double touching = 2e-3;                  ///< a foot's height on the ground [m]
  double command_low[3], command_span[3];  ///< vx, vy [m/s], turn [rad/s]
  double reach = 0.3;                      ///< of an action of 1 [rad]
  /// Of randomised worlds: of all geometries, and times the masses of bodies.
  double friction_low = 0.4, friction_span = 0.6, mass_low = 0.9, mass_span = 0.2;
};

/// What a task keeps of its worlds, row by row.
struct VelocityTaskArrays {
  const double* action;       ///< [worlds, joints]
  double* before;             ///< [worlds, joints] the action before
  double *command, *phase;    ///< [worlds, 3], [worlds]
  const std::int64_t* steps;  ///< [worlds] of the episode
};

/// Targets, observations, rewards, ends and starts of all worlds of a batch, on its threads: a
/// robot with a free-flyer whose feet are spheres on chains of revolute joints, on the plane z = 0.
/// The formulas are in python/stiction/envs/velocity.py.
class VelocityTask {
 public:
  /// Throws std::invalid_argument naming a foot that is not such, or the scene's fault. The batch
  /// must stay.
  VelocityTask(Batch& batch, const VelocityTaskSettings& settings);

  int joints() const { return static_cast<int>(standing_.size()) - 7; }
  int observation_size() const { return 14 + 3 * joints(); }
  int num_feet() const { return static_cast<int>(settings_.feet.size()); }

  /// Actions into the position targets of all worlds.
  void act(const VelocityTaskArrays& of) const;
  /// Worlds of the mask [worlds], null: all, to out [worlds, observation_size()].
  void observe(const VelocityTaskArrays& of, const std::uint8_t* mask, float* out) const;
  /// To reward [worlds] and ended [worlds]: 1 where the robot fell. The action becomes the one
  /// before.
  void judge(const VelocityTaskArrays& of, double* reward, std::uint8_t* ended) const;
  /// Commands, clocks and configurations q [worlds, nq] of new episodes [worlds] of the worlds of
  /// the mask.
  void start(const std::uint8_t* mask,
             std::uint64_t seed,
             const std::int64_t* episodes,
             const VelocityTaskArrays& of,
             double* q) const;
  /// Friction and masses of the same.
  void vary(const std::uint8_t* mask, std::uint64_t seed, const std::int64_t* episodes);

 private:
  struct Feet;
  double clock(const VelocityTaskArrays& of, std::ptrdiff_t world) const;
  double reward(const VelocityTaskArrays& of,
                std::ptrdiff_t world,
                const double* q,
                const double* v,
                int stance) const;

  Batch& batch_;
  VelocityTaskSettings settings_;
  std::vector<double> standing_;
  std::shared_ptr<const Feet> feet_;
  std::unique_ptr<double[]> friction_,
      mass_;  ///< [worlds, geometries], [worlds, bodies] for vary()
};

}  // namespace stiction
