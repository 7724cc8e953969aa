#include "stiction/derivatives/solution_derivatives.hpp"

#include "common.hpp"

namespace stiction::python {
namespace {

bp::list modes(const SolutionDerivatives& d) {
  bp::list out;
  for (const ContactMode mode : d.modes) out.append(to_string(mode));
  return out;
}
bp::object by_g(const SolutionDerivatives& d) { return to_array(RowMatrix(d.by_g)); }
bp::object by_friction(const SolutionDerivatives& d) { return to_array(RowMatrix(d.by_friction)); }
bp::object margin(const SolutionDerivatives& d) { return to_array(d.margin); }

std::string repr(const SolutionDerivatives& d) {
  return "SolutionDerivatives(rows=" + std::to_string(d.by_g.rows()) +
         ", unknowns=" + std::to_string(d.unknowns) + ", rank=" + std::to_string(d.rank) + ")";
}

SolutionDerivatives derivatives(const bp::object& problem,
                                const bp::object& solution,
                                double tolerance) {
  const bp::extract<const ContactProblem&> p(problem);
  const bp::extract<const ContactSolution&> s(solution);
  const auto refuse = [](const char* name, const bp::object& x, const char* wanted) {
    raise_type_error(std::string(name) + " = " + std::string(bp::extract<std::string>(bp::str(x))) +
                     ": must be a " + wanted);
  };
  if (!p.check()) refuse("problem", problem, "ContactProblem, such as sim.problem()");
  if (!s.check()) refuse("solution", solution, "ContactSolution, such as solve(problem)");
  return solution_derivatives(p(), s(), tolerance);
}

}  // namespace

void expose_solution_derivatives() {
  using bp::arg;
  bp::class_<SolutionDerivatives>(
      "SolutionDerivatives",
      "How a solution moves with its problem; see `solution_derivatives`.",
      bp::no_init)
      .add_property("by_g", &by_g, "(n, n) d lambda / dg [N s / (m/s)].")
      .add_property("by_friction",
                    &by_friction,
                    "(n, sets) d lambda / d mu, mu the first coefficient of a cone, the others in "
                    "proportion; 0 of other sets.")
      .add_property("modes", &modes, "list, by set, of \"open\", \"stick\" and \"slide\".")
      .add_property("margin",
                    &margin,
                    "(sets,) how far from another mode: c_N [m/s] of what is open, the least of "
                    "lambda_N and mu lambda_N - |lambda_T| [N s] of what sticks, the least of "
                    "lambda_N [N s] and |c_T| [m/s] of what slides.")
      .def_readonly("unknowns", &SolutionDerivatives::unknowns, "Of the reduced systems.")
      .def_readonly(
          "rank", &SolutionDerivatives::rank, "Less than `unknowns`: lambda is not unique.")
      .def_readonly("num_at_switch",
                    &SolutionDerivatives::num_at_switch,
                    "Sets between two modes: the derivative is one-sided.")
      .def_readonly("num_undecided",
                    &SolutionDerivatives::num_undecided,
                    "Sets whose mode or direction the residual leaves open, see GradientReport.")
      .def("__repr__", &repr);
  bp::def(
      "solution_derivatives",
      &derivatives,
      (arg("problem"), arg("solution"), arg("tolerance") = 1e-7),
      "SolutionDerivatives of `solution = solve(problem)` of a solver of NCP or CCP, in the "
      "modes of its sets. A change of G or R acts as dg = dG lambda. Where lambda is not "
      "unique, that of a step of Newton's method if something slides. `tolerance`: what counts as "
      "zero "
      "beside the largest impulse and velocity of an island, or ten times the relative residual "
      "of the solution, if that is more. Raises ValueError naming the "
      "argument.");
}

}  // namespace stiction::python
