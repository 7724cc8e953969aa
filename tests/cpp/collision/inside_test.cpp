#include "stiction/collision/distance.hpp"
#include "stiction/collision/manifold.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "support/solids.hpp"
#include "support/surfaces.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

// Solids of every kind and size at any depth inside of each other. What overlaps by its convex
// pieces has a distance below zero, and a distance below zero is a contact: a step that says ok has
// seen every overlap.

namespace stiction::test {
namespace {

struct Found {
  double distance, least;  // least gap of a contact, infinite without one
  bool hit;
};

Found look(const Shape& a, const Transform& X_WA, const Shape& b, const Transform& X_WB) {
  static ManifoldWorkspace work;
  contact_manifolds(a, X_WA, b, X_WB, 0.0, work);
  double least = HUGE_VAL;
  for (const Manifold& m : work.manifolds) {
    for (int k = 0; k < m.count; ++k) least = std::min(least, m.points[k].gap);
  }
  return {distance(a, X_WA, b, X_WB).distance, least, collide(a, X_WA, b, X_WB)};
}

/// Depth of the deepest pair of convex pieces, 0 if none overlaps.
double depth_of_pieces(const Solid& a, const Transform& X_WA, const Solid& b, const Transform& X) {
  double depth = 0.0;
  for (std::size_t i = 0; i < a.pieces.size(); ++i) {
    for (std::size_t k = 0; k < b.pieces.size(); ++k) {
      const Transform A = X_WA * a.placed[i], B = X * b.placed[k];
      depth = std::max(depth, -distance(a.pieces[i], A, b.pieces[k], B).distance);
    }
  }
  return depth;
}

bool ground(const Solid& s) {
  return s.kind == SolidKind::kField || s.kind == SolidKind::kHalfSpace;
}

/// A point of A's own box, from its top to below its bottom; of a field well within its borders.
Vec3d somewhere_in(Rng& rng, const Solid& a) {
  if (a.kind == SolidKind::kHalfSpace) return {rng.uniform(-1, 1), rng.uniform(-1, 1), -3.0};
  if (a.kind == SolidKind::kField) {
    return {rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-2.5, 0.2)};
  }
  const Aabb box = bounding_box(a.shape, Transform::identity());
  Vec3d p;
  for (int k = 0; k < 3; ++k) p[k] = rng.uniform(box.lower[k], box.upper[k]);
  return p;
}

struct Tally {
  int cases = 0, overlapping = 0, inside = 0;
  std::map<std::string, int> faults;
  std::string first;

