#include "stiction/geometry/support_table.hpp"

#include "mesh_support.hpp"

#include <algorithm>
#include <array>
#include <map>

// The normal cone of a vertex is bounded by the arcs between the normals of adjacent triangles, one
// per edge. The vertices whose cone meets the pyramid P over a cell are connected through arcs that
// meet P, so they are found by a flood from the farthest vertex along the middle of P: an edge
// passes the flood on if (1 - t) n1 + t n2 lies in P for some t in [0, 1].

namespace stiction {
namespace {

constexpr double kWiden = 1e-8;  // of the pyramids: rounding of normals, and ties
constexpr int kClimb = 255;
constexpr int kMaxCandidates = 64;  // longer lists are climbed through

struct Pyramid {
  Vec3d inward[4];  // normals of the four sides
  Vec3d middle;
};

Pyramid pyramid_of(int axis, double sign, int iu, int iw, int n) {
  const auto direction = [&](double u, double w) {
    Vec3d d{0, 0, 0};
    d[axis] = sign;
    d[(axis + 1) % 3] = 2.0 * u / n - 1.0;
    d[(axis + 2) % 3] = 2.0 * w / n - 1.0;
    return d;
  };
  Pyramid p;
  p.middle = direction(iu + 0.5, iw + 0.5);
  const Vec3d corner[4] = {
      direction(iu, iw), direction(iu + 1, iw), direction(iu + 1, iw + 1), direction(iu, iw + 1)};
  for (int k = 0; k < 4; ++k) {
    const Vec3d side = cross(corner[k], corner[(k + 1) % 4]);
    p.inward[k] = side * ((dot(side, p.middle) < 0.0 ? -1.0 : 1.0) / norm(side));
  }
  return p;
}

/// An edge of the mesh, as seen from one of its ends.
struct Arc {
  int other;
  Vec3d n1, n2;  // scaled unit normals of the triangles at the edge
};

class Builder {
 public:
  Builder(const ConvexMesh& mesh, SupportTable& table) : mesh_(mesh), table_(table) {
    find_extent();
    find_arcs();
    mark_.assign(mesh.vertices.size(), -1);
  }

  void run() {
    const int n = table_.resolution;
    table_.cells.reserve(6 * n * n);
    int hint = 0, cell = 0;
    for (int face = 0; face < 6; ++face) {
      for (int iu = 0; iu < n; ++iu) {
        for (int j = 0; j < n; ++j, ++cell) {
          const Pyramid p = pyramid_of(face / 2, face % 2 == 0 ? 1.0 : -1.0, iu, j, n);
          hint = climb(mesh_, unscaled(p.middle), hint);
          flood(p, hint, cell);
          table_.cells.push_back(word(hint));
        }
      }
    }
    table_.candidates.shrink_to_fit();
  }

 private:
  Vec3d scaled(const Vec3d& d) const {
    return {d.x * table_.extent.x, d.y * table_.extent.y, d.z * table_.extent.z};
  }
  Vec3d unscaled(const Vec3d& d) const {
    return {d.x / table_.extent.x, d.y / table_.extent.y, d.z / table_.extent.z};
  }

  void find_extent() {
    Vec3d lower = mesh_.vertices[0], upper = lower;
    for (const Vec3d& v : mesh_.vertices) {
      for (int k = 0; k < 3; ++k) {
        lower[k] = std::min(lower[k], v[k]);
        upper[k] = std::max(upper[k], v[k]);
      }
    }
    table_.extent = (upper - lower) * 0.5;
  }

  void find_arcs() {
    const std::vector<int>& t = mesh_.triangles;
    std::map<std::pair<int, int>, Vec3d> normal_left_of;
    for (std::size_t i = 0; i < t.size(); i += 3) {
      const Vec3d& a = mesh_.vertices[t[i]];
      const Vec3d n = scaled(cross(mesh_.vertices[t[i + 1]] - a, mesh_.vertices[t[i + 2]] - a));
      const double length = norm(n);
      const Vec3d unit = length > 0.0 ? n * (1.0 / length) : n;
      for (int k = 0; k < 3; ++k) normal_left_of[{t[i + k], t[i + (k + 1) % 3]}] = unit;
    }
    arc_start_.assign(mesh_.vertices.size() + 1, 0);
    for (const auto& [edge, normal] : normal_left_of) ++arc_start_[edge.first + 1];
    for (std::size_t v = 1; v < arc_start_.size(); ++v) arc_start_[v] += arc_start_[v - 1];
    for (const auto& [edge, normal] : normal_left_of) {
      arcs_.push_back({edge.second, normal, normal_left_of.at({edge.second, edge.first})});
    }
  }

  static bool meets(const Pyramid& p, const Arc& arc) {
    double from = 0.0, to = 1.0;
    for (const Vec3d& inward : p.inward) {
      const double h1 = dot(inward, arc.n1) + kWiden, h2 = dot(inward, arc.n2) + kWiden;
      if (h1 < 0.0 && h2 < 0.0) return false;
      if (h1 >= 0.0 && h2 >= 0.0) continue;
      const double t = h1 / (h1 - h2);
      if (h1 < 0.0) {
        from = std::max(from, t);
      } else {
        to = std::min(to, t);
      }
    }
    // Between opposite normals the sides alone do not tell the pyramid from its mirror image.
    return from <= to && dot(p.middle, arc.n1 + (arc.n2 - arc.n1) * (0.5 * (from + to))) > 0.0;
  }

  void flood(const Pyramid& p, int start, int cell) {
    found_.assign(1, start);
    mark_[start] = cell;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      for (int k = arc_start_[found_[i]]; k < arc_start_[found_[i] + 1]; ++k) {
        const Arc& arc = arcs_[k];
        if (mark_[arc.other] == cell || !meets(p, arc)) continue;
        mark_[arc.other] = cell;
        found_.push_back(arc.other);
      }
    }
  }

  /// Equal lists are stored once.
  std::uint32_t word(int start) {
    if (found_.size() == 1) return std::uint32_t(start);
    if (found_.size() > kMaxCandidates) return std::uint32_t(kClimb) << 24 | std::uint32_t(start);
    std::sort(found_.begin(), found_.end());
    const auto [entry, is_new] =
        known_.try_emplace(found_, std::uint32_t(table_.candidates.size()));
    if (is_new) table_.candidates.insert(table_.candidates.end(), found_.begin(), found_.end());
    return std::uint32_t(found_.size()) << 24 | entry->second;
  }

  const ConvexMesh& mesh_;
  SupportTable& table_;
  std::vector<int> arc_start_, mark_, found_;
  std::vector<Arc> arcs_;
  std::map<std::vector<int>, std::uint32_t> known_;
};

}  // namespace

SupportTable SupportTable::build(const ConvexMesh& mesh, int resolution) {
  SupportTable table;
  table.resolution = resolution;
  Builder(mesh, table).run();
  return table;
}

}  // namespace stiction
