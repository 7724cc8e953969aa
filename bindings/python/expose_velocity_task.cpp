#include "stiction/batch/counted_random.hpp"
#include "stiction/batch/velocity_task.hpp"

#include "batch_holder.hpp"
#include "given_rows.hpp"

// The kernels of stiction.envs: arrays are those of the environment, looked at in every call.

namespace stiction::python {
namespace {

/// A task and the batch that it looks at, which it keeps alive.
struct Task {
  Task(const bp::object& batch, const VelocityTaskSettings& settings)
      : held(batch),
        holder(static_cast<BatchHolder&>(bp::extract<BatchHolder&>(batch))),
        task(holder, settings) {}

  /// The arrays of the environment: action, before, command, phase, steps.
  VelocityTaskArrays arrays(const bp::tuple& given) const {
    const long n = holder.worlds(), joints = task.joints();
    return {checked<double>(given[0], "action", n, joints),
            checked<double>(given[1], "before", n, joints),
            checked<double>(given[2], "command", n, 3),
            checked<double>(given[3], "phase", n, 0),
            checked<std::int64_t>(given[4], "steps", n, 0)};
  }
  const std::uint8_t* mask(const bp::object& x) const {
    return x.is_none() ? nullptr : checked<std::uint8_t>(x, "mask", holder.worlds(), 0, false);
  }
  template <class Work>
  void run(const char* caller, Work&& work) {
    const Inside inside(holder.occupancy, caller);
    with_stiction_errors([&] {
      const AllowThreads free;
      work();
    });
  }

  bp::object held;
  BatchHolder& holder;
  VelocityTask task;
};

template <class T>
std::vector<T> list_of(const bp::object& x) {
  return {bp::stl_input_iterator<T>(x), bp::stl_input_iterator<T>()};
}

std::shared_ptr<Task> make_task(const bp::object& batch, const bp::dict& given) {
  VelocityTaskSettings s;
  const auto number = [&](const char* name) -> double { return bp::extract<double>(given[name]); };
  s.feet = list_of<std::string>(given["feet"]);
  s.stance_phase = list_of<double>(given["stance_phase"]);
  s.configuration = bp::extract<std::string>(given["configuration"])();
  s.control_dt = number("control_dt");
  s.clock_frequency = number("clock_frequency");
  s.touching = number("touching");
  s.reach = number("reach");
  s.friction_low = number("friction_low");
  s.friction_span = number("friction_span");
  s.mass_low = number("mass_low");
  s.mass_span = number("mass_span");
  for (int k = 0; k < 3; ++k) {
    s.command_low[k] = bp::extract<double>(given["command_low"][k]);
    s.command_span[k] = bp::extract<double>(given["command_span"][k]);
  }
  return std::make_shared<Task>(batch, s);
}

void act(Task& t, const bp::tuple& given) {
  const VelocityTaskArrays arrays = t.arrays(given);
  t.run("act", [&] { t.task.act(arrays); });
}

void vary(Task& t, const bp::object& mask, std::uint64_t seed, const bp::object& episodes) {
  const auto* numbers = checked<std::int64_t>(episodes, "episode", t.holder.worlds(), 0);
  const auto* worlds = t.mask(mask);
  t.run("start", [&] { t.task.vary(worlds, seed, numbers); });
}

void observe(Task& t, const bp::tuple& given, const bp::object& mask, const bp::object& out) {
  const VelocityTaskArrays arrays = t.arrays(given);
  auto* x = checked<float>(out, "out", t.holder.worlds(), t.task.observation_size());
  const auto* worlds = t.mask(mask);
  t.run("observe", [&] { t.task.observe(arrays, worlds, x); });
}

void judge(Task& t, const bp::tuple& given, const bp::object& reward, const bp::object& ended) {
  const VelocityTaskArrays arrays = t.arrays(given);
  auto* r = checked<double>(reward, "reward", t.holder.worlds(), 0);
  auto* e = checked<std::uint8_t>(ended, "ended", t.holder.worlds(), 0);
  t.run("reward", [&] { t.task.judge(arrays, r, e); });
}

void start(Task& t,
           const bp::tuple& given,
           const bp::object& mask,
           std::uint64_t seed,
           const bp::object& episodes,
           const bp::object& q) {
  const VelocityTaskArrays arrays = t.arrays(given);
  const long n = t.holder.worlds();
  const auto* numbers = checked<std::int64_t>(episodes, "episode", n, 0);
  auto* rows = checked<double>(q, "q", n, t.holder.scene().nq());
  const auto* worlds = t.mask(mask);
  t.run("start", [&] { t.task.start(worlds, seed, numbers, arrays, rows); });
}

void uniform(std::uint64_t seed,
             const bp::object& worlds,
             const bp::object& episodes,
             int stream,
             const bp::object& out) {
  const long n = bp::len(worlds), count = bp::len(out) == 0 ? 0 : bp::len(out[0]);
  const auto* world = checked<std::int64_t>(worlds, "worlds", n, 0);
  const auto* episode = checked<std::int64_t>(episodes, "episodes", n, 0);
  if (count == 0) return;
  auto* x = checked<double>(out, "out", n, count);
  for (long k = 0; k < n; ++k) {
    const RandomPlace place{seed,
                            static_cast<std::uint32_t>(world[k]),
                            static_cast<std::uint32_t>(episode[k]),
                            static_cast<std::uint32_t>(stream)};
    counted_uniform(place, static_cast<int>(count), x + k * count);
  }
}

}  // namespace

void expose_velocity_task() {
  using bp::arg;
  bp::class_<Task, std::shared_ptr<Task>, boost::noncopyable>(
      "_VelocityTask", "Kernels of stiction.envs.Solo12Velocity.", bp::no_init)
      .def("__init__",
           bp::make_constructor(
               &make_task, bp::default_call_policies(), (arg("batch"), arg("settings"))))
      .def("act", &act, (arg("self"), arg("arrays")))
      .def("vary", &vary, (arg("self"), arg("mask"), arg("seed"), arg("episodes")))
      .def("observe", &observe, (arg("self"), arg("arrays"), arg("mask"), arg("out")))
      .def("judge", &judge, (arg("self"), arg("arrays"), arg("reward"), arg("ended")))
      .def("start",
           &start,
           (arg("self"), arg("arrays"), arg("mask"), arg("seed"), arg("episodes"), arg("q")));
  bp::def("_counted_uniform",
          &uniform,
          (arg("seed"), arg("worlds"), arg("episodes"), arg("stream"), arg("out")));
}

}  // namespace stiction::python
