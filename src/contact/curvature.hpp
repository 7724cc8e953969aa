#pragma once

#include "stiction/math/constants.hpp"

#include "dynamics/free_root.hpp"

// How the velocity of a contact changes while its bodies go on as they move. v+ is the velocity of
// a whole step, J that of its start. In the middle of the step the velocity of the contact is
//
//   J(q) v+ + dt/2 kappa,   kappa = d/dt (J(q, p) v) without joint accelerations,
//
// with p the point of contact, which moves on both bodies. Rows ask for this velocity: what sticks
// is then where it was to O(dt^3), and bodies that roll keep their energy. With J v+ alone a coin
// on a turntable drifts by w^2 r dt / 2.
//
// Relative to A's material p moves by f: with s = v_B - v_A,
//
//   kappa = a_B - a_A + w_B x (f - s) - w_A x f + n (dn/dt . s).
//
// Where two bodies touch at several points kappa along the surface is that of the change of their
// relative twist, a - w x v of each, and of what their turning rolls. It is one rigid motion for
// all of these points: several that stick never contradict each other. What is left out is the part
// of sliding, none where points stick; directions of sliding are right to first order. Where one
// point alone carried, its sliding counts, for all points on which the bodies come down.

namespace stiction {
inline namespace STICTION_ISA {

/// Motion of a body's material at a point, world axes.
template <class Real>
struct MaterialMotion {
  Vec3<Real> velocity, turning;  ///< [m/s], [rad/s]
  Vec3<Real> acceleration;       ///< without joint accelerations [m/s^2]

  static MaterialMotion at_rest() {
    const Vec3<Real> zero{Real(0.0), Real(0.0), Real(0.0)};
    return {zero, zero, zero};
  }
};

/// The motion of body b of a tree at the world point p; data at the velocities of the start.
template <class Real>
inline MaterialMotion<Real> material_motion(const TreeView& tree,
                                            const TreeParameters<Real>& parameters,
                                            const TreeData<Real>& data,
                                            int b,
                                            const Vec3<Real>& p) {
  const Motion<Real>&V = data.V[b], &A = data.A[b];
  const Mat3<Real>& R = data.X_WR.R;
  const Vec3<Real> arm = transpose_times(R, p - data.X_WR.p);
  const Vec3<Real> v = V.linear + cross(V.angular, arm);
  Vec3<Real> a = A.linear + cross(A.angular, arm) + cross(V.angular, v);
  if (is_loose_body(tree))  // its centre of mass moves straight on, not its origin
    a = a - cross(V.angular, cross(V.angular, parameters.com[0]));
  return {R * v, R * V.angular, R * a + parameters.gravity};
}

/// How the point and the normal of a contact move.
template <class Real>
struct FeatureMotion {
  Vec3<Real> point;   ///< relative to A's material: f
  Vec3<Real> rolls;   ///< the part of it that the relative turning makes
  Vec3<Real> normal;  ///< dn/dt
};

/// The motion of a vertex, or of the point of a ball, at a flat face of the other body.
template <class Real>
inline FeatureMotion<Real> motion_on_face(const MaterialMotion<Real>& a,
                                          const MaterialMotion<Real>& b,
                                          const Vec3<Real>& n,
                                          const Real& radius,
                                          const Mask<Real>& face_of_a) {
  const Vec3<Real> rolls = cross(b.turning - a.turning, n * radius),
                   slides = b.velocity - a.velocity + rolls;
  FeatureMotion<Real> out;
  out.rolls = rolls;
  Vec3<Real> turning;
  for (int k = 0; k < 3; ++k) {
    out.point[k] = select(face_of_a, slides[k], rolls[k]);
    turning[k] = select(face_of_a, a.turning[k], b.turning[k]);
  }
  out.normal = cross(turning, n);
  return out;
}

/// The motion of any point by that of B relative to A, as in ContactDerivatives.
template <class Real>
struct FeatureMaps {
  Mat3<Real> position_u, position_w, normal_u, normal_w;
  Real bend_a, bend_b;  ///< 1 / bounding radius of each shape, 0: unbounded [1/m]
};
template <class Real>
inline FeatureMotion<Real> motion_by_maps(const MaterialMotion<Real>& a,
                                          const MaterialMotion<Real>& b,
                                          const Vec3<Real>& n,
                                          const FeatureMaps<Real>& maps) {
  const Vec3<Real> s = b.velocity - a.velocity, w = b.turning - a.turning;
  const Vec3<Real> rolls = maps.position_w * w;
  return {maps.position_u * s + rolls,
          rolls,
          cross(a.turning, n) + (maps.normal_u * s + maps.normal_w * w)};
}

/// A change of velocity within half a step [m/s].
template <class Real>
struct HalfStep {
  Vec3<Real> rolls;   ///< dt/2 kappa along t1, t2, n, along the surface without sliding
  Vec3<Real> slides;  ///< what sliding adds along the surface, world axes
};
template <class Real>
inline HalfStep<Real> half_step(const MaterialMotion<Real>& a,
                                const MaterialMotion<Real>& b,
                                const FeatureMotion<Real>& f,
                                const Mat3<Real>& frame,
                                const Real& share) {
  const Vec3<Real>& n = frame.c2;
  const Vec3<Real> s = b.velocity - a.velocity, free = b.acceleration - a.acceleration;
  const Vec3<Real> rigid = free - cross(b.turning, b.velocity) + cross(a.turning, a.velocity),
                   rolls = rigid + cross(b.turning - a.turning, f.rolls),
                   whole = free + cross(b.turning, f.point - s) - cross(a.turning, f.point),
                   added = whole - rolls;
  const Real normal = dot(n, added);
  const Vec3<Real> k = rolls + n * (normal + dot(f.normal, s));
  return {transpose_times(frame, k) * share, (added - n * normal) * share};
}
/// dt/2 kappa along t1, t2, n with HalfStep::slides.
template <class Real>
inline Vec3<Real> with_sliding(const Vec3<Real>& rolls,
                               const Vec3<Real>& slides,
                               const Mat3<Real>& frame) {
  return {rolls.x + dot(frame.c0, slides), rolls.y + dot(frame.c1, slides), rolls.z};
}

/// [m/s] Changes of a contact's velocity within half a step that are rounding: those of bodies at
/// rest, whose contacts then cost nothing.
inline constexpr double kNoCurvature = 1e-14;
/// [m] May_curve()'s arm of contacts on no face.
inline constexpr double kAnyArm = 1.0;
/// Whether a contact's velocity may change by more; `arm` [m]: the largest distance at which its
/// point can move around.
template <class Real>
inline Mask<Real> may_curve(const MaterialMotion<Real>& a,
                            const MaterialMotion<Real>& b,
                            const Real& arm,
                            const Real& dt) {
  const auto size = [](const Vec3<Real>& x) { return abs(x.x) + abs(x.y) + abs(x.z); };
  const Real turning = size(a.turning) + size(b.turning);
  const Real most = size(b.acceleration - a.acceleration) +
                    turning * (size(b.velocity - a.velocity) + turning * arm);
  return Real(0.5) * dt * most > Real(kNoCurvature);
}

/// [rad in a step] Where a contact turns by more, kappa fades by the square: at the start of a step
/// it is no forecast of its end.
inline constexpr double kFadingTurn = 0.1;
/// dt/2 times the share of kappa that counts; `fastest`: square of the rate [rad/s].
template <class Real>
inline Real half_step_share(const Real& fastest, const Real& dt) {
  const Real turn = dt * dt * fastest, fades(kFadingTurn * kFadingTurn);
  return Real(0.5) * dt * select(turn > fades, fades / turn, Real(1.0));
}
template <class Real>
inline Real fastest_turn(const MaterialMotion<Real>& a, const MaterialMotion<Real>& b) {
  return max(squared_norm(a.turning), squared_norm(b.turning));
}

/// Of a vertex or ball at a flat face.
template <class Real>
inline HalfStep<Real> half_step_on_face(const MaterialMotion<Real>& a,
                                        const MaterialMotion<Real>& b,
                                        const Mat3<Real>& frame,
                                        const Real& radius,
                                        const Mask<Real>& face_of_a,
                                        const Real& dt) {
  return half_step(a,
                   b,
                   motion_on_face(a, b, frame.c2, radius, face_of_a),
                   frame,
                   half_step_share(fastest_turn(a, b), dt));
}

/// Of any contact, whose point may also run around either shape fast.
template <class Real>
inline HalfStep<Real> half_step_by_maps(const MaterialMotion<Real>& a,
                                        const MaterialMotion<Real>& b,
                                        const Mat3<Real>& frame,
                                        const FeatureMaps<Real>& maps,
                                        const Real& dt) {
  const FeatureMotion<Real> f = motion_by_maps(a, b, frame.c2, maps);
  const Vec3<Real> around_b = f.point - (b.velocity - a.velocity);
  const Real along_a = squared_norm(f.point) * (maps.bend_a * maps.bend_a),
             along_b = squared_norm(around_b) * (maps.bend_b * maps.bend_b);
  const Real fastest = max(fastest_turn(a, b), max(along_a, along_b));
  return half_step(a, b, f, frame, half_step_share(fastest, dt));
}

}  // namespace STICTION_ISA
}  // namespace stiction
