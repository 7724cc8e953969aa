#pragma once

#include "stiction/math/lanes.hpp"

#include "simulator/lanes/lane_scene.hpp"

// The constraint sets of a scene that lanes know: contacts of slots, then rows of joints.

namespace stiction {
inline namespace STICTION_ISA {

constexpr int num_sets(const LaneScene& s) { return s.num_slots + s.num_rows; }
constexpr int set_dim(const LaneScene& s, int set) { return set < s.num_slots ? 3 : 1; }
/// The first row of a set where all sets have theirs.
constexpr int set_offset(const LaneScene& s, int set) {
  return set < s.num_slots ? 3 * set : 3 * s.num_slots + (set - s.num_slots);
}
constexpr int total_rows(const LaneScene& s) { return set_offset(s, num_sets(s)); }
constexpr int set_body(const LaneScene& s, int set) {
  return set < s.num_slots ? s.slots[set].body : s.rows[set - s.num_slots].body;
}
/// The last dof of its chain.
constexpr int set_dof(const LaneScene& s, int set) {
  return set < s.num_slots ? s.slots[set].last_dof : s.rows[set - s.num_slots].dof;
}
/// Where its block of Y begins.
constexpr int set_start(const LaneScene& s, int set) {
  return set < s.num_slots ? s.slots[set].rows : s.rows[set - s.num_slots].rows;
}

}  // namespace STICTION_ISA
}  // namespace stiction
