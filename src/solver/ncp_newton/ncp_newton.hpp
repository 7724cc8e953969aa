#pragma once

#include "solver/common/compliance_limit.hpp"
#include "solver/dense/dense_island.hpp"
#include "solver/ncp_newton/bilateral_elimination.hpp"
#include "solver/ncp_newton/budget.hpp"
#include "solver/ncp_newton/conjugate_gradients.hpp"
#include "solver/ncp_newton/gauss_seidel.hpp"
#include "solver/ncp_newton/interior_point.hpp"
#include "solver/ncp_newton/interior_space.hpp"
#include "solver/ncp_newton/mode_newton.hpp"
#include "solver/ncp_newton/multipliers.hpp"
#include "solver/ncp_newton/space_newton.hpp"
#include "solver/solvers.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace stiction {

struct RowSizes;

/// Islands of more rows are left to sweeps, Newton and the method of multipliers: an interior point
/// method factors all rows, 80 times and more.
inline constexpr int kMaxInteriorRows = 400;
/// Up to so many rows sweeps and Newton find the solution nearest to the start, as a rule.
inline constexpr int kMinMultiplierRows = 60;
inline constexpr double kUnknown = 1e300;
/// Factorisations that an elimination of bilateral rows may take beside those of what is left.
inline constexpr int kEliminationSolves = 1;

/// Proximal terms of Newton on the modes.
inline constexpr double kLarge = 1e-6, kSmall = 1e-9;

struct NcpNewtonWork {
  /// Of one object of NcpNewton alone.
  struct Own {
    Buffer<GaussSeidel::Local> locals;
    Buffer<double> best, first;  ///< impulses
    Buffer<double> scale;        ///< canonical
  };
  Own given, relaxed;                            ///< of the problem; of `compliant`
  ContactProblem compliant;                      ///< the problem with compliance added
  const ContactProblem* compliant_of = nullptr;  ///< which it was copied of in this solve
  ModeNewtonWork modes;
  MultiplierWork multipliers;
  SpaceNewtonWork space;
  ConjugateGradientWork gradients;
  InteriorWork interior;
  InteriorSpaceWork interior_space;
  DenseIslandWork dense;
  BilateralWork bilateral;

  /// Room for the stages that few problems need, so that they allocate nothing when they are.
  void reserve(const ContactProblem& problem);
};

/// Newton's systems of the island are those of the bodies' coordinates.
inline bool newton_in_coordinates(const Island& island) {
  return island.is_loose() || in_one_tree(island.problem.space);
}
/// Up to so many rows of the island ncp-newton looks for the limit of vanishing compliance.
int most_limit_rows(const Island& island);

/// Beyond so many rows a dense factorisation costs more than one of the trees, however many they
/// are (drops of 100 and 500 boxes: bodies have 2 to 4 contacts each on impact).
int most_coordinates(const Island& island);

/// Few rows: the course of worlds on lanes, which has their bits. False: not solved; all then
/// begins anew from the same start. `sweeps` is what it took.
bool solve_few_rows(const Island& island,
                    const SolverSettings& settings,
                    Budget budget,
                    DenseIslandWork& work,
                    double* lambda,
                    double* velocity,
                    int& sweeps,
                    ContactSolution& solution);

/// ncp-newton on one island: its stages one after the other (ncp_newton.cpp).
class NcpNewton {
 public:
  /// A way to a solution, or to the certainty that there is none.
  struct Stage {
    const char* name;
    bool (NcpNewton::*applies)() const;
    bool (NcpNewton::*run)();  ///< true: the solve ends here,
    SolveStatus exit;          ///< as this says
  };

  NcpNewton(const Island& island,
            const SolverSettings& settings,
            const Budget& budget,
            NcpNewtonWork& work,
            NcpNewtonWork::Own& own,
            double* lambda,
            double* velocity,
            const BilateralElimination* elimination = nullptr);  ///< that left the problem

  /// `log`, if given, gets a record of each stage that ran.
  SolveStatus solve(std::vector<StageRecord>* log);
  /// Solves the problem with a little compliance, within a budget of its own; `regularisation`
  /// receives it, by row.
  bool regularise(std::vector<double>& regularisation);
  int sweeps() const { return sweeps_; }
  void count_sweeps(int taken) { sweeps_ += taken; }
  const Residuals& certificate() const { return certificate_; }

 private:
  static const Stage kStages[];

