#include "project_closures.hpp"

#include "stiction/dynamics/bias.hpp"
#include "stiction/dynamics/integrate.hpp"
#include "stiction/dynamics/kinematics.hpp"
#include "stiction/dynamics/loose_body.hpp"
#include "stiction/dynamics/mass_matrix.hpp"

#include "../math/semidefinite.hpp"
#include "constraint_row.hpp"
#include "one_tree_rows.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// A row whose square keeps less than this beside the rows before it repeats them.
constexpr double kDependent = 1e-10;
constexpr double kClosed = 1e-13;  ///< [m or rad]
/// Gauss-Newton squares the error: what is this small is closed after one more round, and J hardly
/// another [m or rad].
constexpr double kNearlyClosed = 1e-7;

template <class Visit>
void each_touched(const Scene& scene, const ClosedLoopWorkspace& work, Visit&& visit) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    if (work.touched[t]) visit(scene.trees()[t], static_cast<int>(t));
  }
}

void place(const Scene& scene,
           const Parameters& parameters,
           const double* q,
           ClosedLoopWorkspace& work) {
  each_touched(scene, work, [&](const Tree& tree, int t) {
    forward_placements(work.dynamics.views[t],
                       tree_parameters(tree, t, parameters),
                       q + tree.q_offset,
                       work.dynamics.trees[t]);
  });
}

/// The blocks of a set's panel that are in columns with a place >= 0.
void copy_panel(const ContactProblem& p, int set, const int* place, int n, double* A) {
  const int dim = p.sets[set].dim, row = place[p.sets[set].offset];
  const double* value = p.values.data() + p.panel_start[set];
  for (int r = p.run_start[set]; r < p.run_start[set + 1]; ++r) {
    const ContactProblem::Run& run = p.runs[r];
    for (int c = run.column; c < run.column + run.count; ++c) {
      for (int k = 0; k < dim && place[c] >= 0; ++k) A[(row + k) * n + place[c]] = value[k];
      value += ContactProblem::stride(dim);
    }
  }
}

/// G of the bilateral sets, factored by island.
void factor_bilateral(const ContactProblem& p, ClosedLoopWorkspace& work) {
  work.sets.clear();
  work.islands.clear();
  work.factor.clear();
  work.place.assign(p.num_rows(), -1);
  int rows = 0, set = 0;
  for (int island = 0; island < p.num_islands(); ++island) {
    const int first = rows, first_set = static_cast<int>(work.sets.size());
    for (; set < p.island_start[island + 1]; ++set) {
      if (p.sets[set].kind != SetKind::kFree) continue;
      work.sets.push_back(set);
      for (int k = 0; k < p.sets[set].dim; ++k) work.place[p.sets[set].offset + k] = rows++ - first;
    }
    if (rows == first) continue;
    const int n = rows - first;
    work.islands.push_back({first, n, 0, static_cast<int>(work.factor.size())});
    work.factor.resize(work.factor.size() + n * n, 0.0);
    for (std::size_t i = first_set; i < work.sets.size(); ++i)
      copy_panel(
          p, work.sets[i], work.place.data(), n, work.factor.data() + work.islands.back().factor);
  }
  work.scale.resize(rows);
  work.order.resize(rows);
  work.x.resize(rows);
  work.scratch.resize(rows);
  for (ClosedLoopWorkspace::Island& island : work.islands) {
    island.rank = factor_semidefinite(work.factor.data() + island.factor,
                                      island.rows,
                                      kDependent,
                                      work.scale.data() + island.first,
                                      work.order.data() + island.first);
  }
}

