#include "support/manifolds.hpp"
#include <boost/test/unit_test.hpp>

#include <cstdlib>

// Two bodies face on face, tilted by up to 0.1 rad and up to a fifth of their size inside each
// other: the manifold is the polygon that another clipper finds, seen along the normal, each gap is
// that of the two faces there, and the deepest one is the signed distance.

namespace stiction::test {
namespace {

struct FacedBody {
  Shape shape;
  std::vector<Vec3d> top;  // its face z = height, counter-clockwise from above
  double height, radius;   // radius: of a round face, else 0
};

std::vector<Vec3d> ring(Rng& rng, int corners, double stretch, double z) {
  std::vector<Vec3d> p;
  for (int i = 0; i < corners; ++i) {
    const double angle = 2 * M_PI * (i + rng.uniform(-0.35, 0.35)) / corners;
    p.push_back({0.6 * std::cos(angle), 0.6 * stretch * std::sin(angle), z});
  }
  return p;
}

enum class Body { kBox, kBoxMesh, kPrism, kFrustum, kCylinder };
constexpr Body kBodies[] = {
    Body::kBox, Body::kBoxMesh, Body::kPrism, Body::kFrustum, Body::kCylinder};

FacedBody make(Rng& rng, Body body) {
  const Vec3d h{rng.uniform(0.3, 0.6), rng.uniform(0.3, 0.6), rng.uniform(0.4, 0.6)};
  if (body == Body::kCylinder) {
    FacedBody out{Shape::cylinder(h.x, h.z), {}, h.z, h.x};
    for (int i = 0; i < 256; ++i) {
      const double a = 2 * M_PI * i / 256;
      out.top.push_back({h.x * std::cos(a), h.x * std::sin(a), h.z});
    }
    return out;
  }
  if (body == Body::kBox || body == Body::kBoxMesh) {
    const Shape s = body == Body::kBox ? Shape::box(h) : Shape::convex_mesh(box_corners(h));
    return {s, {{-h.x, -h.y, h.z}, {h.x, -h.y, h.z}, {h.x, h.y, h.z}, {-h.x, h.y, h.z}}, h.z, 0};
  }
  FacedBody out{{}, ring(rng, 3 + rng.below(4), rng.uniform(0.6, 1.0), h.z), h.z, 0};
  std::vector<Vec3d> points = out.top;
  const double foot = body == Body::kFrustum ? 1.3 : 1.0;
  for (const Vec3d& p : out.top) points.push_back({foot * p.x, foot * p.y, -h.z});
  out.shape = Shape::convex_mesh(points);
  return out;
}

struct Tally {
  int cases = 0, beside = 0, edges = 0, deep = 0, round = 0;
};

/// The two faces seen along n, in a frame whose z is n.
struct View {
  Vec3d e, f, n;
  explicit View(const Vec3d& normal) : n(normal) {
    const Vec3d x = std::abs(n.x) < 0.5 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
    e = cross(n, x);
    e = e * (1.0 / norm(e));
    f = cross(n, e);
  }
  Point2 flat(const Vec3d& p) const { return {dot(e, p), dot(f, p)}; }
};

std::vector<Point2> outline(const View& view,
                            const std::vector<Vec3d>& face,
                            const Transform& X,
                            bool turned) {
  std::vector<Point2> out;
  for (const Vec3d& p : face) out.push_back(view.flat(X * p));
  if (turned) std::reverse(out.begin(), out.end());
  return out;
}

void check(Rng& rng, Body kind_a, Body kind_b, double depth_share, Tally& tally) {
  const FacedBody a = make(rng, kind_a), b = make(rng, kind_b);
  const Transform X_WA = pose(rng, 1.0);
  // B stands on its head: its top faces that of A.
  const Mat3d tilt = small_rotation({rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1), 0}) *
                     small_rotation({0, 0, rng.uniform(-3.0, 3.0)}) * small_rotation({M_PI, 0, 0});
  const double size = bounding_radius(a.shape) + bounding_radius(b.shape);
  Transform X_AB{tilt, {rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), a.height + b.height}};
  const Transform I = Transform::identity();
  const Vec3d up{0, 0, 1};
  // The depth along the normal of A's face, then whatever the pair makes of it.
  X_AB.p.z -= gap_along(a.shape, I, b.shape, X_AB, up) + depth_share * size;
  const Transform X_WB = X_WA * X_AB;
  const DistanceResult r = distance(a.shape, X_WA, b.shape, X_WB);
  const Vec3d n_A = X_WA.R.c2, n_B = X_WB.R.c2;
  const Manifold m = manifold_of({a.shape, b.shape, X_WA, X_WB}, 10.0);
  ++tally.cases;
  if (dot(r.normal, n_A) < 0.8 || -dot(r.normal, n_B) < 0.8) {
    ++tally.beside;  // sideways is nearer
    return;
  }
  tally.edges += norm(cross(r.normal, n_A)) > 1e-6 && norm(cross(r.normal, n_B)) > 1e-6;
  tally.deep += r.distance < -0.01 * size;
  const View view(m.normal);
  std::vector<Point2> common = outline(view, b.top, X_WB, true);
  common = clip_to_polygon(common, outline(view, a.top, X_WA, false));
  const double expected = area(common);
  if (expected < 0.01 * size * size) {
    ++tally.beside;
    return;
  }
  const bool round = a.radius > 0.0 || b.radius > 0.0;  // four points stand for a rim
  BOOST_TEST(m.count >= (round ? 2 : 3));
  std::vector<Point2> points;
  double least = HUGE_VAL;
  for (int i = 0; i < m.count; ++i) {
    const ManifoldPoint& p = m.points[i];
    points.push_back(view.flat(p.position));
    least = std::min(least, p.gap);
    // Height of both faces over the point, along the normal.
    const double on_a = dot(n_A, X_WA.p + n_A * a.height - p.position) / dot(n_A, m.normal);
    const double on_b = dot(n_B, X_WB.p + n_B * b.height - p.position) / dot(n_B, m.normal);
    BOOST_TEST(std::abs(on_b - on_a - p.gap) <= 2e-5 * size);
    BOOST_TEST(std::abs(on_a + on_b) <= 2e-5 * size);
  }
  BOOST_TEST(std::abs(least - r.distance) <= 1e-5 * size);
  BOOST_TEST(std::abs(gap_along(a.shape, X_WA, b.shape, X_WB, m.normal) - r.distance) <=
             1e-5 * size);
  const double covered = hull_area(points) / expected;
  BOOST_TEST(covered <= 1.0 + 1e-3);
  const double least_disc =
      std::min(a.radius > 0.0 ? a.radius : 1.0, b.radius > 0.0 ? b.radius : 1.0);
  if (!round) {  // more than eight corners are thinned to eight
    BOOST_TEST(covered >= (common.size() <= 8 ? 1.0 - 1e-3 : 0.75));
  } else if (expected > 0.75 * M_PI * least_disc * least_disc) {
    BOOST_TEST(covered >= 0.45);
    ++tally.round;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(face_polygon_test)

BOOST_AUTO_TEST_CASE(faces_have_their_polygon_at_any_depth) {
  Rng rng(61);
  const int trials = std::getenv("STICTION_FUZZ") != nullptr ? 20000 : 200;
  Tally tally;
  for (const Body ka : kBodies) {
    for (const Body kb : kBodies) {
      for (int t = 0; t < trials; ++t) {
        const double share = t % 10 == 0 ? 0.0 : 0.2 * rng.uniform(0.0, 1.0) * rng.uniform(0, 1);
        BOOST_TEST_CONTEXT("bodies " << int(ka) << " " << int(kb) << ", trial " << t << ", share "
                                     << share)
        check(rng, ka, kb, share, tally);
      }
    }
  }
  BOOST_TEST_MESSAGE(tally.cases << " cases, " << tally.beside << " nearer sideways, "
                                 << tally.edges << " along the normal of two edges, " << tally.deep
                                 << " deep");
  BOOST_TEST(tally.beside < 0.5 * tally.cases);
  BOOST_TEST(tally.edges > 0.1 * tally.cases);
  BOOST_TEST(tally.round > 0.04 * tally.cases);
  BOOST_TEST(tally.deep > 0.2 * tally.cases);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
