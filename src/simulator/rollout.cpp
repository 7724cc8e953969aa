#include "stiction/simulator/rollout.hpp"

#include "stiction/model/state_io.hpp"

#include "simulator/rollout_adjoint.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

void check_columns(const char* name, const RowMajorMatrix& m, int nv) {
  if (m.size() == 0 || m.cols() == nv) return;
  throw std::invalid_argument(std::string("rollout.") + name + " has " + std::to_string(m.cols()) +
                              " columns: the scene has nv = " + std::to_string(nv));
}

void check_at_least_0(const char* name, int x) {
  if (x >= 0) return;
  throw std::invalid_argument(std::string("rollout.") + name + " = " + std::to_string(x) +
                              ": must be >= 0");
}

int count_steps(const RolloutInput& input, int nv) {
  check_columns("taus", input.taus, nv);
  check_columns("position_targets", input.position_targets, nv);
  int steps = input.steps;
  if (input.taus.size()) steps = static_cast<int>(input.taus.rows());
  if (input.position_targets.size()) steps = static_cast<int>(input.position_targets.rows());
  if (input.taus.size() && input.taus.rows() != steps) {
    throw std::invalid_argument(
        "rollout.taus and rollout.position_targets have different numbers of rows");
  }
  check_at_least_0("steps", steps);
  check_at_least_0("checkpoint_every", input.checkpoint_every);
  return steps;
}

/// All but the checkpoints.
void begin_tape(const Control& base,
                const RolloutInput& input,
                int steps,
                const Parameters& parameters,
                RolloutTape& tape) {
  tape.checkpoint_every =
      input.checkpoint_every > 0
          ? input.checkpoint_every
          : std::max(1, static_cast<int>(std::ceil(std::sqrt(static_cast<double>(steps)))));
  tape.checkpoints.resize((steps + tape.checkpoint_every - 1) / tape.checkpoint_every + 1);
  tape.base = base;
  tape.input = input;
  tape.parameters = parameters;
  tape.status = StepStatus::kOk;
}

template <class T>
std::size_t heap(const std::vector<T>& x) {
  return x.capacity() * sizeof(T);
}
template <class M>
std::size_t heap(const Eigen::PlainObjectBase<M>& x) {
  return x.size() * sizeof(double);
}
std::size_t heap(const Vec3d&) { return 0; }
std::size_t heap(const Control& c) {
  return heap(c.torque) + heap(c.position_target) + heap(c.velocity_target) + heap(c.wrenches);
}
std::size_t bytes_of(const State& s) {
  return sizeof s + heap(s.q) + heap(s.v) + heap(s.contacts) + heap(s.queries) +
         heap(s.constraint_impulse) + heap(s.rest);
}

}  // namespace

std::size_t RolloutTape::bytes() const {
  std::size_t sum = sizeof *this + heap(base) + heap(input.taus) + heap(input.position_targets);
  std::size_t largest = 0;
  for (const State& s : checkpoints) {
    sum += bytes_of(s);
    largest = std::max(largest, bytes_of(s));
  }
  Parameters::each_array([&](const char*, const auto& x) { sum += heap(x); }, parameters);
  return sum + std::min(steps, checkpoint_every) * largest;
}

void control_of(const RolloutInput& input, int k, Control& control) {
  if (input.taus.size()) control.torque = input.taus.row(k);
  if (input.position_targets.size()) control.position_target = input.position_targets.row(k);
}

RolloutLog Simulator::rollout(State& state,
                              const Control& base,
                              const RolloutInput& input,
                              RolloutTape* tape) {
  const int steps = count_steps(input, scene_.nv());
  validate_whole_state(scene_, state);
  if (tape != nullptr) {
    refuse_underived("rollout.tape");
    begin_tape(base, input, steps, parameters_, *tape);
  }
  RolloutLog log;
  log.q.resize(steps + 1, scene_.nq());
  log.v.resize(steps + 1, scene_.nv());
  log.reports.reserve(steps);
  log.q.row(0) = state.q;
  log.v.row(0) = state.v;
  Control control = base;
  for (int k = 0; k < steps; ++k) {
    if (tape != nullptr && k % tape->checkpoint_every == 0)
      tape->checkpoints[k / tape->checkpoint_every] = state;
    control_of(input, k, control);
    log.reports.push_back(k == 0 ? step(state, control) : step_unedited(state, control));
    log.q.row(k + 1) = state.q;
    log.v.row(k + 1) = state.v;
    log.steps = k + 1;
    if (!report().whole()) break;
    if (input.stop_on_bad_status && report().status != StepStatus::kOk) break;
  }
  log.q.conservativeResize(log.steps + 1, Eigen::NoChange);
  log.v.conservativeResize(log.steps + 1, Eigen::NoChange);
  if (tape != nullptr) {
    tape->steps = log.steps;
    if (log.steps > 0) tape->status = report().status;
    tape->checkpoints.resize((log.steps + tape->checkpoint_every - 1) / tape->checkpoint_every + 1);
    tape->checkpoints.back() = state;
  }
  return log;
}

}  // namespace stiction
