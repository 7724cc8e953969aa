#pragma once

#include "stiction/math/setting.hpp"

#include <cmath>
#include <tuple>

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

}  // namespace stiction
