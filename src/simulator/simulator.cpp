#include "stiction/simulator/simulator.hpp"

#include "stiction/model/state_io.hpp"

#include "contact/surface_motion.hpp"
#include "derivatives/differentiator.hpp"
#include "math/assert.hpp"
#include "math/instruction_set.hpp"
#include "math/number_text.hpp"
#include "math/within_bounds.hpp"
#include "simulator/compliant_derivatives.hpp"
#include "simulator/integrators.hpp"
#include "simulator/inverse_step.hpp"
#include "simulator/look.hpp"
#include "simulator/rigid_step.hpp"
#include "simulator/rollout_adjoint.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace stiction {

void SimulatorSettings::validate() const {
  find_integrator(integrator);
  const SimulatorSettings defaults;
  solver.validate(defaults.solver);
  each_table(*this,
             defaults,
             [](const auto& table,
                const auto& settings,
                const auto& usual,
                const char* kind,
                const std::string& reader) {
               check_ranges(settings, table);
               refuse_unread(settings, usual, table, kind, reader);
             });
  if (solver.regularisation == RegularisationRule::kGiven) {
    throw std::invalid_argument(
        "regularisation is given by row, but the rows of a step change: take a rule");
  }
  if (smoothing > 0.0 && solver.name != "ncp-newton") {
    throw std::invalid_argument("smoothing: solver \"" + solver.name +
                                "\" does not read it; of ncp-newton");
  }
  if (sleeping.enabled && project_closures) {
    throw std::invalid_argument(
        "sleeping and project_closures: closures that sleep cannot be projected, take one of them");
  }
}

void Simulator::check_friction(const Parameters& p) const {
  const IntegratorEntry& integrator = find_integrator(settings_.integrator);
  const bool published =
      integrator.compliant && settings_.compliant.chosen_law() == CompliantLaw::kPublished;
  const bool known = integrator.couples && !published;
  if (known && find_solver(settings_.solver.name).largest_cone == kMaxConeDim) return;
  const auto check = [&](const char* prefix, const std::vector<Material>& materials, auto&& reach) {
    for (std::size_t i = 0; i < materials.size(); ++i) {
      const Material& m = materials[i];
      if (m.torsional_friction == 0.0 && m.rolling_friction == 0.0) continue;
      const int condim = reach(static_cast<int>(i));
      const bool rolls = m.rolling_friction != 0.0 && condim >= kCondimRolling;
      if (!rolls && (m.torsional_friction == 0.0 || condim < kCondimTorsional)) continue;
      const std::string reader =
          !integrator.couples ? "integrator \"" + settings_.integrator +
                                    "\" knows no couples of friction; take exponential, "
                                    "implicit-euler, rk4, explicit-euler, symplectic-euler or "
                                    "semi-implicit-euler, or 0"
          : published
              ? "law \"published\" knows no couples of friction; take \"continuous\", or 0"
              : "solver \"" + settings_.solver.name +
                    "\" knows no couples of friction; take ncp-newton, ncp-pgs, ncp-admm or a ccp "
                    "solver, or 0";
      throw std::invalid_argument(
          std::string("parameters.") + prefix +
          (rolls ? "rolling_friction[" : "torsional_friction[") + std::to_string(i) +
          "] = " + number_text(rolls ? m.rolling_friction : m.torsional_friction) + ": " + reader);
    }
  };
  check("", p.material, [&](int geometry) { return scene_.reach_of_friction(geometry); });
  check("pair_", p.pair_material, [](int) { return kCondimRolling; });
}

void Simulator::check_surfaces(const Parameters& p) const {
  if (!find_integrator(settings_.integrator).compliant) return;
  for (std::size_t g = 0; g < p.material.size(); ++g) {
    if (!surface_moves(p, static_cast<int>(g))) continue;
    throw std::invalid_argument("parameters.surface_velocity[" + std::to_string(g) +
                                "], geometry_velocity: integrator \"" + settings_.integrator +
                                "\" knows no surfaces that move; take semi-implicit-euler, or 0");
  }
}

