#include "stiction/geometry/support_table.hpp"

#include "geometry/mesh_support.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <map>

// The normal cone of a vertex is bounded by the arcs between the normals of adjacent triangles, one
// per edge. The vertices whose cone meets the convex cone P over a cell are connected through arcs
// that meet P, so they are found by a flood from the farthest vertex along the middle of P: an edge
// passes the flood on if (1 - t) n1 + t n2 lies in P for some t in [0, 1].

namespace stiction {
namespace {

constexpr double kWiden = 1e-8;  // of the cones: rounding of normals, and ties
constexpr std::size_t kGroup = 4, kMaxCandidates = 64;  // longer lists are climbed through

/// A convex cone of directions.
struct Cone {
  int sides;
  Vec3d inward[4];  // normals of the sides
  Vec3d middle;
};

Cone cone_over(std::initializer_list<Vec3d> corners) {
  Cone c{int(corners.size()), {}, {0, 0, 0}};
  const Vec3d* corner = corners.begin();
  for (int k = 0; k < c.sides; ++k) c.middle += corner[k];
  for (int k = 0; k < c.sides; ++k) {
    const Vec3d side = cross(corner[k], corner[(k + 1) % c.sides]);
    c.inward[k] = side * ((dot(side, c.middle) < 0.0 ? -1.0 : 1.0) / norm(side));
  }
  return c;
}

// A cell lies in one face of the octahedron unless it is on a diagonal of the square, which is an
// edge of the octahedron: then it is four triangles about its middle.
void cones_over_cell(int half, int row, int column, int n, std::vector<Cone>& cones) {
  const auto direction = [&](double r, double c) {
    const double p = 2.0 * r / n - 1.0, q = 2.0 * c / n - 1.0;
    const double x = 0.5 * (p + q), y = 0.5 * (p - q);
    const double z = std::max(0.0, 1.0 - std::abs(x) - std::abs(y));
    return Vec3d{x, y, half == 0 ? z : -z};
  };
  const Vec3d corner[4] = {direction(row, column),
                           direction(row + 1, column),
                           direction(row + 1, column + 1),
                           direction(row, column + 1)};
  cones.clear();
  if (row != column && row + column != n - 1) {
    cones.push_back(cone_over({corner[0], corner[1], corner[2], corner[3]}));
    return;
  }
  const Vec3d middle = direction(row + 0.5, column + 0.5);
  for (int k = 0; k < 4; ++k) cones.push_back(cone_over({middle, corner[k], corner[(k + 1) % 4]}));
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
    mark_.assign(mesh.vertices.size(), 0);
  }

  void run() {
    find_candidates();
    order_places();
    table_.cells.reserve(candidates_.size());
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
      table_.cells.push_back(cell_of(candidates_[k], hints_[k]));
    }
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

  static bool meets(const Cone& c, const Arc& arc) {
    double from = 0.0, to = 1.0;
    for (int k = 0; k < c.sides; ++k) {
      const double h1 = dot(c.inward[k], arc.n1) + kWiden, h2 = dot(c.inward[k], arc.n2) + kWiden;
      if (h1 < 0.0 && h2 < 0.0) return false;
      if (h1 >= 0.0 && h2 >= 0.0) continue;
      const double t = h1 / (h1 - h2);
      if (h1 < 0.0) {
        from = std::max(from, t);
      } else {
        to = std::min(to, t);
      }
    }
    // Between opposite normals the sides alone do not tell the cone from its mirror image.
    return from <= to && dot(c.middle, arc.n1 + (arc.n2 - arc.n1) * (0.5 * (from + to))) > 0.0;
  }

