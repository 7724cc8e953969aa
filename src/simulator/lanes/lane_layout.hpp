#pragma once

#include "stiction/model/scene.hpp"
#include "stiction/simulator/simulator_settings.hpp"

#include "simulator/lanes/lane_sets.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stiction {

/// What keeps a scene or its settings out of the lanes, in words; empty: nothing.
std::string why_not_lanes(const Scene& scene, const SimulatorSettings& settings);

/// Two geometries of the scene that have a material together.
struct LaneMaterials {
  int shape, other;
  bool has_slots;
};

/// Owns the arrays of a LaneScene. Of a scene for which why_not_lanes() is empty.
struct LaneLayout {
  LaneLayout(const Scene& scene, const SimulatorSettings& settings);

  /// Views into this object and into the scene, which must stay; for packs of `width` worlds.
  LaneScene view(int width) const;
  /// The guard of State::contacts' pair; -1: none.
  int guard_of(std::uint64_t pair) const;
  const Tree* tree;
  std::vector<LaneSlot> slots;
  std::vector<LaneRow> rows;
  std::vector<LaneGeometry> geometries;
  std::vector<LaneGuard> guards;
  std::vector<LaneFoundPair> found_pairs;
  int num_found = 0;
  std::vector<LaneMaterials> pairs;
  std::vector<int> guard_dofs;
  int row_size = 0;
  LaneRules rules;

 private:
  void add_geometries(const Scene& scene);
  void add_slots(const Scene& scene, int shape, int plane);
  void add_found(const Scene& scene, int shape, int other);
  void add_guard(const Scene& scene, int shape, int other);
  void add_slot(LaneSlot slot);
  void add_joint_rows();
  int place(int last_dof, int dim);
  bool has_seams() const;
};

/// State::contacts' pair of a slot.
std::uint64_t pair_of(const LaneLayout& layout, const LaneSlot& slot);
std::uint64_t pair_of(const LaneGuard& guard);
/// Doubles that LanePack::places keeps of one world.
inline int kept_places(const LaneLayout& layout) { return layout.guards.empty() ? 0 : kKeptPlaces; }
/// Where a row's impulse lies in State::constraint_impulse.
inline int joint_place(const LaneRow& row, int nv) {
  return row.dof + nv * static_cast<int>(row.kind);
}

/// What keeps every step of a world with these parameters out of the lanes, in words; empty:
/// nothing.
std::string why_never_in_lanes(const Scene& scene, const LaneLayout& layout, const Parameters& p);

/// Writes the parameters of one world to its lane of a block.
void write_lane_parameters(const Scene& scene,
                           const LaneLayout& layout,
                           const Parameters& parameters,
                           LaneBlock block,
                           int width,
                           int lane,
                           double* out);

}  // namespace stiction
