#include "solver/common/island.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

void velocities(const Island& island, const double* lambda, double* velocity) {
  const ContactProblem& p = island.problem;
  for (int i = island.first; i < island.last; ++i)
    p.velocity(i, lambda, velocity + p.sets[i].offset);
}

double velocity_scale(const Island& island) {
  double scale = 0.0;
  for (int r = island.begin; r < island.end; ++r)
    scale = std::max(scale, std::abs(island.problem.g[r]));
  return scale;
}

double mean_diagonal(const Island& island) {
  double sum = 0.0;
  for (int i = island.first; i < island.last; ++i) {
    for (int r = 0; r < island.problem.sets[i].dim; ++r) sum += diagonal(island.problem, i, r);
  }
  return sum > 0.0 ? sum / island.rows() : 1.0;
}

double largest_eigenvalue_bound(const double* block, int n, int stride) {
  if (n == 1) return block[0];
  double q = block[0], deviation = 0.0;
  for (int r = 1; r < n; ++r) q += block[(stride + 1) * r];
  q /= n;
  for (int c = 0; c < n; ++c) {
    for (int r = 0; r < n; ++r) {
      const double x = block[stride * c + r] - (r == c ? q : 0.0);
      deviation += x * x;
    }
  }
  return q + (n - 1) * std::sqrt(deviation / (n * (n - 1)));
}

void copy_dense(const Island& island, int stride, double* G, double* g) {
  const ContactProblem& p = island.problem;
  const std::size_t n = stride;
  std::fill(G, G + n * island.rows(), 0.0);
  std::copy(p.g.begin() + island.begin, p.g.begin() + island.end, g);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    p.each_column(i, [&](int j, int at) {
      const double* column = p.values.data() + at;
      std::copy(column, column + set.dim, G + (j - island.begin) * n + (set.offset - island.begin));
    });
  }
}

/// The sides of the sets [first, last).
static void copy_trees(const ContactProblem& p, int first, int last, ContactProblem::Trees& out) {
  const ContactProblem::Trees& trees = p.trees;
  out.side_start.assign(1, 0);
  out.sides.clear();
  out.dofs.clear();
  out.z.clear();
  if (!trees.known()) return;
  for (int i = first; i < last; ++i) {
    for (int s = trees.side_start[i]; s < trees.side_start[i + 1]; ++s) {
      const ContactProblem::Trees::Side& side = trees.sides[s];
      const auto dof = trees.dofs.begin() + side.dof;
      const auto z = trees.z.begin() + side.z;
      out.sides.push_back({side.tree,
                           side.length,
                           static_cast<int>(out.dofs.size()),
                           static_cast<int>(out.z.size())});
      out.dofs.insert(out.dofs.end(), dof, dof + side.length);
      out.z.insert(out.z.end(), z, z + p.sets[i].dim * side.length);
    }
    out.side_start.push_back(static_cast<int>(out.sides.size()));
  }
  out.tree_start = trees.tree_start;
  out.inertia = trees.inertia;
}

void copy_island(const ContactProblem& p, int k, ContactProblem& out) {
  const Island island(p, p.island_start[k], p.island_start[k + 1]);
  const int first = island.first, last = island.last;
  const auto cut = [](const auto& from, int begin, int end, auto& to) {
    to.assign(from.begin() + begin, from.begin() + end);
  };
  cut(p.sets, first, last, out.sets);
  cut(p.g, island.begin, island.end, out.g);
  cut(p.compliance, island.begin, island.end, out.compliance);
  out.velocity_floor.clear();
  if (!p.velocity_floor.empty()) cut(p.velocity_floor, first, last, out.velocity_floor);
  cut(p.run_start, first, last + 1, out.run_start);
  cut(p.runs, p.run_start[first], p.run_start[last], out.runs);
  cut(p.panel_start, first, last + 1, out.panel_start);
  cut(p.diagonal_start, first, last, out.diagonal_start);
  cut(p.values, p.panel_start[first], p.panel_start[last], out.values);
  for (ConstraintSet& set : out.sets) set.offset -= island.begin;
  for (int& start : out.run_start) start -= p.run_start[first];
  for (ContactProblem::Run& run : out.runs) {
    run.column -= island.begin;
    run.set -= first;
  }
  for (int& start : out.panel_start) start -= p.panel_start[first];
  for (int& start : out.diagonal_start) start -= p.panel_start[first];
  out.island_start.assign({0, last - first});
  copy_trees(p, first, last, out.trees);
}

}  // namespace stiction
