#pragma once

#include "stiction/model/state.hpp"

#include <string>

namespace stiction {

/// All of the state as bytes: "STICSTAT", version, sizes, numbers (little endian), checksum. A
/// restored state continues bit for bit.
std::string save_state(const State& state);

/// Throws std::invalid_argument that says what is wrong: not a saved state, another version,
/// truncated, damaged.
State restore_state(const std::string& bytes);

/// Can these vertex indices belong to this pair of shapes? A foreign warm start must not be
/// followed.
bool cache_fits(const Shape& a, const Shape& b, const DistanceCache& cache);

/// validate_state, and the warm starts: throws std::invalid_argument if they come from another
/// scene.
void validate_whole_state(const Scene& scene, const State& state);

}  // namespace stiction
