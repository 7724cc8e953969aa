#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"

#include <benchmark/benchmark.h>

using namespace stiction;

namespace {

/// Warm steps of a built-in scene from its standing (or default) configuration, settled for 0.5 s.
/// The time comes with the accuracy reached: a time without one says nothing.
void BM_Step(benchmark::State& bench, const std::string& name) {
  const Scene scene = make_scene(name);
  Simulator sim(scene, {});
  const std::string start = scene.configurations().count("standing") ? "standing" : "default";
  State state = sim.initial_state(start);
  const Control control = sim.hold(start);
  sim.run(state, control, 500);
  const State settled = state;
  double worst = 0.0, sweeps = 0.0;
  int k = 0;
  for (auto _ : bench) {
    if (++k % 500 == 0) state = settled;
    const StepReport& report = sim.step(state, control);
    worst = std::max(worst, report.residuals.relative);
    sweeps += report.iterations;
  }
  bench.counters["worst_residual"] = worst;
  bench.counters["sweeps"] = benchmark::Counter(sweeps, benchmark::Counter::kAvgIterations);
  bench.counters["contacts"] = sim.report().num_contacts;
}

}  // namespace

BENCHMARK_CAPTURE(BM_Step, solo12, std::string("solo12"))->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Step, box_stack_10, std::string("box-stack(10)"))
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Step, box_stack_30, std::string("box-stack(30)"))
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Step, four_bar, std::string("four-bar"))->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();
