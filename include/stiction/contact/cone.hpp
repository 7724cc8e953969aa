#pragma once

#include "stiction/contact/contact_mode.hpp"
#include "stiction/math/lanes.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

// The friction cone of a contact and everything that is done with it. Rows [t1 t2 tau rho1 rho2 n],
// the normal last: 1 (frictionless), 3, 4 (torsional friction) or 6 (torsional and rolling). With
// D = diag(mu),
//   K = {||D^-1 lambda_T|| <= lambda_N},   K* = {y_N >= ||D y_T||},   Gamma(c) = ||D c_T|| e_N.
// mu of the angular rows is a length [m]: impulses [N m s] divided by mu_i / f and velocities
// [rad/s] multiplied by it are in N s and m/s, and K is the circular cone ||lambda_T|| <= f
// lambda_N. f is mu_1; where that is zero mu_2, else what is left over kContactLength. All
// distances are Euclidean in these units. Solvers see circular cones only (circular_form.hpp). An
// impulse whose mu is zero is zero.

namespace stiction {

inline constexpr int kMaxConeDim = 6;
/// [m] Makes a moment a force where friction gives no length.
inline constexpr double kContactLength = 0.01;

struct Cone {
  int dim = 3;                      ///< rows: 1, 3, 4 or 6
  double mu[kMaxConeDim - 1] = {};  ///< >= 0, of the rows before the normal; angular ones [m]

  static Cone coulomb(double mu) { return {3, {mu, mu}}; }
  static Cone torsional(double mu, double torsion) { return {4, {mu, mu, torsion}}; }
  static Cone rolling(double mu, double torsion, double roll) {
    return {6, {mu, mu, torsion, roll, roll}};
  }
  static bool has_dim(int dim) { return dim == 1 || dim == 3 || dim == 4 || dim == 6; }
  static bool is_angular(int row) { return row >= 2; }

