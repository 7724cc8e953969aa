#include "stiction/model/robot.hpp"

#include "scenes/data_paths.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace stiction;

namespace {

// Two links and a joint; the placeholders are replaced by the tests. Line 1 is <robot>.
const std::string kInertial =
    "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
    "</inertial>";

std::string arm(const std::string& joint_inside = "",
                const std::string& extra = "",
                const std::string& link_inside = kInertial,
                const std::string& joint_type = "revolute") {
  std::string limit = joint_inside.find("<limit") == std::string::npos && joint_type != "continuous"
                          ? "<limit lower='-1' upper='2' effort='3' velocity='4'/>"
                          : "";
  return "<robot name='arm'>\n<link name='base'/>\n<link name='tip'>" + link_inside +
         "</link>\n<joint name='elbow' type='" + joint_type +
         "'><parent link='base'/><child link='tip'/>" + limit + "\n" + joint_inside + "</joint>\n" +
         extra + "</robot>\n";
}

LoadOptions fixed_base() {
  LoadOptions options;
  options.free_flyer = false;
  return options;
}

Robot load(const std::string& xml, const LoadOptions& options = fixed_base()) {
  return load_urdf_string(xml, "arm.urdf", options);
}

void check_error(const std::string& xml,
                 int line,
                 const std::string& part,
                 const LoadOptions& options = fixed_base()) {
  try {
    load(xml, options);
    BOOST_ERROR("no error; expected: " + part);
  } catch (const std::runtime_error& e) {
    const std::string text = e.what();
    const std::string head = line > 0 ? "arm.urdf:" + std::to_string(line) + ": " : "arm.urdf: ";
    BOOST_TEST(text.starts_with(head), text);
    BOOST_TEST(text.find(part) != std::string::npos, text);
  }
}

bool has_message(const Robot& robot, LoadMessage::Kind kind, int line, const std::string& part) {
  return std::any_of(robot.messages.begin(), robot.messages.end(), [&](const LoadMessage& m) {
    return m.kind == kind && m.line == line && m.text.find(part) != std::string::npos;
  });
}
constexpr auto kUnused = LoadMessage::Kind::kUnused;
constexpr auto kWarning = LoadMessage::Kind::kWarning;
constexpr auto kMesh = LoadMessage::Kind::kMesh;

std::string collision(const std::string& shape) {
  return kInertial + "<collision><geometry>" + shape + "</geometry></collision>";
}

struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    path = std::filesystem::temp_directory_path() /
           ("stiction_load_urdf_test_" + std::to_string(std::rand()));
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

// An L of three unit cubes, as one closed surface: volume 3, hull volume 3.5.
const char* const kElbowObj =
    "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\n"
    "v 0 0 1\nv 2 0 1\nv 2 1 1\nv 1 1 1\nv 1 2 1\nv 0 2 1\n"
    "f 3 2 1\nf 4 3 1\nf 5 4 1\nf 6 5 1\n"
    "f 7 8 9\nf 7 9 10\nf 7 10 11\nf 7 11 12\n"
    "f 1 2 8\nf 1 8 7\nf 2 3 9\nf 2 9 8\nf 3 4 10\nf 3 10 9\n"
    "f 4 5 11\nf 4 11 10\nf 5 6 12\nf 5 12 11\nf 6 1 7\nf 6 7 12\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(load_urdf_test)

BOOST_AUTO_TEST_CASE(the_vendored_robot_has_nothing_unused) {
  LoadOptions options;
  options.strict = true;
  options.srdf = data_file("solo12/solo12.srdf");
  const Robot robot = load_urdf(data_file("solo12/solo12.urdf"), options);
  BOOST_TEST(robot.geometries.size() == 17u);
  for (const LoadMessage& m : robot.messages) {
    BOOST_TEST(m.text.find("is replaced by its convex hull") != std::string::npos, m.text);
  }
}

BOOST_AUTO_TEST_CASE(losses_limits_and_axes) {
  const Robot robot = load(arm("<axis xyz='0 3 4'/><dynamics damping='0.5' friction='0.25'/>"));
  BOOST_TEST(robot.bodies.size() == 1u);
  BOOST_TEST((robot.bodies[0].joint == JointType::kRevolute));
  BOOST_TEST(norm(robot.bodies[0].axis - Vec3d{0, 0.6, 0.8}) < 1e-15);
  BOOST_TEST(robot.dofs[0].damping == 0.5);
  BOOST_TEST(robot.dofs[0].dry_friction == 0.25);
  BOOST_TEST(robot.dofs[0].lower == -1.0);
  BOOST_TEST(robot.dofs[0].upper == 2.0);
  BOOST_TEST(robot.dofs[0].effort_limit == 3.0);
  const Robot turning = load(arm("", "", kInertial, "continuous"));
  BOOST_TEST((turning.bodies[0].joint == JointType::kContinuous));
  BOOST_TEST(turning.nq() == 2);
  BOOST_TEST((turning.neutral == std::vector<double>{1.0, 0.0}));
  BOOST_TEST(std::isinf(turning.dofs[0].upper));
  BOOST_TEST(std::isinf(turning.dofs[0].effort_limit));
  const Robot unknown = load(arm("<limit lower='-1' upper='2' effort='0' velocity='0'/>"));
  BOOST_TEST(std::isinf(unknown.dofs[0].effort_limit));
  BOOST_TEST(has_message(unknown, kWarning, 5, "effort limit 0 is taken as no limit"));
}

BOOST_AUTO_TEST_CASE(malformed_xml_and_numbers) {
  check_error("<robot name='a'>\n<link name='b'>\n</robot>", 2, "malformed XML");
  check_error("", 1, "malformed XML");
  check_error("<model name='a'/>", 1, "<model>, not <robot>");
  check_error("<robot name='a'/>", 1, "no <link>");
  check_error("<robot>\n<link name='b'/></robot>", 1, "no attribute 'name'");
  check_error(arm("<axis xyz='0 nan 1'/>"), 5, "'nan' is not a finite number");
  check_error(arm("<axis xyz='0 1'/>"), 5, "three numbers");
  check_error(arm("<axis xyz='0 1,0 0'/>"), 5, "'1,0' is not a finite number");
  check_error(arm("<axis xyz='0 0 0'/>"), 5, "axis xyz='0 0 0' is zero");
  check_error(arm("<origin xyz='1 2 1e999'/>"), 5, "'1e999' is not a finite number");
  check_error(arm("<dynamics damping='-1'/>"), 5, "damping='-1' must not be negative");
  check_error(arm("<dynamics damping='x'/>"), 5, "'x' is not a finite number");
  check_error(
      arm("<limit lower='3' upper='1' effort='1' velocity='1'/>"), 5, "lower=3 is above upper=1");
  check_error(arm("<limit lower='3' upper='1' velocity='1'/>"), 5, "no attribute 'effort'");
  check_error(arm("<axis xyz='1 0 0'/><axis xyz='0 1 0'/>"), 5, "a second <axis>");
}

BOOST_AUTO_TEST_CASE(bad_inertias) {
  const auto inertial = [](const std::string& mass, const std::string& moments) {
    return "<inertial><mass value='" + mass + "'/><inertia " + moments + "/></inertial>";
  };
  const std::string unit = "ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'";
  check_error(arm("", "", inertial("-1", unit)), 3, "mass -1 is negative");
  check_error(arm("", "", inertial("NaN", unit)), 3, "'NaN' is not a finite number");
  check_error(arm("", "", inertial("1", "ixx='1' iyy='1' izz='1' ixy='2' ixz='0' iyz='0'")),
              3,
              "link 'tip': inertia is not positive: its principal moments are (-1, 1, 3)");
  check_error(arm("", "", "<inertial><mass value='1'/></inertial>"), 3, "no <inertia>");
  check_error(arm("", "", inertial("1", "ixx='1'")), 3, "no attribute 'ixy'");
  check_error(arm("", "", ""), 3, "joint 'elbow' moves no inertia");

  // Moments that the parallel-axis sums of massless links may leave (iCub): rounding, not an error.
  const std::string rounded = "ixx='1e-18' iyy='-5.42101e-20' izz='1e-18' ixy='0' ixz='0' iyz='0'";
  const std::string light =
      "<link name='b'>" + inertial("1e-3", rounded) + "</link>\n" + "<link name='c'>" +
      inertial("1", unit) + "</link>\n" +
      "<joint name='k' type='revolute'><limit effort='1' velocity='1' "
      "lower='-1' upper='1'/><parent link='tip'/><child link='b'/></joint>\n" +
      "<joint name='l' type='revolute'><limit effort='1' velocity='1' "
      "lower='-1' upper='1'/><axis xyz='0 1 0'/><parent link='b'/><child link='c'/></joint>\n";
  const Robot icub = load(arm("", light));
  BOOST_TEST(icub.bodies[1].inertia.yy == 0.0);
  BOOST_TEST(icub.bodies[2].inertia.yy == 1.0);

  const std::string thin = arm("",
                               "",
                               inertial("1",
                                        "ixx='1' iyy='1' izz='3' ixy='0' ixz='0' "
                                        "iyz='0'"));
  const Robot robot = load(thin);
  BOOST_TEST(has_message(robot, kWarning, 3, "violates the triangle inequality"));
  BOOST_TEST(robot.bodies[0].inertia.zz == 3.0);
  LoadOptions options = fixed_base();
  options.balance_inertia = true;
  const Robot balanced = load(thin, options);
  BOOST_TEST(std::abs(balanced.bodies[0].inertia.zz - 5.0 / 3.0) < 1e-15);
  BOOST_TEST(std::abs(balanced.bodies[0].inertia.xx - 5.0 / 3.0) < 1e-15);
  BOOST_TEST(has_message(balanced, kWarning, 3, "replaced by their mean"));
  options.strict = true;
  check_error(thin, 3, "violates the triangle inequality", options);
}

BOOST_AUTO_TEST_CASE(bad_topology) {
  const std::string link = "<link name='other'>" + kInertial + "</link>\n";
  const auto joint = [](const std::string& name,
                        const std::string& parent,
                        const std::string& child,
                        const std::string& type = "fixed") {
    return "<joint name='" + name + "' type='" + type + "'><parent link='" + parent +
           "'/><child link='" + child + "'/></joint>\n";
  };
  check_error(arm("", "<link name='tip'/>\n"), 6, "link 'tip' is defined twice (first at line 3)");
  check_error(arm("", link + joint("elbow", "tip", "other")),
              7,
              "joint 'elbow' is defined twice (first at line 4)");
  check_error(arm("", joint("j", "tap", "base")),
              6,
              "joint 'j': parent link 'tap' does not exist; near: tip");
  check_error(arm("", joint("j", "base", "hand")), 6, "child link 'hand' does not exist");
  check_error(arm("", link), 6, "'base' and 'other' both have no parent joint");
  check_error(arm("", joint("j", "base", "tip")), 6, "child of two joints, 'elbow' and 'j'");
  check_error(arm("", joint("j", "tip", "base")), 2, "form a loop");
  check_error(
      arm("", link + joint("j", "base", "other", "screw")), 7, "type 'screw' is not one of");
  check_error(arm("", link + joint("j", "base", "other", "revolute")), 7, "has no <limit>");
  check_error(
      arm("", link + joint("j", "tip", "other", "floating")), 7, "only the root may be free");
  check_error(arm("", link + joint("j", "tip", "other", "spherical")), 7, "is not one of");
  LoadOptions free;
  check_error(arm("", link + joint("j", "base", "other", "floating")),
              7,
              "only the root may be free",
              free);
}

BOOST_AUTO_TEST_CASE(everything_unused_is_listed) {
  const std::string extra =
      "<transmission name='t'/>\n<gazebo reference='tip'/>\n<gazebo/>\n<material name='m'/>\n"
      "<plugin/>\n";
  const std::string xml =
      arm("<safety_controller k_velocity='1'/><calibration rising='0'/>\n"
          "<dynamics damping='1' spring_stiffness='2'/>stray\n",
          extra);
  const Robot robot = load(xml);
  BOOST_TEST(has_message(robot, kUnused, 5, "<safety_controller> in <joint>"));
  BOOST_TEST(has_message(robot, kUnused, 5, "<calibration> in <joint>"));
  BOOST_TEST(has_message(robot, kUnused, 6, "attribute 'spring_stiffness' of <dynamics>"));
  BOOST_TEST(has_message(robot, kUnused, 6, "text in <joint>"));
  BOOST_TEST(has_message(robot, kUnused, 8, "<transmission> in <robot>"));
  BOOST_TEST(
      has_message(robot, kUnused, 9, "<gazebo> in <robot> is not used (2 times, lines 9, 10)"));
  BOOST_TEST(!has_message(robot, kUnused, 11, "<material> in <robot>"));
  BOOST_TEST(has_message(robot, kUnused, 12, "<plugin> in <robot>"));
  for (const LoadMessage& m : robot.messages) BOOST_TEST(m.file == "arm.urdf");
  BOOST_TEST(load(arm()).messages.empty());
  LoadOptions strict = fixed_base();
  strict.strict = true;
  check_error(xml, 5, "is not used (strict loading)", strict);
  BOOST_CHECK_NO_THROW(load(arm(), strict));
}

BOOST_AUTO_TEST_CASE(mimic_joints_become_gears) {
  const std::string second =
      "<link name='finger'>" + kInertial +
      "</link>\n"
      "<joint name='follower' type='TYPE'><parent link='tip'/><child link='finger'/>"
      "<limit lower='-1' upper='1' effort='1' velocity='1'/>\n"
      "<mimic joint='DRIVER' multiplier='-2' offset='0.5'/></joint>\n";
  const auto with = [&](const std::string& type, const std::string& driver) {
    std::string text = second;
    text.replace(text.find("TYPE"), 4, type);
    text.replace(text.find("DRIVER"), 6, driver);
    return arm("", text);
  };
  const Robot robot = load(with("revolute", "elbow"));
  BOOST_TEST(robot.nq() == 2);
  BOOST_REQUIRE(robot.gears.size() == 1u);
  BOOST_TEST(robot.gears[0].dof == 1);
  BOOST_TEST(robot.gears[0].driver == 0);
  BOOST_TEST(robot.gears[0].ratio == -2.0);
  BOOST_TEST(robot.gears[0].offset == 0.5);
  BOOST_TEST(has_message(load(with("fixed", "elbow")), kUnused, 8, "<mimic> on a fixed joint"));
  check_error(with("revolute", "elbo"), 8, "does not exist; near: elbow");
  check_error(with("revolute", "follower"), 8, "is the joint itself");
}

BOOST_AUTO_TEST_CASE(primitive_shapes) {
  const auto shape = [](const std::string& text) {
    return load(arm("", "", collision(text))).geometries.at(0).shape;
  };
  BOOST_TEST((shape("<sphere radius='0.1'/>").type == ShapeType::kSphere));
  BOOST_TEST(shape("<box size='1 2 3'/>").size.z == 1.5);
  BOOST_TEST(shape("<capsule radius='0.1' length='1'/>").size.y == 0.5);
  const Robot robot = load(arm("", "", collision("<cylinder radius='2' length='3'/>")));
  const Shape& can = robot.geometries[0].shape;
  BOOST_TEST((can.type == ShapeType::kCylinder));
  BOOST_TEST(can.size.x == 2.0);
  BOOST_TEST(can.size.y == 1.5);
  BOOST_TEST(!has_message(robot, kWarning, 3, "cylinder"));
  check_error(arm("", "", collision("<sphere radius='0'/>")), 3, "radius='0' must be positive");
  check_error(arm("", "", collision("<box size='1 -1 1'/>")), 3, "size='1 -1 1' must be positive");
  check_error(arm("", "", collision("<cylinder radius='0' length='1'/>")), 3, "radius='0'");
  check_error(arm("", "", collision("<cylinder radius='1' length='-2'/>")), 3, "length='-2'");
  BOOST_TEST(load(arm("<dynamics/>")).dofs[0].damping == 0.0);
  check_error(arm("", "", collision("<cone/>")), 3, "geometry <cone> is not one of");
  check_error(arm("", "", collision("")), 3, "<geometry> is empty");
  check_error(arm("", "", collision("<mesh filename='no.stl' />")),
              3,
              "collision mesh 'no.stl' is missing");
  LoadOptions without = fixed_base();
  without.collision_geometry = false;
  BOOST_TEST(load(arm("", "", collision("<mesh filename='no.stl'/>")), without).geometries.empty());
}

BOOST_AUTO_TEST_CASE(meshes_become_hulls_with_their_volume_ratio) {
  const TemporaryFolder folder;
  const std::string mesh = folder.write("my_robot/meshes/elbow.obj", kElbowObj);
  const MeshFile file = load_mesh(mesh, {1, 1, 2});
  BOOST_TEST(std::abs(file.volume - 6.0) < 1e-12);
  BOOST_TEST(std::abs(load_mesh(mesh, {-1, 1, 1}).volume - 3.0) < 1e-12);
  const auto check = [&](const std::string& uri, const LoadOptions& options) {
    const std::string path = folder.write("my_robot/urdf/arm.urdf",
                                          arm("", "", collision("<mesh filename='" + uri + "'/>")));
    const Robot robot = load_urdf(path, options);
    BOOST_TEST(std::abs(robot.geometries.at(0).shape.mesh->volume - 3.5) < 1e-12, uri);
    BOOST_TEST(has_message(robot, kMesh, 3, "hull volume / mesh volume = 1.17"), uri);
  };
  LoadOptions options = fixed_base();
  check("package://my_robot/meshes/elbow.obj", options);  // found from the URDF's parents
  check("../meshes/elbow.obj", options);
  check("file://" + mesh, options);
  options.package_dirs = {folder.path.string() + "/my_robot/"};
  check("package://my_robot/meshes/elbow.obj", options);
  const std::string tetrahedron = folder.write("tetrahedron.obj",
                                               "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                               "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  BOOST_TEST(
      load(arm("", "", collision("<mesh filename='" + tetrahedron + "'/>"))).messages.empty(),
      "a mesh that is its own hull is no news");
  folder.write("my_robot/meshes/flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const std::string flat =
      arm("",
          "",
          collision("<mesh filename='" + folder.path.string() + "/my_robot/meshes/flat.obj'/>"));
  check_error(flat, 3, "has no convex hull");
  BOOST_CHECK_THROW(load_mesh("/nonexistent/mesh.stl"), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(adjacent_links_and_srdf) {
  const TemporaryFolder folder;
  const std::string ball = "<collision><geometry><sphere radius='0.1'/></geometry></collision>";
  std::string xml = "<robot name='chain'>\n<link name='l0'>" + ball + "</link>\n";
  for (int i = 1; i < 5; ++i) {
    const std::string self = std::to_string(i), parent = std::to_string(i - 1);
    xml += "<link name='l" + self + "'>" + kInertial + ball + "</link>\n<joint name='j" + self +
           "' type='continuous'><parent link='l" + parent + "'/><child link='l" + self +
           "'/></joint>\n";
  }
  xml += "</robot>";
  const std::string srdf =
      folder.write("chain.srdf",
                   "<robot name='chain'>\n<group name='all'/>\n"
                   "<disable_collisions link1='l0' link2='l4' reason='never'/>\n"
                   "<disable_collisions link1='l0' link2='nothing'/>\n"
                   "<group_state name='home' group='all'>\n<joint name='j2' value='0.5'/>\n"
                   "<joint name='j9' value='0.5'/>\n</group_state></robot>");
  LoadOptions options = fixed_base();
  options.srdf = srdf;
  options.keep_overlapping_pairs = true;
  const Robot robot = load(xml, options);
  const std::vector<std::pair<int, int>> expected = {{0, 1}, {0, 4}, {1, 2}, {2, 3}, {3, 4}};
  BOOST_TEST((robot.disabled_pairs == expected));
  const std::vector<double>& home = robot.configurations.at("home");
  BOOST_TEST(home.size() == 8u);
  BOOST_TEST(home[2] == std::cos(0.5));
  BOOST_TEST(home[3] == std::sin(0.5));
  BOOST_TEST(home[0] == 1.0);
  BOOST_TEST(has_message(robot, kUnused, 2, "<group> in <robot>"));
  BOOST_TEST(has_message(robot, kWarning, 4, "link 'nothing' does not exist"));
  BOOST_TEST(has_message(robot, kWarning, 7, "joint 'j9' is not a moving joint"));
  options.self_collision = false;
  BOOST_TEST(load(xml, options).disabled_pairs.size() == 10u);
  options.srdf = folder.write("bad.srdf",
                              "<robot name='chain'>\n<group_state name='s'>\n"
                              "<joint name='j1' value='1 2 3'/></group_state></robot>");
  BOOST_CHECK_EXCEPTION(load(xml, options), std::runtime_error, [](const std::runtime_error& e) {
    return std::string(e.what()).find("bad.srdf:3: joint 'j1': value='1 2 3' has 3 numbers") !=
           std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(names_are_suggested) {
  const Robot robot = load(arm());
  BOOST_CHECK_EXCEPTION(robot.frame("tipp"), std::invalid_argument, [](const auto& e) {
    return std::string(e.what()).find("has no frame \"tipp\"; near: tip") != std::string::npos;
  });
  BOOST_CHECK_EXCEPTION(robot.body("elbo"), std::invalid_argument, [](const auto& e) {
    return std::string(e.what()).find("near: elbow") != std::string::npos;
  });
  BOOST_TEST(robot.body("base") == -1);
  BOOST_TEST(robot.body("tip") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
