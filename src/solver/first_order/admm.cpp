#include "solver/first_order/admm.hpp"

#include "stiction/math/constants.hpp"

#include "math/factor_symmetric.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

ShiftedDelassus::ShiftedDelassus(const Island& island,
                                 double eta,
                                 Buffer<double>& matrix,
                                 int& factorisations)
    : island_(island),
      matrix_(matrix),
      factorisations_(factorisations),
      n_(island.rows()),
      stride_(padded(island.rows())),
      eta_(eta) {
  matrix.grow(static_cast<std::size_t>(n_) * stride_);
  load();
}

void ShiftedDelassus::load() {
  const ContactProblem& p = island_.problem;
  double* G = matrix_;
  std::fill(G, G + static_cast<std::size_t>(n_) * stride_, 0.0);
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    double* rows = G + static_cast<std::size_t>(set.offset - island_.begin) * stride_;
    p.each_column(i, [&](int j, int at) {
      for (int r = 0; r < set.dim; ++r)
        rows[static_cast<std::size_t>(r) * stride_ + j - island_.begin] = p.values[at + r];
    });
  }
}

double ShiftedDelassus::largest_eigenvalue(double* x, double* y) const {
  constexpr int kIterations = 20;
  constexpr double kPrecision = 1e-2;  // it only scales the penalty
  using Vector = Scratch::Vector;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>> G(
      matrix_, n_, n_, Eigen::OuterStride<>(stride_));
  Vector u(x, n_), v(y, n_);
  double largest = G.diagonal().maxCoeff(), before = 0.0;
  // Equal entries, the usual start, are orthogonal to the eigenvectors of mirrored contacts.
  for (int r = 0; r < n_; ++r) u[r] = 1.0 + 0.1 * (r % 3) + 0.01 * (r % 7);
  u.normalize();
  for (int k = 0; k < kIterations; ++k) {
    v.noalias() = G * u;
    const double norm = v.norm();
    if (!(norm > 0.0)) break;
    u = v / norm;
    largest = std::max(largest, norm);
    if (norm <= (1.0 + kPrecision) * before) break;
    before = norm;
  }
  return largest;
}

bool ShiftedDelassus::set_penalty(double rho) {
  if (rho == rho_) return true;
  if (rho_ >= 0.0) load();
  rho_ = rho;
  double* H = matrix_;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = island_.problem.sets[i];
    const double shift = set.kind == SetKind::kFree ? eta_ : eta_ + rho;
    for (int r = set.offset; r < set.offset + set.dim; ++r)
      H[static_cast<std::size_t>(r - island_.begin) * (stride_ + 1)] += shift;
  }
  ++factorisations_;
  return factor_symmetric(H, n_, stride_);
}

void ShiftedDelassus::solve(double* x) const { substitute_symmetric(matrix_, n_, stride_, x); }

}  // namespace stiction
