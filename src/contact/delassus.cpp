#include "contact/constraint_row.hpp"
#include "dynamics/constraint_rows.hpp"
#include "math/clones.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <type_traits>

// G = J M^-1 J^T = sum over shared trees of Z_i^T D^-1 Z_j, stored as row panels over the sets that
// share a tree. Both triangles are stored: a sweep reads rows.

namespace stiction {
namespace {

/// delassus_block<3, 3> with columns four apart, in the same order of sums.
STICTION_CLONES void add_cone_block(int common, const double* za, const double* zb, double* block) {
  Quad x{}, y{}, z{};
  for (int m = 0; m < common; ++m, za += 3, zb += 3) {
    const Quad a{za[0], za[1], za[2], 0.0};
    x += a * zb[0];
    y += a * zb[1];
    z += a * zb[2];
  }
  quad(block) = quad(block) + x;
  quad(block + 4) = quad(block + 4) + y;
  quad(block + 8) = quad(block + 8) + z;
}

/// visit(std::integral_constant<int, rows of a block of the set>)
template <class Visit>
void with_block(const ConstraintSet& set, Visit&& visit) {
  if (set.dim == 1) return visit(std::integral_constant<int, 1>{});
  with_dim(ContactProblem::tree_block(set), visit);
}

/// block += Z_x^T D^-1 Z_y of two sides of one tree, columns `stride` apart.
void add_sides(const Scene& scene,
               const ConstraintRows& rows,
               const ConstraintSet& a,
               const RowSide& x,
               const ConstraintSet& b,
               const RowSide& y,
               double* block,
               int stride) {
  const int dim_a = a.dim, dim_b = b.dim;
  const int common = std::min({scene.trees()[x.tree].common(x.body, y.body), x.length, y.length});
  const double* za = rows.whitened.z().data() + x.start;
  const double* zb = rows.whitened.scaled().data() + y.start;
  if (dim_a == 3 && dim_b == 3) return add_cone_block(common, za, zb, block);
  if (dim_a == 1 && dim_b == 1) return delassus_block<1, 1>(common, za, zb, block, stride);
  const auto add = [&](auto A, auto B) {
    for (int i = 0; i < dim_a; i += A) {
      for (int j = 0; j < dim_b; j += B)
        delassus_block<A, B>(
            common, za + i * x.length, zb + j * y.length, block + stride * j + i, stride);
    }
  };
  with_block(a, [&](auto A) { with_block(b, [&](auto B) { add(A, B); }); });
}

/// block += G_ij of sets a and b.
void add_block(const Scene& scene,
               const ConstraintRows& rows,
               const ConstraintRow& a,
               const ConstraintRow& b,
               double* block,
               int stride) {
  for (int s = 0; s < a.num_sides; ++s) {
    for (int t = 0; t < b.num_sides; ++t) {
      if (a.sides[s].tree != b.sides[t].tree) continue;
      add_sides(scene, rows, a.set, a.sides[s], b.set, b.sides[t], block, stride);
    }
  }
}

/// Counting sort of the rows by their island.
void sort_by_island(int num_islands, std::vector<ConstraintRow>& rows, RowScratch& scratch) {
  std::vector<int>&next = scratch.next, &island = scratch.island_of_row;
  next.assign(num_islands + 1, 0);
  for (const int id : island) ++next[id + 1];
  for (int k = 0; k < num_islands; ++k) next[k + 1] += next[k];
  scratch.sorted.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) scratch.sorted[next[island[i]]++] = rows[i];
  rows.swap(scratch.sorted);
  for (int k = 0, i = 0; k < num_islands; ++k) {
    for (; i < next[k]; ++i) island[i] = k;
  }
}

/// Islands: components of trees under the rows. Rows are sorted by island, stably.
void find_islands(int num_trees, std::vector<ConstraintRow>& rows, RowScratch& scratch) {
  scratch.joined.reset(num_trees);
  for (const ConstraintRow& row : rows) {
    if (row.num_sides == 2) scratch.joined.join(row.sides[0].tree, row.sides[1].tree);
  }
  // Islands are numbered by their first row.
  std::vector<int>& island = scratch.island_of_row;
  scratch.island_of_tree.assign(num_trees, -1);
  island.clear();
  int num_islands = 0;
  bool sorted = true;
  for (const ConstraintRow& row : rows) {
    int& id = scratch.island_of_tree[scratch.joined.find(row.sides[0].tree)];
    if (id < 0) id = num_islands++;
    sorted = sorted && (island.empty() || island.back() <= id);
    island.push_back(id);
  }
  if (!sorted) sort_by_island(num_islands, rows, scratch);
}

/// For each tree, the sets that act on it, ascending.
void list_sets_by_tree(int num_trees, const ConstraintRows& rows, RowScratch& scratch) {
  scratch.tree_start.assign(num_trees + 1, 0);
  const auto each = [&](auto&& visit) {
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const ConstraintRow& row = rows.rows[i];
      for (int s = 0; s < row.num_sides; ++s) {
        if (s == 1 && row.sides[1].tree == row.sides[0].tree) continue;
        visit(row.sides[s].tree, static_cast<int>(i));
      }
    }
  };
  each([&](int tree, int) { ++scratch.tree_start[tree + 1]; });
  for (int t = 0; t < num_trees; ++t) scratch.tree_start[t + 1] += scratch.tree_start[t];
  scratch.tree_sets.resize(scratch.tree_start[num_trees]);
  scratch.next.assign(scratch.tree_start.begin(), scratch.tree_start.end() - 1);
  each([&](int tree, int set) { scratch.tree_sets[scratch.next[tree]++] = set; });
}

