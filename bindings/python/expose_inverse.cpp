#include "common.hpp"
#include "simulator_holder.hpp"
#include <boost/python/stl_iterator.hpp>

// Inverse contact dynamics: plain parts, made an object in python/stiction/inverse.py.

namespace stiction::python {

namespace {

/// The checked arguments of both.
struct Asked {
  Asked(SimulatorHolder& sim,
        const char* caller,
        const State& state,
        const bp::object& v_next,
        const bp::object& actuated,
        const bp::object& control)
      : control(control_from(sim, control, caller)), inside(sim.occupancy, caller) {
    validate_state_of(sim, state);
    check_parameters(sim);
    v = finite_vector_from(v_next, "v_next", sim.scene().nv());
    if (!actuated.is_none()) dofs = {bp::stl_input_iterator<int>(actuated), {}};
    given = actuated.is_none() ? nullptr : &dofs;
  }

  const Control& control;
  const Inside inside;
  Eigen::VectorXd v;
  std::vector<int> dofs;
  const std::vector<int>* given;
};

/// (torque, impulse, velocity, modes, residual, violation).
bp::tuple parts(const InverseContactDynamics& found) {
  bp::list modes;
  for (const ContactMode mode : found.modes) modes.append(to_string(mode));
  return bp::make_tuple(to_array(found.torque),
                        to_array(found.impulse),
                        to_array(found.velocity),
                        modes,
                        to_array(found.residual),
                        found.violation);
}

bp::tuple inverse_contact_dynamics(SimulatorHolder& sim,
                                   const State& state,
                                   const bp::object& v_next,
                                   const bp::object& actuated,
                                   const bp::object& control,
                                   double tolerance) {
  const Asked asked(sim, "inverse_contact_dynamics", state, v_next, actuated, control);
  InverseContactDynamics found;
  {
    AllowThreads free;
    found = sim.Simulator::inverse_contact_dynamics(
        state, asked.control, asked.v, asked.given, tolerance);
  }
  return parts(found);
}

/// (the parts, by (q, v, v_next) of torque and of the residual, counts, smallest eigenvalue).
bp::tuple inverse_contact_derivatives(SimulatorHolder& sim,
                                      const State& state,
                                      const bp::object& v_next,
                                      const bp::object& actuated,
                                      const bp::object& control,
                                      double tolerance) {
  const Asked asked(sim, "inverse_contact_derivatives", state, v_next, actuated, control);
  InverseContactDerivatives found;
  {
    AllowThreads free;
    found = sim.Simulator::inverse_contact_derivatives(
        state, asked.control, asked.v, asked.given, tolerance);
  }
  return bp::make_tuple(parts(found.at),
                        to_array(found.torque),
                        to_array(found.residual),
                        found.num_inexact,
                        found.num_at_bounds,
                        found.smallest_eigenvalue);
}

}  // namespace

void expose_inverse(SimulatorClass& c) {
  c.def("_inverse_contact_dynamics", &inverse_contact_dynamics)
      .def("_inverse_contact_derivatives", &inverse_contact_derivatives);
}

}  // namespace stiction::python
