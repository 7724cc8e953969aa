#pragma once

#include "stiction/solver/solver_settings.hpp"

#include "common.hpp"

#include <string>
#include <tuple>

namespace stiction::python {

/// "contact-norm", "diagonal", or the rows (n,) given.
bp::object regularisation_of(const SolverSettings& settings);
void set_regularisation(SolverSettings& settings, const bp::object& value);

/// What a table says of a field, as a docstring.
template <class Settings, class Value>
std::string setting_doc(const Setting<Settings, Value>& field) {
  std::string text;
  if (*field.unit != '\0') text += std::string("[") + field.unit + "] ";
  if (*field.range.words != '\0') text += std::string(field.range.words) + ". ";
  text += field.meaning;
  if (*field.readers != '\0') text += std::string(" Of ") + field.readers + ".";
  return text;
}

/// The fields of a table as attributes of a holder, in which group(holder) finds the aggregate.
template <class Holder, class Class, class Group, class... Fields>
void add_settings(Class& c, Group group, const std::tuple<Fields...>& table) {
  const auto add = [&]<class Settings, class Value>(const Setting<Settings, Value>& field) {
    const auto member = field.member;
    const auto get = [=](const Holder& h) -> Value {
      return group(const_cast<Holder&>(h)).*member;
    };
    const auto set = [=](Holder& h, Value value) { group(h).*member = value; };
    const bp::default_call_policies policies;
    c.add_property(field.name,
                   bp::make_function(get, policies, boost::mpl::vector2<Value, const Holder&>()),
                   bp::make_function(set, policies, boost::mpl::vector3<void, Holder&, Value>()),
                   setting_doc(field).c_str());
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, table);
}

/// The settings of a solver as attributes, except its name: of SolverSettings itself and, flat, of
/// SimulatorSettings.
template <class Holder, class Class, class Group>
void add_solver_settings(Class& c, Group group) {
  add_settings<Holder>(c, group, kSolverSettings);
  const bp::default_call_policies policies;
  c.add_property(
      "regularisation",
      bp::make_function(
          [=](const Holder& h) { return regularisation_of(group(const_cast<Holder&>(h))); },
          policies,
          boost::mpl::vector2<bp::object, const Holder&>()),
      bp::make_function(
          [=](Holder& h, const bp::object& value) { set_regularisation(group(h), value); },
          policies,
          boost::mpl::vector3<void, Holder&, const bp::object&>()),
      "\"contact-norm\", \"diagonal\", or the rows (n,) > 0 to add to diag(G). Of ccp-newton.");
}

}  // namespace stiction::python
