#include "integrator/compliant_step.hpp"

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

void remember(const CompliantInput& input,
              const CompliantSystem& system,
              const std::vector<double>& impulse,
              const std::vector<Vec3d>& extension,
              CompliantWorkspace& work,
              State& state) {
  for (std::size_t i = 0; i < system.points.size(); ++i) {
    const CompliantPoint& point = system.points[i];
    const Contact& contact = system.contacts[point.contact];
    const Vec3d& e = extension[i];
    if (e.x != 0.0 || e.y != 0.0 || e.z != 0.0)
      state.contacts.push_back({contact.pair, contact.feature, {0, 0, 0}, e});
    const Vec3d velocity = carrier_velocity(input.scene, point, work.end.dynamics);
    report_point(contact,
                 {impulse[3 * i], impulse[3 * i + 1], impulse[3 * i + 2]},
                 transpose_times(contact.frame, from_carrier(input.scene, system, point, velocity)),
                 transpose_times(contact.frame, from_carrier(input.scene, system, point, e)),
                 point.force.mode,
                 work.outcome);
  }
  std::sort(state.contacts.begin(), state.contacts.end(), contact_before);
}

void report_energies(const CompliantSystem& system, CompliantOutcome& outcome) {
  if (outcome.has_energies) return;
  outcome.has_energies = true;
  for (const TreeData<double>& t : system.dynamics.trees) {
    outcome.kinetic_energy += t.kinetic_energy;
    outcome.potential_energy += t.potential_energy;
  }
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

}  // namespace stiction
