#pragma once

#include "collision/pairs/pair.hpp"

namespace stiction::detail {

/// Two boxes in the frame of A.
struct BoxPair {
  Vec3d ha, hb;  ///< half extents
  Mat3d R;       ///< R_AB
  Vec3d t;       ///< centre of B
};
BoxPair make_box_pair(const Vec3d& ha,
                      const Transform& X_WA,
                      const Vec3d& hb,
                      const Transform& X_WB);

/// Edge i of A x edge j of B, not normalised; frame A.
Vec3d edge_axis(const BoxPair& pair, int i, int j);

struct SeparatingAxis {
  int axis;           ///< 0..2 faces of A, 3..5 faces of B, 6 + 3 i + j edges i of A and j of B
  double separation;  ///< along `axis`; negative = overlap [m]
  double most;        ///< largest over all axes: the exact penetration depth if negative
};

/// The axis of largest separation. A later group (faces of A, faces of B, edges) must beat the
/// earlier ones by `tie` [m]; the face `preferred` of the last step is kept within `preferred_tie`.
/// Stops early, with `most` > margin, once a face axis separates by more than the margin.
SeparatingAxis find_separating_axis(
    const BoxPair& pair, double margin, double tie, int preferred, double preferred_tie);

}  // namespace stiction::detail
