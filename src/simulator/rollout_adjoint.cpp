#include "simulator/rollout_adjoint.hpp"

#include "derivatives/differentiator.hpp"
#include "derivatives/reach.hpp"
#include "simulator/step_kind.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument("adjoint: " + why); }

std::string shape(Eigen::Index rows, Eigen::Index columns) {
  return "[" + std::to_string(rows) + " x " + std::to_string(columns) + "]";
}

void check_cotangents(const RolloutCotangents& by, int steps, int nv) {
  const Eigen::Index rows = by.states.rows();
  if ((rows != 1 && rows != steps + 1) || by.states.cols() != 2 * nv)
    refuse("states is " + shape(rows, by.states.cols()) + ": must be [T+1 x 2 nv] = " +
           shape(steps + 1, 2 * nv) + ", or [1 x 2 nv] by the last state");
  if (by.taus.size() != 0 && (by.taus.rows() != steps || by.taus.cols() != nv))
    refuse("taus is " + shape(by.taus.rows(), by.taus.cols()) +
           ": must be [T x nv] = " + shape(steps, nv));
  if (!by.states.allFinite()) refuse("states has an entry that is not finite");
  if (by.taus.size() != 0 && !by.taus.allFinite()) refuse("taus has an entry that is not finite");
}

/// Trees of which `nonzero` holds for a dof.
template <class Nonzero>
void mark_trees(const Scene& scene, Nonzero&& nonzero, std::vector<char>& marked) {
  marked.assign(scene.trees().size(), 0);
  for (int k = 0; k < scene.nv(); ++k) {
    if (nonzero(k)) marked[scene.tree_of_dof(k)] = 1;
  }
}

bool any_of(const std::vector<char>& marked) {
  return std::find(marked.begin(), marked.end(), 1) != marked.end();
}

/// See RolloutGradientReport::touches_nothing. `controlled`: scratch.
bool nothing_reached(const Scene& scene,
                     const RolloutTape& tape,
                     const std::vector<char>& reached,
                     std::vector<char>& controlled) {
  const Parameters& p = tape.parameters;
  const RowMajorMatrix& taus = tape.input.taus;
  const Eigen::VectorXd& torque = tape.base.torque;
  mark_trees(
      scene,
      [&](int k) {
        return p.kp[k] > 0.0 || p.kd[k] > 0.0 ||
               (taus.size() ? !taus.col(k).isZero(0.0) : torque.size() != 0 && torque[k] != 0.0);
      },
      controlled);
  if (!any_of(controlled)) {
    for (std::size_t t = 0; t < controlled.size(); ++t)
      controlled[t] = !(scene.trees()[t].free_root && scene.trees()[t].num_bodies == 1);
  }
  bool both = false;
  for (std::size_t t = 0; t < controlled.size(); ++t) both = both || (controlled[t] && reached[t]);
  return any_of(reached) && any_of(controlled) && !both;
}

void count(const GradientReport& step, int k, RolloutGradientReport& out) {
  ++out.steps;
  out.gap_kinks += step.num_gap_kinks > 0;
  out.at_switch += step.num_at_switch > 0;
  out.not_unique += step.not_unique > 0;
  out.not_followed += step.num_not_followed > 0;
  out.undecided += step.num_undecided > 0;
  out.capped += step.num_capped > 0 || step.num_bounded_recoveries > 0;
  out.scaled_impacts += step.num_scaled_impacts > 0;
  out.swept += step.num_swept > 0;
  out.inexact += step.num_inexact > 0;
  out.contradicting += step.num_contradicting > 0;
  out.slowed += step.num_slowed > 0;
  out.safe += step.num_safe_islands > 0;
  out.saturated += step.num_saturated > 0;
  out.asleep += step.num_asleep > 0;
  out.kinks += step.num_kinks > 0;
  out.not_converged += step.num_not_converged > 0;
  out.by_differences += step.method != "exact";
  out.error_estimate = std::max(out.error_estimate, step.error_estimate);
  out.smallest_gap = std::min(out.smallest_gap, step.smallest_gap);
  if (step.smallest_margin() < out.smallest_margin) {
    out.smallest_margin = step.smallest_margin();
    out.smallest_margin_step = k;
  }
  if (step.smallest_pivot >= out.smallest_pivot) return;
  out.smallest_pivot = step.smallest_pivot;
  out.smallest_pivot_step = k;
}

