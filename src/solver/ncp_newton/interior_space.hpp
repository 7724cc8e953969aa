#pragma once

#include "solver/common/island.hpp"
#include "solver/ncp_newton/cone_planes.hpp"
#include "solver/ncp_newton/predictor_corrector.hpp"
#include "solver/ncp_newton/scalar_rows.hpp"
#include "solver/ncp_newton/tree_space.hpp"

namespace stiction {

struct InteriorSpaceWork {
  InteriorPoints at;
  // [3][contacts], then [scalars], unless said otherwise, in canonical scaling.
  Buffer<double> scale, g, compliance;  ///< scale: 0 of a row that a contact lacks
  Buffer<double> w, beta, p;            ///< of contacts: cone_planes.hpp
  Buffer<double> B, H;                  ///< B = E W^2 + R, H = B^-1 [3][3][contacts], [scalars]
  Buffer<double> r, d, b, x, error;     ///< residual, what is aimed for, right-hand sides
  Buffer<double> low, high;             ///< [scalars]
  Buffer<int> set, row;                 ///< of contacts, of scalars
  Buffer<int> place;            ///< [sets of the island] contact, or -1 - the first of its scalars
  Buffer<double> scratch;       ///< [2][contacts]
  Buffer<double> scale_of_row;  ///< by row of the problem, as are:
  Buffer<double> impulse, motion;
  Buffer<double> slopes;  ///< blocks of H in units of the problem, as TreeSpace::Rows numbers them
  Buffer<double> y;       ///< coordinates of the trees

  /// Room for problems of `total` rows with islands of `sets` sets, `coordinates` of trees.
  void reserve(std::size_t total, int sets, int coordinates);
};

/// The interior point method (interior_point.hpp) without G, for contacts of three rows or one,
/// limits, dry friction and closures between trees: a step factors m + Z H Z^T in their
/// coordinates.
class InteriorSpace final : public PredictorCorrector {
 public:
  /// Whether the island has such sets alone.
  static bool applies(const Island& island);
  /// `space` is prepared for the island.
  InteriorSpace(const Island& island,
                TreeSpace& space,
                InteriorSpaceWork& work,
                WorkAccount& account);

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

  void list_rows();
  void scale_rows();
  int row(int contact, int r) const;
  int first_row(int contact) const;
  bool fill_cone_slopes(int contact, double* slopes);
  int rows() const { return cone_planes::kRows * n_ + scalars_; }
  /// Of an array of all rows, the part of the scalars.
  template <class T>
  T* tail(T* x) const {
    return x + cone_planes::kRows * n_;
  }
  scalar_rows::Bounds bounds() const { return {scalars_, w_.low, w_.high}; }
  scalar_rows::Pairs scalars_of(const InteriorPoints::Point& p) const {
    return {tail(p.l.data()), tail(p.y.data()), p.z};
  }
  void clear();
  void evaluate();
  void multiply(const double* l, double* out);
  void times(const double* A, const double* x, double* out) const;
  void solve(double* b);
  void solve_once(double* b);
  void scatter(const double* x, double* rows) const;
  cone_planes::Scalings scalings() { return {w_.w, w_.beta, w_.p}; }

  const Island island_;
  TreeSpace& space_;
  InteriorSpaceWork& w_;
  int n_ = 0, scalars_ = 0;  ///< contacts, other rows
  bool three_rows_ = false;  ///< each contact; there is nothing else
  bool compliant_ = false;
  double unit_ = 1.0;  ///< velocity that is 1 in scaled units [m/s]
};

}  // namespace stiction
