#pragma once

#include "stiction/solver/solver.hpp"

#include "contact/build_problem.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// Scratch of apply_impact_law() on one island, and what the last call could have taken.
struct ImpactWork {
  /// A contact of an impact.
  struct Impact {
    int set;               ///< of the island
    double free_velocity;  ///< (J v_free)_N [m/s]
    double newton;         ///< c*_N of Newton's law [m/s]
  };
  std::vector<Impact> impacts;
  ContactProblem problem;  ///< the island alone
  SolverSettings settings;
  ContactSolution solution, plastic;  ///< at some share of e; at none of it
  std::vector<double> newton_impulse, newton_motion, plastic_motion;  ///< lambda, G lambda [rows]
  std::int64_t most_factorisations = 0;                               ///< all islands with impacts
};

/// The dissipative law of Newton: where the impacts of an island that is solved would add kinetic
/// energy under Newton's law, e of all its contacts is reduced by one factor and that island,
/// alone, solved again: at most kImpactSolves times, within one budget for all of them, that of one
/// solve (dense_factorisations() of its rows, or settings.max_factorisations). `problem` and `rows`
/// then hold the reduced c*, which the residuals of `solution` judge. Every other island keeps its
/// bits.
inline constexpr int kImpactSolves = 6;
void apply_impact_law(const SolverSettings& settings,
                      ConstraintRows& rows,
                      ContactProblem& problem,
                      SolverWorkspace& solver,
                      ImpactWork& work,
                      ContactSolution& solution);

}  // namespace stiction
