#pragma once

#include "stiction/contact/contact_mode.hpp"
#include "stiction/contact/contact_problem.hpp"

#include <algorithm>
#include <cmath>

// The contact law of a regularised convex problem, set by set: an impulse that is a function of the
// velocity, lambda(c) = argmin over K of 1/2 l^T R l + c^T l = P_R(-R^-1 c), and H = -dlambda/dc,
// symmetric and positive semidefinite, as H = L L^T with as many columns as directions yield.
//
// A cone has one R_T for its tangential rows. In l~ = R^1/2 l it is the circular cone of
// mu~ = mu sqrt(R_T / R_N), and P_R the Euclidean projection of y~ = -R^-1/2 c, whose derivative
// (circular::Projection) is 1, 0 or e e^T + kappa sum u_k u_k^T, u_k the unit vectors of the
// tangents normal to y~_T and to each other, so that L = R^-1/2 (1, or nothing, or
// [e, sqrt(kappa) u_k]).

namespace stiction {

/// y~ of a contact and where its projection lies.
template <int D>
struct ScaledContact {
  double root[2];  ///< R^-1/2, tangential and normal
  double y[D];
  circular::Projection<D> at;

  ScaledContact(double friction, const double* R, const double* c)
      : root{1.0 / std::sqrt(R[0]), 1.0 / std::sqrt(R[D - 1])},
        at(friction * root[1] / root[0], scaled(c)) {}
  double factor(int r) const { return root[r == D - 1]; }

 private:
  const double* scaled(const double* c) {
    for (int r = 0; r < D; ++r) y[r] = -factor(r) * c[r];
    return y;
  }
};

template <int D>
void regularised_contact(double friction, const double* R, const double* c, double* lambda) {
  const ScaledContact<D> s(friction, R, c);
  const bool slides = s.at.mode == ContactMode::kSlide, open = s.at.mode == ContactMode::kOpen;
  const double k = slides && s.at.t > 0.0 ? s.at.mu * s.at.n / s.at.t : 1.0;
  for (int r = 0; r < D - 1; ++r) lambda[r] = open ? 0.0 : s.root[0] * k * s.y[r];
  lambda[D - 1] = open ? 0.0 : s.root[1] * (slides ? s.at.n : s.y[D - 1]);
}

/// The columns of L where it slides.
template <int D>
int sliding_columns(const ScaledContact<D>& s, double* columns) {
  const double mu = s.at.mu, length = std::sqrt(1.0 + mu * mu);
  double d[D - 1], across[(D - 1) * (D - 2)];
  s.at.direction(s.y, d);
  for (int r = 0; r < D - 1; ++r) columns[r] = s.root[0] * mu * d[r] / length;
  columns[D - 1] = s.root[1] / length;
  if (mu == 0.0) return 1;
  const double root_kappa = std::sqrt(mu * s.at.n / s.at.t);
  circular::normals<D>(d, across);
  for (int k = 1; k < D - 1; ++k) {
    columns += D;
    for (int r = 0; r < D - 1; ++r)
      columns[r] = s.root[0] * root_kappa * across[(k - 1) * (D - 1) + r];
    columns[D - 1] = 0.0;
  }
  return D - 1;
}

/// lambda(c).
inline void regularised_impulse(const ConstraintSet& set,
                                const double* R,
                                const double* c,
                                double* lambda) {
  if (!set.is_cone()) {
    for (int r = 0; r < set.dim; ++r) lambda[r] = -c[r] / R[r];
    if (set.kind == SetKind::kNonNegative) lambda[0] = std::max(0.0, lambda[0]);
    if (set.kind == SetKind::kBox) lambda[0] = std::clamp(lambda[0], set.lower, set.upper);
    return;
  }
  with_dim(set.dim, [&](auto D) { regularised_contact<D>(set.friction.slope(), R, c, lambda); });
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
  return with_dim(set.dim, [&](auto D) {
    const ScaledContact<D> s(set.friction.slope(), R, c);
    if (s.at.mode == ContactMode::kOpen) return 0;
    return s.at.mode == ContactMode::kStick ? diagonal() : sliding_columns<D>(s, columns);
  });
}

}  // namespace stiction
