#pragma once

#include "stiction/contact/contact_mode.hpp"
#include "stiction/contact/contact_problem.hpp"

#include <algorithm>
#include <cmath>

// The contact law of a regularised convex problem, set by set: an impulse that is a function of the
// velocity, lambda(c) = argmin over K of 1/2 l^T R l + c^T l = P_R(-R^-1 c), and H = -dlambda/dc,
// symmetric and positive semidefinite, as H = L L^T with as many columns as directions yield.
//
// A cone has one R_T for both tangential rows. In l~ = R^1/2 l it is the circular cone of
// mu~ = mu sqrt(R_T / R_N), and P_R the Euclidean projection of y~ = -R^-1/2 c. The derivative of
// that projection is
//   I                     in the cone: it sticks,
//   0                     in the polar cone: it is open,
//   e e^T + kappa u u^T   otherwise: it slides; e = (mu~ d, 1) / sqrt(1 + mu~^2) the ray that
//                         carries the projection, d = y~_T / |y~_T|, u normal to d in the plane,
//                         kappa = mu~ n / |y~_T|, n the normal part of the projection,
// so that L = R^-1/2 (I, or nothing, or [e, sqrt(kappa) u]).

namespace stiction {

/// y~ of a contact and where its projection lies.
struct ScaledContact {
  ContactMode mode;
  double root[3];  ///< R^-1/2
  double y[3], t, mu, n;

  ScaledContact(double friction, const double* R, const double* c) {
    root[0] = root[1] = 1.0 / std::sqrt(R[0]);
    root[2] = 1.0 / std::sqrt(R[2]);
    mu = friction * root[2] / root[0];
    for (int r = 0; r < 3; ++r) y[r] = -root[r] * c[r];
    t = std::sqrt(y[0] * y[0] + y[1] * y[1]);
    n = (y[2] + mu * t) / (1.0 + mu * mu);
    mode = !(n > 0.0)                   ? ContactMode::kOpen
           : mu > 0.0 && t <= mu * y[2] ? ContactMode::kStick
                                        : ContactMode::kSlide;
  }
};

/// lambda(c).
inline void regularised_impulse(const ConstraintSet& set,
                                const double* R,
                                const double* c,
                                double* lambda) {
  if (set.kind != SetKind::kCone) {
    for (int r = 0; r < set.dim; ++r) lambda[r] = -c[r] / R[r];
    if (set.kind == SetKind::kNonNegative) lambda[0] = std::max(0.0, lambda[0]);
    if (set.kind == SetKind::kBox) lambda[0] = std::clamp(lambda[0], set.lower, set.upper);
    return;
  }
  const ScaledContact s(set.mu, R, c);
  const bool slides = s.mode == ContactMode::kSlide, open = s.mode == ContactMode::kOpen;
  const double k = slides && s.t > 0.0 ? s.mu * s.n / s.t : 1.0;
  for (int r = 0; r < 2; ++r) lambda[r] = open ? 0.0 : s.root[r] * k * s.y[r];
  lambda[2] = open ? 0.0 : s.root[2] * (slides ? s.n : s.y[2]);
}

/// The columns of L at c, one after the other, `set.dim` entries each; returns how many.
inline int regularised_stiffness(const ConstraintSet& set,
                                 const double* R,
                                 const double* c,
                                 double* columns) {
  const auto diagonal = [&] {
    std::fill(columns, columns + set.dim * set.dim, 0.0);
    for (int r = 0; r < set.dim; ++r) columns[(set.dim + 1) * r] = 1.0 / std::sqrt(R[r]);
    return set.dim;
  };
  switch (set.kind) {
    case SetKind::kFree:
      return diagonal();
    case SetKind::kNonNegative:
      return c[0] < 0.0 ? diagonal() : 0;
    case SetKind::kBox:
      return -c[0] > R[0] * set.lower && -c[0] < R[0] * set.upper ? diagonal() : 0;
    case SetKind::kCone:
      break;
  }
  const ScaledContact s(set.mu, R, c);
  if (s.mode == ContactMode::kOpen) return 0;
  if (s.mode == ContactMode::kStick) return diagonal();
  const double length = std::sqrt(1.0 + s.mu * s.mu);
  const double d[2] = {s.t > 0.0 ? s.y[0] / s.t : 0.0, s.t > 0.0 ? s.y[1] / s.t : 0.0};
  for (int r = 0; r < 2; ++r) columns[r] = s.root[r] * s.mu * d[r] / length;
  columns[2] = s.root[2] / length;
  if (s.mu == 0.0) return 1;
  const double root_kappa = std::sqrt(s.mu * s.n / s.t);
  columns[3] = -s.root[0] * root_kappa * d[1];
  columns[4] = s.root[1] * root_kappa * d[0];
  columns[5] = 0.0;
  return 2;
}

}  // namespace stiction
