#pragma once

#include "solver/ncp_newton/gauss_seidel.hpp"
#include "solver/ncp_newton/interior_point.hpp"
#include "solver/ncp_newton/mode_newton.hpp"
#include "solver/ncp_newton/multipliers.hpp"
#include "solver/solvers.hpp"

#include <chrono>

namespace stiction {

struct RowSizes;

/// Islands of more rows are left to sweeps, Newton and the method of multipliers.
inline constexpr int kMaxInteriorRows = 400;
/// Up to so many rows sweeps and Newton find the solution nearest to the start.
inline constexpr int kMinMultiplierRows = 60;
inline constexpr double kUnknown = 1e300;
/// Factorisations that an island may take where max_factorisations is 0: dense ones of up to `rows`
/// rows, for its solution and once more for that of the compliant problem if it is infeasible, and
/// sparse ones in the coordinates of its trees. The work of the dense ones of all islands is about
/// that of one island with all the rows, 30 ms at 300.
inline constexpr int kSparseFactorisations = 600;
inline int dense_factorisations(int rows) {
  const double share = rows / 72.0;
  return 2 + static_cast<int>(800.0 / (1.0 + share * share));
}

/// Proximal terms of Newton on the modes.
inline constexpr double kLarge = 1e-6, kSmall = 1e-9;

struct NcpNewtonWork {
  /// Of one object of NcpNewton alone.
  struct Own {
    Buffer<GaussSeidel::Local> locals;
    Buffer<double> best;  ///< impulses
  };
  Own given, relaxed;        ///< of the problem; of `compliant`
  ContactProblem compliant;  ///< the problem with compliance added
  ModeNewtonWork modes;
  MultiplierWork multipliers;
  InteriorWork interior;
};

/// The stages of ncp-newton on one island (ncp_newton.cpp).
class NcpNewton {
 public:
  using Clock = std::chrono::steady_clock;
  NcpNewton(const Island& island,
            const SolverSettings& settings,
            int max_factorisations,
            NcpNewtonWork& work,
            NcpNewtonWork::Own& own,
            int& factorisations,
            Clock::time_point deadline,
            double* lambda,
            double* velocity);

  SolveStatus solve();
  /// Solves the problem with a little compliance; `regularisation` receives it, by row.
  bool regularise(std::vector<double>& regularisation);
  /// Factorisations beyond those given so far.
  void allow(int more) {
    enough_ = max_factorisations_ += more;
    out_of_budget_ = false;
  }
  int sweeps() const { return sweeps_; }
  const Residuals& certificate() const { return certificate_; }

 private:
  bool solved() const { return certificate_.relative <= settings_.tolerance; }
  bool limited() const { return certificate_.rounding_limited(); }
  /// Limited by so much that other stages are not worth a try.
  bool at_limit() const { return certificate_.backward <= 1e-13 && certificate_.relative <= 1e-8; }
  /// Factorisations until there are `limit` of them, >= 0.
  int left_of(int limit) const;
  bool exhausted();
  void evaluate();
  bool sweep(int count);
  bool sweep_while_it_helps();
  bool newton(int steps, double proximal);
  bool take_turns();
  bool multipliers();
  bool in_tree_space();
  bool follow_central_path(const InteriorPoint::Start& start);
  bool try_interior_point();
  bool infeasible();
  void make_compliant(double share);
  bool solve_compliant();
  bool solve_stages();
  bool follow_compliance();
  bool scatter();
  bool drowns(const RowSizes& sizes) const;
  bool start_well();
  void keep_best();
  void return_to_best();

  const Island island_;
  const SolverSettings& settings_;
  int max_factorisations_;  ///< never more
  int enough_;              ///< no stage begins after so many; one that has begun goes on
  NcpNewtonWork& work_;
  Buffer<double>& best_impulse_;
  int& factorisations_;
  Clock::time_point deadline_;
  double *lambda_, *velocity_;
  int first_factorisation_, sweeps_per_turn_, sweeps_ = 0;
  bool out_of_budget_ = false, knows_trees_ = false, in_tree_space_ = false;
  GaussSeidel gauss_seidel_;
  NewtonSettings newton_;
  Residuals certificate_, best_;
};

}  // namespace stiction
