#pragma once

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/solver/solver_settings.hpp"

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
  kBudget,           ///< max_factorisations, max_work or time_budget is used up; likewise
  kInfeasible,       ///< the problem has no solution: a normal impulse that pushes without effect
  kNotFinite,        ///< the problem or its impulses hold a NaN, an infinity or a number whose
                     ///< square is one (above 1e154); impulse is zero
};
const char* to_string(SolveStatus status);

/// Scratch of any solver: each algorithm owns a struct in it, grown on demand, without meaning
/// between calls.
class SolverWorkspace {
 public:
  SolverWorkspace();
  ~SolverWorkspace();
  SolverWorkspace(SolverWorkspace&&) noexcept;
  SolverWorkspace& operator=(SolverWorkspace&&) noexcept;

  struct Parts;
  Parts& parts() { return *parts_; }
  const Parts& parts() const { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

/// What a stage of ncp-newton did on an island.
struct StageRecord {
  const char* stage;
  int island;          ///< its first set
  int factorisations;  ///< of the stage
  double relative;     ///< residual of the best impulses after it
  bool ends;           ///< the solve ended here
};

struct ContactSolution {
  std::vector<double> impulse;   ///< in: warm start; out: lambda [rows]
  std::vector<double> velocity;  ///< c = (G + R) lambda + g, exact for the final impulse [rows]
  Residuals residuals;           ///< the certificate: of the NCP, with physical compliance only
  Residuals model_residuals;     ///< of the model solved, with `regularisation`; worst island
  ContactModel model = ContactModel::kNcp;
  std::vector<double> regularisation;  ///< added by the solver to diag(G) [rows]; empty if none
  double path_energy = 0.0;            ///< [J] 0: of the model itself; else of solve_on_path
  std::vector<double> path_velocity;   ///< [rows] y of solve_on_path: of cones where they are
                                       ///< circular [m/s]; where there is no lower bound, z
  double penalty = 0.0;       ///< ADMM, of rows scaled to a mean diagonal of 1, in: to start with,
                              ///< 0: by rule; out: the last one, of the slowest island
  bool certified = false;     ///< set by a solver of the NCP whose residuals and velocity are exact
                              ///< for its final impulse
  bool deterministic = true;  ///< false if a time budget could have ended it
  double tolerance = 0.0;     ///< of the residuals, that held: `tolerance`, or `tolerance_large`
                              ///< or `acceptable` if an island needed it
  int iterations = 0;         ///< of the slowest island
  int factorisations = 0;     ///< linear systems factored, all islands
  double work = 0.0;          ///< multiplications, about: ncp-newton
  bool record_stages = false;       ///< in: whether `stages` is filled
  std::vector<StageRecord> stages;  ///< of ncp-newton, in the order in which they ran
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
