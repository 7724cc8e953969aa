#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/residuals.hpp"
#include "stiction/contact/stored_problem.hpp"
#include "stiction/contact/uniqueness.hpp"

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

/// "0.5", or "(0.5, 0.4)" where they differ.
std::string pair_repr(double a, double b) {
  return a == b ? number(a) : "(" + number(a) + ", " + number(b) + ")";
}

std::string cone_repr(const Cone& c) {
  std::string text = "ContactCone(" + pair_repr(c.mu[0], c.mu[1]);
  if (c.dim > 3) text += ", torsional=" + number(c.mu[2]);
  if (c.dim > 4) text += ", rolling=" + pair_repr(c.mu[3], c.mu[4]);
  return text + ")";
}

double mu_of(const ConstraintSet& s) { return s.is_cone() ? s.friction.mu[0] : 0.0; }

bp::list coefficients_of(const ConstraintSet& s) {
  bp::list out;
  for (int r = 0; s.is_cone() && r < s.friction.normal(); ++r) out.append(s.friction.mu[r]);
  return out;
}

/// One number for both, or two.
void read_pair(const bp::object& given, const char* name, double* out) {
  const bp::extract<double> both(given);
  if (both.check()) {
    out[0] = out[1] = both();
    return;
  }
  const Eigen::VectorXd two = vector_from(given, name);
  if (two.size() != 2)
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(two.size()) +
                                " entries: give one coefficient, or two of them");
  out[0] = two[0];
  out[1] = two[1];
}

ConstraintSet make_cone(const bp::object& mu,
                        const bp::object& torsional,
                        const bp::object& rolling) {
  Cone cone;
  read_pair(mu, "mu", cone.mu);
  if (!torsional.is_none()) {
    cone.dim = 4;
    cone.mu[2] = bp::extract<double>(torsional);
  }
  if (!rolling.is_none()) {
    cone.dim = 6;
    read_pair(rolling, "rolling", cone.mu + 3);
  }
  return ConstraintSet::cone(cone);
}

