#include "derivatives/adjoint.hpp"

#include "derivatives/kicks.hpp"
#include "derivatives/mean_velocity.hpp"
#include "derivatives/tree_derivatives.hpp"
#include "dynamics/column_solves.hpp"
#include "dynamics/mass_matrix.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

void scale_by_root(const TreeData<double>& data, int nv, double* x) {
  for (int k = 0; k < nv; ++k) x[k] *= std::sqrt(data.D_inverse[k]);
}

/// Through the impulses: z of the unknowns, x -= Y W^T z; velocity = W^T z, impulse = Y^T x - R W^T
/// z.
void pull_back_impulses(const ContactProblem& problem,
                        Linearisation& linear,
                        const DerivativeIsland& island,
                        IslandCotangents& x) {
  ReducedSystem& reduced = linear.reduced[island.reduced];
  x.unknown.assign(reduced.size(), 0.0);
  for (int a = 0; a < reduced.size(); ++a) {
    const int set = linear.active.unknowns[reduced.first() + a].set;
    const double* y_t = linear.y_t.data() + linear.unknown_start[reduced.first() + a];
    for (int e = linear.entry_start[set]; e < linear.entry_start[set + 1]; ++e)
      x.unknown[a] += *y_t++ * x.force[linear.entry_dof[e]];
    const ActiveUnknown& u = linear.active.unknowns[reduced.first() + a];
    for (int r = 0; r < u.dim && !x.on_impulse.empty(); ++r)
      x.unknown[a] += u.t[r] * x.on_impulse[u.row - island.first_row + r];
  }
  reduced.solve_transposed(x.unknown.data());
  for (int a = 0; a < reduced.size(); ++a) {
    const ActiveUnknown& u = linear.active.unknowns[reduced.first() + a];
    const double* y_w = linear.y_w.data() + linear.unknown_start[reduced.first() + a];
    for (int e = linear.entry_start[u.set]; e < linear.entry_start[u.set + 1]; ++e)
      x.force[linear.entry_dof[e]] -= *y_w++ * x.unknown[a];
    for (int r = 0; r < u.dim; ++r)
      x.velocity[u.row - island.first_row + r] += u.w[r] * x.unknown[a];
  }
  for (int i = island.first_set; i < island.last_set; ++i) {
    const int dim = problem.sets[i].dim, row = problem.sets[i].offset;
    const double* y = linear.y.data() + linear.value_start[i];
    for (int r = 0; r < dim; ++r)
      x.impulse[row - island.first_row + r] =
          -problem.compliance[row + r] * x.velocity[row - island.first_row + r];
    for (int e = linear.entry_start[i]; e < linear.entry_start[i + 1]; ++e, y += dim) {
      for (int r = 0; r < dim; ++r)
        x.impulse[row - island.first_row + r] += y[r] * x.force[linear.entry_dof[e]];
    }
  }
  for (std::size_t i = 0; i < x.on_impulse.size(); ++i) x.impulse[i] += x.on_impulse[i];
}

/// What forces that move with the bodies, and rows that do, add.
void add_row_gradients(const DerivativeInput& in,
                       const Linearisation& linear,
                       const DerivativeIsland& island,
                       const IslandCotangents& x,
                       double* q,
                       double* v) {
  const MovingRows& moving = linear.moving;
  for (int i = island.first_set; i < island.last_set; ++i) {
    const MovingRow& row = moving.rows[i];
    const ConstraintSet& set = in.record.problem.sets[i];
    Vec3d linear_part{0, 0, 0}, angular[2] = {{0, 0, 0}, {0, 0, 0}};
    for (int s = 0; s < row.num_sides && row.moves_force; ++s) {
      for (int k = row.start[s]; k < row.start[s + 1]; ++k) {
        const RowColumn& on = moving.columns[k];
        const double p = row.sign[s] * x.force[linear.local[on.dof]];
        linear_part += on.u * p;
        angular[s] += on.w * p;
      }
    }
    const double* u = x.velocity.data() + set.offset - island.first_row;
    for (int k = row.start[0]; k < row.start[row.num_sides]; ++k) {
      const RowColumn& by = moving.columns[k];
      double in_q = dot(linear_part, by.force), in_v = 0.0;
      for (int s = 0; s < row.num_sides; ++s) {
        in_q += dot(angular[s], by.moment[s]);
        in_v += dot(angular[s], by.moment_rate);
      }
      for (int r = 0; r < set.dim; ++r) {
        in_q -= u[r] * by.velocity[r];
        in_v -= u[r] * by.rate[r];
      }
      q[linear.local[by.dof]] += in_q;
      v[linear.local[by.dof]] += in_v;
    }
  }
}

}  // namespace

