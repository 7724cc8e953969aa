#pragma once

#include "stiction/contact/build_problem.hpp"
#include "stiction/solver/solver.hpp"

#include <vector>

namespace stiction {

/// Islands whose impacts would gain energy; no meaning between steps.
struct ImpactWorkspace {
  struct Gaining {
    int island;
    double gain;   ///< [J] under Newton's law
    double share;  ///< of e that is kept
  };
  std::vector<Gaining> gaining;
  std::vector<double> asked;  ///< [sets] c* of Newton's law [m/s]
  ContactSolution newton;     ///< the solution of Newton's law
};

/// The energetic law of impact: where the impacts of an island, solved under Newton's law, would
/// add kinetic energy, e of all its contacts is reduced by one factor and the problem solved again,
/// at most kImpactSolves times. `problem` and `rows` then hold the reduced c*, which the residuals
/// of `solution` judge. Islands without impacts, or whose impacts gain nothing, keep their bits.
inline constexpr int kImpactSolves = 6;
void keep_impact_energy(const SolverSettings& settings,
                        ConstraintRows& rows,
                        ContactProblem& problem,
                        SolverWorkspace& solver,
                        ImpactWorkspace& work,
                        ContactSolution& solution);

}  // namespace stiction
