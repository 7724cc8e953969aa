#include "solver/first_order/admm.hpp"

#include "stiction/math/constants.hpp"

#include <Eigen/Core>

namespace stiction {

void AdmmWork::reserve(int n) {
  grow(static_cast<std::size_t>(n) * padded(n), G, factor);
  grow(n, split, scale, g, x, y, z, next, before, relaxed, aim);
}

ShiftedDelassus::ShiftedDelassus(AdmmWork& work, int n, double eta, int& factorisations)
    : work_(work), n_(n), stride_(padded(n)), eta_(eta), factorisations_(factorisations) {}

double ShiftedDelassus::largest_eigenvalue() const {
  constexpr int kIterations = 20;
  constexpr double kPrecision = 1e-2;  // it only scales the penalty
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  if (n_ == 0) return 0.0;
  const Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>> G(
      work_.G, n_, n_, Eigen::OuterStride<>(stride_));
  Eigen::Map<Eigen::VectorXd> u(work_.next, n_), v(work_.aim, n_);
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
  rho_ = rho;
  double* H = work_.factor;
  std::copy(work_.G.data(), work_.G + static_cast<std::size_t>(n_) * stride_, H);
  for (int r = 0; r < n_; ++r)
    H[static_cast<std::size_t>(r) * (stride_ + 1)] += eta_ + rho * work_.split[r];
  ++factorisations_;
  return factor_symmetric(H, n_, stride_);
}

void ShiftedDelassus::solve(double* x) const { substitute_symmetric(work_.factor, n_, stride_, x); }

}  // namespace stiction
