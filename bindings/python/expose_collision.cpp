#include "stiction/collision/manifold.hpp"
#include "stiction/math/constants.hpp"
#include "stiction/model/state_io.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "distance_query.hpp"

#include <algorithm>
#include <limits>

namespace stiction::python {
namespace {

struct NamedPoint : ManifoldPoint {
  Vec3d normal;
};

bp::list methods() {
  bp::list names;
  for (const std::string& name : distance_methods()) names.append(name);
  return names;
}

bool overlap(const Shape& a,
             const bp::object& X_WA,
             const Shape& b,
             const bp::object& X_WB,
             const std::string& method) {
  DistanceSettings settings;
  settings.method = distance_method(method);
  return collide(a, transform_from(X_WA, "X_WA"), b, transform_from(X_WB, "X_WB"), settings);
}

bp::list manifold(
    const Shape& a, const bp::object& X_WA, const Shape& b, const bp::object& X_WB, double margin) {
  if (!(margin >= 0.0))
    throw std::invalid_argument("margin = " + number(margin) + ": must be >= 0 [m]");
  ManifoldWorkspace work;
  contact_manifolds(a, transform_from(X_WA, "X_WA"), b, transform_from(X_WB, "X_WB"), margin, work);
  bp::list points;
  for (const Manifold& m : work.manifolds) {
    for (int k = 0; k < m.count; ++k) {
      NamedPoint p;
      static_cast<ManifoldPoint&>(p) = m.points[k];
      p.normal = m.normal;
      points.append(p);
    }
  }
  return points;
}

bp::object witness_a(const Query& q) { return to_array(q.witness_a); }
bp::object witness_b(const Query& q) { return to_array(q.witness_b); }
bp::object normal(const Query& q) { return to_array(q.normal); }
std::string status(const Query& q) { return to_string(q.status); }
std::string repr(const Query& q) {
  return "DistanceResult(distance=" + number(q.distance) + ", normal=" + vector_text(q.normal) +
         ", status=\"" + status(q) + "\")";
}

bp::object point_position(const NamedPoint& p) { return to_array(p.position); }
bp::object point_normal(const NamedPoint& p) { return to_array(p.normal); }
std::string point_repr(const NamedPoint& p) {
  return "ManifoldPoint(position=" + vector_text(p.position) + ", gap=" + number(p.gap) + ")";
}

}  // namespace

Query query(const Shape& a,
            const bp::object& X_WA,
            const Shape& b,
            const bp::object& X_WB,
            double tolerance,
            long max_iterations,
            const bp::object& warm_start,
            const std::string& method,
            const std::string& stopping,
            double max_distance) {
  const Transform A = transform_from(X_WA, "X_WA"), B = transform_from(X_WB, "X_WB");
  Query q{};
  q.X_WA = A;
  q.X_WB = B;
  if (!warm_start.is_none()) {
    if (bp::extract<const Query&>(warm_start).check())
      throw std::invalid_argument("warm_start: is a DistanceResult, pass its .warm_start");
    q.warm_start = bp::extract<DistanceCache>(warm_start)();
    if (!cache_fits(a, b, q.warm_start))
      throw std::invalid_argument("warm_start: belongs to another pair of shapes");
  }
  if (max_iterations > std::numeric_limits<int>::max())
    throw std::invalid_argument("max_iterations = " + std::to_string(max_iterations) +
                                ": must be at most 2147483647");
  const int iterations = static_cast<int>(std::max(max_iterations, -1L));
  const DistanceSettings settings{
      tolerance, iterations, distance_method(method), stopping_rule(stopping), max_distance};
  AllowThreads free;
  static_cast<DistanceResult&>(q) = distance(a, A, b, B, settings, &q.warm_start);
  return q;
}

void expose_collision() {
  using bp::arg;
  const bp::object none;
  bp::class_<DistanceCache>("DistanceCache", "Warm start of a convex query; a value.", bp::no_init)
      .def_readonly("count", &DistanceCache::count, "Points of the remembered simplex; 0: cold.");
  bp::class_<Query>("DistanceResult", "Signed distance of two shapes, world frame.", bp::no_init)
      .def_readonly("distance", &Query::distance, "[m], negative: penetration depth.")
      .add_property(
          "witness_a", &witness_a, "(3,) on A [m]; witness_b - witness_a = distance * normal.")
      .add_property("witness_b", &witness_b, "(3,) on B [m].")
      .add_property("normal", &normal, "(3,) unit, from A to B.")
      .def_readonly("iterations",
                    &Query::iterations,
                    "Support points that GJK evaluated; 0: closed form or warm polytope.")
      .def_readonly(
          "epa_iterations", &Query::epa_iterations, "Faces that EPA looked at; 0: not needed.")
      .add_property(
          "status",
          &status,
          "\"separated\", \"penetrating\", \"touching\", \"beyond\" or \"max_iterations\".")
      .add_property(
          "warm_start",
          bp::make_getter(&Query::warm_start, bp::return_value_policy<bp::return_by_value>()),
          "DistanceCache for the next query of this pair.")
      .def("__repr__", &repr);
  bp::class_<NamedPoint>(
      "ManifoldPoint", "One contact point of a pair of shapes, world frame.", bp::no_init)
      .add_property("position", &point_position, "(3,) midpoint of the two witness points [m].")
      .add_property("normal",
                    &point_normal,
                    "(3,) unit, from A to B; of a convex pair the same for all points.")
      .def_readonly("gap", &NamedPoint::gap, "[m] along the normal, negative: penetration.")
      .def_readonly("feature", &NamedPoint::feature, "Persistent id of the pair of features.")
      .def("__repr__", &point_repr);

  bp::def(
      "distance",
      &query,
      (arg("a"),
       arg("X_WA"),
       arg("b"),
       arg("X_WB"),
       arg("tolerance") = 1e-10,
       arg("max_iterations") = 128L,
       arg("warm_start") = none,
       arg("method") = "auto",
       arg("stopping") = "bounds",
       arg("max_distance") = kInfinity),
      "Signed distance of two shapes. X_WA, X_WB: pinocchio.SE3 or (4, 4), None is the identity; "
      "tolerance [m] on (upper - lower bound), or [m^2] on GJK++'s duality gap 2 <x, x - s> with "
      "stopping = \"paper-gap\"; method: one of distance_methods(); pairs proven to be farther "
      "apart than max_distance [m] end at once with status \"beyond\", their distance is then a "
      "lower bound.\n\nA negative distance of convex shapes is the least way [m] that frees them. "
      "With a HeightField or TriangleMesh, which need not be convex, it is the depth of the "
      "deepest point of contact_manifold() along its normal; a shape wholly inside of a solid has "
      "its depth below the plane of the nearest triangle. The frank-wolfe methods and nesmino need "
      "1e3 to 2e5 iterations: at max_iterations their distance is an upper bound, but the sign is "
      "right.\n\nRaises ValueError for a placement that is not rigid, tolerance <= 0, an "
      "unknown method, or two half-spaces.");
  bp::def("distance_methods", &methods, "Names that distance() and collide() take as `method`.");
  bp::def(
      "collide",
      &overlap,
      (arg("a"), arg("X_WA"), arg("b"), arg("X_WB"), arg("method") = "auto"),
      "True if the shapes overlap or touch, a solid that holds the other included; stops at the "
      "first separating plane. The method changes the time, not the answer.");
  bp::def("contact_manifold",
          &manifold,
          (arg("a"), arg("X_WA"), arg("b"), arg("X_WB"), arg("margin") = 0.0),
          "List of ManifoldPoint whose gap is at most `margin` [m]; empty if the pair is farther. "
          "At most 8 per normal; only height fields and triangle meshes have several normals.");
  expose_distance_derivatives();
}

}  // namespace stiction::python
