#include "stiction/contact/compliant_law.hpp"

#include "common.hpp"
#include "contact/contact_memory.hpp"
#include "scene_holder.hpp"
#include "simulator/integrators.hpp"

#include <cmath>

namespace stiction::python {
namespace {

bp::dict registry() {
  bp::dict out;
  for (const IntegratorEntry& entry : integrators()) out[entry.name] = entry.description;
  return out;
}

// --- what a contact point keeps from step to step ---

int geometry_a(const ContactMemory& m) { return static_cast<int>(m.pair >> 32); }
int geometry_b(const ContactMemory& m) { return static_cast<int>(m.pair & 0xffffffffu); }
bp::object impulse(const ContactMemory& m) { return to_array(m.impulse_A); }
bp::object moment(const ContactMemory& m) { return to_array(m.moment_A); }
bp::object extension(const ContactMemory& m) { return to_array(m.extension); }
bp::object turn(const ContactMemory& m) { return to_array(m.turn); }

std::shared_ptr<ContactMemory> make_memory(int a,
                                           int b,
                                           long feature,
                                           const bp::object& extension,
                                           const bp::object& impulse,
                                           const bp::object& moment,
                                           const bp::object& turn) {
  if (a < 0 || b <= a) {
    throw std::invalid_argument("ContactMemory: geometry_a = " + std::to_string(a) +
                                ", geometry_b = " + std::to_string(b) +
                                ": must be 0 <= geometry_a < geometry_b");
  }
  if (feature < 0 || feature > 0xffffffffL) {
    throw std::invalid_argument("ContactMemory.feature = " + std::to_string(feature) +
                                ": must be in [0, 2^32)");
  }
  auto m = std::make_shared<ContactMemory>();
  m->pair = static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b);
  m->feature = static_cast<std::uint32_t>(feature);
  m->impulse_A = impulse.is_none() ? Vec3d{0, 0, 0} : vec3_from(impulse, "ContactMemory.impulse");
  m->extension =
      extension.is_none() ? Vec3d{0, 0, 0} : vec3_from(extension, "ContactMemory.extension");
  m->moment_A = moment.is_none() ? Vec3d{0, 0, 0} : vec3_from(moment, "ContactMemory.moment");
  m->turn = turn.is_none() ? Vec3d{0, 0, 0} : vec3_from(turn, "ContactMemory.turn");
  return m;
}

std::string memory_repr(const ContactMemory& m) {
  return "ContactMemory(geometry_a=" + std::to_string(geometry_a(m)) +
         ", geometry_b=" + std::to_string(geometry_b(m)) +
         ", feature=" + std::to_string(m.feature) + ", extension=" + vector_text(m.extension) + ")";
}

}  // namespace

void expose_integrator() {
  using bp::arg;
  bp::def("integrators", &registry, "dict of name -> description.");
  bp::class_<ContactMemory, std::shared_ptr<ContactMemory>> c(
      "ContactMemory",
      "What one contact point keeps from step to step; see State.contacts.",
      bp::no_init);
  c.def("__init__",
        bp::make_constructor(&make_memory,
                             bp::default_call_policies(),
                             (arg("geometry_a"),
                              arg("geometry_b"),
                              arg("feature"),
                              arg("extension") = bp::object(),
                              arg("impulse") = bp::object(),
                              arg("moment") = bp::object(),
                              arg("turn") = bp::object())))
      .add_property("geometry_a", &geometry_a)
      .add_property("geometry_b", &geometry_b, "Larger than geometry_a.")
      .def_readonly("feature", &ContactMemory::feature, "Persistent id within the pair.")
      .add_property("impulse", &impulse, "(3,) on B, axes of A's body [N s]: warm start.")
      .add_property("moment",
                    &moment,
                    "(3,) couple on B of torsional and rolling friction, axes of A's body [N m s].")
      .add_property(
          "extension",
          &extension,
          "(3,) where B's point would be without force minus where it is, relative to A [m]; axes "
          "of the body that carries the anchor: B's if B has a half-space, height field or mesh "
          "surface and A has none, else A's.")
      .add_property("turn",
                    &turn,
                    "(3,) the same of the springs of torsional and rolling friction [rad]; "
                    "compliant integrators alone.")
      .def("__repr__", &memory_repr);
  forbid_new_attributes(c);
}

}  // namespace stiction::python
