#include "contact/rows_by_dof.hpp"

#include "math/clones.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

constexpr int kBlock = 8;

/// J^T, the sum over both sides of each set.
void scatter_rows(const TreeView& view,
                  const ContactProblem& problem,
                  const ConstraintRows& rows,
                  RowsByDof& out) {
  const int blocks = out.width / kBlock;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const ConstraintRow& row = rows.rows[i];
    const int dim = ContactProblem::tree_block(row.set);  // rows interleaved in z
    for (int s = 0; s < row.num_sides; ++s) {
      const RowSide& side = row.sides[s];
      const int* chain = view.chain + view.row[side.last_dof];
      for (int first = 0; first < row.set.dim; first += dim) {
        const double* z = rows.jacobian.data() + side.start + first * side.length;
        const int at = problem.sets[i].offset + first;
        for (int m = 0; m < side.length; ++m, z += dim) {
          double* y = out.y.data() + chain[m] * out.width + at;
          for (int r = 0; r < dim; ++r) y[r] += z[r];
          std::uint8_t* touched = out.touched.data() + chain[m] * blocks;
          touched[at / kBlock] = touched[(at + dim - 1) / kBlock] = 1;
        }
      }
    }
  }
}

/// J^T -> D^-1/2 L^-T J^T, from the leaves to the root.
STICTION_CLONES void whiten(const TreeView& view,
                            const double* L,
                            const double* root,
                            int nv,
                            int blocks,
                            const std::uint8_t* touched,
                            double* y) {
  const int width = kBlock * blocks;
  for (int k = nv - 1; k >= 0; --k) {
    const int* chain = view.chain + view.row[k];
    const double* l = L + view.row[k];
    const int depth = view.depth[k];
    for (int b = 0; b < blocks; ++b) {
      if (!touched[k * blocks + b]) continue;
      double* own = y + k * width + kBlock * b;
      const Quad low = quad(own), high = quad(own + 4);
      for (int m = 0; m < depth; ++m) {
        double* other = y + chain[m] * width + kBlock * b;
        quad(other) = quad(other) - low * l[m];
        quad(other + 4) = quad(other + 4) - high * l[m];
      }
      quad(own) = low * root[k];
      quad(own + 4) = high * root[k];
    }
  }
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
    const RowsByDof& Y, const int* dofs, int num_dofs, int row, int total, double* panel) {
  constexpr Quad kThree{1.0, 1.0, 1.0, 0.0};
  const double* all = Y.y.data();
  const std::uint8_t* touched = Y.touched.data();
  const int width = Y.width;
  for (int c = 0; c < total; c += kBlock) {
    Quad sum[kBlock]{};
    for (int m = 0; m < num_dofs; ++m) {
      const int at = dofs[m] * width;
      if (!touched[(at + c) / kBlock]) continue;
      const double* y = all + at;
      const Quad three = quad(y + row) * kThree;
      for (int j = 0; j < kBlock; ++j) sum[j] += three * y[c + j];
    }
    const int count = std::min(kBlock, total - c);
    for (int j = 0; j < count; ++j) quad(panel + 4 * (c + j)) = sum[j];
  }
}

/// One row of G, entries `stride` apart.
STICTION_CLONES void fill_row(const RowsByDof& Y,
                              const int* dofs,
                              int num_dofs,
                              int row,
                              int total,
                              int stride,
                              double* panel) {
  constexpr int kQuads = 4;  // sums that do not wait for each other
  const double* all = Y.y.data();
  const int width = Y.width;
  for (int c = 0; c < width; c += 4 * kQuads) {
    Quad sum[kQuads]{};
    for (int m = 0; m < num_dofs; ++m) {
      const double* y = all + dofs[m] * width;
      for (int j = 0; j < kQuads; ++j) sum[j] += quad(y + c + 4 * j) * y[row];
    }
    const int count = std::min(4 * kQuads, total - c);
    if (stride == 1 && count == 4 * kQuads) {
      for (int j = 0; j < kQuads; ++j) quad(panel + c + 4 * j) = sum[j];
    } else {
      for (int j = 0; j < count; ++j) panel[stride * (c + j)] = sum[j / 4][j % 4];
    }
  }
}

STICTION_CLONES void times_transpose(
    const double* y, const double* root, const double* w, int nv, int width, double* out) {
  for (int c = 0; c < width; c += kBlock) {
    Quad low{}, high{};
    for (int k = 0; k < nv; ++k) {
      const double x = root[k] * w[k];
      low += quad(y + k * width + c) * x;
      high += quad(y + k * width + c + 4) * x;
    }
    quad(out + c) = low;
    quad(out + c + 4) = high;
  }
}

