#include "stiction/math/lanes.hpp"

#include "math/elementary.hpp"
#include "scenes/builders.hpp"

#include <charconv>
#include <cmath>
#include <numbers>

// Small mechanisms, as URDF text so that each has its Pinocchio model. Planar in the x-z plane.

namespace stiction {
namespace {

Robot load_fixed(const std::string& xml, const std::string& name, const SceneOptions& options) {
  LoadOptions load;
  load.free_flyer = false;
  load.material = scene_material(options, 0.8);
  return load_urdf_string(xml, name, load);
}

// Shortest text that reads back, in every locale.
std::string text(double value) {
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// Uniform thin rod along +x of its link: m l^2 / 12 about its middle.
std::string rod(const std::string& name, double length, double mass) {
  const std::string middle = text(0.5 * length), l = text(length);
  const std::string moment = text(mass * length * length / 12.0);
  return "<link name='" + name + "'><inertial><origin xyz='" + middle + " 0 0'/><mass value='" +
         text(mass) + "'/><inertia ixx='0' iyy='" + moment + "' izz='" + moment +
         "' ixy='0' ixz='0' iyz='0'/></inertial><collision><origin xyz='" + middle +
         " 0 0' rpy='0 1.5707963267948966 0'/><geometry><capsule radius='0.01' length='" + l +
         "'/></geometry></collision></link>\n";
}

// Hinge about -y: a positive angle lifts +x towards +z.
std::string hinge(const std::string& name,
                  const std::string& parent,
                  const std::string& child,
                  double x) {
  return "<joint name='" + name + "' type='revolute'><parent link='" + parent + "'/><child link='" +
         child + "'/><origin xyz='" + text(x) +
         " 0 0'/><axis xyz='0 -1 0'/><limit lower='-1' upper='1' effort='1000' "
         "velocity='1000'/></joint>\n";
}

// URDF has no revolute joint without limits but "continuous", whose q is (cos, sin).
void remove_position_limits(Robot& robot) {
  for (DofDescription& dof : robot.dofs) {
    dof.lower = -kInfinity;
    dof.upper = kInfinity;
  }
}

const char* const kCartpole = R"(<robot name="cartpole">
  <link name="rail"/>
  <link name="cart">
    <inertial><mass value="1"/>
      <inertia ixx="0.005" iyy="0.005" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.3 0.2 0.1"/></geometry></collision>
  </link>
  <link name="pole">
    <inertial><origin xyz="0 0 0.5"/><mass value="0.1"/>
      <inertia ixx="0.0083333333333333" iyy="0.0083333333333333" izz="0.00002" ixy="0" ixz="0"
               iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.5"/><geometry><capsule radius="0.02" length="1"/></geometry>
    </collision>
  </link>
  <joint name="slider" type="prismatic">
    <parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="100" velocity="100"/>
  </joint>
  <joint name="hinge" type="revolute">
    <parent link="cart"/><child link="pole"/><axis xyz="0 1 0"/>
    <limit lower="-1.5707963267948966" upper="1.5707963267948966" effort="100" velocity="100"/>
  </joint>
</robot>)";

}  // namespace

Scene make_cartpole(const SceneOptions& options) {
  const Robot robot = load_fixed(kCartpole, "cartpole", options);
  Scene scene;
  scene.add_robot(robot);
  scene.set_configuration("upright", {0.0, 0.0});
  scene.set_configuration("tilted", {0.0, 0.1});
  scene.set_configuration("default", {0.0, 0.1});
  return scene;
}

Scene make_double_pendulum(const SceneOptions& options) {
  Robot robot =
      load_fixed("<robot name='double_pendulum'><link name='base'/>\n" + rod("upper", 0.5, 1.0) +
                     rod("lower", 0.5, 1.0) + hinge("shoulder", "base", "upper", 0.0) +
                     hinge("elbow", "upper", "lower", 0.5) + "</robot>",
                 "double-pendulum",
                 options);
  remove_position_limits(robot);
  Scene scene;
  scene.add_robot(robot);
  const double down = -0.5 * std::numbers::pi;
  scene.set_configuration("hanging", {down, 0.0});
  scene.set_configuration("horizontal", {0.0, 0.0});
  return scene;
}

Scene make_four_bar(const SceneOptions& options) {
  // Ground 0.5, crank 0.2, coupler 0.5, rocker 0.4 [m]: the crank can turn fully (Grashof).
  const double ground = 0.5, crank = 0.2, coupler = 0.5, rocker = 0.4;
  Robot robot =
      load_fixed("<robot name='four_bar'><link name='base'/>\n" + rod("crank", crank, 0.2) +
                     rod("coupler", coupler, 0.5) + rod("rocker", rocker, 0.4) +
                     hinge("crank_hinge", "base", "crank", 0.0) +
                     hinge("coupler_hinge", "crank", "coupler", crank) +
                     hinge("rocker_hinge", "coupler", "rocker", coupler) + "</robot>",
                 "four-bar",
                 options);
  remove_position_limits(robot);
  for (int a = 0; a < 3; ++a) {
    for (int b = a + 1; b < 3; ++b) robot.disabled_pairs.push_back({a, b});
  }
  Scene scene;
  scene.add_robot(robot);
  scene.add_point_closure("rocker_pivot", -1, {ground, 0, 0}, scene.body("rocker"), {rocker, 0, 0});

  // Crank at 60 degrees; the coupler's end is where the circles about the crank's end and about the
  // ground pivot meet, on the upper branch.
  const double theta = std::numbers::pi / 3.0;
  const double x = crank * cosine(theta), z = crank * sine(theta);
  const double dx = ground - x, dz = -z, d = length(dx, dz);
  const double inner =
      arc_cosine((coupler * coupler + d * d - rocker * rocker) / (2.0 * coupler * d));
  const double coupler_angle = arc_tangent(dz, dx) + inner;
  const double ex = x + coupler * cosine(coupler_angle);
  const double ez = z + coupler * sine(coupler_angle);
  const double rocker_angle = arc_tangent(-ez, ground - ex);
  scene.set_configuration("default", {theta, coupler_angle - theta, rocker_angle - coupler_angle});
  return scene;
}

}  // namespace stiction
