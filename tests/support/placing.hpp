#pragma once

#include "stiction/collision/distance.hpp"

#include "fuzz_pairs.hpp"

namespace stiction::test {

inline DistanceResult query(const PosedPair& p, const DistanceSettings& s = {}) {
  return distance(p.a, p.X_WA, p.b, p.X_WB, s);
}

/// Moves B along the normal until the signed distance is the wanted multiple of the size. Where B
/// passes through A instead (thin shapes), any other distance comes out.
inline void place(FuzzCase& c, double share) {
  const DistanceResult r = query(c.pair);
  c.pair.X_WB.p += r.normal * (share * radii(c.pair) - r.distance);
}

/// One pair in twenty deep inside each other, the others as fuzz_distance() says.
inline FuzzCase next_case(Rng& rng, const ShapePool& pool, Family family) {
  FuzzCase c = fuzz_case(rng, pool, family);
  if (rng.below(20) == 0) {
    const double reach = std::min(bounding_radius(c.pair.a), bounding_radius(c.pair.b));
    c.pair.X_WB.p = c.pair.X_WA.p + uniform_vector(rng, 0.3 * reach);
  } else {
    place(c, fuzz_distance(rng));
  }
  return c;
}

}  // namespace stiction::test
