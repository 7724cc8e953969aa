#include "stiction/geometry/height_field.hpp"
#include "stiction/geometry/shape.hpp"
#include "stiction/geometry/triangle_mesh.hpp"

#include "common.hpp"

#include <cmath>

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

std::vector<int> triangles_from(const bp::object& x, const std::string& field) {
  const RowMatrix m = matrix_from(x, field, -1, 3);
  std::vector<int> out;
  for (long i = 0; i < m.size(); ++i) {
    const double v = m.data()[i];
    if (v != std::floor(v) || std::abs(v) > 2147483647.0) {
      throw std::invalid_argument(field + "[" + std::to_string(i / 3) + "][" +
                                  std::to_string(i % 3) + "] = " + number(v) +
                                  ": must be a vertex number");
    }
    out.push_back(static_cast<int>(v));
  }
  return out;
}

Shape make_triangle_mesh(const bp::object& vertices,
                         const bp::object& triangles,
                         bool drop_degenerate) {
  return Shape::triangle_mesh(points_from(vertices, "TriangleMesh: vertices"),
                              triangles_from(triangles, "TriangleMesh: triangles"),
                              drop_degenerate);
}

Shape make_height_field(const bp::object& heights, const bp::object& cell_size, double depth) {
  const RowMatrix h = matrix_from(heights, "HeightField: heights");
  const Eigen::VectorXd cell = vector_from(cell_size, "HeightField: cell_size", 2);
  return Shape::height_field(static_cast<int>(h.cols()),
                             static_cast<int>(h.rows()),
                             {h.data(), h.data() + h.size()},
                             cell[0],
                             cell[1],
                             depth);
}

std::string type(const Shape& s) { return to_string(s.type); }
bp::object size(const Shape& s) { return to_array(s.size); }

bp::object vertices(const Shape& s) {
  if (s.surface) return to_array(s.surface->vertices);
  if (s.mesh) return to_array(s.mesh->vertices);
  if (!s.field) return bp::object();
  std::vector<Vec3d> points;
  for (int j = 0; j < s.field->ny; ++j) {
    for (int i = 0; i < s.field->nx; ++i) points.push_back(s.field->sample(i, j));
  }
  return to_array(points);
}

std::vector<int> field_triangles(const HeightField& f) {
  std::vector<int> out;
  int i[3], j[3];
  for (int t = 0; t < f.count(); ++t) {
    f.corners(t, i, j);
    for (int k = 0; k < 3; ++k) out.push_back(j[k] * f.nx + i[k]);
  }
  return out;
}

bp::object triangles(const Shape& s) {
  if (!s.mesh && !s.surface && !s.field) return bp::object();
  const std::vector<int> own = s.field     ? field_triangles(*s.field)
                               : s.surface ? s.surface->triangles
                                           : s.mesh->triangles;
  const std::vector<double> numbers(own.begin(), own.end());
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
    case ShapeType::kHeightField:
      return "HeightField(<" + std::to_string(s.field->ny) + " x " + std::to_string(s.field->nx) +
             " samples>, [" + number(s.field->dx) + ", " + number(s.field->dy) + "])";
    case ShapeType::kTriangleMesh:
      return "TriangleMesh(<" + std::to_string(s.surface->vertices.size()) + " vertices, " +
             std::to_string(s.surface->count()) + " triangles>)";
  }
  return "Shape()";
}

bp::object heights(const Shape& s) {
  if (!s.field) return bp::object();
  return array_copy(s.field->heights.data(), {s.field->ny, s.field->nx});
}

bp::object cell_size(const Shape& s) {
  if (!s.field) return bp::object();
  const double cell[2] = {s.field->dx, s.field->dy};
  return array_copy(cell, {2});
}

bp::object closed(const Shape& s) {
  return s.surface ? bp::object(s.surface->closed) : bp::object();
}

bp::object volume(const Shape& s) {
  if (s.surface) return bp::object(s.surface->volume);
  return s.mesh ? bp::object(s.mesh->volume) : bp::object();
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
                    "A solid in its own frame [m]; made by Sphere, Capsule, Box, HalfSpace, "
                    "Cylinder, Cone, Ellipsoid, ConvexMesh, HeightField and TriangleMesh.",
                    bp::no_init)
      .add_property("type",
                    &type,
                    "\"sphere\", \"capsule\", \"box\", \"half_space\", \"convex_mesh\", "
                    "\"cylinder\", \"cone\", \"ellipsoid\", \"height_field\" or "
                    "\"triangle_mesh\".")
      .add_property(
          "size",
          &size,
          "(3,) [m]: (radius, -, -), (radius, half_length, -) or the half extents; else zero.")
      .add_property("vertices",
                    &vertices,
                    "(n, 3) [m] of a mesh (hull vertices of a convex one) or height field, else "
                    "None.")
      .add_property("triangles",
                    &triangles,
                    "(m, 3) int32 vertex numbers of a mesh or height field, else None.")
      .add_property("heights", &heights, "(ny, nx) [m] of a height field, else None.")
      .add_property("cell_size", &cell_size, "(2,) [m] along x and y of a height field, else None.")
      .add_property("closed", &closed, "Is a triangle mesh the surface of a solid? Else None.")
      .add_property("volume",
                    &volume,
                    "[m^3] of a convex or triangle mesh (negative: triangles face inwards), else "
                    "None.")
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
  bp::def(
      "TriangleMesh",
      &make_triangle_mesh,
      (arg("vertices"), arg("triangles"), arg("drop_degenerate") = false),
      "Surface of `vertices` (n, 3) [m] and `triangles` (m, 3), counter-clockwise from outside; "
      "closed or open, convex or not. Equal vertices are merged.\n\nRaises ValueError for a "
      "vertex that is not finite, an index out of range, and triangles without area unless "
      "drop_degenerate.");
  bp::def("HeightField",
          &make_height_field,
          (arg("heights"), arg("cell_size"), arg("depth") = 0.0),
          "Terrain from `heights` (ny, nx) [m], solid below: row j lies at "
          "y = (j - (ny - 1) / 2) cell_size[1], column i at x = (i - (nx - 1) / 2) cell_size[0]. "
          "`depth` [m] of solid under the lowest sample; 0: the diagonal of the grid.");
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
