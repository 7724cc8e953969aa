#include "stiction/simulator/simulator.hpp"

#include "stiction/model/state_io.hpp"

#include "contact/closure_curvature.hpp"
#include "contact/project_closures.hpp"
#include "integrator/keep_recovery_speeds.hpp"
#include "integrator/semi_implicit_euler.hpp"
#include "solver/common/impact_law.hpp"

#include <algorithm>
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
  if (sleeping.enabled && project_closures) {
    throw std::invalid_argument(
        "sleeping and project_closures: closures that sleep cannot be projected, take one of them");
  }
}

Simulator::Simulator(const Scene& scene, const SimulatorSettings& settings)
    : scene_(scene),
      fingerprint_(scene.fingerprint()),
      settings_(settings),
      parameters_(scene.parameters) {
  settings_.validate();
  scene_.validate(parameters_);
  dynamics_.resize(scene_);
  other_.resize(scene_);
  if (settings_.project_closures) loops_.resize(scene_);
  collision_.resize(scene_);
  other_collision_.resize(scene_);
  if (settings_.impact_law == "newton-dissipative") impact_ = std::make_shared<ImpactWork>();
  integrator_ = find_integrator(settings_.integrator).step;
  if (integrator_ == nullptr) return;
  check_stiffness();
  compliant_.resize(scene_);
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

void Simulator::prepare(State& state, const Control& control) {
  check_sizes(state, control);
  if (integrator_ != nullptr) {
    throw std::invalid_argument("integrator \"" + settings_.integrator +
                                "\" has no contact problem to prepare: take semi-implicit-euler");
  }
  const double dt = settings_.dt;
  before_ = state;
  find_awake_contacts(state, control);
  compute_dynamics(scene_, parameters_, state.q.data(), state.v.data(), control, dt, dynamics_);
  build_problem(scene_,
                parameters_,
                state,
                contacts_,
                settings_.contact,
                dt,
                dynamics_,
                rows_,
                problem_,
                solution_.impulse);
  if (settings_.project_closures) {
    add_closure_curvature({scene_, parameters_, state, settings_.contact, dt, dynamics_, rows_},
                          control,
                          dynamics_,
                          problem_,
                          loops_);
  }
  warm_start_ = solution_.impulse;
  prepared_ = true;
}

/// Kinematics and contacts. An island that is touched takes part in this step already.
void Simulator::find_awake_contacts(State& state, const Control& control) {
  if (settings_.sleeping.enabled) {
    wake_changed(scene_, control, state, dynamics_, sleep_);
  } else {
    state.rest.clear();
  }
  forward_kinematics(scene_, parameters_, state.q.data(), state.v.data(), dynamics_);
  const auto find = [&] {
    collide(scene_,
            parameters_,
            dynamics_,
            settings_.collision,
            settings_.dt,
            state,
            collision_,
            contacts_);
  };
  find();
  while (wake_touched(scene_, contacts_, state, dynamics_)) {
    state.queries = before_.queries;
    find();
  }
}

const StepReport& Simulator::step(State& state, const Control& control) {
  if (integrator_ != nullptr) {
    compliant_step(state, control);
    return publish(state);
  }
  prepare(state, control);
  solution_.penalty = state.penalty;
  solve(problem_, settings_.solver, solver_, solution_);
  keep_recovery_speeds(
      {scene_, parameters_, state, settings_.contact, settings_.dt, dynamics_, rows_},
      settings_.solver,
      problem_,
      solver_,
      recovery_work_,
      solution_);
  if (impact_ != nullptr)
    apply_impact_law(settings_.solver, rows_, problem_, solver_, *impact_, solution_);
  take_safe_answer();
  state.penalty = solution_.penalty;
  finish(state);
  return publish(state);
}

const StepReport& Simulator::advance(State& state, const std::vector<double>& impulse) {
  if (!prepared_) throw std::invalid_argument("advance: call prepare() with this state before");
  if (static_cast<int>(impulse.size()) != problem_.num_rows()) {
    throw std::invalid_argument("impulse has " + std::to_string(impulse.size()) +
                                " entries: the problem has " + std::to_string(problem_.num_rows()) +
                                " rows");
  }
  solution_ = {};
  solution_.impulse = impulse;
  solution_.velocity.resize(impulse.size());
  solution_.residuals = residuals(problem_, impulse.data(), solution_.velocity.data());
  solution_.model_residuals = solution_.residuals;
  if (!(solution_.residuals.relative <= settings_.solver.tolerance))
    solution_.status = SolveStatus::kMaxIterations;
  return finish(state);
}

const StepReport& Simulator::finish(State& state) {
  prepared_ = false;
  apply_impulses(rows_, scene_, solution_.impulse, dynamics_);
  semi_implicit_euler(scene_, parameters_, settings_.dt, dynamics_, state);
  store_impulses(scene_, contacts_, dynamics_, rows_, solution_.impulse, settings_.dt, state);
  if (settings_.project_closures) {
    end_flight(scene_, parameters_, settings_.dt, loops_, state);
    project_closures(scene_, parameters_, settings_.contact, settings_.dt, loops_, state);
  }
  if (settings_.sleeping.enabled)
    fall_asleep(scene_, settings_.sleeping, settings_.dt, rows_, sleep_, state);

  fill_report();
  return take_back_if_bad(state);
}

/// Only whole steps with finite ends count. Warm starts go back too: they may hold the NaN.
const StepReport& Simulator::take_back_if_bad(State& state) {
  if (!(std::isfinite(state.q.sum()) && std::isfinite(state.v.sum())))
    report_.status = StepStatus::kNotFinite;
  if (settings_.solver.interrupt.requested()) report_.status = StepStatus::kInterrupted;
  if (!report_.whole()) state = before_;
  return report_;
}

const StepReport& Simulator::run(State& state, const Control& control, int steps) {
  for (int k = 0; k < steps; ++k) {
    if (!step(state, control).whole()) break;
  }
  return report_;
}

void Simulator::fill_report() {
  StepReport& r = report_;
  r.solver_status = solution_.status;
  const bool solved = r.solver_status == SolveStatus::kConverged ||
                      r.solver_status == SolveStatus::kRoundingLimited;
  r.status = solved ? StepStatus::kOk : StepStatus::kNotConverged;
  if (r.solver_status == SolveStatus::kNotFinite) r.status = StepStatus::kNotFinite;
  r.residuals = solution_.residuals;
  r.iterations = solution_.iterations;
  r.factorisations = solution_.factorisations;
  r.safe_islands = std::exchange(safe_islands_, 0);
  r.num_contacts = static_cast<int>(contacts_.size());
  r.num_rows = problem_.num_rows();
  r.num_islands = problem_.num_islands();
  r.num_asleep = dynamics_.num_asleep;
  r.penetration = r.creep = r.kinetic_energy = r.potential_energy = r.elastic_energy = 0.0;
  r.error_estimate = 0.0;
  r.switches = 0;
  r.recovery_energy = recovery_energy(rows_, solution_.impulse, solution_.velocity);
  for (const Contact& c : contacts_) r.penetration = std::max(r.penetration, -c.gap);
  int offset = 0;
  for (const ConstraintRow& row : rows_.rows) {
    const double* l = solution_.impulse.data() + offset;
    const double* c = solution_.velocity.data() + offset;
    offset += row.set.dim;
    if (row.source != RowSource::kContact) continue;
    r.elastic_energy += elastic_energy(contacts_[row.index], row, settings_.contact, settings_.dt);
    if (l[2] > 0.0 && !on_cone(row.set.friction, l)) {
      r.creep = std::max(r.creep, std::sqrt(c[0] * c[0] + c[1] * c[1]));
    }
  }
  for (const TreeData<double>& t : dynamics_.trees) {
    r.kinetic_energy += t.kinetic_energy;
    r.potential_energy += t.potential_energy;
  }
}

RolloutLog Simulator::rollout(State& state, const Control& base, const RolloutInput& input) {
  const auto check = [&](const char* name, const auto& m) {
    if (m.size() != 0 && m.cols() != scene_.nv()) {
      throw std::invalid_argument(std::string("rollout.") + name + " has " +
                                  std::to_string(m.cols()) +
                                  " columns: the scene has nv = " + std::to_string(scene_.nv()));
    }
  };
  check("taus", input.taus);
  check("position_targets", input.position_targets);
  validate_whole_state(scene_, state);
  int steps = input.steps;
  if (input.taus.size()) steps = static_cast<int>(input.taus.rows());
  if (input.position_targets.size()) steps = static_cast<int>(input.position_targets.rows());
  if (input.taus.size() && input.taus.rows() != steps) {
    throw std::invalid_argument(
        "rollout.taus and rollout.position_targets have different numbers of rows");
  }
  if (steps < 0)
    throw std::invalid_argument("rollout.steps = " + std::to_string(steps) + ": must be >= 0");
  RolloutLog log;
  log.q.resize(steps + 1, scene_.nq());
  log.v.resize(steps + 1, scene_.nv());
  log.reports.reserve(steps);
  log.q.row(0) = state.q;
  log.v.row(0) = state.v;
  Control control = base;
  for (int k = 0; k < steps; ++k) {
    if (input.taus.size()) control.torque = input.taus.row(k);
    if (input.position_targets.size()) control.position_target = input.position_targets.row(k);
    log.reports.push_back(step(state, control));
    log.q.row(k + 1) = state.q;
    log.v.row(k + 1) = state.v;
    log.steps = k + 1;
    if (!report_.whole()) break;
    if (input.stop_on_bad_status && report_.status != StepStatus::kOk) break;
  }
  log.q.conservativeResize(log.steps + 1, Eigen::NoChange);
  log.v.conservativeResize(log.steps + 1, Eigen::NoChange);
  return log;
}

const CollisionCounters& Simulator::find_contacts(State& state) {
  validate_whole_state(scene_, state);
  validate_scene_of(state, fingerprint_);
  forward_kinematics(scene_, parameters_, state.q.data(), state.v.data(), other_);
  collide(scene_,
          parameters_,
          other_,
          settings_.collision,
          settings_.dt,
          state,
          other_collision_,
          other_contacts_);
  return other_collision_.counters;
}

void Simulator::fill(Snapshot& out) {
  out.time = last_.time;
  out.q = last_.q;
  out.v = last_.v;
  out.contacts = contacts();
  forward_kinematics(scene_, parameters_, last_.q.data(), last_.v.data(), other_);
  out.body_poses.clear();
  for (int b = 0; b < scene_.num_bodies(); ++b)
    out.body_poses.push_back(body_placement(scene_, other_, b));
}

Snapshot Simulator::snapshot() {
  Snapshot out;
  if (last_.q.size() == scene_.nq() && last_.v.size() == scene_.nv()) fill(out);
  return out;
}

const StepReport& Simulator::publish(const State& state) {
  if (!report_.whole()) return report_;
  last_.time = state.time;
  last_.q = state.q;
  last_.v = state.v;
  if (watch_->wanted()) watch_->publish([this](Snapshot& out) { fill(out); });
  return report_;
}

std::vector<int> Simulator::asleep(const State& state) const {
  std::vector<int> bodies;
  for (int b = 0; b < scene_.num_bodies() && !state.rest.empty(); ++b) {
    if (state.rest[scene_.tree_of_body(b)].island >= 0) bodies.push_back(b);
  }
  return bodies;
}

std::vector<Transform> Simulator::body_poses(const State& state) {
  validate_scene_of(state, fingerprint_);
  forward_kinematics(scene_, parameters_, state.q.data(), state.v.data(), other_);
  std::vector<Transform> poses;
  for (int b = 0; b < scene_.num_bodies(); ++b) poses.push_back(body_placement(scene_, other_, b));
  return poses;
}

}  // namespace stiction