  void find_candidates() {
    const int n = table_.resolution;
    std::vector<Cone> cones;
    int hint = 0;
    for (int half = 0; half < 2; ++half) {
      for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) {
          cones_over_cell(half, row, column, n, cones);
          found_.clear();
          for (const Cone& cone : cones) {
            hint = climb(mesh_, unscaled(cone.middle), hint);
            flood(cone, hint);
          }
          hints_.push_back(hint);
          candidates_.push_back(found_);
        }
      }
    }
  }

  /// Appends what is not yet found.
  void flood(const Cone& cone, int start) {
    ++flood_;
    queue_.assign(1, start);
    mark_[start] = flood_;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      for (int k = arc_start_[queue_[i]]; k < arc_start_[queue_[i] + 1]; ++k) {
        const Arc& arc = arcs_[k];
        if (mark_[arc.other] == flood_ || !meets(cone, arc)) continue;
        mark_[arc.other] = flood_;
        queue_.push_back(arc.other);
      }
    }
    found_.insert(found_.end(), queue_.begin(), queue_.end());
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  }

  /// In the order in which the cells along a Z curve first name them.
  void order_places() {
    const int n = table_.resolution;
    place_of_.assign(mesh_.vertices.size(), -1);
    for (std::uint32_t half = 0; half < 2; ++half) {
      for (std::uint32_t z = 0; z < std::bit_ceil(unsigned(n)) * std::bit_ceil(unsigned(n)); ++z) {
        int row = 0, column = 0;
        for (int bit = 0; bit < 15; ++bit) {
          column |= int(z >> (2 * bit) & 1u) << bit;
          row |= int(z >> (2 * bit + 1) & 1u) << bit;
        }
        if (row >= n || column >= n) continue;
        for (const int i : candidates_[(half * n + row) * n + column]) add_place(i);
      }
    }
  }

  void add_place(int i) {
    if (place_of_[i] >= 0 || table_.places.size() >= SupportTable::kLong) return;
    place_of_[i] = int(table_.places.size());
    const Vec3d& v = mesh_.vertices[i];
    table_.places.push_back({v.x, v.y, v.z, i});
  }

  SupportTable::Cell cell_of(const std::vector<int>& list, int hint) {
    bool placed = list.size() <= kMaxCandidates;
    for (const int i : list) placed = placed && place_of_[i] >= 0;
    if (!placed) return long_cell(0, std::uint32_t(hint));
    if (list.size() <= kGroup) return group(list, 0);
    const std::uint32_t count = std::uint32_t((list.size() + kGroup - 1) / kGroup);
    const auto [entry, is_new] = known_.try_emplace(list, std::uint32_t(table_.groups.size()));
    for (std::uint32_t k = 0; is_new && k < count; ++k) {
      table_.groups.push_back(group(list, k * kGroup));
    }
    return long_cell(count, entry->second);
  }

  static SupportTable::Cell long_cell(std::uint32_t count, std::uint32_t start) {
    return {{SupportTable::kLong,
             std::uint16_t(count),
             std::uint16_t(start & 0xffffu),
             std::uint16_t(start >> 16)}};
  }

  SupportTable::Cell group(const std::vector<int>& list, std::size_t from) const {
    SupportTable::Cell cell;
    for (std::size_t k = 0; k < kGroup; ++k) {
      const std::size_t at = from + k < list.size() ? from + k : from;
      cell.place[k] = std::uint16_t(place_of_[list[at]]);
    }
    return cell;
  }

  const ConvexMesh& mesh_;
  SupportTable& table_;
  std::vector<int> arc_start_, mark_, queue_, found_;  // found_: of a cell, ascending
  int flood_ = 0;
  std::vector<Arc> arcs_;
  std::vector<std::vector<int>> candidates_;  // of every cell, ascending
  std::vector<int> hints_;                    // a vertex to climb from, of every cell
  std::vector<int> place_of_;
  std::map<std::vector<int>, std::uint32_t> known_;  // first group of a long list
};

}  // namespace

SupportTable SupportTable::build(const ConvexMesh& mesh, int resolution) {
  SupportTable table;
  table.resolution = resolution;
  Builder(mesh, table).run();
  return table;
}

}  // namespace stiction
