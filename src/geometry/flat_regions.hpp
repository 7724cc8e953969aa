#pragma once

#include <algorithm>
#include <vector>

namespace stiction {

/// Disjoint sets of triangles; the label of a set is its least member.
class FlatRegions {
 public:
  explicit FlatRegions(int count) : parent_(count) {
    for (int i = 0; i < count; ++i) parent_[i] = i;
  }
  void join(int a, int b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }
  std::vector<int> labels() {
    for (int i = 0; i < static_cast<int>(parent_.size()); ++i) parent_[i] = root(i);
    return parent_;
  }

 private:
  int root(int i) {
    while (parent_[i] != i) {
      parent_[i] = parent_[parent_[i]];
      i = parent_[i];
    }
    return i;
  }
  std::vector<int> parent_;
};

}  // namespace stiction
