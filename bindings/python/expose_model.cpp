#include "stiction/model/parameters.hpp"

#include "common.hpp"
#include "inside.hpp"
#include "scene_holder.hpp"
#include <boost/mpl/vector.hpp>

namespace stiction::python {

bp::dict parameters_to_dict(const Parameters& p);
Parameters parameters_from_dict(const bp::dict& arrays);

namespace {

// --- Material ---

std::shared_ptr<Material> make_material(double friction,
                                        double restitution,
                                        double stiffness,
                                        double damping,
                                        double tangential_stiffness_ratio,
                                        double tangential_damping_ratio,
                                        double dissipation,
                                        double rest_offset,
                                        double torsional_friction,
                                        double rolling_friction) {
  const Material m{friction,
                   restitution,
                   stiffness,
                   damping,
                   tangential_stiffness_ratio,
                   tangential_damping_ratio,
                   dissipation,
                   rest_offset,
                   torsional_friction,
                   rolling_friction};
  validate_material(m, "Material");
  return std::make_shared<Material>(m);
}

std::string material_repr(const Material& m) {
  return "Material(friction=" + number(m.friction) + ", restitution=" + number(m.restitution) +
         ", stiffness=" + number(m.stiffness) + ", damping=" + number(m.damping) + ")";
}

bool material_equal(const Material& a, const Material& b) { return a == b; }

void expose_material() {
  using bp::arg;
  using A = Argument;
  bp::class_<Material, std::shared_ptr<Material>> c(
      "Material",
      "Surface of a geometry. How two of them meet: combine(). Raises ValueError for a value out "
      "of range.",
      bp::no_init);
  c.def("__init__",
        refusal("Material",
                {{"friction", A::kNumber, false},
                 {"restitution", A::kNumber, false},
                 {"stiffness", A::kNumber, false},
                 {"damping", A::kNumber, false},
                 {"tangential_stiffness_ratio", A::kNumber, false},
                 {"tangential_damping_ratio", A::kNumber, false},
                 {"dissipation", A::kNumber, false},
                 {"rest_offset", A::kNumber, false},
                 {"torsional_friction", A::kNumber, false},
                 {"rolling_friction", A::kNumber, false}}))
      .def("__init__",
           bp::make_constructor(&make_material,
                                bp::default_call_policies(),
                                (arg("friction") = 0.8,
                                 arg("restitution") = 0.0,
                                 arg("stiffness") = kInfinity,
                                 arg("damping") = 0.0,
                                 arg("tangential_stiffness_ratio") = 1.0,
                                 arg("tangential_damping_ratio") = 1.0,
                                 arg("dissipation") = 0.0,
                                 arg("rest_offset") = 0.0,
                                 arg("torsional_friction") = 0.0,
                                 arg("rolling_friction") = 0.0)))
      .def_readwrite("friction", &Material::friction, "Coulomb coefficient, in [0, 1e4].")
      .def_readwrite("restitution", &Material::restitution, "Newton coefficient, in [0, 1].")
      .def_readwrite("stiffness", &Material::stiffness, "Of the surface [N/m], > 0; inf: rigid.")
      .def_readwrite("damping",
                     &Material::damping,
                     "Of the surface [N s/m], >= 0; used with a finite stiffness.")
      .def_readwrite("tangential_stiffness_ratio",
                     &Material::tangential_stiffness_ratio,
                     "Of tangential over normal stiffness, >= 0; compliant integrators.")
      .def_readwrite("tangential_damping_ratio",
                     &Material::tangential_damping_ratio,
                     "Of tangential over normal damping, >= 0; compliant integrators.")
      .def_readwrite("dissipation",
                     &Material::dissipation,
                     "Hunt-Crossley [s/m], >= 0: adds stiffness x dissipation x depth to the "
                     "damping; compliant integrators.")
      .def_readwrite("rest_offset",
                     &Material::rest_offset,
                     "[m] >= 0: touches at this distance from its surface; offsets of both add.")
      .def_readwrite("torsional_friction",
                     &Material::torsional_friction,
                     "[m] in [0, 1e4]: couple about the normal per normal force; MuJoCo's number.")
      .def_readwrite("rolling_friction",
                     &Material::rolling_friction,
                     "[m] in [0, 1e4]: couple about a tangent per normal force; MuJoCo's number.")
      .def("__eq__", &material_equal)
      .def("__repr__", &material_repr);
  forbid_new_attributes(c);
  bp::def(
      "combine",
      &combine,
      (arg("a"), arg("b")),
      "Coefficients of a pair: geometric mean of friction, the larger restitution, torsional and "
      "rolling friction, stiffness and damping in series, the sum of rest offsets.");
}

// --- Parameters: every array a writable view ---

Parameters& of(const bp::object& self) { return bp::extract<Parameters&>(self); }

bool editable(const bp::object& self) { return !bp::extract<FixedParameters&>(self).check(); }
/// Not while a step reads them.
bool writable(const bp::object& self) { return editable(self) && !is_pinned(&of(self)); }

Parameters& edited(const bp::object& self) {
  before_changing(&of(self), "Parameters");
  if (editable(self)) return of(self);
  throw std::invalid_argument(
      "the parameters of a Simulator's scene are fixed: edit sim.parameters, which its next step "
      "reads");
}

template <std::vector<double> Parameters::* Member>
struct Numbers {
  static bp::object get(const bp::object& self) {
    std::vector<double>& x = of(self).*Member;
    return array_view(self, x.data(), {static_cast<long>(x.size())}, 0, writable(self));
  }
};

template <std::vector<Vec3d> Parameters::* Member>
struct Vectors {
  static bp::object get(const bp::object& self) {
    std::vector<Vec3d>& x = of(self).*Member;
    return array_view(
        self, x.empty() ? nullptr : &x[0].x, {static_cast<long>(x.size()), 3}, 0, writable(self));
  }
};

/// Views of [linear angular].
template <std::vector<Twist> Parameters::* Member>
struct Twists {
  static bp::object get(const bp::object& self) {
    static_assert(sizeof(Twist) == 6 * sizeof(double));
    std::vector<Twist>& x = of(self).*Member;
    double* first = x.empty() ? nullptr : &x[0].linear.x;
    return array_view(self, first, {static_cast<long>(x.size()), 6}, 0, writable(self));
  }
};

/// An axis that cannot be is refused at once, not by the next step.
void set_axis(const bp::object& self, const bp::object& value) {
  std::vector<Vec3d>& axis = edited(self).axis;
  const std::vector<Vec3d> before = axis;
  write_into(Vectors<&Parameters::axis>::get(self), value, "parameters.axis");
  try {
    of(self).validate_axes();
  } catch (const std::invalid_argument&) {
    std::copy(before.begin(), before.end(), axis.begin());
    throw;
  }
}

template <std::vector<Material> Parameters::* Array, double Material::* Member>
struct Surface {
  static bp::object get(const bp::object& self) {
    std::vector<Material>& x = of(self).*Array;
    return array_view(self,
                      x.empty() ? nullptr : &(x[0].*Member),
                      {static_cast<long>(x.size())},
                      x.empty() ? 0 : static_cast<long>(sizeof(Material)),
                      writable(self));
  }
};

bp::object gravity(const bp::object& self) {
  return array_view(self, &of(self).gravity.x, {3}, 0, writable(self));
}
void set_gravity(const bp::object& self, const bp::object& value) {
  edited(self).gravity = vec3_from(value, "parameters.gravity");
}

/// An array of what NumPy has no entries for, read and set one by one.
struct Items {
  std::string field;  ///< "parameters.geometry_placement"
  std::string what;   ///< that has them: "geometry"

