#pragma once

#include "contact/build_problem.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// Factors of G of bilateral rows, and, for the option project_closures, a second set of
/// kinematics.
struct ClosedLoopWorkspace {
  struct Island {
    int first, rows;  ///< of its bilateral rows
    int rank;
    int factor;  ///< start in `factor`
  };
  std::vector<std::uint8_t> touched;  ///< [trees] some closure or gear acts on it
  bool any = false;                   ///< there are closures or gears
  bool any_loose = false;             ///< they act on loose bodies
  DynamicsWorkspace dynamics;         ///< kinematics and mass of other states than the step's
  ConstraintRows rows;                ///< closures and gears only, at the end of the step
  RowScratch row_scratch;
  ContactProblem problem;  ///< their G
  std::vector<int> sets;   ///< of a problem, those that are bilateral
  std::vector<int> place;  ///< [rows] in the matrix of its island; -1: not bilateral
  std::vector<Island> islands;
  std::vector<double> factor, scale, x, scratch;
  std::vector<double> gram;  ///< of an island, factor_gram()
  std::vector<int> order;
  std::vector<double> velocity, error, left_open, impulse;  ///< [rows of a problem]
  std::vector<double> reference, curvature;                 ///< [rows of a problem]
  std::vector<double> w, change, v, q;                      ///< [nv] and [nq]

  void resize(const Scene& scene);
};

}  // namespace stiction
