#pragma once

#include "stiction/geometry/aabb.hpp"

#include <vector>

namespace stiction {

/// Binary tree of axis-aligned boxes over numbered items: one array, children after their parent.
/// Built once, a function of the boxes alone. At most kMaxDepth levels for any number of items.
struct Bvh {
  static constexpr int kMaxDepth = 40;
  static constexpr int kLeafSize = 4;
  struct Node {
    Aabb box;
    int first;  ///< leaf: its items begin here in `items`; inner: number of the right child
    int count;  ///< leaf: of items; inner: 0, the left child is the next node
  };
  std::vector<Node> nodes;
  std::vector<int> items;

  /// Split at the median of the box centres along the longest axis of their extent, ties by number.
  static Bvh build(const std::vector<Aabb>& boxes);

  /// visit(item) for the items of every leaf that overlaps `box`. Returns the nodes looked at.
  template <class Visit>
  int overlapping(const Aabb& box, Visit visit) const {
    return descend([&](const Aabb& b) { return boxes_overlap(b, box); }, visit);
  }
  /// The same for every leaf reached through nodes whose box `enter` accepts.
  template <class Enter, class Visit>
  int descend(Enter enter, Visit visit) const {
    int stack[kMaxDepth + 1], top = 0, looked = 0;
    if (!nodes.empty()) stack[top++] = 0;
    while (top > 0) {
      const int n = stack[--top];
      const Node& node = nodes[n];
      ++looked;
      if (!enter(node.box)) continue;
      if (node.count > 0) {
        for (int i = 0; i < node.count; ++i) visit(items[node.first + i]);
        continue;
      }
      stack[top++] = node.first;
      stack[top++] = n + 1;
    }
    return looked;
  }
};

}  // namespace stiction
