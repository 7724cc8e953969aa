#include "collision/manifold/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stiction::detail {
namespace {

// A later point must be better by this factor.
constexpr double kClearlyBetter = 1.0 + 1e-5;

// Points this much above the deepest one carry as it does (share of the pair's size): resting faces
// are flat up to what penetration the last steps left.
constexpr double kLayer = 1e-4;
constexpr int kLoop = 32;           // touching corners among which the best loop is sought
constexpr double kSameArea = 1e-4;  // of the squared diameter: corners that cost the same
constexpr double kMostTurn = 0.03;  // [rad] in a step: faster, and points that roll in are lost
constexpr int kMeasured = 256;      // points whose distances are kept while others are chosen
constexpr double kTie = 1e-9;       // gaps this close are equal: the earlier point stays

/// Moves x[from] before x[to], to <= from.
template <class T>
void move_before(int to, int from, T* x) {
  const T moved = x[from];
  std::copy_backward(x + to, x + from, x + from + 1);
  x[to] = moved;
}

/// Moves the touching points to the front, in their order; returns their number.
int touching_first(ManifoldPoint* p, int count, double layer) {
  double least = p[0].gap;
  for (int i = 1; i < count; ++i) least = std::fmin(least, p[i].gap);
  int touching = 0;
  for (int i = 0; i < count; ++i) {
    if (p[i].gap > least + layer) continue;
    move_before(touching++, i, p);
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

/// Moves the lowest to [from, to): what overlaps carries, a spring by its depth.
void keep_lowest(double size, int from, int to, ManifoldPoint* p, int count) {
  for (int n = from; n < to; ++n) {
    int lowest = n;
    for (int i = n + 1; i < count; ++i) {
      if (p[i].gap < p[lowest].gap - kTie * size) lowest = i;
    }
    move_before(n, lowest, p);
  }
}

/// Dropping a point lets it sink: by as much as it comes down, turning about those that are kept,
/// less its height above the lowest. All of them are within what the pair may move in the step, so
/// that their heights tell how much it may turn. Moves to [from, to) those that would sink deepest:
/// of a face that comes down tilted some of the far side too.
void keep_what_sinks(
    const Vec3d& normal, double size, int from, int to, ManifoldPoint* p, int count) {
  double least = p[0].gap, highest = p[0].gap;
  for (int i = 1; i < count; ++i) {
    least = std::fmin(least, p[i].gap);
    highest = std::fmax(highest, p[i].gap);
  }
  const double turn = std::fmin((highest - least) / size, kMostTurn), tie = kTie * size;
  // Squared distances along the plane from what is kept, of the first points between rounds.
  double nearest[kMeasured];
  const int measured = std::min(count, kMeasured);
  const auto distance = [&](int i, int k) {
    const Vec3d d = p[i].position - p[k].position;
    const double up = dot(normal, d);
    return squared_norm(d) - up * up;
  };
  const auto from_kept = [&](int i, int kept) {
    double least_distance = HUGE_VAL;
    for (int k = 0; k < kept; ++k) least_distance = std::fmin(least_distance, distance(i, k));
    return least_distance;
  };
  for (int i = from; i < measured; ++i) nearest[i] = from_kept(i, from);
  for (int n = from; n < to; ++n) {
    int best = n;
    double deepest = -HUGE_VAL;
    for (int i = n; i < count; ++i) {
      const double far = i < measured ? nearest[i] : from_kept(i, n);
      const double sinks = turn * std::sqrt(std::fmax(far, 0.0)) - (p[i].gap - least);
      if (!(sinks > deepest + tie)) continue;
      deepest = sinks;
      best = i;
    }
    move_before(n, best, p);
    move_before(n, std::min(best, measured - 1), nearest);
    for (int i = n + 1; i < measured; ++i) nearest[i] = std::fmin(nearest[i], distance(i, n));
  }
}

/// Orders at most kLoop points of a convex loop about their middle, starting at the first one.
void order_loop(const Vec3d& normal, ManifoldPoint* p, int count) {
  Vec3d middle{0.0, 0.0, 0.0};
  for (int i = 0; i < count; ++i) middle += p[i].position * (1.0 / count);
  const Vec3d e = p[0].position - middle, f = cross(normal, e);
  // Grows with the angle from e in [0, 2 pi), without a function that libraries round differently.
  double angle[kLoop];
  for (int i = 0; i < count; ++i) {
    const double x = dot(e, p[i].position - middle), y = dot(f, p[i].position - middle);
    const double t = x / (std::abs(x) + std::abs(y));
    angle[i] = y < 0.0 ? 3.0 + t : 1.0 - t;
  }
  for (int i = 2; i < count; ++i) {
    for (int j = i; j > 1 && angle[j] < angle[j - 1]; --j) {
      std::swap(p[j], p[j - 1]);
      std::swap(angle[j], angle[j - 1]);
    }
  }
}

/// Drops the corner that costs the least area until `most` are left.
void drop_corners(const Vec3d& normal, int most, ManifoldPoint* p, int count) {
  // p[1] is the point farthest from p[0].
  const double tie = kSameArea * squared_norm(p[1].position - p[0].position);
  order_loop(normal, p, count);
  for (; count > most; --count) {
    int best = 0;
    double best_loss = HUGE_VAL;
    for (int i = 0; i < count; ++i) {
      const Vec3d& x = p[i].position;
      const Vec3d& before = p[i == 0 ? count - 1 : i - 1].position;
      const Vec3d& after = p[i + 1 == count ? 0 : i + 1].position;
      const double loss = std::abs(dot(normal, cross(x - before, after - x)));
      if (loss + tie < best_loss) {
        best_loss = loss;
        best = i;
      }
    }
    for (int i = best; i + 1 < count; ++i) p[i] = p[i + 1];
  }
}

}  // namespace

int reduce(const Vec3d& normal, double size, int most, ManifoldPoint* p, int count) {
  if (count <= most) return count;
  const int touching = touching_first(p, count, kLayer * size);
  if (touching <= most) {
    int overlapping = 0;
    for (int i = 0; i < count; ++i) overlapping += p[i].gap < 0.0;
    // Of a sunk face the lowest would all be on one side: the next step it would be the other.
    const int lowest = overlapping <= most ? overlapping : most / 2;
    const int first = std::max(touching, lowest);
    keep_lowest(size, touching, first, p, count);
    keep_what_sinks(normal, size, first, most, p, count);
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
  if (most == 4) return most;
  // A face with many corners: the points farthest from those that are kept, then without those
  // that matter least.
  const int kept = touching < kLoop ? touching : kLoop;
  for (int n = 4; n < kept && touching > kLoop; ++n) {
    choose(n, [&](int i) {
      double nearest = HUGE_VAL;
      for (int k = 0; k < n; ++k)
        nearest = std::fmin(nearest, squared_norm(p[i].position - p[k].position));
      return nearest;
    });
  }
  drop_corners(normal, most, p, kept);
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
