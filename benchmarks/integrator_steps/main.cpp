#include "stiction/simulator/simulator.hpp"

#include "collision_peers/clock.hpp"
#include "collision_peers/json.hpp"
#include "stepper.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <limits>

// integrator_steps SCENE key=value... NAME:STEPS...: time per step of integrators from stored
// states, as one JSON document on standard output, progress on standard error. A NAME is one of
// integrators(), on soft surfaces; "rigid", semi-implicit-euler on rigid ones, from its own states;
// "pinocchio-aba", "pinocchio-explicit-euler". Torques are held, there are no servos.

using namespace stiction;
using namespace stiction::bench;

namespace {

class SimulatorStepper : public Stepper {
 public:
  SimulatorStepper(const Job& job, const Request& request)
      : sim_(request.name == "rigid" ? job.scene : job.soft_scene(), settings(job, request)),
        control_(sim_.hold()),
        steps_(request.steps) {}

  void begin(const Window& window) override {
    state_ = window.state;
    control_.torque = window.torque;
  }
  void advance() override { sim_.run(state_, control_, steps_); }
  const Eigen::VectorXd& velocity() const override { return state_.v; }
  bool finite() const override { return sim_.report().status != StepStatus::kNotFinite; }
  bool converged() const override { return sim_.report().status == StepStatus::kOk; }
  int switches() const override { return sim_.report().switches; }

 private:
  static SimulatorSettings settings(const Job& job, const Request& request) {
    SimulatorSettings s;
    s.dt = job.period / request.steps;
    if (request.name != "rigid") s.integrator = request.name;
    return s;
  }

  Simulator sim_;
  Control control_;
  State state_;
  int steps_;
};

std::unique_ptr<Stepper> make_stepper(const Job& job, const Request& request) {
  if (request.name == "pinocchio-aba") return pinocchio_aba(job, request.steps);
  if (request.name == "pinocchio-explicit-euler")
    return pinocchio_explicit_euler(job, request.steps);
  return std::make_unique<SimulatorStepper>(job, request);
}

/// A request at work; the best time of each window [ns], infinite where it blew up.
struct Entry {
  Request request;
  const std::vector<Window>* windows;
  std::unique_ptr<Stepper> stepper;
  std::vector<double> best;
  std::vector<int> switches;
  int unsolved = 0, blown_up = 0;
};

std::vector<Entry> make_entries(const Job& job) {
  std::vector<Entry> entries;
  for (const Request& request : job.requests) {
    const std::vector<Window>& windows = request.name == "rigid" ? job.rigid : job.soft;
    entries.push_back({request, &windows, make_stepper(job, request), {}, {}});
    entries.back().best.assign(windows.size(), std::numeric_limits<double>::infinity());
    entries.back().switches.assign(windows.size(), 0);
  }
  return entries;
}

/// All windows once; counts what happened if `first`.
void take_turn(Entry& entry, double ticks_per_ns, bool first) {
  for (std::size_t w = 0; w < entry.windows->size(); ++w) {
    entry.stepper->begin((*entry.windows)[w]);
    const std::uint64_t start = start_ticks();
    entry.stepper->advance();
    const double ns = static_cast<double>(stop_ticks() - start) / ticks_per_ns;
    const bool finite = entry.stepper->finite();
    if (finite) entry.best[w] = std::min(entry.best[w], ns);
    if (!first) continue;
    entry.switches[w] = entry.stepper->switches();
    entry.blown_up += !finite;
    entry.unsolved += finite && !entry.stepper->converged();
  }
}

/// Velocity after one explicit step of Pinocchio calls against ours: the two are the same work.
double difference(const Job& job, int steps) {
  Job one = job;
  one.period /= steps;
  const auto theirs = pinocchio_explicit_euler(one, 1);
  SimulatorStepper ours(one, {"explicit-euler", 1});
  double worst = 0.0;
  for (const Window& window : one.soft) {
    theirs->begin(window);
    ours.begin(window);
    theirs->advance();
    ours.advance();
    worst = std::max(worst, (theirs->velocity() - ours.velocity()).cwiseAbs().maxCoeff());
  }
  return worst;
}

std::string describe(const Job& job, const Entry& entry) {
  Array times, switches;
  for (const double ns : entry.best) times.add(number(1e-3 * ns / entry.request.steps));
  for (const int n : entry.switches) switches.add(std::to_string(n));
  Object row;
  row.add("name", "\"" + entry.request.name + "\"")
      .add("steps", entry.request.steps)
      .add("us", times.text())
      .add("switches", switches.text())
      .add("unsolved", entry.unsolved)
      .add("blown_up", entry.blown_up);
  if (entry.request.name == "pinocchio-explicit-euler")
    row.add("difference", difference(job, entry.request.steps));
  return row.text();
}

/// Engines take turns within a repetition, so that a slow spell of the machine hits all of them.
std::string run(const Job& job) {
  const double ticks_per_ns = measure_tick_rate();
  std::vector<Entry> entries = make_entries(job);
  for (int repetition = 0; repetition < job.repetitions; ++repetition) {
    std::cerr << "repetition " << repetition + 1 << " of " << job.repetitions << std::endl;
    for (Entry& entry : entries) take_turn(entry, ticks_per_ns, repetition == 0);
  }
  Array rows;
  for (const Entry& entry : entries) rows.add(describe(job, entry));
  return Object().add("rows", rows.text()).text();
}

}  // namespace

int main(int count, char** arguments) {
  try {
    std::cout << run(parse_job(count, arguments)) << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "integrator_steps: " << error.what() << std::endl;
    return 1;
  }
}
