#include "common.hpp"
#include "model/joint.hpp"
#include "scene_holder.hpp"

namespace stiction::python {

Robot robot_from_objects(const bp::object& model,
                         const bp::object& geometry,
                         const bp::object& material,
                         const std::string& name,
                         bool keep_overlapping_pairs);

void add_message(SceneHolder& s, const LoadMessage& message);
bp::tuple frame(const SceneHolder& s, const std::string& name);
std::string repr(const SceneHolder& s);
bp::list joints(const SceneHolder& s);
bp::list geometries(const SceneHolder& s);
bp::list closure_names(const SceneHolder& s);
bp::list gear_names(const SceneHolder& s);
bp::list material_pairs(const SceneHolder& s);
void expose_scene_parts();
void add_files(SceneClass& c);
void add_parts(SceneClass& c);

namespace {

std::shared_ptr<SceneHolder> make_scene_object(const bp::object& model,
                                               const bp::object& geometry,
                                               const bp::object& material,
                                               const std::string& name,
                                               bool keep_overlapping_pairs) {
  auto scene = std::make_shared<SceneHolder>();
  if (model.is_none()) {
    if (!geometry.is_none()) throw std::invalid_argument("geometry_model is given without a model");
  } else {
    scene->add_robot(robot_from_objects(model, geometry, material, name, keep_overlapping_pairs));
  }
  if (!name.empty()) scene->name = name;
  return scene;
}

SceneHolder copy(const SceneHolder& s) { return s; }

int add_robot(SceneHolder& s,
              const Robot& robot,
              const bp::object& X_W,
              const std::string& name,
              const bp::object& prefix) {
  s.before_adding();
  return s.add_robot(robot, transform_from(X_W, "X_W"), name, prefix_from(prefix));
}

int add_body(SceneHolder& s,
             const std::string& name,
             const Shape& shape,
             double mass,
             const bp::object& X_W,
             const bp::object& material) {
  s.before_adding();
  return s.add_body(
      name, shape, mass, transform_from(X_W, "X_W"), material_from(material, "material"));
}

int add_geometry(SceneHolder& s,
                 const std::string& name,
                 const bp::object& body,
                 const Shape& shape,
                 const bp::object& X_B,
                 const bp::object& material) {
  s.before_adding();
  return s.add_geometry(name,
                        body_from(s, body, "body"),
                        shape,
                        transform_from(X_B, "X_B"),
                        material_from(material, "material"));
}

int add_ground(SceneHolder& s, const bp::object& material) {
  s.before_adding();
  return s.add_ground(material_from(material, "material"));
}

int add_half_space(SceneHolder& s,
                   const std::string& name,
                   const bp::object& point,
                   const bp::object& normal,
                   const bp::object& material) {
  s.before_adding();
  return s.add_half_space(name,
                          vec3_from(point, "point"),
                          vec3_from(normal, "normal"),
                          material_from(material, "material"));
}

int add_point_closure(SceneHolder& s,
                      const std::string& name,
                      const bp::object& a,
                      const bp::object& p_A,
                      const bp::object& b,
                      const bp::object& p_B) {
  s.before_adding();
  return s.add_point_closure(name,
                             body_from(s, a, "body_a"),
                             vec3_from(p_A, "p_A"),
                             body_from(s, b, "body_b"),
                             vec3_from(p_B, "p_B"));
}

int add_weld(SceneHolder& s,
             const std::string& name,
             const bp::object& a,
             const bp::object& X_A,
             const bp::object& b,
             const bp::object& X_B) {
  s.before_adding();
  return s.add_weld(name,
                    body_from(s, a, "body_a"),
                    transform_from(X_A, "X_A"),
                    body_from(s, b, "body_b"),
                    transform_from(X_B, "X_B"));
}

int add_gear(SceneHolder& s,
             const std::string& name,
             const bp::object& dof,
             const bp::object& driver,
             double ratio,
             double offset) {
  s.before_adding();
  return s.add_gear(name, dof_from(s, dof, "dof"), dof_from(s, driver, "driver"), ratio, offset);
}

void disable_pair(SceneHolder& s, const bp::object& a, const bp::object& b) {
  s.before_editing();
  s.disable_pair(geometry_from(s, a, "geometry_a"), geometry_from(s, b, "geometry_b"));
}

void enable_only(SceneHolder& s, const bp::object& pairs) {
  s.before_editing();
  std::vector<std::pair<int, int>> ids;
  for (bp::stl_input_iterator<bp::object> it(pairs), end; it != end; ++it) {
    const bp::object pair = *it;
    ids.push_back(
        {geometry_from(s, pair[0], "pairs[][0]"), geometry_from(s, pair[1], "pairs[][1]")});
  }
  s.enable_only(ids);
}

int set_pair_material(SceneHolder& s,
                      const bp::object& a,
                      const bp::object& b,
                      const bp::object& material) {
  s.before_adding();
  if (material.is_none())
    raise_type_error("material = None: must be a Material, such as Material(friction=0.5)");
  return s.set_pair_material(geometry_from(s, a, "geometry_a"),
                             geometry_from(s, b, "geometry_b"),
                             material_from(material, "material"));
}

Material pair_material(const SceneHolder& s, const bp::object& a, const bp::object& b) {
  return s.pair_material(
      s.parameters, geometry_from(s, a, "geometry_a"), geometry_from(s, b, "geometry_b"));
}

bool pair_enabled(const SceneHolder& s, const bp::object& a, const bp::object& b) {
  return s.pair_enabled(geometry_from(s, a, "geometry_a"), geometry_from(s, b, "geometry_b"));
}

void set_gains(SceneHolder& s, const bp::object& dof, double kp, double kd) {
  s.before_editing();
  s.set_gains(dof_from(s, dof, "dof"), kp, kd);
}

bp::object parameters(const bp::object& self) {
  SceneHolder& s = bp::extract<SceneHolder&>(self);
  if (s.fixed) return bp::object(FixedParameters(s.parameters));
  s.lent = true;
  const bp::reference_existing_object::apply<Parameters&>::type convert;
  const bp::object shown{bp::handle<>(convert(s.parameters))};
  if (bp::objects::make_nurse_and_patient(shown.ptr(), self.ptr()) == nullptr)
    bp::throw_error_already_set();
  return shown;
}

/// Returns the name of the first parameter of a Simulator's scene that was edited, as
/// "friction[2]", or "" if none was.
std::string edited_parameter(const SceneHolder& s) {
  return s.present == nullptr ? "" : first_difference(s.parameters, *s.present);
}

bp::list body_names(const SceneHolder& s) { return to_list(s.body_names()); }
bp::list joint_names(const SceneHolder& s) { return to_list(s.joint_names()); }
bp::list dof_names(const SceneHolder& s) { return to_list(s.dof_names()); }
bp::list robots(const SceneHolder& s) { return to_list(s.robots()); }
bp::list messages(const SceneHolder& s) { return to_list(s.messages()); }
bp::object default_q(const SceneHolder& s) { return to_array(s.default_q()); }
int body(const SceneHolder& s, const std::string& name) { return s.body(name); }
int geometry(const SceneHolder& s, const std::string& name) { return s.geometry(name); }
int dof(const SceneHolder& s, const std::string& name) { return s.dof(name); }
int robot(const SceneHolder& s, const std::string& name) { return s.robot(name); }
int num_bodies(const SceneHolder& s) { return s.num_bodies(); }
int num_trees(const SceneHolder& s) { return static_cast<int>(s.trees().size()); }
int nq(const SceneHolder& s) { return s.nq(); }
int nv(const SceneHolder& s) { return s.nv(); }

void add_composition(SceneClass& c) {
  using bp::arg;
  const bp::object none;
  using A = Argument;
  c.def("add_body",
        refusal("add_body",
                {{"body_name", A::kText},
                 {"shape", A::kShape},
                 {"mass", A::kNumber},
                 {"X_W", A::kAny, false},
                 {"material", A::kAny, false}}))
      .def("add_geometry",
           refusal("add_geometry",
                   {{"geometry_name", A::kText},
                    {"body"},
                    {"shape", A::kShape},
                    {"X_B", A::kAny, false},
                    {"material", A::kAny, false}}))
      .def("add_ground", refusal("add_ground", {{"material", A::kAny, false}}))
      .def("set_pair_material",
           refusal("set_pair_material", {{"geometry_a"}, {"geometry_b"}, {"material"}}))
      .def("set_gains", refusal("set_gains", {{"dof"}, {"kp", A::kNumber}, {"kd", A::kNumber}}));
  c.def(
       "add_robot",
       &add_robot,
       (arg("self"), arg("robot"), arg("X_W") = none, arg("robot_name") = "", arg("prefix") = none),
       "Places a robot: X_W is the base of a fixed one, the initial pose of a floating one. "
       "`prefix` stands before the names of its bodies, joints, geometries and frames; None: "
       "nothing for the first robot, its name and a slash for the others. Returns its index.")
      .def("add_body",
           &add_body,
           (arg("self"),
            arg("body_name"),
            arg("shape"),
            arg("mass"),
            arg("X_W") = none,
            arg("material") = none),
           "A loose body of uniform density with `mass` [kg]. Returns the body.")
      .def("add_geometry",
           &add_geometry,
           (arg("self"),
            arg("geometry_name"),
            arg("body"),
            arg("shape"),
            arg("X_B") = none,
            arg("material") = none),
           "Geometry on a body, by name or number; -1 or \"world\": fixed. Returns the geometry.")
      .def("add_ground",
           &add_ground,
           (arg("self"), arg("material") = none),
           "The half-space z <= 0, named \"ground\". Returns the geometry.")
      .def("add_half_space",
           &add_half_space,
           (arg("self"), arg("geometry_name"), arg("point"), arg("normal"), arg("material") = none),
           "World half-space through `point` (3,) [m] with outward `normal` (3,). Returns the "
           "geometry.")
      .def("add_point_closure",
           &add_point_closure,
           (arg("self"), arg("closure_name"), arg("body_a"), arg("p_A"), arg("body_b"), arg("p_B")),
           "Point p_A (3,) of A stays on p_B (3,) of B, body frames [m]: 3 rows. Returns the "
           "closure.")
      .def("add_weld",
           &add_weld,
           (arg("self"), arg("weld_name"), arg("body_a"), arg("X_A"), arg("body_b"), arg("X_B")),
           "Frame X_A of A stays on X_B of B: 6 rows. Returns the closure.")
      .def("add_gear",
           &add_gear,
           (arg("self"),
            arg("gear_name"),
            arg("dof"),
            arg("driver"),
            arg("ratio"),
            arg("offset") = 0.0),
           "q[dof] = ratio q[driver] + offset: 1 row. Returns the gear.")
      .def("disable_pair",
           &disable_pair,
           (arg("self"), arg("geometry_a"), arg("geometry_b")),
           "These two never collide.")
      .def("enable_only",
           &enable_only,
           (arg("self"), arg("pairs")),
           "Only these pairs of geometries collide from now on (until more are enabled).")
      .def("set_pair_material",
           &set_pair_material,
           (arg("self"), arg("geometry_a"), arg("geometry_b"), arg("material")),
           "Gives a pair a material of its own in the place of combine(). Returns its number in "
           "parameters.pair_friction and its like, where it may change between steps; which pairs "
           "have one is fixed once a Simulator is made of the scene. A new pair moves the numbers "
           "of those after it, see material_pairs.")
      .def("set_gains",
           &set_gains,
           (arg("self"), arg("dof"), arg("kp"), arg("kd")),
           "Servo of a one-dof joint [N m/rad, N m s/rad or N/m, N s/m].");
}

void add_topology(SceneClass& c) {
  using bp::arg;
  c.def_readwrite("name", &SceneHolder::name)
      .add_property(
          "parameters",
          &parameters,
          "Parameters a new Simulator starts from. Arrays taken before an add_* call no longer "
          "belong to the scene. Of a Simulator's scene: to be read; edit sim.parameters.")
      .add_property("nq", &nq, "Numbers in a configuration.")
      .add_property("nv", &nv, "Degrees of freedom.")
      .add_property("num_bodies", &num_bodies)
      .add_property("num_trees", &num_trees, "Kinematic trees, loose bodies included.")
      .add_property("body_names", &body_names)
      .add_property("joint_names", &joint_names, "By body.")
      .add_property("dof_names", &dof_names, "(nv) names.")
      .add_property("joints", &joints, "list of Joint, by body.")
      .def("_edited_parameter", &edited_parameter, bp::arg("self"))
      .add_property("geometries", &geometries, "list of Geometry, sizes as in `parameters`.")
      .add_property("closure_names", &closure_names, "Of closures and welds, by number.")
      .add_property("gear_names", &gear_names, "By number.")
      .add_property("material_pairs",
                    &material_pairs,
                    "list of (geometry_a, geometry_b), those with a material of their own, in the "
                    "order of parameters.pair_friction and its like.")
      .add_property("robots", &robots, "list of RobotSlice.")
      .add_property("messages", &messages, "list of LoadMessage of all loaded files.")
      .def("_add_message", &add_message)
      .add_property("default_q", &default_q, "(nq,)")
      .def("body",
           &body,
           (arg("self"), arg("name")),
           "Number of a body; ValueError lists the names.")
      .def("geometry", &geometry, (arg("self"), arg("name")), "Number of a geometry.")
      .def("dof", &dof, (arg("self"), arg("joint_name")), "Number of the dof of a one-dof joint.")
      .def("robot", &robot, (arg("self"), arg("name")), "Number of a robot.")
      .def(
          "frame",
          &frame,
          (arg("self"), arg("name")),
          "(body, pinocchio.SE3 in that body) of a frame by its name behind the robot's prefix, or "
          "by \"robot/frame\"; -1 and the pose in the world where no body moves it.")
      .def("pair_enabled",
           &pair_enabled,
           (arg("self"), arg("geometry_a"), arg("geometry_b")),
           "May this pair collide?")
      .def("pair_material",
           &pair_material,
           (arg("self"), arg("geometry_a"), arg("geometry_b")),
           "Material of a pair under the scene's parameters.")
      .def("copy", &copy, arg("self"), "An independent copy.")
      .def("__repr__", &repr);
}

}  // namespace

void expose_scene() {
  using bp::arg;
  const bp::object none;
  expose_scene_parts();
  SceneClass c("Scene",
               "A world: robots, loose bodies, geometries, materials, constraints, names. "
               "Scene() is empty; Scene(model, geometry_model) takes a pinocchio.Model and "
               "GeometryModel. A Simulator keeps its own copy.",
               bp::no_init);
  c.def("__init__",
        bp::make_constructor(&make_scene_object,
                             bp::default_call_policies(),
                             (arg("model") = none,
                              arg("geometry_model") = none,
                              arg("material") = none,
                              arg("name") = "",
                              arg("keep_overlapping_pairs") = false)));
  add_composition(c);
  add_topology(c);
  add_files(c);
  add_parts(c);
  forbid_new_attributes(c);
}

}  // namespace stiction::python
