#include "contact/contact_axes.hpp"
#include "integrator/energy.hpp"
#include "simulator/rigid_step.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <utility>

// What a rigid step says of itself.

namespace stiction {

void RigidStep::fill_report(const StepInput& input) {
  const SimulatorSettings& settings = input.settings;
  const auto& [contacts, dynamics, rows, problem, warm_start, solution, dv] = record_;
  StepReport& r = report = {};
  r.solver_status = solution.status;
  r.residuals = solution.residuals;
  r.iterations = spent_.iterations + solution.iterations;
  r.factorisations = spent_.factorisations + solution.factorisations;
  const WorkAccount& account = solver_.parts().account;
  r.work = account.is_open() ? account.spent() : 0.0;
  r.tolerance = solution.tolerance;
  r.safe_islands = std::exchange(safe_islands_, 0);
  r.num_contacts = static_cast<int>(contacts.size());
  r.num_rows = problem.num_rows();
  r.num_islands = problem.num_islands();
  r.num_asleep = dynamics.num_asleep;
  r.num_fast_trees = static_cast<int>(std::count(dynamics.fast.begin(), dynamics.fast.end(), 1));
  r.recovery_energy = recovery_energy(rows, solution.impulse, solution.velocity);
  for (const Contact& c : contacts) r.penetration = std::max(r.penetration, -c.gap);
  int offset = 0;
  const double inside = inside_of_cone(settings.solver);
  const double loaded = std::max(kLeastLoadShare, inside) * largest_load();
  for (const ConstraintRow& row : rows.rows) {
    const double* l = solution.impulse.data() + offset;
    const double* c = solution.velocity.data() + offset;
    offset += row.set.dim;
    if (row.source != RowSource::kContact) continue;
    r.elastic_energy += elastic_energy(contacts[row.index], row, settings.contact, settings.dt);
    if (l[row.set.dim - 1] > loaded && !on_cone(row.set.friction, l, inside))
      r.creep = std::max(r.creep, slip(row.set.friction, c));
  }
  const MechanicalEnergy energy = whole_energy(
      input.scene, input.parameters, dynamics, input.before.q.data(), input.before.v.data());
  r.kinetic_energy = energy.kinetic;
  r.potential_energy = energy.potential;
  judge(true);
}

/// The largest normal impulse of a contact [N s].
double RigidStep::largest_load() const {
  double largest = 0.0;
  int offset = 0;
  for (const ConstraintRow& row : record_.rows.rows) {
    offset += row.set.dim;
    if (row.source == RowSource::kContact)
      largest = std::max(largest, record_.solution.impulse[offset - 1]);
  }
  return largest;
}

/// Where an island was held to `tolerance_large`, impulses of contacts that slide lie on their
/// cones to that.
double RigidStep::inside_of_cone(const SolverSettings& settings) const {
  constexpr double kExact = 1e-9;
  const double held = record_.solution.tolerance;
  return held > settings.tolerance ? std::max(kExact, held) : kExact;
}

void RigidStep::contacts(double dt, std::vector<ContactReport>& out) const {
  constexpr double kSlip =
      1e-6;  // [m/s], as in the certificate: below it, what is on its cone sticks
  out.assign(record_.contacts.size(), {});
  int offset = 0;
  for (const ConstraintRow& row : record_.rows.rows) {
    const int at = offset;
    offset += row.set.dim;
    if (row.source != RowSource::kContact) continue;
    const Contact& c = record_.contacts[row.index];
    const double* l = record_.solution.impulse.data() + at;
    const double* w = record_.solution.velocity.data() + at;
    ContactReport& r = out[row.index] = report_of(c);
    // The problem's velocity is relative to c* and carries R lambda: undo both.
    double moving[kMaxConeDim];
    for (int k = 0; k < row.set.dim; ++k)
      moving[k] = w[k] + row.reference[k] - row.compliance[k] * l[k];
    r.impulse = force_of(row.set, l);
    r.velocity = force_of(row.set, moving);
    r.velocity_change = row.curvature;
    r.moment_impulse = couple_of(row.set, l);
    r.angular_velocity = couple_of(row.set, moving);
    r.moment_on_b_world = c.frame * r.moment_impulse * (1.0 / dt);
    r.extension = next_extension(c, row, dt, l);
    r.force_on_b_world = c.frame * r.impulse * (1.0 / dt);
    r.sliding = on_cone(row.set.friction, l) && slip(row.set.friction, w) > kSlip;
  }
}

}  // namespace stiction
