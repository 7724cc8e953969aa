#include "support/surfaces.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <stdexcept>

namespace stiction::test {
namespace {

Aabb random_box(Rng& rng, double size) {
  const Vec3d c = uniform_vector(rng, 1.0), h = uniform_vector(rng, size);
  const Vec3d e{std::abs(h.x), std::abs(h.y), std::abs(h.z)};
  return {c - e, c + e};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(surfaces_test)

BOOST_AUTO_TEST_CASE(tree_finds_what_a_loop_finds) {
  Rng rng(1);
  for (const int count : {1, 3, 5, 64, 1000}) {
    std::vector<Aabb> boxes;
    for (int i = 0; i < count; ++i) boxes.push_back(random_box(rng, 0.1));
    const Bvh tree = Bvh::build(boxes);
    for (int t = 0; t < 50; ++t) {
      const Aabb box = random_box(rng, 0.3);
      std::vector<int> found, expected;
      tree.overlapping(box, [&](int i) {
        if (boxes_overlap(boxes[i], box)) found.push_back(i);
      });
      for (int i = 0; i < count; ++i) {
        if (boxes_overlap(boxes[i], box)) expected.push_back(i);
      }
      std::sort(found.begin(), found.end());
      BOOST_TEST(found == expected, boost::test_tools::per_element());
    }
  }
}

// Equal boxes, too: the depth never exceeds the stack of a descent.
BOOST_AUTO_TEST_CASE(tree_is_balanced_and_the_same_each_time) {
  Rng rng(2);
  std::vector<Aabb> boxes(5000, Aabb{{0, 0, 0}, {1, 1, 1}});
  for (int i = 0; i < 2500; ++i) boxes[i] = random_box(rng, 0.1);
  const Bvh a = Bvh::build(boxes), b = Bvh::build(boxes);
  BOOST_TEST(a.items == b.items, boost::test_tools::per_element());
  BOOST_TEST(a.nodes.size() <= 5000u);
  std::vector<int> depth(a.nodes.size(), 0);
  int deepest = 0;
  for (std::size_t n = 0; n < a.nodes.size(); ++n) {  // children come after their parent
    deepest = std::max(deepest, depth[n]);
    if (a.nodes[n].count > 0) continue;
    depth[n + 1] = depth[a.nodes[n].first] = depth[n] + 1;
  }
  BOOST_TEST(deepest == 11);  // ceil(log2(5000 / 4))
}

BOOST_AUTO_TEST_CASE(edges_are_what_they_look_like) {
  Rng rng(3);
  const TriangleMesh ring = *torus_mesh(1.0, 0.3, 16, 8).surface;
  BOOST_TEST(ring.closed);
  int convex = 0, concave = 0, flat = 0;
  for (const SurfaceEdge e : ring.edges) {
    convex += e == SurfaceEdge::kConvex;
    concave += e == SurfaceEdge::kConcave;
    flat += e == SurfaceEdge::kFlat;
  }
  BOOST_TEST(convex + concave + flat == 3 * ring.count());
  BOOST_TEST(flat == 2 * 16 * 8);  // the diagonals, seen from both sides
  // Around the tube every edge is a ridge; along it, the inner half of the ring is a valley.
  BOOST_TEST(concave == 2 * 16 * 4);
  const TriangleMesh floor = *floor_mesh(5, 0.2, rng).surface;
  BOOST_TEST(!floor.closed);
  BOOST_TEST(std::count(floor.edges.begin(), floor.edges.end(), SurfaceEdge::kBoundary) == 20);
  BOOST_TEST(std::count(floor.patch.begin(), floor.patch.end(), 0) == 50);
  BOOST_TEST(std::count(floor.sharp.begin(), floor.sharp.end(), 0) == 16);
}

BOOST_AUTO_TEST_CASE(field_neighbours_share_their_edges) {
  Rng rng(4);
  std::vector<double> heights(7 * 5);
  for (double& h : heights) h = rng.uniform(-1.0, 1.0);
  const HeightField f = HeightField::build(7, 5, heights, 0.5, 0.25);
  int border = 0;
  for (int t = 0; t < f.count(); ++t) {
    int i[3], j[3];
    f.corners(t, i, j);
    for (int k = 0; k < 3; ++k) {
      const int other = f.neighbour(t, k);
      border += other < 0;
      if (other < 0) continue;
      int a[3], b[3], shared = 0;
      f.corners(other, a, b);
      for (int m = 0; m < 3; ++m) {
        const int n = (m + 1) % 3, l = (k + 1) % 3;
        shared += a[m] == i[l] && b[m] == j[l] && a[n] == i[k] && b[n] == j[k];
      }
      BOOST_TEST(shared == 1);
    }
    const Vec3d p = f.sample(i[0], j[0]), q = f.sample(i[1], j[1]), r = f.sample(i[2], j[2]);
    const Vec3d n = cross(q - p, r - p);
    BOOST_TEST(norm(n * (1.0 / norm(n)) - f.normal(t)) < 1e-14);
    const Vec3d c = (p + q + r) * (1.0 / 3.0);
    BOOST_TEST(std::abs(f.height(c.x, c.y) - c.z) < 1e-14);
  }
  BOOST_TEST(border == 2 * (6 + 4));
  BOOST_TEST(std::isnan(f.height(1.51, 0.0)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
