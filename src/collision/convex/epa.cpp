#include "collision/convex/epa.hpp"

#include "collision/convex/smooth_polish.hpp"

#include <algorithm>

// Expanding polytope (van den Bergen 2001). A triangulated polytope inside D with the origin in it
// grows at its closest face until the support plane of that face is the face itself. Any shell of
// points of D round the origin will do as a start, convex or not: its closest face bounds the depth
// from below, since the ball about the origin up to that face lies within the shell.

namespace stiction::detail {
namespace {

constexpr double kTolerance = 1e-13;    // of the size: support plane and face coincide
constexpr double kSmoothFloor = 1e-12;  // the same where facets never coincide
// Smooth cores are polished once the depth is known to both. Another local minimum that undercuts
// this one by less goes unnoticed.
constexpr double kRough = 1e-9;       // of the size
constexpr double kRoughShare = 1e-6;  // of the depth
constexpr int kLastTries = 12;        // faces polished when the growth ended early
constexpr double kCap = 1e-10;        // of the size: the tolerance asked for is not taken above it
constexpr double kCoplanar = 1e-12;   // of the size: faces as close as the closest one

// Weights of the foot of the origin in a triangle, and the least of them: negative if outside.
double foot_weights(const Polytope& polytope, int f, double weight[3]) {
  const Vec3d n = polytope.normal(f), foot = n * polytope.distance(f);
  const Vec3d a = polytope.corner(f, 0).w - foot, b = polytope.corner(f, 1).w - foot,
              c = polytope.corner(f, 2).w - foot;
  weight[0] = dot(n, cross(b, c));
  weight[1] = dot(n, cross(c, a));
  weight[2] = dot(n, cross(a, b));
  const double sum = weight[0] + weight[1] + weight[2];
  for (int k = 0; k < 3; ++k) weight[k] /= sum;
  return std::min({weight[0], weight[1], weight[2]});
}

// The point of the triangle closest to p, as a simplex about p.
Simplex closest_to(const Polytope& polytope, int f, const Vec3d& p) {
  Simplex s;
  for (int k = 0; k < 3; ++k) {
    s.points[k] = polytope.corner(f, k);
    s.points[k].w -= p;
  }
  s.count = 3;
  s.reduce();
  return s;
}

// The foot of the origin on the plane of the closest face lies in the polytope, but maybe in
// another of several faces that are coplanar to rounding: the face that comes nearest to it.
int face_at_foot(const Polytope& polytope, int closest) {
  const Vec3d n = polytope.normal(closest), foot = n * polytope.distance(closest);
  int best = closest;
  double least = HUGE_VAL;
  for (int f = 0; f < polytope.face_count(); ++f) {
    if (polytope.distance(f) == HUGE_VAL || !(dot(polytope.normal(f), n) > 0.5)) continue;
    const double d = squared_norm(closest_to(polytope, f, foot).closest);
    if (!(d < least)) continue;
    least = d;
    best = f;
  }
  return best;
}

void set_witness(const Polytope& polytope, int closest, EpaResult& r) {
  double weight[3];
  int face = closest;
  if (foot_weights(polytope, closest, weight) < 0.0) {
    face = face_at_foot(polytope, closest);
    const Vec3d foot = polytope.normal(closest) * polytope.distance(closest);
    Simplex s = closest_to(polytope, face, foot);
    r.witness_a = s.witness_a();
    r.witness_b = {0, 0, 0};
    for (int k = 0; k < s.count; ++k)
      r.witness_b += (s.points[k].a - s.points[k].w - foot) * s.weights[k];
  } else {
    r.witness_a = r.witness_b = {0, 0, 0};
    for (int k = 0; k < 3; ++k) {
      r.witness_a += polytope.corner(face, k).a * weight[k];
      r.witness_b += polytope.corner(face, k).b() * weight[k];
    }
  }
  for (int k = 0; k < 3; ++k) r.face[k] = polytope.corner(face, k);
}

// Depth along the normal of face f; true if it is the depth of D. A face whose support point is
// known is as good as a facet of D: what the point pokes out of its plane is rounding, of the
// normal of a long thin face if it is its own corner. Its depth `held` is kept until another face
// is shallower.
bool look_at(const SupportDifference& D,
             const Polytope& polytope,
             int f,
             double tolerance,
             SupportPoint& w,
             double& held,
             EpaResult& r) {
  const double d = polytope.distance(f);
  w = D(polytope.normal(f));
  const double h = dot(polytope.normal(f), w.w);
  const bool final = h - d <= tolerance;
  const bool better_held = r.depth == held && held + tolerance < h;
  if (h < r.depth || (final && !better_held)) {
    r.depth = h;
    r.normal = polytope.normal(f);
    const bool known = !final && polytope.holds(w);
    if (final || known) set_witness(polytope, f, r);
    if (known) held = h;
  }
  return final;
}

bool polish_face(const SupportDifference& D, EpaResult& r) {
  PolishedAnswer p;
  const RoughAnswer rough{r.normal, r.witness_a, r.witness_b, r.face, 3, -r.depth, kAllFeatures};
  if (!polish(D, rough, p)) return false;
  r.converged = r.polished = true;
  r.normal = p.normal;
  r.depth = -p.distance;
  r.feature = p.feature;
  r.witness_a = p.a;
  r.witness_b = p.b;
  return true;
}

// The best local minimum of the depth that is found from the closest faces.
void polish_closest_faces(const SupportDifference& D, Polytope& polytope, EpaResult& r) {
  for (int k = 0; k < kLastTries; ++k) {
    const int f = polytope.closest();
    if (!(polytope.distance(f) < r.depth)) return;
    EpaResult t = r;
    t.normal = polytope.normal(f);
    set_witness(polytope, f, t);
    if (polish_face(D, t) && (!r.converged || t.depth < r.depth)) r = t;
    polytope.disable(f);
  }
}

// Rounding may stop the growth early (slivers of nearly parallel edges): good enough if closed to
// what the caller asks for. Polytopes are expanded to the exact facet, which costs nothing.
// False: the carried shell of shapes that have turned is not convex any more: a known vertex lies
// above its closest face, or the origin behind one.
bool expand(const SupportDifference& D,
            const DistanceSettings& settings,
            bool carried,
            Polytope& polytope,
            EpaResult& r) {
  r.depth = HUGE_VAL;
  const double tight = kTolerance * D.size;
  const double floor = D.smooth() ? kSmoothFloor * D.size : tight;
  const double asked = std::max(floor, std::min(settings.tolerance, kCap * D.size));
  double rough = polishes(D, settings) ? kRough * D.size : 0.0;
  SupportPoint w;
  double held = -1.0;
  for (; r.iterations < settings.max_iterations; ++r.iterations) {
    const int f = polytope.closest();
    if (polytope.distance(f) == HUGE_VAL) {  // nothing but slivers is left
      r.converged = r.depth == held;
      return true;
    }
    if (carried && !(polytope.distance(f) > 0.0)) return false;
    const double near = std::min(rough, kRoughShare * polytope.distance(f));
    const double tolerance = D.smooth() ? asked : tight;
    const bool is_rough = look_at(D, polytope, f, std::max(near, tolerance), w, held, r);
    if (is_rough && rough > 0.0) {
      if (polish_face(D, r)) return true;
      rough = 0.0;
    }
    r.converged = is_rough && r.depth - polytope.distance(f) <= tolerance;
    if (r.converged) return true;
    // A known vertex above the plane: a sliver whose normal is noise. Its neighbours cover it.
    if (polytope.holds(w)) {
      if (carried) return false;
      polytope.disable(f);
    } else if (!polytope.insert(w, f)) {
      if (carried) return false;
      break;
    }
  }
  const int f = polytope.closest();
  if (polytope.distance(f) == HUGE_VAL) return true;
  r.converged = r.depth - polytope.distance(f) <= asked;
  if (r.depth == held) return true;  // it has its witness points
  const EpaResult best = r;
  look_at(D, polytope, f, HUGE_VAL, w, held, r);  // witness points of the last face
  if (best.depth < r.depth) {
    r.depth = best.depth;
    r.normal = best.normal;
  }
  if (!r.converged && polishes(D, settings)) polish_closest_faces(D, polytope, r);
  return true;
}

}  // namespace

EpaResult epa(const SupportDifference& D,
              const Simplex& start,
              const DistanceSettings& settings,
              PolytopeCache* saved) {
  EpaResult r;
  Polytope polytope(D.size);
  if (!polytope.start(D, start)) {  // D is flat: no translation is needed across it
    r.witness_a = start.points[0].a;
    r.witness_b = start.points[0].b();
    for (SupportPoint& p : r.face) p = start.points[0];
    return r;
  }
  expand(D, settings, false, polytope, r);
  if (saved != nullptr) polytope.save(*saved);
  return r;
}

bool epa_from(const SupportDifference& D,
              const DistanceSettings& settings,
              PolytopeCache& cache,
              EpaResult& r) {
  Polytope polytope(D.size);
  if (!polytope.load(D, cache)) return false;
  const int known = polytope.vertex_count();
  if (!expand(D, settings, true, polytope, r)) return false;
  if (polytope.vertex_count() > known) polytope.save(cache);
  return true;
}

}  // namespace stiction::detail
