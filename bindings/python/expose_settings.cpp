#include "common.hpp"
#include "simulator_holder.hpp"
#include "solver_settings.hpp"

#include <string>
#include <tuple>

namespace stiction::python {
namespace {

std::string settings_repr(const SettingsHolder& s) {
  return "SimulatorSettings(dt=" + number(s.dt) + ", solver=\"" + s.solver.name +
         "\", tolerance=" + number(s.solver.tolerance) +
         ", max_iterations=" + std::to_string(s.solver.max_iterations) + ")";
}

std::string solver_name(const SettingsHolder& s) { return s.solver.name; }
void set_solver_name(SettingsHolder& s, const std::string& name) { s.solver.name = name; }

const char* type_name(bool) { return "bool"; }
const char* type_name(int) { return "int"; }
const char* type_name(double) { return "float"; }
const char* type_name(const std::string&) { return "str"; }

/// The tables, for stubs and pages.
bp::list setting_fields() {
  bp::list out;
  const SimulatorSettings usual;
  each_table(usual,
             usual,
             [&](const auto& table,
                 const auto& settings,
                 const auto&,
                 const std::string& kind,
                 const std::string&) {
               const auto add = [&](const auto& field) {
                 const auto& value = settings.*field.member;
                 bp::dict row;
                 row["name"] = field.name;
                 row["type"] = type_name(value);
                 row["default"] = value;
                 row["unit"] = field.unit;
                 row["range"] = field.range.words;
                 row["meaning"] = field.meaning;
                 row["kind"] = kind;
                 row["readers"] = field.readers;
                 out.append(row);
               };
               std::apply([&](const auto&... field) { (add(field), ...); }, table);
             });
  return out;
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
  c.def_readwrite("integrator", &S::integrator, "A name of integrators().")
      .add_property("solver", &solver_name, &set_solver_name, "A name of solvers().")
      .def("validate", &S::validate, bp::arg("self"), "Raises ValueError naming the field.")
      .def("copy", &settings_copy, bp::arg("self"), "An independent copy, free to be edited.")
      .def("__repr__", &settings_repr);
  add_solver_settings<S>(c, [](S& s) -> SolverSettings& { return s.solver; });
  add_settings<S>(c, [](S& s) -> SimulatorSettings& { return s; }, kSimulatorSettings);
  add_settings<S>(c, [](S& s) -> ContactSettings& { return s.contact; }, kContactSettings);
  add_settings<S>(c, [](S& s) -> CollisionSettings& { return s.collision; }, kCollisionSettings);
  add_settings<S>(c, [](S& s) -> SleepSettings& { return s.sleeping; }, kSleepSettings);
  add_settings<S>(c, [](S& s) -> CompliantSettings& { return s.compliant; }, kCompliantSettings);
  bp::def("_setting_fields",
          &setting_fields,
          "[dict] of every setting: name, type, default, default of `solve`, unit, range, meaning, "
          "kind of its readers, readers.");
  forbid_new_attributes(c);
  auto* type = reinterpret_cast<PyTypeObject*>(c.ptr());
  set_known_setting = type->tp_setattro;
  type->tp_setattro = &set_setting;
}

}  // namespace stiction::python
