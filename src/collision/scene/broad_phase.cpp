#include "collision/scene/broad_phase.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

// A box of largest side e lives on the level with cells of S = 2^k >= e, in the cell of its centre.
// A box [l, u] meets a box of that level only if its centre lies in [l - S/2, u + S/2]: on the own
// or a coarser level at most 3 cells per axis. So every pair is found once, from its finer box, and
// the work per box is bounded by the number of levels and the density.
//
// The grid is searched with boxes enlarged by a share of their side and by what they moved lately.
// Boxes inside the enlarged ones overlap only if those do, so until one leaves, the pairs are among
// the candidates of that search, in its order.

namespace stiction {
namespace {

constexpr int kSmallScene = 16;
constexpr int kDepth = 40;  // levels below the extent of the scene; smaller boxes share the lowest
constexpr double kCellLimit = 4.0e18;
// A pile at rest is searched never again, one in motion every few steps; more candidates are tested
// for it. Measured on settling piles of 50 to 400 hulls.
constexpr double kEnlargeSide = 0.04;   // of the largest side
constexpr double kEnlargeMotion = 4.0;  // of the motion since the last call

bool bounded(const Aabb& b) {
  double sum = 0.0;  // infinite or NaN if any coordinate is
  for (int k = 0; k < 3; ++k) sum += std::abs(b.lower[k]) + std::abs(b.upper[k]);
  return sum <= std::numeric_limits<double>::max();
}

bool equal(const Vec3d& a, const Vec3d& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

double largest_side(const Aabb& b) {
  const Vec3d d = b.upper - b.lower;
  return std::max({d.x, d.y, d.z, 0.0});
}

double largest_coordinate(const Aabb& b) {
  double c = 0.0;
  for (int k = 0; k < 3; ++k) c = std::max({c, std::abs(b.lower[k]), std::abs(b.upper[k])});
  return c;
}

// Monotone, hence a range of coordinates always covers the cells of its points.
std::int64_t cell_of(double x, double inverse_size) {
  return std::int64_t(std::floor(std::clamp(x * inverse_size, -kCellLimit, kCellLimit)));
}

std::uint64_t hash(int exponent, const std::int64_t cell[3]) {
  std::uint64_t h = std::uint64_t(exponent) * 0x9e3779b97f4a7c15ull;
  for (int k = 0; k < 3; ++k) {
    h = (h ^ std::uint64_t(cell[k])) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace

void BroadPhase::reset(const std::vector<std::uint8_t>& is_static) {
  is_static_ = is_static;
  static_boxes_.clear();
  last_.clear();
  enlarged_.clear();
  candidates_.clear();
  searches_ = 0;
}

bool BroadPhase::holds_all(const std::vector<Aabb>& boxes) const {
  if (enlarged_.size() != boxes.size()) return false;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Aabb &b = boxes[i], &e = enlarged_[i];
    const bool inside = e.lower.x <= b.lower.x && b.upper.x <= e.upper.x &&
                        e.lower.y <= b.lower.y && b.upper.y <= e.upper.y &&
                        e.lower.z <= b.lower.z && b.upper.z <= e.upper.z;
    if (!inside) return false;  // also for a NaN
  }
  return true;
}

void BroadPhase::enlarge(const std::vector<Aabb>& boxes) {
  const bool known = last_.size() == boxes.size();
  enlarged_ = boxes;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (is_static_[i] || !bounded(boxes[i])) continue;
    double reach = kEnlargeSide * largest_side(boxes[i]);
    if (known && bounded(last_[i])) {
      const Vec3d low = boxes[i].lower - last_[i].lower, up = boxes[i].upper - last_[i].upper;
      double motion = 0.0;
      for (int k = 0; k < 3; ++k) motion = std::max({motion, std::abs(low[k]), std::abs(up[k])});
      // A jump says nothing about the next step.
      if (motion < largest_side(boxes[i])) reach += kEnlargeMotion * motion;
    }
    enlarged_[i] = grown(boxes[i], reach);
  }
}

// The table of static boxes is rebuilt only if one moved.
void BroadPhase::take_static_boxes(const std::vector<Aabb>& boxes) {
  bool same = static_boxes_.size() == boxes.size();
  for (std::size_t i = 0; same && i < boxes.size(); ++i) {
    same = !is_static_[i] || (equal(boxes[i].lower, static_boxes_[i].lower) &&
                              equal(boxes[i].upper, static_boxes_[i].upper));
  }
  if (same) return;
  static_boxes_ = boxes;
  fill(static_table_, boxes, 1);
}

void BroadPhase::find_pairs(const std::vector<Aabb>& boxes, std::vector<Pair>& pairs) {
  if (boxes.size() != is_static_.size()) {
    throw std::invalid_argument("BroadPhase: boxes.size = " + std::to_string(boxes.size()) +
                                " must be " + std::to_string(is_static_.size()));
  }
  tested_pairs_ = 0;
  if (boxes.size() < kSmallScene) {
    pairs.clear();
    find_in_small_scene(boxes, pairs);
    return;
  }
  if (!holds_all(boxes)) {
    enlarge(boxes);
    search(enlarged_, candidates_);
  }
  last_ = boxes;
  pairs.clear();
  tested_pairs_ += std::int64_t(candidates_.size());
  for (const Pair& p : candidates_) {
    if (boxes_overlap(boxes[p.a], boxes[p.b])) pairs.push_back(p);
  }
}

void BroadPhase::search(const std::vector<Aabb>& boxes, std::vector<Pair>& pairs) {
  ++searches_;
  take_static_boxes(boxes);
  pairs.clear();
  fill(dynamic_table_, boxes, 0);
  pair_dynamic(pairs);
  pair_with_static(pairs);
  pair_unbounded(boxes, pairs);
  sort(pairs);
}

void BroadPhase::find_in_small_scene(const std::vector<Aabb>& boxes, std::vector<Pair>& pairs) {
  const int n = int(boxes.size());
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      if (is_static_[i] && is_static_[j]) continue;
      test(boxes[i], i, boxes[j], j, pairs);
    }
  }
}

void BroadPhase::test(const Aabb& a, int i, const Aabb& b, int j, std::vector<Pair>& pairs) {
  ++tested_pairs_;
  if (boxes_overlap(a, b)) pairs.push_back(i < j ? Pair{i, j} : Pair{j, i});
}

void BroadPhase::fill(Table& table, const std::vector<Aabb>& boxes, std::uint8_t statics) {
  double extent = 0.0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (bool(is_static_[i]) == bool(statics) && bounded(boxes[i])) {
      extent = std::max(extent, largest_coordinate(boxes[i]));
    }
  }
  const int lowest = extent > 0.0 ? std::max(std::ilogb(extent) - kDepth, -1000) : 0;
  table.entries.clear();
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (bool(is_static_[i]) != bool(statics) || !bounded(boxes[i])) continue;
    const double side = largest_side(boxes[i]);
    Entry e{boxes[i], {0, 0, 0}, int(i), lowest};
    if (side > 0.0) e.exponent = std::max(lowest, std::ilogb(side) + 1);
    const double inverse_size = std::ldexp(1.0, -e.exponent);
    for (int k = 0; k < 3; ++k) {
      e.cell[k] = cell_of(0.5 * boxes[i].lower[k] + 0.5 * boxes[i].upper[k], inverse_size);
    }
    table.entries.push_back(e);
  }
  index_cells(table);
}

