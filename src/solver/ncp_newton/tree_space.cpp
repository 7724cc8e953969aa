#include "solver/ncp_newton/tree_space.hpp"

#include "math/clones.hpp"

#include <algorithm>

namespace stiction {

/// Nodes are the trees in the order in which they are met.
void TreeSpace::number_trees(const Island& island) {
  const ContactSpace& trees = island.problem.space;
  node_of_tree_.assign(trees.tree_start.size() - 1, -1);
  sizes_.clear();
  start_.clear();
  inertia_.clear();
  for (int s = trees.side_start[island.first]; s < trees.side_start[island.last]; ++s) {
    const int tree = trees.sides[s].tree;
    if (node_of_tree_[tree] >= 0) continue;
    node_of_tree_[tree] = static_cast<int>(sizes_.size());
    start_.push_back(num_coordinates());
    sizes_.push_back(trees.tree_start[tree + 1] - trees.tree_start[tree]);
    inertia_.insert(inertia_.end(),
                    trees.inertia.begin() + trees.tree_start[tree],
                    trees.inertia.begin() + trees.tree_start[tree + 1]);
  }
}

bool TreeSpace::prepare(const Island& island, int most) {
  const ContactProblem& p = island.problem;
  const ContactSpace& space = p.space;
  if (!space.known()) return false;
  number_trees(island);
  if (num_coordinates() > most) return false;
  loose_ = space.loose(island.first);
  rows_.clear();
  sides_.clear();
  side_start_.assign(1, 0);
  matrix_.begin(sizes_);
  int slope = 0;
  for (int i = island.first; i < island.last; ++i) {
    const int dim = loose_ ? p.sets[i].dim : ContactProblem::tree_block(p.sets[i]);
    for (int first = 0; first < p.sets[i].dim; first += dim, slope += dim * dim) {
      rows_.push_back({i, p.sets[i].offset + first, dim, slope});
      for (int s = space.side_start[i]; s < space.side_start[i + 1]; ++s) {
        const ContactSpace::Side& side = space.sides[s];
        const int node = node_of_tree_[side.tree];
        const int* dofs = side.loose() ? nullptr : space.dofs.data() + side.dof;
        if (dofs != nullptr && dofs[side.length - 1] == side.length - 1) dofs = nullptr;
        sides_.push_back(
            {node, start_[node], side.length, dofs, space.z.data() + side.z + first * side.length});
      }
      side_start_.push_back(static_cast<int>(sides_.size()));
    }
    const Side* last = sides_.data() + sides_.size();
    if (space.side_start[i + 1] - space.side_start[i] == 2)
      matrix_.couple(last[-1].node, last[-2].node);
  }
  matrix_.analyse();
  return true;
}

namespace {

/// visit(std::integral_constant<int, dim>) of rows that stand together.
template <class Visit>
inline __attribute__((always_inline)) void with_block(int dim, Visit&& visit) {
  dim == 1 ? visit(std::integral_constant<int, 1>{}) : with_dim(dim, visit);
}

constexpr int kRow = ContactSpace::Side::kLooseRow;

inline __attribute__((always_inline)) double sum_of_six(const Octo& x) {
  return ((x[0] + x[1]) + (x[2] + x[3])) + (x[4] + x[5]);
}

}  // namespace

/// y += Z x of loose bodies.
STICTION_CLONES void TreeSpace::gather_loose(const Loose& in, const double* impulse, double* y) {
  for (int k = 0; k < in.count; ++k) {
    const double* x = impulse + in.rows[k].begin;
    const int dim = in.rows[k].dim;
    for (int s = in.side_start[k]; s < in.side_start[k + 1]; ++s) {
      const double* z = in.sides[s].z;
      Octo sum = octo(z) * x[0];
      for (int r = 1; r < dim; ++r) sum += octo(z + kRow * r) * x[r];
      double* out = y + in.sides[s].start;
      for (int j = 0; j < 6; ++j) out[j] += sum[j];
    }
  }
}

/// motion = Z^T y of loose bodies.
STICTION_CLONES void TreeSpace::spread_loose(const Loose& in, const double* y, double* motion) {
  for (int k = 0; k < in.count; ++k) {
    double* c = motion + in.rows[k].begin;
    const int dim = in.rows[k].dim, first = in.side_start[k];
    const Side& a = in.sides[first];
    const double* u = y + a.start;
    const Octo of_a = {u[0], u[1], u[2], u[3], u[4], u[5], 0.0, 0.0};
    if (in.side_start[k + 1] - first == 1) {
      for (int r = 0; r < dim; ++r) c[r] = sum_of_six(octo(a.z + kRow * r) * of_a);
      continue;
    }
    const Side& b = in.sides[first + 1];
    const double* v = y + b.start;
    const Octo of_b = {v[0], v[1], v[2], v[3], v[4], v[5], 0.0, 0.0};
    for (int r = 0; r < dim; ++r)
      c[r] = sum_of_six(octo(a.z + kRow * r) * of_a + octo(b.z + kRow * r) * of_b);
  }
}

void TreeSpace::gather(const double* impulse, double* y) const {
  std::fill(y, y + num_coordinates(), 0.0);
  if (loose_) return gather_loose(loose(), impulse, y);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const double* x = impulse + rows_[k].begin;
    with_block(rows_[k].dim, [&](auto dim) {
      for (int s = side_start_[k]; s < side_start_[k + 1]; ++s) {
        const Side& side = sides_[s];
        double* out = y + side.start;
        const double* z = side.z;
        for (int m = 0; m < side.length; ++m, z += dim) {
          double sum = z[0] * x[0];
          for (int r = 1; r < dim; ++r) sum += z[r] * x[r];
          out[side.dofs ? side.dofs[m] : m] += sum;
        }
      }
    });
  }
}

