#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

// Settings are aggregates; a table beside each aggregate says what its fields may be, what they
// mean and who reads them. Checks, the attributes in Python, its stubs and docs/settings.md are
// made from these tables alone.

namespace stiction {

/// What a value must be, in words that follow "must be", and the test of it; none: any value.
template <class Value>
struct Allowed {
  const char* words = "";
  bool (*holds)(const Value&) = nullptr;
};

inline constexpr Allowed<bool> kEither{};
inline constexpr Allowed<double> kPositive{
    "> 0 and finite", [](const double& x) { return x > 0.0 && std::isfinite(x); }};
inline constexpr Allowed<double> kNotNegative{">= 0", [](const double& x) { return x >= 0.0; }};
inline constexpr Allowed<double> kInUnit{"in [0, 1]",
                                         [](const double& x) { return x >= 0.0 && x <= 1.0; }};
inline constexpr Allowed<int> kAtLeastOne{">= 1", [](const int& n) { return n >= 1; }};
inline constexpr Allowed<int> kCount{">= 0", [](const int& n) { return n >= 0; }};

/// One field of an aggregate `Settings`.
template <class Settings, class Value>
struct Setting {
  const char* name;  ///< the keyword in Python
  Value Settings::* member;
  Allowed<Value> range;
  const char* unit;          ///< "" if it has none
  const char* meaning;       ///< one sentence
  const char* readers = "";  ///< solvers or integrators, apart by blanks, `*` for any letters; "":
                             ///< all
};

std::string setting_text(bool value);
std::string setting_text(int value);
std::string setting_text(double value);
std::string setting_text(const std::string& value);  ///< in quotes

/// Whether a name is among the readers.
bool reads(const char* readers, const std::string& name);

/// Throws std::invalid_argument naming the field, its value and what it must be.
template <class Settings, class... Fields>
void check_ranges(const Settings& settings, const std::tuple<Fields...>& table) {
  const auto check = [&](const auto& field) {
    const auto& value = settings.*field.member;
    if (field.range.holds == nullptr || field.range.holds(value)) return;
    const std::string unit = *field.unit != '\0' ? std::string(" [") + field.unit + "]" : "";
    throw std::invalid_argument(std::string(field.name) + " = " + setting_text(value) +
                                ": must be " + field.range.words + unit);
  };
  std::apply([&](const auto&... field) { (check(field), ...); }, table);
}

/// Throws std::invalid_argument for a field that differs from its default although `reader` (a
/// `kind`: "solver" or "integrator") does not read it; the message names those that do.
template <class Settings, class... Fields>
void refuse_unread(const Settings& settings,
                   const Settings& defaults,
                   const std::tuple<Fields...>& table,
                   const std::string& kind,
                   const std::string& reader) {
  const auto check = [&](const auto& field) {
    const auto& value = settings.*field.member;
    if (value == defaults.*field.member || reads(field.readers, reader)) return;
    throw std::invalid_argument(std::string(field.name) + " = " + setting_text(value) + ": " +
                                kind + " \"" + reader + "\" does not read it; of " + field.readers);
  };
  std::apply([&](const auto&... field) { (check(field), ...); }, table);
}

}  // namespace stiction
