#include "simulator/compliant_step.hpp"

#include "stiction/math/lanes.hpp"

#include "contact/project_closures.hpp"
#include "integrator/end_by_impulses.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stiction {

/// A pair of rigid surfaces keeps its rigid contact beside the compliant ones: links of a robot
/// rarely have a stiffness. That no pair at all has one is a mistake.
static void check_stiffness(const Scene& scene, const std::string& integrator) {
  const int count = static_cast<int>(scene.geometries().size());
  std::string rigid;
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) {
      if (!scene.pair_enabled(a, b)) continue;
      if (std::isfinite(scene.pair_material(scene.parameters, a, b).stiffness)) return;
      if (rigid.empty())
        rigid = "\"" + scene.geometries()[a].name + "\" and \"" + scene.geometries()[b].name + "\"";
    }
  }
  if (rigid.empty()) return;
  throw std::invalid_argument(
      "integrator \"" + integrator + "\" needs a finite stiffness [N/m], but " + rigid +
      ", like every other pair, has stiffness = inf: give a material one, e.g. "
      "Material(stiffness=1e5, damping=300), or take integrator \"semi-implicit-euler\"");
}

CompliantStep::CompliantStep(const Scene& scene,
                             const SimulatorSettings& settings,
                             Integrator integrate)
    : StepKind(scene, settings), integrate_(integrate) {
  check_stiffness(scene, settings.integrator);
  work_.resize(scene);
}

/// Share of the work of a step that is kept for end_by_impulses().
static constexpr double kForImpulses = 0.4;

static CompliantInput of_length(CompliantInput input, double h) {
  input.h = h;
  return input;
}

void CompliantStep::step(const StepInput& input, State& state) {
  const auto& [scene, parameters, settings, control, before] = input;
  const CompliantInput substep{scene,
                               parameters,
                               control,
                               settings.compliant,
                               settings.contact,
                               settings.collision,
                               settings.solver,
                               settings.dt / settings.compliant.substeps};
  CompliantOutcome& outcome = work_.outcome;
  WorkAccount& account = work_.account();
  const WorkAccount::Scope scope(account, settings.solver);
  account.keep(kForImpulses);
  account.allow(0, 0.0);
  outcome.begin();
  for (int left = settings.compliant.substeps; left > 0; --left) {
    work_.unpaid = 0.0;
    integrate_(substep, state, work_);
    if (work_.unpaid > 0.0 || account.exhausted()) work_.unpaid += (left - 1) * substep.h;
    if (left == settings.compliant.substeps)
      compliance::report_energies(substep, work_.start, outcome);  // unless the integrator did so
    if (!(std::isfinite(state.q.sum()) && std::isfinite(state.v.sum()))) break;
    if (settings.solver.interrupt.requested()) break;
    if (work_.unpaid > 0.0) {
      account.keep(0.0);
      compliance::end_by_impulses(of_length(substep, work_.unpaid), state, work_);
      break;
    }
  }
  if (settings.project_closures)
    project_closures(scene, parameters, settings.contact, settings.dt, loops, state);
  outcome.work = account.spent();
  fill_report();
}

/// [m/s] Of the point and, in the units of its cone, of its turning.
static double creep(const CompliantContact& c) {
  const Material& m = c.contact.material;
  const double slides = length(c.velocity.x, c.velocity.y);
  if (m.torsional_friction == 0.0 && m.rolling_friction == 0.0) return slides;
  const Vec3d u = point_compliance(m, 1.0).turning, w = c.spin;
  return length(slides, norm(Vec3d{u.x * w.x, u.y * w.y, u.z * w.z}));
}

double CompliantStep::most_work() const { return work_.rigid.solver.parts().account.most(); }

void CompliantStep::fill_report() {
  const CompliantOutcome& outcome = work_.outcome;
  ContactSet& contacts = work_.rigid.contacts;
  report = outcome;
  report.num_contacts = static_cast<int>(outcome.contacts.size());
  contacts.clear();
  for (const CompliantContact& c : outcome.contacts) {
    contacts.push_back(c.contact);
    report.penetration = std::max(report.penetration, -c.contact.gap);
    if (c.mode == ContactMode::kStick) report.creep = std::max(report.creep, creep(c));
  }
  judge(outcome.converged);
}

void CompliantStep::contacts(double dt, std::vector<ContactReport>& out) const {
  out.clear();
  for (const CompliantContact& c : work_.outcome.contacts) {
    ContactReport& r = out.emplace_back(report_of(c.contact));
    r.impulse = c.impulse;
    r.velocity = c.velocity;
    r.extension = c.extension;
    r.force_on_b_world = c.contact.frame * c.impulse * (1.0 / dt);
    r.moment_impulse = c.moment;
    r.angular_velocity = c.spin;
    r.moment_on_b_world = c.contact.frame * c.moment * (1.0 / dt);
    r.sliding = c.mode == ContactMode::kSlide;
  }
}

}  // namespace stiction
