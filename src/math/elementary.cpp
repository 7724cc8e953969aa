#include "math/elementary.hpp"

#include "stiction/math/constants.hpp"
#include "stiction/math/lanes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace stiction {

double sine(double x) {
  double s, c;
  sincos(x, s, c);
  return s;
}

double cosine(double x) {
  double s, c;
  sincos(x, s, c);
  return c;
}

double exponential(double x) {
  if (x > 709.782712893384) return kInfinity;
  if (x < -745.2) return 0.0;
  if (!(x == x)) return x;
  const double n = nearest(x * 1.44269504088896338700);
  const double high = x - n * 6.93147180369123816490e-01, low = n * 1.90821492927058770002e-10;
  const double r = high - low, z = r * r;
  // R(z) = r (e^r + 1) / (e^r - 1) - 2, so that e^r = 1 + 2 r / (2 + R - r).
  const double c =
      r - z * (1.66666666666666019037e-01 +
               z * (-2.77777777770155933842e-03 +
                    z * (6.61375632143793436117e-05 +
                         z * (-1.65339022054652515390e-06 + z * 4.13813679705723846039e-08))));
  const double y = 1.0 - ((low - r * c / (2.0 - c)) - high);
  if (x < -708.0) return std::ldexp(y, static_cast<int>(n));  // below the smallest normal number
  // y 2^n, exact: 1/2 < y, and 2^n has an exponent of its own unless n is 1024.
  const auto power = static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1022) << 52;
  return 2.0 * y * std::bit_cast<double>(power);
}

double logarithm(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  double n = static_cast<double>(bits >> 52) - 1023.0;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    n += 1.0;
  }
  // ln m = 2 artanh f, |f| <= 0.172: the first term left out is 1e-19.
  const double f = (m - 1.0) / (m + 1.0), z = f * f;
  double sum = 1.0 / 23.0;
  for (int k = 21; k > 1; k -= 2) sum = 1.0 / k + sum * z;
  const double low = 2.0 * f * z * sum + n * 1.90821492927058770002e-10;
  return n * 6.93147180369123816490e-01 + (2.0 * f + low);
}

double power(double x, double p) { return exponential(p * logarithm(x)); }

// An estimate in the first octant, good to 0.004, is corrected by the angle between it and (x, y),
// whose tangent is exact.
double arc_tangent(double y, double x) {
  constexpr double kPiRest = 1.2246467991473532e-16;  // pi - kPi
  const double ax = std::abs(x), ay = std::abs(y);
  const double longest = std::max(ax, ay), t = longest > 0.0 ? std::min(ax, ay) / longest : 0.0;
  double angle = t * (0.25 * kPi + 0.273 * (1.0 - t)), s, c;
  sincos(angle, s, c);
  const double d = (t * c - s) / (c + t * s), z = d * d;
  angle += d * (1.0 - z * (1.0 / 3.0 - z * 0.2));
  if (ay > ax) angle = 0.5 * kPi - (angle - 0.5 * kPiRest);
  if (std::signbit(x)) angle = kPi - (angle - kPiRest);
  return std::copysign(angle, y);
}

double arc_cosine(double c) { return arc_tangent(std::sqrt((1.0 - c) * (1.0 + c)), c); }

}  // namespace stiction
