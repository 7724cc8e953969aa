#pragma once

#include "stiction/collision/distance.hpp"

#include "exact_closest.hpp"
#include "fuzz_pairs.hpp"

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

// What distance() promises of one pair, held against long double.

namespace stiction::test {

/// C++ text of a pair, exact to the bit: a failure becomes a test of its own by pasting it.
inline std::string describe(const Shape& s, const Transform& X) {
  char buffer[512];
  std::string text = to_string(s.type);
  const auto put = [&](const char* label, const Vec3d& v) {
    std::snprintf(buffer, sizeof buffer, " %s{%.17g, %.17g, %.17g}", label, v.x, v.y, v.z);
    text += buffer;
  };
  if (s.mesh == nullptr) put("", s.size);
  if (s.mesh != nullptr && s.mesh->vertices.size() > 14) text += " (large)";
  if (s.mesh != nullptr && s.mesh->vertices.size() <= 14) {
    for (const Vec3d& v : s.mesh->vertices) put("", v);
  }
  put("R ", X.R.c0);
  put("", X.R.c1);
  put("", X.R.c2);
  put("p ", X.p);
  return text;
}

inline std::size_t complexity(const Shape& s) {
  return s.mesh != nullptr ? 10 + s.mesh->vertices.size() : std::size_t(s.type);
}

/// Failures by class, with the simplest example of each.
class Faults {
 public:
  void demand(
      bool ok, const std::string& what, const FuzzCase& c, const DistanceResult& r, double value) {
    if (ok) return;
    Entry& e = entries_[what];
    ++e.count;
    if (!(std::abs(value) <= e.worst)) e.worst = std::abs(value);
    const std::size_t size = complexity(c.pair.a) + complexity(c.pair.b);
    if (size >= e.complexity) return;
    e.complexity = size;
    char buffer[256];
    std::snprintf(buffer,
                  sizeof buffer,
                  "%s, size %.3g m, distance %.6g m, %s, value %.3g",
                  c.label().c_str(),
                  radii(c.pair),
                  r.distance,
                  to_string(r.status),
                  value);
    e.example = std::string(buffer) + "\n      A " + describe(c.pair.a, c.pair.X_WA) +
                "\n      B " + describe(c.pair.b, c.pair.X_WB);
  }
  std::string text() const {
    std::string s;
    for (const auto& [what, e] : entries_) {
      char buffer[128];
      std::snprintf(buffer, sizeof buffer, ": %ld times, worst %.3g; simplest ", e.count, e.worst);
      s += "\n  " + what + buffer + e.example;
    }
    return s;
  }
  bool none() const { return entries_.empty(); }

 private:
  struct Entry {
    long count = 0;
    double worst = 0.0;
    std::size_t complexity = std::size_t(-1);
    std::string example;
  };
  std::map<std::string, Entry> entries_;
};

inline constexpr double kNormalError = 1e-6;     // [rad]
inline constexpr double kNormalFrom = 1e-5;      // [m] |distance| from which polytopes promise it
inline constexpr double kRelativeError = 1e-12;  // of the size

/// Errors that a tolerance allows [m]: it, but at least 1e-12 of the size and the rounding of the
/// positions.
inline double allowed_error(const PosedPair& p, double tolerance) {
  return std::max(tolerance, kRelativeError * radii(p)) + 1e-15 * (norm(p.X_WA.p) + norm(p.X_WB.p));
}

/// What is promised: 1e-8 m, for pairs below 10 mm 1e-6 of their size.
inline double promised_tolerance(const PosedPair& p) { return std::min(1e-8, 1e-6 * radii(p)); }

inline bool same_bits(const DistanceResult& r, const DistanceResult& s) {
  const auto equal = [](double x, double y) { return std::memcmp(&x, &y, sizeof x) == 0; };
  bool same = equal(r.distance, s.distance) && r.iterations == s.iterations && r.status == s.status;
  for (int k = 0; k < 3; ++k) {
    same = same && equal(r.normal[k], s.normal[k]) && equal(r.witness_a[k], s.witness_a[k]) &&
           equal(r.witness_b[k], s.witness_b[k]);
  }
  return same;
}

inline double angle(const ExactVec& a, const ExactVec& b) {
  return double(std::atan2(length(cross(a, b)), dot(a, b)));
}

class Judge {
 public:
  Judge(const FuzzCase& c, const DistanceResult& r, double tolerance, Faults& faults)
      : c_(c), p_(c.pair), r_(r), n_(exact(r.normal)), faults_(faults) {
    error_ = allowed_error(p_, tolerance);
  }

  /// Regular status, unit normal, witness points on the shapes and their difference; the gap along
  /// the normal, which bounds the distance from below, closed to the distance.
  void definition() {
    demand(r_.status != DistanceStatus::kMaxIterations, "not converged", r_.distance);
    demand(std::abs(norm(r_.normal) - 1.0) <= 1e-12, "normal not unit", norm(r_.normal) - 1.0);
    const double difference = norm(r_.witness_b - r_.witness_a - r_.normal * r_.distance);
    demand(difference <= error_, "witness difference", difference);
    const double a = double(exact_outside(p_.a, p_.X_WA, r_.witness_a));
    const double b = double(exact_outside(p_.b, p_.X_WB, r_.witness_b));
    demand(a <= error_ && b <= error_, "witness off the shape", std::max(a, b));
    const Exact gap = exact_gap(p_, n_);
    const double open = double(gap - Exact(r_.distance));
    demand(std::abs(open) <= error_, "duality gap", open);
    const bool large = std::abs(r_.distance) > std::max(1e-8, kRelativeError * radii(p_));
    const bool near = std::abs(r_.distance) < 1e-4 * radii(p_) && c_.polytopes();
    const bool doubtful = r_.distance > 0.0 ? !(gap > 0.0L) : near;
    if (large && doubtful) {
      const bool apart = exact_closest(p_).lower > 0.0L;
      demand(apart == (r_.distance > 0.0), "wrong sign", r_.distance);
    }
    const bool says_apart = r_.status == DistanceStatus::kSeparated;
    const bool regular = r_.status != DistanceStatus::kMaxIterations;
    demand(!large || !regular || says_apart == (r_.distance > 0.0),
           "status against sign",
           r_.distance);
  }

