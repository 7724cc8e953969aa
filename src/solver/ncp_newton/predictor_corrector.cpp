#include "solver/ncp_newton/predictor_corrector.hpp"

#include "stiction/math/constants.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

double first_of_pair(double difference, double product) {
  const double root = std::sqrt(difference * difference + 4.0 * product);
  return difference > 0.0 ? 0.5 * (difference + root) : 2.0 * product / (root - difference);
}

/// A step that keeps the pairs centred.
double PredictorCorrector::safe_step(double mean) const {
  const double reach = std::max(start_.reach, 1.0 - mean);
  const double least = std::min(start_.centring, mean > 0.0 ? 0.9 * worst_ / mean : 0.0);
  double alpha = std::min(1.0, reach * longest_step());
  for (int k = 0; k < 6; ++k, alpha *= 0.8) {
    double next;
    const double worst = worst_eigenvalue(alpha, &next);
    if (worst >= least * next) break;
  }
  return alpha;
}

/// How much of the complementarity to aim for: what the predictor, a step without centring, leaves
/// of it, cubed. Keeps the predictor.
double PredictorCorrector::predict() {
  direction(0.0, false, 1.0);
  const double reached = std::min(1.0, longest_step());
  double predicted;
  worst_eigenvalue(reached, &predicted);
  std::swap(points_.predictor, points_.step);
  const double ratio = mean_ > 0.0 ? predicted / mean_ : 0.0;
  return std::clamp(ratio * ratio * ratio, 1e-8, 1.0);
}

/// The direction with the longest step, which it returns. Where the corrected step is short: more
/// centring, less of the residual, none of it.
double PredictorCorrector::choose_direction(double sigma) {
  const struct {
    double sigma;
    bool corrected;
    double share, if_below;
  } tries[] = {{sigma, true, 1.0, kInfinity},
               {std::max(sigma, 0.3), false, 1.0, 0.1},
               {1.0, false, 0.3, 0.1},
               {1.0, false, 0.0, 0.02}};
  double best = -1.0;
  for (const auto& t : tries) {
    if (best >= t.if_below) break;
    direction(std::max(t.sigma * mean_, least_), t.corrected, t.share);
    const double alpha = safe_step(mean_);
    if (!(alpha > best)) continue;
    best = alpha;
    std::swap(points_.best, points_.step);
  }
  if (best >= 0.0) std::swap(points_.best, points_.step);
  return best;
}

bool PredictorCorrector::advance(double target,
                                 int max_steps,
                                 const Interrupt& interrupt,
                                 int patience) {
  constexpr double kRounding = 1e-10;  // of the residual, whose terms may be large
  double to_halve = mean_;
  for (int idle = 0;; ++idle) {
    if (mean_ < target && residual_ < std::max(target, kRounding)) return true;
    if (interrupt.requested() || steps_ >= max_steps || !(std::abs(mean_) + residual_ < 1e100))
      return false;
    if (mean_ <= 0.5 * to_halve) {
      to_halve = mean_;
      idle = 0;
    }
    if (idle >= patience) return false;
    ++steps_;
    if (!factorise()) return false;
    const double alpha = choose_direction(predict());
    if (!(alpha > 1e-12)) return false;
    move(alpha);
  }
}

}  // namespace stiction
