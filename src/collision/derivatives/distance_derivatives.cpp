#include "stiction/collision/distance_derivatives.hpp"

#include "collision/derivatives/contact_query.hpp"
#include "collision/derivatives/sampled_derivatives.hpp"
#include "collision/derivatives/smoothed_support.hpp"
#include "collision/derivatives/ties.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace stiction {
namespace {

using namespace detail;

constexpr double kOtherPlacement = 1e-4;  // of the size: above what a coarse tolerance leaves
constexpr double kNoNormal = 1e-9;  // of the size: the normal of a pair so near may be rounding

struct MethodName {
  DerivativeMethod method;
  const char* name;
};
constexpr MethodName kMethods[] = {
    {DerivativeMethod::kExact, "exact"},
    {DerivativeMethod::kFiniteDifferences, "finite-differences"},
    {DerivativeMethod::kGaussian0, "gaussian-0"},
    {DerivativeMethod::kGaussian1, "gaussian-1"},
    {DerivativeMethod::kGumbel, "gumbel"},
};

void require(bool holds, const char* field, double value, const char* rule) {
  if (holds) return;
  std::ostringstream message;
  message << "distance_derivatives: settings." << field << " = " << value << " must be " << rule;
  throw std::invalid_argument(message.str());
}

Vec3d row(const Mat3d& m, int r) { return {m.c0[r], m.c1[r], m.c2[r]}; }

void put(const LinearMap& m, double (&out)[3][6]) {
  for (int r = 0; r < 3; ++r) {
    for (int k = 0; k < 3; ++k) {
      out[r][k] = row(m.u, r)[k];
      out[r][3 + k] = row(m.w, r)[k];
    }
  }
}

void put(const PointMotion& m, DistanceDerivatives& d) {
  put(m.normal, d.normal);
  put(m.point_a, d.witness_a);
  put(m.point_b, d.witness_b);
  for (int k = 0; k < 3; ++k) {
    d.distance[k] = m.gap.u[k];
    d.distance[3 + k] = m.gap.w[k];
  }
}

PointMotion exact(const ContactQuery& q) {
  const bool surface = is_surface(q.side_a.core.type) || is_surface(q.side_b.core.type);
  if (!surface) return smooth_point(q);
  if (q.a.bounded() && q.b.bounded()) return surface_point(q);
  PointMotion m;  // a corner on a half-space
  const PointFeature corner, plane = plane_feature(q.at.n);
  m.normal = motion_of_face_normal(q.at.n, q.a.bounded());
  motion_of_points(q.at, q.a.bounded() ? corner : plane, q.a.bounded() ? plane : corner, m);
  return m;
}

/// How far the farthest point of a shape along `outward` is from `p` along it [m].
double off_support(const Shape& s, const Transform& X, const Vec3d& outward, const Vec3d& p) {
  const Vec3d d = transpose_times(X.R, outward), x = transpose_times(X.R, p - X.p);
  return std::abs(s.bounded() ? dot(d, support(s, d) - x) : x.z);
}

/// Refuses answers of other shapes or placements: the points are not where the shapes end. Overlaps
/// with surfaces are contacts, whose points may be anywhere.
void require_answer(const Shape& a,
                    const Transform& X_WA,
                    const Shape& b,
                    const Transform& X_WB,
                    const DistanceResult& at) {
  if (is_surface(a.type) || is_surface(b.type)) return;
  const double size = size_of_pair(a, b), most = kOtherPlacement * size;
  if (std::abs(at.distance) <= kNoNormal * size) return;
  const double off_a = off_support(a, X_WA, at.normal, at.witness_a),
               off_b = off_support(b, X_WB, -at.normal, at.witness_b);
  if (at.status == DistanceStatus::kMaxIterations || (off_a <= most && off_b <= most)) return;
  const bool of_a = !(off_a <= most);
  std::ostringstream message;
  message << "distance_derivatives: at: is no answer for these shapes and placements: its witness_"
          << (of_a ? "a" : "b") << " is " << (of_a ? off_a : off_b) << " m off "
          << (of_a ? "a at X_WA" : "b at X_WB");
  throw std::invalid_argument(message.str());
}

/// False if the Hessians do not exceed the depth.
bool smoothed(const ContactQuery& q, const DerivativeSettings& settings, PointMotion& m) {
  PointFeature a, b;
  const double depth = std::max(-q.at.gap, 0.0);
  const bool smooth_a = smoothed_feature(q.side_a, settings, depth, a);
  const bool smooth_b = smoothed_feature(q.side_b, settings, depth, b);
  // Of the pairs only half-spaces are flat on one side; what a surface shows depends on the other.
  if (!smooth_a && !touching_feature(q.side_a, a)) return false;
  if (!smooth_b && !touching_feature(q.side_b, b)) return false;
  if (!motion_of_common_normal(q.at, a, b, m.normal)) return false;
  motion_of_points(q.at, a, b, m);
  return true;
}

void by_features(const Shape& a,
                 const Transform& X_WA,
                 const Shape& b,
                 const Transform& X_WB,
                 const DistanceResult& at,
                 const DerivativeSettings& settings,
                 DistanceDerivatives& d) {
  const Contact none{};
  const TouchingPoints points{
      at.normal, X_WB.p, at.witness_a, at.witness_b, at.distance, size_of_pair(a, b)};
  const ContactQuery q = contact_query(none, a, X_WA, b, X_WB, points);
  PointMotion m;
  d.status = DerivativeStatus::kSmoothed;
  const bool surface = is_surface(a.type) || is_surface(b.type);
  const bool want_exact = settings.method == DerivativeMethod::kExact || surface;
  if (want_exact || !smoothed(q, settings, m)) {
    m = exact(q);
    d.status = !want_exact ? DerivativeStatus::kFace
               : m.exact   ? DerivativeStatus::kSmooth
                           : DerivativeStatus::kKink;
  }
  put(m, d);
}

}  // namespace

