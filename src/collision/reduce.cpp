#include "reduce.hpp"

#include <utility>

namespace stiction::detail {
namespace {

// A later point must be better by this factor.
constexpr double kClearlyBetter = 1.0 + 1e-5;

int deepest(const ManifoldPoint* p, int count, double tie) {
  double least = p[0].gap;
  for (int i = 1; i < count; ++i) least = std::fmin(least, p[i].gap);
  int i = 0;
  while (p[i].gap > least + tie) ++i;
  return i;
}

template <class Score>
int best_from(int first, int count, Score score) {
  int best = first;
  double best_score = score(first);
  for (int i = first + 1; i < count; ++i) {
    const double s = score(i);
    if (s > best_score * kClearlyBetter) {
      best_score = s;
      best = i;
    }
  }
  return best;
}

}  // namespace

void reduce_to_four(const Vec3d& normal, double size, ManifoldPoint* p, int count) {
  if (count <= 4) return;
  std::swap(p[0], p[deepest(p, count, kFacePreference * size)]);
  const auto area = [&](int i, int j, int k) {
    return dot(normal, cross(p[j].position - p[i].position, p[k].position - p[i].position));
  };
  const auto distance = [&](int i) { return squared_norm(p[i].position - p[0].position); };
  std::swap(p[1], p[best_from(1, count, distance)]);
  std::swap(p[2], p[best_from(2, count, [&](int i) { return std::abs(area(0, 1, i)); })]);
  // Signed so that a point outside an edge of the triangle adds area.
  const double sign = area(0, 1, 2) < 0.0 ? -1.0 : 1.0;
  const auto added = [&](int i) {
    const double a = -sign * area(0, 1, i), b = -sign * area(1, 2, i), c = -sign * area(2, 0, i);
    return std::fmax(0.0, std::fmax(a, std::fmax(b, c)));
  };
  std::swap(p[3], p[best_from(3, count, added)]);
}

void make_features_unique(Manifold& m) {
  for (int i = 1; i < m.count; ++i) {
    for (int j = 0; j < i; ++j) {
      if (m.points[j].feature != m.points[i].feature) continue;
      ++m.points[i].feature;
      j = -1;
    }
  }
}

}  // namespace stiction::detail
