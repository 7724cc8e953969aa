#include "stiction/collision/distance.hpp"

#include "collision/convex/general_query.hpp"
#include "collision/pairs/closed_forms.hpp"
#include "collision/surface/surface_distance.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

using namespace detail;

[[noreturn]] void refuse_half_spaces() {
  throw std::invalid_argument(
      "distance: both shapes have type = half_space: at most one may be unbounded, make the other "
      "a box");
}

[[noreturn]] void refuse_setting(const char* field, double value, const char* rule) {
  std::ostringstream message;
  message << "distance: settings." << field << " = " << value << " must be " << rule;
  throw std::invalid_argument(message.str());
}

struct MethodName {
  DistanceMethod method;
  const char* name;
};
constexpr MethodName kMethods[] = {
    {DistanceMethod::kAuto, "auto"},
    {DistanceMethod::kFrankWolfe, "frank-wolfe"},
    {DistanceMethod::kFrankWolfePolyak, "frank-wolfe-polyak"},
    {DistanceMethod::kFrankWolfeNesterov, "frank-wolfe-nesterov"},
    {DistanceMethod::kGjk, "gjk"},
    {DistanceMethod::kPolyak, "polyak"},
    {DistanceMethod::kPolyakNormalized, "polyak-normalized"},
    {DistanceMethod::kNesterov, "nesterov"},
    {DistanceMethod::kNesterovNormalized, "nesterov-normalized"},
    {DistanceMethod::kPolyakReference, "polyak-reference"},
    {DistanceMethod::kNesterovReference, "nesterov-reference"},
    {DistanceMethod::kNesterovNormalizedReference, "nesterov-normalized-reference"},
    {DistanceMethod::kNesmino, "nesmino"},
};

// Shapes in the order of ShapeType. The cache of a pair given in the other order is used for the
// exchanged pair: it belongs to the pair, and only this function reads its direction.
DistanceResult ordered_distance(const Shape& a,
                                const Transform& X_WA,
                                const Shape& b,
                                const Transform& X_WB,
                                const DistanceSettings& settings,
                                DistanceCache* cache) {
  if (b.type == ShapeType::kHalfSpace) return distance_any_half_space(a, X_WA, X_WB);
  if (a.type == ShapeType::kHalfSpace) {
    return swapped(distance_any_half_space(b, X_WB, X_WA));
  }
  if (settings.method != DistanceMethod::kAuto) {
    return distance_general(a, X_WA, b, X_WB, settings, cache);
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

DistanceResult any_order(const Shape& a,
                         const Transform& X_WA,
                         const Shape& b,
                         const Transform& X_WB,
                         const DistanceSettings& settings,
                         DistanceCache* cache) {
  if (a.bounded() && b.bounded()) {
    if (is_convex_surface(a)) return any_order(hull_of(a), X_WA, b, X_WB, settings, cache);
    if (is_convex_surface(b)) return any_order(a, X_WA, hull_of(b), X_WB, settings, cache);
  }
  if (is_surface(a.type) || is_surface(b.type)) {
    return distance_surface(a, X_WA, b, X_WB, settings);
  }
  if (a.type <= b.type) return ordered_distance(a, X_WA, b, X_WB, settings, cache);
  return swapped(ordered_distance(b, X_WB, a, X_WA, settings, cache));
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
    case DistanceStatus::kBeyond:
      return "beyond";
  }
  return "unknown";
}

const char* to_string(DistanceMethod method) {
  for (const MethodName& m : kMethods) {
    if (m.method == method) return m.name;
  }
  return "unknown";
}

std::vector<std::string> distance_methods() {
  std::vector<std::string> names;
  for (const MethodName& m : kMethods) names.push_back(m.name);
  return names;
}

DistanceMethod distance_method(const std::string& name) {
  std::string known;
  for (const MethodName& m : kMethods) {
    if (name == m.name) return m.method;
    known += known.empty() ? m.name : std::string(", ") + m.name;
  }
  throw std::invalid_argument("method = \"" + name + "\" is not one of: " + known);
}

StoppingRule stopping_rule(const std::string& name) {
  if (name == "bounds") return StoppingRule::kBounds;
  if (name == "paper-gap") return StoppingRule::kPaperGap;
  throw std::invalid_argument("stopping = \"" + name + "\" is not one of: bounds, paper-gap");
}

void DistanceSettings::validate() const {
  if (!(tolerance > 0.0)) refuse_setting("tolerance", tolerance, "> 0");
  if (max_iterations < 1) refuse_setting("max_iterations", max_iterations, ">= 1");
  if (!(max_distance >= 0.0)) refuse_setting("max_distance", max_distance, ">= 0 [m]");
}

DistanceResult distance(const Shape& a,
                        const Transform& X_WA,
                        const Shape& b,
                        const Transform& X_WB,
                        const DistanceSettings& settings,
                        DistanceCache* cache) {
  settings.validate();
  require_finite("distance: X_WA", X_WA);
  require_finite("distance: X_WB", X_WB);
  if (!a.bounded() && !b.bounded()) refuse_half_spaces();
  DistanceResult r = any_order(a, X_WA, b, X_WB, settings, cache);
  if (r.distance == 0.0) r.distance = 0.0;  // without a sign
  if (r.status == DistanceStatus::kSeparated && r.distance > settings.max_distance) {
    r.status = DistanceStatus::kBeyond;  // a closed form knows the distance all the same
  }
  return r;
}

bool collide(const Shape& a,
             const Transform& X_WA,
             const Shape& b,
             const Transform& X_WB,
             const DistanceSettings& settings,
             DistanceCache* cache,
             int* iterations) {
  settings.validate();
  require_finite("collide: X_WA", X_WA);
  require_finite("collide: X_WB", X_WB);
  if (!a.bounded() && !b.bounded()) refuse_half_spaces();
  if (iterations != nullptr) *iterations = 0;
  const bool closed_form =
      settings.method == DistanceMethod::kAuto && is_round(a.type) && is_round(b.type);
  const bool surface = is_surface(a.type) || is_surface(b.type);
  if (!a.bounded() || !b.bounded() || surface || closed_form) {
    DistanceSettings near = settings;
    near.max_distance = 0.0;
    const DistanceResult r = distance(a, X_WA, b, X_WB, near, cache);
    return r.distance <= 0.0 || r.status == DistanceStatus::kTouching;
  }
  if (a.type <= b.type) return overlap_general(a, X_WA, b, X_WB, settings, cache, iterations);
  return overlap_general(b, X_WB, a, X_WA, settings, cache, iterations);
}

}  // namespace stiction
