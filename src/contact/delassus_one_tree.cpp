#include "stiction/math/clones.hpp"

#include "constraint_row.hpp"

#include <algorithm>
#include <cmath>

// One tree carries every set, as for a robot on the ground: G = Y^T Y with Y = D^-1/2 Z stored
// dense by dof, [dofs x width], so that one dof of a chain adds to eight columns of G at once.
// Zeros are skipped by chain (rows of Y^T) and by blocks of eight columns.

namespace stiction {
namespace {

constexpr int kBlock = 8;

/// What the kernels read.
struct Columns {
  const double* y;
  const std::uint8_t* touched;  ///< [dofs x width / 8] whether a block has an entry
  int width;                    ///< a multiple of 8, one more than the rows at least
  int total;                    ///< rows of the problem
};

bool acts_on_one_tree(const ConstraintRows& rows) {
  if (rows.rows.empty()) return false;
  const int tree = rows.rows[0].sides[0].tree;
  return std::all_of(rows.rows.begin(), rows.rows.end(), [&](const ConstraintRow& row) {
    return row.sides[0].tree == tree && row.sides[row.num_sides - 1].tree == tree;
  });
}

/// Each panel is one run over all rows.
void lay_out_full_panels(ContactProblem& problem) {
  const int total = problem.num_rows();
  problem.runs.clear();
  problem.run_start.assign(1, 0);
  problem.panel_start.assign(1, 0);
  problem.diagonal_start.clear();
  int size = 0;
  for (int i = 0; i < problem.num_sets(); ++i) {
    const int stride = ContactProblem::stride(problem.sets[i].dim);
    problem.diagonal_start.push_back(size + stride * problem.sets[i].offset);
    problem.runs.push_back({0, total, 0});
    problem.run_start.push_back(i + 1);
    size += stride * total;
    problem.panel_start.push_back(size);
  }
  problem.values.resize(size);
}

/// Y from the whitened rows. A set with two sides on the tree has the sum of both.
Columns gather_columns(const TreeView& view,
                       const TreeData<double>& data,
                       int nv,
                       const ContactProblem& problem,
                       ConstraintRows& rows) {
  const int total = problem.num_rows(), blocks = total / kBlock + 1, width = kBlock * blocks;
  rows.columns.assign(static_cast<std::size_t>(nv) * width, 0.0);
  rows.touched.assign(static_cast<std::size_t>(nv) * blocks, 0);
  rows.root.resize(nv);
  for (int k = 0; k < nv; ++k) rows.root[k] = std::sqrt(data.D_inverse[k]);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const ConstraintRow& row = rows.rows[i];
    const int dim = row.set.dim == 1 ? 1 : 3;  // rows interleaved in z
    for (int s = 0; s < row.num_sides; ++s) {
      const RowSide& side = row.sides[s];
      const int* chain = view.chain + view.row[side.last_dof];
      for (int first = 0; first < row.set.dim; first += dim) {
        const double* z = rows.z.data() + side.z + first * side.length;
        const int at = problem.sets[i].offset + first;
        for (int m = 0; m < side.length; ++m, z += dim) {
          const int k = chain[m];
          for (int r = 0; r < dim; ++r) rows.columns[k * width + at + r] += rows.root[k] * z[r];
          rows.touched[k * blocks + at / kBlock] = 1;
          rows.touched[k * blocks + (at + dim - 1) / kBlock] = 1;
        }
      }
    }
  }
  return {rows.columns.data(), rows.touched.data(), width, total};
}

/// The dofs on which a set acts, ascending.
void list_dofs(const TreeView& view, const ConstraintRow& row, std::vector<int>& dofs) {
  dofs.clear();
  for (int s = 0; s < row.num_sides; ++s) {
    const int* chain = view.chain + view.row[row.sides[s].last_dof];
    dofs.insert(dofs.end(), chain, chain + row.sides[s].length);
  }
  if (row.num_sides < 2) return;
  std::sort(dofs.begin(), dofs.end());
  dofs.erase(std::unique(dofs.begin(), dofs.end()), dofs.end());
}

/// The panel of three rows, padded to four: column c at [4 c].
STICTION_CLONES void fill_cone_panel(
    const Columns& Y, const int* dofs, int num_dofs, int row, double* __restrict panel) {
  constexpr Quad kThree{1.0, 1.0, 1.0, 0.0};
  for (int c = 0; c < Y.total; c += kBlock) {
    Quad sum[kBlock]{};
    for (int m = 0; m < num_dofs; ++m) {
      const int k = dofs[m];
      if (!Y.touched[(k * Y.width + c) / kBlock]) continue;
      const double* y = Y.y + k * Y.width;
      const Quad three = *reinterpret_cast<const UnalignedQuad*>(y + row) * kThree;
      for (int j = 0; j < kBlock; ++j) sum[j] += three * y[c + j];
    }
    const int count = std::min(kBlock, Y.total - c);
    for (int j = 0; j < count; ++j) *reinterpret_cast<UnalignedQuad*>(panel + 4 * (c + j)) = sum[j];
  }
}

/// One row of G, entries `stride` apart.
STICTION_CLONES void fill_row(const Columns& Y,
                              const int* dofs,
                              int num_dofs,
                              int row,
                              int stride,
                              double* __restrict panel) {
  for (int c = 0; c < Y.total; c += kBlock) {
    Quad low{}, high{};
    for (int m = 0; m < num_dofs; ++m) {
      const int k = dofs[m];
      if (!Y.touched[(k * Y.width + c) / kBlock]) continue;
      const double* y = Y.y + k * Y.width;
      low += *reinterpret_cast<const UnalignedQuad*>(y + c) * y[row];
      high += *reinterpret_cast<const UnalignedQuad*>(y + c + 4) * y[row];
    }
    const int count = std::min(kBlock, Y.total - c);
    for (int j = 0; j < count; ++j) panel[stride * (c + j)] = j < 4 ? low[j] : high[j - 4];
  }
}

}  // namespace

bool assemble_one_tree(const Scene& scene,
                       const DynamicsWorkspace& dynamics,
                       ConstraintRows& rows,
                       ContactProblem& problem) {
  if (!acts_on_one_tree(rows)) return false;
  const int tree = rows.rows[0].sides[0].tree;
  const TreeView& view = dynamics.views[tree];
  lay_out_full_panels(problem);
  const Columns Y =
      gather_columns(view, dynamics.trees[tree], scene.trees()[tree].nv, problem, rows);
  for (int i = 0; i < problem.num_sets(); ++i) {
    list_dofs(view, rows.rows[i], rows.dofs);
    const ConstraintSet& set = problem.sets[i];
    const int stride = ContactProblem::stride(set.dim), n = static_cast<int>(rows.dofs.size());
    double* panel = problem.values.data() + problem.panel_start[i];
    if (set.dim == 3) {
      fill_cone_panel(Y, rows.dofs.data(), n, set.offset, panel);
      continue;
    }
    for (int r = 0; r < set.dim; ++r)
      fill_row(Y, rows.dofs.data(), n, set.offset + r, stride, panel + r);
  }
  return true;
}

}  // namespace stiction
