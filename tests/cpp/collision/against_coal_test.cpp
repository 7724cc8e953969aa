#include "stiction/collision/distance.hpp"

#include "support/judge.hpp"
#include "support/placing.hpp"
#include <boost/test/unit_test.hpp>
#include <coal/collision_data.h>
#include <coal/distance.h>
#include <coal/shape/convex.h>
#include <coal/shape/geometric_shapes.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

// The only file that includes Coal: compile it without -march (16-byte Eigen alignment), link
// -lcoal.

namespace stiction::test {
namespace {

coal::Vec3s to_coal(const Vec3d& v) { return {v.x, v.y, v.z}; }

std::shared_ptr<coal::ShapeBase> to_coal(const Shape& s) {
  switch (s.type) {
    case ShapeType::kSphere:
      return std::make_shared<coal::Sphere>(s.size.x);
    case ShapeType::kCapsule:
      return std::make_shared<coal::Capsule>(s.size.x, 2.0 * s.size.y);
    case ShapeType::kBox:
      return std::make_shared<coal::Box>(to_coal(s.size * 2.0));
    case ShapeType::kHalfSpace:
      return std::make_shared<coal::Halfspace>(coal::Vec3s(0, 0, 1), 0.0);
    case ShapeType::kCylinder:
      return std::make_shared<coal::Cylinder>(s.size.x, 2.0 * s.size.y);
    case ShapeType::kCone:
      return std::make_shared<coal::Cone>(s.size.x, 2.0 * s.size.y);
    case ShapeType::kEllipsoid:
      return std::make_shared<coal::Ellipsoid>(to_coal(s.size));
    case ShapeType::kConvexMesh:
      break;
    case ShapeType::kHeightField:
    case ShapeType::kTriangleMesh:
      throw std::invalid_argument("convex shapes only");
  }
  auto points = std::make_shared<std::vector<coal::Vec3s>>();
  for (const Vec3d& v : s.mesh->vertices) points->push_back(to_coal(v));
  auto triangles = std::make_shared<std::vector<coal::Triangle>>();
  const std::vector<int>& t = s.mesh->triangles;
  for (std::size_t i = 0; i < t.size(); i += 3) triangles->emplace_back(t[i], t[i + 1], t[i + 2]);
  return std::make_shared<coal::Convex<coal::Triangle>>(
      points, unsigned(points->size()), triangles, unsigned(triangles->size()));
}

coal::Transform3s to_coal(const Transform& X) {
  coal::Matrix3s R;
  R.col(0) = to_coal(X.R.c0);
  R.col(1) = to_coal(X.R.c1);
  R.col(2) = to_coal(X.R.c2);
  return {R, to_coal(X.p)};
}

double coal_distance(const PosedPair& p, Vec3d* normal = nullptr) {
  coal::DistanceRequest request(true, true);
  request.gjk_max_iterations = 1000;
  request.epa_max_iterations = 1000;
  coal::DistanceResult result;
  const double d = coal::distance(
      to_coal(p.a).get(), to_coal(p.X_WA), to_coal(p.b).get(), to_coal(p.X_WB), request, result);
  if (normal != nullptr) *normal = {result.normal.x(), result.normal.y(), result.normal.z()};
  return d;
}

/// Coal is not asked about rods, spikes and lenses.
constexpr bool left_out(Kind k) { return k == Kind::kRod || k == Kind::kSpike || k == Kind::kLens; }
constexpr bool curved(Kind k) { return k >= Kind::kCylinder; }

}  // namespace

BOOST_AUTO_TEST_SUITE(against_coal_test)

// Each pair of kinds, at 1 mm, 1 m and 1 km: the signed distance agrees with Coal's to Coal's own
// tolerance (1e-6 at 1 m, where Coal always runs). Where Coal is farther off, one of our own
// certificates must decide for us: a separating plane as wide as our distance.
BOOST_AUTO_TEST_CASE(signed_distance_of_every_pair) {
  Rng rng(31);
  const int trials = std::getenv("STICTION_FUZZ") != nullptr ? 3000 : 150;
  const double scales[] = {1e-3, 1.0, 1e3};
  int overlapping = 0, total = 0, coal_is_off = 0;
  for (const Kind ka : kAllKinds) {
    for (const Kind kb : kAllKinds) {
      if (left_out(ka) || left_out(kb)) continue;
      if (kb < ka && ka != Kind::kHalfSpace) continue;
      if (kb == Kind::kHalfSpace) continue;
      for (int t = 0; t < trials; ++t, ++total) {
        const PosedPair p = random_pair(rng, ka, kb);
        const double s = scales[t % 3];
        const PosedPair q = scaled(p, s);
        const DistanceResult r = distance(q.a, q.X_WA, q.b, q.X_WB);
        const double expected = coal_distance(p);
        overlapping += r.distance < 0.0;
        if (std::abs(r.distance / s - expected) <= 5e-6) continue;
        ++coal_is_off;
        const double proven = gap_along(q.a, q.X_WA, q.b, q.X_WB, r.normal);
        BOOST_TEST_CONTEXT(name(ka) << " / " << name(kb) << ", trial " << t << ", ours "
                                    << r.distance / s << ", Coal " << expected) {
          BOOST_TEST(std::abs(proven - r.distance) <=
                     (curved(ka) || curved(kb) ? 1e-8 : 1e-11) * s);
          BOOST_TEST(r.distance / s >= expected);  // separates better, so Coal was not minimal
        }
      }
    }
  }
  BOOST_TEST_MESSAGE(total << " pairs, overlap " << double(overlapping) / total << ", Coal off "
                           << coal_is_off);
  BOOST_TEST(overlapping > 0.3 * total);
  BOOST_TEST(overlapping < 0.7 * total);
  BOOST_TEST(coal_is_off < 0.01 * total);
}

// The pairs of the fuzz that are about a metre large, needles, slabs and smooth shapes among them:
// Coal's distance within 1e-6 m + 1e-5 of the size; where it is not, Coal's own normal, in long
// double, must not separate better than our distance.
BOOST_AUTO_TEST_CASE(fuzz_pairs) {
  Faults faults;
  int total = 0, off = 0;
  const int rounds = std::getenv("STICTION_FUZZ") != nullptr ? 100 : 1;
  for (int round = 0; round < rounds; ++round) {
    Rng rng(8000 + round);
    const ShapePool pool(rng, 3);
    for (int i = 0; i < 4000; ++i) {
      const FuzzCase c = next_case(rng, pool, kFamilies[i % 2]);
      if (c.scale_a != 1 || c.scale_b != 1) continue;
      Vec3d normal;
      const DistanceResult r = query(c.pair);
      const double theirs = coal_distance(c.pair, &normal);
      ++total;
      if (std::abs(theirs - r.distance) <= 1e-6 + 1e-5 * radii(c.pair)) continue;
      ++off;
      if (!(squared_norm(normal) > 0.5)) continue;
      const double better = double(exact_gap(c.pair, exact(normal))) - r.distance;
      faults.demand(better <= allowed_error(c.pair, 1e-8), "Coal separates better", c, r, better);
      const double attained = double(exact_gap(c.pair, exact(r.normal))) - r.distance;
      faults.demand(
          std::abs(attained) <= allowed_error(c.pair, 1e-8), "not attained", c, r, attained);
    }
  }
  BOOST_TEST_MESSAGE(total << " pairs, Coal off " << off);
  BOOST_TEST(faults.none(), faults.text());
  BOOST_TEST(total > 800);
  BOOST_TEST(off < 0.1 * total);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
