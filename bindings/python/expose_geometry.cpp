#include "stiction/geometry/shape.hpp"

#include "common.hpp"

namespace stiction::python {
namespace {

Shape make_sphere(double radius) { return Shape::sphere(radius); }
Shape make_capsule(double radius, double half_length) {
  return Shape::capsule(radius, half_length);
}
Shape make_cylinder(double radius, double half_length) {
  return Shape::cylinder(radius, half_length);
}
Shape make_cone(double radius, double half_length) { return Shape::cone(radius, half_length); }
Shape make_ellipsoid(const bp::object& half_axes) {
  return Shape::ellipsoid(vec3_from(half_axes, "Ellipsoid: half_axes"));
}
Shape make_box(const bp::object& half_extents) {
  return Shape::box(vec3_from(half_extents, "Box: half_extents"));
}
Shape make_mesh(const bp::object& vertices) {
  return Shape::convex_mesh(points_from(vertices, "ConvexMesh: vertices"));
}

std::string type(const Shape& s) { return to_string(s.type); }
bp::object size(const Shape& s) { return to_array(s.size); }

bp::object vertices(const Shape& s) { return s.mesh ? to_array(s.mesh->vertices) : bp::object(); }

bp::object triangles(const Shape& s) {
  if (!s.mesh) return bp::object();
  const std::vector<double> numbers(s.mesh->triangles.begin(), s.mesh->triangles.end());
  const long count = static_cast<long>(numbers.size()) / 3;
  return array_copy(numbers.data(), {count, 3}).attr("astype")("int32");
}

std::string repr(const Shape& s) {
  switch (s.type) {
    case ShapeType::kSphere:
      return "Sphere(" + number(s.size.x) + ")";
    case ShapeType::kCapsule:
      return "Capsule(" + number(s.size.x) + ", " + number(s.size.y) + ")";
    case ShapeType::kBox:
      return "Box(" + vector_text(s.size) + ")";
    case ShapeType::kHalfSpace:
      return "HalfSpace()";
    case ShapeType::kConvexMesh:
      return "ConvexMesh(<" + std::to_string(s.mesh->vertices.size()) + " vertices>)";
    case ShapeType::kCylinder:
      return "Cylinder(" + number(s.size.x) + ", " + number(s.size.y) + ")";
    case ShapeType::kCone:
      return "Cone(" + number(s.size.x) + ", " + number(s.size.y) + ")";
    case ShapeType::kEllipsoid:
      return "Ellipsoid(" + vector_text(s.size) + ")";
  }
  return "Shape()";
}

bp::object support_point(const Shape& s, const bp::object& d) {
  return to_array(support(s, vec3_from(d, "d")));
}

bp::tuple box_of(const Shape& s, const bp::object& X_WS) {
  const Aabb box = bounding_box(s, transform_from(X_WS, "X_WS"));
  return bp::make_tuple(to_array(box.lower), to_array(box.upper));
}

bp::object com(const MassProperties& m) { return to_array(m.com); }
bp::object inertia(const MassProperties& m) {
  const Sym3d& i = m.inertia;
  return to_array(Mat3d{{i.xx, i.xy, i.xz}, {i.xy, i.yy, i.yz}, {i.xz, i.yz, i.zz}});
}

}  // namespace

void expose_geometry() {
  using bp::arg;
  bp::class_<Shape>("Shape",
                    "A convex solid in its own frame [m]; made by Sphere, Capsule, Box, HalfSpace, "
                    "Cylinder, Cone, "
                    "Ellipsoid and ConvexMesh.",
                    bp::no_init)
      .add_property("type",
                    &type,
                    "\"sphere\", \"capsule\", \"box\", \"half_space\", \"convex_mesh\", "
                    "\"cylinder\", \"cone\" or "
                    "\"ellipsoid\".")
      .add_property(
          "size",
          &size,
          "(3,) [m]: (radius, -, -), (radius, half_length, -) or the half extents; else zero.")
      .add_property("vertices", &vertices, "(n, 3) hull vertices [m] of a convex mesh, else None.")
      .add_property(
          "triangles", &triangles, "(m, 3) int32 vertex numbers of a convex mesh, else None.")
      .def("bounded", &Shape::bounded, arg("self"), "False for a half-space.")
      .def("__repr__", &repr);
  bp::class_<MassProperties>(
      "MassProperties", "Of a solid of uniform density, shape frame.", bp::no_init)
      .def_readonly("mass", &MassProperties::mass, "[kg]")
      .add_property("com", &com, "(3,) [m]")
      .add_property("inertia", &inertia, "(3, 3) about the centre of mass, shape axes [kg m^2].");

  bp::def("Sphere", &make_sphere, arg("radius"), "Ball of `radius` [m] > 0 about the origin.");
  bp::def("Capsule",
          &make_capsule,
          (arg("radius"), arg("half_length")),
          "All points within `radius` [m] of the segment |z| <= half_length [m].");
  bp::def("Box",
          &make_box,
          arg("half_extents"),
          "|x| <= hx, |y| <= hy, |z| <= hz with half_extents (3,) [m] > 0.");
  bp::def("HalfSpace",
          &Shape::half_space,
          "The solid z <= 0; its outward normal is +z. World geometry only.");
  bp::def("Cylinder",
          &make_cylinder,
          (arg("radius"), arg("half_length")),
          "x^2 + y^2 <= radius^2, |z| <= half_length [m], both > 0.");
  bp::def("Cone",
          &make_cone,
          (arg("radius"), arg("half_length")),
          "Base of `radius` [m] at z = -half_length, apex at z = +half_length [m].");
  bp::def("Ellipsoid",
          &make_ellipsoid,
          arg("half_axes"),
          "(x/a)^2 + (y/b)^2 + (z/c)^2 <= 1 with half_axes (a, b, c) [m] > 0.");
  bp::def("ConvexMesh",
          &make_mesh,
          arg("vertices"),
          "Convex hull of `vertices` (n, 3) [m], at least four that are not coplanar.");
  bp::def("support",
          &support_point,
          (arg("shape"), arg("d")),
          "(3,) farthest point of a bounded shape along d (3,), shape frame [m].");
  bp::def("bounding_box",
          &box_of,
          (arg("shape"), arg("X_WS") = bp::object()),
          "(lower (3,), upper (3,)): smallest axis-aligned box of the posed shape, world [m].");
  bp::def("bounding_radius",
          &bounding_radius,
          arg("shape"),
          "Radius of a ball about the shape's origin that holds it [m].");
  bp::def("mass_properties",
          &mass_properties,
          (arg("shape"), arg("density")),
          "MassProperties of the solid with uniform `density` [kg/m^3].");
}

}  // namespace stiction::python