std::string set_repr(const ConstraintSet& s) {
  switch (s.kind) {
    case SetKind::kCone:
      return cone_repr(s.friction);
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
  if (!PyObject_HasAttrString(given.ptr(), "__iter__"))
    throw std::invalid_argument("sets: must be a list of ContactCone, NonNegative, BoxSet or Free");
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

std::vector<int> integers(const bp::object& x) {
  return {bp::stl_input_iterator<int>(x), bp::stl_input_iterator<int>()};
}

/// The parts of a problem beside sets, A, g and R.
bp::dict structure(const ContactProblem& p) {
  const StoredProblem parts = take_apart(p);
  bp::dict out;
  out["island_start"] = to_list(parts.island_start);
  out["run_start"] = to_list(parts.run_start);
  out["run_columns"] = to_list(parts.run_columns);
  out["run_counts"] = to_list(parts.run_counts);
  out["velocity_floor"] = to_array(p.velocity_floor);
  out["arm"] = to_array(parts.arm);
  out["velocity_scale"] = to_array(std::vector<double>{p.velocity_scale});
  out["resting"] = to_list(parts.resting);
  if (!parts.space.known()) return out;
  std::vector<int> sides;
  for (const auto& s : parts.space.sides) sides.insert(sides.end(), {s.tree, s.length, s.dof, s.z});
  out["tree_side_start"] = to_list(parts.space.side_start);
  out["tree_sides"] = to_list(sides);
  out["tree_dofs"] = to_list(parts.space.dofs);
  out["tree_start"] = to_list(parts.space.tree_start);
  out["tree_z"] = to_array(parts.space.z);
  out["tree_inertia"] = to_array(parts.space.inertia);
  return out;
}

ContactSpace space_from(const bp::dict& structure) {
  ContactSpace space;
  if (!structure.has_key("tree_sides")) return space;
  const auto numbers = [&](const char* name) {
    const Eigen::VectorXd x = vector_from(structure[name], name);
    return std::vector<double>(x.data(), x.data() + x.size());
  };
  const std::vector<int> sides = integers(structure["tree_sides"]);
  for (std::size_t k = 0; k + 4 <= sides.size(); k += 4)
    space.sides.push_back({sides[k], sides[k + 1], sides[k + 2], sides[k + 3]});
  space.side_start = integers(structure["tree_side_start"]);
  space.dofs = integers(structure["tree_dofs"]);
  space.tree_start = integers(structure["tree_start"]);
  space.z = numbers("tree_z");
  space.inertia = numbers("tree_inertia");
  return space;
}

std::shared_ptr<ContactProblem> restored(const bp::object& A,
                                         const bp::object& g,
                                         const bp::object& R,
                                         const bp::object& sets,
                                         const bp::dict& structure) {
  StoredProblem parts;
  parts.A = matrix_from(A, "A");
  parts.g = vector_from(g, "g");
  parts.R = vector_from(R, "R");
  parts.sets = sets_from(bp::object(), sets);
  parts.island_start = integers(structure["island_start"]);
  parts.run_start = integers(structure["run_start"]);
  parts.run_columns = integers(structure["run_columns"]);
  parts.run_counts = integers(structure["run_counts"]);
  if (structure.has_key("velocity_floor"))
    parts.velocity_floor = vector_from(structure["velocity_floor"], "velocity_floor");
  if (structure.has_key("arm")) parts.arm = vector_from(structure["arm"], "arm");
  if (structure.has_key("velocity_scale"))
    parts.velocity_scale = vector_from(structure["velocity_scale"], "velocity_scale", 1)[0];
  if (structure.has_key("resting")) parts.resting = integers(structure["resting"]);
  parts.space = space_from(structure);
  return std::make_shared<ContactProblem>(put_together(parts));
}

const ContactProblem& problem_from(const bp::object& x) {
  const bp::extract<const ContactProblem&> problem(x);
  if (!problem.check()) {
    raise_type_error("problem = " + std::string(bp::extract<std::string>(bp::str(x))) +
                     ": must be a ContactProblem, such as sim.problem()");
  }
  return problem();
}

Uniqueness uniqueness_of(const bp::object& problem,
                         const bp::object& impulse,
                         double threshold,
                         double tolerance) {
  const ContactProblem& p = problem_from(problem);
  const Eigen::VectorXd l = vector_from(impulse, "impulse", p.num_rows());
  return uniqueness(p, {l.data(), l.data() + l.size()}, threshold, tolerance);
}

bp::list modes(const Uniqueness& u) {
  bp::list out;
  for (const ContactMode mode : u.modes) out.append(to_string(mode));
  return out;
}

std::string uniqueness_repr(const Uniqueness& u) {
  return std::string("Uniqueness(locally_unique=") + (u.locally_unique ? "True" : "False") +
         ", null_dimension=" + std::to_string(u.null_dimension) +
         ", velocity_dimension=" + std::to_string(u.velocity_dimension) + ")";
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

Residuals residuals_of(const bp::object& problem, const bp::object& impulse) {
  const ContactProblem& p = problem_from(problem);
  const Eigen::VectorXd l = vector_from(impulse, "impulse", p.num_rows());
  std::vector<double> c(p.num_rows());
  return residuals(p, l.data(), c.data());
}

std::string residuals_repr(const Residuals& r) {
  return "Residuals(primal=" + number(r.primal) + ", dual=" + number(r.dual) +
         ", complementarity=" + number(r.complementarity) + ", relative=" + number(r.relative) +
         ")";
}

void expose_uniqueness() {
  using bp::arg;
  bp::class_<Uniqueness>("Uniqueness",
                         "Whether a solution is alone in its neighbourhood; see `uniqueness`.",
                         bp::no_init)
      .def_readonly("locally_unique", &Uniqueness::locally_unique, "null_dimension is 0.")
      .def_readonly("null_dimension",
                    &Uniqueness::null_dimension,
                    "Of the impulses that may be added without leaving the equations.")
      .def_readonly("velocity_dimension",
                    &Uniqueness::velocity_dimension,
                    "Of the contact velocities that those change; 0: the motion is unique.")
      .def_readonly("num_at_switch",
                    &Uniqueness::num_at_switch,
                    "Sets between two modes, taken both ways; the larger dimension counts.")
      .add_property("modes", &modes, "list, by set, of \"open\", \"stick\" and \"slide\".")
      .def_readonly("smallest_kept",
                    &Uniqueness::smallest_kept,
                    "Smallest singular value that counts, relative to the largest.")
      .def_readonly("largest_dropped",
                    &Uniqueness::largest_dropped,
                    "Largest singular value that counts as zero, relative to the largest.")
      .def("__repr__", &uniqueness_repr);
  bp::def("uniqueness",
          &uniqueness_of,
          (arg("problem"), arg("impulse"), arg("threshold") = 1e-9, arg("tolerance") = 1e-6),
          "Uniqueness of a solution (n,) of a ContactProblem, from the rank of its reduced "
          "Jacobian: singular values above `threshold` times the largest. Impulses and velocities "
          "within `tolerance` of the largest count as zero. For solutions of the NCP. Raises "
          "ValueError naming the argument.");
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
      .add_property("mu", &mu_of, "Friction coefficient of a cone, along t1.")
      .add_property("coefficients",
                    &coefficients_of,
                    "Of a cone: of the rows before the normal, [t1, t2], angular ones [m].")
      .def_readonly("lower", &ConstraintSet::lower, "Of a box [N s].")
      .def_readonly("upper", &ConstraintSet::upper, "Of a box [N s].")
      .def("__repr__", &set_repr);
  bp::def("ContactCone",
          &make_cone,
          (arg("mu"), arg("torsional") = none, arg("rolling") = none),
          "3 rows [t1 t2 n], normal last: ||lambda_T|| <= mu lambda_N. With `torsional` [m] 4 rows "
          "[t1 t2 tau n], with `rolling` [m] 6, [t1 t2 tau rho1 rho2 n]: moments [N m s] against "
          "angular velocities [rad/s], ||D^-1 lambda_T|| <= lambda_N, D the diagonal of the "
          "coefficients. `mu` and `rolling` are one number or two, of their two directions.");
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
      .def("_structure", &structure, arg("self"))
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
  bp::def("_restored_problem",
          &restored,
          (arg("A"), arg("g"), arg("R"), arg("sets"), arg("structure")));
  expose_uniqueness();
}

}  // namespace stiction::python