void TreeSpace::spread(const double* y, double* motion) const {
  if (loose_) return spread_loose(loose(), y, motion);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    with_block(rows_[k].dim, [&](auto dim) {
      double sum[dim] = {};
      for (int s = side_start_[k]; s < side_start_[k + 1]; ++s) {
        const Side& side = sides_[s];
        const double* z = side.z;
        for (int m = 0; m < side.length; ++m, z += dim) {
          const double x = y[side.start + (side.dofs ? side.dofs[m] : m)];
          for (int r = 0; r < dim; ++r) sum[r] += z[r] * x;
        }
      }
      std::copy(sum, sum + dim, motion + rows_[k].begin);
    });
  }
}

void TreeSpace::begin_matrix(bool symmetric) {
  symmetric_ = symmetric;
  matrix_.clear(symmetric);
  for (std::size_t k = 0; k < sizes_.size(); ++k) {
    const BlockSparse::Block out = matrix_.diagonal(static_cast<int>(k));
    for (int j = 0; j < sizes_[k]; ++j) out.values[j * out.stride + j] = inertia_[start_[k] + j];
  }
}

namespace {

/// out(i, j) += za_i . H zb_j of two loose bodies.
template <int Dim>
inline __attribute__((always_inline)) void add_loose(
    const double* za, const double* zb, const double* H, double* out, int stride) {
  Octo right[Dim];
  for (int r = 0; r < Dim; ++r) {
    right[r] = octo(zb) * H[Dim * r];
    for (int c = 1; c < Dim; ++c) right[r] += octo(zb + kRow * c) * H[Dim * r + c];
  }
  for (int i = 0; i < 6; ++i, out += stride) {
    Octo sum = right[0] * za[i];
    for (int r = 1; r < Dim; ++r) sum += right[r] * za[kRow * r + i];
    for (int j = 0; j < 6; ++j) out[j] += sum[j];
  }
}

STICTION_CLONES void add_loose_bodies(
    const double* za, const double* zb, int dim, const double* H, double* out, int stride) {
  switch (dim) {
    case 1:
      return add_loose<1>(za, zb, H, out, stride);
    case 3:
      return add_loose<3>(za, zb, H, out, stride);
    case 4:
      return add_loose<4>(za, zb, H, out, stride);
    default:
      return add_loose<6>(za, zb, H, out, stride);
  }
}

}  // namespace

/// block += Z_a H Z_b^T.
void TreeSpace::add_product(
    const Side& a, const Side& b, int dim, const double* H, BlockSparse::Block block) {
  if (loose_) return add_loose_bodies(a.z, b.z, dim, H, block.values, block.stride);
  with_block(dim, [&](auto rows) { add_product<rows>(a, b, H, block); });
}

template <int dim>
void TreeSpace::add_product(const Side& a,
                            const Side& b,
                            const double* H,
                            BlockSparse::Block block) {
  for (int m = 0; m < a.length; ++m) {
    double left[dim] = {};
    for (int r = 0; r < dim; ++r) {
      for (int c = 0; c < dim; ++c) left[c] += a.z[dim * m + r] * H[dim * r + c];
    }
    double* row = block.values + static_cast<std::ptrdiff_t>(a.dofs ? a.dofs[m] : m) * block.stride;
    for (int n = 0; n < b.length; ++n) {
      double sum = left[0] * b.z[dim * n];
      for (int r = 1; r < dim; ++r) sum += left[r] * b.z[dim * n + r];
      row[b.dofs ? b.dofs[n] : n] += sum;
    }
  }
}

/// += Z_a H Z_b^T + Z_b H Z_a^T of two sides.
void TreeSpace::add_coupling(const Side& a, const Side& b, int dim, const double* H) {
  if (a.node == b.node) {
    add_product(a, b, dim, H, matrix_.diagonal(a.node));
    add_product(b, a, dim, H, matrix_.diagonal(a.node));
    return;
  }
  const BlockSparse::Pair pair = matrix_.pair(a.node, b.node);
  const Side &first = pair.swapped ? b : a, &second = pair.swapped ? a : b;
  add_product(first, second, dim, H, pair.upper);
  if (symmetric_) return;
  double transposed[kMaxConeDim * kMaxConeDim];
  for (int r = 0; r < dim; ++r) {
    for (int c = 0; c < dim; ++c) transposed[dim * r + c] = H[dim * c + r];
  }
  add_product(first, second, dim, transposed, pair.lower_transposed);
}

void TreeSpace::add(int k, const double* H) {
  const int dim = rows_[k].dim;
  if (std::all_of(H, H + dim * dim, [](double x) { return x == 0.0; })) return;  // an open contact
  for (int s = side_start_[k]; s < side_start_[k + 1]; ++s) {
    const Side& side = sides_[s];
    add_product(side, side, dim, H, matrix_.diagonal(side.node));
    for (int t = s + 1; t < side_start_[k + 1]; ++t) add_coupling(side, sides_[t], dim, H);
  }
}

}  // namespace stiction
