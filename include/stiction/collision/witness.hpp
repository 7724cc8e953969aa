#pragma once

#include <cstdint>

namespace stiction {

/// Which features of A and B make a point: how it moves with their poses.
enum class WitnessKind : std::uint8_t {
  kVertexFace,  ///< a vertex of A, and the normal of a flat face of B
  kFaceVertex,
  kRoundFace,  ///< a centre in A, `radius` around it, and the normal of a flat face of B
  kFaceRound,
  kEdgeEdge,  ///< a straight edge of each, the normal is that of both
  kRim,       ///< on a rim, or a line on the side, of a cylinder or cone
  kClipped,   ///< where the outlines of two faces cross, seen along the normal
  kSmooth,    ///< nearest points of two surfaces, whose features are not told apart
};

/// Whose flat face the normal of the manifold belongs to.
enum class NormalOf : std::uint8_t { kBoth, kA, kB };

struct Witness {
  WitnessKind kind = WitnessKind::kSmooth;
  double radius = 0.0;  ///< of the round side [m]
  bool swept = false;   ///< of a later moment of the step, when the pair will be near
  NormalOf normal_of = NormalOf::kBoth;  ///< of kClipped and kRim; kBoth: that of a distance query

  /// Whether it is a vertex, or a ball, at a flat face of A or of B.
  bool on_face_of_a() const {
    return kind == WitnessKind::kFaceVertex || kind == WitnessKind::kFaceRound;
  }
  bool on_face_of_b() const {
    return kind == WitnessKind::kVertexFace || kind == WitnessKind::kRoundFace;
  }

  /// A and B exchanged: the first four kinds are pairs.
  Witness swapped() const {
    const int number = static_cast<int>(kind);
    const NormalOf other = normal_of == NormalOf::kBoth ? normal_of
                           : normal_of == NormalOf::kA  ? NormalOf::kB
                                                        : NormalOf::kA;
    return {kind < WitnessKind::kEdgeEdge ? WitnessKind(number ^ 1) : kind, radius, swept, other};
  }
};

}  // namespace stiction
