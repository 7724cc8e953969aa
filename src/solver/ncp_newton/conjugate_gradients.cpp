#include "solver/ncp_newton/conjugate_gradients.hpp"

#include "contact/contact_space.hpp"
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
void ConjugateGradientWork::reserve(std::size_t rows, std::size_t motions, int sets) {
  grow(rows, impulse, change, direction, velocity, scale);
  grow(motions, u, before, pushed);
  sweeps.reserve(sets);
}

Residuals conjugate_gradients(const Island& island,
                              const ConjugateGradientSettings& settings,
                              const Residuals& start,
                              double* lambda,
                              double* velocity,
                              ConjugateGradientWork& w,
                              int& iterations) {
  constexpr int kLook = 8;  // sweeps
  const ContactProblem& p = island.problem;
  const int begin = island.begin, end = island.end;
  const int motions = static_cast<int>(p.space.inverse.size());
  w.reserve(p.g.size(), motions, island.last - island.first);
  if (!w.sweeps.prepare(island)) return start;
  scale_rows(island, w.scale);
  Residuals best = start;
  double size = 0.0;
  std::copy(lambda + begin, lambda + end, w.impulse + begin);
  std::fill(w.direction + begin, w.direction + end, 0.0);
  std::fill_n(w.u.data(), motions, 0.0);
  std::fill_n(w.pushed.data(), motions, 0.0);
  loose_motion(p, island.first, island.last, w.impulse, w.u);
  for (int k = 1; k <= settings.max_iterations; ++k) {
    if (settings.interrupt.requested()) break;
    std::copy(w.impulse + begin, w.impulse + end, w.change + begin);
    std::copy_n(w.u.data(), motions, w.before.data());
    w.sweeps.sweep(w.impulse, w.u);
    ++iterations;
    double now = 0.0;
    for (int r = begin; r < end; ++r) {
      w.change[r] = w.impulse[r] - w.change[r];
      const double x = w.change[r] / w.scale[r];
      now += x * x;
    }
    if (!std::isfinite(now)) break;
    if (k % kLook == 0 || now == 0.0) {
      velocities(island, w.impulse, w.velocity);
      const Residuals here = residuals_at(p, w.impulse, w.velocity, island.first, island.last);
      if (here.relative < best.relative) {
        best = here;
        std::copy(w.impulse + begin, w.impulse + end, lambda + begin);
        std::copy(w.velocity + begin, w.velocity + end, velocity + begin);
      }
      if (best.relative <= settings.tolerance || now == 0.0) break;
    }
    const double beta = size > 0.0 ? now / size : 0.0, share = beta <= 1.0 ? 1.0 : 0.0;
    size = now;
    for (int r = begin; r < end; ++r) {
      w.impulse[r] += share * beta * w.direction[r];
      w.direction[r] = share * (beta * w.direction[r] + w.change[r]);
    }
    for (int m = 0; m < motions; ++m) {
      const double change = w.u[m] - w.before[m];
      w.u[m] += share * beta * w.pushed[m];
      w.pushed[m] = share * (beta * w.pushed[m] + change);
    }
  }
  return best;
}

}  // namespace stiction
