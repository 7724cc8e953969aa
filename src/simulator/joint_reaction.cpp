#include "stiction/simulator/simulator.hpp"

#include "dynamics/free_root.hpp"
#include "simulator/step_kind.hpp"

#include <algorithm>
#include <stdexcept>

// Accelerations of the last step, and what its joints carry: free-body balances of what lies beyond
// a joint, by which no law of the joint itself enters (R. Featherstone, Rigid Body Dynamics
// Algorithms, section 5.3, with the acceleration that the step had).

namespace stiction {
namespace {

/// The bodies beyond the joint of `body`, itself first, by scene body.
std::vector<bool> carried_by(const Scene& scene, int body) {
  const Tree& tree = scene.trees()[scene.tree_of_body(body)];
  std::vector<bool> out(scene.num_bodies(), false);
  out[body] = true;
  for (int b = body - tree.body_offset + 1; b < tree.num_bodies; ++b)
    out[tree.body_offset + b] = tree.parent[b] >= 0 && out[tree.body_offset + tree.parent[b]];
  return out;
}

/// Forces from outside on what is carried, about one point.
struct Load {
  const std::vector<bool>& carried;
  Vec3d about;
  BodyWrench sum{};

  bool has(int body) const { return body >= 0 && carried[body]; }
  void add(int body, const Vec3d& point, const Vec3d& force, const Vec3d& moment) {
    if (!has(body)) return;
    sum.force += force;
    sum.moment += moment + cross(point - about, force);
  }
};

/// Closures between what is carried and something else; within it their forces cancel.
bool opens(const Closure& closure, const Load& load) {
  return load.has(closure.body_a) != load.has(closure.body_b);
}

/// The impulses of closures are in axes of frame A, on B at frame B and the reverse on A at A.
void add_closures(const Scene& scene,
                  const Parameters& p,
                  const StepRecord& record,
                  const SceneMotion& motion,
                  double dt,
                  Load& load) {
  int offset = 0;
  for (const ConstraintRow& row : record.rows.rows) {
    const double* l = record.solution.impulse.data() + offset;
    offset += row.set.dim;
    if (row.source != RowSource::kClosure) continue;
    const Closure& c = scene.closures()[row.index];
    if (!opens(c, load)) continue;
    const Transform X_WA = motion.pose(c.body_a) * p.closure_X_A[row.index];
    const Transform X_WB = motion.pose(c.body_b) * p.closure_X_B[row.index];
    const Vec3d f = X_WA.R * Vec3d{l[0], l[1], l[2]} * (1.0 / dt);
    const bool weld = c.kind == Closure::Kind::kWeld;
    const Vec3d m = weld ? X_WA.R * Vec3d{l[3], l[4], l[5]} * (1.0 / dt) : Vec3d{0, 0, 0};
    load.add(c.body_b, X_WB.p, f, m);
    load.add(c.body_a, X_WA.p, -f, -m);
  }
}

}  // namespace

SceneMotion Simulator::motion() const { return motion_of(nullptr); }

/// The last step's; with a record at the velocities of its biases, and without what the end of the
/// step does to fast trees and to kicked bodies.
SceneMotion Simulator::motion_of(const StepRecord* record) const {
  refuse_unless_whole("motion");
  if (last_count_ != step_count_)
    throw std::invalid_argument(
        "motion: gradients of a rollout have repeated its first step, whose end is not kept; call "
        "step() before");
  const Parameters& p = edits_.seen();
  Eigen::VectorXd end = last_.v, at = before_.v, a(scene_.nv());
  for (std::size_t t = 0; t < scene_.trees().size(); ++t) {
    const Tree& tree = scene_.trees()[t];
    const TreeView view = tree.view();
    const int first = tree.v_offset;
    // Back through the turn at the end of a step, see integrate_configuration().
    const Vec3d c = root_point(view, tree_parameters(tree, static_cast<int>(t), p));
    turn_root_velocity(view,
                       root_rotation(view, last_.q.data() + tree.q_offset),
                       root_rotation(view, before_.q.data() + tree.q_offset),
                       c,
                       end.data() + first);
    a.segment(first, tree.nv) =
        (end.segment(first, tree.nv) - before_.v.segment(first, tree.nv)) / settings_.dt;
    for (int k = first; record != nullptr && k < first + tree.nv; ++k) {
      if (record->dynamics.bias_at[t] == BiasAt::kMean) at[k] += 0.5 * record->dv[k];
      if (record->dynamics.fast[t] || record->dynamics.kicked[t])
        a[k] = record->dv[k] / settings_.dt;
    }
    if (!tree.free_root) continue;
    // That is the rate of the point's velocity in axes at rest; of its components in the body's:
    const double* v = at.data() + first;
    const Vec3d w{v[3], v[4], v[5]}, turned = cross(w, Vec3d{v[0], v[1], v[2]} + cross(w, c));
    for (int k = 0; k < 3; ++k) a[first + k] -= turned[k];
  }
  return {scene_, p, before_.q, at, a};
}

BodyWrench Simulator::joint_reaction(int body) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("joint_reaction: joint \"" + scene_.joint_names()[body] + "\" " +
                                why);
  };
  if (body < 0 || body >= scene_.num_bodies())
    throw std::invalid_argument("joint_reaction.body = " + std::to_string(body) +
                                ": must be in [0, " + std::to_string(scene_.num_bodies()) + ")");
  const int t = scene_.tree_of_body(body);
  const Tree& tree = scene_.trees()[t];
  if (tree.free_root && body == tree.body_offset) refuse("is free: it carries nothing");
  complete();
  const SceneMotion moving = motion_of(step_->rigid() != nullptr ? &step_->record() : nullptr);
  if (step_->asleep(t)) refuse("sleeps: its forces are not known");
  const Parameters& p = edits_.seen();
  const std::vector<bool> carried = carried_by(scene_, body);
  Load load{carried, moving.pose(body).p};
  const auto& closures = scene_.closures();
  if (std::any_of(
          closures.begin(), closures.end(), [&](const auto& c) { return opens(c, load); })) {
    if (step_->rigid() == nullptr || settings_.project_closures)
      refuse(
          "carries a closure, whose force is not known after a compliant step or with "
          "project_closures");
    add_closures(scene_, p, step_->record(), moving, settings_.dt, load);
  }
  for (const ContactReport& c : contacts()) {
    load.add(c.body_b, c.position, c.force_on_b_world, c.moment_on_b_world);
    load.add(c.body_a, c.position, -c.force_on_b_world, -c.moment_on_b_world);
  }
  for (const ExternalWrench& w : control_before_.wrenches)
    load.add(w.body, moving.pose(w.body).p, w.force, w.moment);
  BodyWrench out;
  for (int b = 0; b < scene_.num_bodies(); ++b) {
    if (!carried[b]) continue;
    const auto needed = moving.momentum_rate_less_weight(b, load.about);
    out.force += {needed[0], needed[1], needed[2]};
    out.moment += {needed[3], needed[4], needed[5]};
  }
  out.force -= load.sum.force;
  out.moment -= load.sum.moment;
  return out;
}

}  // namespace stiction
