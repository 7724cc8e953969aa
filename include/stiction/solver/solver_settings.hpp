#pragma once

#include "stiction/math/setting.hpp"
#include "stiction/solver/interrupt.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace stiction {

/// What a regularised solver (ccp-newton) adds to the diagonal of G.
enum class RegularisationRule : std::uint8_t {
  kContactNorm,  ///< R_N = weight ||G_ii||_F / (4 pi^2), R_T = 1e-3 R_N (Castro et al. 2022)
  kDiagonal,     ///< R = weight diag(G): MuJoCo's form
  kGiven,        ///< SolverSettings::given_regularisation
};

/// What the fields mean: kSolverSettings below.
struct SolverSettings {
  std::string name = "ncp-newton";  ///< see solvers()
  double tolerance = 1e-8;
  double tolerance_large = 1e-3;
  int max_iterations = 1000;
  int max_factorisations = 2000;
  double max_work = std::numeric_limits<double>::infinity();
  double time_budget = 0.0;
  double over_relaxation = 0.0;
  int facets = 4;
  double proximal = 1e-6;
  double raisim_alpha_min = 0.1;
  double raisim_gamma = 0.99;
  double raisim_bisection_tolerance = 1e-6;
  RegularisationRule regularisation = RegularisationRule::kContactNorm;  ///< ccp-newton
  double regularisation_weight = 1.0;
  std::vector<double> given_regularisation = {};  ///< [rows] > 0, with kGiven: ccp-newton
  bool regularise_infeasible = false;
  /// Residual that is taken for a solution where no cheap stage reaches `tolerance`; 0: none. A
  /// step sets it.
  double acceptable = 0.0;
  Interrupt interrupt = {};  ///< ends a solve early, with any status but kConverged

  /// Throws std::invalid_argument naming the field and its value: out of range, or not its default
  /// and not read by the solver.
  void validate(const SolverSettings& defaults) const;
  void validate() const { validate({}); }
  /// over_relaxation, or what the solver has where it is 0.
  double relaxation(double of_solver = 1.0) const {
    return over_relaxation > 0.0 ? over_relaxation : of_solver;
  }
};

inline constexpr std::tuple kSolverSettings{
    Setting<SolverSettings, double>{"tolerance",
                                    &SolverSettings::tolerance,
                                    kPositive,
                                    "",
                                    "On the relative residual of the solver's own model, of each "
                                    "island."},
    Setting<SolverSettings, double>{
        "tolerance_large",
        &SolverSettings::tolerance_large,
        kPositive,
        "",
        "The same of islands of more than 300 rows on several trees that the last impulses do not "
        "solve: piles in motion, robots in them. No more than `tolerance`: that of all.",
        "ncp-newton"},
    Setting<SolverSettings, int>{"max_iterations",
                                 &SolverSettings::max_iterations,
                                 kAtLeastOne,
                                 "",
                                 "Of an island, at most: sweeps, or steps of the algorithm."},
    Setting<SolverSettings, int>{
        "max_factorisations",
        &SolverSettings::max_factorisations,
        {">= 0, 0: by formula", kCount.holds},
        "",
        "Linear systems factored for an island, at most; 0: by a formula of its rows.",
        "ncp-newton"},
    Setting<SolverSettings, double>{
        "max_work",
        &SolverSettings::max_work,
        {">= 0, 0: by formula, inf: no bound",
         [](const double& x) { return x >= 0.0 && !std::isnan(x); }},
        "multiplications",
        "Of a step, or of a solve, at most: all islands and solutions together; 0: by a formula of "
        "its rows.",
        "ncp-newton"},
    Setting<SolverSettings, double>{
        "time_budget",
        &SolverSettings::time_budget,
        kNotNegative,
        "s",
        "Of a step, or of a solve: nothing but the safe answer begins later; 0: no budget. Results "
        "then depend on the machine.",
        "ncp-newton"},
    Setting<SolverSettings, double>{
        "over_relaxation",
        &SolverSettings::over_relaxation,
        {"in (0, 2), or 0: the solver's", [](const double& x) { return x >= 0.0 && x < 2.0; }},
        "",
        "Factor of each correction; the solver's is 1.4 of ccp-admm, of ncp-admm after 16 "
        "iterations, "
        "else 1.",
        "*-pgs *-admm *-staggered ncp-pgs-published *-admm-published"},
    Setting<SolverSettings, int>{
        "facets",
        &SolverSettings::facets,
        {"4, 8 or 16", [](const int& n) { return n == 4 || n == 8 || n == 16; }},
        "",
        "Of the friction pyramid.",
        "lcp-*"},
    Setting<SolverSettings, double>{"proximal",
                                    &SolverSettings::proximal,
                                    kPositive,
                                    "",
                                    "Proximal term eta / mean diag(G); as published eta [1/kg].",
                                    "*-admm *-admm-published *-staggered lcp-lemke lcp-qp"},
    Setting<SolverSettings, double>{
        "raisim_alpha_min",
        &SolverSettings::raisim_alpha_min,
        {"in (0, 1]", [](const double& x) { return x > 0.0 && x <= 1.0; }},
        "",
        "The relaxation falls from 1 to it.",
        "raisim raisim-published"},
    Setting<SolverSettings, double>{"raisim_gamma",
                                    &SolverSettings::raisim_gamma,
                                    kInUnit,
                                    "",
                                    "It falls by this factor of what is left in each sweep.",
                                    "raisim raisim-published"},
    Setting<SolverSettings, double>{
        "raisim_bisection_tolerance",
        &SolverSettings::raisim_bisection_tolerance,
        kPositive,
        "N s",
        "The bisection ends where the impulses of its ends differ by less.",
        "raisim-published"},
    Setting<SolverSettings, double>{"regularisation_weight",
                                    &SolverSettings::regularisation_weight,
                                    kPositive,
                                    "",
                                    "Factor of the rule of regularisation.",
                                    "ccp-newton"},
    Setting<SolverSettings, bool>{
        "regularise_infeasible",
        &SolverSettings::regularise_infeasible,
        kEither,
        "",
        "Answer an infeasible problem with the compliant one, status \"regularised\".",
        "ncp-newton"}};

}  // namespace stiction
