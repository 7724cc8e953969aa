#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/residuals.hpp"

#include <string>
#include <vector>

namespace stiction {

enum class SolveStatus : std::uint8_t {
  kConverged,        ///< the model's own relative residual is at most the tolerance
  kRoundingLimited,  ///< not below the tolerance, but the backward residual is (<= 1e-12): G lambda
                     ///< cannot be evaluated more accurately in double
  kMaxIterations,    ///< the last impulses are returned, with their residuals
  kNotFinite,        ///< the problem holds a NaN or infinity; impulse is zero
};
const char* to_string(SolveStatus status);

struct SolverSettings {
  std::string name = "ncp-pgs";  ///< see solvers()
  double tolerance = 1e-8;       ///< > 0, on Residuals::relative of each island
  int max_iterations = 1000;     ///< >= 1
  bool newton =
      true;  ///< ncp-pgs: Newton on the modes found so far, between sweeps; false: sweeps only
  void validate() const;  ///< throws std::invalid_argument naming the field
};

/// Scratch of any solver, grown on demand, no meaning between calls.
struct SolverWorkspace {
  std::vector<double> real;
  std::vector<double> dense;   ///< a dense linear system
  std::vector<double> newton;  ///< vectors by row
  std::vector<double> best;    ///< impulses set aside
  std::vector<unsigned char> modes;
  std::vector<int> columns;
  int factorisations = 0;  ///< counted since the solve began
};

struct ContactSolution {
  std::vector<double> impulse;   ///< in: warm start; out: lambda [rows]
  std::vector<double> velocity;  ///< c = G lambda + g, exact for the final impulse [rows]
  Residuals residuals;
  bool certified =
      false;  ///< set by a solver whose residuals and velocity are exact for its final impulse
  int iterations = 0;      ///< of the slowest island
  int factorisations = 0;  ///< dense linear systems solved, all islands
  SolveStatus status = SolveStatus::kConverged;
  bool converged() const { return status == SolveStatus::kConverged; }
};

/// One published algorithm or one of ours.
struct SolverEntry {
  const char* name;
  const char* model;        ///< the contact model it solves: "NCP", "CCP", ...
  const char* description;  ///< one line with its source
  void (*solve)(const ContactProblem&, const SolverSettings&, SolverWorkspace&, ContactSolution&);
};
/// The registry, in alphabetical order. A new solver adds a file and one line in registry.cpp.
const std::vector<SolverEntry>& solvers();
/// Throws std::invalid_argument listing the names.
const SolverEntry& find_solver(const std::string& name);

/// Solves with settings.name from solution.impulse (warm) or zero if its size differs (cold).
void solve(const ContactProblem& problem,
           const SolverSettings& settings,
           SolverWorkspace& work,
           ContactSolution& solution);

}  // namespace stiction
