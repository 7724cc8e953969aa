#include "stiction/collision/scene_distances.hpp"
#include "stiction/model/robot.hpp"

#include "math/split_mix.hpp"
#include "scenes/data_paths.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

// Links of one robot that overlap at the start cannot collide; the robot says which.

using namespace stiction;

BOOST_AUTO_TEST_SUITE(overlapping_pairs_test)

namespace {

struct Ball {
  Vec3d centre;  // in the robot's root at neutral
  double radius;
};

std::string text(const Vec3d& p) {
  char out[96];
  std::snprintf(out, sizeof out, "%.17g %.17g %.17g", p.x, p.y, p.z);
  return out;
}

/// A chain of continuous joints about z; link i carries ball i.
std::string chain(const std::vector<Ball>& balls) {
  std::string xml = "<robot name='chain'>\n";
  for (std::size_t i = 0; i < balls.size(); ++i) {
    const std::string self = std::to_string(i), parent = std::to_string(i - 1);
    const Vec3d step = i ? balls[i].centre - balls[i - 1].centre : balls[0].centre;
    xml += "<link name='l" + self +
           "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
           "iyz='0'/></inertial><collision><geometry><sphere radius='" +
           std::to_string(balls[i].radius) + "'/></geometry></collision></link>\n";
    if (i == 0) continue;
    xml += "<joint name='j" + self + "' type='continuous'><origin xyz='" + text(step) +
           "'/><parent link='l" + parent + "'/><child link='l" + self +
           "'/><axis xyz='0 0 1'/></joint>\n";
  }
  return xml + "</robot>\n";
}

bool is_disabled(const Robot& robot, int a, int b) {
  return std::find(robot.disabled_pairs.begin(),
                   robot.disabled_pairs.end(),
                   std::pair(std::min(a, b), std::max(a, b))) != robot.disabled_pairs.end();
}

std::vector<LoadMessage> overlaps(const Robot& robot) {
  std::vector<LoadMessage> found;
  for (const LoadMessage& m : robot.messages) {
    if (m.kind == LoadMessage::Kind::kOverlap) found.push_back(m);
  }
  return found;
}

}  // namespace

// Balls in a line, radius 0.1: neighbours are parent and child, every second pair is 30 mm deep.
BOOST_AUTO_TEST_CASE(they_are_listed_once_deepest_first) {
  const std::string xml =
      chain({{{0, 0, 0}, 0.1}, {{0.085, 0, 0}, 0.1}, {{0.17, 0, 0}, 0.1}, {{0.28, 0, 0}, 0.1}});
  const Robot robot = load_urdf_string(xml, "chain.urdf");
  BOOST_REQUIRE(overlaps(robot).size() == 1u);
  BOOST_TEST(overlaps(robot)[0].text ==
             "2 pairs of links overlap at the start and cannot collide: l0 / l2 30 mm, l1 / l3 "
             "5 mm");
  BOOST_TEST(overlaps(robot)[0].file == "chain.urdf");
  BOOST_TEST(is_disabled(robot, 0, 2));
  BOOST_TEST(is_disabled(robot, 1, 3));
  BOOST_TEST(!is_disabled(robot, 0, 3));

  LoadOptions keep;
  keep.keep_overlapping_pairs = true;
  const Robot kept = load_urdf_string(xml, "chain.urdf", keep);
  BOOST_TEST(overlaps(kept).empty());
  BOOST_TEST(!is_disabled(kept, 0, 2));
}

// Straight, the ends of three links are apart; folded, they meet.
BOOST_AUTO_TEST_CASE(named_configurations_count) {
  const std::filesystem::path srdf =
      std::filesystem::temp_directory_path() / "stiction_overlapping_pairs_test.srdf";
  std::ofstream(srdf) << "<robot name='chain'><group_state name='folded' group='all'>"
                         "<joint name='j1' value='3.14159265358979'/></group_state></robot>";
  LoadOptions options;
  options.srdf = srdf.string();
  const std::string xml = chain({{{0, 0, 0}, 0.1}, {{0.3, 0, 0}, 0.1}, {{0.55, 0, 0}, 0.1}});
  BOOST_TEST(overlaps(load_urdf_string(xml, "chain.urdf")).empty());
  const Robot robot = load_urdf_string(xml, "chain.urdf", options);
  std::filesystem::remove(srdf);
  BOOST_REQUIRE(overlaps(robot).size() == 1u);
  BOOST_TEST(overlaps(robot)[0].text.ends_with("l0 / l2 150 mm in 'folded'"));
  BOOST_TEST(is_disabled(robot, 0, 2));
}

