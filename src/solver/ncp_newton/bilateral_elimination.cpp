#include "solver/ncp_newton/bilateral_elimination.hpp"

#include "math/semidefinite.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// A row whose square keeps less than this beside the rows before it repeats them.
constexpr double kRepeats = 1e-13;
/// A row of which they leave less than this share of what cancels is theirs: what is left of it is
/// rounding.
constexpr double kRounding = 1e-10;
/// Larger islands are left to others: of several trees to sparse methods.
constexpr int kMostRows = 400, kMostRowsOfTrees = 100;

}  // namespace

bool BilateralElimination::applies(const Island& island) {
  const ContactSpace& space = island.problem.space;
  const bool several = space.known() && !in_one_tree(space);
  if (island.rows() > (several ? kMostRowsOfTrees : kMostRows)) return false;
  const auto& sets = island.problem.sets;
  return std::any_of(sets.begin() + island.first, sets.begin() + island.last, [](const auto& s) {
    return s.kind == SetKind::kFree;
  });
}

double BilateralElimination::multiplications(const Island& island) {
  const double n = island.rows();
  double bilateral = 0.0;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = island.problem.sets[i];
    if (set.kind == SetKind::kFree) bilateral += set.dim;
  }
  return n * n * (1.0 + bilateral);
}

BilateralElimination::BilateralElimination(const Island& island, BilateralWork& work)
    : island_(island), w_(work), n_(island.rows()) {
  gather();
  factor();
  reduce();
}

/// Dense G and g, and which rows are bilateral.
void BilateralElimination::gather() {
  const std::size_t n = n_;
  grow(n * n, w_.G, w_.factor, w_.columns, w_.gram);
  grow(n, w_.g, w_.scale, w_.impulse, w_.velocity);
  w_.x.grow(3 * n);
  grow(n, w_.order, w_.bilateral, w_.other);
  copy_dense(island_, n_, w_.G, w_.g);
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = island_.problem.sets[i];
    const bool free = set.kind == SetKind::kFree;
    for (int r = 0; r < set.dim; ++r) {
      const int row = set.offset - island_.begin + r;
      (free ? w_.bilateral[bilateral_++] : w_.other[others_++]) = row;
    }
  }
}

/// P^T S G_bb S P = L D L^T, and where rows repeat others the triangle of L_1^T L_1, L_1 the
/// columns of the rank.
void BilateralElimination::factor() {
  const int m = bilateral_;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) w_.factor[i * m + j] = w_.G[w_.bilateral[j] * n_ + w_.bilateral[i]];
  }
  rank_ = factor_semidefinite(w_.factor, m, kRepeats, w_.scale, w_.order);
  if (rank_ < m) factor_gram(w_.factor, m, rank_, w_.order, w_.gram);
}

/// b <- G_bb^+ b.
void BilateralElimination::solve(double* b) const {
  if (rank_ == bilateral_) {
    substitute_semidefinite(w_.factor, bilateral_, rank_, w_.scale, w_.order, b, w_.x);
  } else {
    least_solution({w_.factor, bilateral_, rank_, w_.scale, w_.order, w_.gram}, b, w_.x);
  }
}

void BilateralElimination::reduce() {
  const int m = bilateral_;
  double* free = w_.columns + m * others_;  // G_bb^+ g_b; m (others + 1) <= n^2
  for (int b = 0; b < m; ++b) free[b] = w_.g[w_.bilateral[b]];
  solve(free);
  // a . column[bilateral], and the rounding that hides what it leaves of `entry`.
  const auto subtract = [&](const double* a, const double* column, double& entry) {
    double sum = 0.0, terms = std::abs(entry);
    for (int b = 0; b < m; ++b) {
      const double term = a[b] * column[w_.bilateral[b]];
      sum += term;
      terms += std::abs(term);
    }
    entry -= sum;
    return kRounding * terms;
  };
  for (int i = 0; i < others_; ++i) {
    double *W = w_.columns + m * i, *column = w_.G + w_.other[i] * n_;
    for (int b = 0; b < m; ++b) W[b] = column[w_.bilateral[b]];
    solve(W);
  }
  for (int i = 0; i < others_; ++i) {
    const double* W = w_.columns + m * i;
    const int row = w_.other[i];
    double& own = w_.G[row * n_ + row];
    const double nothing = subtract(W, w_.G + row * n_, own);
    if (own <= nothing) own = 0.0;
    for (int j = i + 1; j < others_; ++j) {
      double* column = w_.G + w_.other[j] * n_;
      subtract(W, column, column[row]);
      w_.G[row * n_ + w_.other[j]] = column[row];
    }
    double& g = w_.g[row];
    const double rounding = subtract(free, w_.G + row * n_, g);
    if (own == 0.0 && std::abs(g) <= rounding) g = 0.0;
  }
  fill_problem();
}

