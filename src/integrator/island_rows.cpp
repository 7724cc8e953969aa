#include "integrator/island_rows.hpp"

#include "contact/contact_axes.hpp"

#include <algorithm>
#include <cstddef>

namespace stiction::compliance {
namespace {

/// visit(row of the island, row of all, unit).
template <class Visit>
void each_row(const CompliantSystem& system,
              int first,
              const ContactIsland& island,
              Visit&& visit) {
  for (int row = 0; row < island.rows(); ++row) {
    const RowPlace place = place_of(system, first, island, row);
    visit(row, place.row, place.unit);
  }
}

}  // namespace

RowPlace place_of(const CompliantSystem& system, int first, const ContactIsland& island, int row) {
  if (island.turns.empty()) return {system.row_start[first] + row, 1.0};
  const int turn = row - 3 * island.size;
  if (turn >= 0) {
    const TurnRow& t = island.turns[turn];
    return {system.row_start[first + t.point] + couple_row(t.axis), t.unit};
  }
  const int begin = system.row_start[first + row / 3],
            dim = system.row_start[first + row / 3 + 1] - begin;
  return {begin + point_row(dim, row % 3), 1.0};
}

void fill_island(const CompliantSystem& system,
                 int first,
                 int last,
                 std::vector<double>& scratch,
                 ContactIsland& island) {
  island.size = last - first;
  island.compliance.clear();
  island.start.clear();
  for (int i = first; i < last; ++i) {
    island.compliance.push_back(system.points[i].compliance);
    island.start.push_back(system.points[i].motion);
  }
  island.list_turns();
  const std::size_t rows = island.rows();
  island.Y.resize(rows * rows);
  if (island.turns.empty()) return dense_delassus(system, first, last, island.Y.data());
  const int begin = system.row_start[first];
  const std::size_t all = system.row_start[last] - begin;
  scratch.resize(all * all);
  dense_delassus(system, first, last, scratch.data());
  each_row(system, first, island, [&](int a, int from_a, double unit_a) {
    const double* from = scratch.data() + all * (from_a - begin);
    double* to = island.Y.data() + rows * a;
    each_row(system, first, island, [&](int b, int from_b, double unit_b) {
      to[b] = unit_a * unit_b * from[from_b - begin];
    });
  });
}

const double* to_island(const CompliantSystem& system,
                        int first,
                        const ContactIsland& island,
                        const std::vector<double>& rows,
                        std::vector<double>& scratch) {
  if (island.turns.empty()) return rows.data() + system.row_start[first];
  scratch.resize(island.rows());
  each_row(
      system, first, island, [&](int a, int from, double unit) { scratch[a] = unit * rows[from]; });
  return scratch.data();
}

void from_island(const CompliantSystem& system,
                 int first,
                 const ContactIsland& island,
                 const std::vector<double>& f,
                 std::vector<double>& rows) {
  const int begin = system.row_start[first], end = system.row_start[first + island.size];
  if (island.turns.empty()) {
    std::copy(f.begin(), f.end(), rows.begin() + begin);
    return;
  }
  std::fill(rows.begin() + begin, rows.begin() + end, 0.0);
  each_row(system, first, island, [&](int a, int to, double unit) { rows[to] = unit * f[a]; });
}

}  // namespace stiction::compliance
