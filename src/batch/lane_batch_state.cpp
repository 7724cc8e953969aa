#include "batch/lane_batch.hpp"
#include "batch/lane_numbers.hpp"
#include "contact/contact_memory.hpp"
#include "model/contact_order.hpp"

#include <algorithm>

// A world's state into its lane and back. Impulses of contacts lie in slots, or of pairs without
// any in a short list; what has no place there is kept beside, and keeps the world from the lanes
// if it could be a warm start.

namespace stiction {

void LaneBatch::set_state(int world, const State& state) {
  const int W = kernel_.width;
  set_motion(world, state.q.data(), state.v.data());
  data_.time[world] = state.time;
  hold(world, false);
  double* impulse = at(data_.impulse, world, kept_rows(view_));
  for (int k = 0; k < kept_rows(view_); ++k) impulse[k * W] = 0.0;
  double* feature = at(data_.feature, world, view_.num_found);
  for (int k = 0; k < view_.num_found; ++k) feature[k * W] = kNoFeature;
  if (view_.num_guards > 0) *at(data_.places, world, kKeptPlaces) = 0.0;
  data_.others[world].clear();
  data_.turned[world].clear();
  data_.crowded[world] = 0;
  for (const ContactMemory& kept : state.contacts) {
    take_memory(world, kept);
    if (squared_norm(kept.moment_A) > 0.0) data_.turned[world].push_back(kept);
  }
  for (int j = 0; j < view_.num_rows; ++j)
    impulse[(3 * view_.num_slots + j) * W] =
        state.constraint_impulse[joint_place(layout_.rows[j], view_.tree.nv)];
}

/// False: no room is left.
bool LaneBatch::take_place(int world, int guard, const ContactMemory& memory) {
  const int W = kernel_.width;
  double* count = at(data_.places, world, kKeptPlaces);
  if (*count == kMaxLanePlaces) return false;
  double* entry = count + (1 + kKeptPlace * static_cast<int>(*count)) * W;
  const double own[kKeptPlace] = {static_cast<double>(guard),
                                  static_cast<double>(memory.feature),
                                  memory.impulse_A.x,
                                  memory.impulse_A.y,
                                  memory.impulse_A.z};
  scatter(own, kKeptPlace, W, entry);
  *count += 1.0;
  return true;
}

/// visit(guard, feature, impulse) of what places keep.
template <class Visit>
void LaneBatch::each_place(int world, Visit&& visit) const {
  if (view_.num_guards == 0) return;
  const int W = kernel_.width;
  const double* count = at(data_.places, world, kKeptPlaces);
  for (int k = 0; k < static_cast<int>(*count); ++k) {
    double own[kKeptPlace];
    gather(count + (1 + kKeptPlace * k) * W, kKeptPlace, W, own);
    visit(layout_.guards[static_cast<int>(own[0])],
          static_cast<std::uint32_t>(own[1]),
          Vec3d{own[2], own[3], own[4]});
  }
}

/// To its slot, that of its feature or the first free one of a found pair, or to a place.
void LaneBatch::take_memory(int world, const ContactMemory& memory) {
  const int W = kernel_.width;
  double* feature = at(data_.feature, world, view_.num_found);
  const auto slot = std::find_if(layout_.slots.begin(), layout_.slots.end(), [&](const auto& x) {
    return pair_of(layout_, x) == memory.pair &&
           (x.found < 0 ? x.feature == memory.feature : feature[x.found * W] == kNoFeature);
  });
  if (slot == layout_.slots.end()) {
    const int guard = layout_.guard_of(memory.pair);
    if (guard >= 0 && take_place(world, guard, memory)) return;
    if (guard >= 0) data_.crowded[world] = 1;
    data_.others[world].push_back(memory);
    for (const LaneSlot& x : layout_.slots) {
      if (x.found >= 0 && pair_of(layout_, x) == memory.pair) data_.crowded[world] = 1;
    }
    return;
  }
  if (slot->found >= 0) feature[slot->found * W] = memory.feature;
  const auto k = slot - layout_.slots.begin();
  double* own = at(data_.impulse, world, kept_rows(view_)) + 3 * k * W;
  for (int r = 0; r < 3; ++r) own[r * W] = memory.impulse_A[r];
}

std::uint32_t LaneBatch::feature_of(int world, int slot) const {
  const LaneSlot& own = layout_.slots[slot];
  if (own.found < 0) return own.feature;
  return static_cast<std::uint32_t>(
      at(data_.feature, world, view_.num_found)[own.found * kernel_.width]);
}

void LaneBatch::get_state(int world, State& state) const {
  const int W = kernel_.width, nv = view_.tree.nv;
  state.scene = scalar_.fingerprint();
  state.q.resize(view_.tree.nq);
  state.v.resize(nv);
  get_motion(world, state.q.data(), state.v.data());
  state.time = data_.time[world];
  state.queries.clear();
  state.rest.clear();
  state.contacts.assign(data_.others[world].begin(), data_.others[world].end());
  const double* impulse = at(data_.impulse, world, kept_rows(view_));
  for (int k = 0; k < view_.num_slots; ++k) {
    const double* own = impulse + 3 * k * W;
    const Vec3d l{own[0], own[W], own[2 * W]};
    if (l.x == 0.0 && l.y == 0.0 && l.z == 0.0) continue;
    const LaneSlot& slot = layout_.slots[k];
    state.contacts.push_back(kept_contact(pair_of(layout_, slot), feature_of(world, k), l));
  }
  each_place(world, [&](const LaneGuard& guard, std::uint32_t feature, const Vec3d& l) {
    state.contacts.push_back(kept_contact(pair_of(guard), feature, l));
  });
  for (const ContactMemory& turned : data_.turned[world]) {
    for (ContactMemory& kept : state.contacts) {
      if (kept.pair == turned.pair && kept.feature == turned.feature)
        kept.moment_A = turned.moment_A;
    }
  }
  std::sort(state.contacts.begin(), state.contacts.end(), contact_before);
  state.constraint_impulse.assign(constraint_impulse_size(scene()), 0.0);
  for (int j = 0; j < view_.num_rows; ++j)
    state.constraint_impulse[joint_place(layout_.rows[j], nv)] =
        kept_number(impulse[(3 * view_.num_slots + j) * W]);
}

void LaneBatch::each_contact(int world, const ContactVisit& visit) const {
  const int W = kernel_.width;
  const double* impulse = at(data_.impulse, world, kept_rows(view_));
  for (int k = 0; k < view_.num_slots; ++k) {
    const double* own = impulse + 3 * k * W;
    const auto [a, b] = std::minmax(view_.slots[k].shape, view_.slots[k].plane);
    visit.call(visit.object, a, b, {own[0], own[W], own[2 * W]});
  }
  each_place(world, [&](const LaneGuard& guard, std::uint32_t, const Vec3d& l) {
    const auto [a, b] = std::minmax(guard.shape, guard.other);
    visit.call(visit.object, a, b, l);
  });
  stiction::each_contact(data_.others[world], visit);
}

}  // namespace stiction
