#include "derivatives/reach.hpp"

namespace stiction {
namespace {

/// Whether a tree was marked.
bool spread_along(const ConstraintRow& row, std::vector<char>& marked) {
  bool any = false, all = true;
  for (int s = 0; s < row.num_sides; ++s) {
    any = any || marked[row.sides[s].tree];
    all = all && marked[row.sides[s].tree];
  }
  for (int s = 0; s < row.num_sides && any; ++s) marked[row.sides[s].tree] = 1;
  return any && !all;
}

}  // namespace

void spread_reach(const DerivativeInput& in,
                  const Linearisation& linear,
                  std::vector<char>& marked) {
  for (const DerivativeIsland& island : linear.islands) {
    bool more = island.last_tree - island.first_tree > 1;
    while (more) {
      more = false;
      for (int i = island.first_set; i < island.last_set; ++i) {
        if (linear.active.start[i] < linear.active.start[i + 1])
          more = spread_along(in.record.rows.rows[i], marked) || more;
      }
    }
  }
}

}  // namespace stiction
