#pragma once

#include "stiction/geometry/aabb.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// Pairs of overlapping boxes, in a cost that grows linearly with their number: a hierarchical
/// uniform grid, one level per power of two of box size, asked with enlarged boxes. While every box
/// stays inside its enlarged one, a call only tests the candidates found then. What is remembered
/// never influences the result: the pairs are a function of the boxes, in the order of (a, b).
class BroadPhase {
 public:
  struct Pair {
    int a, b;  ///< a < b
  };
  /// is_static[i]: box i never moves (static-static pairs are never reported).
  void reset(const std::vector<std::uint8_t>& is_static);
  /// Fills `pairs` sorted by (a, b), without duplicates. Unbounded boxes (half-spaces) are allowed.
  /// Allocates only while capacities grow. Throws std::invalid_argument for another number of boxes
  /// than reset()'s. Touching boxes overlap; a box with a NaN overlaps none.
  void find_pairs(const std::vector<Aabb>& boxes, std::vector<Pair>& pairs);

  /// Boxes compared by the last find_pairs: the work, independent of the machine.
  std::int64_t tested_pairs() const { return tested_pairs_; }
  /// Searches of the grid since reset().
  std::int64_t searches() const { return searches_; }

 private:
  /// A box, stored in the one cell of its level that holds its centre.
  struct Entry {
    Aabb box;
    std::int64_t cell[3];
    int index;
    int exponent;  ///< cells of 2^exponent [m], at least the largest side of the box
  };
  struct Level {
    int exponent;
    int first, count;  ///< into Table::entries
  };
  struct Table {
    std::vector<Entry> entries;  ///< ascending (exponent, index)
    std::vector<Level> levels;   ///< ascending
    std::vector<int> bucket_start, bucket_items;
    std::uint64_t mask = 0;
  };

  bool holds_all(const std::vector<Aabb>& boxes) const;
  void enlarge(const std::vector<Aabb>& boxes);
  void search(const std::vector<Aabb>& boxes, std::vector<Pair>& pairs);
  void find_in_small_scene(const std::vector<Aabb>& boxes, std::vector<Pair>& pairs);
  void take_static_boxes(const std::vector<Aabb>& boxes);
  void fill(Table& table, const std::vector<Aabb>& boxes, std::uint8_t statics);
  void index_cells(Table& table);
  template <class Visit>
  void visit_level(const Table& table, const Level& level, const Aabb& box, Visit visit);
  void pair_dynamic(std::vector<Pair>& pairs);
  void pair_with_static(std::vector<Pair>& pairs);
  void pair_unbounded(const std::vector<Aabb>& boxes, std::vector<Pair>& pairs);
  bool static_side_is_cheaper(const Level& level) const;
  void test(const Aabb& a, int i, const Aabb& b, int j, std::vector<Pair>& pairs);
  void sort(std::vector<Pair>& pairs);

  std::vector<std::uint8_t> is_static_;
  std::vector<Aabb> static_boxes_;
  std::vector<Aabb> last_, enlarged_;
  std::vector<Pair> candidates_;  ///< of the enlarged boxes
  std::vector<int> unbounded_;
  Table static_table_, dynamic_table_;
  std::vector<int> sort_start_;
  std::vector<Pair> sort_buffer_;
  std::int64_t tested_pairs_ = 0, searches_ = 0;
};

}  // namespace stiction
