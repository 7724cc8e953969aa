#include "implicit_step.hpp"

#include "stiction/dynamics/bias.hpp"
#include "stiction/dynamics/integrate.hpp"
#include "stiction/dynamics/kinematics.hpp"
#include "stiction/integrator/step_coordinates.hpp"
#include "stiction/math/clones.hpp"

#include <algorithm>

namespace stiction {
namespace {

template <class T, class U>
Vec3<T> lift(const Vec3<U>& v) {
  return {T(v.x), T(v.y), T(v.z)};
}
Mat3<Direction> lift(const Mat3d& m) {
  return {lift<Direction>(m.c0), lift<Direction>(m.c1), lift<Direction>(m.c2)};
}
RigidTransform<Direction> lift(const Transform& X) { return {lift(X.R), lift<Direction>(X.p)}; }
Sym3<Direction> lift(const Sym3d& s) { return {s.xx, s.xy, s.yy, s.xz, s.yz, s.zz}; }

/// A += the accelerations that the joints' a add: body forces at A are then those of M a + b.
template <class Real>
void add_joint_acceleration(const TreeView& tree,
                            const Real* a,
                            std::vector<Motion<Real>>& added,
                            TreeData<Real>& data) {
  added.resize(tree.num_bodies);
  const Real o(0.0);
  for (int b = 0; b < tree.num_bodies; ++b) {
    const int p = tree.parent[b], j = tree.v_index[b];
    Motion<Real> sum = p < 0 ? Motion<Real>{{o, o, o}, {o, o, o}} : added[p];
    for (int k = 0; k < joint_nv(tree.joint[b]); ++k) sum = sum + data.S[j + k] * a[j + k];
    added[b] = sum;
    data.A[b] = data.A[b] + sum;
  }
}

/// A body in the world: its pose, and the velocity of its point at p.
struct DualBody {
  RigidTransform<Direction> X;
  Motion<Direction> V;               // about the origin of its root, root axes
  RigidTransform<Direction> X_root;  // of its tree
  bool moves;