std::string step_text(int k) { return "step " + std::to_string(k); }

/// Cotangents `by` of the springs `of`, by those of `springs`; of others zero.
void match_springs(const std::vector<SpringName>& of,
                   const Eigen::VectorXd& by,
                   const std::vector<SpringName>& springs,
                   Eigen::Ref<Eigen::VectorXd> out) {
  out.setZero();
  for (std::size_t i = 0; i < springs.size(); ++i) {
    const auto found = std::lower_bound(of.begin(), of.end(), springs[i]);
    if (found != of.end() && *found == springs[i])
      out.segment<3>(3 * i) = by.segment<3>(3 * (found - of.begin()));
  }
}

}  // namespace

Simulator::Adjoint& Simulator::begin_adjoint(const RolloutTape& tape,
                                             const RolloutCotangents& by,
                                             const std::vector<std::string>& parameters) {
  const int steps = tape.steps, nv = scene_.nv();
  if (tape.checkpoints.empty()) refuse("the tape is empty; give it to rollout() before");
  validate_scene_of(tape.checkpoints.front(), fingerprint_);
  if (tape.checkpoints.front().v.size() != nv) refuse("the tape is of another scene");
  if (tape.status > StepStatus::kNotConverged)
    refuse(step_text(steps - 1) + " ended with status " + to_string(tape.status));
  refuse_underived("adjoint");
  check_cotangents(by, steps, nv);
  if (const std::string name = first_difference(parameters_, tape.parameters); !name.empty())
    refuse("parameters." + name + " was edited after the rollout: repeat it, or undo the edit");
  complete();
  look_at_parameters();
  if (!adjoint_) adjoint_ = std::make_unique<Adjoint>();
  Adjoint& work = *adjoint_;
  if (static_cast<int>(work.starts.size()) < std::min(steps, tape.checkpoint_every))
    work.starts.resize(std::min(steps, tape.checkpoint_every));
  work.control = tape.base;
  work.cotangent = by.states.row(by.states.rows() - 1);
  for (RowMajorMatrix* m : {&work.out.taus, &work.out.position_targets, &work.out.velocity_targets})
    m->setZero(steps, nv);
  work.parameters = parameters;
  const DerivativeInput first{scene_,
                              tape.parameters,
                              settings_.contact,
                              settings_.dt,
                              tape.base,
                              tape.checkpoints.front(),
                              record()};
  work.out.parameters.setZero(find_parameter_ranges(first, parameters, work.out.ranges));
  work.springs.clear();
  work.by_springs.resize(0);
  work.out.report = {};
  work.out.interrupted = false;
  const auto by_dof = [&](int k) {
    return !by.states.col(k).isZero(0.0) || !by.states.col(nv + k).isZero(0.0);
  };
  mark_trees(scene_, by_dof, work.reached);
  return work;
}

/// Marks the trees that the last step links to marked ones.
void Simulator::spread_reach(Adjoint& work) {
  if (step_->rigid() != nullptr) {
    stiction::spread_reach(derivative_input(), differentiator().linearisation(), work.reached);
    return;
  }
  const auto tree = [&](std::uint64_t geometry) {
    const int body = scene_.geometries()[geometry].body;
    return body < 0 ? -1 : scene_.tree_of_body(body);
  };
  for (bool more = true; more;) {
    more = false;
    for (const SpringName& s : work.springs)
      more = link_trees(tree(s.pair >> 32), tree(s.pair & 0xffffffffu), work.reached) || more;
    for (const ConstraintRow& row : record().rows.rows) {
      if (row.num_sides == 2)
        more = link_trees(row.sides[0].tree, row.sides[1].tree, work.reached) || more;
    }
  }
}

