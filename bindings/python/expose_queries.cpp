#include "stiction/collision/ray_cast.hpp"
#include "stiction/collision/scene_distances.hpp"

#include "common.hpp"
#include "inside.hpp"
#include "scene_holder.hpp"

#include <algorithm>

// Questions about a whole scene at one configuration: rays, distances.

namespace stiction::python {
namespace {

const Parameters& numbers_of(const SceneHolder& scene, const bp::object& parameters) {
  const Parameters& p = parameters_from(scene, parameters);
  scene.validate_shapes(p);
  return p;
}

std::vector<Transform> poses_from(const SceneHolder& scene,
                                  const bp::object& state,
                                  const Parameters& parameters) {
  const bp::extract<const State&> given(state);
  const Eigen::VectorXd q = given.check() ? given().q : vector_from(state, "state", scene.nq());
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    if (!std::isfinite(q[i]))
      throw std::invalid_argument("state.q[" + std::to_string(i) + "] = " + number(q[i]) +
                                  ": must be finite");
  }
  if (given.check()) {
    validate_state(scene, given());
    validate_scene_of(given(), scene.fingerprint());
  }
  // Refuses other sizes, and quaternions that are not unit.
  const Eigen::VectorXd unit =
      given.check() ? q : make_state(scene, {q.data(), q.data() + q.size()}).q;
  return geometry_poses(scene, parameters, unit);
}

struct RayHits {
  std::vector<double> distances, geometries;
  std::vector<Vec3d> normals;
};

std::vector<int> bodies_from(const SceneHolder& scene, const bp::object& bodies) {
  std::vector<int> out;
  for (bp::stl_input_iterator<bp::object> it(bodies), end; it != end; ++it) {
    const std::string field = "ignored[" + std::to_string(out.size()) + "]";
    out.push_back(body_from(scene, *it, field.c_str()));
  }
  return out;
}

RayHits cast_rays(const SceneHolder& scene,
                  const bp::object& state,
                  const bp::object& origins,
                  const bp::object& directions,
                  double max_distance,
                  const bp::object& ignored,
                  const bp::object& parameters) {
  const Parameters& p = numbers_of(scene, parameters);
  const std::vector<Transform> poses = poses_from(scene, state, p);
  const std::vector<Vec3d> o = points_from(origins, "origins");
  const std::vector<Vec3d> d = points_from(directions, "directions");
  const std::vector<int> bodies = bodies_from(scene, ignored);
  RayHits out;
  const Pin pin(&scene, "ray_cast", false), numbers(&p, "ray_cast", false);
  const AllowThreads free;
  for (const RayHit& hit : ray_cast(scene, p, poses, o, d, max_distance, bodies)) {
    out.distances.push_back(hit.distance);
    out.normals.push_back(hit.normal);
    out.geometries.push_back(hit.geometry);
  }
  return out;
}

bp::list distances(const SceneHolder& scene,
                   const bp::object& state,
                   double max_distance,
                   const bp::object& parameters) {
  const Parameters& p = numbers_of(scene, parameters);
  return to_list(scene_distances(scene, p, poses_from(scene, state, p), max_distance));
}

bp::object hit_distances(const RayHits& h) { return to_array(h.distances); }
bp::object hit_normals(const RayHits& h) { return to_array(h.normals); }
bp::object hit_geometries(const RayHits& h) {
  return to_array(h.geometries).attr("astype")("int32");
}
std::string hits_repr(const RayHits& h) {
  const auto hit = [](double g) { return g >= 0.0; };
  return "RayHits(" + std::to_string(h.distances.size()) + " rays, " +
         std::to_string(std::count_if(h.geometries.begin(), h.geometries.end(), hit)) + " hit)";
}

double pair_distance(const PairDistance& p) { return p.result.distance; }
bp::object pair_witness_a(const PairDistance& p) { return to_array(p.result.witness_a); }
bp::object pair_witness_b(const PairDistance& p) { return to_array(p.result.witness_b); }
bp::object pair_normal(const PairDistance& p) { return to_array(p.result.normal); }
std::string pair_status(const PairDistance& p) { return to_string(p.result.status); }
std::string pair_repr(const PairDistance& p) {
  return "PairDistance(geometry_a=" + std::to_string(p.geometry_a) +
         ", geometry_b=" + std::to_string(p.geometry_b) +
         ", distance=" + number(p.result.distance) + ")";
}

void expose_results() {
  bp::class_<RayHits>("RayHits", "First hits of n rays.", bp::no_init)
      .add_property("distances", &hit_distances, "(n,) along the rays [m]; inf: nothing hit.")
      .add_property(
          "normals", &hit_normals, "(n, 3) unit, of what was hit, world; zero: nothing hit.")
      .add_property("geometries", &hit_geometries, "(n,) int32 geometry numbers; -1: nothing hit.")
      .def("__repr__", &hits_repr);
  bp::class_<PairDistance>(
      "PairDistance", "Signed distance of two geometries of a scene, world frame.", bp::no_init)
      .def_readonly("geometry_a", &PairDistance::geometry_a, "Number; less than geometry_b.")
      .def_readonly("geometry_b", &PairDistance::geometry_b)
      .add_property("distance", &pair_distance, "[m], negative: penetration depth.")
      .add_property(
          "witness_a", &pair_witness_a, "(3,) on A [m]; witness_b - witness_a = distance * normal.")
      .add_property("witness_b", &pair_witness_b, "(3,) on B [m].")
      .add_property("normal", &pair_normal, "(3,) unit, from A to B.")
      .add_property("status",
                    &pair_status,
                    "\"separated\", \"penetrating\", \"touching\" or \"max_iterations\".")
      .def("__repr__", &pair_repr);
}

}  // namespace

/// After expose_scene().
void expose_queries() {
  using bp::arg;
  const bp::object none;
  expose_results();
  bp::def("ray_cast",
          &cast_rays,
          (arg("scene"),
           arg("state"),
           arg("origins"),
           arg("directions"),
           arg("max_distance") = kInfinity,
           arg("ignored") = bp::tuple(),
           arg("parameters") = none),
          "RayHits of n rays with the scene's geometries: `state` is a State or q (nq,), `origins` "
          "(n, 3) [m], `directions` (n, 3) of any length > 0. Shapes are seen from outside only: a "
          "ray that begins inside one does not see it. Bodies in `ignored`, by name or number, are "
          "not seen. `parameters`: the scene's if None.\n\nRaises ValueError for shapes that do "
          "not fit, numbers that are not finite, quaternions that are not unit, a direction of "
          "zero, max_distance < 0.");
  bp::objects::add_to_namespace(
      bp::scope().attr("Scene"),
      "distances",
      bp::make_function(
          &distances,
          bp::default_call_policies(),
          (arg("self"), arg("state"), arg("max_distance") = kInfinity, arg("parameters") = none)),
      "List of PairDistance, sorted, of all pairs that may collide and are at most `max_distance` "
      "[m] apart; `state` is a State or q (nq,). Depths of height fields and triangle meshes are "
      "those of distance().\n\nRaises ValueError for a state that does not fit, is not finite or "
      "has a quaternion that is not unit, and for max_distance < 0.");
}

}  // namespace stiction::python
