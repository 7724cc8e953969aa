#pragma once

namespace stiction {

/// Contacts in structure of arrays, eight a pack: doubles of a pack in each array of ContactPacks.
namespace contact_pack {
inline constexpr int kLanes = 8, kRows = 3, kCoordinates = 6;
inline constexpr int kPackRows = kLanes * 2 * kRows * kCoordinates;  ///< [body][row][coordinate]
inline constexpr int kPackConstants = kLanes * 17;
inline constexpr int kPackImpulses = kLanes * kRows;
/// Where the constants of a contact begin: ConeStep, mu, g, R.
inline constexpr int kFriction = 10, kFreeVelocity = 11, kCompliance = 14;
}  // namespace contact_pack

/// A projected sweep (pgs_kernel.hpp) over packs: impulses and u; change: what it adds to the
/// impulses.
using PackedSweep = void (*)(int packs,
                             const double* rows,
                             const double* constants,
                             const int* body,
                             double* impulse,
                             double* change,
                             double* u);

/// Sweeps that this processor runs, narrowest first, and their lanes; all give the same bits.
struct PackedSweeps {
  struct {
    int width;
    PackedSweep sweep;
  } of[3];
  int count;
};
const PackedSweeps& packed_sweeps();
PackedSweep widest_sweep();

}  // namespace stiction