/// A step of the past, which nobody watches.
void Simulator::repeat(const State& start, const Control& control, State& end) {
  begin(start, control);
  prepared_ = false;
  end = start;
  step_->step({scene_, parameters_, settings_, control, before_}, end);
  take_back_if_bad(end);
}

/// The states before each step of [first, last), from the first one. False: interrupted.
bool Simulator::repeat_segment(const RolloutTape& tape, int first, int last, Adjoint& work) {
  work.starts[0] = tape.checkpoints[first / tape.checkpoint_every];
  for (int k = first; k + 1 < last; ++k) {
    control_of(tape.input, k, work.control);
    repeat(work.starts[k - first], work.control, work.starts[k + 1 - first]);
    if (report().status == StepStatus::kInterrupted) return false;
  }
  return true;
}

/// Cotangents from the end of step k to its start. False: interrupted.
bool Simulator::take_back_step(const RolloutTape& tape, int k, const State& start, Adjoint& work) {
  control_of(tape.input, k, work.control);
  repeat(start, work.control, work.end);
  if (report().status == StepStatus::kInterrupted) return false;
  const int nv = scene_.nv();
  const StepGradient* found = [&]() -> const StepGradient* {
    try {
      const GradientReport& step = gradient_report();
      count(step, k, work.out.report);
      work.by_end.resize(2 * nv + 3 * static_cast<Eigen::Index>(step.springs.size()));
      work.by_end.head(2 * nv) = work.cotangent;
      match_springs(
          work.springs, work.by_springs, step.springs, work.by_end.tail(3 * step.springs.size()));
      work.springs = step.springs;
      return &vjp(work.by_end, work.parameters);
    } catch (const Interrupted&) {
      return nullptr;
    } catch (const std::invalid_argument& e) {
      refuse(step_text(k) + ": " + e.what());
    }
  }();
  if (found == nullptr) return false;
  const StepGradient& g = *found;
  work.out.report.parameter_kinks += gradient_report().num_parameter_kinks > 0;
  spread_reach(work);
  work.by_springs = g.springs;
  work.cotangent.head(nv) = g.q;
  work.cotangent.tail(nv) = g.v;
  work.out.taus.row(k) = g.torque;
  work.out.parameters += g.parameters;
  for (int i = 0; i < nv; ++i) {
    work.out.position_targets(k, i) = tape.parameters.kp[i] * g.torque[i];
    work.out.velocity_targets(k, i) = tape.parameters.kd[i] * g.torque[i];
  }
  return true;
}

const RolloutGradient& Simulator::adjoint(const RolloutTape& tape,
                                          const RolloutCotangents& by,
                                          const std::vector<std::string>& parameters) {
  Adjoint& work = begin_adjoint(tape, by, parameters);
  const int every = tape.checkpoint_every, nv = scene_.nv();
  const bool by_all = by.states.rows() > 1;
  for (int last = tape.steps; last > 0;) {
    const int first = (last - 1) / every * every;
    work.out.interrupted = !repeat_segment(tape, first, last, work);
    for (int k = last - 1; k >= first && !work.out.interrupted; --k) {
      work.out.interrupted = !take_back_step(tape, k, work.starts[k - first], work);
      if (k + 1 == last && !work.out.interrupted &&
          !(work.end == tape.checkpoints[(last + every - 1) / every]))
        refuse(step_text(k) + " does not repeat: the tape is of a simulator with other settings");
      if (by_all) work.cotangent += by.states.row(k).transpose();
    }
    if (work.out.interrupted) break;
    last = first;
  }
  if (by.taus.size()) work.out.taus += by.taus;
  work.out.initial_q = work.cotangent.head(nv);
  work.out.initial_v = work.cotangent.tail(nv);
  work.out.springs = work.springs;
  work.out.initial_springs = work.by_springs;
  work.out.report.touches_nothing = nothing_reached(scene_, tape, work.reached, work.controlled);
  return work.out;
}

}  // namespace stiction
