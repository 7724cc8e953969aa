#pragma once

namespace stiction {

/// Impulse response s of s'' + c s' + k s = 0, s(0) = 0, s'(0) = 1, its rate, and its integrals
/// from 0: S_0 = s, S_j' = S_(j-1), S_j(0) = 0. An oscillator y'' + c y' + k y = f(t) is
///   y = y0 (s' + c s) + y0' s + f0 S_1 + f1 S_2   for f = f0 + f1 t,
/// and its first and second integral raise each index by one.
struct OscillatorFunctions {
  double rate = 1.0;  ///< s' [-]
  double S[5] = {};   ///< s [s], S_1 [s^2], ... S_4 [s^5]
};

/// At t >= 0 [s] for c >= 0 [1/s], k >= 0 [1/s^2], zero of either or both included; every regime.
/// Within 1e-12 of the larger of value and envelope, plus the phase sqrt(k) t times the rounding
/// unit (undamped oscillations of 1e4 rad and more). Equations in src/math/README.md.
OscillatorFunctions oscillator_functions(double c, double k, double t);

/// The same of `count` oscillators, a multiple of four: out is s', S_0, ... S_4 [6 x count].
void oscillator_functions(const double* c, const double* k, double t, int count, double* out);

/// phi_0 = e^z, phi_j = (phi_(j-1) - 1/(j-1)!) / z: the integrals of e^z for z <= 0, j = 0 ... 4.
void phi_functions(double z, double phi[5]);

}  // namespace stiction
