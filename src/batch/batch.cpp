#include "stiction/model/state_io.hpp"
#include "stiction/simulator/scene_motion.hpp"

#include "batch/batch_impl.hpp"
#include "math/number_text.hpp"
#include "simulator/lanes/lane_kernels.hpp"
#include "simulator/lanes/lane_layout.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <utility>

namespace stiction {
namespace {

constexpr int kMostThreads = 1024;

/// call() for a world, which its errors name.
template <class Call>
void named(int world, Call&& call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument("world " + std::to_string(world) + ": " + e.what());
  }
}

int pack_width(const BatchOptions& options) {
  const std::vector<LaneKernel>& kernels = lane_kernels();
  if (options.width == 0) return kernels.back().width;
  for (const LaneKernel& k : kernels) {
    if (k.width == options.width) return k.width;
  }
  std::string widths = "0";
  for (const LaneKernel& k : kernels) widths += ", " + std::to_string(k.width);
  throw std::invalid_argument("width = " + std::to_string(options.width) + ": this processor has " +
                              widths);
}

/// The parameters of the scene count, too: worlds are not packed for steps that all leave the
/// lanes.
std::string why_simulators(const Scene& scene, const SimulatorSettings& s, bool lanes) {
  if (!lanes) return "lanes = False was asked for";
  const std::string why = why_not_lanes(scene, s);
  return why.empty() ? why_never_in_lanes(scene, LaneLayout(scene, s), scene.parameters) : why;
}

}  // namespace

Batch::Impl::Impl(const Scene& scene,
                  int num_worlds,
                  const SimulatorSettings& s,
                  const BatchOptions& options)
    : worlds((check_range("num_worlds", num_worlds, 1, 1 << 24), num_worlds)),
      settings(s),
      why_not(why_simulators(scene, s, options.lanes)),
      simulator(scene, s),
      start(simulator.initial_state(options.configuration)),
      memory(scene, worlds, s.dt),
      arrays(memory.arrays()) {
  check_range("threads", options.threads, 0, kMostThreads);
  const int wanted = pack_width(options), width = why_not.empty() ? wanted : 1;
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int packs = (worlds + width - 1) / width;
  const int parts = std::min(options.threads == 0 ? cores : options.threads, packs);
  for (int part = 0; part <= parts; ++part)
    first.push_back(
        std::min(worlds, static_cast<int>(static_cast<long>(packs) * part / parts) * width));
  for (int part = 0; part < parts; ++part) polls.push_back({&stop, part == 0});
  const WorldRows rows = memory.rows();
  for (int part = 0; part < parts; ++part) {
    const WorldRows own = rows.from(first[part]);
    const int count = first[part + 1] - first[part];
    ranges.push_back(why_not.empty() ? make_lane_range(scene, s, count, width, own, polls[part])
                                     : make_simulator_range(scene, s, count, own, polls[part]));
  }
  pool.reset(new ThreadPool(parts));
  background.reset(
      new Background([this] { step(later_substeps, later_all ? nullptr : later_mask.data()); }));
  const Control hold = simulator.hold(options.configuration);
  for (int world = 0; world < worlds; ++world) {
    put(world, start);
    std::copy_n(hold.position_target.data(), scene.nv(), rows.from(world).position_target);
  }
}

void Batch::Impl::put(int world, const State& state) {
  const WorldRows row = memory.rows().from(world);
  std::copy_n(state.q.data(), row.nq, row.q);
  std::copy_n(state.v.data(), row.nv, row.v);
  *row.time = state.time;
  *row.status = *row.lane_exit = 0;
  *row.certificate = 0.0;
  *row.contacts = *row.scalar_steps = 0;
  range_of(world).set_state(place(world), state);
  memory.actuation().settle(world, row.commands());
  memory.last_steps().settle(world, row.q, row.v);
}

State Batch::Impl::start_of(int world, const double* q, const double* v) const {
  const int nq = simulator.scene().nq(), nv = simulator.scene().nv();
  State state = start;
  const std::ptrdiff_t w = world;
  if (q != nullptr) state.q = Eigen::Map<const Eigen::VectorXd>(q + w * nq, nq);
  if (v != nullptr) state.v = Eigen::Map<const Eigen::VectorXd>(v + w * nv, nv);
  if (q != nullptr || v != nullptr) named(world, [&] { validate_state(simulator.scene(), state); });
  return state;
}

Batch::Batch(const Scene& scene,
             int worlds,
             const SimulatorSettings& settings,
             const BatchOptions& options)
    : impl_(std::make_unique<Impl>(scene, worlds, settings, options)) {}
Batch::~Batch() = default;

