#include "integrator/implicit_step.hpp"

#include "dynamics/bias.hpp"
#include "dynamics/joint_forces.hpp"
#include "integrator/step_coordinates.hpp"

#include <algorithm>

namespace stiction {
using namespace compliance;
namespace {

/// A body in the world: its pose, and the velocity of its point at p.
struct DualBody {
  RigidTransform<Direction> X;
  Motion<Direction> V;               // about the origin of its root, root axes
  RigidTransform<Direction> X_root;  // of its tree
  bool moves;

  Vec3<Direction> spin() const {
    if (!moves) return {0.0, 0.0, 0.0};
    return X_root.R * V.angular;
  }
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
  Vec3<Direction> point, force, couple;  // world; they act on B; the couple of points that have one
};

/// Where and with what force a point acts, to first order in the directions of one tree.
/// `extension`, if asked for, by direction: how its extension at the end changes, axes of the
/// anchor body.
DualForce force_at(const CompliantInput& input,
                   const CompliantSystem& end,
                   const CompliantPoint& point,
                   const PointWrenchDerivatives& by,
                   int own_tree,
                   const DualTree& dual,
                   Vec3d* extension) {
  const DualBody point_body = body_at(input.scene, end, point.point_body, own_tree, dual);
  const DualBody anchor_body = body_at(input.scene, end, point.anchor_body, own_tree, dual);
  const Mat3d frame_C =
      transpose_times(body_placement(input.scene, end.dynamics, point.anchor_body).R,
                      end.contacts[point.contact].frame);
  const Mat3<Direction> frame = lift(frame_C);
  const Vec3<Direction> core = point_body.X * lift<Direction>(point.core);
  const Vec3<Direction> p = core + anchor_body.X.R * lift<Direction>(point.arm);
  const Direction sign(point.sign);
  const Vec3<Direction> x =
      transpose_times(frame, transpose_times(anchor_body.X.R, core - anchor_body.X.p) * sign);
  const Vec3<Direction> c = transpose_times(
      frame,
      transpose_times(anchor_body.X.R, point_body.velocity(p) - anchor_body.velocity(p)) * sign);
  const bool couples = point.compliance.has_couples();
  Vec3<Direction> w, f = lift<Direction>(point.force.force), m;
  if (couples) {
    const Vec3<Direction> spin = (point_body.spin() - anchor_body.spin()) * sign;
    w = transpose_times(frame, transpose_times(anchor_body.X.R, spin));
    m = lift<Direction>(point.force.couple);
  }
  for (int i = 0; i < kDirections; ++i) {
    Vec3d dx{x.x.d[i], x.y.d[i], x.z.d[i]};
    const Vec3d dc{c.x.d[i], c.y.d[i], c.z.d[i]};
    if (point.kind != PointKind::kMaterial) dx = {input.h * dc.x, input.h * dc.y, dx.z};
    Vec3d df = by.force.displacement * dx + by.force.velocity * dc;
    if (couples) {
      const Vec3d dw{w.x.d[i], w.y.d[i], w.z.d[i]};
      df += by.force_by_turn.velocity * dw;
      const Vec3d dm =
          by.couple.displacement * dx + by.couple.velocity * dc + by.couple_by_turn.velocity * dw;
      for (int r = 0; r < 3; ++r) m[r].d[i] = dm[r];
    }
    for (int r = 0; r < 3; ++r) f[r].d[i] = df[r];
    if (extension == nullptr) continue;
    const PointCompliance& k = point.compliance;
    extension[i] = {0, 0, 0};
    if (!k.has_sliding_spring()) continue;
    const Vec3d de =
        point.force.mode == ContactMode::kStick
            ? dx * -1.0
            : df * (input.h / (k.tangential_damping + input.h * k.tangential_stiffness));
    extension[i] = frame_C * Vec3d{de.x, de.y, 0.0};
  }
  DualForce out{p, anchor_body.X.R * (frame * f), {}};
  if (couples) out.couple = anchor_body.X.R * (frame * m);
  return out;
}

/// Adds the columns that a force on a body of another tree has: -J^T df - dJ^T f.
void add_foreign_rows(const Scene& scene,
                      const CompliantSystem& end,
                      int body,
                      const DualForce& force,
                      bool couples,
                      double sign,
                      int first,
                      int count,
                      const IslandMatrix& matrix) {
  const int t = scene.tree_of_body(body);
  const Tree& tree = scene.trees()[t];
  const TreeData<double>& data = end.dynamics.trees[t];
  const Mat3<Direction> R = lift(data.X_WR.R);
  const Vec3<Direction> f = transpose_times(R, force.force) * Direction(sign);
  Vec3<Direction> n = cross(transpose_times(R, force.point - lift<Direction>(data.X_WR.p)), f);
  if (couples) n += transpose_times(R, force.couple) * Direction(sign);
  const int last = tree.last_dof[body - tree.body_offset];
  const int* chain = tree.chain.data() + tree.row[last];
  for (int m = 0; m <= tree.depth[last]; ++m) {
    const Motion<double>& S = data.S[chain[m]];
    double* row = matrix.row(tree.v_offset + chain[m]);
    for (int i = 0; i < count; ++i) {
      row[matrix.place[first + i]] -= dot(S.linear, Vec3d{f.x.d[i], f.y.d[i], f.z.d[i]}) +
                                      dot(S.angular, Vec3d{n.x.d[i], n.y.d[i], n.z.d[i]});
    }
  }
}

void add_point_forces(const CompliantInput& input,
                      const CompliantSystem& end,
                      const EndDerivatives& derivatives,
                      int t,
                      int first,
                      int count,
                      DualTree& dual,
                      const IslandMatrix& matrix,
                      double* extensions) {
  const Scene& scene = input.scene;
  Vec3d extension[kDirections];
  const auto tree_of = [&](int body) { return body < 0 ? -1 : scene.tree_of_body(body); };
  for (std::size_t i = 0; i < end.points.size(); ++i) {
    const CompliantPoint& point = end.points[i];
    const Contact& contact = end.contacts[point.contact];
    if (point.force.mode == ContactMode::kOpen) continue;
    if (tree_of(contact.body_a) != t && tree_of(contact.body_b) != t) continue;
    const DualForce force = force_at(
        input, end, point, derivatives[i], t, dual, extensions == nullptr ? nullptr : extension);
    for (int k = 0; extensions != nullptr && k < count; ++k) {
      for (int r = 0; r < 3; ++r)
        extensions[(3 * i + r) * matrix.stride + matrix.place[first + k]] = extension[k][r];
    }
    const bool couples = point.compliance.has_couples();
    for (const int body : {contact.body_a, contact.body_b}) {
      if (body < 0) continue;
      const double sign = body == contact.body_b ? 1.0 : -1.0;
      if (tree_of(body) != t) {
        add_foreign_rows(scene, end, body, force, couples, sign, first, count, matrix);
        continue;
      }
      const int local = body - scene.trees()[t].body_offset;
      const Vec3<Direction> f = force.force * Direction(sign);
      const Vec3<Direction> origin = dual.data.X_WR * dual.data.X_RB[local].p;
      Vec3<Direction> moment = cross(force.point - origin, f);
      if (couples) moment += force.couple * Direction(sign);
      add_external_wrench(local, f, moment, dual.data);
    }
  }
}

}  // namespace

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

/// The same of a point with couples: theta = -part h w too.
static void add_touching_couples(const CompliantPoint& point,
                                 const Vec3d& way_T,
                                 double before,
                                 PointWrenchDerivatives& by) {
  const double depth = -point.motion.gap, sum = depth + before;
  const double part = depth / sum, part_rate = before / (sum * sum);
  const double by_part = -point.compliance.damping * point.motion.velocity.z * part_rate;
  const double load = 1.0 + by_part / -by.force.displacement.c2.z;
  const Vec3d &v = point.motion.velocity, &w = point.motion.spin;
  Mat3d& D = by.couple.displacement;
  const Vec3d damper = by.couple.velocity * Vec3d{v.x, v.y, 0.0} + by.couple_by_turn.velocity * w;
  D.c2 = D.c2 * load - (D.c0 * way_T.x + D.c1 * way_T.y) * part_rate - damper * (part_rate / part);
  D.c0 = D.c0 * part;
  D.c1 = D.c1 * part;
  add_touching(point, way_T, before, by.force);
  by.force.displacement.c2 -= by.force_by_turn.velocity * w * (part_rate / part);
}

void settle_end(const CompliantInput& input,
                const CompliantSystem& start,
                CompliantSystem& end,
                EndDerivatives& derivatives,
                const std::vector<std::uint8_t>* frictionless) {
  const CompliantLaw law = input.settings.chosen_law();
  derivatives.resize(end.points.size());
  const auto slips = [&](int body) {
    return body >= 0 && frictionless != nullptr &&
           (*frictionless)[input.scene.tree_of_body(body)] != 0;
  };
  for (std::size_t i = 0; i < end.points.size(); ++i) {
    CompliantPoint& point = end.points[i];
    const Contact& contact = end.contacts[point.contact];
    PointMotion& motion = point.motion;
    const Vec3d normal = to_anchor_axes(input.scene, end, point, {0, 0, 1});
    const Vec3d way = way_between(input.scene, point, normal, start.dynamics, end.dynamics);
    const double before = contact.gap - dot(normal, way), depth = -contact.gap;
    const bool inside_now = before > 0.0 && depth >= 0.0;
    const bool touched = law == CompliantLaw::kContinuous && inside_now;
    const double part = depth / (depth + before);
    PointCompliance c = point.compliance;
    if (slips(contact.body_a) || slips(contact.body_b)) c.friction = 0.0;
    if (touched) {
      c.damping *= part;
      c.tangential_damping *= part;
    }
    Vec3d way_T = to_contact(input.scene, end, point, way);
    if (point.kind != PointKind::kMaterial && c.has_sliding_spring()) {
      way_T = motion.velocity * input.h;
      const double stretched = touched ? part : inside_now ? 0.0 : 1.0;
      motion.extension.x -= stretched * way_T.x;
      motion.extension.y -= stretched * way_T.y;
    }
    const bool couples = c.has_couples();
    const double turned = touched ? part * input.h : input.h;
    if (couples) motion.turn -= resisted(c, motion.spin) * turned;
    point.force = compliant_force(law, c, motion);
    PointForceDerivatives& by = derivatives[i].force;
    if (couples) {
      PointWrenchDerivatives& all = derivatives[i];
      all = compliant_wrench_derivatives(c, motion, point.force);
      for (PointForceDerivatives* x : {&all.force_by_turn, &all.couple_by_turn}) {
        for (int r = 0; r < 3; ++r) x->velocity.column(r) += x->displacement.column(r) * turned;
      }
    } else {
      by = compliant_force_derivatives(law, c, motion, point.force);
    }
    if (point.force.mode == ContactMode::kOpen) continue;
    if (touched && couples) {
      add_touching_couples(point, way_T, before, derivatives[i]);
    } else if (touched) {
      add_touching(point, way_T, before, by);
    } else if (inside_now) {  // the published spring is at rest wherever it is first seen inside
      by.displacement = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    }
  }
}

void end_residual(const Trial& trial,
                  CompliantSystem& end,
                  std::vector<Motion<double>>& scratch,
                  double* r) {
  const CompliantInput& input = trial.input;
  const State& state = trial.state;
  const Scene& scene = input.scene;
  std::vector<double>& a = end.acceleration;
  for (int k = 0; k < scene.nv(); ++k) a[k] = (trial.nu[k] - state.v[k]) / input.h;
  turn_axes(scene, state.q.data(), end.here.q.data(), a.data(), a.data());
  list_wrenches(scene, end);
  joint_forces(scene,
               input.parameters,
               end.here.q.data(),
               end.here.v.data(),
               input.control,
               0.0,
               end.dynamics);
  end.known.forget();  // accelerations follow
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

void end_columns(const Trial& trial,
                 const CompliantSystem& end,
                 const EndDerivatives& derivatives,
                 int t,
                 DualTree& dual,
                 const IslandMatrix& matrix,
                 Seed seed,
                 double* extensions) {
  const CompliantInput& input = trial.input;
  const Tree& tree = input.scene.trees()[t];
  const TreeView& view = end.dynamics.views[t];
  const Parameters& p = input.parameters;
  dual.take(tree, tree_parameters(tree, t, p));
  for (int first = 0; first < tree.nv; first += kDirections) {
    const int count = std::min(kDirections, tree.nv - first);
    dual.move(view,
              input.h,
              trial.state.q.data() + tree.q_offset,
              trial.state.v.data() + tree.v_offset,
              trial.nu + tree.v_offset,
              first,
              seed);
    for (const ExternalWrench& w : input.control.wrenches) {
      if (input.scene.tree_of_body(w.body) != t) continue;
      add_external_wrench(w.body - tree.body_offset,
                          lift<Direction>(w.force),
                          lift<Direction>(w.moment),
                          dual.data);
    }
    if (seed != Seed::kStartVelocity)
      add_point_forces(
          input, end, derivatives, t, tree.v_offset + first, count, dual, matrix, extensions);
    bias_forces(view, dual.data);
    for (int k = 0; k < tree.nv; ++k) {
      const int dof = tree.v_offset + k;
      const bool free = !end.dynamics.saturated[dof];
      const double rate = p.damping[dof] + (free ? p.kd[dof] : 0.0);
      double* row = matrix.row(dof);
      for (int i = 0; i < count; ++i) {
        row[matrix.place[tree.v_offset + first + i]] +=
            dual.data.bias[k].d[i] + p.armature[dof] * dual.a[k].d[i] + rate * dual.v[k].d[i];
      }
      const double stiffness = p.spring_stiffness[dof] + (free ? p.kp[dof] : 0.0);
      if (k >= first && k < first + count && seed != Seed::kStartVelocity)
        row[matrix.place[dof]] += (seed == Seed::kStart ? 1.0 : input.h) * stiffness;
    }
  }
}

}  // namespace stiction