  Vec3<Direction> velocity(const Vec3<Direction>& p) const {
    if (!moves) return {0.0, 0.0, 0.0};
    const Vec3<Direction> r = transpose_times(X_root.R, p - X_root.p);
    return X_root.R * (V.linear + cross(V.angular, r));
  }
};

DualBody body_at(
    const Scene& scene, const CompliantSystem& end, int body, int own_tree, const DualTree& dual) {
  if (body < 0) return {lift(Transform::identity()), {}, {}, false};
  const int t = scene.tree_of_body(body), local = body - scene.trees()[t].body_offset;
  if (t == own_tree) {
    const TreeData<Direction>& d = dual.data;
    return {d.X_WR * d.X_RB[local], d.V[local], d.X_WR, true};
  }
  const TreeData<double>& d = end.dynamics.trees[t];
  return {lift(d.X_WR * d.X_RB[local]),
          {lift<Direction>(d.V[local].linear), lift<Direction>(d.V[local].angular)},
          lift(d.X_WR),
          true};
}

struct DualForce {
  Vec3<Direction> point, force;  // world; the force acts on B
};

/// Where and with what force a point acts, to first order in the directions of one tree.
DualForce force_at(const CompliantInput& input,
                   const CompliantSystem& end,
                   const CompliantPoint& point,
                   const PointForceDerivatives& by,
                   int own_tree,
                   const DualTree& dual) {
  const DualBody rider = body_at(input.scene, end, point.rider, own_tree, dual);
  const DualBody carrier = body_at(input.scene, end, point.carrier, own_tree, dual);
  const Mat3d frame_C =
      transpose_times(carrier_rotation(input.scene, end, point), end.contacts[point.contact].frame);
  const Mat3<Direction> frame = lift(frame_C);
  const Vec3<Direction> core = rider.X * lift<Direction>(point.core);
  const Vec3<Direction> p = core + carrier.X.R * lift<Direction>(point.arm);
  const Direction sign(point.sign);
  const Vec3<Direction> x =
      transpose_times(frame, transpose_times(carrier.X.R, core - carrier.X.p) * sign);
  const Vec3<Direction> c = transpose_times(
      frame, transpose_times(carrier.X.R, rider.velocity(p) - carrier.velocity(p)) * sign);
  Vec3<Direction> f = lift<Direction>(point.force.force);
  for (int i = 0; i < kDirections; ++i) {
    Vec3d dx{x.x.d[i], x.y.d[i], x.z.d[i]};
    const Vec3d dc{c.x.d[i], c.y.d[i], c.z.d[i]};
    if (point.kind != PointKind::kMaterial) dx = {input.h * dc.x, input.h * dc.y, dx.z};
    const Vec3d df = by.displacement * dx + by.velocity * dc;
    for (int r = 0; r < 3; ++r) f[r].d[i] = df[r];
  }
  return {p, carrier.X.R * (frame * f)};
}

/// Adds the columns that a force on a body of another tree has: -J^T df - dJ^T f.
void add_foreign_rows(const Scene& scene,
                      const CompliantSystem& end,
                      int body,
                      const DualForce& force,
                      double sign,
                      const std::vector<int>& place,
                      int stride,
                      int first,
                      int count,
                      double* matrix) {
  const int t = scene.tree_of_body(body);
  const Tree& tree = scene.trees()[t];
  const TreeData<double>& data = end.dynamics.trees[t];
  const Mat3<Direction> R = lift(data.X_WR.R);
  const Vec3<Direction> f = transpose_times(R, force.force) * Direction(sign);
  const Vec3<Direction> n =
      cross(transpose_times(R, force.point - lift<Direction>(data.X_WR.p)), f);
  const int last = tree.last_dof[body - tree.body_offset];
  const int* chain = tree.chain.data() + tree.row[last];
  for (int m = 0; m <= tree.depth[last]; ++m) {
    const Motion<double>& S = data.S[chain[m]];
    double* row = matrix + place[tree.v_offset + chain[m]] * stride;
    for (int i = 0; i < count; ++i) {
      row[place[first + i]] -= dot(S.linear, Vec3d{f.x.d[i], f.y.d[i], f.z.d[i]}) +
                               dot(S.angular, Vec3d{n.x.d[i], n.y.d[i], n.z.d[i]});
    }
  }
}

void add_point_forces(const CompliantInput& input,
                      const CompliantSystem& end,
                      const EndDerivatives& derivatives,
                      int t,
                      const std::vector<int>& place,
                      int stride,
                      int first,
                      int count,
                      DualTree& dual,
                      double* matrix) {
  const Scene& scene = input.scene;
  const auto tree_of = [&](int body) { return body < 0 ? -1 : scene.tree_of_body(body); };
  for (std::size_t i = 0; i < end.points.size(); ++i) {
    const CompliantPoint& point = end.points[i];
    const Contact& contact = end.contacts[point.contact];
    if (point.force.mode == PointMode::kOpen) continue;
    if (tree_of(contact.body_a) != t && tree_of(contact.body_b) != t) continue;
    const DualForce force = force_at(input, end, point, derivatives[i], t, dual);
    for (const int body : {contact.body_a, contact.body_b}) {
      if (body < 0) continue;
      const double sign = body == contact.body_b ? 1.0 : -1.0;
      if (tree_of(body) != t) {
        add_foreign_rows(scene, end, body, force, sign, place, stride, first, count, matrix);
        continue;
      }
      const int local = body - scene.trees()[t].body_offset;
      const Vec3<Direction> f = force.force * Direction(sign);
      const Vec3<Direction> origin = dual.data.X_WR * dual.data.X_RB[local].p;
      add_external_wrench(local, f, cross(force.point - origin, f), dual.data);
    }
  }
}

}  // namespace

void DualTree::resize(const Tree& tree) {
  const int n = tree.num_bodies;
  X_RB_.resize(n);
  placement_.resize(n);
  S_.resize(tree.nv);
  V_.resize(n);
  A_.resize(n);
  inertia_.resize(n);
  F_.resize(n);
  bias_.resize(tree.nv);
  mass_.resize(n);
  axis_.resize(n);
  com_.resize(n);
  zero_.assign(n, {0.0, 0.0, 0.0});
  central_.resize(n);
  q.resize(tree.nq);
  v.resize(tree.nv);
  a.resize(tree.nv);
  joint_acceleration.resize(n);
}

void DualTree::take(const Tree& tree, const TreeParameters<double>& p) {
  for (int b = 0; b < tree.num_bodies; ++b) {
    placement_[b] = lift(p.placement[b]);
    axis_[b] = lift<Direction>(p.axis[b]);
    mass_[b] = p.mass[b];
    com_[b] = lift<Direction>(p.com[b]);
    central_[b] = lift(p.inertia[b]);
  }
  parameters = {placement_.data(),
                axis_.data(),
                mass_.data(),
                com_.data(),
                central_.data(),
                lift(p.base),
                lift<Direction>(p.gravity)};
  data.X_RB = X_RB_.data();
  data.S = S_.data();
  data.V = V_.data();
  data.A = A_.data();
  data.inertia = inertia_.data();
  data.F = F_.data();
  data.bias = bias_.data();
}

/// Flattened: the kernels' loops over directions then take the registers of each clone. They add
/// nothing across directions, so all clones give the same bits.
STICTION_CLONES __attribute__((flatten)) void DualTree::move(const TreeView& view,
                                                             double h,
                                                             const double* q0,
                                                             const double* v0,
                                                             const double* nu,
                                                             int first) {
  std::copy(q0, q0 + view.nq, q.begin());
  for (int k = 0; k < view.nv; ++k) {
    v[k] = nu[k];
    if (k >= first && k < first + kDirections) v[k].d[k - first] = 1.0;
    a[k] = (v[k] - Direction(v0[k])) * Direction(1.0 / h);
  }
  TreeParameters<Direction> about_origin = parameters;
  about_origin.com = zero_.data();  // the reference point of step_coordinates.hpp
  integrate_configuration(view, about_origin, Direction(h), q.data(), v.data());
  forward_kinematics(view, parameters, q.data(), v.data(), data);
  if (view.free_root) {
    const Mat3<Direction> R0 = lift(rotation_from_quaternion(q0 + 3));
    const Vec3<Direction> turned_a =
        transpose_times(data.X_WR.R, R0 * Vec3<Direction>{a[0], a[1], a[2]});
    for (int k = 0; k < 3; ++k) a[k] = turned_a[k];
  }
  add_joint_acceleration(view, a.data(), joint_acceleration, data);
  body_inertias_and_forces(view, parameters, data);
}

/// The force of a point that touches within the step depends on its depth through the part d/(d +
/// d_0) of the step too, d_0 the gap at the start: e_T = -part way_T, dampers are part d.
static void add_touching(const CompliantPoint& point,
                         const Vec3d& way_T,
                         double before,
                         PointForceDerivatives& by) {
  const PointMotion& motion = point.motion;
  const double depth = -motion.gap, sum = depth + before;
  const double part = depth / sum, part_rate = before / (sum * sum);
  const double by_part = -point.compliance.damping * motion.velocity.z * part_rate;
  const Vec3d D0 = by.displacement.c0, D1 = by.displacement.c1;
  const Vec3d damper = by.velocity.c0 * motion.velocity.x + by.velocity.c1 * motion.velocity.y;
  by.displacement.c0 = D0 * part;
  by.displacement.c1 = D1 * part;
  by.displacement.c2 = by.displacement.c2 * (1.0 + by_part / -by.displacement.c2.z) -
                       (D0 * way_T.x + D1 * way_T.y) * part_rate - damper * (part_rate / part);
}

void settle_end(const CompliantInput& input,
                const CompliantSystem& start,
                CompliantSystem& end,
                EndDerivatives& derivatives) {
  const CompliantLaw law = input.settings.chosen_law();
  derivatives.resize(end.points.size());
  for (std::size_t i = 0; i < end.points.size(); ++i) {
    CompliantPoint& point = end.points[i];
    const Contact& contact = end.contacts[point.contact];
    PointMotion& motion = point.motion;
    const Vec3d normal =
        transpose_times(carrier_rotation(input.scene, end, point), contact.frame.c2);
    const Vec3d way = way_between(input.scene, point, normal, start.dynamics, end.dynamics);
    const double before = contact.gap - dot(normal, way), depth = -contact.gap;
    const bool inside_now = before > 0.0 && depth >= 0.0;
    const bool touched = law == CompliantLaw::kContinuous && inside_now;
    const double part = depth / (depth + before);
    PointCompliance c = point.compliance;
    if (touched) {
      c.damping *= part;
      c.tangential_damping *= part;
    }
    Vec3d way_T = transpose_times(contact.frame, carrier_rotation(input.scene, end, point) * way);
    if (point.kind != PointKind::kMaterial) {
      way_T = motion.velocity * input.h;
      const double stretched = touched ? part : inside_now ? 0.0 : 1.0;
      motion.extension.x -= stretched * way_T.x;
      motion.extension.y -= stretched * way_T.y;
    }
    point.force = compliant_force(law, c, motion);
    PointForceDerivatives& by = derivatives[i];
    by = compliant_force_derivatives(law, c, motion, point.force);
    if (point.force.mode == PointMode::kOpen) continue;
    if (touched) {
      add_touching(point, way_T, before, by);
    } else if (inside_now) {  // the published spring is at rest wherever it is first seen inside
      by.displacement = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    }
  }
}

void end_residual(const CompliantInput& input,
                  const State& state,
                  const double* nu,
                  CompliantSystem& end,
                  std::vector<Motion<double>>& scratch,
                  double* r) {
  const Scene& scene = input.scene;
  std::vector<double>& a = end.acceleration;
  for (int k = 0; k < scene.nv(); ++k) a[k] = (nu[k] - state.v[k]) / input.h;
  turn_axes(scene, state.q.data(), end.here.q.data(), a.data(), a.data());
  list_wrenches(scene, end);
  joint_forces(scene,
               input.parameters,
               end.here.q.data(),
               end.here.v.data(),
               input.control,
               0.0,
               end.dynamics);
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const int v = scene.trees()[t].v_offset;
    add_joint_acceleration(end.dynamics.views[t], a.data() + v, scratch, end.dynamics.trees[t]);
    body_inertias_and_forces(
        end.dynamics.views[t],
        tree_parameters(scene.trees()[t], static_cast<int>(t), input.parameters),
        end.dynamics.trees[t]);
  }
  const auto push = [&](const ExternalWrench& w) {
    const int t = scene.tree_of_body(w.body);
    add_external_wrench(
        w.body - scene.trees()[t].body_offset, w.force, w.moment, end.dynamics.trees[t]);
  };
  for (const ExternalWrench& w : input.control.wrenches) push(w);
  for (const ExternalWrench& w : end.wrenches) push(w);
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    bias_forces(end.dynamics.views[t], end.dynamics.trees[t]);
    for (int k = 0; k < tree.nv; ++k) {
      const int dof = tree.v_offset + k;
      r[dof] = end.dynamics.trees[t].bias[k] + input.parameters.armature[dof] * a[dof] -
               end.dynamics.force[dof] - (end.held.empty() ? 0.0 : end.held[dof]);
    }
  }
}