  /// Separated: distance and direction against the closest point in long double, as far as that
  /// is exact. The distance of small polytopes is exact however close they are.
  bool separated_reference() {
    const ClosestReference ref = exact_closest(p_, c_.polytopes() ? 300 : 60);
    if (!(ref.lower > 0.0L)) return false;
    const Exact own = std::sqrt(2.0L * std::max(ref.upper - ref.lower, 0.0L) / ref.upper);
    if (own > 0.1L * kNormalError) return false;
    const double far = double(ref.upper) - r_.distance;
    demand(std::abs(far) <= error_, "distance", far);
    if (r_.distance < (c_.polytopes() ? kNormalFrom : 1e-4 * radii(p_))) return false;
    const double off = angle(n_, -ref.v);
    demand(off <= kNormalError, "separated normal [rad]", off);
    return true;
  }

  /// Penetrating small polytopes: every facet of A - B tried.
  void facets() {
    Exact best = -HUGE_VALL;
    for_each_facet(p_, [&](const ExactVec&, Exact gap) { best = std::max(best, gap); });
    const double off = r_.distance - double(best);
    demand(std::abs(off) <= error_, "depth against all facets", off);
    if (std::abs(r_.distance) < kNormalFrom || r_.status != DistanceStatus::kPenetrating) return;
    double nearest = HUGE_VAL;  // of the facets that tie with the best
    for_each_facet(p_, [&](const ExactVec& n, Exact gap) {
      if (gap >= best - 2.0L * error_) nearest = std::min(nearest, angle(n, n_));
    });
    demand(nearest <= kNormalError, "penetrating normal [rad]", nearest);
  }

  /// Penetrating, all kinds: no direction of a climb from `starts` lattice points and from around
  /// the normal separates better.
  void sweep(int starts, Rng& rng) {
    Exact best = climb(p_, n_, 25);
    for (const double turn : {1e-3, 3e-2, 0.3}) {
      best = std::max(best, climb(p_, n_ + exact(unit_vector(rng) * turn), 25));
    }
    for (int i = 0; i < starts; ++i) {
      best = std::max(best, climb(p_, exact(lattice_direction(i, starts)), 25));
    }
    const double better = double(best) - r_.distance;
    demand(better <= error_, "a direction separates better", better);
  }

  /// Spheres and ellipsoids: both support points along n lie on one line along n. At a critical
  /// point the tangential Hessian of the gap is -(H_A + H_B + distance), H the second derivative of
  /// a support function (its eigenvalues are radii of curvature): it turns the tangential offset of
  /// the points into an angle.
  bool smooth_normal() {
    if (!is_smooth(p_.a) || !is_smooth(p_.b)) return false;
    const ExactVec u = unit(n_), w = ExactDifference{p_}(u).w;
    const ExactVec e = std::abs(u.x) < 0.6L ? ExactVec{1, 0, 0} : ExactVec{0, 1, 0};
    const ExactVec t1 = unit(e - u * dot(e, u)), t2 = cross(u, t1);
    const Exact d = r_.distance;
    const auto bend = [&](const ExactVec& s, const ExactVec& t) {
      return curvature(p_.a, p_.X_WA.R, u, s, t) + curvature(p_.b, p_.X_WB.R, u, s, t);
    };
    const Exact a = bend(t1, t1) + d, b = bend(t1, t2), c = bend(t2, t2) + d;
    const Exact determinant = a * c - b * b, trace = a + c;
    // Far from a unique minimum of the depth the linearisation says nothing.
    if (!(trace > 0.0L) || !(determinant > 0.01L * (a - d) * (c - d))) return false;
    const Exact x = dot(t1, w), y = dot(t2, w);
    const double off = double(std::hypot(c * x - b * y, a * y - b * x) / determinant);
    demand(off <= kNormalError, "smooth normal [rad]", off);
    return true;
  }

 private:
  static bool is_smooth(const Shape& s) {
    return s.type == ShapeType::kSphere || s.type == ShapeType::kEllipsoid;
  }
  /// s . H t of the support function |E n|, E^2 = R diag(h^2) R^T, for s, t normal to n.
  static Exact curvature(
      const Shape& shape, const Mat3d& R, const ExactVec& n, const ExactVec& s, const ExactVec& t) {
    ExactVec h = exact(shape.size);
    if (shape.type == ShapeType::kSphere) h = {h.x, h.x, h.x};
    const auto scale = [&](const ExactVec& v) {
      const ExactVec q = to_shape(R, v);
      return ExactVec{h.x * q.x, h.y * q.y, h.z * q.z};
    };
    const ExactVec en = scale(n), es = scale(s), et = scale(t);
    const Exact l = length(en);
    return (dot(es, et) - dot(es, en) * dot(et, en) / (l * l)) / l;
  }
  void demand(bool ok, const char* what, double value) {
    const std::string group = c_.polytopes() ? " (polytopes)" : " (round)";
    faults_.demand(ok, what + group, c_, r_, value);
  }

  const FuzzCase& c_;
  const PosedPair& p_;
  const DistanceResult& r_;
  ExactVec n_;
  double error_;
  Faults& faults_;
};

}  // namespace stiction::test
