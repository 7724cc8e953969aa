#include "common.hpp"
#include "simulator_holder.hpp"
#include "solver_settings.hpp"

#include <type_traits>
#include <utility>

namespace stiction::python {
namespace {

// --- settings: one flat list of names, as the keywords of stiction.Simulator ---

template <auto Group, auto Member>
struct Nested {
  using Value =
      std::remove_reference_t<decltype((std::declval<SimulatorSettings&>().*Group).*Member)>;
  static Value get(const SettingsHolder& s) { return (s.*Group).*Member; }
  static void set(SettingsHolder& s, Value value) { (s.*Group).*Member = value; }
};

struct SolverOf {
  static SolverSettings& of(SettingsHolder& s) { return s.solver; }
};

std::string settings_repr(const SettingsHolder& s) {
  return "SimulatorSettings(dt=" + number(s.dt) + ", solver=\"" + s.solver.name +
         "\", tolerance=" + number(s.solver.tolerance) +
         ", max_iterations=" + std::to_string(s.solver.max_iterations) + ")";
}

SettingsHolder settings_copy(const SettingsHolder& s) {
  return SettingsHolder(static_cast<const SimulatorSettings&>(s));  // free again
}

setattrofunc set_known_setting = nullptr;

/// The settings of a Simulator are a copy: assigning to them would change nothing.
int set_setting(PyObject* self, PyObject* name, PyObject* value) {
  const bp::extract<const SettingsHolder&> settings(self);
  if (!settings.check() || !settings().fixed) return set_known_setting(self, name, value);
  PyErr_Format(PyExc_AttributeError,
               "settings.%U: the settings of a Simulator are fixed; make a new one: "
               "Simulator(sim.scene, %U=...)",
               name,
               name);
  return -1;
}

}  // namespace

void expose_settings() {
  using S = SettingsHolder;
  bp::class_<S> c("SimulatorSettings",
                  "Settings of a Simulator; its keyword arguments have the same names. Those of "
                  "`Simulator.settings` are fixed, a copy() of them is not.");
  const auto nested = [&](const char* name, auto access, const char* doc) {
    using Access = decltype(access);
    c.add_property(name, &Access::get, &Access::set, doc);
  };
  c.def_readwrite("dt", &S::dt, "Time step [s], > 0.")
      .def_readwrite("integrator", &S::integrator, "A name of integrators().")
      .def_readwrite("impact_law", &S::impact_law, "\"newton-dissipative\" or \"newton\".")
      .def_readwrite(
          "project_closures",
          &S::project_closures,
          "Closed loops keep their energy: q and v end every step on the closures and gears.")
      .def("validate",
           &S::validate,
           bp::arg("self"),
           "Raises ValueError naming the field and its value.")
      .def("copy", &settings_copy, bp::arg("self"), "An independent copy, free to be edited.")
      .def("__repr__", &settings_repr);
  nested("solver", Nested<&S::solver, &SolverSettings::name>{}, "A name of solvers().");
  add_solver_settings<SolverOf, S>(c);
  nested("baumgarte",
         Nested<&S::contact, &ContactSettings::baumgarte>{},
         "In [0, 1]: share of a penetration removed per step.");
  nested("recovery_speed",
         Nested<&S::contact, &ContactSettings::recovery_speed>{},
         "[m/s] >= 0: no correction of a position error moves its row, a prismatic joint or a "
         "centre of mass faster.");
  nested("recovery_angular_speed",
         Nested<&S::contact, &ContactSettings::recovery_angular_speed>{},
         "[rad/s] >= 0: nor turns a joint or a body faster.");
  nested("restitution_threshold",
         Nested<&S::contact, &ContactSettings::restitution_threshold>{},
         "[m/s]: approach speed above which restitution acts; < 0: max(0.01, 2 |g| dt).");
  nested("closure_gain",
         Nested<&S::contact, &ContactSettings::closure_gain>{},
         "In [0, 1]: share of a closure's error removed per step.");
  nested("limit_margin",
         Nested<&S::contact, &ContactSettings::limit_margin>{},
         "[rad or m]: distance at which a joint limit becomes a row, at least.");
  nested("per_point_stiffness",
         Nested<&S::contact, &ContactSettings::per_point_stiffness>{},
         "Each point of a pair gets k, d instead of k / n, d / n.");
  nested("tangential_compliance",
         Nested<&S::contact, &ContactSettings::tangential_compliance>{},
         "Rigid step: pairs with a stiffness yield in the tangent plane too.");
  nested("law",
         Nested<&S::compliant, &CompliantSettings::law>{},
         "Of compliant integrators: \"continuous\" or \"published\".");
  nested("substeps",
         Nested<&S::compliant, &CompliantSettings::substeps>{},
         ">= 1: compliant integrators take so many equal sub-steps per step.");
  nested("newton_tolerance",
         Nested<&S::compliant, &CompliantSettings::newton_tolerance>{},
         "> 0: implicit-euler ends when its step is at most this part of the velocities.");
  nested("newton_iterations",
         Nested<&S::compliant, &CompliantSettings::newton_iterations>{},
         ">= 1: of implicit-euler per sub-step, at most.");
  nested("newton_halvings",
         Nested<&S::compliant, &CompliantSettings::newton_halvings>{},
         "In [0, 20]: where Newton fails, implicit-euler cuts the sub-step in two, so often.");
  nested("accuracy",
         Nested<&S::compliant, &CompliantSettings::accuracy>{},
         ">= 0: largest error of a step of exponential [m, rad, m/s, rad/s]; 0: fixed steps.");
  nested("max_products",
         Nested<&S::compliant, &CompliantSettings::max_products>{},
         "Of exponential-published: most matrix products of its exponential; -1: full precision.");
  nested("balancing",
         Nested<&S::compliant, &CompliantSettings::balancing>{},
         "Of exponential-published: scale its matrix by powers of 2 first.");
  nested("double_integral",
         Nested<&S::compliant, &CompliantSettings::double_integral>{},
         "Of exponential-published: q by the average of the average force.");
  nested("projection",
         Nested<&S::compliant, &CompliantSettings::projection>{},
         "Of exponential-published: average forces on the cone, \"radial\" or \"euclidean\".");
  nested("margin",
         Nested<&S::collision, &CollisionSettings::margin>{},
         "[m] >= 0: contacts begin at this gap, or at dt x approach speed.");
  nested("points_per_pair",
         Nested<&S::collision, &CollisionSettings::points_per_pair>{},
         "At most so many points of a pair, the deepest; 0: all.");
  nested("sleeping",
         Nested<&S::sleeping, &SleepSettings::enabled>{},
         "Islands at rest sleep until something happens to them.");
  nested("sleep_speed",
         Nested<&S::sleeping, &SleepSettings::speed>{},
         "[m/s or rad/s] >= 0: a tree is at rest if no velocity of it is above.");
  nested("sleep_time",
         Nested<&S::sleeping, &SleepSettings::time>{},
         "[s] > 0: an island that has rested so long falls asleep.");
  forbid_new_attributes(c);
  auto* type = reinterpret_cast<PyTypeObject*>(c.ptr());
  set_known_setting = type->tp_setattro;
  type->tp_setattro = &set_setting;
}

}  // namespace stiction::python