void pull_back(const DerivativeInput& in,
               Linearisation& linear,
               const DerivativeIsland& island,
               IslandCotangents& x) {
  x.force.resize(island.num_dofs);
  x.velocity.assign(island.num_rows, 0.0);
  x.impulse.assign(island.num_rows, 0.0);
  x.kick.assign(island.num_dofs, 0.0);
  each_tree(in, linear, island, [&](int t, int first) {
    const TreeView& view = in.record.dynamics.views[t];
    pull_back_kick(in, linear, t, x.velocity_end.data() + first, x.kick.data() + first);
    pull_back_end(in, linear, t, x.position.data() + first, x.velocity_end.data() + first);
    solve_mean_velocity_transposed(in, linear, t, x.velocity_end.data() + first);
    double* own = x.force.data() + first;
    std::copy_n(x.velocity_end.data() + first, view.nv, own);
    solve_transposed(view, in.data(t), own);
    scale_by_root(in.data(t), view.nv, own);
  });
  if (island.reduced >= 0) pull_back_impulses(in.record.problem, linear, island, x);
  each_tree(in, linear, island, [&](int t, int first) {
    const TreeView& view = in.record.dynamics.views[t];
    scale_by_root(in.data(t), view.nv, x.force.data() + first);
    solve_lower(view, in.data(t), x.force.data() + first);
  });
}

void state_gradient(const DerivativeInput& in,
                    Linearisation& linear,
                    const DerivativeIsland& island,
                    IslandCotangents& x,
                    double* q,
                    double* v,
                    double* torque) {
  for (int k = 0; k < island.num_dofs; ++k) q[k] += x.position[k];
  x.by_q.resize(island.num_dofs);
  x.by_v.resize(island.num_dofs);
  each_tree(in, linear, island, [&](int t, int first) {
    const Tree& tree = in.scene.trees()[t];
    const double* p = x.force.data() + first;
    double *by_q = x.by_q.data(), *by_v = x.by_v.data();
    tree_gradient(in, linear, t, p, by_q, by_v);
    for (int i = 0; i < tree.nv; ++i) {
      const DofForce force = dof_force_derivatives(in, tree.v_offset + i);
      q[first + i] += p[i] * force.by_q - in.dt * by_q[i];
      v[first + i] += p[i] * force.by_v - in.dt * start_share(in, t) * by_v[i];
      torque[first + i] += p[i] * force.by_torque;
    }
    add_mass_times(in.record.dynamics.views[t], in.data(t), p, v + first);
    if (!is_kicked(in, t)) return;
    const KickTurn<double> kick = kick_of(in, linear, t);
    const double* y = x.kick.data() + first + 3;
    const Vec3d by_l = transpose_times(kick.by_momentum, Vec3d{y[0], y[1], y[2]});
    for (int k = 0; k < 3; ++k) {
      q[first + 3 + k] += dot(by_l, momentum_by_turn(in, linear, t, k));
      v[first + 3 + k] += dot(by_l, kick.turn.momentum(k));
    }
  });
  add_row_gradients(in, linear, island, x, q, v);
}

}  // namespace stiction
