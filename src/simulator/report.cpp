#include "stiction/simulator/report.hpp"

#include "stiction/simulator/simulator.hpp"

#include "dynamics/free_root.hpp"
#include "dynamics/joint_forces.hpp"
#include "simulator/look.hpp"
#include "simulator/step_kind.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

struct Momentum {
  Vec3d linear{0, 0, 0}, angular{0, 0, 0};
  double energy = 0.0;
};

/// Of all bodies at the kinematics held by `work`, about the world origin. The spin of a loose body
/// counts at the orientation of half a step ago, where its flight conserves it (loose_body.hpp),
/// or, under project_closures, at the node.
Momentum momentum(const Scene& scene,
                  const Parameters& p,
                  const State& state,
                  const DynamicsWorkspace& work,
                  const StepKind& step,
                  double dt) {
  Momentum out;
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    const TreeData<double>& data = work.trees[t];
    const bool half_way = is_loose_body(work.views[t]) && !step.ends_at_node(static_cast<int>(t));
    for (int b = 0; b < tree.num_bodies; ++b) {
      const int body = tree.body_offset + b;
      const Transform& X = data.X_RB[b];
      const Vec3d c = X * p.com[body];
      const Vec3d v = data.V[b].linear + cross(data.V[b].angular, c);
      const Vec3d w = data.V[b].angular, h = rotate(X.R, p.inertia[body]) * w;
      const Vec3d spin = half_way ? turned(w * (-0.5 * dt), h) : h;
      const Vec3d linear = data.X_WR.R * (v * p.mass[body]), c_W = data.X_WR * c;
      out.linear += linear;
      out.angular += data.X_WR.R * spin + cross(c_W, linear);
      out.energy +=
          0.5 * (p.mass[body] * dot(v, v) + dot(h, w)) - p.mass[body] * dot(p.gravity, c_W);
    }
  }
  out.energy += rotor_energy(p, state.v.data()) + spring_energy(scene, p, state.q.data());
  return out;
}

}  // namespace

const char* to_string(StepStatus status) {
  switch (status) {
    case StepStatus::kOk:
      return "ok";
    case StepStatus::kNotConverged:
      return "not_converged";
    case StepStatus::kNotFinite:
      return "not_finite";
    case StepStatus::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

void Simulator::refuse_unless_whole(const char* caller) const {
  if (!prepared_ && step_count_ > 0 && report().whole()) return;
  throw std::invalid_argument(std::string(caller) +
                              ": the last step is not whole; call step() before");
}

bool Simulator::sleeps(int body) const {
  return body >= 0 && step_->asleep(scene_.tree_of_body(body));
}

void Simulator::refuse_sleeper(const char* caller, int body) const {
  throw std::invalid_argument(std::string(caller) + ": body \"" + scene_.body_names()[body] +
                              "\" sleeps: its forces are not known");
}

BodyWrench Simulator::wrench_between(int body_a, int body_b, const Vec3d& point) {
  for (const int body : {body_a, body_b}) {
    if (body < -1 || body >= scene_.num_bodies())
      throw std::invalid_argument("wrench_between: body " + std::to_string(body) +
                                  ": must be in [-1, " + std::to_string(scene_.num_bodies()) + ")");
  }
  refuse_unless_whole("wrench_between");
  const bool awake_a = body_a >= 0 && !sleeps(body_a), awake_b = body_b >= 0 && !sleeps(body_b);
  for (const int body : {body_a, body_b}) {
    if (sleeps(body) && !awake_a && !awake_b) refuse_sleeper("wrench_between", body);
  }
  BodyWrench out;
  for (const ContactReport& c : contacts()) {
    const bool same = c.body_a == body_a && c.body_b == body_b;
    const bool swapped = c.body_a == body_b && c.body_b == body_a;
    if (!same && !swapped) continue;
    const double sign = same ? 1.0 : -1.0;
    const Vec3d f = c.force_on_b_world * sign;
    out.force += f;
    out.moment += cross(c.position - point, f) + c.moment_on_b_world * sign;
  }
  return out;
}

BodyWrench Simulator::wrench_on(int body) {
  if (body < 0 || body >= scene_.num_bodies()) {
    throw std::invalid_argument("wrench_on.body = " + std::to_string(body) + ": must be in [0, " +
                                std::to_string(scene_.num_bodies()) + ")");
  }
  refuse_unless_whole("wrench_on");
  if (sleeps(body)) refuse_sleeper("wrench_on", body);
  BodyWrench out;
  const std::vector<ContactReport> reports = contacts();
  if (reports.empty()) return out;
  look_->move(scene_, edits_.seen(), before_.q, before_.v);
  const Vec3d origin = body_placement(scene_, look_->dynamics, body).p;
  for (const ContactReport& c : reports) {
    if (c.body_a != body && c.body_b != body) continue;
    const double sign = c.body_b == body ? 1.0 : -1.0;
    const Vec3d f = c.force_on_b_world * sign;
    out.force += f;
    out.moment += cross(c.position - origin, f) + c.moment_on_b_world * sign;
  }
  return out;
}

Balance Simulator::balance(const State& after, const Control& control) {
  Balance out{};
  const Parameters& p = edits_.seen();  // of the step, whatever was written since
  look_->move(scene_, p, before_.q, before_.v);
  const double dt = settings_.dt;
  const Momentum before = momentum(scene_, p, before_, look_->dynamics, *step_, dt);
  Vec3d force{0, 0, 0}, moment{0, 0, 0};
  for (std::size_t b = 0; b < p.mass.size(); ++b) {
    if (step_->asleep(scene_.tree_of_body(static_cast<int>(b)))) continue;
    const Vec3d f = p.gravity * p.mass[b];
    const Vec3d c = body_placement(scene_, look_->dynamics, static_cast<int>(b)) * p.com[b];
    force += f;
    moment += cross(c, f);
  }
  for (const ExternalWrench& w : control.wrenches) {
    force += w.force;
    moment += w.moment + cross(body_placement(scene_, look_->dynamics, w.body).p, w.force);
  }
  for (const ContactReport& c : contacts()) {
    const double fixed = c.body_a < 0 ? 1.0 : c.body_b < 0 ? -1.0 : 0.0;
    force += c.force_on_b_world * fixed;
    moment += (cross(c.position, c.force_on_b_world) + c.moment_on_b_world) * fixed;
    out.friction_work += c.impulse.x * c.velocity.x + c.impulse.y * c.velocity.y +
                         dot(c.moment_impulse, c.angular_velocity);
    out.normal_work += c.impulse.z * c.velocity.z;
  }
  look_->move(scene_, p, after.q, after.v);
  const Momentum later = momentum(scene_, p, after, look_->dynamics, *step_, dt);
  out.linear_before = before.linear;
  out.angular_before = before.angular;
  out.energy_before = before.energy;
  out.linear_after = later.linear;
  out.angular_after = later.angular;
  out.energy_after = later.energy;
  out.linear_impulse = force * dt;
  out.angular_impulse = moment * dt;
  out.base_is_free = std::all_of(scene_.trees().begin(),
                                 scene_.trees().end(),
                                 [](const Tree& t) { return t.free_root; }) &&
                     std::none_of(scene_.closures().begin(),
                                  scene_.closures().end(),
                                  [](const Closure& c) { return c.body_a < 0 || c.body_b < 0; });
  return out;
}

}  // namespace stiction
