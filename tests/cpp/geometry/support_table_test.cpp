#include "stiction/geometry/shape.hpp"

#include "geometry/mesh_support.hpp"
#include "support/shapes.hpp"
#include <boost/test/unit_test.hpp>

// The table's farthest vertex against a scan of all vertices.

namespace stiction::test {
namespace {

double scan(const ConvexMesh& mesh, const Vec3d& d) {
  double best = -HUGE_VAL;
  for (const Vec3d& v : mesh.vertices) best = std::max(best, dot(d, v));
  return best;
}

ConvexMesh mesh_of(Rng& rng, int kind) {
  const Vec3d scales[] = {{1, 1, 1}, {1, 0.7, 0.4}, {1e-3, 1e-3, 1}, {1, 1, 1e-3}, {1e3, 900, 1}};
  std::vector<Vec3d> points = random_points(rng, 60 << (kind % 4), scales[kind % 5], kind % 2 == 0);
  if (kind % 3 == 0) {  // a box with many coplanar points: ties
    for (Vec3d& p : points) {
      for (int k = 0; k < 3; ++k) {
        const double h = scales[kind % 5][k];
        if (rng.below(2) == 0) p[k] = p[k] < 0.0 ? -h : h;
      }
    }
  }
  const Vec3d away = uniform_vector(rng, kind % 2 == 0 ? 0.0 : 5.0);  // origin outside
  for (Vec3d& p : points) p += away;
  return ConvexMesh::hull(points);
}

bool is_long(const SupportTable& table, const Vec3d& d) {
  return table.cells[support_cell(table, d)].place[0] == SupportTable::kLong;
}
bool is_climbed(const SupportTable& table, const Vec3d& d) {
  return is_long(table, d) && table.cells[support_cell(table, d)].place[1] == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(support_table_test)

BOOST_AUTO_TEST_CASE(the_farthest_vertex_is_always_listed) {
  Rng rng(1);
  int few = 0, many = 0;
  for (int kind = 0; kind < 30; ++kind) {
    const ConvexMesh mesh = mesh_of(rng, kind);
    const double size = mesh.bounding_radius;
    for (const int resolution : {1, 2, 3, 8, 33}) {
      ConvexMesh m = mesh;
      m.support = SupportTable::build(mesh, resolution);
      for (int t = 0; t < 400; ++t) {
        Vec3d d = unit_vector(rng);
        if (t % 4 == 1) d = mesh.faces[rng.below(int(mesh.faces.size()))].normal;
        if (t % 4 == 2) d[rng.below(3)] = 0.0;  // on the border of cells
        if (t % 8 == 3) d = {double(rng.below(3) - 1), double(rng.below(3) - 1), 1.0};
        const double found = dot(d, m.vertices[mesh_support(m, d)]);
        BOOST_TEST(found >= scan(m, d) - 1e-14 * size * norm(d));
        const MeshVertex v = farthest_vertex(m, d);
        BOOST_TEST(norm(v.position - m.vertices[v.index]) == 0.0);
        ++(is_long(m.support, d) ? many : few);
      }
    }
  }
  BOOST_TEST(few > 1000);
  BOOST_TEST(many > 1000);
}

// Thousands of vertices in one cell: the list is replaced by a climb.
BOOST_AUTO_TEST_CASE(crowded_cells_are_climbed) {
  Rng rng(2);
  const ConvexMesh mesh = ConvexMesh::hull(random_points(rng, 2000, {1, 1, 1}, true));
  ConvexMesh m = mesh;
  m.support = SupportTable::build(mesh, 2);
  int climbed = 0;
  for (int t = 0; t < 1000; ++t) {
    const Vec3d d = unit_vector(rng);
    climbed += is_climbed(m.support, d);
    BOOST_TEST(dot(d, m.vertices[mesh_support(m, d)]) == scan(m, d));
  }
  BOOST_TEST(climbed == 1000);
}

BOOST_AUTO_TEST_CASE(degenerate_directions_end_somewhere) {
  Rng rng(3);
  const ConvexMesh mesh = ConvexMesh::hull(random_points(rng, 100, {1, 1, 1}, true));
  BOOST_TEST(mesh.support.resolution > 0);
  for (const double x : {0.0, 1e-320, 1e300, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    const int v = mesh_support(mesh, {x, 0.0, x});
    BOOST_TEST(v >= 0);
    BOOST_TEST(v < int(mesh.vertices.size()));
  }
}

// Memory: in proportion to the number of vertices.
BOOST_AUTO_TEST_CASE(size) {
  Rng rng(4);
  for (const int count : {100, 400, 4000}) {
    const ConvexMesh mesh = ConvexMesh::hull(random_points(rng, count, {1, 0.8, 0.6}, true));
    BOOST_TEST(mesh.support.bytes() < 4000u + 60u * count);
  }
  BOOST_TEST(ConvexMesh::hull(random_points(rng, 8, {1, 1, 1}, true)).support.bytes() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
