#pragma once

#include "math/factor_symmetric.hpp"
#include "solver/common/buffer.hpp"
#include "solver/first_order/spectral_penalty.hpp"

#include <cstddef>
#include <vector>

namespace stiction {

/// [n], but for the matrices [n x padded(n)]: G, and H = G + eta 1 + rho P factored.
struct AdmmWork {
  Buffer<double> G, factor;
  Buffer<double> split;  ///< P: 1 on the rows that are projected, 0 on those that are free
  Buffer<double> scale;  ///< of rows: an impulse in N s over that in the units of x, y
  Buffer<double> g, x, y, z, next, before, relaxed, aim;
  void reserve(int n);
};

/// Of ncp-admm and of ccp-admm.
struct IslandAdmmWork {
  AdmmWork admm;
  Buffer<double> best;
};

/// Of the staggered projections.
struct StaggeredWork {
  struct Block {
    AdmmWork admm;
    Buffer<int> row;                      ///< of the problem
    Buffer<double> lower, upper, radius;  ///< by row of the block; radius: by pair
  };
  Block normal, friction;
  Buffer<double> G, g, best;  ///< of the island
};

/// H; G, split and scale are filled.
class ShiftedDelassus {
 public:
  ShiftedDelassus(AdmmWork& work, int n, double eta, int& factorisations);
  int size() const { return n_; }
  double eta() const { return eta_; }
  double diagonal(int row) const { return work_.G[static_cast<std::size_t>(row) * (stride_ + 1)]; }
  /// Of G by power iteration: from below, but at least max diag(G).
  double largest_eigenvalue() const;
  /// Factorises H, unless rho is that of the last call; false if a pivot is not positive.
  bool set_penalty(double rho);
  /// x <- H^-1 x.
  void solve(double* x) const;

 private:
  AdmmWork& work_;
  int n_, stride_;
  double eta_, rho_ = -1.0;
  int& factorisations_;
};

/// ADMM for min 1/2 x' G x + g' x on a set, or for the NCP, whose De Saxce term Gamma is frozen in
/// each iteration, which leaves a convex problem (Carpentier, Le Lidec and Montaut, "From Compliant
/// to Rigid Contact Simulation: a Unified and Efficient Approach", 2024; Le Lidec et al., "Contact
/// Models in Robotics: a Comparative Analysis", T-RO 2024, Algorithm 3, with gamma = -z):
///   x = (G + eta + rho P)^-1 (rho P y + eta x + z - Gamma(z) - g),  r = alpha x + (1 - alpha) y
///   y = projection of r - z / rho,   z <- z - rho (r - y)           z -> c + Gamma(c) in K*
/// Rows that are not split are solved by the first line: y = x, z = 0. A model says what the set
/// is, project(y), and what Gamma does, subtract_shift(z, rhs).
template <class Model>
class Admm {
 public:
  Admm(const Model& model,
       const ShiftedDelassus& delassus,
       const SpectralPenalty& penalty,
       double over_relaxation,
       AdmmWork& work)
      : model_(model), delassus_(delassus), penalty_(penalty), alpha_(over_relaxation), w_(work) {}

  /// Of an iteration: max |r - y| and max |G x + g - z + Gamma|, in the units of x and z, and the
  /// larger of diag(G) |r - y| and the other as a velocity [m/s].
  struct Gaps {
    double primal = 0.0, dual = 0.0, speed = 0.0;
  };
  /// False if the matrix has a pivot that is not positive.
  bool step(Gaps& gaps) {
    const double rho = penalty_.rho(), eta = delassus_.eta();
    const int n = delassus_.size();
    if (!delassus_.set_penalty(rho)) return false;
    for (int r = 0; r < n; ++r)
      w_.next[r] = rho * w_.split[r] * w_.y[r] + eta * w_.x[r] + w_.z[r] - w_.g[r];
    model_.subtract_shift(w_.z, w_.next);
    delassus_.solve(w_.next);
    for (int r = 0; r < n; ++r) {
      const bool free = w_.split[r] == 0.0;
      w_.before[r] = w_.y[r];
      w_.relaxed[r] = free ? w_.next[r] : alpha_ * w_.next[r] + (1.0 - alpha_) * w_.y[r];
      w_.y[r] = w_.aim[r] = w_.relaxed[r] - w_.z[r] / rho;
    }
    model_.project(w_.y);
    gaps = {};
    for (int r = 0; r < n; ++r) {
      const double split = rho * w_.split[r];
      w_.z[r] = split * (w_.y[r] - w_.aim[r]);
      const double primal = std::abs(w_.relaxed[r] - w_.y[r]);
      const double dual = std::abs(split * (w_.y[r] - w_.before[r]) + eta * (w_.next[r] - w_.x[r]));
      gaps.primal = std::max(gaps.primal, primal);
      gaps.dual = std::max(gaps.dual, dual);
      gaps.speed =
          std::max(gaps.speed, std::max(delassus_.diagonal(r) * primal, dual) / w_.scale[r]);
      w_.x[r] = w_.next[r];
    }
    return true;
  }
  /// From the next step on.
  void over_relax(double alpha) { alpha_ = alpha; }
  /// By the last gaps, in one unit.
  void update_penalty(double primal, double dual) { penalty_.update(primal, dual); }
  double rho() const { return penalty_.rho(); }

 private:
  Model model_;
  ShiftedDelassus delassus_;
  SpectralPenalty penalty_;
  double alpha_;
  AdmmWork& w_;
};

}  // namespace stiction
