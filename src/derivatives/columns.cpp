#include "derivatives/columns.hpp"

#include "derivatives/kicks.hpp"
#include "derivatives/mean_velocity.hpp"
#include "derivatives/tree_derivatives.hpp"
#include "dynamics/column_solves.hpp"
#include "math/row_sums.hpp"
#include "math/split_mix.hpp"

#include <algorithm>
#include <cstddef>

namespace stiction {
namespace {

/// Forces that move and turn with the bodies: for the rows of both sides.
void fill_moving_forces(const Linearisation& linear, const DerivativeIsland& island, Columns& out) {
  const MovingRows& moving = linear.moving;
  for (int i = island.first_set; i < island.last_set; ++i) {
    const MovingRow& row = moving.rows[i];
    if (!row.moves_force) continue;
    const int begin = row.start[0], end = row.start[row.num_sides];
    for (int s = 0; s < row.num_sides; ++s) {
      for (int k = row.start[s]; k < row.start[s + 1]; ++k) {
        const RowColumn& on = moving.columns[k];
        const Vec3d u = on.u * row.sign[s], w = on.w * row.sign[s];
        double* force =
            out.force.data() + static_cast<std::ptrdiff_t>(linear.local[on.dof]) * out.stride;
        for (int m = begin; m < end; ++m) {
          const RowColumn& by = moving.columns[m];
          force[linear.local[by.dof]] += dot(u, by.force) + dot(w, by.moment[s]);
          if (row.by_speed) force[island.num_dofs + linear.local[by.dof]] += dot(w, by.moment_rate);
        }
      }
    }
  }
}

void fill_velocities(const DerivativeInput& in,
                     const Linearisation& linear,
                     const DerivativeIsland& island,
                     Columns& out) {
  const ContactProblem& problem = in.record.problem;
  for (int i = island.first_set; i < island.last_set; ++i) {
    const MovingRow& row = linear.moving.rows[i];
    double* c = out.velocity.data() +
                static_cast<std::ptrdiff_t>(problem.sets[i].offset - island.first_row) * out.stride;
    for (int k = row.start[0]; k < row.start[row.num_sides]; ++k) {
      const RowColumn& by = linear.moving.columns[k];
      const int q = linear.local[by.dof], v = island.num_dofs + q;
      for (int r = 0; r < problem.sets[i].dim; ++r) {
        c[r * out.stride + q] += by.velocity[r];
        c[r * out.stride + v] += by.rate[r];
      }
    }
  }
}

/// What the start of kicked bodies does to the velocity that the step leaves.
void fill_kicks(const DerivativeInput& in,
                const Linearisation& linear,
                const DerivativeIsland& island,
                Columns& out) {
  each_tree(in, linear, island, [&](int t, int first) {
    if (!is_kicked(in, t)) return;
    if (out.end.empty()) out.end.assign(out.force.size(), 0.0);
    const KickTurn<double> kick = kick_of(in, linear, t);
    for (int k = 0; k < 3; ++k) {
      const Vec3d by_q = kick.by_momentum * momentum_by_turn(in, linear, t, k),
                  by_v = kick.by_momentum * kick.turn.momentum(k);
      for (int r = 0; r < 3; ++r) {
        double* row = out.end.data() + static_cast<std::ptrdiff_t>(first + 3 + r) * out.stride;
        row[first + 3 + k] = by_q[r];
        row[island.num_dofs + first + 3 + k] = by_v[r];
      }
    }
  });
}

/// The one column of fill_kicks() along a direction x [3 nv].
void fill_kick_direction(const DerivativeInput& in,
                         const Linearisation& linear,
                         const DerivativeIsland& island,
                         const double* x,
                         Columns& out) {
  each_tree(in, linear, island, [&](int t, int first) {
    if (!is_kicked(in, t)) return;
    if (out.end.empty()) out.end.assign(out.force.size(), 0.0);
    const KickTurn<double> kick = kick_of(in, linear, t);
    const double *dq = x + in.scene.trees()[t].v_offset + 3, *dv = dq + in.scene.nv();
    Vec3d dl{0, 0, 0};
    for (int k = 0; k < 3; ++k)
      dl += momentum_by_turn(in, linear, t, k) * dq[k] + kick.turn.momentum(k) * dv[k];
    const Vec3d dw = kick.by_momentum * dl;
    for (int r = 0; r < 3; ++r)
      out.end[static_cast<std::ptrdiff_t>(first + 3 + r) * out.stride] = dw[r];
  });
}

/// What rows and the forces on them do along a direction x.
void add_moving_rows(const DerivativeInput& in,
                     const Linearisation& linear,
                     const DerivativeIsland& island,
                     const double* x,
                     Columns& out) {
  const int nv = in.scene.nv();
  for (int i = island.first_set; i < island.last_set; ++i) {
    const MovingRow& row = linear.moving.rows[i];
    const ConstraintSet& set = in.record.problem.sets[i];
    Vec3d force{0, 0, 0}, moment[2] = {{0, 0, 0}, {0, 0, 0}};
    for (int k = row.start[0]; k < row.start[row.num_sides]; ++k) {
      const RowColumn& by = linear.moving.columns[k];
      const double q = x[by.dof], v = x[nv + by.dof];
      force += by.force * q;
      for (int s = 0; s < row.num_sides; ++s) moment[s] += by.moment[s] * q + by.moment_rate * v;
      for (int r = 0; r < set.dim; ++r)
        out.velocity[static_cast<std::ptrdiff_t>(set.offset - island.first_row + r) * out.stride] +=
            by.velocity[r] * q + by.rate[r] * v;
    }
    for (int s = 0; s < row.num_sides && row.moves_force; ++s) {
      for (int k = row.start[s]; k < row.start[s + 1]; ++k) {
        const RowColumn& on = linear.moving.columns[k];
        out.force[static_cast<std::ptrdiff_t>(linear.local[on.dof]) * out.stride] +=
            row.sign[s] * (dot(on.u, force) + dot(on.w, moment[s]));
      }
    }
  }
}

/// velocity += (G + R) impulse.
void add_pushed(const ContactProblem& problem, const DerivativeIsland& island, Columns& x) {
  for (int i = island.first_set; i < island.last_set; ++i) {
    const int dim = problem.sets[i].dim;
    double* c = x.velocity.data() +
                static_cast<std::ptrdiff_t>(problem.sets[i].offset - island.first_row) * x.stride;
    problem.each_column(i, [&](int j, const double* column) {
      const double* l =
          x.impulse.data() + static_cast<std::ptrdiff_t>(j - island.first_row) * x.stride;
      for (int r = 0; r < dim; ++r)
        add_rows(column + r, nullptr, 1, l, x.stride, x.width, c + r * x.stride);
    });
  }
}

/// b = W (Y^T x + velocity): what the equations of the unknowns have to make up for.
void find_right_hand_sides(const Linearisation& linear,
                           const DerivativeIsland& island,
                           Columns& x) {
  const ReducedSystem& reduced = linear.reduced[island.reduced];
  x.b.assign(static_cast<std::size_t>(reduced.size()) * x.stride, 0.0);
  for (int a = 0; a < reduced.size(); ++a) {
    const ActiveUnknown& u = linear.active.unknowns[reduced.first() + a];
    double* b = x.b.data() + static_cast<std::ptrdiff_t>(a) * x.stride;
    const int first = linear.entry_start[u.set], count = linear.entry_start[u.set + 1] - first;
    add_rows(linear.y_w.data() + linear.unknown_start[reduced.first() + a],
             linear.entry_dof.data() + first,
             count,
             x.force.data(),
             x.stride,
             x.width,
             b);
    add_rows(u.w,
             nullptr,
             u.dim,
             x.velocity.data() + static_cast<std::ptrdiff_t>(u.row - island.first_row) * x.stride,
             x.stride,
             x.width,
             b);
  }
}

/// x += Y (T answer + impulse).
void add_impulses(const ContactProblem& problem,
                  const Linearisation& linear,
                  const DerivativeIsland& island,
                  Columns& x) {
  const ReducedSystem& reduced = linear.reduced[island.reduced];
  const auto row = [&](int dof) {
    return x.force.data() + static_cast<std::ptrdiff_t>(dof) * x.stride;
  };
  for (int a = 0; a < reduced.size(); ++a) {
    const ActiveUnknown& u = linear.active.unknowns[reduced.first() + a];
    const double* y_t = linear.y_t.data() + linear.unknown_start[reduced.first() + a];
    const double* answer = x.answer.data() + static_cast<std::ptrdiff_t>(a) * x.stride;
    for (int e = linear.entry_start[u.set]; e < linear.entry_start[u.set + 1]; ++e, ++y_t)
      add_rows(y_t, nullptr, 1, answer, x.stride, x.width, row(linear.entry_dof[e]));
  }
  for (int i = island.first_set; i < island.last_set && !x.impulse.empty(); ++i) {
    const int dim = problem.sets[i].dim;
    const double* y = linear.y.data() + linear.value_start[i];
    const double* l =
        x.impulse.data() +
        static_cast<std::ptrdiff_t>(problem.sets[i].offset - island.first_row) * x.stride;
    for (int e = linear.entry_start[i]; e < linear.entry_start[i + 1]; ++e, y += dim)
      add_rows(y, nullptr, dim, l, x.stride, x.width, row(linear.entry_dof[e]));
  }
}

}  // namespace

void Columns::resize(const DerivativeIsland& island, int columns, bool impulses) {
  width = stride = (columns + kLaneColumns - 1) / kLaneColumns * kLaneColumns;
  const auto size = [&](int rows) { return static_cast<std::size_t>(rows) * stride; };
  force.assign(size(island.num_dofs), 0.0);
  position.assign(size(island.num_dofs), 0.0);
  velocity.assign(size(island.num_rows), 0.0);
  impulse.assign(impulses ? size(island.num_rows) : 0, 0.0);
  end.clear();
}

void fill_state_columns(const DerivativeInput& in,
                        const Linearisation& linear,
                        const DerivativeIsland& island,
                        Columns& out) {
  const int n = island.num_dofs;
  each_tree(in, linear, island, [&](int t, int first) {
    const Tree& tree = in.scene.trees()[t];
    const double* dq = linear.inverse_dynamics.dq.data() + linear.inverse_dynamics.start[t];
    const double* dv = linear.inverse_dynamics.dv.data() + linear.inverse_dynamics.start[t];
    const double share = start_share(in, t);
    for (int i = 0; i < tree.nv; ++i) {
      double* row = out.force.data() + static_cast<std::ptrdiff_t>(first + i) * out.stride;
      for (int j = 0; j < tree.nv; ++j) {
        row[first + j] = -in.dt * dq[i * tree.nv + j];
        row[n + first + j] = -in.dt * share * dv[i * tree.nv + j];
      }
      const DofForce force = dof_force_derivatives(in, tree.v_offset + i);
      row[first + i] += force.by_q;
      row[n + first + i] += force.by_v;
      row[2 * n + first + i] += force.by_torque;
      out.position[static_cast<std::ptrdiff_t>(first + i) * out.stride + first + i] = 1.0;
    }
  });
  fill_moving_forces(linear, island, out);
  fill_velocities(in, linear, island, out);
  fill_kicks(in, linear, island, out);
}

void fill_state_direction(const DerivativeInput& in,
                          Linearisation& linear,
                          const DerivativeIsland& island,
                          const double* x,
                          Columns& out) {
  const int nv = in.scene.nv();
  each_tree(in, linear, island, [&](int t, int first) {
    const Tree& tree = in.scene.trees()[t];
    const double *dq = x + tree.v_offset, *dv = dq + nv, *torque = dv + nv;
    out.one.resize(tree.nv);
    out.mean.resize(tree.nv);
    for (int i = 0; i < tree.nv; ++i) out.mean[i] = start_share(in, t) * dv[i];
    tree_tangent(in, linear, t, dq, out.mean.data(), out.one.data());
    for (int i = 0; i < tree.nv; ++i) {
      const DofForce force = dof_force_derivatives(in, tree.v_offset + i);
      out.one[i] = force.by_q * dq[i] + force.by_v * dv[i] + force.by_torque * torque[i] -
                   in.dt * out.one[i];
      out.position[static_cast<std::ptrdiff_t>(first + i) * out.stride] = dq[i];
    }
    add_mass_times(in.record.dynamics.views[t], in.data(t), dv, out.one.data());
    for (int i = 0; i < tree.nv; ++i)
      out.force[static_cast<std::ptrdiff_t>(first + i) * out.stride] = out.one[i];
  });
  add_moving_rows(in, linear, island, x, out);
  fill_kick_direction(in, linear, island, x, out);
}

void propagate(const DerivativeInput& in,
               Linearisation& linear,
               const DerivativeIsland& island,
               int mass_column,
               Columns& x) {
  const auto of = [&](std::vector<double>& rows, int first) {
    return rows.data() + static_cast<std::ptrdiff_t>(first) * x.stride;
  };
  each_tree(in, linear, island, [&](int t, int first) {
    const TreeView& view = in.record.dynamics.views[t];
    whiten_columns(view, in.data(t), x.stride, x.width, of(x.force, first));
    if (mass_column >= 0)
      add_whitened_mass(view, in.data(t), x.stride, mass_column + first, of(x.force, first));
  });
  if (island.reduced >= 0) {
    if (!x.impulse.empty()) add_pushed(in.record.problem, island, x);
    find_right_hand_sides(linear, island, x);
    x.answer.resize(x.b.size());
    linear.reduced[island.reduced].solve(x.b.data(), x.stride, x.width, x.answer.data());
    add_impulses(in.record.problem, linear, island, x);
  }
  each_tree(in, linear, island, [&](int t, int first) {
    unwhiten_columns(
        in.record.dynamics.views[t], in.data(t), x.stride, x.width, of(x.force, first));
    solve_mean_velocity(in, linear, t, x.stride, x.width, of(x.force, first));
    end_tangents(in, linear, t, x.stride, x.width, of(x.position, first), of(x.force, first));
    const double* direct = x.end.empty() ? nullptr : of(x.end, first);
    kick_tangents(in, linear, t, x.stride, x.width, direct, of(x.force, first));
  });
}

static bool contradicts(const DerivativeInput& in,
                        Linearisation& linear,
                        const DerivativeIsland& island,
                        Columns& x) {
  each_tree(in, linear, island, [&](int t, int first) {
    whiten_columns(in.record.dynamics.views[t],
                   in.data(t),
                   x.stride,
                   x.width,
                   x.force.data() + static_cast<std::ptrdiff_t>(first) * x.stride);
  });
  find_right_hand_sides(linear, island, x);
  return linear.reduced[island.reduced].contradicts(x.b.data(), x.stride, x.one);
}

int count_contradictions(const DerivativeInput& in,
                         Linearisation& linear,
                         Eigen::VectorXd& direction,
                         Columns& x) {
  if (linear.active.on_path) return 0;
  SplitMix uniform{1};
  direction.setZero(3 * in.scene.nv());
  for (int i = 0; i < in.scene.nv(); ++i) direction[i] = uniform() - 0.5;
  int count = 0;
  for (const DerivativeIsland& island : linear.islands) {
    if (island.reduced < 0) continue;
    const ReducedSystem& reduced = linear.reduced[island.reduced];
    if (reduced.rank() == reduced.size()) continue;
    x.resize(island, 1, false);
    fill_state_direction(in, linear, island, direction.data(), x);
    count += contradicts(in, linear, island, x);
  }
  return count;
}

void add_impulse_tangent(const Linearisation& linear,
                         const DerivativeIsland& island,
                         const Columns& x,
                         double* impulse) {
  if (island.reduced < 0) return;
  const ReducedSystem& reduced = linear.reduced[island.reduced];
  for (int a = 0; a < reduced.size(); ++a) {
    const ActiveUnknown& u = linear.active.unknowns[reduced.first() + a];
    for (int r = 0; r < u.dim; ++r)
      impulse[u.row + r] += u.t[r] * x.answer[static_cast<std::size_t>(a) * x.stride];
  }
}

}  // namespace stiction