Simulator::Simulator(const Scene& scene, const SimulatorSettings& settings)
    : scene_(scene),
      fingerprint_(scene.fingerprint()),
      settings_(settings),
      parameters_(scene.parameters),
      edits_(parameters_),
      look_(std::make_unique<Look>()) {
  settings_.validate();
  widest_instruction_set();
  scene_.validate(parameters_);
  check_friction(parameters_);
  check_surfaces(parameters_);
  step_ = find_integrator(settings_.integrator).make(scene_, settings_);
  look_->resize(scene_);
  control_before_.wrenches.reserve(scene_.num_bodies());
}
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator::~Simulator() = default;

const StepReport& Simulator::report() const { return step_->report; }
void Simulator::complete() const {
  if (!prepared_) step_->complete({scene_, edits_.seen(), settings_, control_before_, before_});
}
const StepRecord& Simulator::record() const {
  complete();
  return step_->record();
}
const ContactSet& Simulator::contact_set() const { return record().contacts; }
const ContactProblem& Simulator::problem() const { return record().problem; }
const ContactSolution& Simulator::solution() const { return record().solution; }
const std::vector<double>& Simulator::warm_start() const { return record().warm_start; }
const CollisionCounters& Simulator::collision_counters() const {
  complete();
  return step_->counters();
}
std::int64_t Simulator::most_factorisations() const {
  complete();
  return step_->most_factorisations(settings_.solver);
}
double Simulator::most_work() const {
  complete();
  return step_->most_work();
}
std::vector<ContactReport> Simulator::contacts() const {
  std::vector<ContactReport> out;
  contacts(out);
  return out;
}
void Simulator::contacts(std::vector<ContactReport>& out) const {
  complete();
  if (prepared_)
    throw std::invalid_argument("contacts: the step was prepared only; call advance() before");
  step_->contacts(settings_.dt, out);
}

RigidStep& Simulator::rigid_step() const {
  if (RigidStep* step = step_->rigid()) return *step;
  throw std::invalid_argument("integrator \"" + settings_.integrator +
                              "\" has no contact problem to prepare: take semi-implicit-euler");
}

State Simulator::initial_state(const std::string& configuration) const {
  const auto& named = scene_.configurations();
  const auto it = named.find(configuration);
  if (it != named.end()) return make_state(scene_, it->second);
  if (configuration == "default") return make_state(scene_, scene_.default_q());
  std::string names = "default";
  for (const auto& [name, q] : named) {
    if (name != "default") names += ", " + name;
  }
  throw std::invalid_argument("configuration \"" + configuration +
                              "\" is unknown; there are: " + names);
}

Control Simulator::hold(const std::string& configuration) const {
  const State state = initial_state(configuration);
  const std::vector<double> x =
      scene_.dof_positions({state.q.data(), state.q.data() + state.q.size()});
  Control control;
  control.torque = Eigen::VectorXd::Zero(scene_.nv());
  control.position_target = Eigen::Map<const Eigen::VectorXd>(x.data(), scene_.nv());
  control.velocity_target = Eigen::VectorXd::Zero(scene_.nv());
  return control;
}

void Simulator::check_control(const Control& control) const {
  const auto check = [&](const char* name, const Eigen::VectorXd& x) {
    if (x.size() == 0 || x.size() == scene_.nv()) return;
    throw std::invalid_argument(std::string("control.") + name + " has " +
                                std::to_string(x.size()) +
                                " entries: the scene has nv = " + std::to_string(scene_.nv()));
  };
  check("torque", control.torque);
  check("position_target", control.position_target);
  check("velocity_target", control.velocity_target);
  for (const ExternalWrench& w : control.wrenches) {
    if (w.body >= 0 && w.body < scene_.num_bodies()) continue;
    throw std::invalid_argument("control.wrenches has body " + std::to_string(w.body) +
                                ": must be in [0, " + std::to_string(scene_.num_bodies()) + ")");
  }
}

void Simulator::check_sizes(const State& state, const Control& control) const {
  check_control(control);
  if (state.q.size() != scene_.nq() || state.v.size() != scene_.nv() ||
      static_cast<int>(state.constraint_impulse.size()) != constraint_impulse_size(scene_)) {
    validate_state(scene_, state);
  }
  validate_scene_of(state, fingerprint_);
}

void Simulator::begin(const State& state, const Control& control) {
  before_ = state;
  control_before_ = control;
  ++step_count_;
}

void Simulator::look_at_parameters() {
  if (!lent_) return;
  if (edits_.edited(parameters_)) {
    check_friction(parameters_);
    check_surfaces(parameters_);
    edits_.look(parameters_);
  }
  parameters_.version = edits_.seen().version;
}

