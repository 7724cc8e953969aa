#pragma once

namespace stiction {

// Contact points travel from step to step by (pair, feature), in Contact, ContactMemory and
// whatever else has these two fields; lists of them are sorted so.

inline constexpr auto contact_before = [](const auto& a, const auto& b) {
  return a.pair != b.pair ? a.pair < b.pair : a.feature < b.feature;
};
inline constexpr auto same_contact = [](const auto& a, const auto& b) {
  return a.pair == b.pair && a.feature == b.feature;
};

}  // namespace stiction