  int normal() const { return dim - 1; }
  /// All units are 1, and the rows that have no friction are not mixed with others.
  bool is_circular() const {
    if (dim <= 3) return dim == 1 || mu[0] == mu[1];
    return mu[0] > 0.0 && std::all_of(mu + 1, mu + dim - 1, [&](double x) { return x == mu[0]; });
  }
  /// Of a circular cone.
  double slope() const { return mu[0]; }
  /// f: the slope of the circular cone.
  double friction() const {
    if (is_circular()) return dim == 1 ? 0.0 : mu[0];
    double angular = 0.0;
    for (int r = 2; r < dim - 1; ++r) angular = std::max(angular, mu[r]);
    return mu[0] > 0.0 ? mu[0] : mu[1] > 0.0 ? mu[1] : angular / kContactLength;
  }
  /// A velocity times this is in m/s; 0 where it does not matter to the cone.
  double velocity_unit(int row) const {
    if (is_circular() || row == normal()) return 1.0;
    const double f = friction();
    return f > 0.0 ? mu[row] / f : is_angular(row) ? 0.0 : 1.0;
  }
  /// An impulse divided by this is in N s.
  double impulse_unit(int row) const {
    const double unit = velocity_unit(row);
    return unit > 0.0 ? unit : is_angular(row) ? kContactLength : 1.0;
  }
};

/// visit(std::integral_constant<int, dim>) of a cone with friction: loops whose length is known.
template <class Visit>
inline __attribute__((always_inline)) decltype(auto) with_dim(int dim, Visit&& visit) {
  switch (dim) {
    case 4:
      return visit(std::integral_constant<int, 4>{});
    case 6:
      return visit(std::integral_constant<int, 6>{});
    default:
      return visit(std::integral_constant<int, 3>{});
  }
}

/// Circular cones of slope mu: of D rows in one unit.
namespace circular {

template <int D>
inline double squared_tangent(const double* x) {
  double sum = D > 1 ? x[0] * x[0] : 0.0;
  for (int r = 1; r < D - 1; ++r) sum += x[r] * x[r];
  return sum;
}
/// ||x_T||
template <int D>
inline double tangent(const double* x) {
  return std::sqrt(squared_tangent<D>(x));
}

/// Distance from K of a point at (t, n), t >= 0 its tangential norm.
inline double distance(double mu, double t, double n) {
  if (n < 0.0 && mu * t <= -n) return length(t, n);  // nearest point is the apex
  if (t <= mu * n) return 0.0;
  return (t - mu * n) / std::sqrt(1.0 + mu * mu);
}
/// Distance from K*, for mu = 0 the half-space n >= 0.
inline double dual_distance(double mu, double t, double n) {
  if (n >= mu * t) return 0.0;
  if (t <= -mu * n) return length(t, n);
  return (mu * t - n) / std::sqrt(1.0 + mu * mu);
}

/// Nearest point of K.
template <int D>
inline void project(double mu, double* l) {
  const double t = tangent<D>(l);
  double& normal = l[D - 1];
  if (normal >= 0.0 && t <= mu * normal) return;  // 0 <= 0 * -1 is true
  const double n = (normal + mu * t) / (1.0 + mu * mu);
  if (!(n > 0.0)) {
    std::fill(l, l + D, 0.0);
    return;
  }
  const double k = t > 0.0 ? mu * n / t : 0.0;
  for (int r = 0; r < D - 1; ++r) l[r] *= k;
  normal = n;
}

/// Keeps l_N >= 0 and shortens l_T to the disk mu l_N; no normal impulse: zero.
template <int D>
inline void project_disk(double mu, double* l) {
  if (!(l[D - 1] > 0.0)) {
    std::fill(l, l + D, 0.0);
    return;
  }
  const double t = tangent<D>(l), radius = mu * l[D - 1];
  if (t <= radius) return;
  for (int r = 0; r < D - 1; ++r) l[r] *= radius / t;
}

/// k (1 - d d^T) of a unit vector d of n entries, entry (r, c). In the plane d turned by a quarter
/// times itself: no difference of numbers that are nearly equal.
template <int D>
inline double across(double k, const double* d, int r, int c) {
  if constexpr (D == 3) {
    return r == c ? k * d[1 - r] * d[1 - r] : -k * d[0] * d[1];
  } else {
    return k * ((r == c ? 1.0 : 0.0) - d[r] * d[c]);
  }
}

/// Unit vectors normal to d and to each other, one after the other: in the plane d turned by a
/// quarter, else those of the reflection that takes d to the first axis.
template <int D>
inline void normals(const double* d, double* out) {
  constexpr int n = D - 1;
  if constexpr (n == 2) {
    out[0] = -d[1];
    out[1] = d[0];
  } else {
    const double sign = d[0] >= 0.0 ? 1.0 : -1.0, k = 1.0 / (1.0 + std::abs(d[0]));
    for (int j = 1; j < n; ++j, out += n) {
      out[0] = -sign * d[j];
      for (int r = 1; r < n; ++r) out[r] = (r == j ? 1.0 : 0.0) - k * d[r] * d[j];
    }
  }
}

/// Alart and Curnier's natural map F in canonical units, where mu = 1, at p = l - rho c:
///   open   p_N <= 0:       F = l
///   stuck  ||p_T|| <= p_N: F = l - p = rho c
///   slides otherwise:      F = (l_T - p_N d, l_N - p_N), d = p_T / ||p_T||.
/// Its zeros are the solutions of one contact. Where it slides, d(p_N d) = Q dp_T + d dp_N with
/// Q = (p_N / ||p_T||) (1 - d d^T).
template <int D>
struct NaturalMap {
  ContactMode mode = ContactMode::kOpen;
  const double* p;
  double t = 0.0;  ///< ||p_T||, unless it is open

