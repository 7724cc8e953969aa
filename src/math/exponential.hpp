#pragma once

namespace stiction {

/// e^x within 1 ulp or so, by the four operations and exact scaling only: the same bits whatever
/// the C library does on a processor. x = n ln 2 + r in two parts (Cody and Waite 1980), then the
/// rational form of fdlibm on |r| <= ln 2 / 2. 0 below -745, infinite above 709.78, NaN for NaN.
double exponential(double x);

}  // namespace stiction
