#include "common.hpp"
#include "simulator_holder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

// Derivatives of a simulator's last step, and where they hold.

namespace stiction::python {

std::string least(const char* what, double value) {
  if (!std::isfinite(value)) return "";
  char text[32];
  std::snprintf(text, sizeof text, " %.2g", value);
  return std::string(", ") + what + text;
}

std::string counted(int count, const char* what) {
  return count == 0 ? "" : ", " + std::to_string(count) + " " + what;
}

namespace {

using Holder = SimulatorHolder;

bp::object dofs_array(const std::vector<int>& dofs) {
  return to_array(std::vector<double>(dofs.begin(), dofs.end())).attr("astype")("int32");
}

/// A tangent; None: zero.
Eigen::VectorXd tangent_from(const bp::object& x, const std::string& field, int size) {
  return x.is_none() ? Eigen::VectorXd::Zero(size) : finite_vector_from(x, field, size);
}

bp::tuple last_derivatives(Holder& sim, const bp::list& parameters) {
  const std::vector<std::string> names = names_from(parameters);
  LastStep<Holder> last(sim, "Simulator.step_derivatives");
  const StepDerivatives* found = nullptr;
  last.without_lock([&] { found = &last->Simulator::step_derivatives(names); });
  return step_parts(*found);
}

/// (gq, gv, gtorque, gsprings, of all parameters, their ranges).
bp::tuple vjp(Holder& sim, const bp::object& w, const bp::list& parameters) {
  const std::vector<std::string> names = names_from(parameters);
  LastStep<Holder> last(sim, "Simulator.vjp");
  const Eigen::VectorXd covector = finite_vector_from(w, "w", -1);
  const StepGradient* g = nullptr;
  last.without_lock([&] { g = &last->vjp(covector, names); });
  return bp::make_tuple(to_array(g->q),
                        to_array(g->v),
                        to_array(g->torque),
                        to_array(g->springs),
                        to_array(g->parameters),
                        ranges_list(g->ranges));
}

/// Of (name, change (columns,)) each.
std::vector<ParameterDirection> directions_from(const bp::list& parameters) {
  std::vector<ParameterDirection> out;
  for (long k = 0; k < bp::len(parameters); ++k) {
    const std::string name = bp::extract<std::string>(parameters[k][0]);
    out.push_back({name, finite_vector_from(parameters[k][1], "parameters[\"" + name + "\"]", -1)});
  }
  return out;
}

/// [(name, first, count)] at the last step.
bp::list parameter_ranges(Holder& sim, const bp::list& parameters) {
  const std::vector<std::string> names = names_from(parameters);
  LastStep<Holder> last(sim, "Simulator.jvp");
  std::vector<ParameterRange> ranges;
  last.without_lock([&] { ranges = last->Simulator::parameter_ranges(names); });
  return ranges_list(ranges);
}

bp::object jvp(Holder& sim,
               const bp::object& dq,
               const bp::object& dv,
               const bp::object& dtorque,
               const bp::object& dsprings,
               const bp::list& parameters) {
  LastStep<Holder> last(sim, "Simulator.jvp");
  const std::vector<ParameterDirection> changes = directions_from(parameters);
  const int nv = sim.scene().nv();
  const Eigen::VectorXd springs = tangent_from(dsprings, "dsprings", dsprings.is_none() ? 0 : -1);
  if (!dsprings.is_none()) {
    std::size_t there = 0;
    last.without_lock([&] { there = last->gradient_report().springs.size(); });
    if (springs.size() != 3 * static_cast<Eigen::Index>(there))
      throw std::invalid_argument("dsprings has " + std::to_string(springs.size()) +
                                  " entries: must have 3 for each of gradient_report().springs, "
                                  "of which this step has " +
                                  std::to_string(there));
  }
  Eigen::VectorXd x(3 * nv + springs.size());
  x << tangent_from(dq, "dq", nv), tangent_from(dv, "dv", nv), tangent_from(dtorque, "dtorque", nv),
      springs;
  const Eigen::VectorXd* out = nullptr;
  last.without_lock([&] { out = &last->jvp(x, changes); });
  return to_array(*out);
}

GradientReport gradient_report(Holder& sim) {
  LastStep<Holder> last(sim, "Simulator.gradient_report");
  const GradientReport* found = nullptr;
  last.without_lock([&] { found = &last->gradient_report(); });
  return *found;
}

bp::list derivative_parameters() { return to_list(Simulator::derivative_parameters()); }

// --- the report ---

bp::list modes(const GradientReport& r) {
  bp::list out;
  for (const ContactMode mode : r.modes) out.append(to_string(mode));
  return out;
}
bp::object margin(const GradientReport& r) { return to_array(r.margin); }
bp::list springs(const GradientReport& r) { return springs_list(r.springs); }
std::string method(const GradientReport& r) { return r.method; }

std::string report_repr(const GradientReport& r) {
  std::string text = std::string("GradientReport(") + (r.two_sided() ? "two-sided" : "one-sided");
  if (r.method != "exact")
    return text + ", by " + r.method + ", error estimate " + number(r.error_estimate) +
           counted(static_cast<int>(r.springs.size()), "springs") +
           counted(r.num_kinks, "columns with two sides") +
           counted(r.num_not_converged, "not converged") + ")";
  text += std::string(r.exact() ? ", exact" : ", not exact");
  text += r.springs.empty()
              ? ", rank " + std::to_string(r.rank) + " of " + std::to_string(r.unknowns)
              : counted(static_cast<int>(r.springs.size()), "springs");
  for (const ContactMode mode : {ContactMode::kStick, ContactMode::kSlide, ContactMode::kOpen}) {
    const auto count = std::count(r.modes.begin(), r.modes.end(), mode);
    text += counted(static_cast<int>(count), to_string(mode));
  }
  text += counted(r.not_unique, "not unique") + counted(r.num_not_followed, "not followed") +
          counted(r.num_contradicting, "contradicting") + counted(r.num_at_switch, "at a switch") +
          counted(r.num_gap_kinks, "at a gap of zero") + counted(r.num_capped, "capped") +
          counted(r.num_scaled_impacts, "scaled impacts") + counted(r.num_swept, "swept") +
          counted(r.num_inexact, "inexact") + counted(r.num_undecided, "undecided") +
          counted(r.num_bounded_recoveries, "bounded recoveries") +
          counted(r.num_parameter_kinks, "kinks of parameters") +
          counted(r.num_saturated, "saturated") + counted(r.num_asleep, "trees asleep") +
          counted(r.num_slowed, "slowed") + counted(r.num_safe_islands, "safe islands") +
          counted(r.num_not_converged, "not converged") +
          least("smallest margin", r.smallest_margin()) + least("smallest gap", r.smallest_gap);
  return text + ")";
}

void expose_gradient_report() {
  using R = GradientReport;
  bp::class_<R>("GradientReport",
                "Where the derivatives of a step hold, and where they are one of several; a copy. "
                "docs/derivatives.md says what to make of it.",
                bp::no_init)
      .add_property("method",
                    &method,
                    "\"exact\", or \"differences\": central ones of whole steps, of compliant "
                    "integrators but implicit-euler without torsional or rolling friction; those "
                    "fill springs, num_kinks, "
                    "error_estimate and num_not_converged alone.")
      .add_property(
          "springs",
          &springs,
          "list of (geometry_a, geometry_b, feature, turns), sorted: springs of contact points of "
          "compliant integrators, and with tangential_compliance, that are part of the state, "
          "three "
          "numbers each: extensions [m]; turns [rad] of torsional and rolling friction, if turns.")
      .def_readonly("num_kinks",
                    &R::num_kinks,
                    "Columns whose one-sided differences disagree; they hold the mean.")
      .def_readonly("error_estimate",
                    &R::error_estimate,
                    "Of differences, relative to the largest entry of the block, of columns "
                    "without a kink.")
      .add_property("modes", &modes, "list of \"open\", \"stick\" or \"slide\", by set.")
      .add_property(
          "margin",
          &margin,
          "(sets,) how far each set is from another mode: of what is open the normal "
          "speed [m/s], of what sticks the least of lambda_N and mu lambda_N - "
          "|lambda_T| [N s], of what slides the least of lambda_N [N s] and |c_T| [m/s]. Of "
          "what closes with restitution not more than the speed [m/s] to where it starts "
          "or ceases to bounce.")
      .add_property("smallest_margin",
                    &R::smallest_margin,
                    "Of margin, whatever its unit; infinite if there is none. A change that moves "
                    "a contact by more finds other columns.")
      .def_readonly("unknowns", &R::unknowns, "Of the reduced systems of all islands.")
      .def_readonly("rank", &R::rank, "Of the reduced systems of all islands.")
      .def_readonly("not_unique",
                    &R::not_unique,
                    "Dimension of the impulses that may change without leaving the equations and "
                    "that move something: v+ depends on the warm start, and the derivative is that "
                    "of a step of Newton's method from it. 0: v+ is differentiable.")
      .def_readonly("num_not_followed",
                    &R::num_not_followed,
                    "Islands that are not unique and that the solver did not solve by Newton's "
                    "method alone: the derivative is of another solution.")
      .def_readonly("num_at_switch",
                    &R::num_at_switch,
                    "Sets between two modes, or within 1e-4 of the restitution threshold: "
                    "one-sided.")
      .def_readonly("num_gap_kinks",
                    &R::num_gap_kinks,
                    "Gaps that are zero to rounding and do not open, taken as closed: one-sided.")
      .def_readonly(
          "smallest_gap",
          &R::smallest_gap,
          "Least size of a gap at whose zero the derivative changes [m, of limits of "
          "joints rad or m]: how far from the next kink of a gap. Infinite: there is none.")
      .def_readonly("num_contradicting",
                    &R::num_contradicting,
                    "Islands whose redundant rows no motion keeps together, as those of a ball in "
                    "a groove: columns by q and by placements follow some of them.")
      .def_readonly("num_capped",
                    &R::num_capped,
                    "Rows whose recovery is cut to the recovery speeds, taken as constant.")
      .def_readonly("num_undecided",
                    &R::num_undecided,
                    "Sets whose mode, or by more than 1 % the direction of whose slide, the "
                    "residual of the solution leaves open: a smaller solver tolerance decides.")
      .def_readonly("num_bounded_recoveries",
                    &R::num_bounded_recoveries,
                    "Joints brought back from far out by an impulse at its bound, taken as "
                    "constant.")
      .def_readonly(
          "num_parameter_kinks",
          &R::num_parameter_kinks,
          "Contacts where a parameter asked for has no two-sided derivative: by the "
          "restitution, torsional or rolling friction of two equal materials, where each has half, "
          "by the restitution of an impact without any, by a friction of zero beside another, "
          "where "
          "it is infinite and left out, and by a torsional or rolling friction of zero of a point "
          "that does not slide, where it is left out; and motions of a closure's frame that its "
          "rows and others, which they repeat, could not both follow.")
      .def_readonly("num_scaled_impacts",
                    &R::num_scaled_impacts,
                    "Restitutions cut by the dissipative law, whose share is taken as constant.")
      .def_readonly(
          "num_swept", &R::num_swept, "Of num_inexact, contacts of a later moment of the step.")
      .def_readonly("num_inexact",
                    &R::num_inexact,
                    "Contacts that do not open and whose point moves in a way that is not known.")
      .def_readonly("num_saturated",
                    &R::num_saturated,
                    "Dofs at their effort limit: targets and torques change nothing.")
      .def_readonly(
          "num_asleep", &R::num_asleep, "Trees that sleep: held, though a change may wake them.")
      .def_readonly(
          "num_slowed",
          &R::num_slowed,
          "Trees that turn by over 0.1 rad in the step, whose velocities are scaled to an "
          "energy, and loose bodies that turn by over 1/2.")
      .def_readonly(
          "num_not_converged", &R::num_not_converged, "1: the solver stopped short of a solution.")
      .def_readonly("num_safe_islands",
                    &R::num_safe_islands,
                    "Islands with the answer of the convex problem instead of the solver's.")
      .def_readonly("smallest_pivot",
                    &R::smallest_pivot,
                    "Of the scaled reduced systems, among those that count; in (0, 1].")
      .add_property("two_sided", &R::two_sided, "Either side of the state has this derivative.")
      .add_property(
          "exact", &R::exact, "To rounding, if two_sided; not by differences, see error_estimate.")
      .def("__repr__", &report_repr);
}

}  // namespace

std::vector<std::string> names_from(const bp::list& names) {
  return {bp::stl_input_iterator<std::string>(names), {}};
}

bp::list ranges_list(const std::vector<ParameterRange>& ranges) {
  bp::list out;
  for (const ParameterRange& r : ranges) out.append(bp::make_tuple(r.name, r.first, r.count));
  return out;
}

bp::list springs_list(const std::vector<SpringName>& springs) {
  bp::list out;
  for (const SpringName& s : springs)
    out.append(bp::make_tuple(s.pair >> 32, s.pair & 0xffffffffu, s.feature, s.turns));
  return out;
}

bp::tuple step_parts(const StepDerivatives& d) {
  bp::list islands;
  for (const StepDerivatives::Island& island : d.islands)
    islands.append(bp::make_tuple(dofs_array(island.dofs), to_array(island.values)));
  return bp::make_tuple(islands,
                        ranges_list(d.parameters),
                        to_array(d.P),
                        d.report,
                        to_array(d.springs_by),
                        to_array(d.by_springs));
}

/// All but the static raises ValueError before the first step.
void expose_derivatives(SimulatorClass& c) {
  using bp::arg;
  expose_gradient_report();
  c.def("_last_derivatives", &last_derivatives, (arg("self"), arg("parameters")))
      .def("_vjp", &vjp, (arg("self"), arg("w"), arg("parameters")))
      .def("_jvp",
           &jvp,
           (arg("self"), arg("dq"), arg("dv"), arg("dtorque"), arg("dsprings"), arg("parameters")))
      .def("_parameter_ranges", &parameter_ranges, (arg("self"), arg("parameters")))
      .def("gradient_report",
           &gradient_report,
           arg("self"),
           "GradientReport of the last step. Raises ValueError as vjp does.")
      .def("derivative_parameters",
           &derivative_parameters,
           "list of the names that `wrt` takes besides q, v and torque.")
      .staticmethod("derivative_parameters");
}

}  // namespace stiction::python
