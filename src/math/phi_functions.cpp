#include "math/phi_functions.hpp"

#include "stiction/math/lanes.hpp"

#include "math/clones.hpp"
#include "math/elementary.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

constexpr double kInverseFactorial[] = {1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0};

constexpr double kSeries = 3.0;  // max(C, sqrt W) up to which the series is taken as it is

/// 1 / n!
constexpr int kMostTerms = 32;
struct Factorials {
  double inverse[kMostTerms + 6] = {1.0};
  constexpr Factorials() {
    double factorial = 1.0;
    for (int n = 1; n < kMostTerms + 6; ++n) inverse[n] = 1.0 / (factorial *= n);
  }
};
constexpr Factorials kFactorials;

/// Terms until rounding: the largest root of x^2 = C x + W, 1.62, 3.24 and 4.85, to that power over
/// (n + 4)! is below 3e-20.
int number_of_terms(double size) { return size < 1.0 ? 20 : size < 2.0 ? 27 : kMostTerms; }

/// From t = 1 to 2: s(1 + u) = s(1) (s'(u) + C s(u)) + s'(1) s(u), integrated over u. f: s', S_0,
/// ... S_4 of four oscillators.
inline __attribute__((always_inline)) void double_time(const Quad& C, const Quad& W, Quad* f) {
  const Quad rate = f[0], S0 = f[1];
  const Quad given[5] = {f[1], f[2], f[3], f[4], f[5]};
  f[0] = rate * rate - W * S0 * S0;
  f[1] = S0 * (2.0 * rate + C * S0);
  for (int j = 1; j < 5; ++j) {
    f[j + 1] = S0 * (given[j - 1] + C * given[j]) + rate * given[j];
    for (int i = 1; i <= j; ++i) f[j + 1] += given[i] * kInverseFactorial[j - i];
  }
}

/// Of four oscillators, dimensionless: C = c t, W = k t^2 with max(C, sqrt W) < 6, of which those
/// above 3 take half the time first. s = sum a_n t^n / n!, a_1 = 1, a_(n+2) = -C a_(n+1) - W a_n,
/// integrated three and four times term by term; then the equation itself, integrated,
///   S_(j-2) = 1 / (j-1)! - C S_(j-1) - W S_j.
/// The alternating sums and the steps down lose two digits. out [6 x stride].
STICTION_CLONES void four_by_series(
    const double* c, const double* k, double t, int stride, double* out) {
  const Quad C = quad(c) * t, W = quad(k) * (t * t), none{};
  const auto far = C >= kSeries || W >= kSeries * kSeries;
  const Quad share = far ? none + 0.5 : none + 1.0, x = C * share, y = W * (share * share);
  double size = 0.0, square = 0.0;
  bool any = false;
  for (int lane = 0; lane < 4; ++lane) {
    size = std::max(size, x[lane]);
    square = std::max(square, y[lane]);
    any = any || far[lane] != 0;
  }
  const int terms = number_of_terms(std::max(size, std::sqrt(square)));
  Quad a{}, next = a + 1.0, S3{}, S4{};
  for (int n = 0; n < terms; ++n) {
    S3 += next * kFactorials.inverse[n + 4];
    S4 += next * kFactorials.inverse[n + 5];
    const Quad after = -(x * next) - y * a;
    a = next;
    next = after;
  }
  Quad f[6] = {none, none, none, none, S3, S4};
  for (int j = 3; j >= 0; --j) f[j] = kInverseFactorial[j] - x * f[j + 1] - y * f[j + 2];
  if (any) {
    Quad twice[6];
    std::copy(f, f + 6, twice);
    double_time(x, y, twice);
    for (int j = 0; j < 6; ++j) f[j] = far ? twice[j] : f[j];
  }
  Quad scale = none + 1.0;
  quad(out) = f[0];
  for (int j = 1; j < 6; ++j) quad(out + j * stride) = f[j] * (scale *= share * t);
}

/// At t = 1.
OscillatorFunctions by_series(double C, double W) {
  const double c[] = {C, C, C, C}, k[] = {W, W, W, W};
  double out[24];
  four_by_series(c, k, 1.0, 4, out);
  return {out[0], {out[4], out[8], out[12], out[16], out[20]}};
}

/// s'' + C s' + W s = 0 integrated j times: S_j = (1/(j-1)! - S_(j-2) - C S_(j-1)) / W.
/// Cancels unless C / W is small.
void integrate_by_parts(double C, double W, OscillatorFunctions& f) {
  const double inverse = 1.0 / W;
  f.S[1] = (1.0 - f.rate - C * f.S[0]) * inverse;
  for (int j = 2; j < 5; ++j)
    f.S[j] = (kInverseFactorial[j - 1] - f.S[j - 2] - C * f.S[j - 1]) * inverse;
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

bool is_small(double C, double W) { return C < 2.0 * kSeries && W < 4.0 * kSeries * kSeries; }

OscillatorFunctions at_unit_time(double C, double W) {
  if (is_small(C, W)) return by_series(C, W);
  const double D = 0.25 * C * C - W;
  return D > 1.0 ? overdamped(C, W, std::sqrt(D)) : oscillating(C, W, D);
}

}  // namespace

void phi_functions(double z, double phi[5]) {
  phi[0] = exponential(z);
  if (std::abs(z) >= 1.0) {
    const double inverse = 1.0 / z;
    for (int j = 1; j < 5; ++j) phi[j] = (phi[j - 1] - kInverseFactorial[j - 1]) * inverse;
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
    double small_c[4], small_k[4];
    bool small[4], any = false, all = true;
    for (int m = 0; m < 4; ++m) {
      small[m] = is_small(c[i + m] * t, k[i + m] * t * t);
      small_c[m] = small[m] ? c[i + m] : 0.0;
      small_k[m] = small[m] ? k[i + m] : 0.0;
      any = any || small[m];
      all = all && small[m];
    }
    if (any) four_by_series(small_c, small_k, t, count, out + i);
    for (int m = 0; m < 4 && !all; ++m) {
      if (small[m]) continue;
      const OscillatorFunctions f = oscillator_functions(c[i + m], k[i + m], t);
      out[i + m] = f.rate;
      for (int j = 0; j < 5; ++j) out[(j + 1) * count + i + m] = f.S[j];
    }
  }
}

}  // namespace stiction
