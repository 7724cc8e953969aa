#include "batch/actuation.hpp"

#include "math/elementary.hpp"
#include "math/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

constexpr int kGroups = 3;            // torque, position target, velocity target
constexpr int kLongestDelay = 10000;  // [steps]: a world keeps as many commands

}  // namespace

struct Actuation::World {
  std::vector<int> delay;           ///< [nv] [steps]
  std::vector<double> time, share;  ///< [nv] of the motor [s]; of the way it goes in a step
  std::vector<double> past;         ///< [depth, 3 nv] a ring of commands
  int depth = 0, newest = 0;
  std::vector<double> output, next;  ///< [3 nv]

  bool idle() const {
    return depth == 0 && std::all_of(time.begin(), time.end(), [](double t) { return t == 0.0; });
  }
  double* row(int steps_ago) {
    const std::size_t at = (newest + steps_ago - 1) % depth;
    return past.data() + at * output.size();
  }
  /// To a ring of other length, which begins with the same commands.
  void deepen(int wanted, const std::vector<double>& now) {
    std::vector<double> longer;
    longer.reserve(wanted * output.size());
    for (int ago = 1; ago <= wanted; ++ago) {
      const double* from = depth == 0 ? now.data() : row(std::min(ago, depth));
      longer.insert(longer.end(), from, from + output.size());
    }
    past = std::move(longer);
    depth = wanted;
    newest = 0;
  }
};

Actuation::Actuation(int worlds, int nv, double dt) : nv_(nv), dt_(dt), worlds_(worlds) {}
Actuation::~Actuation() = default;

void Actuation::check(WorldField field, const double* values) const {
  const bool delay = field == WorldField::kCommandDelay;
  for (int k = 0; k < nv_; ++k) {
    const double x = values[k];
    const bool fits = delay ? x >= 0.0 && x <= kLongestDelay && x == static_cast<int>(x)
                            : x >= 0.0 && x < kInfinity;
    if (fits) continue;
    throw std::invalid_argument(
        std::string(world_fields()[static_cast<int>(field)]) + "[" + std::to_string(k) +
        "] = " + number_text(x) +
        (delay ? ": must be a whole number of steps in [0, " + std::to_string(kLongestDelay) + "]"
               : ": must be >= 0 and finite [s]"));
  }
}

void Actuation::turn_on(std::ptrdiff_t world, const CommandRows& now) {
  worlds_[world] = std::make_unique<World>();
  World& w = *worlds_[world];
  w.delay.assign(nv_, 0);
  w.time.assign(nv_, 0.0);
  w.share.assign(nv_, 1.0);
  w.output.resize(kGroups * nv_);
  w.next.resize(kGroups * nv_);
  settle(world, now);
}

void Actuation::assign(WorldField field,
                       std::ptrdiff_t world,
                       const double* values,
                       const CommandRows& now) {
  if (!on(world)) turn_on(world, now);
  World& w = *worlds_[world];
  if (field == WorldField::kMotorTime) {
    for (int k = 0; k < nv_; ++k) {
      w.time[k] = values[k];
      w.share[k] = values[k] > 0.0 ? 1.0 - exponential(-dt_ / values[k]) : 1.0;
    }
  } else {
    std::copy_n(values, nv_, w.delay.begin());
    const int longest = *std::max_element(w.delay.begin(), w.delay.end());
    std::vector<double> held;
    for (int i = 0; i < kGroups * nv_; ++i) held.push_back(now.at(i / nv_, i % nv_));
    if (longest != w.depth) w.deepen(longest, held);
  }
  if (w.idle()) worlds_[world].reset();
}

void Actuation::read(WorldField field, std::ptrdiff_t world, double* values) const {
  std::fill_n(values, nv_, 0.0);
  if (!on(world)) return;
  const World& w = *worlds_[world];
  if (field == WorldField::kMotorTime)
    std::copy_n(w.time.begin(), nv_, values);
  else
    std::copy_n(w.delay.begin(), nv_, values);
}

void Actuation::settle(std::ptrdiff_t world, const CommandRows& now) {
  if (!on(world)) return;
  World& w = *worlds_[world];
  for (int i = 0; i < kGroups * nv_; ++i) w.output[i] = now.at(i / nv_, i % nv_);
  for (int ago = 1; ago <= w.depth; ++ago) std::copy(w.output.begin(), w.output.end(), w.row(ago));
}

const double* Actuation::next(std::ptrdiff_t world, const CommandRows& now) const {
  World& w = *worlds_[world];
  for (int group = 0; group < kGroups; ++group) {
    for (int k = 0; k < nv_; ++k) {
      const int i = group * nv_ + k;
      const double u = w.delay[k] == 0 ? now.at(group, k) : w.row(w.delay[k])[i], y = w.output[i];
      w.next[i] = w.time[k] > 0.0 ? y + w.share[k] * (u - y) : u;
    }
  }
  return w.next.data();
}

void Actuation::advance(std::ptrdiff_t world, const CommandRows& now) {
  World& w = *worlds_[world];
  std::swap(w.output, w.next);
  if (w.depth == 0) return;
  w.newest = (w.newest + w.depth - 1) % w.depth;
  double* row = w.row(1);
  for (int group = 0; group < kGroups; ++group) {
    for (int k = 0; k < nv_; ++k) row[group * nv_ + k] = now.at(group, k);
  }
}

int Actuation::depth(std::ptrdiff_t world) const { return on(world) ? worlds_[world]->depth : 0; }

void Actuation::remembered(std::ptrdiff_t world, const CommandRows& now, double* out) const {
  if (!on(world)) {
    for (int i = 0; i < kGroups * nv_; ++i) out[i] = now.at(i / nv_, i % nv_);
    return;
  }
  World& w = *worlds_[world];
  out = std::copy(w.output.begin(), w.output.end(), out);
  for (int ago = 1; ago <= w.depth; ++ago) out = std::copy_n(w.row(ago), kGroups * nv_, out);
}

void Actuation::remember(std::ptrdiff_t world, const double* rows) {
  if (!on(world)) return;
  World& w = *worlds_[world];
  std::copy_n(rows, kGroups * nv_, w.output.begin());
  for (int ago = 1; ago <= w.depth; ++ago)
    std::copy_n(rows + static_cast<std::ptrdiff_t>(ago) * kGroups * nv_, kGroups * nv_, w.row(ago));
}

}  // namespace stiction
