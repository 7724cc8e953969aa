#pragma once

#include "solver/common/island.hpp"
#include "solver/ncp_newton/cone_planes.hpp"
#include "solver/ncp_newton/predictor_corrector.hpp"
#include "solver/ncp_newton/tree_space.hpp"

namespace stiction {

struct InteriorSpaceWork {
  InteriorPoints at;
  // [3][contacts] unless said otherwise, in canonical scaling.
  Buffer<double> scale, g, compliance;  ///< scale: 0 of a row that a contact lacks
  Buffer<double> w, beta, p, B, H;   ///< cone_planes.hpp; B = E W^2 + R, H = B^-1 [3][3][contacts]
  Buffer<double> r, d, b, x, error;  ///< residual, what is aimed for, right-hand sides
  Buffer<double> scratch;            ///< [2][contacts]
  Buffer<double> scale_of_row;       ///< by row of the problem, as are:
  Buffer<double> impulse, motion;
  Buffer<double> slopes;  ///< blocks of H in units of the problem, as TreeSpace::Rows numbers them
  Buffer<double> y;       ///< coordinates of the trees

  /// Room for problems of `total` rows with islands of `sets` contacts, `coordinates` of trees.
  void reserve(std::size_t total, int sets, int coordinates);
};

/// The interior point method (interior_point.hpp) for contacts of three rows or one on loose
/// bodies, without G: a step factors m + Z H Z^T in the coordinates of the bodies.
class InteriorSpace final : public PredictorCorrector {
 public:
  /// Whether the island has such contacts alone.
  static bool applies(const Island& island);
  /// `space` is prepared for the island.
  InteriorSpace(const Island& island,
                TreeSpace& space,
                InteriorSpaceWork& work,
                int& factorisations);

  void restart(const Start& start);
  /// Near impulses and their velocity [rows]: at the pairs l o y = size e whose l - y is theirs.
  void restart_near(
      const double* lambda, const double* velocity, double size, double centring, double reach);
  /// The iterate, indexed by the problem's rows.
  void copy_impulse(double* lambda) const;

 private:
  bool factorise() override;
  void direction(double centre, bool corrected, double share) override;
  double longest_step() const override;
  double worst_eigenvalue(double alpha, double* mean) const override;
  void move(double alpha) override;

  int row(int contact, int r) const;
  int first_row(int contact) const;
  void clear();
  void evaluate();
  void multiply(const double* l, double* out);
  void solve(double* b);
  void solve_once(double* b);
  void scatter(const double* x, double* rows) const;
  cone_planes::Scalings scalings() { return {w_.w, w_.beta, w_.p}; }

  const Island island_;
  TreeSpace& space_;
  InteriorSpaceWork& w_;
  const int n_;            ///< contacts
  const bool three_rows_;  ///< each of them
  bool compliant_ = false;
  double unit_ = 1.0;  ///< velocity that is 1 in scaled units [m/s]
};

}  // namespace stiction
