#pragma once

#include "integrator/compliant_substep.hpp"

// The end of a step of exponential(): where the closed form of the contact points and the
// kinematics of the bodies must agree.

namespace stiction {

/// v+ += G0 Y0^-1 (x'(h) - J v+) at the points that are closed: their velocity is a stiff quantity
/// that the closed form knows to the order of its forcing, while v+ is a quadrature of
/// accelerations. Without this the velocity error is 2 to 8 times larger at steps of 10 to 40 ms.
/// Leaves the kinematics of the end in work.end.dynamics.
void match_contact_velocity(const CompliantInput& input,
                            const State& state,
                            CompliantWorkspace& work);

/// Point i of the start, of an island that begins at point `first`. The anchor of a point that
/// sticks has not moved: the kinematics have the last word on how far the point is from it. One
/// that slides has the spring of the closed form.
PointEnd end_of_point(
    const CompliantInput& input, const CompliantWorkspace& work, int island, int first, int i);

/// work.exponential.ends. After conclude() and the contacts of the end.
void find_ends(const CompliantInput& input, CompliantWorkspace& work);

/// Visits the points of the start: island, its first point, point.
template <class Visit>
void each_point(const CompliantSystem& start, Visit&& visit) {
  const std::vector<int>& bounds = start.delassus.island_start;
  for (int k = 0; k < start.delassus.num_islands(); ++k) {
    for (int i = bounds[k]; i < bounds[k + 1]; ++i) visit(k, bounds[k], i);
  }
}

/// Energies of a sub-step, for its acceptance.
struct EnergyBalance {
  double start = 0.0;      ///< T + S at the start [J]
  double kinetic = 0.0;    ///< at the end [J]
  double elastic = 0.0;    ///< at the end, of points of the start [J]
  double appeared = 0.0;   ///< at the end, of points that only the end knows [J]
  double misplaced = 0.0;  ///< d^T K d / 2 of the defects of the closed form [J]
  double budget = 0.0;     ///< what T + S may be at the end [J]
  bool acceptable() const;
};

/// After find_ends().
EnergyBalance energy_balance(const CompliantInput& input, const CompliantWorkspace& work);

}  // namespace stiction
