#pragma once

#include "contact_problems.hpp"

#include <string>
#include <vector>

// Calls of the solvers of the cone complementarity problem.

namespace stiction::test {

inline const std::vector<std::string> kCcpNames = {"ccp-admm", "ccp-newton", "ccp-pgs"};

inline SolverSettings settings(const std::string& name,
                               double tolerance,
                               int max_iterations = 20000) {
  SolverSettings s;
  s.name = name;
  s.tolerance = tolerance;
  s.max_iterations = max_iterations;
  return s;
}

inline ContactSolution solved(const ContactProblem& problem, const SolverSettings& settings) {
  SolverWorkspace work;
  ContactSolution out;
  solve(problem, settings, work, out);
  return out;
}

inline Eigen::VectorXd map(const std::vector<double>& x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), x.size());
}

}  // namespace stiction::test
