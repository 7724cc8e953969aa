#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/residuals.hpp"

#include "common.hpp"

#include <cmath>

namespace stiction::python {
namespace {

std::string kind(const ConstraintSet& s) {
  switch (s.kind) {
    case SetKind::kCone:
      return "cone";
    case SetKind::kNonNegative:
      return "non_negative";
    case SetKind::kBox:
      return "box";
    case SetKind::kFree:
      return "free";
  }
  return "unknown";
}

std::string set_repr(const ConstraintSet& s) {
  switch (s.kind) {
    case SetKind::kCone:
      return "ContactCone(" + number(s.mu) + ")";
    case SetKind::kNonNegative:
      return "NonNegative()";
    case SetKind::kBox:
      return "BoxSet(" + number(s.lower) + ", " + number(s.upper) + ")";
    case SetKind::kFree:
      return "Free(" + std::to_string(s.dim) + ")";
  }
  return "ConstraintSet()";
}

/// Sets from a sequence of ConstraintSet, or cones from an array of coefficients.
std::vector<ConstraintSet> sets_from(const bp::object& mu, const bp::object& sets) {
  if (mu.is_none() == sets.is_none())
    throw std::invalid_argument("ContactProblem: give either mu or sets");
  const bp::object& given = sets.is_none() ? mu : sets;
  std::vector<ConstraintSet> out;
  const bool listed = PySequence_Check(given.ptr()) && bp::len(given) > 0 &&
                      bp::extract<const ConstraintSet&>(given[0]).check();
  if (sets.is_none() && !listed) {
    for (const double x : vector_from(mu, "mu")) out.push_back(ConstraintSet::cone(x));
    return out;
  }
  for (bp::stl_input_iterator<bp::object> it(given), end; it != end; ++it) {
    const bp::extract<const ConstraintSet&> set(*it);
    if (!set.check()) {
      throw std::invalid_argument("sets[" + std::to_string(out.size()) +
                                  "]: must be ContactCone, NonNegative, BoxSet or Free");
    }
    out.push_back(set());
  }
  return out;
}

std::shared_ptr<ContactProblem> make_problem(const bp::object& G,
                                             const bp::object& g,
                                             const bp::object& mu,
                                             const bp::object& R,
                                             const bp::object& sets) {
  const std::vector<ConstraintSet> given = sets_from(mu, sets);
  const Eigen::VectorXd r = R.is_none() ? Eigen::VectorXd() : vector_from(R, "R");
  return std::make_shared<ContactProblem>(
      ContactProblem::from_dense(matrix_from(G, "G"), vector_from(g, "g"), given, r));
}

bp::object dense(const ContactProblem& p) { return to_array(RowMatrix(p.dense())); }
bp::object g(const ContactProblem& p) { return to_array(p.g); }
bp::object R(const ContactProblem& p) { return to_array(p.compliance); }
bp::list sets(const ContactProblem& p) { return to_list(p.sets); }

bp::object velocity(const ContactProblem& p, const bp::object& impulse) {
  const Eigen::VectorXd l = vector_from(impulse, "impulse", p.num_rows());
  std::vector<double> c(p.num_rows());
  for (int i = 0; i < p.num_sets(); ++i) p.velocity(i, l.data(), c.data() + p.sets[i].offset);
  return to_array(c);
}

std::string problem_repr(const ContactProblem& p) {
  return "ContactProblem(sets=" + std::to_string(p.num_sets()) +
         ", rows=" + std::to_string(p.num_rows()) + ")";
}

Residuals residuals_of(const ContactProblem& p, const bp::object& impulse) {
  const Eigen::VectorXd l = vector_from(impulse, "impulse", p.num_rows());
  std::vector<double> c(p.num_rows());
  return residuals(p, l.data(), c.data());
}

std::string residuals_repr(const Residuals& r) {
  return "Residuals(primal=" + number(r.primal) + ", dual=" + number(r.dual) +
         ", complementarity=" + number(r.complementarity) + ", relative=" + number(r.relative) +
         ")";
}

}  // namespace

void expose_contact() {
  using bp::arg;
  const bp::object none;
  bp::class_<ConstraintSet>(
      "ConstraintSet",
      "Which convex set holds the impulse of a constraint; made by ContactCone, "
      "NonNegative, BoxSet and Free.",
      bp::no_init)
      .add_property("kind", &kind, "\"cone\", \"non_negative\", \"box\" or \"free\".")
      .def_readonly("dim", &ConstraintSet::dim, "Rows.")
      .def_readonly("offset", &ConstraintSet::offset, "First row within its problem.")
      .def_readonly("mu", &ConstraintSet::mu, "Friction coefficient of a cone.")
      .def_readonly("lower", &ConstraintSet::lower, "Of a box [N s].")
      .def_readonly("upper", &ConstraintSet::upper, "Of a box [N s].")
      .def("__repr__", &set_repr);
  bp::def("ContactCone",
          &ConstraintSet::cone,
          arg("mu"),
          "3 rows (t1, t2, n), normal last: ||lambda_T|| <= mu lambda_N.");
  bp::def("NonNegative", &ConstraintSet::non_negative, "1 row: 0 <= lambda perp c >= 0.");
  bp::def("BoxSet",
          &ConstraintSet::box,
          (arg("lower"), arg("upper")),
          "1 row: lower <= lambda <= upper [N s]. (`Box` is the shape.)");
  bp::def("Free", &ConstraintSet::free, arg("dim"), "dim rows: bilateral, c = 0.");

  bp::class_<ContactProblem, std::shared_ptr<ContactProblem>>(
      "ContactProblem",
      "Find lambda in the sets, complementary to c = (G + diag R) lambda + g. ContactProblem(G, g, "
      "mu, "
      "R=None) has cones only; ContactProblem(G, g, sets=[...], R=None) any sets, stacked in "
      "order. "
      "G (n, n) symmetric [1/kg], g (n,) [m/s], mu (n / 3,), R (n,) >= 0; lambda [N s]. Raises "
      "ValueError naming the argument.",
      bp::no_init)
      .def("__init__",
           bp::make_constructor(
               &make_problem,
               bp::default_call_policies(),
               (arg("G"), arg("g"), arg("mu") = none, arg("R") = none, arg("sets") = none)))
      .def("dense", &dense, arg("self"), "(n, n): G + diag R.")
      .add_property("g", &g, "(n,) free velocity minus reference velocity [m/s].")
      .add_property("R", &R, "(n,) physical compliance.")
      .add_property("sets", &sets, "list of ConstraintSet.")
      .add_property("num_rows", &ContactProblem::num_rows)
      .add_property("num_sets", &ContactProblem::num_sets)
      .add_property("num_islands", &ContactProblem::num_islands)
      .def("velocity", &velocity, (arg("self"), arg("impulse")), "(n,) c of an impulse (n,).")
      .def("__repr__", &problem_repr);
  bp::class_<Residuals>("Residuals",
                        "The certificate: how far impulses are from solving the nonlinear "
                        "complementarity problem, maximum over the sets, Euclidean.",
                        bp::no_init)
      .def_readonly("primal", &Residuals::primal, "dist(lambda, K) [N s].")
      .def_readonly("dual", &Residuals::dual, "dist(c + Gamma(c), K*) [m/s].")
      .def_readonly("complementarity", &Residuals::complementarity, "|<lambda, c + Gamma(c)>| [J].")
      .def_readonly("relative", &Residuals::relative, "Dimensionless: what `tolerance` bounds.")
      .def_readonly("backward", &Residuals::backward, "Dimensionless; 1e-16 is rounding.")
      .def("__repr__", &residuals_repr);
  bp::def("residuals",
          &residuals_of,
          (arg("problem"), arg("impulse")),
          "Residuals of any impulse (n,) with its exact velocity.");
}

}  // namespace stiction::python
