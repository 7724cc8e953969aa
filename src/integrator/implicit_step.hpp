#pragma once

#include "integrator/compliant_substep.hpp"
#include "integrator/dual_tree.hpp"
#include "math/disjoint_sets.hpp"

#include <vector>

// The equation of an implicit Euler step and its Jacobian. Unknown: the end velocity nu, axes of
// the start; q+ = q (+) h nu. In axes of the end,
//   r(nu) = M(q+) a + b(q+, v+) - tau(q+, v+) - J(q+)^T f,   a = (nu - v) / h.

namespace stiction {

/// Derivatives of a point's force by the way of its point and by its velocity, contact frame, for
/// an end of step found by settle_end(). Of points with couples the others too; `velocity` by turn
/// is then that by the angular velocity of the end, with what it turns in the step.
using EndDerivatives = std::vector<PointWrenchDerivatives>;

/// Points of `end` as the implicit step sees them: the extension of a rolling point is that of its
/// end velocity, and a point that touches within the step has its damper for that part of the step
/// only, which keeps r continuous. Forces and their derivatives; points on bodies of `frictionless`
/// trees (null: none) as if they had no friction.
void settle_end(const CompliantInput& input,
                const CompliantSystem& start,
                CompliantSystem& end,
                EndDerivatives& derivatives,
                const std::vector<std::uint8_t>* frictionless = nullptr);

/// An end velocity nu that is tried.
struct Trial {
  const CompliantInput& input;
  const State& state;  ///< of the start
  const double* nu;
};

/// r(nu) [nv] from kinematics and points in `end`.
void end_residual(const Trial& trial,
                  CompliantSystem& end,
                  std::vector<Motion<double>>& scratch,
                  double* r);

/// dr/dnu over the dofs of an island: entry (row, column) at values[place[row] * stride +
/// place[column]].
struct IslandMatrix {
  const std::vector<int>& place;
  int stride;
  double* values;

  double* row(int dof) const { return values + place[dof] * stride; }
};

/// Adds the columns of the dofs of tree t; rows of other trees too where points couple. By
/// Seed::kStart points of kind kMaterial are as if their way had begun elsewhere: what the place at
/// the start changes is left out.
void end_columns(const Trial& trial,
                 const CompliantSystem& end,
                 const EndDerivatives& derivatives,
                 int t,
                 DualTree& dual,
                 const IslandMatrix& matrix,
                 Seed seed = Seed::kEndVelocity,
                 double* extensions = nullptr);

/// Buffers of implicit_euler. Newton runs on all islands side by side, each with a step length of
/// its own; what an island sums is kept by tree.
struct ImplicitScratch {
  enum class Progress : std::uint8_t { kOpen, kConverged, kStuck };

  std::vector<DualTree> dual;  ///< [trees]
  std::vector<Motion<double>> joint_acceleration;
  std::vector<double> trial, step, residual, whitened;  ///< [nv]
  std::vector<double> merit, trial_merit;               ///< [trees] r^T M^-1 r
  std::vector<double> drive;                            ///< [trees] (h |a|_M)^2 without contacts
  std::vector<double> length, size;                     ///< [trees] of the step: factor, |step|_M^2
  std::vector<Progress> progress;                       ///< [trees]
  std::vector<std::uint8_t> frictionless;               ///< [trees]
  DisjointSets islands;                                 ///< of trees that points couple
  std::vector<int> dofs, place, ends;                   ///< of one island; place [nv]
  std::vector<double> matrix, right;
  EndDerivatives derivatives;

  void resize(const Scene& scene);
};

}  // namespace stiction
