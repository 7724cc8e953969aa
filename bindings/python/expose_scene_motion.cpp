#include "stiction/model/state.hpp"
#include "stiction/simulator/scene_motion.hpp"

#include "common.hpp"
#include "scene_holder.hpp"

// Poses, velocities, Jacobians, mass matrix, momentum by the names of a scene.

namespace stiction::python {
namespace {

/// With the scene, for its names.
struct NamedMotion {
  bp::object scene;
  SceneMotion motion;

  const SceneHolder& names() const { return bp::extract<const SceneHolder&>(scene)(); }
};

std::shared_ptr<NamedMotion> make_motion(const bp::object& scene_object,
                                         const bp::object& state,
                                         const bp::object& parameters) {
  const SceneHolder& scene = bp::extract<const SceneHolder&>(scene_object);
  const Parameters& p =
      parameters.is_none() ? scene.parameters : bp::extract<const Parameters&>(parameters)();
  scene.validate(p);
  const bp::extract<const State&> given(state);
  if (given.check()) {
    validate_state(scene, given());
    validate_scene_of(given(), scene.fingerprint());
    return std::make_shared<NamedMotion>(
        NamedMotion{scene_object, SceneMotion(scene, p, given().q, given().v)});
  }
  const Eigen::VectorXd q = finite_vector_from(state, "state", scene.nq());
  const State at = make_state(scene, {q.data(), q.data() + q.size()});
  return std::make_shared<NamedMotion>(
      NamedMotion{scene_object, SceneMotion(scene, p, at.q, at.v)});
}

/// A body by name or number, or a named frame.
std::pair<int, Transform> place_of(const NamedMotion& m, const bp::object& of) {
  const bp::extract<std::string> name(of);
  std::pair<int, Transform> out{-1, Transform::identity()};
  if (!name.check())
    out.first = body_from(m.names(), of, "of");
  else if (name() != "world")
    out = m.names().frame(name());
  if (out.first >= m.motion.num_bodies())
    throw std::invalid_argument("of: the body was added to the scene later");
  return out;
}

bp::object pose(const NamedMotion& m, const bp::object& of) {
  const auto [body, X] = place_of(m, of);
  return to_se3(m.motion.pose(body) * X);
}
bp::object velocity(const NamedMotion& m, const bp::object& of) {
  const auto [body, X] = place_of(m, of);
  return to_array(Eigen::VectorXd(m.motion.velocity(body, X.p)));
}
bp::object jacobian(const NamedMotion& m, const bp::object& of) {
  const auto [body, X] = place_of(m, of);
  return to_array(RowMatrix(m.motion.jacobian(body, X.p)));
}
bp::object mass_matrix(const NamedMotion& m) { return to_array(RowMatrix(m.motion.mass_matrix())); }
bp::object bias(const NamedMotion& m) { return to_array(m.motion.bias()); }

/// Of a robot by name or number; None: of all bodies.
BodiesMotion bodies(const NamedMotion& m, const bp::object& robot) {
  if (robot.is_none()) return m.motion.motion_of(0, m.motion.num_bodies());
  const bp::extract<std::string> name(robot);
  const auto& robots = m.names().robots();
  const int i = name.check() ? m.names().robot(name()) : bp::extract<int>(robot)();
  if (i < 0 || i >= static_cast<int>(robots.size()))
    throw std::invalid_argument("robot = " + std::to_string(i) + ": there are " +
                                std::to_string(robots.size()));
  if (robots[i].body_offset + robots[i].num_bodies > m.motion.num_bodies())
    throw std::invalid_argument("robot: it was added to the scene later");
  return m.motion.motion_of(robots[i].body_offset, robots[i].num_bodies);
}
double mass(const NamedMotion& m, const bp::object& robot) { return bodies(m, robot).mass; }
bp::object com(const NamedMotion& m, const bp::object& robot) {
  return to_array(bodies(m, robot).com);
}
bp::object momentum(const NamedMotion& m, const bp::object& robot) {
  const BodiesMotion of = bodies(m, robot);
  Eigen::VectorXd out(6);
  out << of.linear.x, of.linear.y, of.linear.z, of.angular.x, of.angular.y, of.angular.z;
  return to_array(out);
}
double kinetic_energy(const NamedMotion& m) { return bodies(m, bp::object()).kinetic; }
double potential_energy(const NamedMotion& m) {
  return bodies(m, bp::object()).potential_of_gravity + m.motion.spring_energy();
}
double rotor_energy(const NamedMotion& m) { return m.motion.rotor_energy(); }
std::string motion_repr(const NamedMotion& m) {
  return "SceneMotion(bodies=" + std::to_string(m.motion.num_bodies()) +
         ", nv=" + std::to_string(m.motion.nv()) + ")";
}

}  // namespace

void expose_scene_motion() {
  using bp::arg;
  const bp::object none;
  bp::class_<NamedMotion, std::shared_ptr<NamedMotion>, boost::noncopyable> c(
      "SceneMotion",
      "Poses, velocities and dynamics of a scene at a state, by the names of bodies, frames and "
      "sites (\"robot/frame\" where several robots have one); \"world\" stands still. Without "
      "contacts and forces of a control. Raises ValueError for a state that does not fit.",
      bp::no_init);
  c.def("__init__",
        bp::make_constructor(&make_motion,
                             bp::default_call_policies(),
                             (arg("scene"), arg("state"), arg("parameters") = none)))
      .def("pose", &pose, (arg("self"), arg("of")), "pinocchio.SE3, world.")
      .def("velocity",
           &velocity,
           (arg("self"), arg("of")),
           "(6,) of its origin [m/s] and its turn [rad/s], world axes.")
      .def("jacobian", &jacobian, (arg("self"), arg("of")), "(6, nv) J with velocity = J v.")
      .def("mass_matrix",
           &mass_matrix,
           arg("self"),
           "(nv, nv) M with armature: M a + bias = tau + J^T forces, a the rate of v.")
      .def("bias", &bias, arg("self"), "(nv,) Coriolis, centrifugal and gravity forces.")
      .def("mass", &mass, (arg("self"), arg("robot") = none), "[kg] of a robot; None: of all.")
      .def("com",
           &com,
           (arg("self"), arg("robot") = none),
           "(3,) centre of mass of a robot, or of all bodies, world [m].")
      .def("momentum",
           &momentum,
           (arg("self"), arg("robot") = none),
           "(6,) linear [kg m/s], and angular about the centre of mass [kg m^2/s], world axes.")
      .add_property("kinetic_energy", &kinetic_energy, "Of all bodies [J], without rotors.")
      .add_property("potential_energy",
                    &potential_energy,
                    "Of gravity, zero at the world origin, and of the springs of joints [J].")
      .add_property("rotor_energy", &rotor_energy, "Of armature [J].")
      .def("__repr__", &motion_repr);
  forbid_new_attributes(c);
}

}  // namespace stiction::python
