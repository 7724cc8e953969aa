#include "solver/first_order/block_admm.hpp"

#include <Eigen/Cholesky>

namespace stiction {
namespace {

/// At most; from below. `v` and `w` are scratch.
double largest_eigenvalue(const Scratch::Matrix& G, Scratch::Vector& v, Scratch::Vector& w) {
  constexpr int kIterations = 10;
  if (v.size() == 0) return 0.0;
  v.setConstant(1.0 / std::sqrt(static_cast<double>(v.size())));
  double norm = 0.0;
  for (int k = 0; k < kIterations; ++k) {
    w.noalias() = G * v;
    norm = w.norm();
    if (!(norm > 0.0)) break;
    v = w / norm;
  }
  return std::max(norm, v.size() ? G.diagonal().maxCoeff() : 0.0);
}

}  // namespace

BlockAdmm::BlockAdmm(Scratch& scratch, int rows, int pairs)
    : G(scratch.matrix(rows, rows)),
      lower(scratch.vector(rows)),
      upper(scratch.vector(rows)),
      radius(scratch.vector(rows)),
      g(scratch.vector(rows)),
      z(scratch.vector(rows)),
      gamma(scratch.vector(rows)),
      rows_(rows),
      pairs_(pairs),
      factor_(scratch.matrix(rows, rows)),
      x_(scratch.vector(rows)),
      x_old_(scratch.vector(rows)),
      z_old_(scratch.vector(rows)),
      relaxed_(scratch.vector(rows)) {}

void BlockAdmm::start(double eta, double over_relaxation, int& factorisations) {
  eta_ = eta;
  alpha_ = over_relaxation;
  constexpr double kRange = 1e12;
  const SpectralPenalty::Rule rule{
      .power = 0.4,
      .step = 0.1,
      .lowest = eta / kRange,
      .highest = kRange * kRange * eta,
      .least_factor = 1.5,
  };
  penalty_ = {eta, eta + largest_eigenvalue(G, x_, z_old_), rule};
  factorise(factorisations);
}

void BlockAdmm::factorise(int& factorisations) {
  const double rho = penalty_.rho();
  factor_ = G;
  for (int r = 0; r < rows_; ++r) factor_(r, r) += eta_ + (bounded(r) ? rho : 0.0);
  Eigen::Ref<Eigen::MatrixXd> in_place(factor_);
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> cholesky(in_place);
  ++factorisations;
}

void BlockAdmm::minimise() {
  const double rho = penalty_.rho();
  x_old_ = x_;
  z_old_ = z;
  x_ = eta_ * x_old_ - g;
  for (int r = 0; r < rows_; ++r)
    if (bounded(r)) x_[r] += rho * z_old_[r] - gamma[r];
  factor_.triangularView<Eigen::Lower>().solveInPlace(x_);
  factor_.transpose().triangularView<Eigen::Upper>().solveInPlace(x_);
  for (int r = 0; r < rows_; ++r) {
    relaxed_[r] = bounded(r) ? alpha_ * x_[r] + (1.0 - alpha_) * z_old_[r] : x_[r];
    z[r] = bounded(r) ? relaxed_[r] + gamma[r] / rho : x_[r];
  }
}

BlockAdmm::Gap BlockAdmm::update_multiplier() {
  const double rho = penalty_.rho();
  Gap gap;
  for (int r = 0; r < rows_; ++r) {
    double dual = -eta_ * (x_[r] - x_old_[r]);  // G x + g + gamma, from the first line
    if (bounded(r)) {
      gamma[r] += rho * (relaxed_[r] - z[r]);
      dual += rho * (relaxed_[r] - x_[r] + z_old_[r] - z[r]);
    }
    gap.primal = std::max(gap.primal, std::abs(x_[r] - z[r]));
    gap.dual = std::max(gap.dual, std::abs(dual));
  }
  return gap;
}

}  // namespace stiction
