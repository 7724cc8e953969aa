#pragma once

#include "stiction/math/setting.hpp"

#include <cmath>
#include <tuple>

namespace stiction {

struct CollisionSettings {
  double margin = 1e-3;
  int points_per_pair = 0;
};

inline constexpr std::tuple kCollisionSettings{
    Setting<CollisionSettings, double>{
        "margin",
        &CollisionSettings::margin,
        {">= 0", [](const double& x) { return x >= 0.0 && std::isfinite(x); }},
        "m",
        "Contacts begin at this gap; farther away, up to dt x a bound on the approach speed of a "
        "pair, only if its motion at the velocities of the start comes that close."},
    Setting<CollisionSettings, int>{
        "points_per_pair",
        &CollisionSettings::points_per_pair,
        {">= 0; 0 keeps all points", kCount.holds},
        "",
        "At most so many points of a pair, the deepest; 0: all. One point is what engines without "
        "manifolds have: nothing then holds a box against tipping."}};

}  // namespace stiction
