#pragma once

#include <algorithm>

namespace stiction {

// Contact points travel from step to step by (pair, feature), in Contact, ContactMemory and
// whatever else has these two fields; lists of them are sorted so.

inline constexpr auto contact_before = [](const auto& a, const auto& b) {
  return a.pair != b.pair ? a.pair < b.pair : a.feature < b.feature;
};
inline constexpr auto same_contact = [](const auto& a, const auto& b) {
  return a.pair == b.pair && a.feature == b.feature;
};
/// The one of a sorted list with the same pair and feature, or null.
inline constexpr auto find_contact = [](const auto& list, const auto& key) {
  const auto it = std::lower_bound(list.begin(), list.end(), key, contact_before);
  return it == list.end() || contact_before(key, *it) ? nullptr : &*it;
};

}  // namespace stiction
