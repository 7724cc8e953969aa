#include "model/mesh_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

/// Twice the signed area of a triangle of plane points.
double turn(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& normal) {
  return dot(normal, cross(b - a, c - a));
}

Vec3d area_vector(const std::vector<Vec3d>& corners) {
  Vec3d sum{0, 0, 0};
  for (std::size_t i = 2; i < corners.size(); ++i) {
    sum = sum + cross(corners[i - 1] - corners[0], corners[i] - corners[0]);
  }
  return sum;
}

bool holds(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& p, const Vec3d& normal) {
  return turn(a, b, p, normal) > 0.0 && turn(b, c, p, normal) > 0.0 && turn(c, a, p, normal) > 0.0;
}

}  // namespace

std::vector<int> triangulate(const std::vector<Vec3d>& corners) {
  // Clipping takes cubic time at worst; larger polygons are cut as if they were convex.
  constexpr int kMostClipped = 200;
  const int n = static_cast<int>(corners.size());
  std::vector<int> left(n), triangles;
  for (int i = 0; i < n; ++i) left[i] = i;
  const Vec3d normal = area_vector(corners);
  const auto at = [&](int i) { return corners[left[i % static_cast<int>(left.size())]]; };
  const auto is_ear = [&](int i) {  // the corner after i
    const Vec3d a = at(i), b = at(i + 1), c = at(i + 2);
    if (!(turn(a, b, c, normal) > 0.0)) return false;
    return std::none_of(
        left.begin(), left.end(), [&](int j) { return holds(a, b, c, corners[j], normal); });
  };
  bool convex = n > kMostClipped;
  for (int i = 0; !convex && i < n; ++i) {
    if (!(turn(at(i), at(i + 1), at(i + 2), normal) >= 0.0)) break;
    convex = i == n - 1;
  }
  while (!convex && left.size() > 3) {
    const int m = static_cast<int>(left.size());
    int ear = 0;
    while (ear < m && !is_ear(ear)) ++ear;
    if (ear == m) break;  // crosses itself: the rest is a fan
    triangles.insert(triangles.end(), {left[ear], left[(ear + 1) % m], left[(ear + 2) % m]});
    left.erase(left.begin() + (ear + 1) % m);
  }
  for (std::size_t i = 2; i < left.size(); ++i) {
    triangles.insert(triangles.end(), {left[0], left[i - 1], left[i]});
  }
  return triangles;
}

std::size_t TriangleSoup::Hash::operator()(const std::array<float, 3>& p) const {
  std::size_t hash = 0xcbf29ce484222325u;
  for (const float x : p) hash = (hash ^ std::bit_cast<std::uint32_t>(x)) * 0x100000001b3u;
  return hash ^ hash >> 29;
}

int TriangleSoup::vertex(const Vec3d& p) {
  std::array<float, 3> point;
  for (int k = 0; k < 3; ++k) {
    point[k] = static_cast<float>(p[k]) + 0.0F;  // no negative zero
    if (!std::isfinite(point[k])) throw std::runtime_error("a vertex is not finite");
  }
  const auto [it, fresh] = index_.try_emplace(point, static_cast<int>(vertices_.size()));
  if (fresh) vertices_.push_back(point);
  return it->second;
}

void TriangleSoup::add(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  if (triangles_.size() >= 3 * kMost) throw std::runtime_error("it has more than 2^25 triangles");
  const int corners[3] = {vertex(a), vertex(b), vertex(c)};
  // A triangle on two points bounds nothing.
  if (corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0]) return;
  triangles_.insert(triangles_.end(), corners, corners + 3);
}

void TriangleSoup::add_polygon(const std::vector<Vec3d>& corners) {
  if (corners.size() == 3) {
    add(corners[0], corners[1], corners[2]);
    return;
  }
  const std::vector<int> cut = triangulate(corners);
  for (std::size_t i = 0; i < cut.size(); i += 3) {
    add(corners[cut[i]], corners[cut[i + 1]], corners[cut[i + 2]]);
  }
}

MeshFile TriangleSoup::finish(const Vec3d& scale) const {
  MeshFile mesh;
  mesh.triangles = triangles_;
  for (const auto& p : vertices_) {
    mesh.vertices.push_back({p[0] * scale.x, p[1] * scale.y, p[2] * scale.z});
    const Vec3d& v = mesh.vertices.back();
    if (!std::isfinite(v.x + v.y + v.z)) throw std::runtime_error("a vertex is not finite");
  }
  return mesh;
}

}  // namespace stiction