// Groups the entries by level and, through `bucket_items`, by the hash of their cell.
void BroadPhase::index_cells(Table& table) {
  std::vector<Entry>& entries = table.entries;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.exponent != b.exponent ? a.exponent < b.exponent : a.index < b.index;
  });
  table.levels.clear();
  std::uint64_t buckets = 16;
  while (buckets < 2 * entries.size()) buckets *= 2;
  table.mask = buckets - 1;
  table.bucket_start.assign(buckets + 1, 0);
  table.bucket_items.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (table.levels.empty() || table.levels.back().exponent != entries[i].exponent) {
      table.levels.push_back({entries[i].exponent, int(i), 0});
    }
    ++table.levels.back().count;
    ++table.bucket_start[(hash(entries[i].exponent, entries[i].cell) & table.mask) + 1];
  }
  for (std::uint64_t b = 0; b < buckets; ++b) table.bucket_start[b + 1] += table.bucket_start[b];
  // Filling from the back leaves bucket_start[b + 1] at the start of b: shift by reading it there.
  for (int i = int(entries.size()) - 1; i >= 0; --i) {
    const std::uint64_t b = hash(entries[i].exponent, entries[i].cell) & table.mask;
    table.bucket_items[--table.bucket_start[b + 1]] = i;
  }
}

