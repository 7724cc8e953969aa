#include "solver/ncp_newton/conjugate_gradients.hpp"

#include "math/clones.hpp"
#include "solver/ncp_newton/mode_newton.hpp"

#include <algorithm>
#include <cmath>

// A sweep maps lambda to S(lambda). Its change r = S(lambda) - lambda takes the place of a
// residual:
//
//   beta = |r_k|^2 / |r_{k-1}|^2,   lambda_{k+1} = S(lambda_k) + beta p_k,   p_{k+1} = beta p_k +
//   r_k,
//
// and where the changes grow, beta > 1, p_{k+1} = 0. Norms are those of canonical
// scaling. Motions of the bodies are linear in the impulses: u and that of p follow along.

namespace stiction {
namespace {

/// |x o unit|^2; `count` is a multiple of eight.
STICTION_CLONES double squared_size(int count, const double* x, const double* unit) {
  Octo sum{};
  for (int k = 0; k < count; k += 8) {
    const Octo y = octo(x + k) * octo(unit + k);
    sum += y * y;
  }
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/// x += share beta p, p <- share (beta p + change)
STICTION_CLONES void turn(
    int count, double share, double beta, const double* change, double* x, double* p) {
  for (int k = 0; k < count; k += 8) {
    const Octo along = octo(p + k) * beta;
    octo(x + k) = octo(x + k) + along * share;
    octo(p + k) = (along + octo(change + k)) * share;
  }
}

STICTION_CLONES void subtract(int count, const double* from, double* x) {
  for (int k = 0; k < count; k += 8) octo(x + k) = octo(from + k) - octo(x + k);
}

/// The true residual costs two sweeps: it is looked at where the size of the change lets expect
/// that it is small enough, and from time to time.
class Looks {
 public:
  explicit Looks(const ConjugateGradientSettings& settings) : settings_(settings) {}
  bool worth_one(int k, double change) const {
    constexpr int kOften = 8, kSeldom = 32;  // sweeps
    constexpr double kNear = 1.2;
    const bool near = per_change_ * change <= kNear * settings_.tolerance;
    return change == 0.0 || k == settings_.max_iterations || k - last_ >= (near ? kOften : kSeldom);
  }
  void saw(int k, double change, double residual) {
    last_ = k;
    if (change > 0.0) per_change_ = residual / change;
  }

 private:
  const ConjugateGradientSettings& settings_;
  int last_ = 0;
  double per_change_ = 0.0;
};

}  // namespace

void ConjugateGradientWork::reserve(std::size_t rows, int trees, int sets) {
  packs.reserve(sets, trees);
  grow(static_cast<std::size_t>(sets) * contact_pack::kPackImpulses,
       impulse,
       change,
       direction,
       unit);
  grow(static_cast<std::size_t>(ContactSpace::Side::kLooseRow) * (trees + 1), u, before, pushed);
  grow(rows, trial, velocity);
}

Residuals conjugate_gradients(const Island& island,
                              const ConjugateGradientSettings& settings,
                              const Residuals& start,
                              double* lambda,
                              double* velocity,
                              ConjugateGradientWork& w,
                              WorkAccount& account,
                              int& iterations) {
  const ContactProblem& p = island.problem;
  const int begin = island.begin, end = island.end;
  w.reserve(p.g.size(), p.space.num_trees(), island.last - island.first);
  ContactPacks& packs = w.packs;
  const double pass = pass_work(island);
  account.charge(pass);
  if (!packs.prepare(island)) return start;
  const int rows = packs.num_impulses(), motions = packs.num_motions();
  scale_rows(island, w.trial);
  for (int r = begin; r < end; ++r) w.trial[r] = 1.0 / w.trial[r];
  packs.pack(w.trial, w.unit);
  packs.pack(lambda, w.impulse);
  packs.find_motion(w.impulse, w.u);
  std::fill_n(w.direction.data(), rows, 0.0);
  std::fill_n(w.pushed.data(), motions, 0.0);
  Residuals best = start;
  Looks looks(settings);
  double size = 0.0, to_halve = 1e300;
  int halved = 0;
  // Sweeps that do not halve the residual: the dearer a factorisation is, the more of them.
  const int patience = island.rows() <= 1000 ? 32 : 128;
  for (int k = 1; k <= settings.max_iterations; ++k) {
    if (settings.interrupt.requested() || !account.take(pass)) break;
    std::copy_n(w.u.data(), motions, w.before.data());
    packs.sweep(w.impulse, w.change, w.u);
    ++iterations;
    const double now = squared_size(rows, w.change, w.unit);
    if (!std::isfinite(now)) break;
    if (looks.worth_one(k, std::sqrt(now))) {
      account.charge(2.0 * pass);
      packs.unpack(w.impulse, w.trial);
      velocities(island, w.trial, w.velocity);
      const Residuals here = residuals_at(p, w.trial, w.velocity, island.first, island.last);
      looks.saw(k, std::sqrt(now), here.relative);
      if (here.relative < best.relative) {
        best = here;
        std::copy(w.trial + begin, w.trial + end, lambda + begin);
        std::copy(w.velocity + begin, w.velocity + end, velocity + begin);
      }
      if (best.relative <= settings.tolerance || now == 0.0) break;
      if (best.relative <= 0.5 * to_halve) {
        to_halve = best.relative;
        halved = k;
      }
      if (k - halved >= patience) break;
    }
    const double ratio = size > 0.0 ? now / size : 0.0;
    const double share = ratio <= 1.0 ? 1.0 : 0.0, beta = share * std::min(ratio, 1.0);
    size = now;
    turn(rows, share, beta, w.change, w.impulse, w.direction);
    subtract(motions, w.u, w.before);
    turn(motions, share, beta, w.before, w.u, w.pushed);
  }
  return best;
}

}  // namespace stiction
