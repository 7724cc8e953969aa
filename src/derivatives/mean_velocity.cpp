#include "derivatives/mean_velocity.hpp"

#include "derivatives/tree_derivatives.hpp"
#include "dynamics/column_solves.hpp"
#include "dynamics/mass_matrix.hpp"
#include "math/row_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stiction {
namespace {

/// x <- y, y = start - next(y), the solution of y + next(y) = start, to rounding.
template <class Next>
void substitute(int n, MeanVelocityWork& work, double* x, Next&& next) {
  constexpr int kMostPasses = 60;
  constexpr double kRounding = 1e-16, kStagnant = 1e-12;
  work.start.assign(x, x + n);
  work.next.resize(n);
  double last = kInfinity;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    next(x, work.next.data());
    double moved = 0.0, size = 0.0;
    for (int k = 0; k < n; ++k) {
      const double y = work.start[k] - work.next[k];
      work.next[k] = y;
      moved = std::max(moved, std::abs(y - x[k]));
      size = std::max(size, std::abs(y));
    }
    if (!(moved < last) && moved <= kStagnant * size) return;
    std::copy_n(work.next.data(), n, x);
    if (moved <= kRounding * size) return;
    last = moved;
  }
}

/// x <- dt/2 M^^-1 x [dofs of the tree].
void solve_half_step(const DerivativeInput& in, int tree, double* x) {
  const TreeView& view = in.record.dynamics.views[tree];
  solve_transposed(view, in.data(tree), x);
  for (int k = 0; k < view.nv; ++k) x[k] *= 0.5 * in.dt;
  solve_scaled_lower(view, in.data(tree), x);
}

bool at_start(const DerivativeInput& in, int tree) {
  return in.record.dynamics.bias_at[tree] == BiasAt::kStart;
}

}  // namespace

void factor_mean_velocity(
    const DerivativeInput& in, int tree, const double* B, MeanVelocityWork& work, PivotedLu& out) {
  if (at_start(in, tree)) return;
  const TreeView& view = in.record.dynamics.views[tree];
  const int n = view.nv, stride = (n + kLaneColumns - 1) / kLaneColumns * kLaneColumns;
  std::vector<double>& columns = work.columns;
  columns.assign(static_cast<std::size_t>(n) * stride, 0.0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) columns[i * stride + j] = 0.5 * in.dt * B[i * n + j];
  }
  whiten_columns(view, in.data(tree), stride, stride, columns.data());
  unwhiten_columns(view, in.data(tree), stride, stride, columns.data());
  double* A = out.resize(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) A[i * n + j] = columns[i * stride + j] + (i == j ? 1.0 : 0.0);
  }
  out.factor(0.0, false);
}

void solve_mean_velocity(
    const DerivativeInput& in, Linearisation& linear, int tree, int stride, int width, double* X) {
  if (at_start(in, tree)) return;
  const int n = in.record.dynamics.views[tree].nv;
  MeanVelocityWork& work = linear.work.mean_velocity;
  if (linear.inverse_dynamics.known) {
    work.columns.assign(X, X + static_cast<std::size_t>(n) * stride);
    linear.inverse_dynamics.mean[tree].solve(work.columns.data(), stride, width, X);
    return;
  }
  work.column.resize(n);
  for (int k = 0; k < n; ++k) work.column[k] = X[static_cast<std::size_t>(k) * stride];
  work.no_turn.assign(n, 0.0);
  substitute(n, work, work.column.data(), [&](const double* x, double* out) {
    tree_tangent(in, linear, tree, work.no_turn.data(), x, out);
    solve_half_step(in, tree, out);
  });
  for (int k = 0; k < n; ++k) X[static_cast<std::size_t>(k) * stride] = work.column[k];
}

void solve_mean_velocity_transposed(const DerivativeInput& in,
                                    Linearisation& linear,
                                    int tree,
                                    double* x) {
  if (at_start(in, tree)) return;
  const TreeView& view = in.record.dynamics.views[tree];
  MeanVelocityWork& work = linear.work.mean_velocity;
  work.column.resize(view.nv);
  work.no_turn.resize(view.nv);
  substitute(view.nv, work, x, [&](const double* y, double* out) {
    double* p = work.column.data();
    std::copy_n(y, view.nv, p);
    solve_half_step(in, tree, p);
    tree_gradient(in, linear, tree, p, work.no_turn.data(), out);
  });
}

}  // namespace stiction