/// impulse <- -G^+ x of the bilateral rows, zero for the others.
void solve_bilateral(const ContactProblem& p,
                     const double* x,
                     ClosedLoopWorkspace& work,
                     std::vector<double>& impulse) {
  double* y = work.x.data();
  for (const int set : work.sets) y = std::copy_n(x + p.sets[set].offset, p.sets[set].dim, y);
  for (const ClosedLoopWorkspace::Island& island : work.islands) {
    substitute_semidefinite(work.factor.data() + island.factor,
                            island.rows,
                            island.rank,
                            work.scale.data() + island.first,
                            work.order.data() + island.first,
                            work.x.data() + island.first,
                            work.scratch.data());
  }
  impulse.assign(p.num_rows(), 0.0);
  const double* l = work.x.data();
  for (const int set : work.sets) {
    for (int k = 0; k < p.sets[set].dim; ++k) impulse[p.sets[set].offset + k] = -*l++;
  }
}

/// Rows that repeat others ask what those ask: redundant closures bend alike only to O(dt^2).
void keep_in_range(const ContactProblem& p, ClosedLoopWorkspace& work) {
  double* y = work.x.data();
  for (const int set : work.sets)
    y = std::copy_n(work.curvature.data() + p.sets[set].offset, p.sets[set].dim, y);
  for (const ClosedLoopWorkspace::Island& island : work.islands) {
    if (island.rank == island.rows) continue;
    project_on_range(work.factor.data() + island.factor,
                     island.rows,
                     island.rank,
                     work.scale.data() + island.first,
                     work.order.data() + island.first,
                     work.x.data() + island.first,
                     work.scratch.data());
  }
  const double* x = work.x.data();
  for (const int set : work.sets) {
    std::copy_n(x, p.sets[set].dim, work.curvature.data() + p.sets[set].offset);
    x += p.sets[set].dim;
  }
}

/// work.change = M^-1 (L^T w + J^T impulse) of the trees that are touched; w null: 0.
void move(const Scene& scene,
          const DynamicsWorkspace& dynamics,
          ConstraintRows& rows,
          const std::vector<double>* w,
          ClosedLoopWorkspace& work) {
  if (w == nullptr) {
    std::fill(work.change.begin(), work.change.end(), 0.0);
  } else {
    std::copy(w->begin(), w->end(), work.change.begin());
  }
  if (const int tree = rows.one_tree.tree; tree >= 0) {
    add_impulses(rows, work.impulse, work.change.data() + scene.trees()[tree].v_offset);
  } else {
    add_row_forces(scene, dynamics, rows, work.impulse, work.change);
  }
  each_touched(scene, work, [&](const Tree& tree, int t) {
    solve_scaled_lower(dynamics.views[t], dynamics.trees[t], work.change.data() + tree.v_offset);
  });
}

void closure_error_at(const Scene& scene,
                      const DynamicsWorkspace& dynamics,
                      const Closure& closure,
                      double* error) {
  closure_error(closure,
                body_placement(scene, dynamics, closure.body_a) * closure.X_A,
                body_placement(scene, dynamics, closure.body_b) * closure.X_B,
                error);
}

/// The motion v' - v of the closures alone, J v' = work.curvature, in work.change.
void hold_closures(const Scene& scene,
                   const DynamicsWorkspace& dynamics,
                   ConstraintRows& rows,
                   const ContactProblem& problem,
                   ClosedLoopWorkspace& work) {
  work.velocity.assign(problem.g.begin(), problem.g.end());
  for (const int set : work.sets) {
    const int offset = problem.sets[set].offset;
    for (int k = 0; k < problem.sets[set].dim; ++k)
      work.velocity[offset + k] += rows.rows[set].reference[k] - work.curvature[offset + k];
  }
  solve_bilateral(problem, work.velocity.data(), work, work.impulse);
  move(scene, dynamics, rows, &dynamics.whitened, work);
}

/// w += L^-T dt (bias - new_bias) of a tree.
void change_bias(const Tree& tree,
                 int t,
                 double dt,
                 const double* new_bias,
                 DynamicsWorkspace& dynamics,
                 ClosedLoopWorkspace& work) {
  double* w = work.w.data() + tree.v_offset;
  double* bias = dynamics.trees[t].bias;
  for (int k = 0; k < tree.nv; ++k) {
    w[k] = dt * (bias[k] - new_bias[k]);
    bias[k] = new_bias[k];
  }
  solve_transposed(dynamics.views[t], dynamics.trees[t], w);
  for (int k = 0; k < tree.nv; ++k) dynamics.whitened[tree.v_offset + k] += w[k];
}