const Scene& Batch::scene() const { return impl_->simulator.scene(); }
const SimulatorSettings& Batch::settings() const { return impl_->settings; }
int Batch::worlds() const { return impl_->worlds; }
int Batch::threads() const { return impl_->pool->parts(); }
int Batch::width() const { return impl_->ranges[0]->width(); }
const std::string& Batch::why_not_lanes() const { return impl_->why_not; }
const BatchArrays& Batch::arrays() { return impl_->arrays; }
void Batch::set_interrupt(const Interrupt& interrupt) { impl_->stop.caller = interrupt; }

const std::array<const char*, 13>& Batch::lane_exits() {
  static_assert(kLaneExits == 13);
  static constexpr std::array<const char*, 13> words{
      "stepped in lanes",
      "compliant materials, torsional or rolling friction, or servos of wrapping joints",
      "a pair has more points than places",
      "a body turns by radians in the step",
      "impacts would gain energy",
      "nothing moves along a normal",
      "a joint is far out of its limits",
      "more rows than a lane holds",
      "the solver of the lanes did not reach the tolerance",
      "corrections of positions may do harm together",
      "a number is not finite",
      "held",
      "a servo ends on the wrong side of its effort limit"};
  return words;
}

void Batch::Impl::step(int substeps, const std::uint8_t* mask) {
  pool->run([&](int part) { memory.check(first[part], first[part + 1], mask); }, [] {});
  pool->run(
      [&](int part) {
        const RangeCall call{substeps, mask == nullptr ? nullptr : mask + first[part]};
        ranges[part]->step(call);
      },
      [&] { polls[0].requested(); });
}

bool Batch::step(int substeps, const std::uint8_t* mask) {
  check_range("substeps", substeps, 1, 1L << 30);
  Impl& x = *impl_;
  x.check_idle("step");
  x.stop.stopped = false;
  x.step(substeps, mask);
  return !x.stop.stopped;
}

void Batch::step_async(int substeps, const std::uint8_t* mask) {
  check_range("substeps", substeps, 1, 1L << 30);
  Impl& x = *impl_;
  x.check_idle("step_async");
  x.later_substeps = substeps;
  x.later_all = mask == nullptr;
  if (mask != nullptr) x.later_mask.assign(mask, mask + x.worlds);
  x.stop.stopped = false;
  x.polls[0].callers = false;  // wait() asks instead
  try {
    x.background->start();
  } catch (...) {
    x.polls[0].callers = true;
    throw;
  }
}

bool Batch::wait() {
  Impl& x = *impl_;
  if (!x.background->started())
    throw std::logic_error("Batch.wait: nothing is under way: call step_async() first");
  struct Asking {
    StopPoll& poll;
    ~Asking() { poll.callers = true; }
  } const again{x.polls[0]};
  const StopPoll caller{&x.stop, true};
  x.background->wait([&] { caller.requested(); });
  return !x.stop.stopped;
}

void Batch::reset(const std::uint8_t* mask, const double* q, const double* v) {
  Impl& x = *impl_;
  x.check_idle("reset");
  x.each_world(mask, [&](int world) {
    if (x.memory.actuation().on(world)) x.memory.check_commands(world);
    if (q != nullptr || v != nullptr) static_cast<void>(x.start_of(world, q, v));
  });
  x.each_world(mask, [&](int world) { x.put(world, x.start_of(world, q, v)); });
}

State Batch::state(int world) const {
  impl_->check_world(world);
  State state;
  impl_->range_of(world).get_state(impl_->place(world), state);
  const WorldRows row = impl_->memory.rows().from(world);
  state.q = Eigen::Map<const Eigen::VectorXd>(row.q, row.nq);
  state.v = Eigen::Map<const Eigen::VectorXd>(row.v, row.nv);
  return state;
}

void Batch::set_state(int world, const State& state) {
  impl_->check_idle("set_state");
  impl_->check_world(world);
  validate_whole_state(scene(), state);
  validate_scene_of(state, impl_->start.scene);
  if (impl_->memory.actuation().on(world)) impl_->memory.check_commands(world);
  impl_->put(world, state);
}

Control Batch::control(int world) const {
  impl_->check_world(world);
  const WorldRows row = impl_->memory.rows().from(world);
  CommandRows now = row.commands();
  if (row.actuation->on(world)) {
    const double* x = row.actuation->next(world, now);
    now = {x, x + row.nv, x + 2 * row.nv};
  }
  const auto copy_of = [](const double* x, int n) -> Eigen::VectorXd {
    return Eigen::Map<const Eigen::VectorXd>(x, n);
  };
  const auto copy = [&](const double* x) { return copy_of(x, row.nv); };
  Control out{copy(now.torque), copy(now.position_target), copy(now.velocity_target), {}};
  const auto poses = [&](std::vector<Transform>& all) {
    const SceneMotion motion(scene(), parameters(world), copy_of(row.q, row.nq), copy(row.v));
    for (int body = 0; body < scene().num_bodies(); ++body) all.push_back(motion.pose(body));
  };
  std::vector<Transform> scratch;
  take_wrenches(impl_->memory.wrenches(), world, poses, scratch, out.wrenches);
  return out;
}

