#include "stiction/collision/distance.hpp"
#include "stiction/collision/manifold.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "support/solids.hpp"
#include "support/surfaces.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <sstream>

// The same solid in other coordinates has the same contacts: depths belong to the solid, not to how
// its mesh was written down.

namespace stiction::test {
namespace {

struct Deepest {
  double gap = HUGE_VAL, distance = 0.0;
};

Deepest look(const Shape& a, const Transform& X_WA, const Shape& b, const Transform& X_WB) {
  static ManifoldWorkspace work;
  contact_manifolds(a, X_WA, b, X_WB, 0.0, work);
  Deepest d;
  for (const Manifold& m : work.manifolds) {
    for (int k = 0; k < m.count; ++k) d.gap = std::min(d.gap, m.points[k].gap);
  }
  d.distance = distance(a, X_WA, b, X_WB).distance;
  return d;
}

/// The same solid with its frame turned: X_F places the old frame in the new one.
Shape in_frame(const Shape& s, const Transform& X_F) {
  std::vector<Vec3d> v = s.surface ? s.surface->vertices : s.mesh->vertices;
  for (Vec3d& p : v) p = X_F * p;
  return s.surface ? Shape::triangle_mesh(v, s.surface->triangles) : Shape::convex_mesh(v);
}

/// Each triangle cut into four, `times` times.
Shape refined(const Shape& s, int times) {
  std::vector<Vec3d> v = s.surface->vertices;
  std::vector<int> t = s.surface->triangles;
  for (; times > 0; --times) {
    std::vector<int> finer;
    std::map<std::pair<int, int>, int> middles;
    const auto middle = [&](int a, int b) {
      const auto [at, added] = middles.insert({std::minmax(a, b), int(v.size())});
      if (added) v.push_back((v[a] + v[b]) * 0.5);
      return at->second;
    };
    for (std::size_t i = 0; i < t.size(); i += 3) {
      const int a = t[i], b = t[i + 1], c = t[i + 2];
      const int ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca});
    }
    t = finer;
  }
  return Shape::triangle_mesh(v, t);
}

/// The least way along a side of the blocks or an axis of the other that takes it past all of them.
double way_past(const Solid& a, const Solid& b, const Transform& X) {
  double way = HUGE_VAL;
  for (int k = 0; k < 6; ++k) {
    for (const Mat3d& R : {Mat3d::identity(), X.R}) {
      const Vec3d n = R.column(k / 2) * (k % 2 == 0 ? 1.0 : -1.0);
      double top = -HUGE_VAL;
      for (const Vec3d& p : a.shape.surface->vertices) top = std::max(top, dot(n, p));
      way = std::min(way, top + extent_along(b.shape, X, -n));
    }
  }
  return way;
}

struct Tally {
  int cases = 0, overlapping = 0, deep = 0, off = 0;
  std::ostringstream first;

  void compare(const Deepest& x, const Deepest& y, double size, const std::string& what) {
    ++cases;
    overlapping += x.distance < 0.0;
    deep += x.distance < -0.2 * size;
    const auto differ = [&](double p, double q) {
      return (std::isinf(p) != std::isinf(q)) ||
             (!std::isinf(p) && !(std::abs(p - q) <= 1e-4 * size));
    };
    // Contacts that touch by rounding come and go.
    if (std::abs(x.distance) < 1e-4 * size) return;
    if (!differ(x.gap, y.gap) && !differ(x.distance, y.distance)) return;
    if (off++ < 8) {
      first << what << ": gap " << x.gap << " and " << y.gap << ", distance " << x.distance
            << " and " << y.distance << "\n";
    }
  }
};

Transform near(Rng& rng, const Solid& a, const Solid& b) {
  return {rotation(rng), uniform_vector(rng, 0.6 * (a.size + b.size))};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(frames_test)

BOOST_AUTO_TEST_CASE(a_turned_mesh_frame_changes_nothing) {
  Tally t;
  for (int ka = 0; ka < int(SolidKind::kField); ++ka) {
    for (int kb = 0; kb <= ka; ++kb) {
      if (ka < int(SolidKind::kConvexMesh)) continue;
      Rng rng(1000 * ka + kb);
      for (int round = 0; round < 60; ++round) {
        const Solid a = random_solid(rng, SolidKind(ka)),
                    b = random_solid(rng, SolidKind(kb), std::pow(10.0, rng.uniform(-1.0, 0.3)));
        const Transform X = near(rng, a, b), F{rotation(rng), {0, 0, 0}},
                        G{rotation(rng), {0, 0, 0}};
        const Deepest before = look(a.shape, Transform::identity(), b.shape, X);
        const bool turn_b = b.kind == SolidKind::kBlocks;
        const Deepest after = look(in_frame(a.shape, F),
                                   inverse(F),
                                   turn_b ? in_frame(b.shape, G) : b.shape,
                                   turn_b ? X * inverse(G) : X);
        t.compare(before,
                  after,
                  std::min(a.size, b.size),
                  std::string(name(a.kind)) + " / " + name(b.kind));
      }
    }
  }
  BOOST_TEST_MESSAGE(t.off << " of " << t.cases << ", " << t.overlapping << " overlap, " << t.deep
                           << " deep");
  BOOST_TEST(t.off == 0, t.first.str());
  BOOST_TEST(t.overlapping > 0.3 * t.cases);
  BOOST_TEST(t.deep > 0.1 * t.cases);
}

// Of a mesh of any number of triangles.
BOOST_AUTO_TEST_CASE(no_contact_of_a_fine_mesh_is_deeper_than_the_way_past_it) {
  int overlapping = 0, thin = 0;
  for (const SolidKind kind : {SolidKind::kBox, SolidKind::kEllipsoid}) {
    Rng rng(2000 + int(kind));
    for (int form = 0; form < 3; ++form) {
      const Solid a = random_solid(rng, SolidKind::kBlocks);
      const Shape fine = refined(a.shape, 4);
      BOOST_REQUIRE(fine.surface->vertices.size() > 1024u);
      for (int round = 0; round < 60; ++round) {
        Solid b = random_solid(rng, kind, std::pow(10.0, rng.uniform(-1.0, 0.3)));
        if (rng.below(2) == 0) b.shape.size.z *= 0.1;
        const Transform I = Transform::identity(),
                        X{rotation(rng), centre(a.shape.surface->box) + uniform_vector(rng, 0.5)};
        const Deepest found = look(fine, I, b.shape, X);
        if (!(found.gap < 0.0)) continue;
        const double way = way_past(a, b, X);
        ++overlapping;
        thin += way < 0.2;
        BOOST_TEST(-found.gap <= 1.001 * way + 1e-4);
      }
    }
  }
  BOOST_TEST(overlapping > 100);
  BOOST_TEST(thin > 20);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
