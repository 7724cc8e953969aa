#include "stiction/solver/solver.hpp"

#include "common.hpp"

namespace stiction::python {
namespace {

bp::dict registry() {
  bp::dict out;
  for (const SolverEntry& e : solvers()) out[e.name] = std::string(e.model) + ": " + e.description;
  return out;
}

ContactSolution solve_problem(const ContactProblem& problem,
                              const std::string& solver,
                              double tolerance,
                              int max_iterations,
                              const bp::object& warm_start,
                              bool newton) {
  const SolverSettings settings{solver, tolerance, max_iterations, newton};
  settings.validate();
  ContactSolution solution;
  if (!warm_start.is_none()) {
    const Eigen::VectorXd l = vector_from(warm_start, "warm_start", problem.num_rows());
    if (!l.allFinite()) throw std::invalid_argument("warm_start has an entry that is not finite");
    solution.impulse.assign(l.data(), l.data() + l.size());
  }
  SolverWorkspace work;
  AllowThreads free;
  solve(problem, settings, work, solution);
  return solution;
}

bp::object impulse(const ContactSolution& s) { return to_array(s.impulse); }
bp::object velocity(const ContactSolution& s) { return to_array(s.velocity); }
Residuals residuals_copy(const ContactSolution& s) { return s.residuals; }
std::string status(const ContactSolution& s) { return to_string(s.status); }
std::string repr(const ContactSolution& s) {
  return "ContactSolution(status=\"" + status(s) +
         "\", iterations=" + std::to_string(s.iterations) +
         ", relative=" + number(s.residuals.relative) + ")";
}

}  // namespace

void expose_solver() {
  using bp::arg;
  bp::class_<ContactSolution>(
      "ContactSolution", "Impulses, their velocity and their certificate.", bp::no_init)
      .add_property("impulse", &impulse, "(n,) lambda [N s].")
      .add_property("velocity", &velocity, "(n,) c = (G + diag R) lambda + g [m/s].")
      .add_property("residuals", &residuals_copy, "Residuals.")
      .def_readonly("iterations", &ContactSolution::iterations)
      .def_readonly("factorisations", &ContactSolution::factorisations)
      .add_property("status",
                    &status,
                    "\"converged\", \"rounding_limited\", \"max_iterations\" or \"not_finite\".")
      .add_property("converged", &ContactSolution::converged)
      .def("__repr__", &repr);
  bp::def("solvers", &registry, "dict of name -> contact model and description.");
  bp::def("solve",
          &solve_problem,
          (arg("problem"),
           arg("solver") = "ncp-pgs",
           arg("tolerance") = 1e-8,
           arg("max_iterations") = 1000,
           arg("warm_start") = bp::object(),
           arg("newton") = true),
          "Solves a ContactProblem. tolerance > 0 bounds Residuals.relative; warm_start (n,) [N "
          "s], None is "
          "zero; newton=False: ncp-pgs without its Newton steps. Raises ValueError naming the "
          "argument.");
}

}  // namespace stiction::python
