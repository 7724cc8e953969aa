#pragma once

#include "stiction/collision/collide.hpp"
#include "stiction/contact/build_problem.hpp"
#include "stiction/math/disjoint_sets.hpp"
#include "stiction/math/setting.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

namespace stiction {

/// Islands at rest may sleep: they keep their place and cost nearly nothing until something happens
/// to them. What is awake and does not touch them moves bit for bit as without.
struct SleepSettings {
  bool enabled = false;
  double speed = 1e-3;
  double time = 0.5;
};

inline constexpr std::tuple kSleepSettings{
    Setting<SleepSettings, bool>{"sleeping",
                                 &SleepSettings::enabled,
                                 kEither,
                                 "",
                                 "Islands at rest sleep until something happens to them.",
                                 "semi-implicit-euler"},
    Setting<SleepSettings, double>{
        "sleep_speed",
        &SleepSettings::speed,
        {">= 0", [](const double& x) { return x >= 0.0 && std::isfinite(x); }},
        "m/s or rad/s",
        "A tree is at rest if no velocity of it is above.",
        "semi-implicit-euler"},
    Setting<SleepSettings, double>{
        "sleep_time",
        &SleepSettings::time,
        {"> 0", [](const double& x) { return x > 0.0; }},
        "s",
        "An island whose trees have all rested so long falls asleep; inf: never.",
        "semi-implicit-euler"}};

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

/// Wakes the islands that a contact joins with a tree that is awake. True if there were any: then
/// contacts have to be found again.
bool wake_touched(const Scene& scene,
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
