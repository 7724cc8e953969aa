#pragma once

#include "stiction/collision/distance.hpp"

#include "collision/derivatives/contact_derivatives.hpp"
#include "collision/manifold/manifold_workspace.hpp"
#include "solids.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

// The contacts of two placed shapes, followed through small motions of one of them.

namespace stiction::test {

inline constexpr double kMargin = 0.05;

struct Posed {
  Shape a, b;
  Transform X_WA, X_WB;
};

inline bool is_plane(const Shape& s) { return !s.bounded() || is_surface(s.type); }

/// The contact that collide() makes of a point.
inline Contact contact_of(const Posed& p,
                          const Manifold& m,
                          const ManifoldPoint& point,
                          int points) {
  const double shift = (is_plane(p.b) ? 0.5 : 0.0) - (is_plane(p.a) ? 0.5 : 0.0);
  const Vec3d helper = std::abs(m.normal.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d t = cross(helper, m.normal) * (1.0 / norm(cross(helper, m.normal)));
  Contact c{};
  c.geometry_b = 1;
  c.feature = point.feature;
  c.pair_points = points;
  c.position = point.position + m.normal * (shift * point.gap);
  c.frame = {t, cross(m.normal, t), m.normal};
  c.gap = point.gap;
  c.witness = point.witness;
  return c;
}

inline std::vector<Contact> contacts_of(const Posed& p, ManifoldWorkspace& work) {
  contact_manifolds(p.a, p.X_WA, p.b, p.X_WB, kMargin, work);
  int points = 0;
  for (const Manifold& m : work.manifolds) points += m.count;
  std::vector<Contact> contacts;
  for (const Manifold& m : work.manifolds) {
    for (int i = 0; i < m.count; ++i) contacts.push_back(contact_of(p, m, m.points[i], points));
  }
  return contacts;
}

/// B moved by h times (u, w) about the point p.
inline Posed moved(Posed q, const Vec3d& p, const Vec3d& u, const Vec3d& w, double h) {
  const Mat3d R = small_rotation(w * h);
  q.X_WB = {R * q.X_WB.R, p + u * h + R * (q.X_WB.p - p)};
  return q;
}

struct Change {
  Vec3d normal, position;
  double gap;
};
inline Change difference(const Contact& x, const Contact& y, double s) {
  return {(x.frame.c2 - y.frame.c2) * s, (x.position - y.position) * s, (x.gap - y.gap) * s};
}
inline Change predicted(const ContactDerivatives& d, const Vec3d& u, const Vec3d& w) {
  return {d.normal_u * u + d.normal_w * w,
          d.position_u * u + d.position_w * w,
          dot(d.gap_u, u) + dot(d.gap_w, w)};
}
inline double size_of(const Change& c) {
  return std::max({norm(c.normal), norm(c.position), std::abs(c.gap)});
}
inline Change operator-(const Change& a, const Change& b) {
  return {a.normal - b.normal, a.position - b.position, a.gap - b.gap};
}

/// The point after a motion; null if it is not there.
inline const Contact* find(const std::vector<Contact>& found, const Contact& c) {
  const Contact* same = nullptr;
  for (const Contact& x : found) {
    if (x.feature == c.feature && x.witness.kind == c.witness.kind &&
        x.witness.normal_of == c.witness.normal_of && dot(x.frame.c2, c.frame.c2) > 0.99 &&
        norm(x.position - c.position) < 0.05)
      same = &x;
  }
  return same;
}

/// Central difference for one motion; false where the point is not the same one on both sides.
inline bool central(const Posed& p,
                    const Contact& c,
                    const Vec3d& u,
                    const Vec3d& w,
                    double h,
                    ManifoldWorkspace& work,
                    Change& change) {
  const std::vector<Contact> ahead = contacts_of(moved(p, c.position, u, w, h), work),
                             back = contacts_of(moved(p, c.position, u, w, -h), work);
  const Contact *x = find(ahead, c), *y = find(back, c);
  if (x == nullptr || y == nullptr) return false;
  change = difference(*x, *y, 0.5 / h);
  return true;
}
inline bool one_sided(const Posed& p,
                      const Contact& c,
                      const Vec3d& u,
                      const Vec3d& w,
                      double h,
                      ManifoldWorkspace& work,
                      Change& change) {
  const std::vector<Contact> ahead = contacts_of(moved(p, c.position, u, w, h), work);
  const Contact* x = find(ahead, c);
  if (x != nullptr) change = difference(*x, c, 1.0 / h);
  return x != nullptr;
}

/// Worst relative error of one-sided differences, at the best of four steps.
inline double one_sided_error(const Posed& p,
                              const Contact& c,
                              const ContactDerivatives& d,
                              ManifoldWorkspace& work) {
  double worst = 0.0;
  for (int k = 0; k < 12; ++k) {
    Vec3d u{0, 0, 0}, w{0, 0, 0};
    (k % 6 < 3 ? u : w)[k % 3] = k < 6 ? 1.0 : -1.0;
    const Change expected = predicted(d, u, w);
    double best = HUGE_VAL;
    for (const double h : {1e-5, 1e-6, 1e-7, 1e-8}) {
      Change change;
      if (!one_sided(p, c, u, w, h, work, change)) {
        best = 0.0;
        break;
      }
      const Change off = change - expected;
      best = std::min(best,
                      std::max({norm(off.normal) / (1.0 + norm(expected.normal)),
                                norm(off.position) / (1.0 + norm(expected.position)),
                                std::abs(off.gap) / (1.0 + std::abs(expected.gap))}));
    }
    worst = std::max(worst, best);
  }
  return worst;
}

inline constexpr std::array kNames{"vertex-face",
                                   "face-vertex",
                                   "round-face",
                                   "face-round",
                                   "edge-edge",
                                   "rim",
                                   "clipped",
                                   "smooth"};

/// What a point rests on, beyond its kind.
inline std::string branch_of(const Posed& p, const Contact& c) {
  std::string name = kNames[int(c.witness.kind)];
  if (c.witness.kind == WitnessKind::kClipped || c.witness.kind == WitnessKind::kRim) {
    name += c.witness.normal_of == NormalOf::kBoth ? " oblique" : "";
  } else if (c.witness.kind == WitnessKind::kSmooth) {
    const bool surface = is_surface(p.a.type) || is_surface(p.b.type);
    const bool ridge = !surface && c.pair_points > 1 && c.feature >= 1 && c.feature <= 4;
    name += surface ? " surface" : ridge ? " ridge" : "";
  }
  return name;
}

}  // namespace stiction::test
