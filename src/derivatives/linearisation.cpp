#include "derivatives/linearisation.hpp"

#include "stiction/math/constants.hpp"

#include "contact/constraint_row.hpp"
#include "derivatives/tree_derivatives.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stiction {
namespace {

/// The island of the problem that each tree takes part in, then one more for every other tree.
void find_islands(const DerivativeInput& in, Linearisation& out) {
  const ContactProblem& problem = in.record.problem;
  const int num_trees = static_cast<int>(in.scene.trees().size());
  out.islands.clear();
  out.island_of_tree.assign(num_trees, -1);
  int reduced = 0;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const int first = problem.island_start[k], last = problem.island_start[k + 1];
    if (first == last) continue;
    const int row = problem.sets[first].offset,
              end = problem.sets[last - 1].offset + problem.sets[last - 1].dim;
    for (int i = first; i < last; ++i) {
      const ConstraintRow& set = in.record.rows.rows[i];
      for (int s = 0; s < set.num_sides; ++s)
        out.island_of_tree[set.sides[s].tree] = static_cast<int>(out.islands.size());
    }
    out.islands.push_back({0, 0, first, last, row, end - row, 0, reduced++, false});
  }
  for (int t = 0; t < num_trees; ++t) {
    if (out.island_of_tree[t] >= 0) continue;
    out.island_of_tree[t] = static_cast<int>(out.islands.size());
    out.islands.push_back({0, 0, 0, 0, 0, 0, 0, -1, in.record.dynamics.asleep[t] != 0});
  }
  if (static_cast<int>(out.reduced.size()) < reduced) out.reduced.resize(reduced);
}

/// Trees and dofs in the order of islands.
void number_dofs(const DerivativeInput& in, Linearisation& out) {
  const int num_trees = static_cast<int>(in.scene.trees().size());
  out.trees.resize(num_trees);
  std::iota(out.trees.begin(), out.trees.end(), 0);
  // Stable without the allocation of std::stable_sort.
  std::sort(out.trees.begin(), out.trees.end(), [&](int a, int b) {
    const int i = out.island_of_tree[a], j = out.island_of_tree[b];
    return i != j ? i < j : a < b;
  });
  out.local.resize(in.scene.nv());
  out.dofs.clear();
  out.first_dof.clear();
  int at = 0;
  for (std::size_t k = 0; k < out.islands.size(); ++k) {
    DerivativeIsland& island = out.islands[k];
    island.first_tree = at;
    out.first_dof.push_back(static_cast<int>(out.dofs.size()));
    for (; at < num_trees && out.island_of_tree[out.trees[at]] == static_cast<int>(k); ++at) {
      const Tree& tree = in.scene.trees()[out.trees[at]];
      for (int j = tree.v_offset; j < tree.v_offset + tree.nv; ++j) {
        out.local[j] = island.num_dofs++;
        out.dofs.push_back(j);
      }
    }
    island.last_tree = at;
  }
}

void find_entries(const DerivativeInput& in, Linearisation& out) {
  const ContactProblem& problem = in.record.problem;
  out.entry_start.clear();
  out.value_start.clear();
  out.entry_dof.clear();
  out.y.clear();
  for (int i = 0; i < problem.num_sets(); ++i) {
    out.entry_start.push_back(static_cast<int>(out.entry_dof.size()));
    out.value_start.push_back(static_cast<int>(out.y.size()));
    append_whitened_entries(in.scene,
                            in.record.dynamics,
                            in.record.rows,
                            i,
                            problem.sets[i].offset,
                            out.entry_dof,
                            out.y);
  }
  out.entry_start.push_back(static_cast<int>(out.entry_dof.size()));
  for (int& dof : out.entry_dof) dof = out.local[dof];
}

