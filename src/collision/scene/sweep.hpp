#pragma once

#include "stiction/collision/manifold.hpp"
#include "stiction/math/constants.hpp"

#include "collision/manifold/manifold_workspace.hpp"

#include <algorithm>
#include <cmath>

// Continuous detection: does a pair that a bound of its speed lets meet within the step really do
// so, and with which normal? Conservative advancement (Mirtich 1996) at the velocities of the
// step's start.

namespace stiction::detail {

/// A shape on its way through the step, world frame.
struct MovingShape {
  Transform X;    ///< at the start
  Vec3d centre;   ///< of its bounding ball, shape frame [m]
  Vec3d linear;   ///< velocity of the centre [m/s]
  Vec3d angular;  ///< [rad/s]
  double radius;  ///< of the ball [m]
};

/// Placement after t [s] of constant velocity.
Transform advanced(const MovingShape& s, double t);

/// Steps of an approach; then the pair counts as met: a contact too many, never too few.
inline constexpr int kMaxAdvances = 32;

enum class Approach { kApart, kMet, kUnknown };

/// Whether a gap that closes at most at `speed` [m/s] falls to `target` [m] > 0 within dt [s];
/// `time` is then between the first such moment and the one when it has fallen to target / 2.
/// `gap(time, reach)`: the least one, infinite if it is above `reach`, NaN: not known.
template <class Gap>
Approach follow_approach(double speed, double dt, double target, double& time, Gap&& gap) {
  time = 0.0;
  for (int i = 0; i < kMaxAdvances; ++i) {
    const double reach = target + speed * (dt - time), found = gap(time, reach);
    if (std::isnan(found)) return Approach::kUnknown;
    if (found == kInfinity) return Approach::kApart;
    const double nearest = std::min(reach, found);
    if (nearest <= target) return Approach::kMet;
    time = std::min(dt, time + (nearest - 0.5 * target) / speed);
  }
  return Approach::kMet;
}

/// True if the distance falls to `target` [m] > 0 within dt [s]; `time` is then between the first
/// such moment and the one when it has fallen to target / 2. False is proven for these motions.
bool first_approach(const Shape& a,
                    const MovingShape& motion_a,
                    const Shape& b,
                    const MovingShape& motion_b,
                    double dt,
                    double target,
                    double& time);

/// The same for a pair with a height field or triangle mesh, by its contact points: the gap closes
/// at most at the relative speed of the centres + |w_A| r_A + |w_B| r_B. If true, work.manifolds
/// are those at `time`.
bool first_approach_of_surfaces(const Shape& a,
                                const MovingShape& motion_a,
                                const Shape& b,
                                const MovingShape& motion_b,
                                double dt,
                                double target,
                                ManifoldWorkspace& work,
                                double& time);

/// A manifold found at `time`, as contacts of the start. An impulse has one point of attack p for
/// both bodies: the later lever arm about the centre of A if `place` is 0, of B if it is 1, else
/// the middle of both. With c the velocity of B relative to A along the normal, at the later
/// witness points (c') and at p (c), both at the start's velocities, the gap is g' - time c' - dt
/// (c - c'), not below `offset`: then gap + dt c is the gap at the end of the step, to first order,
/// also for the velocities that the solver finds.
void take_back(const MovingShape& motion_a,
               const MovingShape& motion_b,
               double time,
               double dt,
               double offset,
               double place,
               Manifold& m);

}  // namespace stiction::detail