/// The dense problem in one island. Rows of zero diagonal have no others.
void BilateralElimination::fill_problem() {
  const ContactProblem& from = island_.problem;
  ContactProblem& p = w_.problem;
  p.sets.clear();
  p.g.clear();
  p.compliance.clear();
  p.velocity_floor.clear();
  p.resting.clear();
  p.velocity_scale = from.velocity_scale;
  for (int i = island_.first; i < island_.last; ++i) {
    ConstraintSet set = from.sets[i];
    if (set.kind == SetKind::kFree) continue;
    for (int r = 0; r < set.dim; ++r) {
      p.g.push_back(w_.g[set.offset - island_.begin + r]);
      p.compliance.push_back(from.compliance[set.offset + r]);
    }
    if (!from.velocity_floor.empty()) p.velocity_floor.push_back(from.velocity_floor[i]);
    if (!from.resting.empty()) p.resting.push_back(from.resting[i]);
    set.offset = static_cast<int>(p.g.size()) - set.dim;
    p.sets.push_back(set);
  }
  p.island_start.assign(1, 0);
  if (p.sets.empty()) return;
  p.island_start.push_back(p.num_sets());
  p.stored.clear(p.num_sets());
  for (int i = 0; i < p.num_sets(); ++i) {
    p.stored.begin(i);
    for (int j = 0; j < p.num_sets(); ++j) p.stored.append(p.sets, i, j);
    p.stored.end(i);
    const int stride = ContactProblem::stride(p.sets[i].dim), offset = p.sets[i].offset;
    double* panel = p.stored.values.data() + p.stored.start[i];
    for (int c = 0; c < others_; ++c, panel += stride) {
      for (int r = 0; r < stride; ++r) panel[r] = 0.0;
      for (int r = 0; r < p.sets[i].dim; ++r) {
        const int row = w_.other[offset + r], column = w_.other[c];
        const bool moves = w_.G[row * n_ + row] > 0.0 && w_.G[column * n_ + column] > 0.0;
        panel[r] = moves ? w_.G[column * n_ + row] : 0.0;
      }
    }
  }
  p.copy_diagonal();
}

bool BilateralElimination::bilateral_rows_are_rigid() const {
  const double* R = island_.problem.compliance.data() + island_.begin;
  return std::all_of(
      w_.bilateral.data(), w_.bilateral + bilateral_, [&](int b) { return R[b] == 0.0; });
}

/// Y^T of a row in the coordinates of its tree, all of them.
void BilateralElimination::spread_row(int set, int r, double* out) const {
  const ContactSpace& space = island_.problem.space;
  const ContactSpace::Side& side = space.sides[space.side_start[set]];
  const int dim = ContactProblem::tree_block(island_.problem.sets[set]);
  const double* z = space.z.data() + side.z + r / dim * dim * side.length + r % dim;
  std::fill_n(out, coordinates(), 0.0);
  for (int m = 0; m < side.length; ++m) out[space.dofs[side.dof + m]] = z[dim * m];
}

int BilateralElimination::coordinates() const {
  const ContactSpace& space = island_.problem.space;
  const int tree = space.sides[space.side_start[island_.first]].tree;
  return space.tree_start[tree + 1] - space.tree_start[tree];
}

