#include "batch/world_rows.hpp"

#include "stiction/math/constants.hpp"

#include "math/number_text.hpp"
#include "math/within_bounds.hpp"
#include "model/unit_groups.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

constexpr double kUnitTolerance = 1e-6;  // that of validate_configuration()

bool all_finite(const double* x, int n) {
  bool bad = false;
  for (int k = 0; k < n; ++k) bad |= !(std::abs(x[k]) < kInfinity);
  return !bad;
}

}  // namespace

WorldRows WorldRows::from(std::ptrdiff_t world) const {
  return {nq,
          nv,
          q + world * nq,
          v + world * nv,
          torque + world * nv,
          position_target + world * nv,
          velocity_target + world * nv,
          time + world,
          status + world,
          certificate + world,
          contacts + world,
          scalar_steps + world,
          lane_exit + world,
          wrenches,
          actuation,
          last_steps,
          this->world + world};
}

void add_step(const WorldStep& step, const WorldRows& rows, int world) {
  const WorldRows row = rows.from(world);
  if (step.first) {
    *row.status = *row.lane_exit = 0;
    *row.certificate = 0.0;
    *row.scalar_steps = 0;
  }
  *row.status = std::max(*row.status, static_cast<std::uint8_t>(step.status));
  const double relative = std::isnan(step.relative) ? kInfinity : step.relative;
  *row.certificate = std::max(*row.certificate, relative);
  *row.contacts = step.contacts;
  if (step.exit == 0) return;
  ++*row.scalar_steps;
  *row.lane_exit = step.exit;
}

bool freeze_not_finite(const WorldRows& rows, int world, std::uint8_t exit) {
  const WorldRows row = rows.from(world);
  if (within_bounds(row.q, row.nq) && within_bounds(row.v, row.nv)) return false;
  add_step({StepStatus::kNotFinite, kInfinity, 0, exit, true}, rows, world);
  return true;
}

void each_contact(const std::vector<ContactMemory>& contacts, const ContactVisit& visit) {
  for (const ContactMemory& c : contacts)
    visit.call(visit.object,
               static_cast<int>(c.pair >> 32),
               static_cast<int>(c.pair & 0xffffffffu),
               c.impulse_A);
}

RowMemory::RowMemory(const Scene& scene, int worlds, double dt)
    : nq_(scene.nq()),
      nv_(scene.nv()),
      actuation_(worlds, scene.nv(), dt),
      last_steps_(scene, worlds) {
  const std::size_t n = static_cast<std::size_t>(worlds);
  q_.resize(n * nq_);
  for (std::vector<double>* x : {&v_, &torque_, &position_target_, &velocity_target_})
    x->resize(n * nv_);
  time_.resize(n);
  certificate_.resize(n);
  status_.resize(n);
  lane_exit_.resize(n);
  contacts_.resize(n);
  scalar_steps_.resize(n);
  bodies_ = scene.body_names();
  each_unit_group(scene, [&](int first, int count, const std::string& joint) {
    unit_groups_.push_back({first, count, joint});
  });
}

WorldRows RowMemory::rows() {
  return {nq_,
          nv_,
          q_.data(),
          v_.data(),
          torque_.data(),
          position_target_.data(),
          velocity_target_.data(),
          time_.data(),
          status_.data(),
          certificate_.data(),
          contacts_.data(),
          scalar_steps_.data(),
          lane_exit_.data(),
          &wrenches_,
          &actuation_,
          &last_steps_,
          0};
}

double* RowMemory::wrench(int body, const Vec3d& point) {
  for (const WrenchRows& w : wrenches_) {
    if (w.body == body && w.point.x == point.x && w.point.y == point.y && w.point.z == point.z)
      return w.rows.get();
  }
  wrenches_.push_back({body, point, std::make_unique<double[]>(6 * time_.size())});
  return wrenches_.back().rows.get();
}

BatchArrays RowMemory::arrays() {
  const WorldRows r = rows();
  return {r.q,
          r.v,
          r.torque,
          r.position_target,
          r.velocity_target,
          r.time,
          r.status,
          r.certificate,
          r.contacts,
          r.scalar_steps,
          r.lane_exit};
}

std::string RowMemory::entry(const char* field, int world, int k) const {
  return std::string(field) + "[" + std::to_string(world) + ", " + std::to_string(k) + "]";
}

void RowMemory::check_units(int world) const {
  const double* q = q_.data() + static_cast<std::ptrdiff_t>(world) * nq_;
  for (const UnitGroup& group : unit_groups_) {
    double sum = 0.0;
    for (int k = group.first; k < group.first + group.count; ++k) sum += q[k] * q[k];
    const double n = std::sqrt(sum);
    // One that is not finite is left to the step, which freezes its world.
    if (!(std::abs(n - 1.0) > kUnitTolerance) || !std::isfinite(n)) continue;
    throw std::invalid_argument(
        "norm of q[" + std::to_string(world) + ", " + std::to_string(group.first) + ":" +
        std::to_string(group.first + group.count) + "] (joint \"" + group.joint +
        "\") = " + number_text(n) + ": must be 1 within 1e-6: normalise it");
  }
}

void RowMemory::check_commands(int world) const {
  struct Field {
    const char* name;
    const std::vector<double>& values;
  };
  const Field fields[] = {{"torque", torque_},
                          {"position_target", position_target_},
                          {"velocity_target", velocity_target_}};
  for (const auto& [name, values] : fields) {
    const double* x = values.data() + static_cast<std::ptrdiff_t>(world) * nv_;
    if (all_finite(x, nv_)) continue;
    int k = 0;
    while (std::isfinite(x[k])) ++k;
    throw std::invalid_argument(entry(name, world, k) + " = " + number_text(x[k]) +
                                ": must be finite");
  }
}

void RowMemory::check(int first, int last, const std::uint8_t* mask) const {
  constexpr auto kFrozen = static_cast<std::uint8_t>(StepStatus::kNotFinite);
  for (int world = first; world < last; ++world) {
    if ((mask != nullptr && mask[world] == 0) || status_[world] == kFrozen) continue;
    check_commands(world);
    check_wrenches(world);
    check_units(world);
  }
}

void RowMemory::check_wrenches(int world) const {
  for (const WrenchRows& wrench : wrenches_) {
    const double* x = wrench.of(world);
    if (all_finite(x, 6)) continue;
    int k = 0;
    while (std::isfinite(x[k])) ++k;
    throw std::invalid_argument(entry("wrench", world, k) + " on body \"" + bodies_[wrench.body] +
                                "\" = " + number_text(x[k]) + ": must be finite");
  }
}

}  // namespace stiction
