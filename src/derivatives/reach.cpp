#include "derivatives/reach.hpp"

namespace stiction {

bool link_trees(int a, int b, std::vector<char>& marked) {
  if (a < 0 || b < 0 || marked[a] == marked[b]) return false;
  marked[a] = marked[b] = 1;
  return true;
}

void spread_reach(const DerivativeInput& in,
                  const Linearisation& linear,
                  std::vector<char>& marked) {
  for (const DerivativeIsland& island : linear.islands) {
    bool more = island.last_tree - island.first_tree > 1;
    while (more) {
      more = false;
      for (int i = island.first_set; i < island.last_set; ++i) {
        const ConstraintRow& row = in.record.rows.rows[i];
        if (row.num_sides == 2 && linear.active.start[i] < linear.active.start[i + 1])
          more = link_trees(row.sides[0].tree, row.sides[1].tree, marked) || more;
      }
    }
  }
}

}  // namespace stiction
