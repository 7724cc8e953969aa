#include "geometry/restored_mesh.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

// A convex mesh is built again of its vertices and triangles alone.

namespace stiction::test {
namespace {

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || !std::memcmp(a.data(), b.data(), a.size() * sizeof(T)));
}

/// Member by member: places of the table have padding.
bool same_table(const SupportTable& a, const SupportTable& b) {
  bool same = a.resolution == b.resolution && same_bits(a.cells, b.cells) &&
              same_bits(a.groups, b.groups) && a.places.size() == b.places.size();
  for (std::size_t i = 0; same && i < a.places.size(); ++i) {
    const SupportTable::Place &p = a.places[i], &q = b.places[i];
    same = p.x == q.x && p.y == q.y && p.z == q.z && p.vertex == q.vertex;
  }
  return same;
}

bool same_mesh(const ConvexMesh& a, const ConvexMesh& b) {
  return same_bits(a.vertices, b.vertices) && same_bits(a.faces, b.faces) &&
         same_bits(a.face_vertices, b.face_vertices) &&
         same_bits(a.neighbour_start, b.neighbour_start) && same_bits(a.neighbours, b.neighbours) &&
         same_bits(a.vertex_face_start, b.vertex_face_start) &&
         same_bits(a.vertex_faces, b.vertex_faces) && same_bits(a.triangles, b.triangles) &&
         same_table(a.support, b.support) && a.volume == b.volume &&
         !std::memcmp(&a.centroid, &b.centroid, sizeof a.centroid) &&
         a.bounding_radius == b.bounding_radius;
}

/// Clouds and faces of many points, thick and thin, near and far, rounded as in float32 files.
std::vector<Vec3d> cloud(Rng& rng) {
  const int n = 4 + rng.below(rng.below(4) == 0 ? 600 : 40);
  const double thin = std::pow(10.0, rng.uniform(-6.0, 0.0)),
               scale = std::pow(10.0, rng.uniform(-3.0, 3.0));
  const bool rounded = rng.below(2) == 0, boxy = rng.below(2) == 0;
  const Vec3d far = uniform_vector(rng, rng.below(3) == 0 ? 100.0 * scale : 0.0);
  std::vector<Vec3d> points;
  for (int i = 0; i < n; ++i) {
    Vec3d p = uniform_vector(rng, 1.0);
    if (boxy) p[rng.below(3)] = rng.below(2) == 0 ? -1.0 : 1.0;  // many in the planes of a box
    p.z *= thin;
    p = far + p * scale;
    if (rounded) p = {double(float(p.x)), double(float(p.y)), double(float(p.z))};
    points.push_back(p);
  }
  return points;
}

std::string refusal(const std::vector<Vec3d>& vertices, const std::vector<int>& triangles) {
  try {
    restore_convex_mesh(vertices, triangles);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(restored_mesh_test)

BOOST_AUTO_TEST_CASE(a_restored_mesh_has_the_same_bits) {
  Rng rng(4711);
  int built = 0;
  for (int i = 0; i < 400; ++i) {
    ConvexMesh mesh;
    try {
      mesh = ConvexMesh::hull(cloud(rng));
    } catch (const std::invalid_argument&) {
      continue;  // coplanar
    }
    ++built;
    BOOST_TEST(same_mesh(restore_convex_mesh(mesh.vertices, mesh.triangles), mesh), "cloud " << i);
  }
  BOOST_TEST(built > 350);
}

BOOST_AUTO_TEST_CASE(what_is_no_convex_surface_is_refused) {
  const ConvexMesh cube = ConvexMesh::hull(
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}});
  const std::vector<Vec3d>& v = cube.vertices;
  const std::vector<int>& t = cube.triangles;
  BOOST_TEST(refusal(v, t) == "");
  const auto with = [&](std::size_t i, int x) {
    std::vector<int> other = t;
    other[i] = x;
    return other;
  };
  const auto has = [](const std::string& text, const char* part) {
    BOOST_TEST(text.find(part) != std::string::npos, "\"" << text << "\" lacks " << part);
  };
  has(refusal(v, {}), "hold 0 numbers");
  has(refusal(v, {t.begin(), t.end() - 1}), "must be three each");
  has(refusal(v, with(5, 8)), "[1][2] = 8 must be in [0, 8)");
  has(refusal(v, with(5, -1)), "[1][2] = -1 must be in [0, 8)");
  has(refusal(v, {t.begin() + 3, t.end()}), "leave an edge open");
  has(refusal(v, with(1, t[0])), "two corners in one vertex");
  std::vector<int> twice = t;
  twice.insert(twice.end(), t.begin(), t.begin() + 3);
  has(refusal(v, twice), "run twice through an edge");
  std::vector<int> inside_out(t.rbegin(), t.rend());
  has(refusal(v, inside_out), "do not bound a convex solid");
  std::vector<Vec3d> dented = v;
  dented[0] = {0.6, 0.6, 0.6};
  has(refusal(dented, t), "do not bound a convex solid");
  std::vector<Vec3d> loose = v;
  loose.push_back({2, 2, 2});
  has(refusal(loose, t), "do not bound one solid with all vertices");
  std::vector<int> pair = t;
  for (const int i : t) pair.push_back(i + 8);
  std::vector<Vec3d> both = v;
  for (const Vec3d& p : v) both.push_back(p + Vec3d{3, 0, 0});
  has(refusal(both, pair), "do not bound one solid with all vertices");
  std::vector<Vec3d> bad = v;
  bad[2].y = std::numeric_limits<double>::quiet_NaN();
  has(refusal(bad, t), "points[2].y = nan is not finite");
  const std::vector<Vec3d> flat = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  has(refusal(flat, {0, 1, 2, 1, 3, 2, 0, 2, 1, 1, 2, 3}), "run twice through an edge");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
