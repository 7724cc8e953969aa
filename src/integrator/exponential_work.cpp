#include "integrator/exponential_work.hpp"

namespace stiction::compliance {

bool pays_matrices(const Scene& scene, CompliantWorkspace& work) {
  constexpr double kPerEntry = 100.0;  // beyond the caches
  CompliantSystem& start = work.start;
  ExponentialScratch& s = work.exponential;
  WorkAccount& account = work.account();
  if (account.is_open()) account.allow(3 * static_cast<int>(start.points.size()), 0.0);
  account.charge(2.0 * evaluation_work(scene, start));  // here and at the predicted end
  s.rows_of_tree.assign(scene.trees().size(), 0);
  for (const Contact& c : start.contacts) {
    for (const int body : {c.body_a, c.body_b})
      if (body >= 0) s.rows_of_tree[scene.tree_of_body(body)] += 3;
  }
  double entries = 0.0;
  for (const int rows : s.rows_of_tree) entries += static_cast<double>(rows) * rows;
  s.unpaid = !account.take(kPerEntry * entries);
  return !s.unpaid;
}

bool pays_islands(CompliantWorkspace& work) {
  constexpr double kPerEntry = 32.0;  // and some products with it
  const std::vector<int>& bounds = work.start.delassus.island_start;
  double entries = 0.0;
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
    const double rows = work.start.row_start[bounds[k + 1]] - work.start.row_start[bounds[k]];
    entries += rows * rows;
  }
  work.exponential.unpaid = !work.account().take(kPerEntry * entries);
  return !work.exponential.unpaid;
}

}  // namespace stiction::compliance
