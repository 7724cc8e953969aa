#include "solver/ncp_newton/tree_space.hpp"

#include "contact/loose_kernels.hpp"

#include <algorithm>
#include <numeric>

namespace stiction {

static constexpr int kRow = loose::kRow;

/// Nodes are the trees in the order in which they are met.
void TreeSpace::number_trees(const Island& island, const ContactSpace& trees) {
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
    inertia_.resize(start_.back() + BlockSparse::pitch(sizes_.back()), 1.0);
  }
}

void TreeSpace::Part::clear() {
  rows.clear();
  sides.clear();
  side_start.assign(1, 0);
  targets.clear();
}

/// Whether a set's sides are whole free bodies, for which there are kernels of `dim` rows.
bool TreeSpace::all_loose(const ContactSpace& space, int set, int dim) const {
  if (dim != 1 && dim != 3) return false;
  const auto is_loose = [&](const ContactSpace::Side& side) {
    const int* dofs = space.dofs.data() + side.dof;
    return side.length == 6 && sizes_[node_of_tree_[side.tree]] == 6 && dofs[5] == 5;
  };
  const auto first = space.sides.begin() + space.side_start[set],
             last = space.sides.begin() + space.side_start[set + 1];
  return std::all_of(first, last, is_loose) && (last - first < 2 || first[0].tree != first[1].tree);
}

/// Entries (m, r) at [dim m + r] as rows of eight.
const double* TreeSpace::packed(const double* z, int dim) {
  double* out = packed_.data() + packed_size_;
  packed_size_ += kRow * dim;
  for (int r = 0; r < dim; ++r) {
    for (int m = 0; m < kRow; ++m) out[kRow * r + m] = m < 6 ? z[dim * m + r] : 0.0;
  }
  return out;
}

bool TreeSpace::prepare(const Island& island, const ContactSpace& space, int most) {
  const ContactProblem& p = island.problem;
  if (!space.known()) return false;
  number_trees(island, space);
  if (std::accumulate(sizes_.begin(), sizes_.end(), 0) > most) return false;
  const bool eights = space.loose(island.first);
  rows_.clear();
  loose_.clear();
  chains_.clear();
  packed_size_ = 0;
  if (!eights) packed_.resize(2 * kRow * island.rows());
  matrix_.begin(sizes_);
  int slope = 0;
  for (int i = island.first; i < island.last; ++i) {
    const int dim = eights ? p.sets[i].dim : ContactProblem::tree_block(p.sets[i]);
    const bool pack = !eights && all_loose(space, i, dim);
    Part& part = eights || pack ? loose_ : chains_;
    for (int first = 0; first < p.sets[i].dim; first += dim, slope += dim * dim) {
      rows_.push_back({i, p.sets[i].offset + first, dim, slope});
      part.rows.push_back(rows_.back());
      for (int s = space.side_start[i]; s < space.side_start[i + 1]; ++s) {
        const ContactSpace::Side& side = space.sides[s];
        const int node = node_of_tree_[side.tree];
        const int* dofs = side.loose() ? nullptr : space.dofs.data() + side.dof;
        if (dofs != nullptr && dofs[side.length - 1] == side.length - 1) dofs = nullptr;
        const double* z = space.z.data() + side.z + first * side.length;
        part.sides.push_back({node, start_[node], side.length, dofs, pack ? packed(z, dim) : z});
      }
      part.side_start.push_back(static_cast<int>(part.sides.size()));
    }
    const Side* last = part.sides.data() + part.sides.size();
    if (space.side_start[i + 1] - space.side_start[i] == 2)
      matrix_.couple(last[-1].node, last[-2].node);
  }
  matrix_.analyse();
  find_targets();
  return true;
}

void TreeSpace::find_targets() {
  for (std::size_t k = 0; k < loose_.rows.size(); ++k) {
    const Side& a = loose_.sides[loose_.side_start[k]];
    Target target{};
    target.a = matrix_.diagonal(a.node);
    if (loose_.side_start[k + 1] - loose_.side_start[k] == 2) {
      const Side& b = loose_.sides[loose_.side_start[k] + 1];
      target.b = matrix_.diagonal(b.node);
      target.pair = matrix_.pair(a.node, b.node);
    }
    loose_.targets.push_back(target);
  }
}