/// Y -> X = L^-1 D^-1/2 Y = M^-1 J^T, from the root to the leaves.
STICTION_CLONES void unwhiten(const TreeView& view,
                              const double* L,
                              const double* root,
                              int nv,
                              int width,
                              const double* y,
                              double* x) {
  for (int k = 0; k < nv; ++k) {
    const int* chain = view.chain + view.row[k];
    const double* l = L + view.row[k];
    for (int c = 0; c < width; c += kBlock) {
      Quad low = quad(y + k * width + c) * root[k], high = quad(y + k * width + c + 4) * root[k];
      for (int m = 0; m < view.depth[k]; ++m) {
        const double* other = x + chain[m] * width + c;
        low -= quad(other) * l[m];
        high -= quad(other + 4) * l[m];
      }
      quad(x + k * width + c) = low;
      quad(x + k * width + c + 4) = high;
    }
  }
}

/// out = X f, f padded by zeros.
STICTION_CLONES void times_columns(
    const double* x, const double* f, int nv, int width, double* out) {
  for (int k = 0; k < nv; ++k, x += width) {
    Quad low{}, high{};
    for (int c = 0; c < width; c += kBlock) {
      low += quad(x + c) * quad(f + c);
      high += quad(x + c + 4) * quad(f + c + 4);
    }
    const Quad sum = low + high;
    out[k] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

/// u += Y x, set after set, as on lanes: no set's share depends on which others there are.
void times(const RowsByDof& Y,
           const std::vector<ConstraintRow>& rows,
           const double* lambda,
           int nv,
           double* u) {
  int offset = 0;
  for (const ConstraintRow& row : rows) {
    const int dim = row.set.dim;
    const double* l = lambda + offset;
    const double* y = Y.y.data() + offset;
    offset += dim;
    if (dim == 3) {
      for (int k = 0; k < nv; ++k, y += Y.width) u[k] += (y[0] * l[0] + y[1] * l[1]) + y[2] * l[2];
      continue;
    }
    for (int k = 0; k < nv; ++k, y += Y.width) {
      double sum = y[0] * l[0];
      for (int r = 1; r < dim; ++r) sum += y[r] * l[r];
      u[k] += sum;
    }
  }
}

}  // namespace

void lay_out_panels_by_dof(ContactProblem& problem) {
  ContactProblem::Panels& panels = problem.stored;
  const int total = problem.num_rows();
  panels.clear(problem.num_sets());
  for (int i = 0; i < problem.num_sets(); ++i) {
    const int stride = ContactProblem::stride(problem.sets[i].dim);
    panels.begin(i);
    panels.diagonal[i] = panels.size + stride * problem.sets[i].offset;
    panels.runs.push_back({0, total, 0});
    panels.size += stride * total;
    panels.end(i);
  }
}

int common_tree(const ConstraintRows& rows) {
  if (rows.rows.empty()) return -1;
  const int tree = rows.rows[0].sides[0].tree;
  for (const ConstraintRow& row : rows.rows) {
    if (row.sides[0].tree != tree || row.sides[row.num_sides - 1].tree != tree) return -1;
  }
  return tree;
}

void whiten_rows_by_dof(const DynamicsWorkspace& dynamics,
                        int nv,
                        const ContactProblem& problem,
                        const ConstraintRows& rows,
                        RowsByDof& out) {
  const TreeData<double>& data = dynamics.trees[out.tree];
  const TreeView& view = dynamics.views[out.tree];
  const int blocks = 2 * (problem.num_rows() / (2 * kBlock) + 1);  // fill_row takes two at a time
  out.width = kBlock * blocks;
  out.y.assign(static_cast<std::size_t>(nv) * out.width, 0.0);
  out.touched.assign(static_cast<std::size_t>(nv) * blocks, 0);
  out.root.resize(nv);
  for (int k = 0; k < nv; ++k) out.root[k] = std::sqrt(data.D_inverse[k]);
  scatter_rows(view, problem, rows, out);
  whiten(view, data.L, out.root.data(), nv, blocks, out.touched.data(), out.y.data());
}

void find_responses(const DynamicsWorkspace& dynamics,
                    const RowsByDof& Y,
                    std::vector<double>& responses) {
  const int nv = static_cast<int>(Y.root.size());
  responses.resize(Y.y.size());
  unwhiten(dynamics.views[Y.tree],
           dynamics.trees[Y.tree].L,
           Y.root.data(),
           nv,
           Y.width,
           Y.y.data(),
           responses.data());
}

void respond(const RowsByDof& Y,
             const std::vector<double>& responses,
             const std::vector<double>& f,
             RowScratch& scratch,
             double* out) {
  scratch.by_row.assign(Y.width, 0.0);
  std::copy(f.begin(), f.end(), scratch.by_row.begin());
  times_columns(
      responses.data(), scratch.by_row.data(), static_cast<int>(Y.root.size()), Y.width, out);
}

void assemble_rows_by_dof(const DynamicsWorkspace& dynamics,
                          const ConstraintRows& rows,
                          RowScratch& scratch,
                          ContactProblem& problem) {
  lay_out_panels_by_dof(problem);
  const RowsByDof& Y = *rows.whitened.by_dof();
  std::vector<int>& dofs = scratch.dofs;
  const int total = problem.num_rows();
  for (int i = 0; i < problem.num_sets(); ++i) {
    list_dofs(dynamics.views[Y.tree], rows.rows[i], dofs);
    const ConstraintSet& set = problem.sets[i];
    const int stride = ContactProblem::stride(set.dim), n = static_cast<int>(dofs.size());
    double* panel = problem.stored.values.data() + problem.stored.start[i];
    if (set.dim == 3) {
      fill_cone_panel(Y, dofs.data(), n, set.offset, total, panel);
      continue;
    }
    for (int r = 0; r < set.dim; ++r)
      fill_row(Y, dofs.data(), n, set.offset + r, total, stride, panel + r);
  }
}

/// Jammed robots of 38 to 100 rows: of 17 files that fell short of 99.9 % of their steps 5 no
/// longer do.
bool worth_tree_space(int rows, int nv) {
  constexpr int kFew = 30;
  return rows > kFew && rows >= 2 * nv;
}

void fill_space_by_dof(const Scene& scene,
                       const DynamicsWorkspace& dynamics,
                       const ConstraintRows& rows,
                       RowScratch& scratch,
                       ContactProblem& problem) {
  const RowsByDof& Y = *rows.whitened.by_dof();
  ContactSpace& space = problem.space;
  space.side_start.assign(1, 0);
  space.dofs.clear();
  space.z.clear();
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const ConstraintSet& set = problem.sets[i];
    list_dofs(dynamics.views[Y.tree], rows.rows[i], scratch.dofs);
    const int length = static_cast<int>(scratch.dofs.size());
    space.sides.push_back(
        {Y.tree, length, static_cast<int>(space.dofs.size()), static_cast<int>(space.z.size())});
    space.dofs.insert(space.dofs.end(), scratch.dofs.begin(), scratch.dofs.end());
    const int dim = ContactProblem::tree_block(set);
    for (int first = 0; first < set.dim; first += dim) {
      for (const int dof : scratch.dofs) {
        const double* y = Y.y.data() + dof * Y.width + set.offset + first;
        space.z.insert(space.z.end(), y, y + dim);
      }
    }
    space.side_start.push_back(static_cast<int>(space.sides.size()));
  }
  space.tree_start.clear();
  space.inertia.clear();
  for (const Tree& tree : scene.trees()) {
    space.tree_start.push_back(static_cast<int>(space.inertia.size()));
    space.inertia.resize(space.inertia.size() + tree.nv, 1.0);
  }
  space.tree_start.push_back(static_cast<int>(space.inertia.size()));
  space.inverse.clear();  // in_one_tree()
}

void add_free_velocity(const double* w,
                       const RowsByDof& Y,
                       RowScratch& scratch,
                       std::vector<double>& g) {
  std::vector<double>& added = scratch.by_row;
  added.resize(Y.width);
  times_transpose(
      Y.y.data(), Y.root.data(), w, static_cast<int>(Y.root.size()), Y.width, added.data());
  for (std::size_t r = 0; r < g.size(); ++r) g[r] += added[r];
}

void add_impulses(const std::vector<double>& lambda,
                  const std::vector<ConstraintRow>& rows,
                  const RowsByDof& Y,
                  RowScratch& scratch,
                  double* u) {
  const int nv = static_cast<int>(Y.root.size());
  std::vector<double>& sum = scratch.by_row;
  sum.assign(nv, 0.0);
  times(Y, rows, lambda.data(), nv, sum.data());
  for (int k = 0; k < nv; ++k) u[k] += sum[k] * Y.root[k];
}

}  // namespace stiction
