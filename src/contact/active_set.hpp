#pragma once

#include "stiction/contact/contact_mode.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"

#include "contact/central_path.hpp"

#include <vector>

namespace stiction {

/// One direction t in which the impulse of a set may change, and the equation that holds it there,
///   w . dc + d y = 0 with d lambda = t y,
/// both over the rows of the set. A set that sticks has one for each row, t = w = e_r, d = 0; one
/// that slides, e = c_T / |c_T|, has
///   t = (-mu e, 1), w = n (NCP) or t (CCP), d = 0,   and for each f normal to e
///   t = w = (f, 0), d = |c_T| / (mu lambda_N).
/// On the central path a cone, U = diag(1, ..., 1, mu), has for each v of the frame (d, 1) / sqrt
/// 2,
/// (-d, 1) / sqrt 2, (f, 0) of the eigenvectors of l = U lambda, d = l_T / |l_T|,
///   t = U^-1 v,  w = U^-1 (v + v_N (p, 0)),  p = y_T / sqrt(|y_T|^2 + slip^2),
///   d = energy / l_1^2,  y_2^2 / energy,  y_2 / l_1,   l_1 = l_N + |l_T|,  y_2 = y_N + |y_T|:
/// dl = V x has dy = -V diag(d) x, since l and y share their frame.
struct ActiveUnknown {
  int set, row, dim;  ///< row: the set's first
  double t[kMaxSetDim], w[kMaxSetDim];
  double d;  ///< [m / (N s^2)], of angular rows in their own units
};

/// The linearised complementarity at a solution: which impulses may change and how.
struct ActiveSet {
  std::vector<ActiveUnknown> unknowns;  ///< by set
  std::vector<int> start;               ///< [sets + 1] into unknowns
  std::vector<ContactMode> modes;       ///< [sets]
  /// [sets] How far from another mode: of what is open c_N [m/s], of what sticks the least of
  /// lambda_N and mu lambda_N - |lambda_T| [N s], of what slides the least of lambda_N [N s] and
  /// |c_T| [m/s]; of bilateral sets infinite.
  std::vector<double> margin;
  int num_at_switch = 0;  ///< sets of margin zero within the accuracy
  /// Of these the ones whose margin is more than kRest, and sets that are in two modes at once by
  /// more than the accuracy: another solution of the same residual has another mode. And sets
  /// that slide, of which the residual leaves direction or load open by more than one percent.
  int num_undecided = 0;
  bool on_path = false;  ///< no modes: all impulses change (kStick), margins are infinite
};

/// What counts as zero in an exact solution, beside the largest impulse and velocity of an island.
inline constexpr double kRest = 1e-7;

/// How well a solution is known: the share of the largest impulse and velocity of its island that
/// counts as zero, and Residuals::relative of its model. Ten residuals count as zero too,
/// and so does what rounding leaves where all is at rest and there is nothing to measure by.
struct Accuracy {
  double zero, residual;
  double rounding;  ///< [m/s]
  Accuracy(double zero, double residual = 0.0, double rounding = 0.0)
      : zero(zero), residual(residual), rounding(rounding) {}
};

/// Of `problem` at impulse and velocity [rows], a solution of `model` (kNcp or kCcp). An unloaded
/// set is open, one on its cone at rest sticks. Or, with an energy, at a point of the central path.
void find_active_set(const ContactProblem& problem,
                     const std::vector<double>& impulse,
                     const std::vector<double>& velocity,
                     ContactModel model,
                     const Accuracy& accuracy,
                     ActiveSet& out,
                     const PathPoint& path = {});

/// What coefficients of a cone change at once, per unit of a parameter by which they grow at the
/// rates `dmu`: of lambda at fixed y, and of c at fixed lambda. Zero of other sets. With S = ||D
/// c_T||, dS = sum mu_i dmu_i c_i^2 / S:
///   slides:  lambda_T = -D^2 c_T lambda_N / S,
///     d lambda_i = -lambda_N c_i (2 mu_i dmu_i / S - mu_i^2 dS / S^2),   CCP: d c_N = -dS;
///   at S = 0 the one-sided -lambda_N dmu_i^2 c_i / ||dmu c_T||, which is that of no friction at
///   all; path:  U S lambda and y are held, f the cone's slope and u_i = mu_i / f the rows' units,
///     d lambda_i / lambda_i = d c_i / c_i = dmu_i / mu_i - df / f,   of the normal -df / f.
struct FrictionChange {
  double impulse[kMaxConeDim] = {}, velocity[kMaxConeDim] = {};
};
/// Of set i of the problem at impulse and velocity [rows], as find_active_set() had them. dmu:
/// [normal row] of the rows of friction.
FrictionChange friction_change(const ContactProblem& problem,
                               const std::vector<double>& impulse,
                               const std::vector<double>& velocity,
                               ContactModel model,
                               const ActiveSet& active,
                               int i,
                               const double* dmu);

}  // namespace stiction
