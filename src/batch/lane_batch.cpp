#include "batch/lane_batch.hpp"

#include "batch/lane_numbers.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace stiction {
namespace {

const LaneKernel& kernel_of(int width) {
  const std::vector<LaneKernel>& kernels = lane_kernels();
  if (width == 0) return kernels.back();
  for (const LaneKernel& k : kernels) {
    if (k.width == width) return k;
  }
  throw std::invalid_argument("width is " + std::to_string(width) +
                              ": this processor has lanes of 1 to " +
                              std::to_string(kernels.back().width));
}

const Scene& fit(const Scene& scene, const SimulatorSettings& settings) {
  const std::string why = why_not_lanes(scene, settings);
  if (!why.empty()) throw std::invalid_argument("no lanes: " + why);
  return scene;
}

/// Where a field's values lie, and masses and inertias.
LaneBlock block_of(WorldField field) {
  switch (field) {
    case WorldField::kArmature:
    case WorldField::kDamping:
    case WorldField::kDryFriction:
    case WorldField::kLower:
    case WorldField::kUpper:
    case WorldField::kEffortLimit:
      return kJoints;
    default:
      return kMasses;
  }
}

}  // namespace

LaneBatch::LaneBatch(const Scene& scene, const SimulatorSettings& settings, int worlds, int width)
    : scalar_(fit(scene, settings), settings),
      layout_(scalar_.scene(), settings),
      view_(layout_.view(kernel_of(width).width)),
      finder_(std::make_unique<PairFinder>(scalar_.scene(), settings)),
      kernel_(kernel_of(width)),
      worlds_(worlds),
      parameters_(scalar_.scene(), std::max(worlds, 1)) {
  if (worlds < 1)
    throw std::invalid_argument("worlds is " + std::to_string(worlds) + ": must be > 0");
  packs_ = (worlds + kernel_.width - 1) / kernel_.width;
  finder_->give_to(view_);
  world_.state = scalar_.initial_state();
  world_.control = scalar_.hold();
  allocate();
  const State start = world_.state;
  for (int world = 0; world < packs_ * kernel_.width; ++world) {
    set_state(world, start);
    set_control(world, world_.control);
    hold(world, world >= worlds);
  }
}

void LaneBatch::allocate() {
  const int W = kernel_.width, nv = view_.tree.nv, chunk = std::min(packs_, kMaxLanePacks);
  const std::size_t lanes = static_cast<std::size_t>(packs_) * W;
  data_.control = LaneMemory(lanes * 3 * nv);
  data_.q = LaneMemory(lanes * view_.tree.nq);
  data_.v = LaneMemory(lanes * nv);
  data_.impulse = LaneMemory(lanes * kept_rows(view_));
  data_.feature = LaneMemory(lanes * view_.num_found);
  data_.places = LaneMemory(lanes * kept_places(layout_));
  data_.relative = LaneMemory(lanes);
  data_.contacts = LaneMemory(lanes);
  data_.held = LaneMemory(lanes);
  data_.exit.assign(lanes, LaneExit::kStepped);
  data_.time.assign(lanes, 0.0);
  data_.others.resize(lanes);
  data_.turned.resize(lanes);
  data_.crowded.assign(lanes, 0);
  data_.reports.resize(lanes);
  for (const LaneBlock block : {kMasses, kJoints, kShapes}) {
    data_.parameters[block].resize(packs_);
    shared_[block] = LaneMemory(kernel_.parameters(view_, block));
    for (int lane = 0; lane < W; ++lane)
      write_lane_parameters(
          scene(), layout_, scene().parameters, block, W, lane, shared_[block].data());
  }
  work_ = LaneMemory(kernel_.doubles(view_, chunk));
  indices_.resize(kernel_.integers(view_, chunk));
  views_.reserve(chunk);
  constexpr int kPointsOfPair = 8;
  world_.state.contacts.reserve(view_.num_slots + kPointsOfPair * view_.num_guards);
}

const double* LaneBatch::at(const LaneMemory& memory, int world, int size) const {
  const int W = kernel_.width;
  return memory.data() + static_cast<std::size_t>(world / W) * size * W + world % W;
}

