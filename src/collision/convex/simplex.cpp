#include "collision/convex/simplex.hpp"

#include <limits>

// Closest point of a simplex to the origin, by descending from the full feature to its sides.
// Signs come from triple products n.(A x B) rather than from products of dot products, which lose
// half of the digits (Ericson 2004, section 9.5, has the latter).

namespace stiction::detail {
namespace {

// Squares of sines and of relative errors, for double; they scale with the square of the precision.
template <class Real>
constexpr Real precision() {
  constexpr Real e = std::numeric_limits<Real>::epsilon() / std::numeric_limits<double>::epsilon();
  return e * e;
}
template <class Real>
constexpr Real kFlatTriangle = 1e-28 * precision<Real>();  // angle; below, it is its edges
template <class Real>
constexpr Real kThinTriangle =
    1e-12 * precision<Real>();  // angle; weights of outer points are noise
template <class Real>
constexpr Real kFlatTetrahedron = 1e-24 * precision<Real>();  // height over base and edge
template <class Real>
constexpr Real kRounding = 1e-29 * precision<Real>();  // triple product over its three lengths

// The rounding of ab t along ab, of the size of w, would turn the direction of a short v out of the
// plane normal to the edge, and the support plane along it would lose the far end of the edge: one
// step of refinement leaves a rounding of the size of v.
template <class Real>
Feature<Real> closest_on_edge(const Vec3<Real>* w, int i, int j) {
  const Vec3<Real> ab = w[j] - w[i];
  const Real length2 = squared_norm(ab), along = -dot(w[i], ab);
  if (!(along > 0.0)) return {w[i], squared_norm(w[i]), 1, {i, 0, 0}, {1.0, 0.0, 0.0}};
  if (along >= length2) return {w[j], squared_norm(w[j]), 1, {j, 0, 0}, {1.0, 0.0, 0.0}};
  Real t = along / length2;
  Vec3<Real> v = w[i] + ab * t;
  const Real rest = dot(v, ab) / length2;
  v -= ab * rest;
  t -= rest;
  return {v, squared_norm(v), 2, {i, j, 0}, {1.0 - t, t, 0.0}};
}

template <class Real>
void keep_closer(Feature<Real>& best, const Feature<Real>& other) {
  if (other.distance2 < best.distance2) best = other;
}

// n = (w_j - w_i) x (w_k - w_i) and its squared length.
template <class Real>
Feature<Real> closest_on_triangle(
    const Vec3<Real>* w, int i, int j, int k, const Vec3<Real>& n, Real nn) {
  const Vec3<Real>&a = w[i], &b = w[j], &c = w[k];
  const Real area2 = squared_norm(b - a) * squared_norm(c - a);
  Real wa = -1.0, wb = -1.0, wc = -1.0;
  if (nn > kFlatTriangle<Real> * area2) {
    wa = dot(n, cross(b, c));
    wb = dot(n, cross(c, a));
    wc = dot(n, cross(a, b));
    if (wa >= 0.0 && wb >= 0.0 && wc >= 0.0) {
      const Real height = dot(n, a), s = 1.0 / (wa + wb + wc);
      return {n * (height / nn), height * height / nn, 3, {i, j, k}, {wa * s, wb * s, wc * s}};
    }
  }
  // The closest point lies on an edge whose opposite corner has a negative weight; the signs of a
  // thin triangle are not to be trusted.
  const bool thin = nn <= kThinTriangle<Real> * area2;
  Feature<Real> best{a, HUGE_VAL, 0, {0, 0, 0}, {0, 0, 0}};
  if (thin || wc < 0.0) keep_closer(best, closest_on_edge(w, i, j));
  if (thin || wa < 0.0) keep_closer(best, closest_on_edge(w, j, k));
  if (thin || wb < 0.0) keep_closer(best, closest_on_edge(w, i, k));
  return best;
}

template <class Real>
Feature<Real> closest_on_triangle(const Vec3<Real>* w, int i, int j, int k) {
  const Vec3<Real> n = cross(w[j] - w[i], w[k] - w[i]);
  return closest_on_triangle(w, i, j, k, n, squared_norm(n));
}

// A face is a candidate if the origin and the fourth corner lie on different sides of it, or if the
// tetrahedron is too flat to tell. No candidate: the origin is inside.
template <class Real>
Feature<Real> closest_on_tetrahedron(const Vec3<Real>* w, bool& inside) {
  constexpr int kFaces[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
  Feature<Real> best{w[0], HUGE_VAL, 0, {0, 0, 0}, {0, 0, 0}};
  inside = true;
  for (const auto& f : kFaces) {
    const Vec3<Real>& a = w[f[0]];
    const Vec3<Real> ab = w[f[1]] - a, ac = w[f[2]] - a, ad = w[f[3]] - a, n = cross(ab, ac);
    const Real origin = -dot(n, a), fourth = dot(n, ad), height2 = fourth * fourth;
    const Real ad2 = squared_norm(ad);
    const bool flat = height2 <= kFlatTetrahedron<Real> * squared_norm(n) * ad2 ||
                      height2 <= kRounding<Real> * squared_norm(ab) * squared_norm(ac) * ad2;
    if (!flat && (origin == 0.0 || (origin > 0.0) == (fourth > 0.0))) continue;
    inside = false;
    keep_closer(best, closest_on_triangle(w, f[0], f[1], f[2]));
  }
  return best;
}

// With p = w[count], the newest point, only features that hold p can be closer than the old ones,
// and the point is the closest one of all if it lies inside a face that looks at the origin.

template <class Real>
void keep_closer_on_newest_edge(Feature<Real>& best, const Vec3<Real>* w, int i, int p) {
  const Vec3<Real> e = w[i] - w[p];
  const Real length2 = squared_norm(e), along = -dot(w[p], e);
  if (!(along > 0.0)) {
    keep_closer(best, {w[p], squared_norm(w[p]), 1, {p, 0, 0}, {1.0, 0.0, 0.0}});
    return;
  }
  if (along >= length2) return;  // the old point
  Real t = along / length2;
  Vec3<Real> v = w[p] + e * t;
  const Real rest = dot(v, e) / length2;
  v -= e * rest;
  t -= rest;
  const Real distance2 = squared_norm(v);
  if (distance2 < best.distance2) best = {v, distance2, 2, {i, p, 0}, {t, 1.0 - t, 0.0}};
}

enum class Face { kInside, kOutside, kThin };

// The face (i, j, p) with normal n: its inner point, or which edges at p to look at.
template <class Real>
Face closest_in_newest_face(const Vec3<Real>* w,
                            int i,
                            int j,
                            int p,
                            const Vec3<Real>& n,
                            Real edges2,
                            Feature<Real>& best,
                            bool* edge) {
  const Real nn = squared_norm(n);
  if (!(nn > kThinTriangle<Real> * edges2)) return Face::kThin;
  const Real wi = dot(n, cross(w[j], w[p])), wj = dot(n, cross(w[p], w[i])),
             wp = dot(n, cross(w[i], w[j]));
  if (wi >= 0.0 && wj >= 0.0 && wp >= 0.0) {
    const Real height = dot(n, w[p]), h = height / nn, s = 1.0 / (wi + wj + wp);
    best = {n * h, height * h, 3, {i, j, p}, {wi * s, wj * s, wp * s}};
    return Face::kInside;
  }
  edge[j] |= wi < 0.0;
  edge[i] |= wj < 0.0;
  return Face::kOutside;
}

// Old points 0 and 1.
template <class Real>
bool closest_on_newest_triangle(const Vec3<Real>* w, Feature<Real>& best) {
  const Vec3<Real> e0 = w[0] - w[2], e1 = w[1] - w[2];
  bool edge[2] = {};
  const Face face = closest_in_newest_face(
      w, 0, 1, 2, cross(e0, e1), squared_norm(e0) * squared_norm(e1), best, edge);
  if (face != Face::kOutside) return face == Face::kInside;
  for (int i = 0; i < 2; ++i) {
    if (edge[i]) keep_closer_on_newest_edge(best, w, i, 2);
  }
  return true;
}

// Old points 0, 1 and 2. The faces share the determinant that tells on which side the fourth corner
// lies. False: the tetrahedron is too flat to tell, or a closer look at all faces is needed.
template <class Real>
bool closest_on_newest_tetrahedron(const Vec3<Real>* w, Feature<Real>& best, bool& inside) {
  const Vec3<Real>& p = w[3];
  const Vec3<Real> e[3] = {w[0] - p, w[1] - p, w[2] - p};
  const Vec3<Real> n[3] = {cross(e[1], e[2]), cross(e[0], e[2]), cross(e[0], e[1])};
  const Real e2[3] = {squared_norm(e[0]), squared_norm(e[1]), squared_norm(e[2])};
  const Real det = dot(e[0], n[0]), det2 = det * det;
  if (det2 <= kRounding<Real> * e2[0] * e2[1] * e2[2]) return false;
  constexpr int kOther[3][2] = {{1, 2}, {0, 2}, {0, 1}};
  bool edge[3] = {};
  inside = true;
  for (int k = 0; k < 3; ++k) {
    if (det2 <= kFlatTetrahedron<Real> * squared_norm(n[k]) * e2[k]) return false;
    const Real origin = -dot(n[k], p), fourth = k == 1 ? -det : det;
    if (origin == 0.0 || (origin > 0.0) == (fourth > 0.0)) continue;
    inside = false;
    const int i = kOther[k][0], j = kOther[k][1];
    const Face face = closest_in_newest_face(w, i, j, 3, n[k], e2[i] * e2[j], best, edge);
    if (face != Face::kOutside) return face == Face::kInside;
  }
  if (inside) {
    const Vec3<Real> base = cross(w[1] - w[0], w[2] - w[0]);
    return (dot(base, w[0]) > 0.0) != (dot(base, p) - dot(base, w[0]) > 0.0);
  }
  for (int i = 0; i < 3; ++i) {
    if (edge[i]) keep_closer_on_newest_edge(best, w, i, 3);
  }
  return true;
}

/// False: look at all features.
template <class Real>
bool closest_newest_feature(const Vec3<Real>* w, int old, Feature<Real>& best, bool& inside) {
  best.distance2 = HUGE_VAL;
  inside = false;
  if (old == 3) return closest_on_newest_tetrahedron(w, best, inside);
  if (old == 2) return closest_on_newest_triangle(w, best);
  keep_closer_on_newest_edge(best, w, 0, 1);
  return true;
}

}  // namespace

template <class Real>
void Simplex::keep(const Feature<Real>& f) {
  for (int i = 0; i < f.count; ++i) {  // indices ascend: nothing is overwritten too early
    if (f.index[i] != i) points[i] = points[f.index[i]];
    weights[i] = double(f.weight[i]);
  }
  count = f.count;
  closest = {double(f.v.x), double(f.v.y), double(f.v.z)};
}

namespace {

/// False: the origin is inside the tetrahedron.
template <class Real>
bool closest_feature(const Vec3<Real>* w, int count, Feature<Real>& f) {
  switch (count) {
    case 1:
      f = {w[0], squared_norm(w[0]), 1, {0, 0, 0}, {1.0, 0.0, 0.0}};
      return true;
    case 2:
      f = closest_on_edge(w, 0, 1);
      return true;
    case 3:
      f = closest_on_triangle(w, 0, 1, 2);
      return true;
    default: {
      bool inside;
      f = closest_on_tetrahedron(w, inside);
      return !inside;
    }
  }
}

template <class Real>
void positions(const SupportPoint* points, int count, Vec3<Real>* w) {
  for (int i = 0; i < count; ++i) w[i] = {points[i].w.x, points[i].w.y, points[i].w.z};
}

}  // namespace

template <class Real>
bool Simplex::reduce() {
  Vec3<Real> w[4];
  positions(points, count, w);
  Feature<Real> f;
  if (!closest_feature(w, count, f)) return false;
  keep(f);
  return true;
}

template <class Real>
Simplex::Step Simplex::add_newest() {
  Vec3<Real> w[4];
  positions(points, count + 1, w);
  const double before = squared_norm(closest);
  Feature<Real> f;
  bool inside;
  if (closest_newest_feature(w, count, f, inside)) {
    if (inside) {
      ++count;
      return Step::kInside;
    }
    if (f.distance2 < before) {
      keep(f);
      return Step::kCloser;
    }
  }
  if (!closest_feature(w, count + 1, f)) {
    ++count;
    return Step::kInside;
  }
  if (!(f.distance2 < before)) return Step::kStuck;
  keep(f);
  return Step::kCloser;
}

template bool Simplex::reduce<double>();
template bool Simplex::reduce<long double>();
template Simplex::Step Simplex::add_newest<double>();
template Simplex::Step Simplex::add_newest<long double>();

}  // namespace stiction::detail
