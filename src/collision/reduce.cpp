#include "reduce.hpp"

#include <cmath>
#include <utility>

namespace stiction::detail {
namespace {

// A later point must be better by this factor.
constexpr double kClearlyBetter = 1.0 + 1e-5;

// Points this much above the deepest one carry as it does (share of the pair's size): resting faces
// are flat up to what penetration the last steps left.
constexpr double kLayer = 1e-4;
constexpr double kTie = 1e-9;  // gaps this close are equal: the earlier point stays

/// Moves the touching points to the front, in their order; returns their number.
int touching_first(ManifoldPoint* p, int count, double layer) {
  double least = p[0].gap;
  for (int i = 1; i < count; ++i) least = std::fmin(least, p[i].gap);
  int touching = 0;
  for (int i = 0; i < count; ++i) {
    if (p[i].gap > least + layer) continue;
    for (int j = i; j > touching; --j) std::swap(p[j], p[j - 1]);
    ++touching;
  }
  return touching;
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

int reduce(const Vec3d& normal, double size, int most, ManifoldPoint* p, int count) {
  if (count <= most) return count;
  const int touching = touching_first(p, count, kLayer * size);
  if (touching <= most) {
    // Dropping a point lets it sink, the nearer ones sooner.
    for (int n = touching; n < most; ++n) {
      int lowest = n;
      for (int i = n + 1; i < count; ++i) {
        if (p[i].gap < p[lowest].gap - kTie * size) lowest = i;
      }
      for (int j = lowest; j > n; --j) std::swap(p[j], p[j - 1]);
    }
    return most;
  }
  const auto choose = [&](int slot, auto score) {
    std::swap(p[slot], p[best_from(slot, touching, score)]);
  };
  const auto area = [&](int i, int j, int k) {
    return dot(normal, cross(p[j].position - p[i].position, p[k].position - p[i].position));
  };
  choose(1, [&](int i) { return squared_norm(p[i].position - p[0].position); });
  choose(2, [&](int i) { return std::abs(area(0, 1, i)); });
  // Signed so that a point outside an edge of the triangle adds area.
  const double sign = area(0, 1, 2) < 0.0 ? -1.0 : 1.0;
  choose(3, [&](int i) {
    const double a = -sign * area(0, 1, i), b = -sign * area(1, 2, i), c = -sign * area(2, 0, i);
    return std::fmax(0.0, std::fmax(a, std::fmax(b, c)));
  });
  // More of a round face: each time the point farthest from those that are kept.
  for (int n = 4; n < most; ++n) {
    choose(n, [&](int i) {
      double nearest = HUGE_VAL;
      for (int k = 0; k < n; ++k)
        nearest = std::fmin(nearest, squared_norm(p[i].position - p[k].position));
      return nearest;
    });
  }
  return most;
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