  template <class T>
  T& at(std::vector<T>& items, long i) const {
    if (i >= 0 && i < static_cast<long>(items.size())) return items[i];
    throw std::invalid_argument(field + ": " + what + " = " + std::to_string(i) +
                                ": must be in [0, " + std::to_string(items.size()) + ")");
  }
  std::string entry(long i) const { return field + "(" + std::to_string(i) + ")"; }
};
const Items kInertias{"parameters.inertia", "body"};

bp::object inertia(Parameters& p, long body) {
  const Sym3d& i = kInertias.at(p.inertia, body);
  return to_array(Mat3d{{i.xx, i.xy, i.xz}, {i.xy, i.yy, i.yz}, {i.xz, i.yz, i.zz}});
}

void set_inertia(const bp::object& self, long body, const bp::object& value) {
  Sym3d& inertia = kInertias.at(edited(self).inertia, body);
  const RowMatrix m = matrix_from(value, kInertias.entry(body), 3, 3);
  const double skew = (m - m.transpose()).cwiseAbs().maxCoeff();
  if (!(skew <= 1e-12 * m.cwiseAbs().maxCoeff()))
    throw std::invalid_argument(kInertias.entry(body) + ": must be symmetric and finite");
  inertia = {m(0, 0), m(0, 1), m(1, 1), m(0, 2), m(1, 2), m(2, 2)};
}

Parameters parameters_copy(const Parameters& p) { return p; }

std::string parameters_repr(const Parameters& p) {
  return "Parameters(bodies=" + std::to_string(p.mass.size()) +
         ", nv=" + std::to_string(p.kp.size()) +
         ", geometries=" + std::to_string(p.material.size()) + ")";
}

template <class Signature, class F, class... Keywords>
bp::object method(F f, const Keywords&... keywords) {
  return bp::make_function(f, bp::default_call_policies(), keywords..., Signature());
}

template <class Access, class Class>
void array_property(Class& c, const char* name, const char* doc) {
  const auto set = [field = std::string("parameters.") + name](bp::object self, bp::object value) {
    edited(self);
    write_into(Access::get(self), value, field);
  };
  using Signature = boost::mpl::vector<void, bp::object, bp::object>;
  c.add_property(name, &Access::get, method<Signature>(set), doc);
}

template <std::vector<Transform> Parameters::* Member, class Class>
void placement_methods(Class& c, const std::string& name, const char* what, const char* doc) {
  using bp::arg;
  const Items items{"parameters." + name, what};
  const auto get = [items](Parameters& p, long i) { return to_se3(items.at(p.*Member, i)); };
  const auto set = [items](bp::object self, long i, bp::object X) {
    Transform& placement = items.at(edited(self).*Member, i);
    placement = transform_from(X, items.entry(i));
  };
  using Get = boost::mpl::vector<bp::object, Parameters&, long>;
  using Set = boost::mpl::vector<void, bp::object, long, bp::object>;
  c.def(name.c_str(), method<Get>(get, (arg("self"), arg("index"))), doc);
  c.def(("set_" + name).c_str(),
        method<Set>(set, (arg("self"), arg("index"), arg("X"))),
        "pinocchio.SE3 or (4, 4).");
}

template <std::vector<Material> Parameters::* Array, class Class>
void material_properties(Class& c, const std::string& prefix, const std::string& of) {
  const auto add = [&](const char* name, auto access, const char* doc) {
    array_property<decltype(access)>(c, (prefix + name).c_str(), (of + doc).c_str());
  };
  using M = Material;
  add("friction", Surface<Array, &M::friction>(), " Coulomb coefficients.");
  add("restitution", Surface<Array, &M::restitution>(), " in [0, 1].");
  add("stiffness", Surface<Array, &M::stiffness>(), " [N/m]; inf: rigid.");
  add("contact_damping", Surface<Array, &M::damping>(), " [N s/m].");
  add("tangential_stiffness_ratio", Surface<Array, &M::tangential_stiffness_ratio>(), " >= 0.");
  add("tangential_damping_ratio", Surface<Array, &M::tangential_damping_ratio>(), " >= 0.");
  add("dissipation", Surface<Array, &M::dissipation>(), " Hunt-Crossley [s/m].");
  add("rest_offset", Surface<Array, &M::rest_offset>(), " distance at which it touches [m].");
  add("torsional_friction", Surface<Array, &M::torsional_friction>(), " couple per force [m].");
  add("rolling_friction", Surface<Array, &M::rolling_friction>(), " couple per force [m].");
}

void expose_parameters() {
  using bp::arg;
  using P = Parameters;
  bp::class_<P> c(
      "Parameters",
      "Every number of a scene, settable between steps. The arrays are writable NumPy views, "
      "checked by the next step, run or rollout.",
      bp::no_init);
  c.add_property("gravity", &gravity, &set_gravity, "(3,) world [m/s^2].");
  array_property<Numbers<&P::mass>>(c, "mass", "(bodies,) [kg].");
  array_property<Vectors<&P::com>>(c, "com", "(bodies, 3) centres of mass, body frame [m].");
  c.add_property("axis",
                 &Vectors<&P::axis>::get,
                 &set_axis,
                 "(bodies, 3) unit joint axes, joint frame; one that was loaded along x, y or "
                 "z stays there.");
  array_property<Numbers<&P::armature>>(c, "armature", "(nv,) [kg m^2 or kg].");
  array_property<Numbers<&P::damping>>(c, "damping", "(nv,) joint damping [N m s/rad or N s/m].");
  array_property<Numbers<&P::dry_friction>>(c, "dry_friction", "(nv,) [N m or N].");
  array_property<Numbers<&P::lower>>(c, "lower", "(nv,) lower position limits [rad or m].");
  array_property<Numbers<&P::upper>>(c, "upper", "(nv,) upper position limits [rad or m].");
  array_property<Numbers<&P::kp>>(
      c, "kp", "(nv,) servo stiffness [N m/rad or N/m]; 0: torque only.");
  array_property<Numbers<&P::kd>>(c, "kd", "(nv,) servo damping [N m s/rad or N s/m].");
  array_property<Numbers<&P::effort_limit>>(
      c, "effort_limit", "(nv,) of torque plus servo [N m or N].");
  array_property<Numbers<&P::spring_stiffness>>(
      c,
      "spring_stiffness",
      "(nv,) springs of one-dof joints [N m/rad or N/m], beside the servo and its effort limit.");
  array_property<Numbers<&P::spring_rest>>(
      c, "spring_rest", "(nv,) positions where the springs pull nowhere [rad or m].");
  material_properties<&P::material>(c, "", "(geometries,)");
  material_properties<&P::pair_material>(c, "pair_", "(pairs,) as scene.material_pairs:");
  array_property<Vectors<&P::geometry_size>>(
      c,
      "geometry_size",
      "(geometries, 3) as Shape.size [m]; what a shape has no use for stays 0. Masses, inertias "
      "and drawings stay as they are.");
  array_property<Twists<&P::geometry_velocity>>(
      c,
      "geometry_velocity",
      "(geometries, 6) linear [m/s] and angular [rad/s] velocity of geometries that you move with "
      "set_geometry_placement, in their own axes: what touches them is pushed and carried at it. A "
      "step leaves their placement as it is.");
  array_property<Twists<&P::surface_velocity>>(
      c,
      "surface_velocity",
      "(geometries, 6) linear [m/s] and angular [rad/s] velocity of a belt's surface, in the "
      "geometry's axes; along the normal of a contact it does nothing.");
  array_property<Numbers<&P::gear_ratio>>(c, "gear_ratio", "(gears,) of Scene.add_gear.");
  array_property<Numbers<&P::gear_offset>>(c, "gear_offset", "(gears,) [rad or m].");
  c.def("inertia",
        &inertia,
        (arg("self"), arg("body")),
        "(3, 3) about the com, body axes [kg m^2]; a copy.");
  c.def("set_inertia",
        &set_inertia,
        (arg("self"), arg("body"), arg("inertia")),
        "Symmetric (3, 3) [kg m^2].");
  placement_methods<&P::placement>(
      c, "placement", "body", "Joint frame of a body in its parent, pinocchio.SE3.");
  placement_methods<&P::base>(c, "base", "tree", "Root frame of a fixed tree, pinocchio.SE3.");
  placement_methods<&P::geometry_placement>(
      c, "geometry_placement", "geometry", "Geometry in its body or the world, pinocchio.SE3.");
  placement_methods<&P::closure_X_A>(
      c, "closure_X_A", "closure", "Frame of a closure in its body A, pinocchio.SE3.");
  placement_methods<&P::closure_X_B>(
      c, "closure_X_B", "closure", "Frame of a closure in its body B, pinocchio.SE3.");
  c.def_readonly("version",
                 &P::version,
                 "Grows with each step of a Simulator that finds its parameters edited.");
  c.def("validate",
        &P::validate,
        arg("self"),
        "Raises ValueError naming the first field, index and value out of range.");
  c.def("copy", &parameters_copy, arg("self"), "An independent copy.")
      .def(
          "to_dict",
          &parameters_to_dict,
          arg("self"),
          "dict of all arrays by name, copies: placements (n, 12) as the axes x, y, z of the frame "
          "and its origin, inertias (n, 6) as xx, xy, yy, xz, yz, zz, materials (n, 10) in the "
          "order of Material's arguments.")
      .def("from_dict",
           &parameters_from_dict,
           arg("arrays"),
           "Parameters from what to_dict() gave, to the bit. Raises ValueError naming what is "
           "missing or out of range; whether they fit a scene its simulator tells.")
      .staticmethod("from_dict")
      .def("__repr__", &parameters_repr);
  forbid_new_attributes(c);
  bp::class_<FixedParameters, bp::bases<P>> fixed(
      "_FixedParameters", "Parameters of a Simulator's scene, to be read.", bp::no_init);
  forbid_new_attributes(fixed);
}

}  // namespace

void expose_model() {
  expose_material();
  expose_parameters();
}

}  // namespace stiction::python
