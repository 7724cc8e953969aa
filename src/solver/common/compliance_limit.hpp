#pragma once

// The course to the limit of vanishing compliance, on few rows (dense/dense_limit.hpp) and on all
// (ncp_newton/ncp_newton_limit.cpp).

namespace stiction {

/// Up to so many rows of an island ncp-newton looks for the limit.
inline constexpr int kMaxLimitRows = 400;
/// A pivot below it, of systems with the large proximal term where G has a diagonal near 1, says
/// that the impulses are not unique. Else the solution is alone among its neighbours.
inline constexpr double kWeakPivot = 1e-4;
/// A velocity of less, in parts of the largest impulse and in the scaling, presses nothing to the
/// bound that it is on: with compliance it may leave it.
inline constexpr double kUnpressed = 1e-7;
/// The share of compliance at which the branch is chosen, and the relative residual there.
inline constexpr double kSoftShare = 1e-3, kRoughResidual = 1e-4;
/// Shares from which the rigid problem takes over, one after the other until it is solved: where
/// impulses of a redundancy make a little velocity, the first is too soft.
inline constexpr double kStiffShares[] = {1e-5, 1e-6, 1e-7};
inline constexpr int kNumStiffShares = 3;

/// Steps of Newton on the way.
struct LimitPass {
  double proximal;      ///< term
  double goal, enough;  ///< relative residuals to reach, and that suffice
  int steps;
};

/// With a share of compliance, and its last step. Impulses that make no velocity leave a residual
/// that is `share` times as large as their error: the last step is for them.
constexpr LimitPass stiff_pass(double share, int steps) {
  return {share, 1e-6 * share, 1e-3 * share, steps};
}
constexpr LimitPass last_stiff_pass(double share) { return {share, 1e-9 * share, 1e-3 * share, 1}; }
/// The rigid problem from there. By a proximal term as large, impulses that make no velocity stay
/// as they are. It goes on below the tolerance: the next step takes such a start as it is.
constexpr LimitPass rigid_pass(double share, double tolerance, int steps) {
  return {share, 1e-3 * tolerance, tolerance, steps};
}

}  // namespace stiction
