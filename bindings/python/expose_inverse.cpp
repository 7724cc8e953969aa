#include "common.hpp"
#include "simulator_holder.hpp"
#include <boost/python/stl_iterator.hpp>

// Inverse contact dynamics: plain parts, made an object in python/stiction/inverse.py.

namespace stiction::python {

namespace {

/// (torque, impulse, velocity, modes, residual, violation).
bp::tuple inverse_contact_dynamics(SimulatorHolder& sim,
                                   const State& state,
                                   const bp::object& v_next,
                                   const bp::object& actuated,
                                   const bp::object& control,
                                   double tolerance) {
  const Control& given = control_from(sim, control, "inverse_contact_dynamics");
  const Inside inside(sim.occupancy, "inverse_contact_dynamics");
  validate_state_of(sim, state);
  check_parameters(sim);
  const Eigen::VectorXd v = finite_vector_from(v_next, "v_next", sim.scene().nv());
  std::vector<int> dofs;
  if (!actuated.is_none()) dofs = {bp::stl_input_iterator<int>(actuated), {}};
  InverseContactDynamics found;
  {
    AllowThreads free;
    found = sim.Simulator::inverse_contact_dynamics(
        state, given, v, actuated.is_none() ? nullptr : &dofs, tolerance);
  }
  bp::list modes;
  for (const ContactMode mode : found.modes) modes.append(to_string(mode));
  return bp::make_tuple(to_array(found.torque),
                        to_array(found.impulse),
                        to_array(found.velocity),
                        modes,
                        to_array(found.residual),
                        found.violation);
}

}  // namespace

void expose_inverse(SimulatorClass& c) {
  c.def("_inverse_contact_dynamics", &inverse_contact_dynamics);
}

}  // namespace stiction::python