/// Y t and Y w of every unknown.
void combine_entries(Linearisation& out) {
  out.unknown_start.clear();
  out.y_t.clear();
  out.y_w.clear();
  for (const ActiveUnknown& a : out.active.unknowns) {
    out.unknown_start.push_back(static_cast<int>(out.y_t.size()));
    const int count = out.entry_start[a.set + 1] - out.entry_start[a.set];
    const double* y = out.y.data() + out.value_start[a.set];
    for (int e = 0; e < count; ++e, y += a.dim) {
      double t = 0.0, w = 0.0;
      for (int r = 0; r < a.dim; ++r) {
        t += a.t[r] * y[r];
        w += a.w[r] * y[r];
      }
      out.y_t.push_back(t);
      out.y_w.push_back(w);
    }
  }
}

}  // namespace

int moving_nullity(Linearisation& linear, const DerivativeIsland& island) {
  const ReducedSystem& reduced = linear.reduced[island.reduced];
  const int nullity = reduced.selects() ? reduced.size() - reduced.rank() : 0;
  if (nullity == 0) return 0;
  std::vector<double>&x = linear.work.null, &moved = linear.work.moved;
  x.resize(reduced.size());
  moved.clear();
  for (int j = 0; j < nullity; ++j) {
    reduced.null_vector(j, x.data());
    moved.resize(moved.size() + island.num_dofs, 0.0);
    double* own = moved.data() + moved.size() - island.num_dofs;
    double size = 0.0;
    for (int a = 0; a < reduced.size(); ++a) {
      const int set = linear.active.unknowns[reduced.first() + a].set;
      const double* y_t = linear.y_t.data() + linear.unknown_start[reduced.first() + a];
      for (int e = linear.entry_start[set]; e < linear.entry_start[set + 1]; ++e, ++y_t) {
        own[linear.entry_dof[e]] += *y_t * x[a];
        size = std::max(size, std::abs(*y_t * x[a]));
      }
    }
    for (int k = 0; k < island.num_dofs; ++k) own[k] /= std::max(size, 1e-300);
  }
  PivotedLu& gram = linear.work.gram;
  double* G = gram.resize(nullity);
  for (int i = 0; i < nullity; ++i) {
    for (int j = 0; j < nullity; ++j) {
      for (int k = 0; k < island.num_dofs; ++k)
        G[i * nullity + j] += moved[i * island.num_dofs + k] * moved[j * island.num_dofs + k];
    }
  }
  gram.factor(1e-12, true);
  return gram.rank();
}

/// What nothing can move is at no switch: it has no load and no speed, and never will.
static void settle_immovable(const DerivativeInput& in, ActiveSet& active) {
  for (std::size_t i = 0; i < active.modes.size(); ++i) {
    if (in.record.rows.rows[i].kind != ReferenceKind::kImmovable || active.on_path ||
        active.modes[i] != ContactMode::kOpen)
      continue;
    active.margin[i] = kInfinity;
    --active.num_at_switch;
  }
}

/// [m/s] What rounding of places leaves of a gap that is zero, over a step.
static double rounding_of_gaps(const DerivativeInput& in) {
  double reach = 1.0;
  for (const Contact& c : in.record.contacts) reach = std::max(reach, norm(c.position));
  return 2e-15 * reach / in.dt;
}

void linearise(const DerivativeInput& in, Linearisation& out) {
  const ContactSolution& solution = in.record.solution;
  find_islands(in, out);
  number_dofs(in, out);
  find_active_set(in.record.problem,
                  solution.impulse,
                  solution.velocity,
                  in.model,
                  {kRest, solution.model_residuals.relative, rounding_of_gaps(in)},
                  out.active,
                  {solution.path_energy, solution.path_velocity.data()});
  settle_immovable(in, out.active);
  find_moving_rows(in, out.active, out.moving);
  find_entries(in, out);
  combine_entries(out);
  for (const DerivativeIsland& island : out.islands) {
    if (island.reduced >= 0)
      out.reduced[island.reduced].build(
          in.record.problem, out.active, island.first_set, island.last_set);
  }
  prepare_trees(in, out);
}

}  // namespace stiction