namespace {

/// visit(std::integral_constant<int, dim>) of rows that stand together.
template <class Visit>
inline __attribute__((always_inline)) void with_block(int dim, Visit&& visit) {
  dim == 1 ? visit(std::integral_constant<int, 1>{}) : with_dim(dim, visit);
}

}  // namespace

/// y += Z x of loose bodies. Contacts of the same bodies follow each other: their sums stay in
/// registers, in the same order.
STICTION_CLONES void TreeSpace::gather_loose(const Loose& in, const double* impulse, double* y) {
  double none[kRow] = {}, *to_a = none, *to_b = none;
  Octo sum_a{}, sum_b{};
  for (int k = 0; k < in.count; ++k) {
    const double* x = impulse + in.rows[k].begin;
    const int dim = in.rows[k].dim, first = in.side_start[k];
    const bool alone = in.side_start[k + 1] - first == 1;
    const Side &a = in.sides[first], &b = in.sides[alone ? first : first + 1];
    double *at_a = y + a.start, *at_b = alone ? none : y + b.start;
    if (at_a != to_a || at_b != to_b) {
      octo(to_a) = sum_a;
      octo(to_b) = sum_b;
      to_a = at_a;
      to_b = at_b;
      sum_a = octo(to_a);
      sum_b = octo(to_b);
    }
    Octo of_a = octo(a.z) * x[0];
    for (int r = 1; r < dim; ++r) of_a += octo(a.z + kRow * r) * x[r];
    sum_a += of_a;
    if (alone) continue;
    Octo of_b = octo(b.z) * x[0];
    for (int r = 1; r < dim; ++r) of_b += octo(b.z + kRow * r) * x[r];
    sum_b += of_b;
  }
  octo(to_a) = sum_a;
  octo(to_b) = sum_b;
}

/// motion = Z^T y of loose bodies.
STICTION_CLONES void TreeSpace::spread_loose(const Loose& in, const double* y, double* motion) {
  for (int k = 0; k < in.count; ++k) {
    double* c = motion + in.rows[k].begin;
    const int dim = in.rows[k].dim, first = in.side_start[k];
    const Side& a = in.sides[first];
    const bool alone = in.side_start[k + 1] - first == 1;
    const Side& b = in.sides[alone ? first : first + 1];
    const Octo of_a = octo(y + a.start), of_b = alone ? Octo{} : octo(y + b.start);
    if (dim == 3) {
      const Quad s = alone ? loose::three_rows(a.z, of_a) : loose::three_rows(a.z, of_a, b.z, of_b);
      for (int r = 0; r < 3; ++r) c[r] = s[r];
      continue;
    }
    for (int r = 0; r < dim; ++r)
      c[r] =
          loose::sum_of(loose::folded(octo(a.z + kRow * r) * of_a + octo(b.z + kRow * r) * of_b));
  }
}