  explicit NaturalMap(const double* at) : p(at) {
    if (p[D - 1] <= 0.0) return;
    t = tangent<D>(p);
    mode = t <= p[D - 1] ? ContactMode::kStick : ContactMode::kSlide;
  }
  /// p_N d
  double held(int r) const { return p[D - 1] * p[r] / t; }
  void direction(double* d) const {
    for (int r = 0; r < D - 1; ++r) d[r] = p[r] / t;
  }
  double ratio() const { return p[D - 1] / t; }
};

/// The nearest point of K to y, with its derivative:
///   1                   inside: it sticks,
///   0                   in the polar cone: it is open,
///   e e^T + kappa (1 - d d^T)_T  otherwise: it slides; d = y_T / ||y_T||, e = (mu d, 1) / sqrt(1 +
///                       mu^2) the ray that carries it, kappa = mu n / ||y_T||.
template <int D>
struct Projection {
  ContactMode mode;
  double mu, t, n;  ///< ||y_T||; normal part of the projection where it slides

  Projection(double slope, const double* y) : mu(slope), t(tangent<D>(y)) {
    n = (y[D - 1] + mu * t) / (1.0 + mu * mu);
    mode = !(n > 0.0)                       ? ContactMode::kOpen
           : mu > 0.0 && t <= mu * y[D - 1] ? ContactMode::kStick
                                            : ContactMode::kSlide;
  }
  double kappa() const { return t > 0.0 ? mu * n / t : 0.0; }
  void direction(const double* y, double* d) const {
    for (int r = 0; r < D - 1; ++r) d[r] = t > 0.0 ? y[r] / t : 0.0;
  }
  /// Entry of the derivative where it slides.
  double derivative(const double* d, int r, int c) const {
    const double scale = 1.0 / (1.0 + mu * mu), e_r = r < D - 1 ? mu * d[r] : 1.0,
                 e_c = c < D - 1 ? mu * d[c] : 1.0;
    const double around = r < D - 1 && c < D - 1 ? across<D>(kappa(), d, r, c) : 0.0;
    return scale * e_r * e_c + around;
  }
};

/// d of the canonical scaling lambda = D l, D = d diag(1, ..., 1, 1 / mu), under which K is the
/// cone of slope 1 and the diagonal of D G D is 1 in the mean; at least as if the trace were
/// `least`.
inline double canonical_scale(
    int dim, double mu, double tangential_trace, double normal, double least) {
  const double trace = tangential_trace + normal / (mu * mu);
  return std::sqrt(dim / std::max(trace, least));
}

}  // namespace circular

/// Rows in N s and m/s.
struct ConeRows {
  double l[kMaxConeDim], c[kMaxConeDim];

