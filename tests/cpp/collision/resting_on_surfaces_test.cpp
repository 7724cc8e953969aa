#include "support/flush.hpp"
#include "support/posed_contacts.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

// Convex shapes as they rest on height fields and meshes: edges, lines and faces all but flush,
// gaps as small as the tilt leaves them.

using namespace stiction;
using namespace stiction::test;

namespace {

int rounds() { return std::getenv("STICTION_FUZZ") != nullptr ? 4000 : 200; }

/// Hills of which a shape spans one or two cells, as a field or as the mesh of its triangles.
Shape hills(Rng& rng, bool mesh) {
  const int n = 7;
  std::vector<double> heights;
  const double a = rng.uniform(0.0, 0.2), b = rng.uniform(0.05, 0.2), c = rng.uniform(0.5, 2.0);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) heights.push_back(a * std::sin(c * i) + b * std::cos(j));
  const Shape field = Shape::height_field(n, n, heights, 0.7, 0.7, 2.0);
  if (!mesh) return field;
  const HeightField& f = *field.field;
  std::vector<Vec3d> vertices;
  std::vector<int> triangles;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) vertices.push_back(f.sample(i, j));
  for (int t = 0; t < f.count(); ++t) {
    int i[3], j[3];
    f.corners(t, i, j);
    for (int k = 0; k < 3; ++k) triangles.push_back(j[k] * n + i[k]);
  }
  return Shape::triangle_mesh(vertices, triangles);
}

Posed rest(Rng& rng, bool mesh, SolidKind convex, double& tilt) {
  static constexpr double kGaps[] = {1e-6, 1e-7, 1e-8, -1e-8, -1e-7, -1e-6};
  static constexpr double kTilts[] = {1e-7, 1e-6, 5e-6, 2e-5, 1e-4, 1e-3};
  Posed p{hills(rng, mesh), random_solid(rng, convex).shape, pose(rng, 1.0), {}};
  FlatPart a = random_part(rng, p.a), b = random_part(rng, p.b);
  // Off middles, ends and borders.
  a.p += any_across(rng, a.n) * rng.uniform(0.005, 0.05);
  b.p += b.e * rng.uniform(0.005, 0.05);
  tilt = kTilts[rng.below(6)] * rng.uniform(0.5, 1.0);
  p.X_WB = laid(rng, a, p.X_WA, b, kGaps[rng.below(6)], rng.uniform(-3.0, 3.0), tilt);
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resting_on_surfaces_test)

BOOST_AUTO_TEST_CASE(points_go_as_they_say) {
  Rng rng(41);
  ManifoldWorkspace work;
  int count = 0, exact = 0, wrong = 0;
  for (const bool mesh : {false, true}) {
    for (int k = 0; k < int(SolidKind::kConvexMesh); ++k) {
      int n = 0, x = 0, w = 0;
      for (int t = 0; t < rounds(); ++t) {
        double tilt;
        const Posed p = rest(rng, mesh, SolidKind(k), tilt);
        for (const Contact& c : contacts_of(p, work)) {
          if (c.gap > 1e-5 || c.gap < -1e-4) continue;
          const ContactDerivatives d = contact_derivatives(c, p.a, p.X_WA, p.b, p.X_WB);
          const double e = d.exact ? one_sided_error(p, c, d, work) : 0.0;
          ++n;
          x += d.exact;
          w += e > 1e-3;
          if (e > 1e-3)
            BOOST_TEST_MESSAGE((mesh ? "mesh" : "field")
                               << " / " << name(SolidKind(k)) << ", trial " << t << ", tilt "
                               << tilt << ", gap " << c.gap << ", feature " << c.feature << ": "
                               << e);
        }
      }
      BOOST_TEST_MESSAGE("## " << (mesh ? "mesh" : "field") << " / " << name(SolidKind(k)) << ": "
                               << n << " points, " << x << " exact, " << w << " wrong");
      count += n, exact += x, wrong += w;
    }
  }
  BOOST_TEST(exact > 0.7 * count, exact << " of " << count);
  BOOST_TEST(wrong <= exact / 2000, wrong << " of " << exact << " exact of " << count);
}

BOOST_AUTO_TEST_SUITE_END()
