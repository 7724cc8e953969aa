#pragma once

#include "derivatives/linearisation.hpp"

namespace stiction {

/// Directions of change of one island, a column each. Row-major, rows `stride` apart, of which
/// `width`, a multiple of kLaneColumns, are in use.
struct Columns {
  int width = 0, stride = 0;
  /// [dofs] Right-hand side of M^ dv+ [N s]; then, in place, dv+ in the axes of the end.
  std::vector<double> force;
  std::vector<double> position;  ///< [dofs] tangent of q, then of q+
  std::vector<double> end;       ///< [dofs] change of v+ beside that by `force`. Empty: none.
  std::vector<double> velocity;  ///< [rows] change of c at fixed v+ [m/s]
  /// [rows] Change of lambda at fixed y [N s]: of friction, of bounds. Empty: none.
  std::vector<double> impulse;
  std::vector<double> b, answer;  ///< [unknowns] scratch
  std::vector<double> one, mean;  ///< [dofs of a tree] scratch

  void resize(const DerivativeIsland& island, int columns, bool impulses);
};

/// Sets the columns of the state and torques, [q | v | torque] of the island's dofs: all but the
/// inertia's share in those of v, which is added whitened.
void fill_state_columns(const DerivativeInput& in,
                        const Linearisation& linear,
                        const DerivativeIsland& island,
                        Columns& out);

/// The one column of a direction x [3 nv] of (q, v, torque) of the scene.
void fill_state_direction(const DerivativeInput& in,
                          Linearisation& linear,
                          const DerivativeIsland& island,
                          const double* x,
                          Columns& out);

/// From the right-hand sides to the end of the step. `mass_column`: the first column of v, where
/// M^ itself stands in the right-hand side; -1: none.
void propagate(const DerivativeInput& in,
               Linearisation& linear,
               const DerivativeIsland& island,
               int mass_column,
               Columns& columns);

/// Islands whose redundant rows no motion keeps together, seen along one direction of q, which is
/// as good as any. `direction` [3 nv] and the columns are scratch.
int count_contradictions(const DerivativeInput& in,
                         Linearisation& linear,
                         Eigen::VectorXd& direction,
                         Columns& x);

/// impulse [rows of the problem] += the change of lambda along the first column, after propagate().
void add_impulse_tangent(const Linearisation& linear,
                         const DerivativeIsland& island,
                         const Columns& x,
                         double* impulse);

}  // namespace stiction
