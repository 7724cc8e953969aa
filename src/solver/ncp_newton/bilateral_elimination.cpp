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