double* LaneBatch::at(LaneMemory& memory, int world, int size) {
  return const_cast<double*>(std::as_const(*this).at(memory, world, size));
}

void LaneBatch::set_motion(int world, const double* q, const double* v) {
  const int W = kernel_.width, nq = view_.tree.nq, nv = view_.tree.nv;
  scatter(q, nq, W, at(data_.q, world, nq));
  scatter(v, nv, W, at(data_.v, world, nv));
}

void LaneBatch::get_motion(int world, double* q, double* v) const {
  const int W = kernel_.width, nq = view_.tree.nq, nv = view_.tree.nv;
  gather(at(data_.q, world, nq), nq, W, q);
  gather(at(data_.v, world, nv), nv, W, v);
}

void LaneBatch::set_control(int world, const Control& control) {
  if (!control.wrenches.empty()) throw std::invalid_argument("control.wrenches: not for lanes");
  const int W = kernel_.width, nv = view_.tree.nv;
  double* out = at(data_.control, world, 3 * nv);
  for (const Eigen::VectorXd* x :
       {&control.torque, &control.position_target, &control.velocity_target}) {
    if (x->size() != 0 && x->size() != nv)
      throw std::invalid_argument("control has " + std::to_string(x->size()) +
                                  " entries: the scene has nv = " + std::to_string(nv));
    for (int k = 0; k < nv; ++k, out += W) *out = x->size() == 0 ? 0.0 : (*x)[k];
  }
}

void LaneBatch::set_position_target(int world, const double* target) {
  const int nv = view_.tree.nv;
  scatter(target, nv, kernel_.width, at(data_.control, world, 3 * nv) + nv * kernel_.width);
}

void LaneBatch::set_targets(int world,
                            const double* torque,
                            const double* position,
                            const double* velocity) {
  const int W = kernel_.width, nv = view_.tree.nv;
  double* out = at(data_.control, world, 3 * nv);
  for (const double* x : {torque, position, velocity}) {
    scatter(x, nv, W, out);
    out += nv * W;
  }
}

void LaneBatch::make_wrenches(const WrenchTable& table) {
  wrench_points_.clear();
  for (const WrenchRows& w : table)
    wrench_points_.push_back({w.body, {w.point.x, w.point.y, w.point.z}});
  data_.wrench = LaneMemory(static_cast<std::size_t>(packs_) * kernel_.width * 6 * table.size());
  view_.wrenches = wrench_points_.data();
  view_.num_wrenches = static_cast<int>(table.size());
}

void LaneBatch::set_wrenches(int world, const WrenchTable& table, std::ptrdiff_t row) {
  wrenches_ = &table;
  first_row_ = row - world;
  if (wrench_points_.size() != table.size()) make_wrenches(table);
  double* out = at(data_.wrench, world, 6 * view_.num_wrenches);
  for (const WrenchRows& w : table) {
    scatter(w.of(row), 6, kernel_.width, out);
    out += 6 * kernel_.width;
  }
}

void LaneBatch::get_control(int world, Control& control) const {
  const int nv = view_.tree.nv;
  const double* from = at(data_.control, world, 3 * nv);
  for (Eigen::VectorXd* x : {&control.torque, &control.position_target, &control.velocity_target}) {
    x->resize(nv);
    gather(from, nv, kernel_.width, x->data());
    from += nv * kernel_.width;
  }
}

void LaneBatch::set_parameters(int world, const Parameters& parameters) {
  parameters_.set(world, parameters);
  for (const LaneBlock block : {kMasses, kJoints, kShapes}) write_parameters(world, block);
}

void LaneBatch::assign(WorldField field, int world, const double* values) {
  parameters_.assign(field, world, values);
  write_parameters(world, block_of(field));
}

void LaneBatch::write_parameters(int world, LaneBlock block) {
  const int W = kernel_.width;
  if (simulated_ == world) simulated_ = kNoWorld;
  LaneMemory& own = data_.parameters[block][world / W];
  if (own.data() == nullptr) {
    const std::size_t size = kernel_.parameters(view_, block);
    own = LaneMemory(size);
    std::copy_n(shared_[block].data(), size, own.data());
  }
  parameters_.read(world, world_.parameters);
  write_lane_parameters(scene(), layout_, world_.parameters, block, W, world % W, own.data());
}

