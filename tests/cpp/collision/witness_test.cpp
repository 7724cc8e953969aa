#include "stiction/simulator/simulator.hpp"

#include "support/manifolds.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>

using namespace stiction;
using namespace stiction::test;

namespace {

/// What a shape shows at a point of its surface, found from its numbers.
struct Side {
  const Shape& shape;
  Transform X;
  double size;

  double tolerance() const { return 2e-5 * size; }  // of faces that are taken for parallel
  Vec3d local(const Vec3d& p_W) const { return transpose_times(X.R, p_W - X.p); }

  bool is_vertex(const Vec3d& p_W) const {
    const Vec3d p = local(p_W);
    const auto near = [&](const Vec3d& v) { return norm(p - v) <= tolerance(); };
    if (shape.type == ShapeType::kCone) return near({0, 0, shape.size.y});
    const std::vector<Vec3d> corners =
        shape.type == ShapeType::kBox ? box_corners(shape.size) : shape.mesh->vertices;
    return std::any_of(corners.begin(), corners.end(), near);
  }
  /// A flat face with the outward normal n (world).
  bool has_face(const Vec3d& n_W) const {
    const Vec3d n = transpose_times(X.R, n_W);
    const auto along = [&](const Vec3d& m) { return norm(n - m) <= 1e-7; };
    switch (shape.type) {
      case ShapeType::kHalfSpace:
        return along({0, 0, 1});
      case ShapeType::kBox:
        return std::max({std::abs(n.x), std::abs(n.y), std::abs(n.z)}) > 1.0 - 1e-9;
      case ShapeType::kCylinder:
        return std::abs(n.z) > 1.0 - 1e-9;
      case ShapeType::kCone:
        return along({0, 0, -1});
      case ShapeType::kConvexMesh:
        return std::any_of(shape.mesh->faces.begin(),
                           shape.mesh->faces.end(),
                           [&](const ConvexMesh::Face& f) { return along(f.normal); });
      default:
        return false;
    }
  }
  /// The end of a radius along n from the core of a sphere or capsule.
  bool is_round(const Vec3d& p_W, const Vec3d& n_W, double radius) const {
    if (radius != shape.size.x) return false;
    const Vec3d c = local(p_W - n_W * radius);
    if (shape.type == ShapeType::kSphere) return norm(c) <= tolerance();
    return shape.type == ShapeType::kCapsule &&
           norm(Vec3d{c.x, c.y, std::abs(c.z) - shape.size.y}) <= tolerance();
  }
  /// On a rim, or on the side of a cylinder or cone.
  bool is_on_rim(const Vec3d& p_W) const {
    const Vec3d p = local(p_W);
    const double r = std::hypot(p.x, p.y), h = shape.size.y;
    if (shape.type == ShapeType::kCylinder) return std::abs(r - shape.size.x) <= tolerance();
    const double side = 2.0 * h * r + shape.size.x * (p.z - h);
    return shape.type == ShapeType::kCone &&
           std::abs(side) <= tolerance() * std::hypot(2.0 * h, shape.size.x);
  }
  /// On an edge of a box that n is normal to.
  bool is_on_edge(const Vec3d& p_W, const Vec3d& n_W) const {
    const Vec3d p = local(p_W), n = transpose_times(X.R, n_W);
    for (int k = 0; k < 3 && shape.type == ShapeType::kBox; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      if (std::abs(n[k]) <= 1e-9 && std::abs(std::abs(p[i]) - shape.size[i]) <= tolerance() &&
          std::abs(std::abs(p[j]) - shape.size[j]) <= tolerance())
        return true;
    }
    return false;
  }
};

bool holds(const Side& a, const Side& b, const Manifold& m, const ManifoldPoint& point) {
  const Vec3d n = m.normal, half = n * (0.5 * point.gap);
  const Vec3d p_a = point.position - half, p_b = point.position + half;
  const double radius = point.witness.radius;
  switch (point.witness.kind) {
    case WitnessKind::kVertexFace:
      return a.is_vertex(p_a) && b.has_face(-n) && radius == 0.0;
    case WitnessKind::kFaceVertex:
      return b.is_vertex(p_b) && a.has_face(n) && radius == 0.0;
    case WitnessKind::kRoundFace:
      return a.is_round(p_a, n, radius) && b.has_face(-n);
    case WitnessKind::kFaceRound:
      return b.is_round(p_b, -n, radius) && a.has_face(n);
    case WitnessKind::kRim:
      return a.is_on_rim(p_a) || b.is_on_rim(p_b);
    case WitnessKind::kEdgeEdge:
      return a.is_on_edge(p_a, n) && b.is_on_edge(p_b, n);
    case WitnessKind::kClipped:
    case WitnessKind::kSmooth:
      return radius == 0.0;
  }
  return false;
}

constexpr std::array kNames{"vertex-face",
                            "face-vertex",
                            "edge-edge",
                            "round-face",
                            "face-round",
                            "rim",
                            "clipped",
                            "smooth"};

/// A lies with its own axes, or nearly, along those of B, as bodies at rest do.
PosedPair aligned(Rng& rng, PosedPair p) {
  const Vec3d d = p.X_WB.p - p.X_WA.p;
  const int turn = rng.below(3);
  const Mat3d flip = turn == 0   ? Mat3d::identity()
                     : turn == 1 ? Mat3d{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}
                                 : Mat3d{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
  p.X_WB.R =
      p.X_WA.R * flip * small_rotation(unit_vector(rng) * std::pow(10.0, -1.0 - rng.below(4)));
  p.X_WB.p = p.X_WA.p + d;
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(witness_test)

// What a point says of its features is true of the shapes: a vertex is one, a face has that normal,
// a centre is a radius away. Every kind, either way round, is among the pairs.
BOOST_AUTO_TEST_CASE(points_are_where_their_features_are) {
  Rng rng(7);
  std::array<int, 8> seen{};
  for (const Kind ka : kAllKinds) {
    for (const Kind kb : kAllKinds) {
      if (ka == Kind::kHalfSpace && kb == Kind::kHalfSpace) continue;
      const bool boxes = ka == Kind::kBox && kb == Kind::kBox;
      for (int t = 0; t < (boxes ? 2000 : 40); ++t) {
        PosedPair p = kb == Kind::kHalfSpace ? random_pair(rng, kb, ka) : random_pair(rng, ka, kb);
        if (kb == Kind::kHalfSpace) p = {p.b, p.a, p.X_WB, p.X_WA};
        if (t % 2) p = aligned(rng, p);
        const Manifold m = manifold_of(p, 0.1);
        const double size = size_of(p);
        const Side a{p.a, p.X_WA, size}, b{p.b, p.X_WB, size};
        for (int i = 0; i < m.count; ++i) {
          const int kind = static_cast<int>(m.points[i].witness.kind);
          ++seen[kind];
          BOOST_TEST(holds(a, b, m, m.points[i]),
                     name(ka) << " / " << name(kb) << ", trial " << t << ", point " << i << " of "
                              << m.count << ": " << kNames[kind]);
        }
      }
    }
  }
  for (int k = 0; k < 8; ++k) BOOST_TEST(seen[k] > 50, kNames[k] << ": " << seen[k]);
}

// Exchanging the shapes exchanges the sides.
BOOST_AUTO_TEST_CASE(sides_are_exchanged_with_the_shapes) {
  Rng rng(8);
  int compared = 0;
  for (const Kind ka : kAllKinds) {
    for (int t = 0; t < 40; ++t) {
      if (ka == Kind::kHalfSpace) continue;
      const PosedPair p = random_pair(rng, Kind::kHalfSpace, ka);
      const Manifold m = manifold_of(p, 0.1), back = manifold_of({p.b, p.a, p.X_WB, p.X_WA}, 0.1);
      BOOST_TEST_REQUIRE(m.count == back.count);
      for (int i = 0; i < m.count; ++i, ++compared) {
        const WitnessKind kind = m.points[i].witness.kind;
        BOOST_TEST((m.points[i].witness.swapped().kind == back.points[i].witness.kind));
        BOOST_TEST((kind != WitnessKind::kVertexFace && kind != WitnessKind::kRoundFace));
      }
    }
  }
  BOOST_TEST(compared > 200);
}

// Contacts carry it on; points of pairs that are still apart are of a later moment.
BOOST_AUTO_TEST_CASE(contacts_know_their_witness) {
  for (const double speed : {0.0, 300.0}) {
    Scene scene;
    scene.parameters.gravity = {0, 0, 0};
    const double z = speed == 0.0 ? 0.2 : 0.4;
    const auto box = [&](const char* name, double half, const Vec3d& p) {
      scene.add_body(name, Shape::box({half, half, 0.1}), 1.0, {Mat3d::identity(), p});
    };
    box("table", 0.5, {0, 0, 10.0});
    box("box", 0.1, {0, 0, 10.0 + z});
    scene.add_ground();
    scene.add_body("ball", Shape::sphere(0.1), 1.0, {Mat3d::identity(), {2, 0, 0.1}});
    Simulator sim(scene);
    State state = sim.initial_state();
    state.v[8] = -speed;
    sim.step(state, {});
    BOOST_TEST_REQUIRE(sim.contact_set().size() == 5u);
    for (const Contact& c : sim.contact_set()) {
      const bool round = c.geometry_b == 3;
      BOOST_TEST((c.witness.kind == (round ? WitnessKind::kFaceRound : WitnessKind::kFaceVertex)));
      BOOST_TEST(c.witness.radius == (round ? 0.1 : 0.0));
      BOOST_TEST(c.witness.swept == (speed > 0.0 && !round));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