/// The bias of an articulated tree at v + work.change / 2.
void centre_bias(const Scene& scene,
                 const Parameters& parameters,
                 const Control& control,
                 const State& state,
                 double dt,
                 int t,
                 DynamicsWorkspace& dynamics,
                 ClosedLoopWorkspace& work) {
  const Tree& tree = scene.trees()[t];
  const TreeView& view = dynamics.views[t];
  TreeData<double>& data = work.dynamics.trees[t];
  double *v = work.v.data() + tree.v_offset, *change = work.change.data() + tree.v_offset;
  for (int k = 0; k < tree.nv; ++k) v[k] = state.v[tree.v_offset + k] + 0.5 * change[k];
  const TreeParameters<double> p = tree_parameters(tree, t, parameters);
  data.X_WR = dynamics.trees[t].X_WR;
  std::copy_n(dynamics.trees[t].X_RB, tree.num_bodies, data.X_RB);
  std::copy_n(dynamics.trees[t].S, tree.nv, data.S);
  forward_velocities(view, p, v, data);
  body_inertias_and_forces(view, p, data);
  for (const ExternalWrench& wrench : control.wrenches) {
    if (scene.tree_of_body(wrench.body) == t)
      add_external_wrench(wrench.body - tree.body_offset, wrench.force, wrench.moment, data);
  }
  bias_forces(view, data);
  change_bias(tree, t, dt, data.bias, dynamics, work);
}

/// The flight of loose bodies with the kicks of work.impulse at its start.
void kick_at_nodes(const Scene& scene,
                   const Parameters& parameters,
                   double dt,
                   DynamicsWorkspace& dynamics,
                   ConstraintRows& rows,
                   ClosedLoopWorkspace& work) {
  move(scene, dynamics, rows, nullptr, work);  // M^-1 J^T lambda
  each_touched(scene, work, [&](const Tree& tree, int t) {
    if (!is_loose_body(dynamics.views[t])) return;
    TreeData<double>& data = dynamics.trees[t];
    const double* turn = work.change.data() + tree.v_offset + 3;
    const TreeParameters<double> p = tree_parameters(tree, t, parameters);
    double old[6];
    std::copy_n(data.bias, 6, old);
    loose_body_bias_at_node(p, dt, p.inertia[0] * Vec3d{turn[0], turn[1], turn[2]}, data);
    std::swap_ranges(old, old + 6, data.bias);
    change_bias(tree, t, dt, old, dynamics, work);
  });
}

/// work.curvature += what Phi(q + dt (v + work.change)) lacks of Phi(q) as J v' = 0 would keep it.
void foresee_curvature(const Scene& scene,
                       const Parameters& parameters,
                       const State& state,
                       double dt,
                       const DynamicsWorkspace& dynamics,
                       const ConstraintRows& rows,
                       const ContactProblem& problem,
                       ClosedLoopWorkspace& work) {
  each_touched(scene, work, [&](const Tree& tree, int t) {
    double *q = work.q.data() + tree.q_offset, *v = work.v.data() + tree.v_offset;
    const double* change = work.change.data() + tree.v_offset;
    std::copy_n(state.q.data() + tree.q_offset, tree.nq, q);
    for (int k = 0; k < tree.nv; ++k) v[k] = state.v[tree.v_offset + k] + change[k];
    const Vec3d c = root_point(dynamics.views[t], tree_parameters(tree, t, parameters));
    integrate_configuration(dynamics.views[t], c, dt, q, v);
  });
  place(scene, parameters, work.q.data(), work);
  for (const int set : work.sets) {
    const ConstraintRow& row = rows.rows[set];
    if (row.source != RowSource::kClosure) continue;  // gears are linear in q
    double now[6], then[6];
    closure_error_at(scene, dynamics, scene.closures()[row.index], now);
    closure_error_at(scene, work.dynamics, scene.closures()[row.index], then);
    for (int k = 0; k < row.set.dim; ++k)
      work.curvature[problem.sets[set].offset + k] += (now[k] - then[k]) / dt;
  }
  keep_in_range(problem, work);
}

