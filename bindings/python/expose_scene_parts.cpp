#include "common.hpp"
#include "model/joint.hpp"
#include "scene_holder.hpp"

// What a scene lists: joints, geometries, robots.

namespace stiction::python {
namespace {

/// A joint and its slices of q and v.
struct Joint {
  std::string name, type;
  int body, q_index, nq, v_index, nv;
};

std::string joint_repr(const Joint& j) {
  return "Joint(\"" + j.name + "\", " + j.type + ", body=" + std::to_string(j.body) + ", q[" +
         std::to_string(j.q_index) + ":" + std::to_string(j.q_index + j.nq) + "], v[" +
         std::to_string(j.v_index) + ":" + std::to_string(j.v_index + j.nv) + "])";
}

std::string geometry_repr(const Geometry& g) {
  return "Geometry(\"" + g.name + "\", " + to_string(g.shape.type) +
         (g.body < 0 ? std::string(", fixed)") : ", body=" + std::to_string(g.body) + ")");
}

std::string slice_repr(const RobotSlice& r) {
  return "RobotSlice(\"" + r.name + "\", q[" + std::to_string(r.q_offset) + ":" +
         std::to_string(r.q_offset + r.nq) + "], v[" + std::to_string(r.v_offset) + ":" +
         std::to_string(r.v_offset + r.nv) + "])";
}

template <class T>
bp::list names(const std::vector<T>& named) {
  bp::list out;
  for (const T& x : named) out.append(x.name);
  return out;
}

}  // namespace

bp::list joints(const SceneHolder& s) {
  bp::list out;
  for (const Tree& tree : s.trees()) {
    for (int b = 0; b < tree.num_bodies; ++b) {
      const JointFacts& joint = joint_facts(tree.joint[b]);
      const int body = tree.body_offset + b;
      out.append(Joint{s.joint_names()[body],
                       joint.name,
                       body,
                       tree.q_offset + tree.q_index[b],
                       joint.nq,
                       tree.v_offset + tree.v_index[b],
                       joint.nv});
    }
  }
  return out;
}

bp::list geometries(const SceneHolder& s) {
  std::vector<Geometry> out = s.geometries();
  for (std::size_t g = 0; g < out.size(); ++g) out[g].shape.size = s.parameters.geometry_size[g];
  return to_list(out);
}
std::string friction_rule(const Geometry& g) { return g.friction_rule.larger ? "larger" : "mean"; }
int condim(const Geometry& g) { return g.friction_rule.condim; }
int priority(const Geometry& g) { return g.friction_rule.priority; }
bp::list closure_names(const SceneHolder& s) { return names(s.closures()); }
bp::list gear_names(const SceneHolder& s) { return names(s.gears()); }
bp::list material_pairs(const SceneHolder& s) {
  bp::list out;
  for (const auto& [a, b] : s.material_pairs()) out.append(bp::make_tuple(a, b));
  return out;
}

void add_message(SceneHolder& s, const LoadMessage& message) {
  s.before_editing(false);
  s.add_message(message);
}

bp::tuple frame(const SceneHolder& s, const std::string& name) {
  const auto [body, X] = s.frame(name);
  return bp::make_tuple(body, to_se3(X));
}

std::string repr(const SceneHolder& s) {
  return "Scene(\"" + s.name + "\", nq=" + std::to_string(s.nq()) +
         ", nv=" + std::to_string(s.nv()) + ", bodies=" + std::to_string(s.num_bodies()) +
         ", geometries=" + std::to_string(s.geometries().size()) + ")";
}

void expose_scene_parts() {
  bp::class_<Joint>("Joint", "A joint of a scene and its slices of q and v.", bp::no_init)
      .def_readonly("name", &Joint::name)
      .def_readonly("type",
                    &Joint::type,
                    "\"free_flyer\", \"revolute\", \"continuous\", \"prismatic\" or \"spherical\".")
      .def_readonly("body", &Joint::body, "The body it moves.")
      .def_readonly("q_index", &Joint::q_index)
      .def_readonly("nq", &Joint::nq)
      .def_readonly("v_index", &Joint::v_index)
      .def_readonly("nv", &Joint::nv)
      .def("__repr__", &joint_repr);
  bp::class_<Geometry>("Geometry", "A collision geometry of a scene.", bp::no_init)
      .def_readonly("name", &Geometry::name)
      .def_readonly("link", &Geometry::link, "Link of the robot's file; \"\" for a loose body.")
      .def_readonly("body", &Geometry::body, "Scene body; -1: fixed to the world.")
      .def_readonly("robot", &Geometry::robot, "-1: of no robot.")
      .def_readonly("contype", &Geometry::contype, "See Scene.set_collision_filter.")
      .def_readonly("conaffinity", &Geometry::conaffinity, "See Scene.set_collision_filter.")
      .add_property("friction_rule", &friction_rule, "See Scene.set_friction_rule.")
      .add_property("condim", &condim, "See Scene.set_friction_rule.")
      .add_property("priority", &priority, "See Scene.set_friction_rule.")
      .add_property(
          "shape",
          bp::make_getter(&Geometry::shape, bp::return_value_policy<bp::return_by_value>()))
      .def("__repr__", &geometry_repr);
  bp::class_<RobotSlice>("RobotSlice", "Where a robot lies in the scene's arrays.", bp::no_init)
      .def_readonly("name", &RobotSlice::name)
      .def_readonly("body_offset", &RobotSlice::body_offset)
      .def_readonly("num_bodies", &RobotSlice::num_bodies)
      .def_readonly("q_offset", &RobotSlice::q_offset)
      .def_readonly("nq", &RobotSlice::nq)
      .def_readonly("v_offset", &RobotSlice::v_offset)
      .def_readonly("nv", &RobotSlice::nv)
      .add_property("description",
                    bp::make_getter(&RobotSlice::description, bp::return_internal_reference<>()),
                    "The Robot.")
      .def("__repr__", &slice_repr);
}

}  // namespace stiction::python
