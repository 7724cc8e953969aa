#pragma once

#include "stiction/solver/solver.hpp"

#include "simulator/lanes/lane_problem.hpp"

namespace stiction {

/// Solves contact problems of worlds on lanes as a Simulator's step would: the same problem, the
/// same solver. Shared by the worlds of a thread; its answer depends on the problem alone.
class ProblemSolver {
 public:
  explicit ProblemSolver(const SolverSettings& settings) : settings_(settings) {}

  LaneProblem begin(int cones, int scalars);
  double solve();
  /// Both, as LaneScene wants them.
  LaneSolver functions();

 private:
  void make_sets();

  SolverSettings settings_;
  LaneProblem lanes_{};
  std::vector<double> mu_, lower_, upper_;
  ContactProblem problem_;
  SolverWorkspace work_;
  ContactSolution solution_;
};

}  // namespace stiction
