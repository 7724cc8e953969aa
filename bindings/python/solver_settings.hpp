#pragma once

#include "stiction/solver/solver.hpp"

#include "common.hpp"

#include <type_traits>
#include <utility>

namespace stiction::python {

/// "contact-norm", "diagonal", or the rows (n,) given.
bp::object regularisation_of(const SolverSettings& settings);
void set_regularisation(SolverSettings& settings, const bp::object& value);

/// One member of the SolverSettings that `Access::of(holder)` finds.
template <class Holder, class Access, auto Member>
struct SolverField {
  using Value = std::remove_reference_t<decltype(std::declval<SolverSettings&>().*Member)>;
  static Value get(const Holder& h) { return Access::of(const_cast<Holder&>(h)).*Member; }
  static void set(Holder& h, Value value) { Access::of(h).*Member = value; }
};

/// The settings of a solver as attributes, except its name: of SolverSettings itself and, flat, of
/// SimulatorSettings.
template <class Access, class Holder, class Class>
void add_solver_settings(Class& c) {
  using S = SolverSettings;
  const auto add = [&](const char* name, auto field, const char* doc) {
    using Field = decltype(field);
    c.add_property(name, &Field::get, &Field::set, doc);
  };
#define STICTION_FIELD(member) \
  SolverField<Holder, Access, &S::member> {}
  add("tolerance", STICTION_FIELD(tolerance), "> 0, on the relative residual.");
  add("max_iterations", STICTION_FIELD(max_iterations), ">= 1, per island.");
  add("max_factorisations",
      STICTION_FIELD(max_factorisations),
      ">= 0, per island, 0: by formula: ncp-newton.");
  add("time_budget", STICTION_FIELD(time_budget), "[s] >= 0, 0: none: ncp-newton.");
  add("centred_loads",
      STICTION_FIELD(centred_loads),
      "ncp-newton: where impulses are not unique, those of the interior point method.");
  add("over_relaxation", STICTION_FIELD(over_relaxation), "In (0, 2): *-pgs, *-admm, *-staggered.");
  add("facets", STICTION_FIELD(facets), "4, 8 or 16, of the pyramid: lcp-*.");
  add("proximal",
      STICTION_FIELD(proximal),
      "> 0, eta / mean diag(G): *-admm, *-staggered, lcp-qp, lcp-lemke.");
  add("raisim_alpha_min",
      STICTION_FIELD(raisim_alpha_min),
      "In (0, 1]: the relaxation of raisim falls from 1 to it,");
  add("raisim_gamma",
      STICTION_FIELD(raisim_gamma),
      "In [0, 1], by this factor of what is left in each sweep.");
  add("regularisation_weight",
      STICTION_FIELD(regularisation_weight),
      "> 0, factor of the rule: ccp-newton.");
  add("regularise_infeasible",
      STICTION_FIELD(regularise_infeasible),
      "ncp-newton: answer an infeasible problem with the compliant one.");
#undef STICTION_FIELD
  c.add_property(
      "regularisation",
      +[](const Holder& h) { return regularisation_of(Access::of(const_cast<Holder&>(h))); },
      +[](Holder& h, const bp::object& value) { set_regularisation(Access::of(h), value); },
      "ccp-newton: \"contact-norm\", \"diagonal\", or the rows (n,) > 0 to add to diag(G).");
}

}  // namespace stiction::python
