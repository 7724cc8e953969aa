#include "simulator/lanes/lane_of_one.hpp"

#include "contact/build_problem.hpp"
#include "contact/contact_memory.hpp"
#include "dynamics/forest.hpp"
#include "dynamics/joint_forces.hpp"
#include "simulator/lanes/lane_parameters.hpp"
#include "solver/dense/dense_island.hpp"

#include <algorithm>

namespace stiction {

LaneOfOne::LaneOfOne(const Scene& scene, const SimulatorSettings& settings)
    : layout_(scene, settings),
      view_(layout_.view(1)),
      finder_(scene, settings),
      kernel_(lane_kernels().front()),
      parameters_{LaneMemory(kernel_.parameters(view_, kMasses)),
                  LaneMemory(kernel_.parameters(view_, kJoints)),
                  LaneMemory(kernel_.parameters(view_, kShapes))},
      work_(kernel_.doubles(view_, 1)),
      indices_(kernel_.integers(view_, 1)),
      used_(num_sets(view_)),
      control_(3 * view_.tree.nv, 0.0),
      impulse_(kept_rows(view_)),
      feature_(view_.num_found),
      places_(kept_places(layout_)),
      record_memory_(2 * total_rows(view_) + 3 * num_sets(view_)) {
  finder_.give_to(view_);
  for (const LaneSlot& slot : layout_.slots) pair_.push_back(pair_of(layout_, slot));
  const int rows = total_rows(view_);
  double* memory = record_memory_.data();
  record_.used = used_.data();
  record_.impulse = memory;
  record_.velocity = memory + rows;
  record_.gap = memory + 2 * rows;
  record_.reference = record_.gap + num_sets(view_);
  record_.corrects = record_.reference + num_sets(view_);
}

void LaneOfOne::read_parameters(const StepInput& input) {
  const Parameters& p = input.parameters;
  if (known_ && p.version == version_) return;
  for (const LaneBlock block : {kMasses, kJoints, kShapes})
    write_lane_parameters(input.scene, layout_, p, block, 1, 0, parameters_[block].data());
  known_ = true;
  version_ = p.version;
}

LaneBlocks LaneOfOne::blocks() const {
  return {{parameters_[kMasses].data(), parameters_[kJoints].data(), parameters_[kShapes].data()}};
}

void LaneOfOne::read_control(const Control& control) {
  double* out = control_.data();
  const int nv = view_.tree.nv;
  for (const Eigen::VectorXd* x :
       {&control.torque, &control.position_target, &control.velocity_target}) {
    if (x->size() == 0)
      std::fill_n(out, nv, 0.0);
    else
      std::copy_n(x->data(), nv, out);
    out += nv;
  }
}

/// False: it is of a guard, and there is no room for it.
bool LaneOfOne::read_place(const ContactMemory& kept) {
  const int guard = layout_.guard_of(kept.pair);
  if (guard < 0) return true;
  const int count = static_cast<int>(places_[0]);
  if (count == kMaxLanePlaces) return false;
  double* entry = places_.data() + 1 + kKeptPlace * count;
  entry[0] = guard;
  entry[1] = kept.feature;
  for (int r = 0; r < 3; ++r) entry[2 + r] = kept.impulse_A[r];
  places_[0] = count + 1;
  return true;
}

/// Contacts and slots are sorted alike; those of pairs that are found take places in turn. False:
/// such a pair, or the guards together, have more impulses than places, which would be lost.
bool LaneOfOne::read_impulses(const State& state) {
  std::fill(impulse_.begin(), impulse_.end(), 0.0);
  std::fill(feature_.begin(), feature_.end(), kNoFeature);
  if (!places_.empty()) places_[0] = 0.0;
  const int slots = view_.num_slots;
  int k = 0;
  for (const ContactMemory& kept : state.contacts) {
    while (k < slots && pair_[k] < kept.pair) ++k;
    while (k < slots && pair_[k] == kept.pair && layout_.slots[k].found < 0 &&
           layout_.slots[k].feature < kept.feature)
      ++k;
    if (k > 0 && layout_.slots[k - 1].found >= 0 && pair_[k - 1] == kept.pair &&
        (k == slots || pair_[k] != kept.pair))
      return false;
    if (k == slots || pair_[k] != kept.pair) {
      if (!read_place(kept)) return false;
      continue;
    }
    const LaneSlot& slot = layout_.slots[k];
    if (slot.found < 0 && slot.feature != kept.feature) continue;
    if (slot.found >= 0) feature_[slot.found] = kept.feature;
    for (int r = 0; r < 3; ++r) impulse_[3 * k + r] = kept.impulse_A[r];
    ++k;
  }
  for (int j = 0; j < view_.num_rows; ++j)
    impulse_[3 * slots + j] = state.constraint_impulse[joint_place(layout_.rows[j], view_.tree.nv)];
  return true;
}

void LaneOfOne::write_impulses(State& state) const {
  state.contacts.clear();
  std::fill(state.constraint_impulse.begin(), state.constraint_impulse.end(), 0.0);
  const double* place = places_.data() + 1;
  for (int n = 0; n < record_.num_used; ++n) {
    const int set = record_.used[n];
    if (is_place(view_, set)) {
      state.contacts.push_back(kept_contact(pair_of(layout_.guards[static_cast<int>(place[0])]),
                                            static_cast<std::uint32_t>(place[1]),
                                            {place[2], place[3], place[4]}));
      place += kKeptPlace;
      continue;
    }
    const double* l = impulse_.data() + kept_offset(view_, set);
    if (!is_cone(view_, set)) {
      state.constraint_impulse[joint_place(joint_row(view_, set), view_.tree.nv)] =
          kept_number(l[0]);
      continue;
    }
    const LaneSlot& slot = layout_.slots[set];
    const std::uint32_t feature =
        slot.found < 0 ? slot.feature : static_cast<std::uint32_t>(feature_[slot.found]);
    state.contacts.push_back(kept_contact(pair_[set], feature, {l[0], l[1], l[2]}));
  }
}

bool LaneOfOne::step(const StepInput& input, State& state, StepReport& report) {
  finder_.follow(input.scene);
  read_parameters(input);
  read_control(input.control);
  if (!read_impulses(state)) return false;
  double relative = 0.0, contacts = 0.0;
  const double held = 0.0;
  LaneExit exit = LaneExit::kStepped;
  const LanePack pack{blocks(),
                      control_.data(),
                      state.q.data(),
                      state.v.data(),
                      impulse_.data(),
                      &relative,
                      &contacts,
                      &held,
                      &exit,
                      nullptr,
                      feature_.data(),
                      places_.data(),
                      &record_};
  kernel_.step(view_, &pack, 1, work_.data(), indices_.data());
  if (exit != LaneExit::kStepped) return false;
  state.time += view_.rules.dt;
  state.queries.clear();
  state.rest.clear();
  write_impulses(state);
  fill_report(input, report);
  return true;
}

/// As RigidStep::fill_report(), in its order of sums.
void LaneOfOne::fill_report(const StepInput& input, StepReport& r) const {
  r = {};
  const DenseOutcome& x = record_.solved;
  r.residuals = {x.primal, x.dual, x.complementarity, x.relative, x.backward};
  r.iterations = x.sweeps;
  r.factorisations = x.steps;
  r.tolerance = input.settings.solver.tolerance;
  const LaneParameters<double> p = read_lane_parameters<double>(view_, blocks());
  const double* place = places_.data() + 1;
  double largest = 0.0;
  for (int n = 0; n < record_.num_used; ++n) {
    const int set = record_.used[n];
    if (is_cone(view_, set))
      largest = std::max(largest, record_.impulse[set_offset(view_, set) + 2]);
  }
  for (int n = 0; n < record_.num_used; ++n) {
    const int set = record_.used[n], dim = set_dim(view_, set);
    const double* l = record_.impulse + set_offset(view_, set);
    const double* c = record_.velocity + set_offset(view_, set);
    r.num_rows += dim;
    if (record_.corrects[set] > 0.0)
      r.recovery_energy += recovery_energy(record_.reference[set], l[dim - 1], c[dim - 1]);
    if (!is_cone(view_, set)) continue;
    ++r.num_contacts;
    r.penetration = std::max(r.penetration, -record_.gap[set]);
    const bool of_guard = is_place(view_, set);
    const int pair =
        of_guard ? layout_.guards[static_cast<int>(place[0])].pair : layout_.slots[set].pair;
    if (of_guard) place += kKeptPlace;
    const Cone cone = Cone::coulomb(p.friction[pair]);
    if (l[2] > kLeastLoadShare * largest && !on_cone(cone, l))
      r.creep = std::max(r.creep, slip(cone, c));
  }
  r.num_islands = r.num_rows > 0 ? 1 : 0;
  r.work = dense_work(r.num_rows, x);
  r.kinetic_energy = record_.kinetic_energy + rotor_energy(input.parameters, input.before.v.data());
  r.potential_energy = record_.potential_energy +
                       spring_energy(input.scene, input.parameters, input.before.q.data());
}

}  // namespace stiction