/// The sets that share a tree with a row, ascending, each once: scratch.neighbours.
void list_neighbours(const ConstraintRow& row, RowScratch& scratch) {
  const auto list = [&](int side) {
    const int* start = scratch.tree_start.data() + row.sides[side].tree;
    return std::span(scratch.tree_sets.data() + start[0], scratch.tree_sets.data() + start[1]);
  };
  const auto a = list(0), b = list(row.num_sides - 1);
  scratch.neighbours.clear();
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(scratch.neighbours));
}

void number_rows(const std::vector<ConstraintRow>& rows,
                 const std::vector<int>& island,
                 ContactProblem& problem) {
  problem.sets.clear();
  problem.island_start.clear();
  int offset = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || island[i] != island[i - 1]) problem.island_start.push_back(static_cast<int>(i));
    problem.sets.push_back(rows[i].set);
    problem.sets.back().offset = offset;
    offset += rows[i].set.dim;
  }
  problem.island_start.push_back(static_cast<int>(rows.size()));
  problem.g.resize(offset);
  problem.compliance.resize(offset);
  problem.velocity_floor.resize(problem.sets.size());
}

/// Runs of columns and the room for each panel.
void lay_out_panels(const ConstraintRows& rows, RowScratch& scratch, ContactProblem& problem) {
  ContactProblem::Panels& panels = problem.stored;
  panels.clear(problem.num_sets());
  for (int i = 0; i < problem.num_sets(); ++i) {
    if (rows.rows[i].loose) continue;
    list_neighbours(rows.rows[i], scratch);
    panels.begin(i);
    for (const int j : scratch.neighbours) panels.append(problem.sets, i, j);
    panels.end(i);
  }
  std::fill(panels.values.begin(), panels.values.begin() + panels.size, 0.0);
}

/// mirror <- block^T.
void mirror_block(const ConstraintSet& a,
                  const ConstraintSet& b,
                  const double* block,
                  double* mirror) {
  const int sa = ContactProblem::stride(a.dim), sb = ContactProblem::stride(b.dim);
  for (int c = 0; c < a.dim; ++c) {
    for (int r = 0; r < b.dim; ++r) mirror[sb * c + r] = block[sa * r + c];
  }
}

/// Blocks (i, j) with j >= i, and their mirrors. mirrored[j]: where the next one goes in panel j,
/// whose columns are filled in order.
void fill_panel(const Scene& scene,
                const ConstraintRows& rows,
                int i,
                std::vector<int>& mirrored,
                ContactProblem& problem) {
  const ConstraintRow& a = rows.rows[i];
  const int stride = ContactProblem::stride(a.set.dim);
  ContactProblem::Panels& panels = problem.stored;
  int at = panels.start[i];
  for (int k = panels.run_begin[i]; k < panels.run_end[i]; ++k) {
    const ContactProblem::Panels::Run& run = panels.runs[k];
    const int end = run.column + run.count;
    for (int j = run.set; j < problem.num_sets() && problem.sets[j].offset < end; ++j) {
      const ConstraintRow& b = rows.rows[j];
      if (j >= i) add_block(scene, rows, a, b, panels.values.data() + at, stride);
      if (j > i) {
        double* values = panels.values.data();
        mirror_block(a.set, b.set, values + at, values + mirrored[j]);
        mirrored[j] += ContactProblem::stride(b.set.dim) * a.set.dim;
      }
      at += stride * b.set.dim;
    }
  }
}

}  // namespace

void number_sets(const Scene& scene,
                 ConstraintRows& rows,
                 RowScratch& scratch,
                 ContactProblem& problem) {
  find_islands(static_cast<int>(scene.trees().size()), rows.rows, scratch);
  number_rows(rows.rows, scratch.island_of_row, problem);
}

void assemble_delassus(const Scene& scene,
                       const ConstraintRows& rows,
                       RowScratch& scratch,
                       ContactProblem& problem) {
  const auto loose = [](const ConstraintRow& row) { return row.loose; };
  if (std::all_of(rows.rows.begin(), rows.rows.end(), loose))
    return problem.stored.clear(problem.num_sets());
  list_sets_by_tree(static_cast<int>(scene.trees().size()), rows, scratch);
  lay_out_panels(rows, scratch, problem);
  std::vector<int>& mirrored = scratch.next;
  mirrored = problem.stored.start;
  for (int i = 0; i < problem.num_sets(); ++i) {
    if (!rows.rows[i].loose) fill_panel(scene, rows, i, mirrored, problem);
  }
}

}  // namespace stiction