/// Factor of M + armature at the kinematics of work.dynamics.
void factor_mass(const Scene& scene, const Parameters& parameters, ClosedLoopWorkspace& work) {
  each_touched(scene, work, [&](const Tree& tree, int t) {
    const TreeView& view = work.dynamics.views[t];
    TreeData<double>& data = work.dynamics.trees[t];
    body_inertias(view, tree_parameters(tree, t, parameters), data);
    mass_matrix(view, data);
    for (int k = 0; k < tree.nv; ++k)
      data.L[tree.row[k] + tree.depth[k]] += parameters.armature[tree.v_offset + k];
    factorise(view, data);
  });
}

/// Loose bodies at the node where the flight of dt ends: I w+ = exp(-dt/2 [w']) I w', axes of the
/// node.
void end_flight(const Scene& scene,
                const Parameters& parameters,
                double dt,
                const ClosedLoopWorkspace& work,
                State& state) {
  each_touched(scene, work, [&](const Tree& tree, int t) {
    if (!is_loose_body(work.dynamics.views[t])) return;
    const TreeParameters<double> p = tree_parameters(tree, t, parameters);
    double* v = state.v.data() + tree.v_offset;
    const Vec3d w{v[3], v[4], v[5]};
    const Sym3d& I = p.inertia[0];
    const Mat3d inertia{{I.xx, I.xy, I.xz}, {I.xy, I.yy, I.yz}, {I.xz, I.yz, I.zz}};
    const Vec3d end = solve(inertia, turned(w * (-0.5 * dt), I * w));
    const Vec3d about_c = cross(end - w, p.com[0]);  // p_c keeps its velocity
    for (int k = 0; k < 3; ++k) {
      v[k] -= about_c[k];
      v[3 + k] = end[k];
    }
  });
}

/// Closures and gears at the kinematics of work.dynamics: J, G, work.velocity = J v and work.error
/// = Phi, of which the largest is returned.
double build_rows(const Scene& scene,
                  const Parameters& parameters,
                  const State& state,
                  ClosedLoopWorkspace& work) {
  ContactProblem& p = work.problem;
  work.rows.rows.clear();
  work.rows.z.clear();
  static constexpr ContactSettings kSettings;
  const RowContext context{scene, parameters, state, kSettings, 1.0, work.dynamics, work.rows};
  append_gear_rows(context);
  append_closure_rows(context);
  assemble_rows(scene, work.dynamics, work.rows, p);
  factor_bilateral(p, work);
  work.velocity.resize(p.num_rows());
  work.error.resize(p.num_rows());
  double largest = 0.0;
  for (int i = 0; i < p.num_sets(); ++i) {
    const ConstraintRow& row = work.rows.rows[i];
    const int dim = row.set.dim;
    std::copy_n(row.velocity, dim, work.velocity.data() + p.sets[i].offset);
    double* error = work.error.data() + p.sets[i].offset;
    if (row.source == RowSource::kGear) {
      *error = gear_error(scene, scene.gears()[row.index], state.q.data());
    } else {
      closure_error_at(scene, work.dynamics, scene.closures()[row.index], error);
    }
    for (int k = 0; k < dim; ++k) largest = std::max(largest, std::abs(error[k]));
  }
  return largest;
}

/// q moved by work.change, v of free roots turned into their new axes.
void displace_touched(const Scene& scene,
                      const Parameters& parameters,
                      ClosedLoopWorkspace& work,
                      State& state) {
  each_touched(scene, work, [&](const Tree& tree, int t) {
    const TreeView& view = work.dynamics.views[t];
    double* q = state.q.data() + tree.q_offset;
    const Vec3d c = root_point(view, tree_parameters(tree, t, parameters));
    const Mat3d before = root_rotation(view, q);
    integrate_configuration(view, c, 1.0, q, work.change.data() + tree.v_offset);
    turn_root_velocity(view, before, root_rotation(view, q), c, state.v.data() + tree.v_offset);
  });
}

}  // namespace

