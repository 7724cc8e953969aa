#include "collision/convex/general_query.hpp"

#include "collision/convex/epa.hpp"
#include "collision/convex/gjk.hpp"
#include "collision/convex/nesmino.hpp"
#include "collision/convex/search_direction.hpp"
#include "collision/convex/smooth_polish.hpp"

#include <algorithm>

// The cores of sphere and capsule keep their distance; the radii are subtracted at the end.
// Warm start of a pair that overlapped: its last polytope. Of a separated one: its last simplex.

namespace stiction::detail {
namespace {

struct CoreAnswer {
  Vec3d normal, a, b;  // frame A
  double distance;
  DistanceStatus status;
  std::uint32_t feature = 0;
};

double core_radius(const Core& c) {
  if (c.mesh != nullptr) return c.mesh->bounding_radius;
  if (c.type == ShapeType::kEllipsoid) return std::max({c.half.x, c.half.y, c.half.z});
  if (c.type == ShapeType::kBox) return norm(c.half);
  return std::sqrt(c.half.x * c.half.x + c.half.z * c.half.z);
}

SupportDifference make_difference(const Shape& a,
                                  const Transform& X_WA,
                                  const Shape& b,
                                  const Transform& X_WB) {
  SupportDifference D{core_of(a), core_of(b), relative(X_WA, X_WB), 0.0};
  D.size = core_radius(D.a) + core_radius(D.b);
  return D;
}

// x points from B to A.
Vec3d start_point(const SupportDifference& D, const DistanceCache* cache) {
  if (cache != nullptr && squared_norm(cache->direction) > 0.0) return -cache->direction;
  const Vec3d x = centre(D.a) - D.X_AB * centre(D.b);
  return squared_norm(x) > 0.0 ? x : Vec3d{1.0, 0.0, 0.0};
}

bool warm_simplex(const SupportDifference& D, const DistanceCache* cache, Simplex& simplex) {
  if (cache == nullptr || cache->count == 0) return false;
  for (int i = 0; i < cache->count; ++i) {
    if (cache->index_a[i] < 0 || cache->index_b[i] < 0) return false;
    simplex.points[i] = D.at(cache->index_a[i], cache->index_b[i]);
  }
  simplex.count = cache->count;
  return true;
}

// Unit, from B to A. A triangle tells it better than the closest point, whose direction is the
// rounding of the points over the distance.
Vec3d direction_of(const Simplex& s) {
  const Vec3d x = s.closest * (1.0 / norm(s.closest));
  if (s.count < 3) return x;
  const Vec3d ab = s.points[1].w - s.points[0].w, ac = s.points[2].w - s.points[0].w;
  const Vec3d n = cross(ab, ac);
  const double nn = squared_norm(n);
  if (!(nn > 1e-12 * squared_norm(ab) * squared_norm(ac))) return x;
  return n * ((dot(n, x) < 0.0 ? -1.0 : 1.0) / std::sqrt(nn));
}

CoreAnswer from_gjk(const GjkResult& g) {
  const double d = norm(g.simplex.closest);
  const DistanceStatus status = g.end == GjkResult::End::kSeparated
                                    ? DistanceStatus::kSeparated
                                    : DistanceStatus::kMaxIterations;
  return {-direction_of(g.simplex), g.simplex.witness_a(), g.simplex.witness_b(), d, status};
}

CoreAnswer from_epa(const EpaResult& e) {
  return {e.normal,
          e.witness_a,
          e.witness_b,
          -e.depth,
          e.converged ? DistanceStatus::kPenetrating : DistanceStatus::kMaxIterations,
          e.feature};
}

// A gap below kStalled: distance and points of GJK. Its direction is good to 1e-16 / |v| * size,
// better than the nearest face of D down to about 1e-10.
CoreAnswer from_stalled_gjk(const GjkResult& g, const EpaResult& e, double size) {
  CoreAnswer answer = from_gjk(g);
  if (answer.distance < 1e-10 * size) answer.normal = e.normal;
  answer.status = DistanceStatus::kSeparated;
  return answer;
}

// Witnesses are set about their middle so that witness_b - witness_a = distance * normal to the
// last bit.
void inflate(const SupportDifference& D,
             const CoreAnswer& c,
             const Transform& X_WA,
             DistanceResult& r) {
  const double ra = D.a.radius, rb = D.b.radius;
  r.distance = c.distance - ra - rb;
  r.normal = X_WA.R * c.normal;
  const Vec3d middle = X_WA * midpoint(c.a + c.normal * ra, c.b - c.normal * rb);
  const Vec3d half = r.normal * (0.5 * r.distance);
  r.witness_a = middle - half;
  r.witness_b = middle + half;
  r.status = c.status == DistanceStatus::kMaxIterations ? c.status
                                                        : status_of(r.distance, D.size + ra + rb);
}

void beyond(const SupportDifference& D,
            const GjkResult& g,
            const Transform& X_WA,
            DistanceResult& r) {
  const Vec3d n = g.plane * (-1.0 / norm(g.plane));
  const SupportPoint& s = g.simplex.points[0];
  r.distance = g.lower - D.a.radius - D.b.radius;
  r.normal = X_WA.R * n;
  r.witness_a = X_WA * (s.a + n * D.a.radius);
  r.witness_b = X_WA * (s.b() - n * D.b.radius);
  r.status = DistanceStatus::kBeyond;
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

constexpr double kMet = 1e-9;  // relative: bounds that have met

bool finds_no_simplex(DistanceMethod method) {
  return method == DistanceMethod::kNesmino || is_frank_wolfe(method);
}

// Frank-Wolfe and NESMINO know that the shapes overlap, but hold no simplex round the origin.
GjkResult search(const SupportDifference& D,
                 const Vec3d& x0,
                 const Simplex* warm,
                 const DistanceSettings& settings,
                 double stop_above,
                 double rough = 0.0) {
  const bool smoothing = settings.method == DistanceMethod::kNesmino;
  if (!finds_no_simplex(settings.method)) return gjk(D, x0, warm, settings, stop_above, rough);
  const GjkResult g =
      smoothing ? nesmino(D, x0, settings, stop_above) : gjk(D, x0, nullptr, settings, stop_above);
  if (g.end != GjkResult::End::kOverlap) return g;
  GjkResult simplex = gjk(D, x0, nullptr, {}, stop_above);
  simplex.iterations = g.iterations;
  return simplex;
}

// Where these end without an answer, at the limit of iterations or of rounding, GJK from their last
// point tells on which side of contact the shapes are. True: `g` is GJK's proof that the cores
// overlap or are farther apart than `stop_above`. Else its upper bound stands, unless only GJK's
// shows that the shapes overlap; if GJK's lower bound meets it, it is the distance.
bool decided_by_gjk(const SupportDifference& D,
                    const DistanceSettings& settings,
                    double stop_above,
                    GjkResult& g) {
  if (g.end != GjkResult::End::kMaxIterations || !finds_no_simplex(settings.method)) return false;
  GjkResult truth = gjk(D, g.simplex.closest, nullptr, {}, stop_above);
  truth.iterations = g.iterations;
  if (truth.end == GjkResult::End::kOverlap || truth.end == GjkResult::End::kBelowBound) {
    g = truth;
    return true;
  }
  const double upper = norm(g.simplex.closest), reach = D.a.radius + D.b.radius;
  if (upper > reach && norm(truth.simplex.closest) <= reach) g.simplex = truth.simplex;
  if (truth.lower > 0.0 && upper - truth.lower <= kMet * upper) {
    g.end = GjkResult::End::kSeparated;
    g.lower = truth.lower;
  }
  return false;
}

}  // namespace

bool overlap_general(const Shape& a,
                     const Transform& X_WA,
                     const Shape& b,
                     const Transform& X_WB,
                     const DistanceSettings& settings,
                     DistanceCache* cache,
                     int* iterations) {
  const SupportDifference D = make_difference(a, X_WA, b, X_WB);
  const double reach = D.a.radius + D.b.radius;
  const double stop = reach + kTouching * (D.size + reach);
  Simplex known;
  const bool warm = warm_simplex(D, cache, known);
  GjkResult g = search(D, start_point(D, cache), warm ? &known : nullptr, settings, stop);
  decided_by_gjk(D, settings, stop, g);
  if (iterations != nullptr) *iterations = g.iterations;
  if (cache != nullptr) {
    GeneralResult r;
    const bool overlap = g.end == GjkResult::End::kOverlap;
    const Vec3d x = g.end == GjkResult::End::kBelowBound ? g.plane : g.simplex.closest;
    if (!overlap) store(g.simplex.points, g.simplex.count, r);
    if (!overlap) remember(r, -x, cache);
  }
  if (g.end == GjkResult::End::kBelowBound) return false;
  return g.end == GjkResult::End::kOverlap || norm(g.simplex.closest) <= stop;
}

namespace {

// GJK on smooth cores converges linearly: its answer is polished early, and if that fails later
// again. Of separated cores the polish proves itself, so the first stage may be as rough as pays.
struct PolishStage {
  double rough;  // of the size: bounds at which GJK pauses; 0: its own end
  int tries;     // pairs of features
};
constexpr PolishStage kStages[] = {{1e-2, 1}, {1e-5, 4}, {0.0, kAllFeatures}};

// Of the size: GJK that ended above without a proof of separation is believed nevertheless.
constexpr double kDoubt = 1e-4;

// An answer in which the cores overlap is left to EPA: GJK has not seen the other sides of D.
bool polish_gjk(const SupportDifference& D, const GjkResult& g, int tries, CoreAnswer& answer) {
  PolishedAnswer p;
  const Simplex& s = g.simplex;
  const RoughAnswer rough{answer.normal, answer.a, answer.b, s.points, s.count, g.lower, tries};
  if (!polish(D, rough, p) || !(p.distance > 0.0)) return false;
  answer = {p.normal, p.a, p.b, p.distance, DistanceStatus::kSeparated, p.feature};
  return true;
}

// GJK, then EPA if the cores overlap. False: they are farther apart than `stop`, r is final.
bool search_cold_or_warm(const SupportDifference& D,
                         const DistanceSettings& settings,
                         double stop,
                         DistanceCache* cache,
                         CoreAnswer& answer,
                         GeneralResult& r,
                         GjkResult& g) {
  Simplex known;
  bool warm = warm_simplex(D, cache, known);
  DistanceSettings left = settings;
  // The features of a mesh are small: the first guess at them would be wrong.
  const double roughest = D.a.mesh != nullptr || D.b.mesh != nullptr ? kStages[1].rough : 1.0;
  for (const PolishStage& stage : kStages) {
    if (stage.rough > (polishes(D, settings) ? roughest : 0.0)) continue;
    g = search(D, start_point(D, cache), warm ? &known : nullptr, left, stop, stage.rough * D.size);
    r.distance.iterations += g.iterations;
    left.max_iterations -= g.iterations;
    if (g.end != GjkResult::End::kRough) break;
    answer = from_gjk(g);
    store(g.simplex.points, g.simplex.count, r);
    if (polish_gjk(D, g, stage.tries, answer)) return true;
    known = g.simplex;
    warm = true;
  }
  const bool unfinished = decided_by_gjk(D, settings, stop, g);
  if (g.end == GjkResult::End::kBelowBound) {
    store(g.simplex.points, 1, r);
    return false;
  }
  if (g.end != GjkResult::End::kOverlap) {
    answer = from_gjk(g);
    store(g.simplex.points, g.simplex.count, r);
    if (!polishes(D, settings) || polish_gjk(D, g, kAllFeatures, answer)) return true;
    if (D.smooth() && g.lower > 0.0) answer.normal = g.plane * (-1.0 / norm(g.plane));
    if (answer.status == DistanceStatus::kSeparated || !(answer.distance < kDoubt * D.size)) {
      return true;
    }
    g.stalled = true;
  }
  const EpaResult e = epa(D, g.simplex, settings, cache != nullptr ? &cache->polytope : nullptr);
  r.distance.epa_iterations = e.iterations;
  answer = g.stalled && !e.polished && e.converged && e.depth < 0.0 ? from_stalled_gjk(g, e, D.size)
                                                                    : from_epa(e);
  if (unfinished) answer.status = DistanceStatus::kMaxIterations;
  store(e.face, 3, r);
  return true;
}

}  // namespace

GeneralResult query_general(const Shape& a,
                            const Transform& X_WA,
                            const Shape& b,
                            const Transform& X_WB,
                            const DistanceSettings& settings,
                            double stop_above,
                            DistanceCache* cache) {
  const SupportDifference D = make_difference(a, X_WA, b, X_WB);
  GeneralResult r;
  CoreAnswer answer;
  EpaResult e;
  if (cache != nullptr && cache->polytope.vertices > 0 &&
      epa_from(D, settings, cache->polytope, e)) {
    answer = from_epa(e);
    r.distance.epa_iterations = e.iterations;
    store(e.face, 3, r);
  } else {
    if (cache != nullptr) cache->polytope.vertices = cache->polytope.faces = 0;
    const double stop = stop_above + D.a.radius + D.b.radius;
    GjkResult g;
    if (!search_cold_or_warm(D, settings, stop, cache, answer, r, g)) {
      r.beyond = true;
      beyond(D, g, X_WA, r.distance);
      remember(r, -g.plane, cache);
      return r;
    }
  }
  r.feature = answer.feature;
  inflate(D, answer, X_WA, r.distance);
  remember(r, answer.normal, cache);
  return r;
}

DistanceResult distance_general(const Shape& a,
                                const Transform& X_WA,
                                const Shape& b,
                                const Transform& X_WB,
                                const DistanceSettings& settings,
                                DistanceCache* cache) {
  return query_general(a, X_WA, b, X_WB, settings, settings.max_distance, cache).distance;
}

// The features of a polished answer; else the vertices that carry it, in any order and however
// often they occur.
std::uint32_t vertex_feature(const GeneralResult& r) {
  if (r.feature != 0) return r.feature;
  std::uint32_t hash = 0;
  for (const int* index : {r.index_a, r.index_b}) {
    int last = -2;  // ascending, each once
    for (int n = 0; n < r.count; ++n) {
      int next = -2;
      for (int i = 0; i < r.count; ++i) {
        if (index[i] > last && (next < -1 || index[i] < next)) next = index[i];
      }
      if (next < -1) break;
      hash = mix(hash, std::uint32_t(next) + 1);
      last = next;
    }
    hash = mix(hash, 0);
  }
  return hash;
}

}  // namespace stiction::detail
