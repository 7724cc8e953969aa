#include "integrator/compliant_substep.hpp"

#include "integrator/energy.hpp"
#include "model/contact_order.hpp"
#include "solver/workspace.hpp"

#include <algorithm>

namespace stiction {

void CompliantOutcome::begin() {
  std::vector<CompliantContact> kept;
  kept.swap(contacts);
  kept.clear();
  *this = {};
  contacts.swap(kept);
}

WorkAccount& CompliantWorkspace::account() { return rigid.solver.parts().account; }

void CompliantWorkspace::resize(const Scene& scene) {
  start.resize(scene);
  end.resize(scene);
  xi.assign(scene.nv(), 0.0);
  nu.assign(scene.nv(), 0.0);
  q.setZero(scene.nq());
  v.setZero(scene.nv());
  rigid.change.assign(scene.nv(), 0.0);
}

}  // namespace stiction

namespace stiction::compliance {

CompliantContact& report_point(const Contact& contact,
                               const Vec3d& impulse,
                               const Vec3d& velocity,
                               const Vec3d& extension,
                               ContactMode mode,
                               CompliantOutcome& outcome) {
  auto& list = outcome.contacts;
  auto it = std::lower_bound(
      list.begin(), list.end(), contact, [](const CompliantContact& c, const Contact& x) {
        return contact_before(c.contact, x);
      });
  if (it == list.end() || contact_before(contact, it->contact)) {
    it = list.insert(it, CompliantContact{});
    it->contact = contact;
  }
  it->impulse += impulse;
  it->velocity = velocity;
  it->extension = extension;
  it->mode = mode;
  return *it;
}

namespace {

/// theta of a point of the start: where it slides relaxed towards its couple, else less its way by
/// the mean of the angular velocities at both ends.
Vec3d turn_after(const CompliantInput& input,
                 const CompliantWorkspace& work,
                 const CompliantPoint& point) {
  const PointCompliance& c = point.compliance;
  const CompliantSystem& start = work.start;
  const PointMotion& motion = point.motion;
  if (point.force.mode == ContactMode::kSlide) {
    const Vec3d turn = relaxed_turn(c, motion.turn, point.force.couple, input.h);
    return to_anchor_axes(input.scene, start, point, turn);
  }
  const Contact& contact = start.contacts[point.contact];
  const Vec3d end =
      transpose_times(contact.frame, relative_spin(input.scene, work.end.dynamics, contact));
  const Vec3d way = resisted(c, motion.spin + end) * (0.5 * input.h);
  return to_anchor_axes(input.scene, start, point, settled_turn(c, motion, point.force) - way);
}

}  // namespace

Anchor anchor_after(const CompliantInput& input,
                    const CompliantWorkspace& work,
                    const CompliantPoint& point,
                    const Vec3d& force,
                    bool acts) {
  Anchor out;
  if (!acts) return out;
  if (point.compliance.has_couples()) out.turn = turn_after(input, work, point);
  if (!point.compliance.has_sliding_spring()) return out;
  const CompliantSystem& start = work.start;
  const bool published = start.law == CompliantLaw::kPublished;
  if (!published && point.force.mode == ContactMode::kSlide) {
    const Vec3d e = relaxed_extension(point.compliance, point.motion.extension, force, input.h);
    out.extension = to_anchor_axes(input.scene, start, point, e);
    return out;
  }
  out.extension = settled_anchor(input.scene, start, point).extension -
                  way_of(input, start, point, work.end.dynamics);
  if (published) return out;
  const Vec3d normal = to_anchor_axes(input.scene, start, point, {0, 0, 1});
  out.extension -= normal * dot(normal, out.extension);
  return out;
}

void remember_point(const CompliantInput& input,
                    const CompliantSystem& system,
                    const CompliantPoint& point,
                    const PointImpulse& impulse,
                    const Anchor& anchor,
                    CompliantWorkspace& work,
                    State& state) {
  const Contact& contact = system.contacts[point.contact];
  if (anchor.stretched()) {
    const auto place =
        std::lower_bound(state.contacts.begin(), state.contacts.end(), contact, contact_before);
    state.contacts.insert(place, memory_of(contact, anchor));
  }
  const Vec3d velocity = relative_velocity(input.scene, point, work.end.dynamics);
  CompliantContact& told = report_point(contact,
                                        impulse.force,
                                        to_contact(input.scene, system, point, velocity),
                                        to_contact(input.scene, system, point, anchor.extension),
                                        point.force.mode,
                                        work.outcome);
  if (!point.compliance.has_couples()) return;
  told.moment += impulse.couple;
  const Vec3d spin = relative_spin(input.scene, work.end.dynamics, contact);
  told.spin = resisted(point.compliance, transpose_times(contact.frame, spin));
}

double evaluation_work(const Scene& scene, const CompliantSystem& system) {
  constexpr double kPerDof = 200.0, kPerQuery = 1e4, kPerContact = 3e3;  // measured, of boxes
  return kPerDof * scene.nv() +
         kPerQuery * static_cast<double>(system.collision.counters.narrow_phase_calls) +
         kPerContact * static_cast<double>(system.found.size());
}

void report_energies(const CompliantInput& input,
                     const CompliantSystem& system,
                     CompliantOutcome& outcome) {
  if (outcome.has_energies) return;
  outcome.has_energies = true;
  const MechanicalEnergy energy = whole_energy(
      input.scene, input.parameters, system.dynamics, system.here.q.data(), system.here.v.data());
  outcome.kinetic_energy = energy.kinetic;
  outcome.potential_energy = energy.potential;
  outcome.elastic_energy = elastic_energy(system);
}

double elastic_energy(const CompliantSystem& system) {
  double sum = 0.0;
  for (const CompliantPoint& p : system.points) {
    if (p.force.mode == ContactMode::kOpen) continue;
    const Vec3d& e = p.motion.extension;
    const double depth = system.law == CompliantLaw::kPublished ? e.z : p.motion.gap;
    sum += 0.5 * p.compliance.stiffness * depth * depth +
           0.5 * p.compliance.tangential_stiffness * (e.x * e.x + e.y * e.y);
    const Vec3d &u = p.compliance.turning, &turn = p.motion.turn;
    for (int i = 0; i < 3 && p.compliance.has_couples(); ++i)
      sum += 0.5 * p.compliance.tangential_stiffness * (u[i] * u[i] * turn[i] * turn[i]);
  }
  return sum;
}

}  // namespace stiction::compliance
