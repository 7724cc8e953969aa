#pragma once

/// Elementary functions by the four operations, square roots and exact scaling only. The C library
/// picks variants with or without fused multiplications by the processor that it finds; with these
/// a step has the same bits on all.
namespace stiction {

/// sincos() of lanes.hpp, one by one.
double sine(double x);
double cosine(double x);
/// e^x within 1 ulp or so. x = n ln 2 + r in two parts (Cody and Waite 1980), then the rational
/// form of fdlibm on |r| <= ln 2 / 2. 0 below -745, infinite above 709.78, NaN for NaN.
double exponential(double x);
/// ln x of a normal x > 0, within 2 ulp.
double logarithm(double x);
/// x^p for x > 0.
double power(double x, double p);
/// Angle of (x, y) in [-pi, pi], within 4 ulp; of zeros as the C library.
double arc_tangent(double y, double x);
/// Angle in [0, pi] of a cosine in [-1, 1], within 4 ulp.
double arc_cosine(double c);

}  // namespace stiction