  // When a stage applies.
  bool always() const { return true; }
  bool whole() const { return !relaxed_; }
  bool small() const { return island_.rows() <= kMaxInteriorRows && !budget_.was_exhausted(); }
  bool small_and_whole() const { return small() && whole(); }
  bool in_coordinates() const { return newton_in_coordinates(island_); }
  bool warm() const { return can_start_soft() && warm_; }
  bool cold() const { return can_start_soft() && !warm_; }
  bool many_loose() const { return many_rows() && island_.is_loose(); }
  bool large_in_space() const { return many_rows() && is_large(island_); }
  bool many_in_space() const { return many_loose() || large_in_space(); }
  /// Where bodies are loose, sparse methods are worth more than dense ones of so many rows.
  bool worth_panels() const { return !island_.is_loose() || island_.rows() <= kMaxInteriorRows; }
  /// Where trees are known. What bilateral rows leave knows them through their elimination, with a
  /// full Z: Newton on G is the shorter way there as a rule.
  bool multipliers_come_first() const {
    return island_.rows() > kMinMultiplierRows && island_.problem.space.known();
  }
  bool many_rows() const { return whole() && multipliers_come_first(); }
  bool few_rows() const { return whole() && !multipliers_come_first(); }

  // The stages.
  bool start_well();
  bool go_inside(bool near, int first, int last);
  bool go_inside_first();
  bool go_inside_last();
  bool follow_path_in_space(InteriorSpace& interior);
  bool sweep_loose();
  bool come_to_rest();
  bool multipliers(int most);
  bool all_multipliers();
  bool multipliers_from_best();
  bool last_multipliers();
  bool take_turns();
  bool overflown() { return !std::isfinite(certificate_.relative); }
  bool at_limit();
  bool acceptable();
  bool infeasible();
  bool try_interior_point();
  bool scatter();

  // The limit of vanishing compliance.
  enum class Stiffened { kSolved, kNear, kLost };
  bool find_limit();
  bool begin_anew();
  void choose();
  bool can_start_soft() const;
  bool may_have_others() const;
  bool newton_with_compliance(double share, const LimitPass& pass);
  Stiffened stiffen(int steps);
  bool is_solution();
  bool is_pressed() const;
  bool take_least();
  bool follow_from_zero();
  void add_share_to_all(double share);
  void keep_first();
  void return_to_first();

  bool solved() const { return certificate_.relative <= tolerance_ && own_shares_are_small(); }
  bool solved_to(double in_motion) const;
  bool bodies_rest() const {
    return !island_.problem.resting.empty() && island_.problem.resting[island_.first];
  }
  bool own_shares_are_small() const;
  void spare_light_bodies();
  void try_harder(double tolerance, int most);
  void hold_still();
  void evaluate();
  void keep_best();
  void return_to_best();
  bool sweep(int count);
  bool sweep_while_it_helps();
  bool newton(int steps, double proximal, double tolerance);
  bool newton(int steps, double proximal) { return newton(steps, proximal, tolerance_); }
  bool in_tree_space();
  bool cheap_to_factor();
  bool dear_to_factor();
  bool pays_to_factor();
  Residuals step_in_space(const NewtonSettings& settings, int patience, const Residuals& from);
  bool newton_in_space();
  bool drowns(const RowSizes& sizes) const;
  bool rounding_exhausted() const;
  bool follow_central_path(const InteriorPoint::Start& start);
  void make_compliant(int set, int row, double compliance);
  void make_normals_compliant(double share);
  bool solve_compliant();

  const Island island_;
  const SolverSettings& settings_;
  double tolerance_;  ///< of the stages to come
  Budget budget_;
  NcpNewtonWork& work_;
  NcpNewtonWork::Own& own_;
  double *lambda_, *velocity_;
  const BilateralElimination* elimination_;  ///< null: none left the problem
  const int sweeps_per_turn_;
  int sweeps_ = 0;
  bool warm_ = false;      ///< the start was not zero
  bool relaxed_ = false;   ///< the problem is work_.compliant
  bool accepted_ = false;  ///< the impulses are the limit
  double weakest_ = 0.0;   ///< least pivot of Newton's last system
  std::optional<bool> in_tree_space_;
  std::optional<GaussSeidel> gauss_seidel_;  ///< once there is a sweep
  Residuals certificate_;  ///< of the impulses after the last sweep or step of a stage
  Residuals best_;         ///< of own_.best
};

}  // namespace stiction
