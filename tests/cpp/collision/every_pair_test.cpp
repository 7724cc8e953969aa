#include "stiction/collision/distance.hpp"
#include "stiction/collision/manifold.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "support/solids.hpp"
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <map>
#include <sstream>

// Every pair of kinds against the convex pieces whose unions they are. No answer about separated
// pieces may be off by more than 1e-9 of the size. Where the pair of pieces that is deepest also
// shows a way out of all the others, its depth is that of the solids: no motion is shorter. Of
// triangles around a solid that is not convex, and of fields, one shallow depth in a thousand may
// be off: a contact of a ridge or of a face survives beside a better one.

namespace stiction::test {
namespace {

enum class Placing { kNear, kFlush, kParallel, kEdgeOn, kNested, kFar };
constexpr int kPlacings = 6;

struct Case {
  const Solid& a;
  const Solid& b;
  Transform X_WA, X_WB;
};

/// The pieces of both: the least signed distance, and the shortest whole way out along the normal
/// of a side or an axis of symmetry of either.
struct Reference {
  double distance = HUGE_VAL, way_out = HUGE_VAL;
  Vec3d normal{0, 0, 1};
  bool exact = false;
};

double bounded_distance(const Shape& a, const Transform& X, const Shape& b, const Transform& Y) {
  if (a.bounded() && b.bounded()) {
    const double reach = bounding_radius(a) + bounding_radius(b), apart = norm(X.p - Y.p);
    if (a.type != ShapeType::kConvexMesh && b.type != ShapeType::kConvexMesh && apart > 2 * reach) {
      return apart - reach;
    }
  }
  return distance(a, X, b, Y).distance;
}

double least_distance(const Case& c, const Vec3d& shift) {
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < c.a.pieces.size(); ++i) {
    for (std::size_t j = 0; j < c.b.pieces.size(); ++j) {
      Transform Y = c.X_WB * c.b.placed[j];
      Y.p += shift;
      least = std::min(least,
                       bounded_distance(c.a.pieces[i], c.X_WA * c.a.placed[i], c.b.pieces[j], Y));
    }
  }
  return least;
}

double extent(const Solid& s, const Transform& X, const Vec3d& n) {
  double most = -HUGE_VAL;
  for (std::size_t i = 0; i < s.pieces.size(); ++i) {
    most = std::max(most, extent_along(s.pieces[i], X * s.placed[i], n));
  }
  return most;
}

/// The way along n that takes all of B past all of A.
double full_way_out(const Case& c, const Vec3d& n) {
  return extent(c.a, c.X_WA, n) + extent(c.b, c.X_WB, -n);
}

/// Is axis k of that solid normal to a side of it, or an axis of its symmetry?
bool side_along(SolidKind kind, int k) {
  switch (kind) {
    case SolidKind::kBox:
    case SolidKind::kBlocks:
    case SolidKind::kEllipsoid:
      return true;
    case SolidKind::kCapsule:
    case SolidKind::kCylinder:
    case SolidKind::kCone:
    case SolidKind::kField:
      return k == 2;
    default:
      return false;
  }
}

Reference reference(const Case& c) {
  Reference r;
  for (std::size_t i = 0; i < c.a.pieces.size(); ++i) {
    for (std::size_t j = 0; j < c.b.pieces.size(); ++j) {
      const Transform X = c.X_WA * c.a.placed[i], Y = c.X_WB * c.b.placed[j];
      if (bounded_distance(c.a.pieces[i], X, c.b.pieces[j], Y) > r.distance) continue;
      const DistanceResult d = distance(c.a.pieces[i], X, c.b.pieces[j], Y);
      if (d.distance >= r.distance) continue;
      r.distance = d.distance;
      r.normal = d.normal;
    }
  }
  if (r.distance >= 0.0) {
    r.exact = true;
    return r;
  }
  const double size = std::max(c.a.size, c.b.size);
  r.exact = least_distance(c, r.normal * -r.distance) >= -1e-9 * size;
  if (c.a.kind != SolidKind::kHalfSpace && c.b.kind != SolidKind::kHalfSpace) {
    const auto past = [&](const Solid& solid, const Mat3d& R) {
      for (int k = 0; k < 3; ++k) {
        if (!side_along(solid.kind, k)) continue;
        r.way_out = std::min(r.way_out, full_way_out(c, R.column(k)));
        r.way_out = std::min(r.way_out, full_way_out(c, -R.column(k)));
      }
    };
    past(c.a, c.X_WA.R);
    past(c.b, c.X_WB.R);
  }
  return r;
}

bool hollow(const Case& c) { return c.a.shape.hollow() || c.b.shape.hollow(); }

/// Which poses were visited and what was found.
struct Tally {
  std::map<std::string, int> faults;
  int hollow_shallow = 0, hollow_off = 0;
  int cases = 0, separated = 0, shallow = 0, deep = 0, placing[kPlacings] = {};
  std::string first;
};

void demand(bool ok,
            const char* what,
            const Case& c,
            const Reference& r,
            double answer,
            int trial,
            Tally& t) {
  if (ok) return;
  std::ostringstream s;
  s << what << ": " << name(c.a.kind) << " / " << name(c.b.kind);
  if (t.faults[s.str()]++ > 0) return;
  std::ostringstream e;
  e << s.str() << " trial " << trial << ": " << answer << ", reference " << r.distance << "\n";
  t.first += e.str();
}

void judge(const Case& c, int trial, ManifoldWorkspace& work, Tally& t) {
  const Reference r = reference(c);
  const double size = std::max(c.a.size, c.b.size), rounding = 1e-9 * size;
  const double small = c.a.size > 0 && c.b.size > 0 ? std::min(c.a.size, c.b.size) : size;
  const double margin = 0.02 * small;
  contact_manifolds(c.a.shape, c.X_WA, c.b.shape, c.X_WB, margin, work);
  double least = HUGE_VAL;
  for (const Manifold& m : work.manifolds) {
    for (int k = 0; k < m.count; ++k) least = std::min(least, m.points[k].gap);
  }
  const DistanceResult d = distance(c.a.shape, c.X_WA, c.b.shape, c.X_WB);
  ++t.cases;
  if (r.distance >= 0.0) {
    ++t.separated;
    demand(std::abs(d.distance - r.distance) <= rounding, "distance", c, r, d.distance, trial, t);
    demand(least >= r.distance - 2e-5 * size, "contact of separated", c, r, least, trial, t);
    return;
  }
  const bool shallow = r.exact && r.distance > -0.05 * small;
  demand(-least <= r.way_out * 1.01 + 1e-4 * size, "deeper than thick", c, r, least, trial, t);
  demand(-d.distance <= r.way_out * 1.01 + 1e-4 * size,
         "farther than thick",
         c,
         r,
         d.distance,
         trial,
         t);
  if (!shallow) {
    ++t.deep;
    return;
  }
  ++t.shallow;
  const double close = -0.01 * r.distance + 2e-5 * size;
  if (hollow(c)) {
    ++t.hollow_shallow;
    t.hollow_off +=
        std::abs(least - r.distance) > close || std::abs(d.distance - r.distance) > close;
    return;
  }
  demand(std::abs(least - r.distance) <= close, "depth", c, r, least, trial, t);
  demand(std::abs(d.distance - r.distance) <= close, "signed distance", c, r, d.distance, trial, t);
}

Mat3d quarter_turns(Rng& rng) {
  Mat3d R = Mat3d::identity();
  for (int k = 0; k < 3; ++k) {
    Vec3d w{0, 0, 0};
    w[k] = 0.5 * M_PI * rng.below(4);
    R = small_rotation(w) * R;
  }
  return R;
}

/// B against the top of A (frame of A): touching along z, or along the nearest way, then moved by a
/// random gap.
Transform place(Rng& rng, const Solid& a, const Solid& b, Placing placing) {
  const Transform I = Transform::identity();
  const double small = std::min(b.size, a.size > 0 ? a.size : b.size);
  const bool ground = a.kind == SolidKind::kField || a.kind == SolidKind::kHalfSpace;
  Transform X{rotation(rng), {0, 0, 0}};
  if (placing == Placing::kFlush || placing == Placing::kParallel) X.R = quarter_turns(rng);
  if (placing == Placing::kFlush) X.R = small_rotation(uniform_vector(rng, 1e-3)) * X.R;
  if (placing == Placing::kFlush || placing == Placing::kParallel) {
    X.R = small_rotation({0, 0, rng.below(2) * rng.uniform(-3, 3)}) * X.R;
  }
  if (placing == Placing::kEdgeOn) {
    X.R = small_rotation({0.25 * M_PI + rng.uniform(-1e-3, 1e-3), 0, 0}) * quarter_turns(rng);
  }
  const double powers = std::pow(10.0, rng.uniform(-7.0, -1.3));
  const double gap = small * powers * (rng.below(2) == 0 ? 1.0 : -1.0);
  if (placing == Placing::kNested && !ground) {
    const std::size_t i = rng.below(int(a.pieces.size()));
    X.p = a.placed[i].p + uniform_vector(rng, 0.3 * small);
    return X;
  }
  if (placing == Placing::kFar) {
    X.p = unit_vector(rng) * (rng.uniform(2.0, 5.0) * (a.size + b.size));
    if (ground) X.p = {rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(2, 20)};
    return X;
  }
  if (ground || placing != Placing::kNear) {
    const double reach = ground ? 0.5 : 0.8 * a.size;
    const Vec3d up = ground ? Vec3d{0, 0, 1} : quarter_turns(rng).c2;
    const Mat3d turn =
        up.z > 0.5 ? Mat3d::identity()
                   : (up.z < -0.5 ? small_rotation({M_PI, 0, 0})
                                  : small_rotation(cross(Vec3d{0, 0, 1}, up) * (0.5 * M_PI)));
    X.R = turn * X.R;
    X.p = turn * Vec3d{rng.uniform(-reach, reach), rng.uniform(-reach, reach), 0};
    X.p += up * (extent(a, I, up) + extent(b, X, -up));
    if (a.kind == SolidKind::kField) {  // down to the ground below
      for (int k = 0; k < 20; ++k) {
        const double d = least_distance({a, b, I, X}, {0, 0, 0});
        if (d < 1e-9) break;
        X.p.z -= d;
      }
    }
    X.p += up * gap;
    return X;
  }
  // Along a line through both, until the pieces touch.
  const Vec3d u = unit_vector(rng);
  X.p = u * (a.size + b.size) * 1.01;
  if (a.kind == SolidKind::kBlocks) X.p += a.placed[rng.below(int(a.placed.size()))].p;
  for (int k = 0; k < 40; ++k) {
    const double d = least_distance({a, b, I, X}, {0, 0, 0});
    if (d < 1e-9 || d > 10.0 * (a.size + b.size)) break;
    X.p += u * -d;
  }
  X.p += u * gap;
  return X;
}

int rounds() {
  if (std::getenv("STICTION_FUZZ") != nullptr) return 26500;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 13;
#else
  return 265;
#endif
}

}  // namespace

