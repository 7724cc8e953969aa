// Rays, distances and contacts of a whole scene: what they refuse, and what the state keeps.
#include "stiction/collision/ray_cast.hpp"
#include "stiction/collision/scene_distances.hpp"

#include "collision/scene/collide.hpp"
#include <boost/test/unit_test.hpp>

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace stiction;

namespace {

Transform at(double x, double z) { return {Mat3d::identity(), {x, 0.0, z}}; }

// Two shapes in light contact.
Scene scene_of(const Shape& a, const Shape& b, double reach) {
  Scene scene;
  scene.add_body("a", a, 1.0, at(0.0, 0.0));
  scene.add_body("b", b, 1.0, at(reach, 0.0));
  return scene;
}

// Contacts of the scene's first moment, and the warm starts it leaves.
int contacts_at_rest(const Scene& scene, State& state) {
  DynamicsWorkspace dynamics;
  dynamics.resize(scene);
  CollisionWorkspace work;
  work.resize(scene);
  state = make_state(scene, scene.default_q());
  forward_kinematics(scene, scene.parameters, state.q.data(), state.v.data(), dynamics);
  ContactSet contacts;
  collide(scene, scene.parameters, dynamics, {}, 1e-3, state, work, contacts);
  return int(contacts.size());
}

bool refused(const std::string& part, const auto& call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    return std::string(e.what()).find(part) != std::string::npos;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scene_queries_test)

// Warm starts are kept where they are used: not where a formula answers.
BOOST_AUTO_TEST_CASE(closed_forms_keep_no_warm_start) {
  const Shape sphere = Shape::sphere(0.1), capsule = Shape::capsule(0.1, 0.2);
  const Shape box = Shape::box({0.1, 0.1, 0.1}), cone = Shape::cone(0.1, 0.1);
  State state;
  for (const auto& [a, b] : {std::pair{sphere, sphere},
                             {sphere, capsule},
                             {capsule, capsule},
                             {sphere, box},
                             {box, sphere}}) {
    BOOST_TEST(contacts_at_rest(scene_of(a, b, 0.199), state) > 0);
    BOOST_TEST(state.queries.empty());
  }
  for (const auto& [a, b] : {std::pair{box, box}, {capsule, box}, {sphere, cone}}) {
    BOOST_TEST(contacts_at_rest(scene_of(a, b, 0.15), state) > 0);
    BOOST_TEST(state.queries.size() == 1u);
  }
}

// A box with a NaN overlaps none: without the check the pair would be passed over in silence.
BOOST_AUTO_TEST_CASE(poses_must_fit_and_be_finite) {
  const Scene scene = scene_of(Shape::sphere(0.1), Shape::box({0.1, 0.1, 0.1}), 0.19);
  std::vector<Transform> poses = {at(0.0, 0.0), at(0.19, 0.0)};
  BOOST_TEST(scene_distances(scene, scene.parameters, poses, 1.0).size() == 1u);
  BOOST_TEST(ray_cast(scene, scene.parameters, poses, {{0, 0, 1}}, {{0, 0, -1}})[0].geometry == 0);
  const auto distances = [&] { scene_distances(scene, scene.parameters, poses, 1.0); };
  const auto rays = [&] { ray_cast(scene, scene.parameters, poses, {{0, 0, 1}}, {{0, 0, -1}}); };
  poses[1].p.y = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(refused("scene_distances: poses[1]", distances));
  BOOST_TEST(refused("ray_cast: poses[1]", rays));
  poses.pop_back();
  BOOST_TEST(refused("poses.size() = 1: must be the number of geometries, 2", distances));
  BOOST_TEST(refused("poses.size() = 1: must be the number of geometries, 2", rays));
}

// Pairs beyond the bound are left out, those within have the answer of the pair alone.
BOOST_AUTO_TEST_CASE(a_bound_changes_no_distance_within_it) {
  const Shape shapes[] = {Shape::box({0.1, 0.2, 0.1}), Shape::ellipsoid({0.1, 0.2, 0.3})};
  for (const Shape& a : shapes) {
    const Scene scene = scene_of(a, Shape::cone(0.2, 0.1), 0.5);
    const std::vector<Transform> poses = {at(0.0, 0.0), at(0.5, 0.3)};
    const auto all = scene_distances(scene, scene.parameters, poses, kInfinity);
    BOOST_REQUIRE(all.size() == 1u);
    const double d = all[0].result.distance;
    BOOST_TEST(d > 0.05);
    BOOST_TEST(scene_distances(scene, scene.parameters, poses, 0.99 * d).empty());
    const auto near = scene_distances(scene, scene.parameters, poses, 1.01 * d);
    BOOST_REQUIRE(near.size() == 1u);
    BOOST_TEST(near[0].result.distance == d);
    BOOST_TEST(squared_norm(near[0].result.witness_a - all[0].result.witness_a) == 0.0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
