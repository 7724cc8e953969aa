#include "collision/derivatives/ties.hpp"

namespace stiction::detail {
namespace {

constexpr double kTie = 1e-7;          // of the size: features as near as the nearest
constexpr double kOtherNormal = 1e-3;  // [rad] from which they have another normal
constexpr double kOtherPoint = 1e-3;   // of the size, from which they hold another point

bool turns(const Shape& a,
           const Transform& X_WA,
           const Shape& b,
           const Transform& X_WB,
           const DistanceResult& at,
           const DistanceCache* cache,
           double size,
           double share) {
  const Transform moved{X_WB.R, X_WB.p + at.normal * (share * size)};
  DistanceCache start;
  if (cache != nullptr) start = *cache;
  const DistanceResult r = distance(a, X_WA, b, moved, {}, &start);
  if (norm(r.normal - at.normal) > kOtherNormal) return true;
  return (a.hollow() || b.hollow()) && norm(r.witness_a - at.witness_a) > kOtherPoint * size;
}

}  // namespace

bool is_tied(const Shape& a,
             const Transform& X_WA,
             const Shape& b,
             const Transform& X_WB,
             const DistanceResult& at,
             const DistanceCache* cache) {
  if (!a.bounded() || !b.bounded()) return false;
  const bool hollow = a.hollow() || b.hollow(), overlap = at.distance < 0.0;
  if (!hollow && !overlap) return false;
  const double size = bounding_radius(a) + bounding_radius(b);
  if (hollow && turns(a, X_WA, b, X_WB, at, cache, size, kTie)) return true;
  return overlap && turns(a, X_WA, b, X_WB, at, cache, size, -kTie);
}

}  // namespace stiction::detail
