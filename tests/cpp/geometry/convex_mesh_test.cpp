#include "stiction/geometry/convex_mesh.hpp"

#include "support/random.hpp"
#include "support/shapes.hpp"
#include <boost/test/unit_test.hpp>

#include <limits>
#include <set>
#include <stdexcept>
#include <string>

namespace stiction::test {
namespace {

double extent(const std::vector<Vec3d>& points) {
  double e = 0.0;
  for (const Vec3d& p : points) e = std::max({e, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  return e;
}

// Closed, convex, and around all points: V - E + F = 2 over triangles, each directed edge once,
// loops counter-clockwise, no point above any face.
void check_hull(const ConvexMesh& m, const std::vector<Vec3d>& points, double tolerance) {
  std::set<std::pair<int, int>> edges;
  for (std::size_t t = 0; t < m.triangles.size(); t += 3) {
    for (int k = 0; k < 3; ++k) {
      BOOST_TEST(edges.insert({m.triangles[t + k], m.triangles[t + (k + 1) % 3]}).second);
    }
  }
  for (const auto& [a, b] : edges) BOOST_TEST((edges.count({b, a}) == 1));
  BOOST_TEST(m.vertices.size() - edges.size() / 2 + m.triangles.size() / 3 == 2u);
  for (const ConvexMesh::Face& f : m.faces) {
    BOOST_TEST(std::abs(norm(f.normal) - 1.0) < 1e-12);
    BOOST_TEST(f.count >= 3);
    for (const Vec3d& p : points) BOOST_TEST(dot(f.normal, p) - f.offset <= tolerance);
    Vec3d sum{0, 0, 0};
    for (int i = 0; i < f.count; ++i) {
      const Vec3d& a = m.vertices[m.face_vertices[f.first + i]];
      sum += cross(a, m.vertices[m.face_vertices[f.first + (i + 1) % f.count]]);
    }
    BOOST_TEST(dot(sum, f.normal) > 0.0);
  }
  BOOST_TEST(m.neighbour_start.size() == m.vertices.size() + 1);
  BOOST_TEST(m.vertex_face_start.size() == m.vertices.size() + 1);
  for (std::size_t v = 0; v < m.vertices.size(); ++v) {
    BOOST_TEST(m.neighbour_start[v + 1] - m.neighbour_start[v] >= 3);
    BOOST_TEST(m.vertex_face_start[v + 1] - m.vertex_face_start[v] >= 1);
  }
}

std::vector<Vec3d> grid_cube(int n, double side, const Mat3d& R) {
  std::vector<Vec3d> points;
  for (int i = 0; i < n * n * n; ++i) {
    const Vec3d p{double(i % n), double(i / n % n), double(i / n / n)};
    points.push_back(R * (p * (side / (n - 1))));
  }
  return points;
}

auto says(const std::string& text) {
  return [text](const std::exception& e) {
    return std::string(e.what()).find(text) != std::string::npos;
  };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(convex_mesh_test)

// Random clouds, balls, needles and slabs from 1 mm to 1 km give closed convex hulls of all points.
BOOST_AUTO_TEST_CASE(random_clouds) {
  Rng rng(1);
  for (int t = 0; t < 60; ++t) {
    const double s = t % 3 == 0 ? 1e-3 : (t % 3 == 1 ? 1.0 : 1e3);
    const Vec3d shapes[] = {{1, 1, 1}, {1e-3, 1e-3, 1}, {1, 1, 1e-3}, {1, 0.5, 0.2}};
    std::vector<Vec3d> points = random_points(rng, 10 + rng.below(200), shapes[t % 4] * s, t % 2);
    const Mat3d R = rotation(rng);
    for (Vec3d& p : points) p = R * p;
    check_hull(ConvexMesh::hull(points), points, 1e-7 * extent(points));
  }
}

// Without nearly flat faces the hull holds all points to 1e-11 of the extent.
BOOST_AUTO_TEST_CASE(balls_are_exact) {
  Rng rng(2);
  const std::vector<Vec3d> points = random_points(rng, 500, {1, 1, 1}, true);
  const ConvexMesh m = ConvexMesh::hull(points);
  BOOST_TEST(m.vertices.size() == 500u);
  check_hull(m, points, 1e-11);
}

// A cube sampled on a grid, straight, rotated and rounded to float32, has six square faces.
BOOST_AUTO_TEST_CASE(coplanar_triangles_become_polygons) {
  Rng rng(3);
  for (int t = 0; t < 30; ++t) {
    const Mat3d R = t == 0 ? Mat3d::identity() : rotation(rng);
    std::vector<Vec3d> points = grid_cube(5, 0.4, R);
    const ConvexMesh m = ConvexMesh::hull(points);
    BOOST_TEST(m.vertices.size() == 8u);
    BOOST_TEST(m.neighbours.size() == 24u);
    BOOST_TEST(m.faces.size() == 6u);
    BOOST_TEST(m.face_vertices.size() == 24u);
    BOOST_TEST(std::abs(m.volume - 0.064) < 1e-12);
    BOOST_TEST(norm(m.centroid - R * Vec3d{0.2, 0.2, 0.2}) < 1e-12);
    for (Vec3d& p : points) p = {double(float(p.x)), double(float(p.y)), double(float(p.z))};
    BOOST_TEST(ConvexMesh::hull(points).faces.size() == 6u);
  }
}

// Repeated points, points inside and the order of the input leave volume and faces unchanged.
BOOST_AUTO_TEST_CASE(redundant_points_change_nothing) {
  Rng rng(4);
  std::vector<Vec3d> points = random_points(rng, 40, {1, 1, 1}, true);
  const ConvexMesh m = ConvexMesh::hull(points);
  const std::size_t n = points.size();
  for (std::size_t i = 0; i < n; ++i) points.push_back(points[i] * (i % 2 == 0 ? 1.0 : 0.5));
  std::reverse(points.begin(), points.end());
  const ConvexMesh again = ConvexMesh::hull(points);
  BOOST_TEST(again.vertices.size() == m.vertices.size());
  BOOST_TEST(again.faces.size() == m.faces.size());
  BOOST_TEST(std::abs(again.volume - m.volume) < 1e-13);
}

// Climbing over neighbours finds the farthest vertex from any start, also in nearly flat caps.
BOOST_AUTO_TEST_CASE(support_by_climbing_equals_a_scan) {
  Rng rng(5);
  for (int t = 0; t < 20; ++t) {
    std::vector<Vec3d> points = random_points(rng, 300, {1, 1, t % 2 == 0 ? 1.0 : 0.01}, true);
    for (const Vec3d& p : grid_cube(6, 0.5, Mat3d::identity())) points.push_back(p);
    const Shape mesh = Shape::convex_mesh(points);
    BOOST_TEST(mesh.mesh->vertices.size() > 32u);
    for (int i = 0; i < 500; ++i) {
      const Vec3d d =
          i < 6 ? Vec3d{i / 2 == 0 ? 1. : 0., i / 2 == 1 ? 1. : 0., i / 2 == 2 ? 1. : 0.} *
                      (i % 2 == 0 ? 1.0 : -1.0)
                : unit_vector(rng);
      double best = -HUGE_VAL;
      for (const Vec3d& v : points) best = std::max(best, dot(d, v));
      BOOST_TEST(std::abs(dot(d, support(mesh, d)) - best) <= 2e-11);
    }
  }
}

// Too few, coinciding, collinear, coplanar and infinite points are named.
BOOST_AUTO_TEST_CASE(bad_points_are_named) {
  const auto hull = [](const std::vector<Vec3d>& p) { return ConvexMesh::hull(p); };
  BOOST_CHECK_EXCEPTION(
      hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}), std::invalid_argument, says("count 3"));
  BOOST_CHECK_EXCEPTION(
      hull(std::vector<Vec3d>(5, {1, 2, 3})), std::invalid_argument, says("coplanar"));
  BOOST_CHECK_EXCEPTION(
      hull({{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}}), std::invalid_argument, says("coplanar"));
  BOOST_CHECK_EXCEPTION(hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {.3, .3, 0}}),
                        std::invalid_argument,
                        says("coplanar"));
  Rng rng(6);
  const Mat3d R = rotation(rng);
  std::vector<Vec3d> flat = random_points(rng, 30, {1, 1, 0}, false);
  for (Vec3d& p : flat) p = R * p;
  BOOST_CHECK_EXCEPTION(hull(flat), std::invalid_argument, says("coplanar"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  BOOST_CHECK_EXCEPTION(hull({{0, 0, 0}, {1, 0, 0}, {0, nan, 0}, {0, 0, 1}}),
                        std::invalid_argument,
                        says("points[2].y"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
