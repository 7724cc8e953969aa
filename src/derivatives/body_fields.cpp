#include "derivatives/kicks.hpp"
#include "derivatives/moving_contact.hpp"
#include "derivatives/parameter_changes.hpp"
#include "dynamics/inertial_derivatives.hpp"
#include "dynamics/integrate_derivatives.hpp"

#include <algorithm>

// Gravity, inertia and wrenches: what enters inverse dynamics, M^ (v+ - v) = -dt tau + ...

namespace stiction {
namespace {

using Input = DerivativeInput;
using Linear = Linearisation;

int bodies(const Input& in) { return in.scene.num_bodies(); }
int three(const Input&) { return 3; }
int three_by_body(const Input& in) { return 3 * bodies(in); }
int six_by_body(const Input& in) { return 6 * bodies(in); }
int six_by_wrench(const Input& in) { return 6 * static_cast<int>(in.control.wrenches.size()); }

/// visit(number, tree, view) of the trees that are awake.
template <class Visit>
void each_awake_tree(const Input& in, Visit&& visit) {
  for (std::size_t t = 0; t < in.scene.trees().size(); ++t) {
    if (!in.record.dynamics.asleep[t])
      visit(static_cast<int>(t), in.scene.trees()[t], in.record.dynamics.views[t]);
  }
}

void add_gravity(const Input& in, const Linear&, const ChangeSink& out) {
  each_awake_tree(in, [&](int t, const Tree& tree, const TreeView& view) {
    std::vector<double>& columns = out.all.numbers;
    columns.resize(3 * tree.nv);
    gravity_columns(view, in.data(t), 3, columns.data());
    for (int j = 0; j < tree.nv; ++j) {
      for (int k = 0; k < 3; ++k) out.force(k, tree.v_offset + j, -in.dt * columns[3 * j + k]);
    }
  });
}

/// `count` of the ten inertial parameters of each body, from `first` on.
void add_inertial(
    const Input& in, const Linear& linear, int first, int count, const ChangeSink& out) {
  each_awake_tree(in, [&](int t, const Tree& tree, const TreeView& view) {
    const TreeParameters<double> p = tree_parameters(tree, t, in.parameters);
    const double* a = linear.work.acceleration.data() + tree.v_offset;
    std::vector<Motion<double>>& A = out.all.motions;
    A.resize(tree.num_bodies);
    if (!is_loose_body(view)) body_accelerations(view, p, in.data(t), a, A.data());
    std::vector<double>& columns = out.all.numbers;
    columns.resize(static_cast<std::size_t>(kInertialParameters) * tree.nv);
    for (int b = 0; b < tree.num_bodies; ++b) {
      std::fill(columns.begin(), columns.end(), 0.0);
      inertial_columns(
          view, p, in.data(t), in.dt, a, A.data(), b, kInertialParameters, columns.data());
      for (int j = 0; j < tree.nv; ++j) {
        for (int k = 0; k < count; ++k)
          out.force(count * (tree.body_offset + b) + k,
                    tree.v_offset + j,
                    -in.dt * columns[kInertialParameters * j + first + k]);
      }
    }
  });
}

void add_mass(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_inertial(in, linear, 0, 1, out);
}
/// A change dw of the velocity that a kicked body is left with; its centre of mass keeps its own.
void add_kick(const Input& in, int t, int column, const Vec3d& dw, const ChangeSink& out) {
  const Tree& tree = in.scene.trees()[t];
  const Vec3d shift = cross(in.parameters.com[tree.body_offset], dw);
  for (int r = 0; r < 3; ++r) {
    out.end_velocity(column, tree.v_offset + r, shift[r]);
    out.end_velocity(column, tree.v_offset + 3 + r, dw[r]);
  }
}

/// What the centre of mass of a loose body does to contacts that curve.
void add_com_to_contacts(const Input& in, const Linear& linear, const ChangeSink& out) {
  MovingRows& rows = out.all.rows;
  rows.begin = linear.moving.begin;
  rows.end = linear.moving.end;
  for (int i = 0; i < in.record.problem.num_sets(); ++i) {
    const ConstraintRow& row = in.record.rows.rows[i];
    if (row.source != RowSource::kContact || !row.curves) continue;
    const MovingContact p = moving_contact(in, i, rows);
    if (!p.curves) continue;
    for (int s = 0; s < p.start.count; ++s) {
      const MovingSide& side = p.start.at[s];
      if (!is_loose_body(in.record.dynamics.views[side.tree()])) continue;
      for (int k = 0; k < 3; ++k) {
        Vec3d dc{0, 0, 0};
        dc[k] = 1.0;
        RowMotion motion;
        (p.start.sign[s] < 0.0 ? motion.a : motion.b) = side.material_by_com(dc);
        RowColumn column{};
        set_velocity(p, row_change(p, {{0, 0, 0}, {0, 0, 0}, 0.0}, motion), column.velocity);
        out.row(in, linear, 3 * side.body() + k, i, column);
      }
    }
  }
}

/// A loose body's centre of mass also carries its position: see integrate_configuration().
void add_com(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_inertial(in, linear, 1, 3, out);
  add_com_to_contacts(in, linear, out);
  each_awake_tree(in, [&](int t, const Tree& tree, const TreeView& view) {
    if (!is_loose_body(view)) return;
    const double* v = linear.end_velocity.data() + tree.v_offset;
    for (int k = 0; k < 3; ++k) {
      Vec3d dc{0, 0, 0};
      dc[k] = 1.0;
      const auto [moved, velocity] = root_point_tangent(v, in.dt, dc);
      for (int r = 0; r < 3; ++r) {
        out.position(3 * tree.body_offset + k, tree.v_offset + r, moved[r]);
        out.end_velocity(3 * tree.body_offset + k, tree.v_offset + r, velocity[r]);
      }
      if (!is_kicked(in, t)) continue;
      const KickTurn<double> kick = kick_of(in, linear, t);
      const Vec3d about = cross(kick.moved - kick.after, dc);
      for (int r = 0; r < 3; ++r)
        out.end_velocity(3 * tree.body_offset + k, tree.v_offset + r, about[r]);
      const Force<double>* wrench = linear.work.wrenches_on(tree.body_offset);
      if (wrench == nullptr) continue;
      const Vec3d force = transpose_times(in.data(t).X_WR.R, wrench->linear);
      const Vec3d dw = kick.by_momentum * (cross(dc, force) * -in.dt);
      add_kick(in, t, 3 * tree.body_offset + k, dw, out);
    }
  });
}
void add_inertia(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_inertial(in, linear, 4, 6, out);
  each_awake_tree(in, [&](int t, const Tree& tree, const TreeView&) {
    if (!is_kicked(in, t)) return;
    const KickTurn<double> kick = kick_of(in, linear, t);
    for (int k = 0; k < 6; ++k) {
      double e[6] = {};
      e[k] = 1.0;
      const Sym3d dI{e[0], e[1], e[2], e[3], e[4], e[5]};
      add_kick(in, t, 6 * tree.body_offset + k, kick.by_inertia(dI, in.data(t).V[0].angular), out);
    }
  });
}

/// Force, then moment of each of control.wrenches.
void add_wrench(const Input& in, const Linear& linear, const ChangeSink& out) {
  for (std::size_t i = 0; i < in.control.wrenches.size(); ++i) {
    const int body = in.control.wrenches[i].body, t = in.scene.tree_of_body(body);
    if (in.record.dynamics.asleep[t]) continue;
    const Tree& tree = in.scene.trees()[t];
    const TreeView& view = in.record.dynamics.views[t];
    const TreeData<double>& data = in.data(t);
    const int b = body - tree.body_offset, first = 6 * static_cast<int>(i);
    const TreeParameters<double> p = tree_parameters(tree, t, in.parameters);
    for (int k = 0; k < 6; ++k) {
      Vec3d f{0, 0, 0}, n{0, 0, 0};
      (k < 3 ? f : n)[k % 3] = 1.0;
      f = transpose_times(data.X_WR.R, f);
      n = transpose_times(data.X_WR.R, n);
      if (is_loose_body(view)) {
        const Vec3d& c = p.com[0];
        const LooseBodyTurn<double> turn(p, data, in.dt);
        if (is_kicked(in, t))
          add_kick(in,
                   t,
                   first + k,
                   kick_of(in, linear, t).by_momentum * ((n - cross(c, f)) * in.dt),
                   out);
        n = cross(c, f) + turn.next_momentum((n - cross(c, f)) * in.dt) * (1.0 / in.dt);
      }
      const Force<double> F{f, n + cross(data.X_RB[b].p, f)};
      const int last = tree.last_dof[b];
      for (int m = 0; m <= tree.depth[last]; ++m) {
        const int j = tree.chain[tree.row[last] + m];
        out.force(first + k, tree.v_offset + j, in.dt * dot(data.S[j], F));
      }
    }
  }
}

}  // namespace

const std::vector<ParameterField>& body_fields() {
  static const std::vector<ParameterField> fields = {
      {"gravity", three, add_gravity},
      {"mass", bodies, add_mass},
      {"com", three_by_body, add_com},
      {"inertia", six_by_body, add_inertia},
      {"wrench", six_by_wrench, add_wrench},
  };
  return fields;
}

}  // namespace stiction
