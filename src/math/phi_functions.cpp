#include "math/phi_functions.hpp"

#include "stiction/math/lanes.hpp"

#include "math/clones.hpp"
#include "math/elementary.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

constexpr double kInverseFactorial[] = {1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0};

constexpr int kTerms = 44;

struct Reciprocals {
  double of[kTerms + 8] = {};
  constexpr Reciprocals() {
    for (int n = 1; n < kTerms + 8; ++n) of[n] = 1.0 / n;
  }
};
constexpr Reciprocals kReciprocals;

constexpr double kSeries = 3.0;  // max(C, sqrt W) up to which the series is taken as it is

/// Of four oscillators, dimensionless: C = c t, W = k t^2,
/// s = sum a_n t^n, a_1 = 1, a_(n+2) = -(C (n+1) a_(n+1) + W a_n) / ((n+1)(n+2)), integrated term
/// by term. For max(C, sqrt W) < 3: 44 terms reach rounding, the alternating sums lose two digits.
/// out [6 x stride].
STICTION_CLONES void four_by_series(
    const double* c, const double* k, double t, int stride, double* out) {
  const Quad C = quad(c) * t, W = quad(k) * (t * t);
  Quad rate{}, S[5] = {}, a{}, next = a + 1.0;
  for (int n = 0; n < kTerms; ++n) {
    const Quad left = (a < 0.0 ? -a : a) + (next < 0.0 ? -next : next);
    if (!(left[0] > 1e-20 || left[1] > 1e-20 || left[2] > 1e-20 || left[3] > 1e-20)) break;
    rate += (n + 1.0) * next;
    Quad term = next;
    for (int j = 0; j < 5; ++j) {
      S[j] += term;
      term *= kReciprocals.of[n + 2 + j];
    }
    const Quad after = -(C * next + W * a * kReciprocals.of[n + 1]) * kReciprocals.of[n + 2];
    a = next;
    next = after;
  }
  quad(out) = rate;
  double scale = 1.0;
  for (int j = 0; j < 5; ++j) quad(out + (j + 1) * stride) = S[j] * (scale *= t);
}

/// At t = 1.
OscillatorFunctions by_series(double C, double W) {
  const double c[] = {C, C, C, C}, k[] = {W, W, W, W};
  double out[24];
  four_by_series(c, k, 1.0, 4, out);
  return {out[0], {out[4], out[8], out[12], out[16], out[20]}};
}

/// From t = 1 to 2: s(1 + u) = s(1) (s'(u) + C s(u)) + s'(1) s(u), integrated over u.
OscillatorFunctions doubled(const OscillatorFunctions& f, double C, double W) {
  const double* S = f.S;
  OscillatorFunctions g;
  g.rate = f.rate * f.rate - W * S[0] * S[0];
  g.S[0] = S[0] * (2.0 * f.rate + C * S[0]);
  for (int j = 1; j < 5; ++j) {
    g.S[j] = S[0] * (S[j - 1] + C * S[j]) + f.rate * S[j];
    for (int i = 1; i <= j; ++i) g.S[j] += S[i] * kInverseFactorial[j - i];
  }
  return g;
}

/// s'' + C s' + W s = 0 integrated j times: S_j = (1/(j-1)! - S_(j-2) - C S_(j-1)) / W.
/// Cancels unless C / W is small.
void integrate_by_parts(double C, double W, OscillatorFunctions& f) {
  f.S[1] = (1.0 - f.rate - C * f.S[0]) / W;
  for (int j = 2; j < 5; ++j) f.S[j] = (kInverseFactorial[j - 1] - f.S[j - 2] - C * f.S[j - 1]) / W;
}

/// Real roots z2 < z1 <= 0, more than 2 apart: S_j is the divided difference of phi_j.
OscillatorFunctions overdamped(double C, double W, double root) {
  const double z2 = -(0.5 * C + root), z1 = W / z2, apart = 0.5 / root;
  double p1[5], p2[5];
  phi_functions(z1, p1);
  phi_functions(z2, p2);
  OscillatorFunctions f;
  f.rate = (z1 * p1[0] - z2 * p2[0]) * apart;
  for (int j = 0; j < 5; ++j) f.S[j] = (p1[j] - p2[j]) * apart;
  if (W >= 20.0 * C) integrate_by_parts(C, W, f);  // roots too near each other for a difference
  return f;
}

/// s = e^(-C/2) sinh(sqrt D) / sqrt D, D = C^2/4 - W <= 1, and W large enough for the parts.
OscillatorFunctions oscillating(double C, double W, double D) {
  double sine = 0.0, cosine = 0.0;  // of sqrt(-D), the first over sqrt(-D)
  if (D > -1.0) {
    double term = 1.0;
    for (int n = 1; n < 20; n += 2) {
      cosine += term;
      sine += term / n;
      term *= D / (n * (n + 1.0));
    }
  } else {
    const double w = std::sqrt(-D);
    sincos(w, sine, cosine);
    sine /= w;
  }
  const double decay = exponential(-0.5 * C);
  OscillatorFunctions f;
  f.S[0] = decay * sine;
  f.rate = decay * (cosine - 0.5 * C * sine);
  integrate_by_parts(C, W, f);
  return f;
}

OscillatorFunctions at_unit_time(double C, double W) {
  const double size = std::max(C, std::sqrt(W));
  if (size < kSeries) return by_series(C, W);
  if (size < 2.0 * kSeries) {
    OscillatorFunctions f = doubled(by_series(0.5 * C, 0.25 * W), 0.5 * C, 0.25 * W);
    double scale = 1.0;
    for (double& S : f.S) S *= scale *= 0.5;
    return f;
  }
  const double D = 0.25 * C * C - W;
  return D > 1.0 ? overdamped(C, W, std::sqrt(D)) : oscillating(C, W, D);
}

}  // namespace

void phi_functions(double z, double phi[5]) {
  phi[0] = exponential(z);
  if (std::abs(z) >= 1.0) {
    for (int j = 1; j < 5; ++j) phi[j] = (phi[j - 1] - kInverseFactorial[j - 1]) / z;
    return;
  }
  double term = 1.0 / 24.0;  // phi_4 = sum z^n / (n + 4)!, the others upwards from it
  phi[4] = 0.0;
  for (int n = 0; n < 15; ++n) {
    phi[4] += term;
    term *= z / (n + 5.0);
  }
  for (int j = 3; j > 0; --j) phi[j] = z * phi[j + 1] + kInverseFactorial[j];
}

OscillatorFunctions oscillator_functions(double c, double k, double t) {
  OscillatorFunctions f = at_unit_time(c * t, k * t * t);
  double scale = 1.0;
  for (double& S : f.S) S *= scale *= t;
  return f;
}

void oscillator_functions(const double* c, const double* k, double t, int count, double* out) {
  for (int i = 0; i < count; i += 4) {
    bool series = true;
    for (int m = i; m < i + 4; ++m)
      series = series && c[m] * t < kSeries && k[m] * t * t < kSeries * kSeries;
    if (series) {
      four_by_series(c + i, k + i, t, count, out + i);
      continue;
    }
    for (int m = i; m < i + 4; ++m) {
      const OscillatorFunctions f = oscillator_functions(c[m], k[m], t);
      out[m] = f.rate;
      for (int j = 0; j < 5; ++j) out[(j + 1) * count + m] = f.S[j];
    }
  }
}

}  // namespace stiction
