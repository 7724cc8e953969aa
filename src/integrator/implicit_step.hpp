#pragma once

#include "stiction/integrator/compliant_step.hpp"
#include "stiction/math/dual.hpp"

#include <vector>

// The equation of an implicit Euler step and its Jacobian. Unknown: the end velocity nu, axes of
// the start; q+ = q (+) h nu. In axes of the end,
//   r(nu) = M(q+) a + b(q+, v+) - tau(q+, v+) - J(q+)^T f,   a = (nu - v) / h.

namespace stiction {

inline constexpr int kDirections = 8;
using Direction = Dual<kDirections>;

/// One tree at the end of the step, differentiated in up to kDirections of its own dofs.
struct DualTree {
  TreeParameters<Direction> parameters{};
  TreeData<Direction> data{};
  std::vector<Direction> q, v, a;
  std::vector<Motion<Direction>> joint_acceleration;

  void resize(const Tree& tree);
  void take(const Tree& tree, const TreeParameters<double>& p);

  /// q+, v+ and a of the tree for nu, seeded in the dofs [first, first + kDirections), then its
  /// kinematics and inertial forces at a.
  void move(const TreeView& view,
            double h,
            const double* q0,
            const double* v0,
            const double* nu,
            int first);

 private:
  std::vector<RigidTransform<Direction>> X_RB_, placement_;
  std::vector<Motion<Direction>> S_, V_, A_;
  std::vector<Inertia<Direction>> inertia_;
  std::vector<Force<Direction>> F_;
  std::vector<Direction> bias_, mass_;
  std::vector<Vec3<Direction>> axis_, com_, zero_;
  std::vector<Sym3<Direction>> central_;
};

/// Derivatives of a point's force by the way of its point and by its velocity, contact frame, for
/// an end of step found by evaluate_end().
using EndDerivatives = std::vector<PointForceDerivatives>;

/// Points of `end` as the implicit step sees them: the extension of a rolling point is that of its
/// end velocity, and a point that touches within the step has its damper for that part of the step
/// only, which keeps r continuous. Forces and their derivatives.
void settle_end(const CompliantInput& input,
                const CompliantSystem& start,
                CompliantSystem& end,
                EndDerivatives& derivatives);

/// r(nu) [nv] from kinematics and points in `end`.
void end_residual(const CompliantInput& input,
                  const State& state,
                  const double* nu,
                  CompliantSystem& end,
                  std::vector<Motion<double>>& scratch,
                  double* r);

/// Columns of dr/dnu of the dofs of tree t, into a matrix over the dofs of its island: entry (row,
/// column) at matrix[place[row] * stride + place[column]], rows of other trees where points couple.
void end_columns(const CompliantInput& input,
                 const State& state,
                 const double* nu,
                 const CompliantSystem& end,
                 const EndDerivatives& derivatives,
                 int t,
                 const std::vector<int>& place,
                 int stride,
                 DualTree& dual,
                 double* matrix);

/// Buffers of implicit_euler. Newton runs on all islands side by side, each with a step length of
/// its own; what an island sums is kept by tree.
struct ImplicitScratch {
  std::vector<DualTree> dual;  ///< [trees]
  std::vector<Motion<double>> joint_acceleration;
  std::vector<double> trial, step, residual, whitened;  ///< [nv]
  std::vector<double> merit, trial_merit;               ///< [trees] r^T M^-1 r
  std::vector<double> drive;                            ///< [trees] (h |a|_M)^2 without contacts
  std::vector<double> length, size;                     ///< [trees] of the step: factor, |step|_M^2
  std::vector<std::uint8_t> done;                       ///< [trees]
  std::vector<int> island;                              ///< [trees] union-find parents
  std::vector<int> dofs, place, ends;                   ///< of one island; place [nv]
  std::vector<double> matrix, right;
  EndDerivatives derivatives;

  void resize(const Scene& scene);
};

}  // namespace stiction
