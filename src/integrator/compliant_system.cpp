#include "integrator/compliant_system.hpp"

#include "collision/scene/touch.hpp"
#include "dynamics/mass_matrix.hpp"
#include "math/within_bounds.hpp"
#include "model/contact_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {

void CompliantSystem::resize(const Scene& scene) {
  dynamics.resize(scene);
  collision.resize(scene);
  acceleration.assign(scene.nv(), 0.0);
}

}  // namespace stiction

namespace stiction::compliance {
namespace {

/// Of a point on a half-space by what touches it.
PointKind kind_of(const Witness& witness) {
  switch (witness.kind) {
    case WitnessKind::kVertexFace:
    case WitnessKind::kFaceVertex:
      return PointKind::kMaterial;
    case WitnessKind::kRoundFace:
    case WitnessKind::kFaceRound:
      return PointKind::kRound;
    default:
      return PointKind::kGeneral;
  }
}

/// Point body, anchor body, kind and the point itself; moves contact.position to where the force
/// acts.
void classify(const Scene& scene,
              const DynamicsWorkspace& dynamics,
              Contact& contact,
              CompliantPoint& point) {
  const bool b_carries = b_carries_anchor(scene, contact);
  point.sign = b_carries ? -1.0 : 1.0;
  point.anchor_body = b_carries ? contact.body_b : contact.body_a;
  point.point_body = b_carries ? contact.body_a : contact.body_b;
  const int surface = b_carries ? contact.geometry_b : contact.geometry_a;
  const bool on_plane = scene.geometries()[surface].shape.type == ShapeType::kHalfSpace;
  point.kind = on_plane ? kind_of(contact.witness) : PointKind::kGeneral;
  // Contacts on a plane are given on it; the point body's own witness is their distance away along
  // its side of n.
  const Vec3d outward = contact.frame.c2 * point.sign;  // from the anchor body to the point body
  if (point.kind != PointKind::kGeneral) contact.position += outward * contact.distance();
  Vec3d arm{0, 0, 0};
  if (point.kind == PointKind::kRound) arm = outward * -contact.witness.radius;
  point.core = body_point(scene, dynamics, point.point_body, contact.position - arm);
  point.arm = body_vector(scene, dynamics, point.anchor_body, arm);
}

/// Points of a pair that share its stiffness: those within the margin (at rest) of the surface or,
/// while all are out, of the lowest of them. The force does not depend on the time step so, nor on
/// whether the pair lands at its end or within it.
double share_of(const CompliantInput& input, const ContactSet& contacts, std::size_t i) {
  if (input.contact.per_point_stiffness) return 1.0;
  const auto same = [&](std::size_t k) { return contacts[k].pair == contacts[i].pair; };
  std::size_t first = i, last = i + 1;
  while (first > 0 && same(first - 1)) --first;
  while (last < contacts.size() && same(last)) ++last;
  double lowest = contacts[i].gap;
  for (std::size_t k = first; k < last; ++k) lowest = std::min(lowest, contacts[k].gap);
  const double near = input.collision.margin + std::max(0.0, lowest);
  int count = 0;
  for (std::size_t k = first; k < last; ++k) count += contacts[k].gap <= near;
  return 1.0 / std::max(count, 1);
}

/// Extension of a point, contact frame, and how it turns. What touched on the way has not turned.
void find_extension(const CompliantInput& input,
                    const Contact& contact,
                    const std::vector<ContactMemory>& memory,
                    const CompliantSystem* start,
                    CompliantPoint& point,
                    const CompliantSystem& system) {
  const ContactMemory* kept = find_memory(memory, contact);
  Vec3d e = kept != nullptr ? kept->extension : Vec3d{0, 0, 0};
  bool goes_on = kept != nullptr;
  if (start != nullptr) {
    const Vec3d normal = to_anchor_axes(input.scene, system, point, {0, 0, 1});
    const Vec3d way = way_between(input.scene, point, normal, start->dynamics, system.dynamics);
    const double gap_before = contact.gap - dot(normal, way);
    goes_on = goes_on && !(gap_before > 0.0);
    const bool published = input.settings.chosen_law() == CompliantLaw::kPublished;
    if (!(gap_before > 0.0)) {
      e -= way;
    } else if (published) {
      e = {0, 0, 0};  // at rest where it is first seen inside
    } else {
      // Touched on the way: only what came after stretches the spring.
      e = way * (std::min(contact.gap, 0.0) / (gap_before - std::min(contact.gap, 0.0)));
    }
  }
  if (!point.compliance.has_sliding_spring()) e = {0, 0, 0};
  point.motion.extension = to_contact(input.scene, system, point, e);
  if (!point.compliance.has_couples()) return;
  const Vec3d spin = relative_spin(input.scene, system.dynamics, contact);
  point.motion.spin = transpose_times(contact.frame, spin);
  if (goes_on)
    point.motion.turn =
        resisted(point.compliance, to_contact(input.scene, system, point, kept->turn));
}

}  // namespace

Vec3d to_contact(const Scene& scene,
                 const CompliantSystem& system,
                 const CompliantPoint& point,
                 const Vec3d& x) {
  return transpose_times(system.contacts[point.contact].frame,
                         world_vector(scene, system.dynamics, point.anchor_body, x));
}

Vec3d to_anchor_axes(const Scene& scene,
                     const CompliantSystem& system,
                     const CompliantPoint& point,
                     const Vec3d& x) {
  return body_vector(
      scene, system.dynamics, point.anchor_body, system.contacts[point.contact].frame * x);
}

Anchor settled_anchor(const Scene& scene,
                      const CompliantSystem& system,
                      const CompliantPoint& point) {
  const PointCompliance& c = point.compliance;
  const auto anchored = [&](const Vec3d& x) { return to_anchor_axes(scene, system, point, x); };
  Anchor out;
  out.extension = anchored(settled_extension(system.law, c, point.motion, point.force));
  if (c.has_couples()) out.turn = anchored(settled_turn(c, point.motion, point.force));
  return out;
}

Vec3d relative_spin(const Scene& scene, const DynamicsWorkspace& dynamics, const Contact& contact) {
  const auto spin = [&](int body) -> Vec3d {
    if (body < 0) return {0, 0, 0};
    const int t = scene.tree_of_body(body);
    const TreeData<double>& data = dynamics.trees[t];
    return data.X_WR.R * data.V[body - scene.trees()[t].body_offset].angular;
  };
  return spin(contact.body_b) - spin(contact.body_a);
}

Vec3d way_between(const Scene& scene,
                  const CompliantPoint& point,
                  const Vec3d& normal,
                  const DynamicsWorkspace& from,
                  const DynamicsWorkspace& to) {
  const auto seen = [&](const DynamicsWorkspace& d) {  // the core in the anchor body's frame
    return body_point(
        scene, d, point.anchor_body, world_point(scene, d, point.point_body, point.core));
  };
  const Vec3d way = (seen(to) - seen(from)) * point.sign;
  return point.kind == PointKind::kMaterial ? way : normal * dot(normal, way);
}

Vec3d way_of(const CompliantInput& input,
             const CompliantSystem& start,
             const CompliantPoint& point,
             const DynamicsWorkspace& end) {
  const Vec3d normal = to_anchor_axes(input.scene, start, point, {0, 0, 1});
  const Vec3d way = way_between(input.scene, point, normal, start.dynamics, end);
  if (point.kind == PointKind::kMaterial) return way;
  const Vec3d mean = (relative_velocity(input.scene, point, start.dynamics) +
                      relative_velocity(input.scene, point, end)) *
                     0.5;
  return way + (mean - normal * dot(normal, mean)) * input.h;
}

Vec3d relative_velocity(const Scene& scene,
                        const DynamicsWorkspace& dynamics,
                        const Contact& contact) {
  const Vec3d b = point_velocity(scene, dynamics, contact.body_b, contact.position);
  const Vec3d a = point_velocity(scene, dynamics, contact.body_a, contact.position);
  return transpose_times(contact.frame, b - a);
}

Vec3d relative_velocity(const Scene& scene,
                        const CompliantPoint& point,
                        const DynamicsWorkspace& dynamics) {
  const Vec3d p = world_point(scene, dynamics, point.point_body, point.core) +
                  world_vector(scene, dynamics, point.anchor_body, point.arm);
  const Vec3d v = point_velocity(scene, dynamics, point.point_body, p) -
                  point_velocity(scene, dynamics, point.anchor_body, p);
  return body_vector(scene, dynamics, point.anchor_body, v) * point.sign;
}

void locate(const CompliantInput& input,
            const double* q,
            const double* v,
            const std::vector<ContactMemory>& memory,
            const CompliantSystem* start,
            double reach,
            CompliantSystem& system) {
  const Scene& scene = input.scene;
  State& here = system.here;
  here.q = Eigen::Map<const Eigen::VectorXd>(q, scene.nq());
  here.v = Eigen::Map<const Eigen::VectorXd>(v, scene.nv());
  // A stage or a trial that has blown up must come out as not finite, not as an exception of the
  // narrow phase.
  const bool finite = within_bounds(q, scene.nq()) && within_bounds(v, scene.nv());
  if (!finite) here.v.setConstant(std::numeric_limits<double>::quiet_NaN());
  forward_kinematics(scene, input.parameters, q, here.v.data(), system.known, system.dynamics);
  system.found.clear();
  CollisionSettings near = input.collision;  // what falls from rest comes closer too
  near.margin = std::max(near.margin, reach * reach * norm(input.parameters.gravity));
  if (finite)
    collide(scene,
            input.parameters,
            system.dynamics,
            near,
            reach,
            here,
            system.collision,
            system.found);
  system.contacts.clear();
  system.rigid.clear();
  system.points.clear();
  const CompliantLaw law = system.law = input.settings.chosen_law();
  for (std::size_t i = 0; i < system.found.size(); ++i) {
    if (!std::isfinite(system.found[i].material.stiffness)) {
      system.rigid.push_back(system.found[i]);
      continue;
    }
    Contact& contact = system.contacts.emplace_back(system.found[i]);
    CompliantPoint& point = system.points.emplace_back();
    point.contact = static_cast<int>(system.contacts.size()) - 1;
    classify(scene, system.dynamics, contact, point);
    point.compliance = point_compliance(contact.material, share_of(input, system.found, i));
    point.motion.gap = contact.gap;
    point.motion.velocity = relative_velocity(scene, system.dynamics, contact);
    find_extension(input, contact, memory, start, point, system);
    point.force = compliant_force(law, point.compliance, point.motion);
  }
  if (finite) move_to_touch(scene, reach, system.collision, system.rigid);
}

void locate_start(const CompliantInput& input, State& state, CompliantSystem& start) {
  start.here.queries = state.queries;
  locate(input, state.q.data(), state.v.data(), state.contacts, nullptr, input.h, start);
  state.queries = start.here.queries;
}

static bool same_axes(const Mat3d& a, const Mat3d& b) {
  return squared_norm(a.c0 - b.c0) + squared_norm(a.c1 - b.c1) + squared_norm(a.c2 - b.c2) == 0.0;
}

Mat3d carried_frame(const Scene& scene,
                    int anchor_body,
                    const DynamicsWorkspace& from,
                    const DynamicsWorkspace& to,
                    const Mat3d& given,
                    const Vec3d& normal) {
  const Mat3d turn = body_placement(scene, to, anchor_body).R *
                     transpose(body_placement(scene, from, anchor_body).R);
  const Mat3d frame = turn * given;
  const Vec3d w = cross(frame.c2, normal);
  const double c = dot(frame.c2, normal);
  if (!(c > -0.5)) return frame;  // no motion of a step: another side of the surface
  const auto turned = [&](const Vec3d& x) {
    const Vec3d wx = cross(w, x);
    return x + wx + cross(w, wx) * (1.0 / (1.0 + c));
  };
  return {turned(frame.c0), turned(frame.c1), normal};
}

void carry_frames(const Scene& scene, const CompliantSystem& start, CompliantSystem& end) {
  for (CompliantPoint& point : end.points) {
    Contact& contact = end.contacts[point.contact];
    const Contact* known = find_contact(start.contacts, contact);
    if (known == nullptr) continue;
    if (point.anchor_body < 0 && same_axes(known->frame, contact.frame)) continue;
    const Vec3d e = contact.frame * point.motion.extension,
                turn = contact.frame * point.motion.turn, spin = contact.frame * point.motion.spin;
    contact.frame = carried_frame(
        scene, point.anchor_body, start.dynamics, end.dynamics, known->frame, contact.frame.c2);
    point.motion.extension = transpose_times(contact.frame, e);
    point.motion.velocity = relative_velocity(scene, end.dynamics, contact);
    point.motion.turn = transpose_times(contact.frame, turn);
    point.motion.spin = transpose_times(contact.frame, spin);
  }
}

void list_wrenches(const Scene& scene, CompliantSystem& system) {
  system.wrenches.clear();
  for (const CompliantPoint& point : system.points) {
    if (point.force.mode == ContactMode::kOpen) continue;
    const Contact& contact = system.contacts[point.contact];
    const Vec3d f = contact.frame * point.force.force;
    const bool couples = point.compliance.has_couples();
    const auto act = [&](int body, double sign) {
      if (body < 0) return;
      const Vec3d arm = contact.position - body_placement(scene, system.dynamics, body).p;
      const Vec3d force = f * sign;
      system.wrenches.push_back({body, force, cross(arm, force)});
      if (couples) system.wrenches.back().moment += contact.frame * point.force.couple * sign;
    };
    act(contact.body_a, -1.0);
    act(contact.body_b, 1.0);
  }
}

void accelerate(const CompliantInput& input, bool with_forces, double s, CompliantSystem& system) {
  const Scene& scene = input.scene;
  system.wrenches.clear();
  if (with_forces) list_wrenches(scene, system);
  compute_acceleration(scene,
                       input.parameters,
                       system.here.q.data(),
                       system.here.v.data(),
                       input.control,
                       system.wrenches,
                       system.held,
                       s,
                       system.dynamics);
  system.acceleration = system.dynamics.free_motion;
  solve_scaled_lower(scene, system.dynamics, system.acceleration.data());
}

}  // namespace stiction::compliance
