#include "stiction/geometry/bvh.hpp"

#include "stiction/math/constants.hpp"

#include <algorithm>

namespace stiction {
namespace {

void grow(Aabb& box, const Aabb& other) {
  for (int k = 0; k < 3; ++k) {
    box.lower[k] = std::min(box.lower[k], other.lower[k]);
    box.upper[k] = std::max(box.upper[k], other.upper[k]);
  }
}

struct Builder {
  const std::vector<Aabb>& boxes;
  Bvh& tree;

  int longest_axis(int first, int last) const {
    Vec3d lower{kInfinity, kInfinity, kInfinity}, upper{-kInfinity, -kInfinity, -kInfinity};
    for (int n = first; n < last; ++n) {
      const Vec3d c = boxes[tree.items[n]].lower + boxes[tree.items[n]].upper;
      for (int k = 0; k < 3; ++k) {
        lower[k] = std::min(lower[k], c[k]);
        upper[k] = std::max(upper[k], c[k]);
      }
    }
    const Vec3d e = upper - lower;
    return e.x >= e.y && e.x >= e.z ? 0 : (e.y >= e.z ? 1 : 2);
  }

  // Halves of equal size: the depth is the logarithm of the number of items.
  void build(int first, int last) {
    const int n = static_cast<int>(tree.nodes.size());
    Aabb box{{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};
    for (int i = first; i < last; ++i) grow(box, boxes[tree.items[i]]);
    tree.nodes.push_back({box, first, last - first});
    if (last - first <= Bvh::kLeafSize) return;
    const int axis = longest_axis(first, last), middle = first + (last - first) / 2;
    const auto before = [&](int a, int b) {
      const double ca = boxes[a].lower[axis] + boxes[a].upper[axis];
      const double cb = boxes[b].lower[axis] + boxes[b].upper[axis];
      return ca < cb || (ca == cb && a < b);
    };
    const auto begin = tree.items.begin();
    std::nth_element(begin + first, begin + middle, begin + last, before);
    build(first, middle);
    tree.nodes[n].first = static_cast<int>(tree.nodes.size());
    tree.nodes[n].count = 0;
    build(middle, last);
  }
};

}  // namespace

Bvh Bvh::build(const std::vector<Aabb>& boxes) {
  Bvh tree;
  tree.items.resize(boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) tree.items[i] = static_cast<int>(i);
  if (!boxes.empty()) Builder{boxes, tree}.build(0, static_cast<int>(boxes.size()));
  // nth_element orders a leaf as it likes: ascending is the same everywhere.
  for (const Node& node : tree.nodes) {
    if (node.count == 0) continue;
    const auto first = tree.items.begin() + node.first;
    std::sort(first, first + node.count);
  }
  return tree;
}

}  // namespace stiction