void ClosedLoopWorkspace::resize(const Scene& scene) {
  touched.assign(scene.trees().size(), 0);
  any = !scene.closures().empty() || !scene.gears().empty();
  if (!any) return;
  for (const Closure& closure : scene.closures()) {
    for (const int body : {closure.body_a, closure.body_b})
      if (body >= 0) touched[scene.tree_of_body(body)] = 1;
  }
  for (const Gear& gear : scene.gears())
    for (const int dof : {gear.dof, gear.driver}) touched[scene.tree_of_dof(dof)] = 1;
  w.assign(scene.nv(), 0.0);
  change = v = w;
  q.assign(scene.nq(), 0.0);
  dynamics.resize(scene);
  for (std::size_t t = 0; t < touched.size(); ++t)
    any_loose = any_loose || (touched[t] && is_loose_body(dynamics.views[t]));
}

void foresee_closures(const Scene& scene,
                      const Parameters& parameters,
                      const Control& control,
                      const State& state,
                      double dt,
                      DynamicsWorkspace& dynamics,
                      ConstraintRows& rows,
                      ContactProblem& problem,
                      ClosedLoopWorkspace& work) {
  if (!work.any) return;
  factor_bilateral(problem, work);
  work.curvature.assign(problem.g.size(), 0.0);
  // The kicks of loose bodies and the curvature depend on each other.
  const int rounds = work.any_loose ? 3 : 1;
  for (int round = 0; round < rounds; ++round) {
    hold_closures(scene, dynamics, rows, problem, work);
    std::fill(work.w.begin(), work.w.end(), 0.0);
    if (round == 0) {
      each_touched(scene, work, [&](const Tree&, int t) {
        if (!is_loose_body(dynamics.views[t]))
          centre_bias(scene, parameters, control, state, dt, t, dynamics, work);
      });
    }
    if (work.any_loose) kick_at_nodes(scene, parameters, dt, dynamics, rows, work);
    add_row_velocity(scene, dynamics, rows, problem, work.w.data(), problem.g);
    hold_closures(scene, dynamics, rows, problem, work);
    foresee_curvature(scene, parameters, state, dt, dynamics, rows, problem, work);
  }
  for (const int set : work.sets) {
    ConstraintRow& row = rows.rows[set];
    if (row.source != RowSource::kClosure) continue;
    if (row.kind == ReferenceKind::kRecovery) row.kind = ReferenceKind::kCurvature;
    const int offset = problem.sets[set].offset;
    for (int k = 0; k < row.set.dim; ++k) {
      row.reference[k] += work.curvature[offset + k];
      problem.g[offset + k] -= work.curvature[offset + k];
    }
  }
}

void project_closures(const Scene& scene,
                      const Parameters& parameters,
                      double flight,
                      ClosedLoopWorkspace& work,
                      State& state) {
  if (!work.any) return;
  if (work.any_loose && flight > 0.0) end_flight(scene, parameters, flight, work, state);
  bool last = false;
  for (int round = 1; !last; ++round) {
    place(scene, parameters, state.q.data(), work);
    factor_mass(scene, parameters, work);
    const double error = build_rows(scene, parameters, state, work);
    last = error <= kNearlyClosed || round == 4;
    if (last) {
      solve_bilateral(work.problem, work.velocity.data(), work, work.impulse);
      move(scene, work.dynamics, work.rows, nullptr, work);
      for (int k = 0; k < scene.nv(); ++k) state.v[k] += work.change[k];
    }
    if (error <= kClosed) continue;
    solve_bilateral(work.problem, work.error.data(), work, work.impulse);
    move(scene, work.dynamics, work.rows, nullptr, work);
    displace_touched(scene, parameters, work, state);
  }
}

}  // namespace stiction
