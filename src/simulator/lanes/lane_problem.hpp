#pragma once

namespace stiction {

/// Place for a world's contact problem of many rows, which the lanes fill: contacts [t1 t2 n]
/// first, then rows of one dimension. G by panels, one for each set over all rows: that of contact
/// a begins at 4 rows a, entry (r, column) at [4 column + r], the fourth is zero; that of row j of
/// one dimension at 4 rows cones + rows j.
struct LaneProblem {
  int cones, scalars, rows;  ///< rows: 3 cones + scalars
  double* panels;
  double *g, *lambda;     ///< [rows] lambda: warm start, then the solution
  double* mu;             ///< [cones]
  double *lower, *upper;  ///< [scalars] upper: infinite of a limit
  double* floor;          ///< [sets]
};

/// The library's solver, called from code of any instruction set.
struct LaneSolver {
  void* self = nullptr;
  LaneProblem (*begin)(void* self, int cones, int scalars) = nullptr;
  /// Of the problem that was begun last; its residual, infinite if it is not converged.
  double (*solve)(void* self) = nullptr;
};

}  // namespace stiction