const StepReport& Simulator::step(State& state, const Control& control) {
  check_sizes(state, control);
  look_at_parameters();
  return take_step(state, control);
}

const StepReport& Simulator::step_unedited(State& state, const Control& control) {
  STICTION_ASSERT(!edited());
  check_sizes(state, control);
  return take_step(state, control);
}

const StepReport& Simulator::take_step(State& state, const Control& control) {
  begin(state, control);
  prepared_ = false;
  step_->step({scene_, parameters_, settings_, control, before_}, state);
  take_back_if_bad(state);
  return publish(state);
}

void Simulator::prepare(State& state, const Control& control) {
  RigidStep& step = rigid_step();
  check_sizes(state, control);
  look_at_parameters();
  begin(state, control);
  step.prepare({scene_, parameters_, settings_, control, before_}, state);
  prepared_ = true;
}

const StepReport& Simulator::advance(State& state, const std::vector<double>& impulse) {
  if (!prepared_) throw std::invalid_argument("advance: call prepare() with this state before");
  if (static_cast<int>(impulse.size()) != problem().num_rows()) {
    throw std::invalid_argument("impulse has " + std::to_string(impulse.size()) +
                                " entries: the problem has " +
                                std::to_string(problem().num_rows()) + " rows");
  }
  prepared_ = false;
  rigid_step().advance({scene_, parameters_, settings_, control_before_, before_}, impulse, state);
  take_back_if_bad(state);
  return publish(state);
}

/// Only whole steps with ends within bounds count. Warm starts go back too: they may hold the NaN.
const StepReport& Simulator::take_back_if_bad(State& state) {
  StepReport& report = step_->report;
  if (!(within_bounds(state.q.data(), scene_.nq()) && within_bounds(state.v.data(), scene_.nv())))
    report.status = StepStatus::kNotFinite;
  if (settings_.solver.interrupt.requested()) report.status = StepStatus::kInterrupted;
  if (!report.whole()) state = before_;
  return report;
}

const StepReport& Simulator::run(State& state, const Control& control, int steps) {
  if (steps < 1 || !step(state, control).whole()) return report();
  for (int k = 1; k < steps; ++k) {
    if (!step_unedited(state, control).whole()) break;
  }
  return report();
}

const CollisionCounters& Simulator::find_contacts(State& state) {
  validate_whole_state(scene_, state);
  validate_scene_of(state, fingerprint_);
  look_->move(scene_, parameters_, state.q, state.v);
  collide(scene_,
          parameters_,
          look_->dynamics,
          settings_.collision,
          settings_.dt,
          state,
          look_->collision,
          look_->contacts);
  return look_->collision.counters;
}

void Simulator::fill(Snapshot& out) {
  out.time = last_.time;
  out.q = last_.q;
  out.v = last_.v;
  out.contacts = contacts();
  look_->move(scene_, edits_.seen(), last_.q, last_.v);
  look_->body_poses(scene_, out.body_poses);
}

Snapshot Simulator::snapshot() {
  Snapshot out;
  if (last_.q.size() == scene_.nq() && last_.v.size() == scene_.nv()) fill(out);
  return out;
}

const StepReport& Simulator::publish(const State& state) {
  if (!report().whole()) return report();
  last_.time = state.time;
  last_.q = state.q;
  last_.v = state.v;
  last_count_ = step_count_;
  if (watch_->wanted()) watch_->publish([this](Snapshot& out) { fill(out); });
  return report();
}

std::vector<int> Simulator::asleep(const State& state) const {
  std::vector<int> bodies;
  for (int b = 0; b < scene_.num_bodies() && !state.rest.empty(); ++b) {
    if (state.rest[scene_.tree_of_body(b)].island >= 0) bodies.push_back(b);
  }
  return bodies;
}

std::vector<Transform> Simulator::body_poses(const State& state) {
  std::vector<Transform> poses;
  body_poses(state, poses);
  return poses;
}

void Simulator::body_poses(const State& state, std::vector<Transform>& poses) {
  validate_scene_of(state, fingerprint_);
  look_->move(scene_, parameters_, state.q, state.v);
  look_->body_poses(scene_, poses);
}

}  // namespace stiction