void LaneBatch::step(int steps) {
  for (int first = 0; first < packs_; first += kMaxLanePacks) {
    for (int k = 0; k < steps; ++k) step_chunk(first);
  }
}

/// To the packs of the step, unless all its worlds are held.
void LaneBatch::add_pack(int pack) {
  const int W = kernel_.width, nv = view_.tree.nv, world = pack * W;
  const double* held = at(data_.held, world, 1);
  if (std::all_of(held, held + W, [](double x) { return x > 0.0; })) {
    std::fill_n(data_.exit.begin() + world, W, LaneExit::kHeld);
    return;
  }
  const auto parameters = [&](LaneBlock block) {
    const LaneMemory& own = data_.parameters[block][pack];
    return own.data() != nullptr ? own.data() : shared_[block].data();
  };
  views_.push_back({{{parameters(kMasses), parameters(kJoints), parameters(kShapes)}},
                    at(data_.control, world, 3 * nv),
                    at(data_.q, world, view_.tree.nq),
                    at(data_.v, world, nv),
                    at(data_.impulse, world, kept_rows(view_)),
                    at(data_.relative, world, 1),
                    at(data_.contacts, world, 1),
                    held,
                    data_.exit.data() + world,
                    at(data_.wrench, world, 6 * view_.num_wrenches),
                    at(data_.feature, world, view_.num_found),
                    at(data_.places, world, kept_places(layout_))});
}

void LaneBatch::step_chunk(int first) {
  constexpr std::uint8_t kHeldForKernel = 2;
  const int W = kernel_.width, end = std::min(first + kMaxLanePacks, packs_);
  views_.clear();
  for (int k = first; k < end; ++k) add_pack(k);
  if (views_.empty()) return;
  const int last = std::min(worlds_, end * W);
  for (int world = first * W; world < last; ++world) {
    if (data_.crowded[world] == 0 || held(world)) continue;
    hold(world, true);  // for the kernel
    data_.crowded[world] = kHeldForKernel;
  }
  kernel_.step(
      view_, views_.data(), static_cast<int>(views_.size()), work_.data(), indices_.data());
  for (int world = first * W; world < last; ++world) {
    if (data_.crowded[world] == kHeldForKernel) {
      hold(world, false);
      data_.crowded[world] = 1;
      data_.exit[world] = LaneExit::kPair;
    }
    if (data_.exit[world] == LaneExit::kHeld) continue;
    ++counts_[static_cast<int>(data_.exit[world])];
    if (data_.exit[world] != LaneExit::kStepped) {
      step_scalar(world);
      continue;
    }
    data_.time[world] += view_.rules.dt;
    if (!data_.others[world].empty()) data_.others[world].clear();
    if (!data_.turned[world].empty()) data_.turned[world].clear();
    data_.reports[world] = {LaneExit::kStepped,
                            StepStatus::kOk,
                            data_.relative.data()[world],
                            static_cast<int>(data_.contacts.data()[world])};
  }
}

void LaneBatch::step_scalar(int world) {
  const int wanted = parameters_.own(world) ? world : kShared;
  if (simulated_ != wanted) {
    parameters_.read(world, world_.parameters);
    scalar_.parameters() = world_.parameters;
  }
  simulated_ = wanted;
  get_state(world, world_.state);
  get_control(world, world_.control);
  if (wrenches_ != nullptr)
    take_wrenches(
        *wrenches_,
        first_row_ + world,
        [&](std::vector<Transform>& X) { scalar_.body_poses(world_.state, X); },
        world_.poses,
        world_.control.wrenches);
  const StepReport& report = scalar_.step(world_.state, world_.control);
  set_state(world, world_.state);
  data_.reports[world] = {
      data_.exit[world], report.status, report.residuals.relative, report.num_contacts};
  hold(world, report.status == StepStatus::kNotFinite);
}

}  // namespace stiction
