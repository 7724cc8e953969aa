#pragma once

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/solver/interrupt.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stiction {

/// Why a solve ended; of several islands the worst, which is the last in this list.
enum class SolveStatus : std::uint8_t {
  kConverged,        ///< the model's own relative residual is at most the tolerance on every island
  kRoundingLimited,  ///< not below the tolerance, but the backward residual is (<= 1e-12): G lambda
                     ///< cannot be evaluated more accurately in double
  kRegularised,      ///< the problem has no solution; this is one of the problem with
                     ///< ContactSolution::regularisation (SolverSettings::regularise_infeasible)
  kStalled,          ///< the algorithm cannot get on: a line search, a bracket or a pivot failed
  kMaxIterations,    ///< the best impulses found are returned, with their residuals
  kBudget,           ///< max_factorisations or time_budget is used up; likewise
  kInfeasible,       ///< the problem has no solution: a normal impulse that pushes without effect
  kNotFinite,        ///< the problem or its impulses hold a NaN, an infinity or a number whose
                     ///< square is one (above 1e154); impulse is zero
};
const char* to_string(SolveStatus status);

/// What a regularised solver (ccp-newton) adds to the diagonal of G.
enum class RegularisationRule : std::uint8_t {
  kContactNorm,  ///< R_N = weight ||G_ii||_F / (4 pi^2), R_T = 1e-3 R_N (Castro et al. 2022)
  kDiagonal,     ///< R = weight diag(G): MuJoCo's form
  kGiven,        ///< SolverSettings::given_regularisation
};

/// Every field is read by the solvers named behind it, by all if none is named.
struct SolverSettings {
  std::string name = "ncp-newton";  ///< see solvers()
  double tolerance = 1e-8;          ///< > 0, on the model's Residuals::relative of each island
  int max_iterations = 1000;        ///< >= 1, per island: sweeps, or steps of the algorithm
  int max_factorisations = 2000;    ///< >= 0, per island, 0: by formula: ncp-newton
  double time_budget = 0.0;  ///< [s] >= 0, 0: none: ncp-newton; makes results depend on the machine
  bool centred_loads = false;  ///< ncp-newton: where impulses are not unique, those of the interior
                               ///< point method, independent of the warm start; else the nearest
  double over_relaxation = 1.0;   ///< in (0, 2): *-pgs, *-admm, *-staggered
  int facets = 4;                 ///< 4, 8 or 16, of the pyramid: lcp-*
  double proximal = 1e-6;         ///< > 0, eta / mean diag(G): *-admm, *-staggered, lcp-lemke, -qp
  double raisim_alpha_min = 0.1;  ///< in (0, 1]: the relaxation of raisim falls from 1 to it,
  double raisim_gamma = 0.99;     ///< in [0, 1], by this factor of what is left in each sweep
  RegularisationRule regularisation = RegularisationRule::kContactNorm;  ///< ccp-newton
  double regularisation_weight = 1.0;             ///< > 0, factor of the rule: ccp-newton
  std::vector<double> given_regularisation = {};  ///< [rows] > 0, with kGiven: ccp-newton
  bool regularise_infeasible = false;  ///< ncp-newton: answer an infeasible problem with the
                                       ///< compliant one, status kRegularised
  Interrupt interrupt = {};            ///< ends a solve early, with any status but kConverged
  void validate() const;               ///< throws std::invalid_argument naming the field
};

class CircularForm;
class TreeSpace;

/// Scratch of any solver, grown on demand, no meaning between calls.
struct SolverWorkspace {
  SolverWorkspace();
  ~SolverWorkspace();
  SolverWorkspace(SolverWorkspace&&) noexcept;
  SolverWorkspace& operator=(SolverWorkspace&&) noexcept;

  std::vector<double> real;
  std::vector<double> dense;     ///< a dense linear system
  std::vector<double> newton;    ///< vectors by row
  std::vector<double> best;      ///< impulses set aside
  std::vector<double> interior;  ///< an interior point iterate and its matrix
  std::vector<unsigned char> modes;
  std::vector<int> columns, interior_rows;
  ContactProblem compliant;  ///< the problem with compliance added, its constants and impulses
  std::vector<double> compliant_real, compliant_best;
  std::unique_ptr<TreeSpace> trees;
  std::unique_ptr<CircularForm> circular;
  SolverSettings circular_settings;
  std::vector<double> tree_real;
  int factorisations = 0;  ///< counted since the solve began
};

struct ContactSolution {
  std::vector<double> impulse;   ///< in: warm start; out: lambda [rows]
  std::vector<double> velocity;  ///< c = (G + R) lambda + g, exact for the final impulse [rows]
  Residuals residuals;           ///< the certificate: of the NCP, with physical compliance only
  Residuals model_residuals;     ///< of the model solved, with `regularisation`; worst island
  ContactModel model = ContactModel::kNcp;
  std::vector<double> regularisation;  ///< added by the solver to diag(G) [rows]; empty if none
  double penalty = 0.0;       ///< ADMM, rho / mean diag(G), in: to start with, 0: by rule; out:
                              ///< the last one, of the slowest island
  bool certified = false;     ///< set by a solver of the NCP whose residuals and velocity are exact
                              ///< for its final impulse
  bool deterministic = true;  ///< false if a time budget could have ended it
  int iterations = 0;         ///< of the slowest island
  int factorisations = 0;     ///< linear systems factored, all islands
  SolveStatus status = SolveStatus::kConverged;
  bool converged() const { return status == SolveStatus::kConverged; }
};

/// One published algorithm or one of ours.
struct SolverEntry {
  const char* name;
  ContactModel model;
  const char* description;  ///< one line with its source
  void (*solve)(const ContactProblem&, const SolverSettings&, SolverWorkspace&, ContactSolution&);
  int largest_cone = kMaxConeDim;  ///< rows of a contact at most
};
/// The registry, in alphabetical order. A new solver adds a file and one line in registry.cpp.
const std::vector<SolverEntry>& solvers();
/// Throws std::invalid_argument listing the names.
const SolverEntry& find_solver(const std::string& name);

/// Solves with settings.name from solution.impulse (warm) or zero if its size differs (cold). The
/// status is the solver's own, corrected by the exact residuals of its final impulse. Throws
/// std::invalid_argument for an unknown name, for given_regularisation of another size and for a
/// cone larger than SolverEntry::largest_cone.
void solve(const ContactProblem& problem,
           const SolverSettings& settings,
           SolverWorkspace& work,
           ContactSolution& solution);

/// Factorisations that a solve() with ncp-newton takes at most, all islands together.
std::int64_t most_factorisations(const ContactProblem& problem, const SolverSettings& settings);

}  // namespace stiction
