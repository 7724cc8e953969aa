#pragma once

#include "stiction/math/lanes.hpp"

#include "simulator/lanes/lane_scene.hpp"

// The constraint sets of a pack: contacts of slots, those of places, then rows of joints.

/// A function of the steps that few packs take: its body must not crowd those of all others.
#define STICTION_RARE [[gnu::noinline, gnu::cold]] inline

namespace stiction {
inline namespace STICTION_ISA {

constexpr int num_cones(const LaneScene& s) { return s.num_slots + s.places.count; }
constexpr int num_sets(const LaneScene& s) { return num_cones(s) + s.num_rows; }
constexpr bool is_cone(const LaneScene& s, int set) { return set < num_cones(s); }
constexpr bool is_place(const LaneScene& s, int set) {
  return set >= s.num_slots && set < num_cones(s);
}
constexpr const LaneRow& joint_row(const LaneScene& s, int set) {
  return s.rows[set - num_cones(s)];
}
constexpr int set_dim(const LaneScene& s, int set) { return is_cone(s, set) ? 3 : 1; }
/// The first row of a set where all sets have theirs.
constexpr int set_offset(const LaneScene& s, int set) {
  return is_cone(s, set) ? 3 * set : 3 * num_cones(s) + (set - num_cones(s));
}
constexpr int total_rows(const LaneScene& s) { return set_offset(s, num_sets(s)); }

/// The same in LanePack::impulse, which has no places.
constexpr int kept_offset(const LaneScene& s, int set) {
  return set < s.num_slots ? 3 * set : 3 * s.num_slots + (set - num_cones(s));
}
constexpr int kept_rows(const LaneScene& s) { return 3 * s.num_slots + s.num_rows; }

// Of a slot or a row of a joint, which act on one body:
constexpr int set_body(const LaneScene& s, int set) {
  return set < s.num_slots ? s.slots[set].body : joint_row(s, set).body;
}
/// The last dof of its chain.
constexpr int set_dof(const LaneScene& s, int set) {
  return set < s.num_slots ? s.slots[set].last_dof : joint_row(s, set).dof;
}

/// Where the block of Y of any set begins.
constexpr int set_start(const LaneScene& s, int set) {
  if (set < s.num_slots) return s.slots[set].rows;
  if (is_cone(s, set)) return s.row_size + 3 * s.places.most_dofs * (set - s.num_slots);
  return joint_row(s, set).rows;
}
constexpr int all_row_size(const LaneScene& s) {
  return s.row_size + 3 * s.places.most_dofs * s.places.count;
}

}  // namespace STICTION_ISA
}  // namespace stiction
