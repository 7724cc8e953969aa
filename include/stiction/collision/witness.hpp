#pragma once

#include <cstdint>

namespace stiction {

/// Which features of A and B make a point: how it moves with their poses.
enum class WitnessKind : std::uint8_t {
  kVertexFace,  ///< a vertex of A, and the normal of a flat face of B
  kFaceVertex,
  kEdgeEdge,   ///< a straight edge of each, the normal is that of both
  kRoundFace,  ///< a centre in A, `radius` around it, and the normal of a flat face of B
  kFaceRound,
  kRim,      ///< on a rim, or a line on the side, of a cylinder or cone
  kClipped,  ///< where the outlines of two faces cross, seen along the normal
  kSmooth,   ///< nearest points of two surfaces, whose features are not told apart
};
/// A and B exchanged.
WitnessKind swapped(WitnessKind kind);

struct Witness {
  WitnessKind kind = WitnessKind::kSmooth;
  double radius = 0.0;  ///< of the round side [m]
};

}  // namespace stiction
