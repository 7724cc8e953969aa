#pragma once

#include "engine.hpp"
#include "math/split_mix.hpp"

#include <string>
#include <vector>

// The pairs of shapes that are measured: functions of a seed, the same on every machine.

namespace stiction::bench {

/// Convex hulls of the OBJ files of a folder, in the order of their names, coordinates rounded to
/// single precision (MuJoCo keeps no more).
Shapes load_hulls(const std::string& folder);

/// Strictly convex bodies |x/a|^p + |y/b|^p + |z/c|^p = 1, 2 <= p <= 4, sampled at `vertices`
/// points, all of which are corners; half axes 3 to 12 cm. The same solids for every count.
Shapes sampled_hulls(int count, int vertices, std::uint64_t seed);

/// `count` random pairs, turned at random, moved along the line of their closest points to the
/// signed distance [m]. A negative one is nominal: another direction may be shorter.
std::vector<Query> random_pairs(const Shapes& shapes,
                                int count,
                                double distance,
                                std::uint64_t seed);

/// steps x pairs queries, step by step: B translates by `motion` [m] and turns by `motion` [rad] a
/// step, each pair along its own screw, and is then shifted along the normal back to the pair's own
/// signed distance, between 0.1 mm and 1 cm (negative if `penetrating`).
std::vector<Query> sequences(const Shapes& shapes,
                             int pairs,
                             int steps,
                             double motion,
                             bool penetrating,
                             std::uint64_t seed);

}  // namespace stiction::bench
