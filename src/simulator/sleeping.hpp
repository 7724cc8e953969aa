#pragma once

#include "stiction/simulator/sleep_settings.hpp"

#include "contact/build_problem.hpp"
#include "math/disjoint_sets.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// What a step knows about sleep, by tree; no meaning between steps.
struct SleepWorkspace {
  std::vector<std::uint64_t> control;  ///< fingerprint of the tree's part of the control
  std::vector<std::uint8_t> pushed;    ///< a wrench acts on it
  DisjointSets islands;                ///< of trees that rows join
  std::vector<std::uint8_t> held;      ///< some row acts on it
  std::vector<double> rested;          ///< [s] of the island, by its least tree
};

/// Before the kinematics: wakes the islands whose q, v or control are not those they fell asleep
/// with, or that a wrench acts on; marks the others in dynamics.asleep.
void wake_changed(const Scene& scene,
                  const Control& control,
                  State& state,
                  DynamicsWorkspace& dynamics,
                  SleepWorkspace& work);

/// Wakes the islands that a contact joins with a tree that is awake, or with a surface that moves.
/// True if there were any: then contacts have to be found again.
bool wake_touched(const Scene& scene,
                  const Parameters& parameters,
                  const ContactSet& contacts,
                  State& state,
                  DynamicsWorkspace& dynamics);

/// After the step: counts the time at rest and lets islands fall asleep, their velocity zero.
void fall_asleep(const Scene& scene,
                 const SleepSettings& settings,
                 double dt,
                 const ConstraintRows& rows,
                 SleepWorkspace& work,
                 State& state);

}  // namespace stiction
