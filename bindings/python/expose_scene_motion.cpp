#include "stiction/model/state.hpp"
#include "stiction/simulator/scene_motion.hpp"

#include "common.hpp"
#include "named_motion.hpp"
#include "scene_holder.hpp"

// Poses, velocities, Jacobians, mass matrix, momentum by the names of a scene.

namespace stiction::python {
namespace {

std::shared_ptr<NamedMotion> make_motion(const bp::object& scene_object,
                                         const bp::object& state,
                                         const bp::object& parameters,
                                         const bp::object& acceleration) {
  const bp::extract<const SceneHolder&> holder(scene_object);
  if (!holder.check())
    raise_type_error("SceneMotion(): scene = " + shown(scene_object) + ": must be a Scene");
  const SceneHolder& scene = holder();
  const Parameters& p = parameters_from(scene, parameters);
  scene.validate(p);
  Eigen::VectorXd a;
  if (!acceleration.is_none()) a = finite_vector_from(acceleration, "acceleration", scene.nv());
  const bp::extract<const State&> given(state);
  if (given.check()) {
    validate_state(scene, given());
    validate_scene_of(given(), scene.fingerprint());
    return std::make_shared<NamedMotion>(
        NamedMotion{scene_object, SceneMotion(scene, p, given().q, given().v, a)});
  }
  const Eigen::VectorXd q = finite_vector_from(state, "state", scene.nq());
  const State at = make_state(scene, {q.data(), q.data() + q.size()});
  return std::make_shared<NamedMotion>(
      NamedMotion{scene_object, SceneMotion(scene, p, at.q, at.v, a)});
}

std::pair<int, Transform> place_of(const NamedMotion& m, const bp::object& of) {
  const auto place = place_from(m.names(), of, "of");
  if (place.first >= m.motion.num_bodies())
    throw std::invalid_argument("of: the body was added to the scene later");
  return place;
}

/// Pinocchio's reference frames.
enum class Axes { kLocalWorldAligned, kLocal, kWorld };
Axes axes_from(const std::string& frame) {
  if (frame == "local_world_aligned") return Axes::kLocalWorldAligned;
  if (frame == "local") return Axes::kLocal;
  if (frame == "world") return Axes::kWorld;
  throw std::invalid_argument("frame = \"" + frame +
                              "\": must be \"local_world_aligned\", \"local\" or \"world\"");
}

/// Columns [6 x n], linear over angular, of a frame at X that are LOCAL_WORLD_ALIGNED, as `axes`
/// have them: in axes of the frame, or of the point of its body that is at the world's origin.
template <class Columns>
void express(Axes axes, const Transform& X, Columns& of) {
  for (Eigen::Index k = 0; axes != Axes::kLocalWorldAligned && k < of.cols(); ++k) {
    Vec3d v{of(0, k), of(1, k), of(2, k)}, w{of(3, k), of(4, k), of(5, k)};
    if (axes == Axes::kWorld) v = v - cross(w, X.p);
    if (axes == Axes::kLocal) v = transpose_times(X.R, v), w = transpose_times(X.R, w);
    of.col(k) << v.x, v.y, v.z, w.x, w.y, w.z;
  }
}

bp::object pose(const NamedMotion& m, const bp::object& of) {
  const auto [body, X] = place_of(m, of);
  return to_se3(m.motion.pose(body) * X);
}
bp::object velocity(const NamedMotion& m, const bp::object& of, const std::string& frame) {
  const Axes axes = axes_from(frame);
  const auto [body, X] = place_of(m, of);
  SceneMotion::Vector6d out = m.motion.velocity(body, X.p);
  express(axes, m.motion.pose(body) * X, out);
  return to_array(Eigen::VectorXd(out));
}
/// The classical one in the world or in axes of the frame at once; the spatial one is less
/// w x v of the same axes, which moves to another point as a velocity does.
bp::object acceleration(const NamedMotion& m,
                        const bp::object& of,
                        const std::string& frame,
                        bool spatial) {
  const Axes axes = axes_from(frame);
  const auto [body, X] = place_of(m, of);
  if (!m.motion.knows_acceleration())
    throw std::invalid_argument(
        "acceleration: not known at a state alone; take sim.motion(), the last step's, or "
        "SceneMotion(scene, state, acceleration=a)");
  const Transform X_W = m.motion.pose(body) * X;
  SceneMotion::Vector6d a = m.motion.acceleration(body, X.p), v = m.motion.velocity(body, X.p);
  const auto w_cross_v = [&] {
    const Vec3d c = cross(Vec3d{v[3], v[4], v[5]}, Vec3d{v[0], v[1], v[2]});
    return Eigen::Vector3d(c.x, c.y, c.z);
  };
  a.head<3>() -= w_cross_v();
  express(axes, X_W, a);
  express(axes, X_W, v);
  if (!spatial) a.head<3>() += w_cross_v();
  return to_array(Eigen::VectorXd(a));
}
bp::object jacobian(const NamedMotion& m, const bp::object& of, const std::string& frame) {
  const Axes axes = axes_from(frame);
  const auto [body, X] = place_of(m, of);
  RowMatrix out = m.motion.jacobian(body, X.p);
  express(axes, m.motion.pose(body) * X, out);
  return to_array(out);
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
double kinetic_energy(const NamedMotion& m) {
  return bodies(m, bp::object()).kinetic + m.motion.rotor_energy();
}
double potential_energy(const NamedMotion& m) {
  return bodies(m, bp::object()).potential_of_gravity + m.motion.spring_energy();
}
double rotor_energy(const NamedMotion& m) { return m.motion.rotor_energy(); }
std::string motion_repr(const NamedMotion& m) {
  return "SceneMotion(bodies=" + std::to_string(m.motion.num_bodies()) +
         ", nv=" + std::to_string(m.motion.nv()) + ")";
}

}  // namespace

std::pair<int, Transform> place_from(const Scene& scene, const bp::object& of, const char* field) {
  const bp::extract<std::string> name(of);
  if (!name.check()) return {body_from(scene, of, field), Transform::identity()};
  if (name() == "world") return {-1, Transform::identity()};
  return scene.frame(name());
}

BodyWrench wrench_in(const Transform& X, const Vec3d& about, const Vec3d& f, const Vec3d& m) {
  return {transpose_times(X.R, f), transpose_times(X.R, m + cross(about - X.p, f))};
}

void expose_scene_motion() {
  using bp::arg;
  const bp::object none;
  bp::class_<NamedMotion, std::shared_ptr<NamedMotion>, boost::noncopyable> c(
      "SceneMotion",
      "Poses, velocities and dynamics of a scene at a state, by the names of bodies, frames and "
      "sites (\"robot/frame\" where several robots have one); \"world\" stands still. Without "
      "contacts and forces of a control. `acceleration` (nv,) is the rate of v, as Pinocchio has "
      "it; `Simulator.motion` is the start of a step with the acceleration that it had. `frame`: "
      "\"local_world_aligned\" (of the frame's origin, world axes), \"local\" (its own axes) or "
      "\"world\" (of the point of its body that is at the world's origin), as in Pinocchio. Raises "
      "ValueError for a state that does not fit.",
      bp::no_init);
  c.def("__init__",
        bp::make_constructor(
            &make_motion,
            bp::default_call_policies(),
            (arg("scene"), arg("state"), arg("parameters") = none, arg("acceleration") = none)))
      .def("pose", &pose, (arg("self"), arg("of")), "pinocchio.SE3, world.")
      .def("velocity",
           &velocity,
           (arg("self"), arg("of"), arg("frame") = "local_world_aligned"),
           "(6,) linear [m/s], angular [rad/s].")
      .def("acceleration",
           &acceleration,
           (arg("self"), arg("of"), arg("frame") = "local_world_aligned", arg("spatial") = false),
           "(6,) linear [m/s^2], angular [rad/s^2]; without gravity: 0 at rest. The classical one, "
           "the rate of the velocity of the frame's origin, or the spatial one, which is less "
           "w x v. Raises ValueError where no acceleration is known.")
      .def("jacobian",
           &jacobian,
           (arg("self"), arg("of"), arg("frame") = "local_world_aligned"),
           "(6, nv) J with velocity = J v in the same frame.")
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
      .add_property(
          "kinetic_energy", &kinetic_energy, "Of all bodies and rotors [J]: half of v M v.")
      .add_property("potential_energy",
                    &potential_energy,
                    "Of gravity, zero at the world origin, and of the springs of joints [J].")
      .add_property("rotor_energy",
                    &rotor_energy,
                    "Of rotors (armature) alone [J]: a part of kinetic_energy.")
      .def("__repr__", &motion_repr);
  forbid_new_attributes(c);
}

}  // namespace stiction::python
