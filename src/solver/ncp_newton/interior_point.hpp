#pragma once

#include "solver/common/island.hpp"
#include "solver/ncp_newton/predictor_corrector.hpp"

namespace stiction {

struct InteriorWork {
  enum class Kind : int { kCone, kPositive, kBox, kFree };
  /// Consecutive rows of the reduced system that obey one law.
  struct Cell {
    Kind kind;
    int row, dim;
  };
  InteriorPoints at;
  Buffer<Cell> cells;
  Buffer<int> row, pivot, end;         ///< row: of the problem
  Buffer<double> matrix, factor;       ///< G, and G + E W^2 factored
  Buffer<double> scale, g, low, high;  ///< of the reduced rows
  Buffer<double> r, d;                 ///< residual; what is aimed for
  Buffer<double> scale_of_row, fixed;  ///< by row of the problem; fixed: known impulses
  Buffer<int> column;                  ///< likewise; -1: not in the system

  /// Room for problems of `total` rows with islands of at most `rows`.
  void reserve(std::size_t total, int rows);
};

/// A primal-dual interior point method for the NCP of one island, De Saxce's term inside the Newton
/// step. In canonical scaling (mode_newton.cpp) it keeps l and y inside the cones and follows
///   G l + g = c(y),  c(y) = y - ||y_T|| e_N,  l o y = m e,  m -> 0.
/// Finds the modes where sweeps and Newton on the modes circle; the last digits are left to those.
class InteriorPoint final : public PredictorCorrector {
 public:
  enum class Problem {
    kContact,
    /// The same to stop on its path; contacts that nothing moves are left out.
    kPath,
    /// min 1/2 d . G d + 1/2 (g . d + 1)^2 over normal impulses d: a direction that pushes without
    /// effect has G d = 0 and g . d = -1.
    kDirection,
  };
  /// Copies and scales the island.
  InteriorPoint(const Island& island, Problem problem, InteriorWork& work, WorkAccount& account);

  void restart(const Start& start);
  /// Steps onto the path at l o y = `energy` e [J], bounds likewise, where
  ///   c(y) = y - (sqrt(||y_T||^2 + slip^2) - slip) e_N,  slip in m/s,
  /// until rounding is reached. The relative residual of these equations; infinite if it breaks
  /// down.
  double centre(double energy, double slip, int max_steps, const Interrupt& interrupt);
  /// Where centre() begins: at pairs of `size` times the energy.
  void restart_above(double energy, double size);
  /// The iterate, indexed by the problem's rows.
  void copy_impulse(double* lambda) const;
  /// y of contacts [m/s] and of bounds (of the upper one where there is no lower), likewise: with
  /// l = (lambda_T, mu lambda_N) it is energy l^-1.
  void copy_dual(double* y) const;
  /// Of kDirection: how far G d is from zero, max_i |sum_j G_ij d_j| / sum_j |G_ij d_j|; infinite
  /// if g . d >= 0.
  double effect() const;

 private:
  using Kind = InteriorWork::Kind;
  using Cell = InteriorWork::Cell;

  void list_cells();
  void scale();
  void evaluate();
  bool factorise() override;
  double slip(int row) const;
  template <int D>
  double smooth_norm(int row) const;
  template <int D>
  double shift(int row) const;
  double path_error() const;
  double step_along_path();
  template <int D>
  void add_cone(int row);
  void direction(double centre, bool corrected, double share) override;
  template <int D>
  void aim_cone(int row, double centre, bool corrected, double share);
  void aim_interval(int row, double centre, bool corrected);
  double longest_step() const override;
  double worst_eigenvalue(double alpha, double* mean) const override;
  void move(double alpha) override;
  template <class Visit>
  void each_pair(int cell, double alpha, Visit&& visit) const;

  const Island island_;
  const Problem problem_;
  InteriorWork& w_;
  int n_ = 0, stride_ = 0, cells_ = 0;
  double unit_ = 1.0;   ///< velocity that is 1 in scaled units [m/s]
  double slip_ = -1.0;  ///< of centre() [m/s]; < 0: not smoothed but in the Jacobian
};

}  // namespace stiction
