#include "stiction/collision/distance.hpp"

#include "closed_forms.hpp"
#include "gjk.hpp"
#include "surface_distance.hpp"

#include <sstream>
#include <stdexcept>

namespace stiction {
namespace {

using namespace detail;

[[noreturn]] void refuse_half_spaces() {
  throw std::invalid_argument("distance: both shapes have type = half_space");
}

void check(const DistanceSettings& s) {
  std::ostringstream message;
  if (!(s.tolerance > 0.0)) {
    message << "distance: settings.tolerance = " << s.tolerance << " must be > 0";
    throw std::invalid_argument(message.str());
  }
  if (s.max_iterations < 1) {
    message << "distance: settings.max_iterations = " << s.max_iterations << " must be >= 1";
    throw std::invalid_argument(message.str());
  }
}

bool is_round(ShapeType t) { return t == ShapeType::kSphere || t == ShapeType::kCapsule; }

// Shapes in the order of ShapeType. The cache of a pair given in the other order is used for the
// exchanged pair: it belongs to the pair, and only this function reads its direction.
DistanceResult ordered_distance(const Shape& a,
                                const Transform& X_WA,
                                const Shape& b,
                                const Transform& X_WB,
                                const DistanceSettings& settings,
                                DistanceCache* cache) {
  if (b.type == ShapeType::kHalfSpace) return distance_any_half_space(a, X_WA, X_WB, cache);
  if (a.type == ShapeType::kHalfSpace) {
    return swapped(distance_any_half_space(b, X_WB, X_WA, cache));
  }
  if (a.type == ShapeType::kSphere && b.type == ShapeType::kSphere) {
    return distance_sphere_sphere(a, X_WA, b, X_WB);
  }
  if (is_round(a.type) && is_round(b.type)) return distance_capsule_capsule(a, X_WA, b, X_WB);
  if (b.type == ShapeType::kBox) {
    if (a.type == ShapeType::kSphere) return distance_sphere_box(a, X_WA, b, X_WB);
    if (a.type == ShapeType::kBox) return distance_box_box(a, X_WA, b, X_WB, settings, cache);
  }
  return distance_general(a, X_WA, b, X_WB, settings, cache);
}

}  // namespace

const char* to_string(DistanceStatus status) {
  switch (status) {
    case DistanceStatus::kSeparated:
      return "separated";
    case DistanceStatus::kPenetrating:
      return "penetrating";
    case DistanceStatus::kTouching:
      return "touching";
    case DistanceStatus::kMaxIterations:
      return "max_iterations";
  }
  return "unknown";
}

DistanceResult distance(const Shape& a,
                        const Transform& X_WA,
                        const Shape& b,
                        const Transform& X_WB,
                        const DistanceSettings& settings,
                        DistanceCache* cache) {
  check(settings);
  if (!a.bounded() && !b.bounded()) refuse_half_spaces();
  if (is_surface(a.type) || is_surface(b.type)) {
    return distance_surface(a, X_WA, b, X_WB, settings, HUGE_VAL);
  }
  if (a.type <= b.type) return ordered_distance(a, X_WA, b, X_WB, settings, cache);
  return swapped(ordered_distance(b, X_WB, a, X_WA, settings, cache));
}

// General pairs stop at the first separating plane and never need a depth.
bool collide(const Shape& a, const Transform& X_WA, const Shape& b, const Transform& X_WB) {
  if (!a.bounded() || !b.bounded()) return distance(a, X_WA, b, X_WB).distance <= 0.0;
  if (is_surface(a.type) || is_surface(b.type)) return distance(a, X_WA, b, X_WB).distance <= 0.0;
  if (is_round(a.type) && is_round(b.type)) return distance(a, X_WA, b, X_WB).distance <= 0.0;
  return overlap_general(a, X_WA, b, X_WB);
}

}  // namespace stiction
