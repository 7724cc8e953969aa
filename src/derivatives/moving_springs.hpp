#pragma once

#include "stiction/derivatives/gradient_report.hpp"

#include "derivatives/linearisation.hpp"
#include "derivatives/moving_contact.hpp"

// Springs that the rigid step keeps with ContactSettings::tangential_compliance. Of a point with
// the normal n, impulse lambda and extension e in the axes R of the body that carries its anchor,
//   c* = s = share R e,   e+ = R^T P (relaxation s + slip lambda),   P = 1 - n n^T,
// see next_extension() in contact/build_problem.hpp.

namespace stiction {

struct MovingSpring {
  int set = -1;         ///< of the problem; -1: no contact of the step has it
  bool asleep = false;  ///< kept as it is
  Mat3d R = Mat3d::identity();
  double share = 0.0;                   ///< [1/s] 0: none at the start
  double relaxation = 0.0, slip = 0.0;  ///< d/k [s], 1/(k dt + d) [m / (N s)] slip 0: forgotten
};

struct MovingSprings {
  std::vector<SpringName> names;  ///< sorted
  std::vector<MovingSpring> springs;
  MovingRows rows;  ///< scratch
};

/// Springs that had or have an extension; none without tangential_compliance.
void find_springs(const DerivativeInput& in, MovingSprings& out);

/// That of a contact, or null.
const MovingSpring* find_spring(const MovingSprings& springs, const Contact& contact);

/// Change of e+ at a fixed impulse by turns of the contact's frame and of the body of the anchor.
Vec3d extension_by_turns(const MovingSpring& s,
                         const MovingContact& p,
                         const Vec3d& frame_turn,
                         const Vec3d& anchor_turn);

/// What extensions e [3 springs] change of c [rows] at fixed v+.
void spring_velocities(const DerivativeInput& in,
                       const MovingSprings& springs,
                       const double* e,
                       std::vector<double>& velocity);

/// e+ [3 springs] along q [nv], e and the impulses that they change [rows].
void extension_tangent(const DerivativeInput& in,
                       const Linearisation& linear,
                       MovingSprings& springs,
                       const double* q,
                       const double* e,
                       const double* impulse,
                       double* out);

/// Cotangents of all impulses [rows] by those of e+ [3 springs].
void spring_impulses(const DerivativeInput& in,
                     const MovingSprings& springs,
                     const double* w,
                     std::vector<double>& impulse);

/// Adds what e+ changes with q [nv] at fixed impulses, and by_e [3 springs]: what e changes of e+
/// and, by the cotangents of IslandCotangents::velocity [rows of the problem], of the step.
void add_spring_gradients(const DerivativeInput& in,
                          const Linearisation& linear,
                          MovingSprings& springs,
                          const double* w,
                          const std::vector<double>& velocity,
                          double* q,
                          double* by_e);

}  // namespace stiction
