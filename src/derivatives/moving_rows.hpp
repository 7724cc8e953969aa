#pragma once

#include "stiction/math/constants.hpp"

#include "contact/active_set.hpp"
#include "derivatives/derivative_input.hpp"

#include <vector>

// How the rows of a step move with q: a contact's point, frame and gap, a closure's frames, a
// limit's gap. With c = J v+ - c* their velocity and J^T lambda their force,
//   dc = J dv+ + sum over dofs k of (velocity_k dq_k + rate_k dv_k),
//   d(J^T lambda) = J^T dlambda + what force_k dq_k, moment_k dq_k + moment_rate_k dv_k do on the
//                   chains of both bodies
//                   + the turning of the chains themselves under a wrench held in space
// (the last term is in inverse_dynamics_derivatives.hpp).

namespace stiction {

/// What one dof of the chain of one side of a constraint moves, world axes, per unit of the dof.
struct RowColumn {
  int dof;          ///< scene
  Vec3d u, w;       ///< velocity of the side's point and angular velocity of its body
  Vec3d force;      ///< change of the force on B, minus that on A [N s]
  Vec3d moment[2];  ///< change of the moment on B about the point of side 0, 1; minus that on A
  double velocity[kMaxSetDim];  ///< change of c at fixed v+
  double rate[kMaxSetDim];      ///< change of c with v at fixed v+: restitution, where it touches
  Vec3d moment_rate;            ///< of `moment` with v
};

/// A constraint with the columns of its sides.
struct MovingRow {
  int num_sides;
  bool moves_force;  ///< the columns change force and moments; else J is constant
  bool by_speed;     ///< with v too: moment_rate
  int start[3];      ///< of each side in MovingRows::columns, and the end
  double sign[2];    ///< of the sides: -1 of A, 1 of B
};

/// Where the motion of rows is not smooth or not known.
struct RowDoubts {
  int num_gap_kinks = 0;               ///< gaps of zero to rounding: one-sided
  double smallest_gap = kInfinity;     ///< [m, rad] size of a gap at whose zero the slope changes
  int num_capped = 0;                  ///< rows whose recovery is cut: their c* counts as constant
  int num_scaled_impacts = 0;          ///< restitution that the dissipative law has cut
  int num_swept = 0, num_inexact = 0;  ///< contacts, see ContactDerivatives::exact
  int num_at_threshold = 0;            ///< contacts about to bounce, or about not to

  /// Of a gap at whose zero the slope changes: counts it.
  bool has_kink_at(double gap, double size);
};

struct MovingRows : RowDoubts {
  std::vector<MovingRow> rows;  ///< [sets]
  std::vector<RowColumn> columns;
  std::vector<Force<double>> constraint_impulse;  ///< [bodies] impulses on them about the origin of
                                                  ///< their root, root axes [N s, N m s]
  /// [bodies] Velocities at the start and at the end of the step, both in configuration and axes of
  /// its start.
  std::vector<Motion<double>> begin, end;
  std::vector<double> to_bounce;  ///< [sets, m/s] see speed_to_bounce()
};

/// [m or rad] A gap of at most this times its size (of a contact 1 m) counts as closed: at rest its
/// sign is one of rounding.
inline constexpr double kTouching = 1e-9;

/// `active`: of the step. Sets without an unknown carry what they carry, and raise no doubts.
void find_moving_rows(const DerivativeInput& input, const ActiveSet& active, MovingRows& out);

}  // namespace stiction
