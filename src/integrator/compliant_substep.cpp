#include "integrator/compliant_substep.hpp"

#include "dynamics/joint_forces.hpp"
#include "model/contact_order.hpp"

#include <algorithm>

namespace stiction {

void CompliantOutcome::begin() {
  std::vector<CompliantContact> kept;
  kept.swap(contacts);
  kept.clear();
  *this = {};
  contacts.swap(kept);
}

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

void report_point(const Contact& contact,
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
}

Vec3d extension_after(const CompliantInput& input,
                      const CompliantWorkspace& work,
                      const CompliantPoint& point,
                      const Vec3d& force,
                      bool acts) {
  if (!acts) return {0, 0, 0};
  const CompliantSystem& start = work.start;
  const bool published = start.law == CompliantLaw::kPublished;
  if (!published && point.force.mode == ContactMode::kSlide) {
    const Vec3d e = relaxed_extension(point.compliance, point.motion.extension, force, input.h);
    return to_anchor_axes(input.scene, start, point, e);
  }
  const Vec3d after =
      settled_anchor(input.scene, start, point) - way_of(input, start, point, work.end.dynamics);
  if (published) return after;
  const Vec3d normal = to_anchor_axes(input.scene, start, point, {0, 0, 1});
  return after - normal * dot(normal, after);
}

void remember_point(const CompliantInput& input,
                    const CompliantSystem& system,
                    const CompliantPoint& point,
                    const Vec3d& impulse,
                    const Vec3d& e,
                    CompliantWorkspace& work,
                    State& state) {
  const Contact& contact = system.contacts[point.contact];
  if (e.x != 0.0 || e.y != 0.0 || e.z != 0.0) {
    const auto place =
        std::lower_bound(state.contacts.begin(), state.contacts.end(), contact, contact_before);
    state.contacts.insert(place, {contact.pair, contact.feature, {0, 0, 0}, e});
  }
  const Vec3d velocity = relative_velocity(input.scene, point, work.end.dynamics);
  report_point(contact,
               impulse,
               to_contact(input.scene, system, point, velocity),
               to_contact(input.scene, system, point, e),
               point.force.mode,
               work.outcome);
}

void report_energies(const CompliantInput& input,
                     const CompliantSystem& system,
                     CompliantOutcome& outcome) {
  if (outcome.has_energies) return;
  outcome.has_energies = true;
  for (const TreeData<double>& t : system.dynamics.trees) {
    outcome.kinetic_energy += t.kinetic_energy;
    outcome.potential_energy += t.potential_energy;
  }
  outcome.potential_energy += spring_energy(input.scene, input.parameters, system.here.q.data());
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
  }
  return sum;
}

}  // namespace stiction::compliance
