#pragma once

#include "collision/convex/polytope.hpp"

namespace stiction::detail {

struct EpaResult {
  bool converged = false;  ///< depth is within the tolerance of the minimum
  bool polished = false;   ///< `depth` may then be negative: a gap that is proven
  Vec3d normal{0, 0, 1};   ///< unit, frame A, from A to B
  double depth = 0.0;      ///< overlap along `normal`, an upper bound of the penetration depth [m]
  Vec3d witness_a{0, 0, 0}, witness_b{0, 0, 0};  ///< frame A
  int iterations = 0;
  SupportPoint face[3];
  std::uint32_t feature = 0;  ///< of the polish
};

/// Penetration depth of D about the origin, started from a simplex that holds it or touches it.
/// The polytope is left in `saved` if that is given.
EpaResult epa(const SupportDifference& D,
              const Simplex& start,
              const DistanceSettings& settings,
              PolytopeCache* saved = nullptr);

/// The same started from the polytope of another query, which is replaced by the new one. False:
/// it does not hold the origin any more.
bool epa_from(const SupportDifference& D,
              const DistanceSettings& settings,
              PolytopeCache& polytope,
              EpaResult& result);

}  // namespace stiction::detail
