#pragma once

#include "stiction/contact/contact_mode.hpp"
#include "stiction/math/constants.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace stiction {

/// A spring of a contact point, part of the state: ContactMemory::extension, or its turn where
/// torsional or rolling friction acts. In the order of the fields.
struct SpringName {
  std::uint64_t pair;
  std::uint32_t feature;
  bool turns = false;
  auto operator<=>(const SpringName&) const = default;
};

/// Where the derivatives of a step hold, and where they are one of several.
struct GradientReport {
  /// "exact" or "differences": central ones of whole steps. Compliant steps fill
  /// `springs`, the two numbers after it and num_not_converged; exact ones num_at_switch,
  /// num_gap_kinks and smallest_gap too.
  std::string method = "exact";
  /// Of compliant integrators, and of rigid steps with tangential_compliance, sorted: of points
  /// that the step closed or that had or have an extension, and likewise turns. Each is three
  /// numbers of the state, see StepDerivatives.
  std::vector<SpringName> springs;
  int num_kinks = 0;  ///< columns whose one-sided differences disagree: their mean
  /// Largest difference of two central differences, at h / 2 and h, over three, relative to the
  /// largest entry of its block, of columns without a kink. The two are extrapolated from.
  double error_estimate = 0.0;
  std::vector<ContactMode> modes;  ///< by set of the problem
  /// By set, how far it is from another mode: of what is open c_N [m/s], of what sticks the least
  /// of lambda_N and mu lambda_N - |lambda_T| [N s] (where torsional or rolling friction holds
  /// less, what it has left [N m s]), of what slides the least of lambda_N [N s] and |c_T| [m/s].
  /// Of what closes with restitution not more than the speed [m/s] to where it starts or ceases to
  /// bounce.
  std::vector<double> margin;
  int unknowns = 0, rank = 0;  ///< of the reduced systems of all islands
  /// Dimension of the impulses that may change without leaving the equations and that move
  /// something: v+ is the limit of vanishing compliance, and the derivative is that of the limit
  /// with the redundancy as it is. 0: v+ is differentiable, though single impulses may not be.
  int not_unique = 0;
  /// Islands whose redundant rows no motion keeps together, as those of a ball that rests in a
  /// groove: some would let go, which ones depends on the direction. Columns by q and by placements
  /// follow the rows that were kept, of either side or of none.
  int num_contradicting = 0;
  /// Islands of these whose solution is not the limit: they have many rows, or sweeps chose it.
  int num_not_followed = 0;
  /// Sets between two modes, or within 1e-4 of the restitution threshold: one-sided.
  int num_at_switch = 0;
  /// Sets whose mode, or by more than one percent the direction of whose slide, the residual of
  /// the solution leaves open: a smaller tolerance of the solver decides.
  int num_undecided = 0;
  /// Gaps that are zero to rounding and do not open, taken as closed: one-sided. Where several rest
  /// so, a tilt opens some and closes others: its differences are of neither side.
  int num_gap_kinks = 0;
  /// [m, of limits of joints rad or m] The least size of a gap at whose zero the derivative
  /// changes: a change of q by more may find the other slope. Infinite if there is none.
  double smallest_gap = kInfinity;
  /// Joints brought back from far out with an impulse at its bound, which counts as constant.
  int num_bounded_recoveries = 0;
  /// Contacts where one of the parameters asked for has no two-sided derivative: by the
  /// restitution, torsional or rolling friction of two equal materials each has half; by the
  /// restitution of an impact without any c* jumps; by a friction of zero beside another it is
  /// infinite, by a torsional or rolling one of zero of what does not slide it has the sign of the
  /// turning: both are left out. Also motions of a closure's frame that its rows and others, which
  /// they repeat, could not both follow.
  int num_parameter_kinks = 0;
  int num_capped = 0;           ///< rows whose recovery is cut to the recovery speeds: c* constant
  int num_scaled_impacts = 0;   ///< restitution cut by the dissipative law: its share constant
  int num_swept = 0;            ///< of num_inexact, contacts of a later moment of the step
  int num_inexact = 0;          ///< contacts that do not open and whose motion is not known
  int num_saturated = 0;        ///< dofs at their effort limit: targets and torques change nothing
  int num_asleep = 0;           ///< trees: held where they are, though a change may wake them
  int num_slowed = 0;           ///< trees that turn by over 0.1 rad a step, loose bodies by over 1/2:
                                ///< their velocities are scaled to an energy, or approximate
  int num_not_converged = 0;    ///< 1: the solver stopped short, and the derivatives are of a
                                ///< solution that was not reached
  int num_safe_islands = 0;     ///< answers of the convex problem instead of the solver's
  double smallest_pivot = 1.0;  ///< of the scaled reduced systems that counts
  /// Of `margin`, whatever its unit; infinite if there is none.
  double smallest_margin() const {
    double least = kInfinity;
    for (const double m : margin) least = m < least ? m : least;
    return least;
  }
  /// Either side of the state has the same derivative.
  bool two_sided() const {
    return num_at_switch == 0 && num_gap_kinks == 0 && not_unique == 0 && num_kinks == 0 &&
           num_contradicting == 0;
  }
  /// To rounding, at a two-sided state; not where it is made by differences, see error_estimate.
  bool exact() const {
    return method == "exact" && num_capped == 0 && num_scaled_impacts == 0 && num_swept == 0 &&
           num_inexact == 0 && num_slowed == 0 && num_asleep == 0 && num_safe_islands == 0 &&
           num_not_converged == 0 && num_undecided == 0 && num_bounded_recoveries == 0 &&
           num_not_followed == 0 && num_contradicting == 0;
  }
};

}  // namespace stiction