/// The basis of what the bilateral rows stop: those of the rank, made orthonormal.
void BilateralElimination::find_basis() const {
  const int nv = coordinates();
  w_.basis.grow(static_cast<std::size_t>(rank_) * nv);
  w_.row_of.grow(2 * static_cast<std::size_t>(bilateral_));
  int count = 0;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = island_.problem.sets[i];
    for (int r = 0; r < set.dim && set.kind == SetKind::kFree; ++r, ++count) {
      w_.row_of[2 * count] = i;
      w_.row_of[2 * count + 1] = r;
    }
  }
  for (int k = 0; k < rank_; ++k) {
    double* q = w_.basis + k * nv;
    const int b = w_.order[k];
    spread_row(w_.row_of[2 * b], w_.row_of[2 * b + 1], q);
    project(k, q);
    double square = 0.0;
    for (int m = 0; m < nv; ++m) square += q[m] * q[m];
    const double scale = 1.0 / std::sqrt(square);
    for (int m = 0; m < nv; ++m) q[m] *= scale;
  }
}

/// x <- x - Q Q^T x with the first `count` of the basis, twice: what once leaves is rounding.
void BilateralElimination::project(int count, double* x) const {
  const int nv = coordinates();
  for (int pass = 0; pass < 2; ++pass) {
    for (int k = 0; k < count; ++k) {
      const double* q = w_.basis + k * nv;
      double sum = 0.0;
      for (int m = 0; m < nv; ++m) sum += q[m] * x[m];
      for (int m = 0; m < nv; ++m) x[m] -= sum * q[m];
    }
  }
}

/// The others keep the coordinates of their tree: G_ii - G_ib G_bb^+ G_bi = Z^T Z
/// with Z = (1 - Q Q^T) Y_i, Q a basis of the columns of Y_b.
void BilateralElimination::project_space() const {
  const ContactSpace& from = island_.problem.space;
  ContactSpace& space = w_.space;
  const int nv = coordinates(), tree = from.sides[from.side_start[island_.first]].tree;
  find_basis();
  w_.row.grow(nv);
  space.tree_start = from.tree_start;
  space.inertia = from.inertia;
  space.inverse.clear();
  space.sides.clear();
  space.side_start.assign(1, 0);
  space.dofs.resize(nv);
  for (int m = 0; m < nv; ++m) space.dofs[m] = m;
  space.z.clear();
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = island_.problem.sets[i];
    if (set.kind == SetKind::kFree) continue;
    const std::size_t start = space.z.size();
    space.z.resize(start + static_cast<std::size_t>(set.dim) * nv);
    for (int r = 0; r < set.dim; ++r) {
      spread_row(i, r, w_.row);
      project(rank_, w_.row);
      const int row = set.offset - island_.begin + r;
      const bool moves = w_.G[row * n_ + row] > 0.0;
      for (int m = 0; m < nv; ++m) space.z[start + set.dim * m + r] = moves ? w_.row[m] : 0.0;
    }
    space.sides.push_back({tree, nv, 0, static_cast<int>(start)});
    space.side_start.push_back(static_cast<int>(space.sides.size()));
  }
}

bool BilateralElimination::has_space() const {
  return in_one_tree(island_.problem.space) && bilateral_rows_are_rigid();
}

const ContactSpace& BilateralElimination::space() const {
  w_.space.sides.clear();
  if (has_space()) project_space();
  return w_.space;
}

/// Two passes of project() over the basis and over the rows.
double BilateralElimination::space_multiplications() const {
  return has_space() ? 4.0 * rank_ * coordinates() * (others_ + 0.5 * rank_) : 0.0;
}

void BilateralElimination::restrict_impulse(const double* lambda, double* out) const {
  for (int i = 0; i < others_; ++i) out[i] = lambda[island_.begin + w_.other[i]];
}

/// G_bb^+ (g_b + G_bi lambda_i) = G_bb^+ g_b + W lambda_i.
void BilateralElimination::extend_impulse(const double* others, double* lambda) const {
  const int m = bilateral_;
  const double* free = w_.columns + m * others_;
  for (int i = 0; i < others_; ++i) lambda[island_.begin + w_.other[i]] = others[i];
  for (int b = 0; b < m; ++b) {
    double sum = free[b];
    for (int i = 0; i < others_; ++i) sum += w_.columns[m * i + b] * others[i];
    lambda[island_.begin + w_.bilateral[b]] = -sum;
  }
}

}  // namespace stiction
