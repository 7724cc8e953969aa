#pragma once

#include "stiction/math/setting.hpp"

#include <tuple>

namespace stiction {

/// How contacts, limits and closures become rows; see docs/concepts.md. What the fields mean:
/// kContactSettings below.
struct ContactSettings {
  double baumgarte = 0.2;
  double recovery_speed = 0.5;
  double recovery_angular_speed = 1.0;
  double restitution_threshold = -1.0;
  double closure_gain = 1.0;
  double limit_margin = 0.02;
  bool per_point_stiffness = false;
  bool tangential_compliance = false;
};

inline constexpr std::tuple kContactSettings{
    Setting<ContactSettings, double>{"baumgarte",
                                     &ContactSettings::baumgarte,
                                     kInUnit,
                                     "",
                                     "Share kappa of a penetration removed per step."},
    Setting<ContactSettings, double>{"recovery_speed",
                                     &ContactSettings::recovery_speed,
                                     kNotNegative,
                                     "m/s",
                                     "No correction of a position error moves its row, a prismatic "
                                     "joint or a centre of mass faster; inf: no cap."},
    Setting<ContactSettings, double>{"recovery_angular_speed",
                                     &ContactSettings::recovery_angular_speed,
                                     kNotNegative,
                                     "rad/s",
                                     "Nor turns a joint or a body faster."},
    Setting<ContactSettings, double>{
        "restitution_threshold",
        &ContactSettings::restitution_threshold,
        {"a number", [](const double& x) { return x == x; }},
        "m/s",
        "Approach speed above which restitution acts; < 0: max(0.01, 2 |gravity| dt).",
        "semi-implicit-euler"},
    Setting<ContactSettings, double>{"closure_gain",
                                     &ContactSettings::closure_gain,
                                     kInUnit,
                                     "",
                                     "Share kappa_b of a closure's error removed per step; beyond "
                                     "the drift of motion no faster than the recovery speeds."},
    Setting<ContactSettings, double>{"limit_margin",
                                     &ContactSettings::limit_margin,
                                     kNotNegative,
                                     "rad or m",
                                     "Distance at which a joint limit becomes a row, at least."},
    Setting<ContactSettings, bool>{"per_point_stiffness",
                                   &ContactSettings::per_point_stiffness,
                                   kEither,
                                   "",
                                   "Each point of a pair gets k, d instead of k / n, d / n."},
    Setting<ContactSettings, bool>{
        "tangential_compliance",
        &ContactSettings::tangential_compliance,
        kEither,
        "",
        "Points of pairs with a stiffness have a spring and damper in the tangent plane too, by "
        "the tangential ratios of their material; else dry friction.",
        "semi-implicit-euler"}};

}  // namespace stiction
