#pragma once

#include "stiction/contact/contact_mode.hpp"
#include "stiction/math/spatial.hpp"
#include "stiction/model/robot.hpp"

#include <cstdint>

// The force of one compliant contact point from its gap, velocity and spring extension. All vectors
// in the contact frame [t1 t2 n], of B relative to A; forces act on B.
//
// "continuous": normal spring at rest at the surface, Euclidean cone, a force without jumps in the
// state. With delta = -phi the depth,
//   f_N = k delta + (d + k chi delta) delta',    closed <=> phi < 0 and f_N > 0,
//   c = k_t e - d_t x_T',    stick: |c| <= mu f_N, f_T = c;    slide: f_T = mu f_N c / |c|,
//   e' = (f_T - k_t e) / d_t   (stick: e' = -x_T'),    e = 0 while open,
// chi the dissipation of K. Hunt, F. Crossley, J. Appl. Mech. 42 (1975) 440, in the form of A. M.
// Castro et al., arXiv:2110.10107.
//
// Torsional and rolling friction, couples m about [t1 t2 n], share the cone's ellipsoid with f_T,
// in its units (cone.hpp) u_i = mu_i / mu [m]: with theta the angular extension, w the angular
// velocity,
//   g_i = u_i (k_t theta_i - d_t w_i),   stick: |(c, g)| <= mu f_N;   slide: both shortened to it,
//   m_i = u_i g_i,   theta' = -w + (m_i / u_i - g_i) / (u_i d_t),
// the law above of more rows. A ring of bristles of radius r under even pressure carries r mu f_N
// about its axis and is r^2 k_t stiff: u is its radius. One limit surface for sliding and spin: S.
// Goyal, A. Ruina, J. Papadopoulos, Wear 143 (1991) 307; an ellipsoid for it: R. Howe, M. Cutkosky,
// Int. J. Robotics Research 15 (1996) 557.
//
// "published": B. Hammoud et al., Multibody System Dynamics 54 (2022) 443, eqs (2) and (28), as its
// code does it. The spring is at rest where the point was first seen inside, in all directions:
//   f = k e - d x',  open if f_N <= 0 or phi > 0,  f_T clipped to mu f_N along itself, and the
// anchor then moved so that k e_T = f_T. No dissipation, no couples; ratios are honoured.

namespace stiction {

enum class CompliantLaw : std::uint8_t { kContinuous, kPublished };

/// Coefficients of one point: those of its pair, shared by the points of the pair or not.
struct PointCompliance {
  double stiffness = 0.0, damping = 0.0;                        ///< normal [N/m], [N s/m]
  double tangential_stiffness = 0.0, tangential_damping = 0.0;  ///< [N/m], [N s/m]
  double dissipation = 0.0;                                     ///< [s/m]
  double friction = 0.0;                                        ///< slope of the circular cone
  double sliding = 1.0;    ///< unit of f_T: 0 where couples alone have friction
  Vec3d turning{0, 0, 0};  ///< units u of couples about the axes of the contact frame [m]
  /// Not where couples alone have friction: f_T is then no part of the cone, and e stays 0.
  bool has_sliding_spring() const { return sliding > 0.0; }
  bool has_couples() const { return turning.x > 0.0 || turning.z > 0.0; }
  /// Without it a closed point has a normal force alone.
  bool has_tangential() const {
    return friction > 0.0 && (tangential_stiffness > 0.0 || tangential_damping > 0.0);
  }
};
/// `share` is 1 or 1 / (number of points of the pair).
PointCompliance point_compliance(const Material& pair, double share);

/// What the force depends on.
struct PointMotion {
  double gap = 0.0;          ///< [m], negative = penetration
  Vec3d velocity{0, 0, 0};   ///< [m/s]
  Vec3d extension{0, 0, 0};  ///< [m]; e_N is read by the published law only
  Vec3d spin{0, 0, 0};       ///< w [rad/s], where there are couples
  Vec3d turn{0, 0, 0};       ///< theta [rad]
};

struct PointForce {
  ContactMode mode = ContactMode::kOpen;
  Vec3d force{0, 0, 0};   ///< [N]
  Vec3d couple{0, 0, 0};  ///< [N m]
};
PointForce compliant_force(CompliantLaw law, const PointCompliance& c, const PointMotion& motion);

/// Of the force, at the mode it has. A displacement dx of B relative to A changes the gap by dx_N
/// and the extension by -dx; a turn dphi changes theta by -dphi.
struct PointForceDerivatives {
  Mat3d displacement;  ///< df/dx [N/m]
  Mat3d velocity;      ///< df/dx' [N s/m]
};
/// All of force and couple, where there are couples.
struct PointWrenchDerivatives {
  PointForceDerivatives force, force_by_turn;    ///< by (x, x'), by (phi, w)
  PointForceDerivatives couple, couple_by_turn;  ///< of the couple, likewise
};
PointForceDerivatives compliant_force_derivatives(CompliantLaw law,
                                                  const PointCompliance& c,
                                                  const PointMotion& motion,
                                                  const PointForce& at);

/// Of a point with couples, continuous law.
PointWrenchDerivatives compliant_wrench_derivatives(const PointCompliance& c,
                                                    const PointMotion& motion,
                                                    const PointForce& at);

/// The extension that goes with a force found at motion.extension: 0 if open; if it slides under
/// the published law, the anchor moves so that the spring carries f_T; else as it is.
Vec3d settled_extension(CompliantLaw law,
                        const PointCompliance& c,
                        const PointMotion& motion,
                        const PointForce& at);

/// Rate of the anchor of a point that slides under the continuous law, (f_T - c) / d_t, zero
/// otherwise: e' = this - x_T'. Where d_t = 0 the anchor follows at once: zero, and
/// settled_extension() brings e to f_T / k_t.
Vec3d anchor_rate(CompliantLaw law,
                  const PointCompliance& c,
                  const PointMotion& motion,
                  const PointForce& at);

/// The same of theta, of points with couples.
Vec3d settled_turn(const PointCompliance& c, const PointMotion& motion, const PointForce& at);
Vec3d turn_rate(const PointCompliance& c, const PointMotion& motion, const PointForce& at);
Vec3d relaxed_turn(const PointCompliance& c, const Vec3d& turn, const Vec3d& couple, double h);
/// x about the axes that have friction; 0 about the others.
Vec3d resisted(const PointCompliance& c, const Vec3d& x);

/// e after h seconds of sliding from e under a constant force f_T, backward Euler on
/// e' = (f_T - k_t e) / d_t: stable for any h, and f_T / k_t where d_t = 0.
Vec3d relaxed_extension(const PointCompliance& c, const Vec3d& e, const Vec3d& force, double h);

}  // namespace stiction
