#include "collision/manifold/collinear.hpp"

namespace stiction::detail {
namespace {

constexpr double kLayer = 1e-4;  // of the size: as high above the deepest point carries as it does

Vec3d across(const Vec3d& normal, const Vec3d& d) { return d - normal * dot(normal, d); }

/// The line through the two points that lie farthest apart.
struct Line {
  Vec3d from{0.0, 0.0, 0.0}, along{0.0, 0.0, 0.0};  // along: unit
  double at(const Vec3d& p) const { return dot(along, p - from); }
};

/// False if the points are one place, or lie beside the line by more than `flush` [m].
bool line_through(
    const Vec3d& normal, double flush, const ManifoldPoint* p, int count, Line& line) {
  double most = flush * flush;
  Vec3d d{0.0, 0.0, 0.0};
  for (int i = 0; i < count; ++i) {
    for (int j = i + 1; j < count; ++j) {
      const Vec3d ij = across(normal, p[j].position - p[i].position);
      if (!(squared_norm(ij) > most)) continue;
      most = squared_norm(ij);
      d = ij;
      line.from = p[i].position;
    }
  }
  if (!(squared_norm(d) > 0.0)) return false;
  line.along = d * (1.0 / std::sqrt(most));
  const Vec3d beside = cross(normal, line.along);
  for (int i = 0; i < count; ++i) {
    if (std::abs(dot(beside, p[i].position - line.from)) > flush) return false;
  }
  return true;
}

/// The ends of the part of the line that touches, first < last by their numbers. False: it is one
/// place.
bool touching_ends(
    const Line& line, double layer, double flush, const ManifoldPoint* p, int count, int ends[2]) {
  double least = p[0].gap;
  for (int i = 1; i < count; ++i) least = std::fmin(least, p[i].gap);
  ends[0] = ends[1] = -1;
  for (int i = 0; i < count; ++i) {
    if (p[i].gap > least + layer) continue;
    if (ends[0] < 0 || line.at(p[i].position) < line.at(p[ends[0]].position)) ends[0] = i;
    if (ends[1] < 0 || line.at(p[i].position) > line.at(p[ends[1]].position)) ends[1] = i;
  }
  return line.at(p[ends[1]].position) - line.at(p[ends[0]].position) > flush;
}

/// The deepest point, and the next one aside of it.
void lowest_two(const Line& line, double flush, const ManifoldPoint* p, int count, int ends[2]) {
  ends[0] = 0;
  for (int i = 1; i < count; ++i) {
    if (p[i].gap < p[ends[0]].gap) ends[0] = i;
  }
  const double at = line.at(p[ends[0]].position);
  ends[1] = -1;
  for (int i = 0; i < count; ++i) {
    if (std::abs(line.at(p[i].position) - at) <= flush) continue;
    if (ends[1] < 0 || p[i].gap < p[ends[1]].gap) ends[1] = i;
  }
}

}  // namespace

int keep_line_ends(const Vec3d& normal, double size, ManifoldPoint* p, int count) {
  if (count < 3) return count;
  const double flush = kFlush * size;
  // Most faces are told by their first three points.
  const Vec3d u = p[1].position - p[0].position, v = p[2].position - p[0].position;
  const double area = dot(normal, cross(u, v));
  if (area * area > flush * flush * std::fmax(squared_norm(u), squared_norm(v))) return count;
  Line line;
  if (!line_through(normal, flush, p, count, line)) return count;
  int ends[2];
  if (!touching_ends(line, kLayer * size, flush, p, count, ends))
    lowest_two(line, flush, p, count, ends);
  const int first = ends[0] < ends[1] ? ends[0] : ends[1];
  const ManifoldPoint last = p[first == ends[0] ? ends[1] : ends[0]];
  p[0] = p[first];
  p[1] = last;
  return 2;
}

}  // namespace stiction::detail
