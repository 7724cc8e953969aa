#include "gjk.hpp"

#include "closed_forms.hpp"
#include "epa.hpp"

#include <algorithm>

// Gilbert-Johnson-Keerthi 1988. D is a polytope (cores of smooth shapes are points and segments),
// so the algorithm ends at the exact feature after finitely many steps; the stop on
// (upper - lower) bound, a true error of the distance, is met there to rounding.
// The tolerance of the settings is capped relative to the size: 1e-10 m would be coarse at 1 mm.

namespace stiction::detail {
namespace {

constexpr double kFloor = 1e-14;   // of the size: rounding of the bounds
constexpr double kCap = 1e-10;     // of the size
constexpr double kNormal = 1e-12;  // of the distance: the normal is then good to 1e-6 rad
constexpr double kStalled = 1e-8;  // of the size: below it a stalled search is left to EPA

double distance_tolerance(const DistanceSettings& settings, double size, double upper) {
  return std::max(kFloor * size, std::min({settings.tolerance, kCap * size, kNormal * upper}));
}

// No better point exists in double precision. A positive lower bound proves separation. Without
// one the distance is below rounding / 1e-8: |v| is right to rounding, but the noise of its
// direction hides the sign, which the faces of D tell.
void end_without_progress(double upper, double size, GjkResult& r) {
  if (r.lower > 0.0 && upper - r.lower <= 1e-9 * upper + kFloor * size) {
    r.end = GjkResult::End::kSeparated;
  } else if (upper <= kStalled * size) {
    r.end = GjkResult::End::kOverlap;
    r.stalled = true;
  }
}

bool holds(const Simplex& s, const SupportPoint& w) {
  for (int i = 0; i < s.count; ++i) {
    if (s.points[i].same_as(w)) return true;
  }
  return false;
}

}  // namespace

GjkResult gjk(SupportDifference& D,
              const Vec3d& start,
              const DistanceSettings& settings,
              double stop_above) {
  GjkResult r;
  Simplex& simplex = r.simplex;
  simplex.points[0] = D(-start);
  simplex.count = 1;
  simplex.reduce();
  const double touching = kTouching * D.size;
  for (; r.iterations < settings.max_iterations; ++r.iterations) {
    const Vec3d v = simplex.closest;
    const double upper = norm(v);
    if (upper <= touching) {
      r.end = GjkResult::End::kOverlap;
      return r;
    }
    const SupportPoint w = D(-v);
    r.lower = std::max(r.lower, dot(v, w.w) / upper);  // the plane through w normal to v
    if (r.lower > stop_above) {
      r.end = GjkResult::End::kBelowBound;
      return r;
    }
    if (r.lower > 0.0 && upper - r.lower <= distance_tolerance(settings, D.size, upper)) {
      r.end = GjkResult::End::kSeparated;
      return r;
    }
    if (holds(simplex, w)) {
      end_without_progress(upper, D.size, r);
      return r;
    }
    const Simplex before = simplex;
    simplex.points[simplex.count++] = w;
    if (!simplex.reduce()) {
      r.end = GjkResult::End::kOverlap;
      return r;
    }
    if (squared_norm(simplex.closest) >= upper * upper) {  // rounding: the last simplex was best
      simplex = before;
      end_without_progress(upper, D.size, r);
      return r;
    }
  }
  return r;
}

namespace {

Vec3d centre(const Core& c) { return c.mesh != nullptr ? c.mesh->centroid : Vec3d{0, 0, 0}; }

double core_radius(const Core& c) {
  return c.mesh != nullptr ? c.mesh->bounding_radius : norm(c.half);
}

// v = a - b points from B to A.
Vec3d start_direction(const SupportDifference& D, const DistanceCache* cache) {
  if (cache != nullptr && cache->count > 0) return -cache->direction;
  const Vec3d v = centre(D.a) - D.X_AB * centre(D.b);
  return squared_norm(v) > 0.0 ? v : Vec3d{1.0, 0.0, 0.0};
}

struct CoreAnswer {
  Vec3d normal, a, b;
  double distance;
  DistanceStatus status;
};

CoreAnswer from_gjk(const GjkResult& g) {
  const double d = norm(g.simplex.closest);
  const DistanceStatus status = g.end == GjkResult::End::kSeparated
                                    ? DistanceStatus::kSeparated
                                    : DistanceStatus::kMaxIterations;
  return {g.simplex.closest * (-1.0 / d), g.simplex.witness_a(), g.simplex.witness_b(), d, status};
}

CoreAnswer from_epa(const EpaResult& e) {
  return {e.normal,
          e.witness_a,
          e.witness_b,
          -e.depth,
          e.converged ? DistanceStatus::kPenetrating : DistanceStatus::kMaxIterations};
}

// A gap below kStalled: distance and points of GJK. Its direction is good to 1e-16 / |v| * size,
// better than the nearest face of D down to about 1e-10.
CoreAnswer from_stalled_gjk(const GjkResult& g, const EpaResult& e, double size) {
  CoreAnswer answer = from_gjk(g);
  if (answer.distance < 1e-10 * size) answer.normal = e.normal;
  answer.status = DistanceStatus::kSeparated;
  return answer;
}

// The cores of sphere and capsule keep their distance; the radii are subtracted. Witnesses are set
// about their middle so that witness_b - witness_a = distance * normal to the last bit.
DistanceResult inflate(const SupportDifference& D, const CoreAnswer& c, const Transform& X_WA) {
  const double ra = D.a.radius, rb = D.b.radius, distance = c.distance - ra - rb;
  const Vec3d normal = X_WA.R * c.normal;
  const Vec3d middle = X_WA * midpoint(c.a + c.normal * ra, c.b - c.normal * rb);
  const DistanceStatus status =
      c.status == DistanceStatus::kMaxIterations ? c.status : status_of(distance, D.size + ra + rb);
  const Vec3d half = normal * (0.5 * distance);
  return {distance, middle - half, middle + half, normal, 0, status};
}

void store(const SupportPoint* points, int count, GeneralResult& r) {
  r.count = count;
  for (int i = 0; i < count; ++i) {
    r.index_a[i] = points[i].index_a;
    r.index_b[i] = points[i].index_b;
  }
}

void remember(const GeneralResult& r, const Vec3d& direction, DistanceCache* cache) {
  if (cache == nullptr) return;
  cache->count = r.count;
  cache->direction = direction;
  for (int i = 0; i < r.count; ++i) {
    cache->index_a[i] = r.index_a[i];
    cache->index_b[i] = r.index_b[i];
  }
}

SupportDifference make_difference(const Shape& a,
                                  const Transform& X_WA,
                                  const Shape& b,
                                  const Transform& X_WB) {
  SupportDifference D{core_of(a), core_of(b), relative(X_WA, X_WB), 0.0, 0, 0};
  D.size = core_radius(D.a) + core_radius(D.b);
  return D;
}

}  // namespace

bool overlap_general(const Shape& a, const Transform& X_WA, const Shape& b, const Transform& X_WB) {
  SupportDifference D = make_difference(a, X_WA, b, X_WB);
  const double reach = D.a.radius + D.b.radius;
  const double stop = reach + kTouching * (D.size + reach);
  const GjkResult g = gjk(D, start_direction(D, nullptr), {}, stop);
  if (g.end == GjkResult::End::kBelowBound) return false;
  return g.end == GjkResult::End::kOverlap || norm(g.simplex.closest) <= stop;
}

GeneralResult query_general(const Shape& a,
                            const Transform& X_WA,
                            const Shape& b,
                            const Transform& X_WB,
                            const DistanceSettings& settings,
                            double stop_above,
                            DistanceCache* cache) {
  SupportDifference D = make_difference(a, X_WA, b, X_WB);
  if (cache != nullptr && cache->count > 0) {
    D.hint_a = cache->index_a[0];
    D.hint_b = cache->index_b[0];
  }
  GeneralResult r;
  const double radii = D.a.radius + D.b.radius;
  const GjkResult g = gjk(D, start_direction(D, cache), settings, stop_above + radii);
  if (g.end == GjkResult::End::kBelowBound) {
    r.beyond = true;
    return r;
  }
  CoreAnswer answer;
  int iterations = g.iterations;
  if (g.end == GjkResult::End::kOverlap) {
    const EpaResult e = epa(D, g.simplex, settings);
    answer =
        g.stalled && e.converged && e.depth < 0.0 ? from_stalled_gjk(g, e, D.size) : from_epa(e);
    iterations += e.iterations;
    store(e.face, 3, r);
  } else {
    answer = from_gjk(g);
    store(g.simplex.points, g.simplex.count, r);
  }
  r.distance = inflate(D, answer, X_WA);
  r.distance.iterations = iterations;
  remember(r, answer.normal, cache);
  return r;
}

DistanceResult distance_general(const Shape& a,
                                const Transform& X_WA,
                                const Shape& b,
                                const Transform& X_WB,
                                const DistanceSettings& settings,
                                DistanceCache* cache) {
  return query_general(a, X_WA, b, X_WB, settings, HUGE_VAL, cache).distance;
}

}  // namespace stiction::detail