void TreeSpace::gather(const double* impulse, double* y) const {
  std::fill(y, y + num_coordinates(), 0.0);
  gather_loose(loose(), impulse, y);
  for (std::size_t k = 0; k < chains_.rows.size(); ++k) {
    const double* x = impulse + chains_.rows[k].begin;
    with_block(chains_.rows[k].dim, [&](auto dim) {
      for (int s = chains_.side_start[k]; s < chains_.side_start[k + 1]; ++s) {
        const Side& side = chains_.sides[s];
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
  spread_loose(loose(), y, motion);
  for (std::size_t k = 0; k < chains_.rows.size(); ++k) {
    with_block(chains_.rows[k].dim, [&](auto dim) {
      double sum[dim] = {};
      for (int s = chains_.side_start[k]; s < chains_.side_start[k + 1]; ++s) {
        const Side& side = chains_.sides[s];
        const double* z = side.z;
        for (int m = 0; m < side.length; ++m, z += dim) {
          const double x = y[side.start + (side.dofs ? side.dofs[m] : m)];
          for (int r = 0; r < dim; ++r) sum[r] += z[r] * x;
        }
      }
      std::copy(sum, sum + dim, motion + chains_.rows[k].begin);
    });
  }
}

bool TreeSpace::factor(const double* H, bool symmetric) {
  symmetric_ = symmetric;
  matrix_.clear(symmetric);
  for (std::size_t k = 0; k < sizes_.size(); ++k) {
    const BlockSparse::Block out = matrix_.diagonal(static_cast<int>(k));
    for (int j = 0; j < sizes_[k]; ++j) out.values[j * out.stride + j] = inertia_[start_[k] + j];
  }
  add_loose(loose(), H, symmetric);
  for (std::size_t k = 0; k < chains_.rows.size(); ++k)
    add(static_cast<int>(k), H + chains_.rows[k].slope);
  return matrix_.factor();
}

namespace {

inline __attribute__((always_inline)) bool vanishes(const double* H, int count) {
  for (int k = 0; k < count; ++k) {
    if (H[k] != 0.0) return false;
  }
  return true;
}

/// The block += z_a H z_b^T of right = H z_b^T.
template <int dim>
inline __attribute__((always_inline)) void add_rows(const double* za,
                                                    const Octo (&right)[dim],
                                                    BlockSparse::Block block) {
  for (int i = 0; i < 6; ++i) {
    Octo sum = right[0] * za[i];
#pragma GCC unroll 6
    for (int r = 1; r < dim; ++r) sum += right[r] * za[kRow * r + i];
    octo(block.values + i * block.stride) += sum;
  }
}

/// out = H z^T, or of H^T.
template <int dim, bool transposed>
inline __attribute__((always_inline)) void times(const double* H,
                                                 const double* z,
                                                 Octo (&out)[dim]) {
  const auto at = [H](int r, int c) { return transposed ? H[dim * c + r] : H[dim * r + c]; };
#pragma GCC unroll 6
  for (int r = 0; r < dim; ++r) {
    out[r] = octo(z) * at(r, 0);
#pragma GCC unroll 6
    for (int c = 1; c < dim; ++c) out[r] += octo(z + kRow * c) * at(r, c);
  }
}

}  // namespace

/// += Z H Z^T of loose bodies, two sides never of the same.
STICTION_CLONES void TreeSpace::add_loose(const Loose& in, const double* H, bool symmetric) {
  for (int k = 0; k < in.count; ++k) {
    const int first = in.side_start[k];
    const bool alone = in.side_start[k + 1] - first == 1;
    const double* h = H + in.rows[k].slope;
    if (vanishes(h, in.rows[k].dim * in.rows[k].dim)) continue;  // an open contact
    const double *za = in.sides[first].z, *zb = alone ? nullptr : in.sides[first + 1].z;
    const Target& to = in.targets[k];
    const auto add = [&](auto rows) __attribute__((always_inline)) {
      constexpr int dim = rows;
      Octo of_a[dim], of_b[dim];
      times<dim, false>(h, za, of_a);
      add_rows(za, of_a, to.a);
      if (alone) return;
      times<dim, false>(h, zb, of_b);
      add_rows(zb, of_b, to.b);
      const bool swapped = to.pair.swapped;
      const double *z_first = swapped ? zb : za, *z_second = swapped ? za : zb;
      add_rows(z_first, swapped ? of_a : of_b, to.pair.upper);
      if (symmetric) return;
      times<dim, true>(h, z_second, of_a);
      add_rows(z_first, of_a, to.pair.lower_transposed);
    };
    switch (in.rows[k].dim) {
      case 1:
        add(std::integral_constant<int, 1>{});
        break;
      case 3:
        add(std::integral_constant<int, 3>{});
        break;
      case 4:
        add(std::integral_constant<int, 4>{});
        break;
      default:
        add(std::integral_constant<int, 6>{});
    }
  }
}

/// block += Z_a H Z_b^T.
void TreeSpace::add_product(
    const Side& a, const Side& b, int dim, const double* H, BlockSparse::Block block) {
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
  const int dim = chains_.rows[k].dim;
  if (vanishes(H, dim * dim)) return;  // an open contact
  const int last = chains_.side_start[k + 1];
  for (int s = chains_.side_start[k]; s < last; ++s) {
    const Side& side = chains_.sides[s];
    add_product(side, side, dim, H, matrix_.diagonal(side.node));
    for (int t = s + 1; t < last; ++t) add_coupling(side, chains_.sides[t], dim, H);
  }
}

}  // namespace stiction
