#pragma once

#include "contact/closed_loops.hpp"

#include <vector>

// What consistent_closures.cpp, closure_curvature.cpp and project_closures.cpp share: G of the
// bilateral rows, factored, and how impulses on them move the trees.

namespace stiction {

template <class Visit>
void each_touched(const Scene& scene, const ClosedLoopWorkspace& work, Visit&& visit) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    if (work.touched[t]) visit(scene.trees()[t], static_cast<int>(t));
  }
}

/// G of the bilateral sets, factored by island: work.sets, work.islands, work.factor.
void factor_bilateral(const ContactProblem& problem, ClosedLoopWorkspace& work);

/// impulse <- -y of the bilateral rows, zero for the others, where G y = x in as many independent
/// rows as there are and y = 0 in those that repeat them: -G^-1 x where x lies in the range of G.
void solve_bilateral(const ContactProblem& problem,
                     const double* x,
                     ClosedLoopWorkspace& work,
                     std::vector<double>& impulse);

/// Rows that repeat others <- what those ask.
void keep_in_range(const ContactProblem& problem, ClosedLoopWorkspace& work, double* x);

/// Rows of islands that repeat others <- what is nearest and possible, by nearest_in_range().
void bring_into_range(const ContactProblem& problem, ClosedLoopWorkspace& work, double* x);

/// Placements of the trees that are touched at q, in work.dynamics.
void update_placements(const Scene& scene,
                       const Parameters& parameters,
                       const double* q,
                       ClosedLoopWorkspace& work);

/// Phi of a closure at the placements of `dynamics`.
void closure_error_at(const Scene& scene,
                      const Parameters& parameters,
                      const DynamicsWorkspace& dynamics,
                      int index,
                      double* error);

}  // namespace stiction
