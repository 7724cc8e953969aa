#include "benchmarks/collision_peers/clock.hpp"
#include "common.hpp"
#include "inside.hpp"
#include "simulator_holder.hpp"

#include <vector>

// A loop of `stiction bench derivatives` that is too short a call for Python.

namespace stiction::python {
namespace {

/// Times of calls [s].
struct Times {
  std::vector<double> step, matrices, gradient;
};

Times time_calls(Simulator& sim, const State& start, const Control& control, int repeats) {
  const double rate = bench::measure_tick_rate() * 1e9;
  const Eigen::VectorXd w = Eigen::VectorXd::LinSpaced(2 * sim.scene().nv(), -1.0, 1.0);
  State state = start;
  const auto timed = [&](std::vector<double>& out, const auto& call) {
    const std::uint64_t begin = bench::start_ticks();
    call();
    out.push_back(double(bench::stop_ticks() - begin) / rate);
  };
  const auto step = [&] { sim.step(state, control); };
  Times out;
  for (int k = 0; k < repeats; ++k) {
    state = start;
    step();  // its memory is near again: the step is not charged for what the derivatives evicted
    state = start;
    timed(out.step, step);
    timed(out.matrices, [&] { sim.step_derivatives(); });
    state = start;
    step();
    timed(out.gradient, [&] { sim.vjp(w); });
  }
  return out;
}

/// (steps, matrices, gradients) [s]: of steps from `state`, which stays, and after them.
bp::tuple time_derivatives(SimulatorHolder& sim,
                           const State& state,
                           const bp::object& control,
                           int repeats) {
  const char* const caller = "Simulator._time_derivatives";
  const Control& c = control_from(sim, control, caller);
  const Inside inside(sim.occupancy, caller);
  validate_state_of(sim, state);
  const State start = state;
  Times times;
  {
    AllowThreads free;
    times = time_calls(sim, start, c, repeats);
  }
  sim.stepped = true;
  return bp::make_tuple(to_array(times.step), to_array(times.matrices), to_array(times.gradient));
}

}  // namespace

void expose_timing(SimulatorClass& c) {
  using bp::arg;
  c.def("_time_derivatives",
        &time_derivatives,
        (arg("self"), arg("state"), arg("control"), arg("repeats")));
}

}  // namespace stiction::python
