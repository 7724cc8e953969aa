#include "solver/ncp_newton/scalar_rows.hpp"

#include "stiction/math/constants.hpp"

#include "solver/ncp_newton/predictor_corrector.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::scalar_rows {

bool Bounds::has_low(int k) const { return !held(k) && std::isfinite(low[k]); }
bool Bounds::has_high(int k) const { return !held(k) && std::isfinite(high[k]); }

namespace {

/// visit(room, multiplier) of the finite bounds of a row at l + alpha dl.
template <class Visit>
void each_pair(const Bounds& bounds,
               int k,
               const ConstPairs& at,
               const ConstPairs& step,
               double alpha,
               Visit&& visit) {
  const double l = at.l[k] + alpha * step.l[k];
  if (bounds.has_low(k)) visit(l - bounds.low[k], at.y[k] + alpha * step.y[k]);
  if (bounds.has_high(k)) visit(bounds.high[k] - l, at.z[k] + alpha * step.z[k]);
}

}  // namespace

void start(const Bounds& bounds, double impulse, double velocity, const Pairs& out) {
  for (int k = 0; k < bounds.count; ++k) {
    const bool low = bounds.has_low(k), high = bounds.has_high(k);
    out.l[k] = bounds.held(k) ? bounds.low[k]
               : low && high  ? 0.5 * (bounds.low[k] + bounds.high[k])
               : low          ? bounds.low[k] + impulse
               : high         ? bounds.high[k] - impulse
                              : 0.0;
    out.y[k] = low ? velocity : 0.0;
    out.z[k] = high ? velocity : 0.0;
  }
}

void start_near(const Bounds& bounds, double size, const double* c, const Pairs& out) {
  constexpr double kOfRoom = 1e-3;
  for (int k = 0; k < bounds.count; ++k) {
    const double low = bounds.low[k], high = bounds.high[k];
    const bool has_low = bounds.has_low(k), has_high = bounds.has_high(k);
    if (bounds.held(k)) out.l[k] = low;
    if (has_low && (c[k] >= 0.0 || !has_high))
      out.l[k] = low + first_of_pair(out.l[k] - low - c[k], size);
    else if (has_high)
      out.l[k] = high - first_of_pair(high - out.l[k] + c[k], size);
    if (has_low && has_high) {
      const double least = kOfRoom * (high - low);
      out.l[k] = std::min(high - least, std::max(low + least, out.l[k]));
    }
    out.y[k] = has_low ? size / (out.l[k] - low) : 0.0;
    out.z[k] = has_high ? size / (high - out.l[k]) : 0.0;
  }
}

void blocks(const Bounds& bounds, const ConstPairs& at, const double* R, double* B, double* H) {
  constexpr double kFree = 1e-9;  // of a diagonal entry of G
  for (int k = 0; k < bounds.count; ++k) {
    if (bounds.held(k)) {
      B[k] = H[k] = 0.0;
      continue;
    }
    double sum = R[k];
    each_pair(
        bounds, k, at, at, 0.0, [&](double room, double multiplier) { sum += multiplier / room; });
    B[k] = std::max(sum, kFree);
    H[k] = 1.0 / B[k];
  }
}

void aim(const Bounds& bounds,
         const ConstPairs& at,
         const ConstPairs* predictor,
         const double* r,
         double centre,
         double share,
         double* d,
         double* dz,
         double* b) {
  for (int k = 0; k < bounds.count; ++k) {
    d[k] = dz[k] = b[k] = 0.0;
    if (bounds.held(k)) continue;
    if (bounds.has_low(k)) {
      const double second = predictor ? predictor->l[k] * predictor->y[k] : 0.0;
      d[k] = (centre - second) / (at.l[k] - bounds.low[k]) - at.y[k];
    }
    if (bounds.has_high(k)) {
      const double second = predictor ? predictor->l[k] * predictor->z[k] : 0.0;
      dz[k] = (centre + second) / (bounds.high[k] - at.l[k]) - at.z[k];
    }
    b[k] = d[k] - dz[k] - share * r[k];
  }
}

void finish(const Bounds& bounds,
            const ConstPairs& at,
            const double* d,
            const double* dl,
            double* dy,
            double* dz) {
  for (int k = 0; k < bounds.count; ++k) {
    dy[k] = d[k];
    if (bounds.has_low(k)) dy[k] -= at.y[k] / (at.l[k] - bounds.low[k]) * dl[k];
    if (bounds.has_high(k)) dz[k] += at.z[k] / (bounds.high[k] - at.l[k]) * dl[k];
  }
}

double longest_step(const Bounds& bounds,
                    const ConstPairs& at,
                    const ConstPairs& step,
                    double limit) {
  const auto positive = [&](double x, double dx) {
    if (dx < 0.0) limit = std::min(limit, -x / dx);
  };
  for (int k = 0; k < bounds.count; ++k) {
    if (bounds.has_low(k)) {
      positive(at.l[k] - bounds.low[k], step.l[k]);
      positive(at.y[k], step.y[k]);
    }
    if (bounds.has_high(k)) {
      positive(bounds.high[k] - at.l[k], -step.l[k]);
      positive(at.z[k], step.z[k]);
    }
  }
  return limit;
}

double worst_pair(const Bounds& bounds,
                  const ConstPairs& at,
                  const ConstPairs& step,
                  double alpha,
                  double* sum,
                  int* pairs) {
  double worst = kInfinity;
  for (int k = 0; k < bounds.count; ++k) {
    each_pair(bounds, k, at, step, alpha, [&](double room, double multiplier) {
      const double pair = room * multiplier;
      *sum += pair;
      ++*pairs;
      worst = std::min(worst, pair);
    });
  }
  return worst;
}

double subtract_velocity(const Bounds& bounds, const ConstPairs& at, const double* g, double* r) {
  double largest = 0.0;
  for (int k = 0; k < bounds.count; ++k) {
    r[k] = bounds.held(k) ? 0.0 : r[k] + g[k] - (at.y[k] - at.z[k]);
    largest = std::max(largest, std::abs(r[k]));
  }
  return largest;
}

}  // namespace stiction::scalar_rows