void end_columns(const CompliantInput& input,
                 const State& state,
                 const double* nu,
                 const CompliantSystem& end,
                 const EndDerivatives& derivatives,
                 int t,
                 const std::vector<int>& place,
                 int stride,
                 DualTree& dual,
                 double* matrix) {
  const Tree& tree = input.scene.trees()[t];
  const TreeView& view = end.dynamics.views[t];
  const Parameters& p = input.parameters;
  dual.take(tree, tree_parameters(tree, t, p));
  for (int first = 0; first < tree.nv; first += kDirections) {
    const int count = std::min(kDirections, tree.nv - first);
    dual.move(view,
              input.h,
              state.q.data() + tree.q_offset,
              state.v.data() + tree.v_offset,
              nu + tree.v_offset,
              first);
    for (const ExternalWrench& w : input.control.wrenches) {
      if (input.scene.tree_of_body(w.body) != t) continue;
      add_external_wrench(w.body - tree.body_offset,
                          lift<Direction>(w.force),
                          lift<Direction>(w.moment),
                          dual.data);
    }
    add_point_forces(
        input, end, derivatives, t, place, stride, tree.v_offset + first, count, dual, matrix);
    bias_forces(view, dual.data);
    for (int k = 0; k < tree.nv; ++k) {
      const int dof = tree.v_offset + k;
      const bool free = !end.dynamics.saturated[dof];
      const double rate = p.damping[dof] + (free ? p.kd[dof] : 0.0);
      double* row = matrix + place[dof] * stride;
      for (int i = 0; i < count; ++i) {
        row[place[tree.v_offset + first + i]] +=
            dual.data.bias[k].d[i] + p.armature[dof] * dual.a[k].d[i] + rate * dual.v[k].d[i];
      }
      if (free && k >= first && k < first + count) row[place[dof]] += input.h * p.kp[dof];
    }
  }
}

}  // namespace stiction