BOOST_AUTO_TEST_SUITE(every_pair_test)

BOOST_AUTO_TEST_CASE(solids_answer_like_the_union_of_their_pieces) {
  Tally t;
  ManifoldWorkspace work;
  int pairs = 0;
  for (int ka = 0; ka < kSolidKinds; ++ka) {
    for (int kb = 0; kb <= ka; ++kb) {
      const SolidKind a_kind = SolidKind(ka), b_kind = SolidKind(kb);
      if (kb >= int(SolidKind::kField)) continue;  // ground on ground
      ++pairs;
      Rng rng(100 * ka + kb);
      for (int round = 0; round < rounds(); ++round) {
        const Solid a = random_solid(rng, a_kind), b = random_solid(rng, b_kind);
        for (int p = 0; p < kPlacings; ++p) {
          const Transform X_AB = place(rng, a, b, Placing(p));
          const Transform X_WA = pose(rng, 1.0), X_WB = X_WA * X_AB;
          ++t.placing[p];
          if (rng.below(2) == 0) {
            judge({a, b, X_WA, X_WB}, kPlacings * round + p, work, t);
          } else {
            judge({b, a, X_WB, X_WA}, kPlacings * round + p, work, t);
          }
        }
      }
    }
  }
  for (const auto& [what, count] : t.faults) BOOST_TEST_MESSAGE(count << " x " << what);
  BOOST_TEST_MESSAGE(t.cases << " poses of " << pairs << " pairs, " << t.separated << " separated, "
                             << t.shallow << " shallow, " << t.deep << " deep");
  BOOST_TEST_MESSAGE(t.hollow_off << " of " << t.hollow_shallow
                                  << " shallow depths of solids that are not convex are off");
  BOOST_TEST(t.faults.empty(), t.first);
  BOOST_TEST(t.hollow_off <= 1e-3 * t.hollow_shallow + 1.0);
  BOOST_TEST(t.hollow_shallow > 0.05 * t.cases);
  BOOST_TEST(t.separated > 0.3 * t.cases);
  BOOST_TEST(t.shallow > 0.2 * t.cases);
  BOOST_TEST(t.deep > 0.05 * t.cases);
  for (const int visited : t.placing) BOOST_TEST(visited == t.cases / kPlacings);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
