#include "common.hpp"
#include "scene_holder.hpp"

#include <climits>
#include <limits>

// Scenes as parts of others, filters, visuals and configurations.

namespace stiction::python {
namespace {

/// What was said of it; empty: nothing.
std::string add_silently(SceneHolder& s,
                         const SceneHolder& other,
                         const bp::object& X_W,
                         const bp::object& prefix) {
  s.before_adding();
  const std::size_t parts = s.messages().size() + other.messages().size();
  s.add_scene(other, transform_from(X_W, "X_W"), prefix_from(prefix));
  return s.messages().size() > parts ? s.messages().back().text : "";
}

void add_scene(SceneHolder& s,
               const SceneHolder& other,
               const bp::object& X_W,
               const bp::object& prefix) {
  const std::string said = add_silently(s, other, X_W, prefix);
  if (said.empty()) return;
  const bp::object kind = bp::import("stiction.loading").attr("LoadWarning");
  bp::import("warnings").attr("warn")(said, kind, 1);  // no frame of ours: the caller's line
}

void enable_pair(SceneHolder& s, const bp::object& a, const bp::object& b) {
  s.before_editing();
  s.enable_pair(geometry_from(s, a, "geometry_a"), geometry_from(s, b, "geometry_b"));
}

/// The bits of a signed or an unsigned number, as MuJoCo's are signed.
std::uint32_t bits_from(std::int64_t x, const char* field) {
  if (x < std::numeric_limits<std::int32_t>::min() || x > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument(std::string(field) + " = " + std::to_string(x) +
                                ": must be 32 bits");
  return static_cast<std::uint32_t>(x);
}

void set_collision_filter(SceneHolder& s,
                          const bp::object& geometry,
                          std::int64_t contype,
                          std::int64_t conaffinity) {
  s.before_editing();
  s.set_collision_filter(geometry_from(s, geometry, "geometry"),
                         bits_from(contype, "contype"),
                         bits_from(conaffinity, "conaffinity"));
}

void set_friction_rule(SceneHolder& s,
                       const bp::object& geometry,
                       const std::string& rule,
                       const bp::object& condim,
                       const bp::object& priority) {
  if (rule != "mean" && rule != "larger")
    throw std::invalid_argument("rule = \"" + rule + "\": must be \"mean\" or \"larger\"");
  const int g = geometry_from(s, geometry, "geometry");
  FrictionRule given = s.geometries()[g].friction_rule;
  given.larger = rule == "larger";
  if (!condim.is_none()) given.condim = integer_from(condim, "condim", INT_MIN, INT_MAX);
  if (!priority.is_none()) given.priority = integer_from(priority, "priority", INT_MIN, INT_MAX);
  s.before_editing();
  s.set_friction_rule(g, given);
}

void add_visual(SceneHolder& s,
                const bp::object& body,
                const Shape& shape,
                const bp::object& X_B,
                const bp::object& color) {
  s.before_editing(false);
  Visual visual;
  visual.body = body_from(s, body, "body");
  visual.shape = shape;
  visual.placement = transform_from(X_B, "X_B");
  if (!color.is_none()) assign(color, "color", visual.color.data(), 4);
  s.add_visual(visual);
}

bp::list visuals(const SceneHolder& s) { return to_list(s.visuals()); }
bp::object visual_placement(const Visual& v) { return to_se3(v.placement); }
bp::object visual_color(const Visual& v) { return array_copy(v.color.data(), {4}); }

std::vector<double> configuration_from(const SceneHolder& s, const bp::object& q) {
  const Eigen::VectorXd x = vector_from(q, "q", s.nq());
  return {x.data(), x.data() + x.size()};
}

void set_configuration(SceneHolder& s,
                       const std::string& name,
                       const bp::object& q,
                       const bp::object& v) {
  s.before_editing();
  std::vector<double> velocity;
  if (!v.is_none()) {
    velocity.resize(static_cast<std::size_t>(s.nv()));
    assign(v, "v", velocity.data(), s.nv());
  }
  s.set_configuration(name, configuration_from(s, q), velocity);
}

bp::dict configurations(const SceneHolder& s) {
  bp::dict out;
  for (const auto& [name, q] : s.configurations()) out[name] = to_array(q);
  return out;
}

bp::object configuration_velocity(const SceneHolder& s, const std::string& name) {
  return to_array(s.configuration_velocity(name));
}

bp::object dof_positions(const SceneHolder& s, const bp::object& q) {
  return to_array(s.dof_positions(configuration_from(s, q)));
}

}  // namespace

void add_parts(SceneClass& c) {
  using bp::arg;
  const bp::object none;
  bp::class_<Visual>("Visual", "What is drawn of a body; collides with nothing.", bp::no_init)
      .def_readonly("body", &Visual::body, "Scene body; -1: fixed to the world.")
      .add_property("shape",
                    bp::make_getter(&Visual::shape, bp::return_value_policy<bp::return_by_value>()))
      .add_property("placement", &visual_placement, "pinocchio.SE3 in the body, or in the world.")
      .add_property("color", &visual_color, "(4,) red, green, blue, opacity in [0, 1].");
  using A = Argument;
  c.def("_add_scene",
        &add_silently,
        (arg("self"), arg("scene"), arg("X_W") = none, arg("prefix") = none))
      .def("add_scene",
           refusal("add_scene",
                   {{"scene", A::kScene}, {"X_W", A::kAny, false}, {"prefix", A::kAny, false}}));
  c.def("add_scene",
        &add_scene,
        (arg("self"), arg("scene"), arg("X_W") = none, arg("prefix") = none),
        "Places all of another scene but its gravity (a LoadWarning says so where it differs): "
        "robots, bodies, geometries, filters, "
        "closures, gears, parameters, configurations, visuals, messages. What is fixed to its "
        "world or floats goes to X_W. `prefix` stands before its names, configurations excepted: "
        "one that both scenes have is that of both; None: nothing if this scene has no body yet, "
        "else the name of the other and a slash. Its bodies, dofs and geometries are numbered "
        "after those that are there. Raises ValueError naming a name that is taken.")
      .def("enable_pair",
           &enable_pair,
           (arg("self"), arg("geometry_a"), arg("geometry_b")),
           "These two collide whatever other filters say.")
      .def("set_collision_filter",
           &set_collision_filter,
           (arg("self"), arg("geometry"), arg("contype"), arg("conaffinity")),
           "MuJoCo's bits: two geometries may collide if a bit of the contype of one is in the "
           "conaffinity of the other. Both are 1 unless an MJCF file says otherwise.")
      .def(
          "set_friction_rule",
          &set_friction_rule,
          (arg("self"), arg("geometry"), arg("rule"), arg("condim") = none, arg("priority") = none),
          "How the coefficients of friction of a geometry count in pairs that have no material of "
          "their own. Of two priorities the higher: the coefficients of that geometry hold alone. "
          "Else, if both rules are \"larger\", the larger of each, as far as the larger condim "
          "lets them act (1: none, 3: sliding, 4: and torsional, 6: and rolling friction): "
          "MuJoCo's rule, which geoms of MJCF files have. Else \"mean\", as `combine` has it, "
          "each with its own condim; geometries of other origin have \"mean\", 6 and 0. "
          "None keeps what it has.")
      .def("add_visual",
           &add_visual,
           (arg("self"), arg("body"), arg("shape"), arg("X_B") = none, arg("color") = none),
           "What is drawn of a body, in the place of its geometries; color (4,): red, green, blue, "
           "opacity in [0, 1].")
      .add_property("visuals", &visuals, "list of Visual.")
      .def("set_configuration",
           &set_configuration,
           (arg("self"), arg("name"), arg("q"), arg("v") = none),
           "Names a configuration q (nq,) and the velocity v (nv,) there, None: at rest; "
           "\"default\" is where initial_state() starts, which is at rest.")
      .add_property("configurations", &configurations, "dict of name -> (nq,).")
      .def("configuration_velocity",
           &configuration_velocity,
           (arg("self"), arg("name")),
           "(nv,) of a configuration, zeros where none was set.")
      .def("dof_positions",
           &dof_positions,
           (arg("self"), arg("q")),
           "(nv,) servo targets that hold q (nq,).");
}

}  // namespace stiction::python