  void demand(bool ok, const std::string& what, const std::string& where) {
    if (!ok && faults[what]++ == 0) first += what + " " + where + "\n";
  }
};

void judge(const Solid& a, const Solid& b, Rng& rng, Tally& t) {
  const Transform X_WA = pose(rng, 1.0),
                  X_WB = X_WA * Transform{rotation(rng), somewhere_in(rng, a)};
  const double depth = depth_of_pieces(a, X_WA, b, X_WB);
  const bool exchanged = rng.below(2) == 0;
  const Found f =
      exchanged ? look(b.shape, X_WB, a.shape, X_WA) : look(a.shape, X_WA, b.shape, X_WB);
  const double small = std::min(b.size, ground(a) ? b.size : a.size), touching = 1e-6 * small;
  std::ostringstream where;
  where << "distance " << f.distance << ", contact " << f.least << ", pieces " << -depth
        << ", sizes " << a.size << " " << b.size << " at " << t.cases;
  const std::string pair = std::string(name(a.kind)) + " / " + name(b.kind);
  ++t.cases;
  t.overlapping += depth > touching;
  t.inside += depth > 0.5 * small;
  t.demand(
      !(depth > touching) || f.distance < 0.0, "overlap without a depth: " + pair, where.str());
  t.demand(depth > 0.0 || f.distance > -touching, "depth without an overlap: " + pair, where.str());
  t.demand(!(f.distance < -touching) || f.least < 0.0, "no contact: " + pair, where.str());
  t.demand(
      !(f.least < -touching) || f.distance < 0.0, "contact of separated: " + pair, where.str());
  t.demand(
      std::abs(f.distance) <= touching || f.hit == (f.distance < 0.0), "hit: " + pair, where.str());
}

int rounds() { return std::getenv("STICTION_FUZZ") != nullptr ? 4000 : 40; }

Transform at(const Vec3d& p) { return {Mat3d::identity(), p}; }

Shape level_field(int nx, int ny, double cell) {
  return Shape::height_field(nx, ny, std::vector<double>(nx * ny, 0.0), cell, cell);
}

/// Both meshes as one.
Shape joined(const Shape& a, const Shape& b, const Vec3d& shift) {
  std::vector<Vec3d> v = a.surface->vertices;
  std::vector<int> t = a.surface->triangles;
  for (const int k : b.surface->triangles) t.push_back(k + int(v.size()));
  for (const Vec3d& p : b.surface->vertices) v.push_back(p + shift);
  return Shape::triangle_mesh(v, t);
}

void check_contact(
    const Shape& a, const Shape& b, const Transform& X, double depth, const char* what) {
  for (const bool exchanged : {false, true}) {
    const Transform I = Transform::identity();
    const Found f = exchanged ? look(b, X, a, I) : look(a, I, b, X);
    BOOST_TEST(std::abs(f.distance + depth) < 1e-9, what << ": distance " << f.distance);
    BOOST_TEST(std::abs(f.least + depth) < 1e-9, what << ": contact " << f.least);
    BOOST_TEST(f.hit);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(inside_test)

BOOST_AUTO_TEST_CASE(overlap_at_any_depth_is_a_contact) {
  Tally t;
  for (int ka = 0; ka < kSolidKinds; ++ka) {
    for (int kb = 0; kb < int(SolidKind::kField); ++kb) {
      Rng rng(1000 * ka + kb);
      for (int round = 0; round < rounds(); ++round) {
        const double scale = std::pow(10.0, rng.uniform(-2.0, 0.3));
        const Solid a = random_solid(rng, SolidKind(ka)),
                    b = random_solid(rng, SolidKind(kb), scale);
        judge(a, b, rng, t);
      }
    }
  }
  for (const auto& [what, count] : t.faults) BOOST_TEST_MESSAGE(count << " x " << what);
  BOOST_TEST_MESSAGE(t.cases << " poses, " << t.overlapping << " overlap, " << t.inside << " deep");
  BOOST_TEST(t.faults.empty(), t.first);
  BOOST_TEST(t.overlapping > 0.5 * t.cases);
  BOOST_TEST(t.inside > 0.3 * t.cases);
  BOOST_TEST(t.overlapping < 0.95 * t.cases);
}

// Their surfaces do not cross, for a field has no sides. Facing each other, edge over edge; one in
// the other; the base of one in the top of the other.
BOOST_AUTO_TEST_CASE(height_fields_in_each_other_have_a_contact) {
  const Shape wide = level_field(11, 3, 0.2), tall = level_field(3, 11, 0.2);
  const Mat3d down{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
  const double solid = std::hypot(2.0, 0.4);
  check_contact(wide, tall, {down, {0.013, 0.021, -0.01}}, 0.01, "facing");
  check_contact(wide, tall, at({0.013, 0.021, -0.01}), solid - 0.01, "below");
  check_contact(wide, tall, at({0.013, 0.021, solid - 0.01}), 0.01, "above");
}

// Of a mesh in several parts any one may be inside.
BOOST_AUTO_TEST_CASE(each_part_of_a_mesh_is_seen) {
  const Shape ring = torus_mesh(0.05, 0.02, 12, 8), far = torus_mesh(0.05, 0.02, 13, 8);
  const Shape block = Shape::triangle_mesh(
      {{-1, -1, -1},
       {-1, -1, 1},
       {-1, 1, -1},
       {-1, 1, 1},
       {1, -1, -1},
       {1, -1, 1},
       {1, 1, -1},
       {1, 1, 1},
       {3, 3, 3},
       {4, 3, 3},
       {3, 4, 3},
       {3, 3, 4}},
      {0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4,  5, 0, 5, 1,  2, 3,  7,  2, 7,  6,
       0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3, 8, 10, 9, 8, 9, 11, 8, 11, 10, 9, 10, 11});
  const Shape field = level_field(11, 11, 0.2);
  for (const double side : {2.0, -2.0}) {
    const Shape two = joined(ring, far, {side, 0, 0});
    for (const double x : {0.0, -side}) {
      const Found f = look(block, Transform::identity(), two, at({x, 0.3, 0.1}));
      BOOST_TEST(f.distance < -0.5);
      BOOST_TEST(f.least < -0.5);
      BOOST_TEST(f.hit);
      check_contact(field, two, at({x, 0.3, -0.5}), 0.52, "two rings");
    }
  }
  BOOST_TEST(look(block, Transform::identity(), ring, at({0.0, 0.3, 1.5})).distance > 0.4);
}

// Without a contact it would fall on; the level contacts turn nothing.
BOOST_AUTO_TEST_CASE(a_buried_box_is_pushed_at_its_four_lowest_corners) {
  const Shape field = level_field(20, 20, 0.2), box = Shape::box({0.1, 0.15, 0.1});
  for (const double z : {-0.2, -0.9, -2.0}) {
    ManifoldWorkspace work;
    contact_manifolds(field, Transform::identity(), box, at({0.013, 0.021, z}), 0.0, work);
    BOOST_REQUIRE(work.manifolds.size() == 1u);
    const Manifold& m = work.manifolds[0];
    BOOST_TEST(norm(m.normal - Vec3d{0, 0, 1}) < 1e-12);
    BOOST_TEST(m.count == 4);
    Vec3d middle{0, 0, 0};
    for (int k = 0; k < m.count; ++k) {
      BOOST_TEST(std::abs(m.points[k].gap - (z - 0.1)) < 1e-12);
      middle += m.points[k].position * (1.0 / m.count);
    }
    BOOST_TEST(std::abs(middle.x - 0.013) + std::abs(middle.y - 0.021) < 1e-12);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
