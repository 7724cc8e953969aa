#include "math/exponential.hpp"

#include "stiction/math/constants.hpp"
#include "stiction/math/lanes.hpp"

#include <cmath>

namespace stiction {

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
  return std::ldexp(y, static_cast<int>(n));
}

}  // namespace stiction