  ConeRows(const Cone& cone, const double* impulse, const double* velocity) {
    for (int r = 0; r < cone.dim; ++r) {
      l[r] = impulse[r] / cone.impulse_unit(r);
      c[r] = velocity[r] * cone.velocity_unit(r);
    }
  }
};

namespace detail {

/// Calls project(circular cone's slope, l) in one unit; an impulse without friction becomes zero.
template <class Project>
inline void project_in_one_unit(const Cone& cone, double* l, Project&& project) {
  double unit[kMaxConeDim] = {};
  for (int r = 0; r < cone.dim; ++r) {
    const bool held = r < cone.normal() && cone.mu[r] == 0.0;
    unit[r] = held ? 0.0 : cone.velocity_unit(r);
    l[r] = held ? 0.0 : l[r] / unit[r];
  }
  project(cone.friction(), l);
  for (int r = 0; r < cone.dim; ++r) l[r] *= unit[r];
}

}  // namespace detail

/// Nearest point of K.
inline void project(const Cone& cone, double* l) {
  if (cone.dim == 1) return circular::project<1>(0.0, l);
  with_dim(cone.dim, [&](auto D) {
    if (cone.is_circular()) return circular::project<D>(cone.friction(), l);
    detail::project_in_one_unit(cone, l, circular::project<D>);
  });
}
/// Keeps l_N >= 0 and shortens the impulses of friction; no normal impulse: zero.
inline void project_disk(const Cone& cone, double* l) {
  if (cone.dim == 1) return circular::project_disk<1>(0.0, l);
  with_dim(cone.dim, [&](auto D) {
    if (cone.is_circular()) return circular::project_disk<D>(cone.friction(), l);
    detail::project_in_one_unit(cone, l, circular::project_disk<D>);
  });
}

/// ||lambda_T|| in N s.
inline double tangent(const Cone& cone, const double* l) {
  if (cone.dim == 1) return 0.0;
  return with_dim(cone.dim, [&](auto D) {
    if (cone.is_circular()) return circular::tangent<D>(l);
    return circular::tangent<D>(ConeRows(cone, l, l).l);
  });
}
/// ||c_T|| in m/s.
inline double slip(const Cone& cone, const double* c) {
  if (cone.dim == 1) return 0.0;
  return with_dim(cone.dim, [&](auto D) {
    if (cone.is_circular()) return circular::tangent<D>(c);
    return circular::tangent<D>(ConeRows(cone, c, c).c);
  });
}
/// De Saxce's term ||D c_T|| [m/s].
inline double shift(const Cone& cone, const double* c) { return cone.friction() * slip(cone, c); }

/// dist(l, K) [N s]
inline double distance(const Cone& cone, const double* l) {
  if (cone.is_circular())
    return circular::distance(cone.friction(), tangent(cone, l), l[cone.normal()]);
  double held = 0.0, rest[kMaxConeDim] = {};  // what has no friction is off by itself
  for (int r = 0; r < cone.dim; ++r) {
    const bool free = r == cone.normal() || cone.mu[r] > 0.0;
    rest[r] = free ? l[r] : 0.0;
    if (!free) held += (l[r] / cone.impulse_unit(r)) * (l[r] / cone.impulse_unit(r));
  }
  const double moved =
      circular::distance(cone.friction(), tangent(cone, rest), rest[cone.normal()]);
  return std::sqrt(held + moved * moved);
}
/// dist(y, K*) [m/s]
inline double dual_distance(const Cone& cone, const double* y) {
  return circular::dual_distance(cone.friction(), slip(cone, y), y[cone.normal()]);
}

/// Whether a loaded contact's impulse lies on its cone, but for a share `inside`: it may slide.
inline bool on_cone(const Cone& cone, const double* l, double inside = 1e-9) {
  const double n = l[cone.normal()];
  return n > 0.0 && tangent(cone, l) >= cone.friction() * n * (1.0 - inside);
}

/// What a contact does at impulse l and velocity c, and what it would do as the other half of a
/// switch: on the cone at rest, unloaded and not leaving. Equal where it is at none.
struct ContactModes {
  ContactMode holding;  ///< moves less
  ContactMode giving;   ///< moves more
  bool at_switch() const { return holding != giving; }
};
/// Below `impulse` [N s] and `velocity` [m/s] a number is zero.
inline ContactModes modes(
    const Cone& cone, const double* l, const double* c, double impulse, double velocity) {
  const double n = l[cone.normal()], mu = cone.friction();
  // Without friction the tangent is no unknown: "slide" at any speed.
  const bool slides = mu == 0.0 || slip(cone, c) > velocity;
  const ContactMode touching = slides ? ContactMode::kSlide : ContactMode::kStick;
  if (n <= impulse)  // unloaded: open, or grazing, perhaps in motion
    return {c[cone.normal()] > velocity ? ContactMode::kOpen : touching, ContactMode::kOpen};
  if (slides) return {touching, touching};
  const bool inside = mu * n - tangent(cone, l) > impulse;
  return {ContactMode::kStick, inside ? ContactMode::kStick : ContactMode::kSlide};
}

}  // namespace stiction