int Batch::command_depth(int world) const {
  impl_->check_world(world);
  return impl_->memory.actuation().depth(world);
}

void Batch::commands(int world, double* out) const {
  impl_->check_world(world);
  impl_->memory.actuation().remembered(world, impl_->memory.rows().from(world).commands(), out);
}

void Batch::set_commands(int world, const double* commands) {
  impl_->check_idle("set_commands");
  impl_->check_world(world);
  const std::ptrdiff_t nv = scene().nv(), count = 3 * nv * (1 + command_depth(world));
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    if (std::isfinite(commands[i])) continue;
    throw std::invalid_argument("commands[" + std::to_string(i / (3 * nv)) + ", " +
                                std::to_string(i / nv % 3) + ", " + std::to_string(i % nv) +
                                "] = " + number_text(commands[i]) + ": must be finite");
  }
  impl_->memory.actuation().remember(world, commands);
}

void Batch::run(void* object, void (*work)(void* object, int first, int last)) const {
  impl_->check_idle("each_range");
  impl_->pool->run([&](int part) { work(object, impl_->first[part], impl_->first[part + 1]); },
                   [] {});
}

double* Batch::wrench(int body, const Vec3d& point) {
  impl_->check_idle("wrench");
  check_range("body", body, 0, scene().num_bodies() - 1);
  for (const auto& [axis, x] : {std::pair{"x", point.x}, {"y", point.y}, {"z", point.z}}) {
    if (!std::isfinite(x))
      throw std::invalid_argument(std::string("point.") + axis + " = " + number_text(x) +
                                  ": must be finite");
  }
  return impl_->memory.wrench(body, point);
}

std::vector<int> geometry_columns(const Scene& scene, const int* geometries, int count) {
  const int all = static_cast<int>(scene.geometries().size());
  std::vector<int> columns(all, -1);
  for (int k = 0; k < count; ++k) {
    check_range("geometry", geometries[k], 0, all - 1);
    if (columns[geometries[k]] >= 0)
      throw std::invalid_argument("geometry " + std::to_string(geometries[k]) + " is given twice");
    columns[geometries[k]] = k;
  }
  return columns;
}

void Batch::contact_forces(const int* geometries, int count, double* out) const {
  const std::vector<int> columns = geometry_columns(scene(), geometries, count);
  std::fill_n(out, static_cast<std::ptrdiff_t>(worlds()) * count, 0.0);
  impl_->each_world(nullptr, [&](int world) {
    double* row = out + static_cast<std::ptrdiff_t>(world) * count;
    const auto add = [&](int a, int b, const Vec3d& impulse_A) {
      const double force = norm(impulse_A) / impl_->settings.dt;
      for (const int geometry : {a, b}) {
        if (columns[geometry] >= 0) row[columns[geometry]] += force;
      }
    };
    impl_->range_of(world).each_contact(impl_->place(world), ContactVisit::by(add));
  });
}

Parameters Batch::parameters(int world) const {
  impl_->check_world(world);
  Parameters out;
  impl_->range_of(world).parameters().read(impl_->place(world), out);
  return out;
}

void Batch::set_parameters(int world, const Parameters& parameters) {
  impl_->check_idle("set_parameters");
  impl_->check_world(world);
  impl_->range_of(world).set_parameters(impl_->place(world), parameters);
}

void Batch::assign(WorldField field, const double* values, const std::uint8_t* mask) {
  Impl& x = *impl_;
  x.check_idle("assign");
  const std::ptrdiff_t size = world_field_size(field, scene());
  x.each_world(mask, [&](int world) {
    if (Actuation::has(field)) x.memory.check_commands(world);
    named(world, [&] {
      const double* row = values + world * size;
      if (Actuation::has(field))
        x.memory.actuation().check(field, row);
      else
        x.range_of(world).parameters().check(field, x.place(world), row);
    });
  });
  x.each_world(mask, [&](int world) {
    const double* row = values + world * size;
    if (Actuation::has(field))
      x.memory.actuation().assign(field, world, row, x.memory.rows().from(world).commands());
    else
      x.range_of(world).assign(field, x.place(world), row);
  });
}

void Batch::read(WorldField field, double* values) const {
  const std::ptrdiff_t size = world_field_size(field, scene());
  for (int world = 0; world < worlds(); ++world) {
    double* row = values + world * size;
    if (Actuation::has(field))
      impl_->memory.actuation().read(field, world, row);
    else
      impl_->range_of(world).parameters().read(field, impl_->place(world), row);
  }
}

}  // namespace stiction
