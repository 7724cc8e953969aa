#include "simplex.hpp"

// Closest point of a simplex to the origin, by descending from the full feature to its sides.
// Signs come from triple products n.(A x B) rather than from products of dot products, which lose
// half of the digits (Ericson 2004, section 9.5, has the latter).

namespace stiction::detail {
namespace {

constexpr double kFlatTriangle = 1e-28;     // squared sine of its angle below which it is its edges
constexpr double kThinTriangle = 1e-12;     // of which the weights of outer points are noise
constexpr double kFlatTetrahedron = 1e-24;  // squared sine of the height over base and edge
constexpr double kRounding = 1e-29;  // squared error of a triple product over its three lengths

struct Feature {
  Vec3d v;
  double distance2;
  int count;
  int index[3];
  double weight[3];
};

Feature closest_on_edge(const Vec3d* w, int i, int j) {
  const Vec3d ab = w[j] - w[i];
  const double length2 = squared_norm(ab), along = -dot(w[i], ab);
  if (!(along > 0.0)) return {w[i], squared_norm(w[i]), 1, {i, 0, 0}, {1.0, 0.0, 0.0}};
  if (along >= length2) return {w[j], squared_norm(w[j]), 1, {j, 0, 0}, {1.0, 0.0, 0.0}};
  const double t = along / length2;
  const Vec3d v = w[i] + ab * t;
  return {v, squared_norm(v), 2, {i, j, 0}, {1.0 - t, t, 0.0}};
}

void keep_closer(Feature& best, const Feature& other) {
  if (other.distance2 < best.distance2) best = other;
}

Feature closest_on_triangle(const Vec3d* w, int i, int j, int k) {
  const Vec3d &a = w[i], &b = w[j], &c = w[k];
  const Vec3d ab = b - a, ac = c - a, n = cross(ab, ac);
  const double nn = squared_norm(n);
  double wa = -1.0, wb = -1.0, wc = -1.0;
  if (nn > kFlatTriangle * squared_norm(ab) * squared_norm(ac)) {
    wa = dot(n, cross(b, c));
    wb = dot(n, cross(c, a));
    wc = dot(n, cross(a, b));
    if (wa >= 0.0 && wb >= 0.0 && wc >= 0.0) {
      const double height = dot(n, a), s = 1.0 / (wa + wb + wc);
      return {n * (height / nn), height * height / nn, 3, {i, j, k}, {wa * s, wb * s, wc * s}};
    }
  }
  // The closest point lies on an edge whose opposite corner has a negative weight; the signs of a
  // thin triangle are not to be trusted.
  const bool thin = nn <= kThinTriangle * squared_norm(ab) * squared_norm(ac);
  Feature best{a, HUGE_VAL, 0, {0, 0, 0}, {0, 0, 0}};
  if (thin || wc < 0.0) keep_closer(best, closest_on_edge(w, i, j));
  if (thin || wa < 0.0) keep_closer(best, closest_on_edge(w, j, k));
  if (thin || wb < 0.0) keep_closer(best, closest_on_edge(w, i, k));
  return best;
}

// A face is a candidate if the origin and the fourth corner lie on different sides of it, or if the
// tetrahedron is too flat to tell. No candidate: the origin is inside.
Feature closest_on_tetrahedron(const Vec3d* w, bool& inside) {
  constexpr int kFaces[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
  Feature best{w[0], HUGE_VAL, 0, {0, 0, 0}, {0, 0, 0}};
  inside = true;
  for (const auto& f : kFaces) {
    const Vec3d& a = w[f[0]];
    const Vec3d ab = w[f[1]] - a, ac = w[f[2]] - a, ad = w[f[3]] - a, n = cross(ab, ac);
    const double origin = -dot(n, a), fourth = dot(n, ad), height2 = fourth * fourth;
    const double ad2 = squared_norm(ad);
    const bool flat = height2 <= kFlatTetrahedron * squared_norm(n) * ad2 ||
                      height2 <= kRounding * squared_norm(ab) * squared_norm(ac) * ad2;
    if (!flat && (origin == 0.0 || (origin > 0.0) == (fourth > 0.0))) continue;
    inside = false;
    keep_closer(best, closest_on_triangle(w, f[0], f[1], f[2]));
  }
  return best;
}

}  // namespace

bool Simplex::reduce() {
  Vec3d w[4];
  for (int i = 0; i < count; ++i) w[i] = points[i].w;
  Feature f;
  switch (count) {
    case 1:
      f = {w[0], squared_norm(w[0]), 1, {0, 0, 0}, {1.0, 0.0, 0.0}};
      break;
    case 2:
      f = closest_on_edge(w, 0, 1);
      break;
    case 3:
      f = closest_on_triangle(w, 0, 1, 2);
      break;
    default: {
      bool inside;
      f = closest_on_tetrahedron(w, inside);
      if (inside) return false;
    }
  }
  // Indices of a feature are not always ascending, so the kept points are copied out first.
  SupportPoint kept[3];
  for (int i = 0; i < f.count; ++i) kept[i] = points[f.index[i]];
  for (int i = 0; i < f.count; ++i) {
    points[i] = kept[i];
    weights[i] = f.weight[i];
  }
  count = f.count;
  closest = f.v;
  return true;
}

}  // namespace stiction::detail