// Links 0 and 2 are plates face to face with a gap of 0.1 mm, across the axis of joint 1 between
// them, which turns them into each other either way. Beside the axis one way is free.
BOOST_AUTO_TEST_CASE(plates_that_lock_a_joint_are_off) {
  const auto plates = [](const char* axis, double shift, const char* type) {
    const std::string mass =
        "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
        "iyz='0'/></inertial>";
    const std::string origin = "<origin xyz='" + std::to_string(shift) + " 0 ";
    const std::string box = "<geometry><box size='0.1 0.1 0.02'/></geometry></collision></link>";
    const std::string limit = "<limit lower='0.5' upper='1' effort='0' velocity='0'/>";
    return "<robot name='plates'><link name='l0'>" + mass + "<collision>" + origin + "-0.01'/>" +
           box + "<link name='l1'>" + mass + "</link><link name='l2'>" + mass + "<collision>" +
           origin + "0.0101'/>" + box + "<joint name='j1' type='" + type +
           "'><parent link='l0'/><child link='l1'/><axis xyz='" + axis + "'/>" + limit +
           "</joint><joint name='j2' type='revolute'><parent link='l1'/><child link='l2'/>"
           "<axis xyz='0 0 1'/>" +
           limit + "</joint></robot>";
  };
  for (const char* type : {"revolute", "continuous"}) {
    const Robot locked = load_urdf_string(plates("0 1 0", 0.0, type), "plates.urdf");
    BOOST_REQUIRE(overlaps(locked).size() == 1u);
    BOOST_TEST(is_disabled(locked, 0, 1));
    const std::string text = overlaps(locked)[0].text;
    BOOST_TEST(text.find("l0 / l2 0.9") != std::string::npos, text);  // 0.02 * 50 - 0.1 mm
    BOOST_TEST(text.ends_with("mm whichever way 'j1' moves"), text);
    BOOST_TEST(overlaps(load_urdf_string(plates("0 0 1", 0.0, type), "plates.urdf")).empty());
    BOOST_TEST(overlaps(load_urdf_string(plates("0 1 0", 0.06, type), "plates.urdf")).empty());
  }
  BOOST_TEST(overlaps(load_urdf_string(plates("0 0 1", 0.0, "prismatic"), "plates.urdf")).empty());
}

// Random chains of balls, whose distances are known: a pair is off if and only if it is adjacent or
// overlaps by more than what counts as touching.
BOOST_AUTO_TEST_CASE(exactly_the_overlapping_pairs_are_off) {
  SplitMix rng{11};
  int overlapping = 0, apart = 0, touching = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<Ball> balls;
    for (int i = 0; i < 8; ++i) {
      balls.push_back({{rng(), rng(), rng()}, 0.125});
      // Every third trial holds a pair that touches within a tenth of a micrometre.
      if (trial % 3 == 0 && i == 5) balls[5].centre = balls[2].centre + Vec3d{0.25 - 1e-7, 0, 0};
    }
    const Robot robot = load_urdf_string(chain(balls), "chain.urdf");
    for (int a = 0; a < 8; ++a) {
      for (int b = a + 1; b < 8; ++b) {
        const double depth = 0.25 - norm(balls[a].centre - balls[b].centre);
        const bool off = b == a + 1 || depth > 1e-6;
        BOOST_TEST(is_disabled(robot, a, b) == off, "trial " << trial << ": " << a << ", " << b);
        if (b == a + 1) continue;
        (std::abs(depth) < 1e-6 ? touching : depth > 0.0 ? overlapping : apart)++;
      }
    }
  }
  BOOST_TEST(overlapping > 50);
  BOOST_TEST(apart > 500);
  BOOST_TEST(touching >= 20);
}

// The built-in robots list by hand what overlaps: nothing is left to find.
BOOST_AUTO_TEST_CASE(the_vendored_robot_has_none) {
  LoadOptions options;
  options.srdf = data_file("solo12/solo12.srdf");
  BOOST_TEST(overlaps(load_urdf(data_file("solo12/solo12.urdf"), options)).empty());
}

BOOST_AUTO_TEST_SUITE_END()