// Calls visit(entry) for the entries of a level whose centre may be close enough to the box.
template <class Visit>
void BroadPhase::visit_level(const Table& table, const Level& level, const Aabb& box, Visit visit) {
  const double size = std::ldexp(1.0, level.exponent), inverse_size = 1.0 / size;
  std::int64_t low[3], high[3];
  double cells = 1.0;
  for (int k = 0; k < 3; ++k) {
    low[k] = cell_of(box.lower[k] - 0.5 * size, inverse_size);
    high[k] = cell_of(box.upper[k] + 0.5 * size, inverse_size);
    cells *= double(high[k]) - double(low[k]) + 1.0;
  }
  if (cells >= level.count) {
    for (int i = level.first; i < level.first + level.count; ++i) visit(table.entries[i]);
    return;
  }
  const std::uint64_t buckets = table.mask + 1;
  std::int64_t c[3];
  for (c[0] = low[0]; c[0] <= high[0]; ++c[0]) {
    for (c[1] = low[1]; c[1] <= high[1]; ++c[1]) {
      for (c[2] = low[2]; c[2] <= high[2]; ++c[2]) {
        const std::uint64_t b = hash(level.exponent, c) & table.mask;
        const int end = b + 1 == buckets ? int(table.entries.size()) : table.bucket_start[b + 2];
        for (int i = table.bucket_start[b + 1]; i < end; ++i) {
          const Entry& e = table.entries[table.bucket_items[i]];
          if (e.exponent == level.exponent && std::equal(c, c + 3, e.cell)) visit(e);
        }
      }
    }
  }
}

void BroadPhase::pair_dynamic(std::vector<Pair>& pairs) {
  const Table& table = dynamic_table_;
  for (std::size_t own = 0; own < table.levels.size(); ++own) {
    for (int i = table.levels[own].first; i < table.levels[own].first + table.levels[own].count;
         ++i) {
      const Entry& e = table.entries[i];
      for (std::size_t l = own; l < table.levels.size(); ++l) {
        visit_level(table, table.levels[l], e.box, [&](const Entry& o) {
          if (l == own && o.index <= e.index) return;
          test(e.box, e.index, o.box, o.index, pairs);
        });
      }
    }
  }
}

// A dynamic box over much finer static ones covers many cells; then asking from the static side,
// where each box meets few cells of the coarser levels, is cheaper unless the level is large.
bool BroadPhase::static_side_is_cheaper(const Level& level) const {
  double from_dynamic = 0.0, from_static = 0.0;
  for (const Level& d : dynamic_table_.levels) {
    if (d.exponent <= level.exponent) continue;
    const double across = std::ldexp(1.0, d.exponent - level.exponent) + 2.0;
    from_dynamic += d.count * std::min(across * across * across, double(level.count));
    from_static += level.count * std::min(27.0, double(d.count));
  }
  return from_static < from_dynamic;
}

void BroadPhase::pair_with_static(std::vector<Pair>& pairs) {
  const Table &statics = static_table_, &dynamics = dynamic_table_;
  for (const Level& s : statics.levels) {
    const bool from_static = static_side_is_cheaper(s);
    for (const Level& d : dynamics.levels) {
      const bool ask_dynamic = from_static && d.exponent > s.exponent;
      const Level &asking = ask_dynamic ? s : d, &asked = ask_dynamic ? d : s;
      const Table &from = ask_dynamic ? statics : dynamics, &in = ask_dynamic ? dynamics : statics;
      for (int i = asking.first; i < asking.first + asking.count; ++i) {
        const Entry& e = from.entries[i];
        visit_level(
            in, asked, e.box, [&](const Entry& o) { test(e.box, e.index, o.box, o.index, pairs); });
      }
    }
  }
}

void BroadPhase::pair_unbounded(const std::vector<Aabb>& boxes, std::vector<Pair>& pairs) {
  const int n = int(boxes.size());
  const auto box = [&](int i) -> const Aabb& {
    return is_static_[i] ? static_boxes_[i] : boxes[i];
  };
  unbounded_.clear();
  for (int i = 0; i < n; ++i) {
    if (!bounded(box(i))) unbounded_.push_back(i);
  }
  for (const int u : unbounded_) {
    for (int i = 0; i < n; ++i) {
      if (i == u || (is_static_[i] && is_static_[u])) continue;
      if (i < u && !bounded(box(i))) continue;  // found from the other one
      test(box(u), u, box(i), i, pairs);
    }
  }
}

// By a with a counting sort, then by b within each a.
void BroadPhase::sort(std::vector<Pair>& pairs) {
  sort_start_.assign(is_static_.size() + 1, 0);
  sort_buffer_.resize(pairs.size());
  for (const Pair& p : pairs) ++sort_start_[p.a + 1];
  for (std::size_t i = 1; i < sort_start_.size(); ++i) sort_start_[i] += sort_start_[i - 1];
  for (const Pair& p : pairs) sort_buffer_[sort_start_[p.a]++] = p;
  pairs.swap(sort_buffer_);
  auto first = pairs.begin();
  for (std::size_t a = 0; a + 1 < sort_start_.size(); ++a) {
    const auto last = pairs.begin() + sort_start_[a];
    std::sort(first, last, [](const Pair& x, const Pair& y) { return x.b < y.b; });
    first = last;
  }
}

}  // namespace stiction
