#pragma once

#include <algorithm>
#include <vector>

namespace stiction {

/// Disjoint sets of the numbers 0 .. count - 1, as a forest with path halving (Tarjan and van
/// Leeuwen 1984). The least member stands for its set, so the order of the joins does not matter.
class DisjointSets {
 public:
  DisjointSets() = default;
  explicit DisjointSets(int count) { reset(count); }
  /// Each number by itself. Allocates only to grow.
  void reset(int count) {
    parent_.resize(count);
    for (int i = 0; i < count; ++i) parent_[i] = i;
  }
  int find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(int a, int b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }
  /// The least member of the set of each number.
  const std::vector<int>& labels() {
    for (int i = 0; i < static_cast<int>(parent_.size()); ++i) parent_[i] = find(i);
    return parent_;
  }

 private:
  std::vector<int> parent_;
};

}  // namespace stiction
