#pragma once

#include "stiction/batch/batch.hpp"

#include <array>
#include <memory>
#include <vector>

namespace stiction {

/// Fields of WorldField that are numbers of Parameters: the first of them.
inline constexpr int kParameterFields = static_cast<int>(WorldField::kCommandDelay);

/// Parameters of worlds, stored only where they differ from the scene's: whole ones for the worlds
/// that were given them, and each field that was ever assigned as an array of all worlds.
class WorldParameters {
 public:
  WorldParameters(const Scene& scene, int worlds);

  /// Whether the world was ever given any.
  bool own(int world) const { return own_[world] != 0; }
  /// What it was given by set(); null: nothing.
  const Parameters* whole(int world) const { return whole_[world].get(); }
  /// Those of its next step.
  void read(int world, Parameters& out) const;
  /// Validated; what was assigned to the world before is gone.
  void set(int world, const Parameters& parameters);
  /// values [world_field_size()]: what holds now.
  void read(WorldField field, int world, double* values) const;
  /// On top of what was set; to be checked before.
  void assign(WorldField field, int world, const double* values);
  /// Throws std::invalid_argument, naming the entry, where assign() would leave the world with
  /// parameters out of range.
  void check(WorldField field, int world, const double* values);

 private:
  const Parameters& base(int world) const;

  const Scene* scene_;
  int worlds_;
  std::vector<std::uint8_t> own_;
  std::vector<std::unique_ptr<Parameters>> whole_;            ///< [worlds] null: the scene's
  std::array<std::vector<double>, kParameterFields> fields_;  ///< NaN: not assigned
  Parameters tried_;
};

}  // namespace stiction