const char* to_string(DerivativeMethod method) {
  for (const MethodName& m : kMethods) {
    if (m.method == method) return m.name;
  }
  return "unknown";
}

std::vector<std::string> derivative_methods() {
  std::vector<std::string> names;
  for (const MethodName& m : kMethods) names.push_back(m.name);
  return names;
}

DerivativeMethod derivative_method(const std::string& name) {
  std::string known;
  for (const MethodName& m : kMethods) {
    if (name == m.name) return m.method;
    known += known.empty() ? m.name : std::string(", ") + m.name;
  }
  throw std::invalid_argument("method = \"" + name + "\" is not one of: " + known);
}

const char* to_string(DerivativeStatus status) {
  switch (status) {
    case DerivativeStatus::kSmooth:
      return "smooth";
    case DerivativeStatus::kKink:
      return "kink";
    case DerivativeStatus::kSampled:
      return "sampled";
    case DerivativeStatus::kSmoothed:
      return "smoothed";
    case DerivativeStatus::kFace:
      return "face";
  }
  return "unknown";
}

void DerivativeSettings::validate() const {
  const auto positive = [](double x) { return x > 0.0 && x < kInfinity; };
  require(positive(step), "step", step, "> 0 [m, rad]");
  require(positive(spread_linear), "spread_linear", spread_linear, "> 0 [m]");
  require(positive(spread_angular), "spread_angular", spread_angular, "> 0 [rad]");
  require(positive(spread_direction), "spread_direction", spread_direction, "> 0 [rad]");
  require(samples >= 1, "samples", samples, ">= 1");
  require(level >= 1, "level", level, ">= 1");
  require(temperature == 0.0 || positive(temperature), "temperature", temperature, ">= 0 [m]");
}

DistanceDerivatives distance_derivatives(const Shape& a,
                                         const Transform& X_WA,
                                         const Shape& b,
                                         const Transform& X_WB,
                                         const DistanceResult& at,
                                         const DerivativeSettings& settings,
                                         const DistanceCache* cache) {
  settings.validate();
  require_finite("distance_derivatives: X_WA", X_WA);
  require_finite("distance_derivatives: X_WB", X_WB);
  if (at.status == DistanceStatus::kBeyond) {
    throw std::invalid_argument(
        "distance_derivatives: at.status = beyond: no witness points, ask distance() without "
        "max_distance");
  }
  require_answer(a, X_WA, b, X_WB, at);
  DistanceDerivatives d{};
  if (settings.method == DerivativeMethod::kFiniteDifferences) {
    d.status = DerivativeStatus::kSampled;
    finite_differences(a, X_WA, b, X_WB, settings, cache, d);
  } else if (settings.method == DerivativeMethod::kGaussian0) {
    d.status = DerivativeStatus::kSampled;
    sampled_placements(a, X_WA, b, X_WB, at, settings, cache, d);
  } else {
    const bool hull_a = is_convex_surface(a), hull_b = is_convex_surface(b);
    const Shape own_a = hull_a ? hull_of(a) : Shape{}, own_b = hull_b ? hull_of(b) : Shape{};
    by_features(hull_a ? own_a : a, X_WA, hull_b ? own_b : b, X_WB, at, settings, d);
    if (d.smooth() &&
        (a.hollow() || b.hollow() ? !agrees_with_queries(a, X_WA, b, X_WB, at, d, cache)
                                  : is_tied(a, X_WA, b, X_WB, at, cache)))
      d.status = DerivativeStatus::kKink;
  }
  return d;
}

void distance_derivatives_of_pairs(const PlacedPair* pairs,
                                   int count,
                                   const DerivativeSettings& settings,
                                   DistanceResult* at,
                                   DistanceDerivatives* out) {
  DistanceCache cache;
  for (int i = 0; i < count; ++i) {
    const PlacedPair& p = pairs[i];
    cache = {};
    at[i] = distance(*p.a, p.X_WA, *p.b, p.X_WB, {}, &cache);
    out[i] = distance_derivatives(*p.a, p.X_WA, *p.b, p.X_WB, at[i], settings, &cache);
  }
}

}  // namespace stiction
