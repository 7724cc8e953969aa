#pragma once

#include "stiction/math/lanes.hpp"

// A lane type that differentiates: a value and its derivatives in W directions, exact to rounding.
// Kernels run on Dual<W> as on double and take the branches that the values take. Not part of the
// bit identity of lanes.

namespace stiction {
inline namespace STICTION_ISA {

template <int W>
struct Dual {
  /// One vector for the compiler, which then has an eighth of the statements to work on; lowered to
  /// the registers of the target, entry by entry the same arithmetic.
  typedef double Derivatives __attribute__((vector_size(8 * W), aligned(8)));
  double value;
  Derivatives d;

  Dual() = default;
  Dual(double x) : value(x), d{} {}  // NOLINT(google-explicit-constructor): literals mix freely

  /// f(a) with derivative slope f'(a).
  friend Dual chain(double value, double slope, const Dual& a) {
    Dual r;
    r.value = value;
    r.d = slope * a.d;
    return r;
  }
  friend Dual operator+(const Dual& a, const Dual& b) {
    Dual r;
    r.value = a.value + b.value;
    r.d = a.d + b.d;
    return r;
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    Dual r;
    r.value = a.value - b.value;
    r.d = a.d - b.d;
    return r;
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    Dual r;
    r.value = a.value * b.value;
    r.d = a.d * b.value + a.value * b.d;
    return r;
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    Dual r;
    const double inverse = 1.0 / b.value;
    r.value = a.value / b.value;
    r.d = (a.d - r.value * b.d) * inverse;
    return r;
  }
  friend Dual operator-(const Dual& a) { return chain(-a.value, -1.0, a); }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  Dual& operator-=(const Dual& b) { return *this = *this - b; }
  Dual& operator*=(const Dual& b) { return *this = *this * b; }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  friend bool operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
};

template <int W>
struct LaneTraits<Dual<W>> {
  static constexpr int width = 1;
  using Mask = bool;
};

template <int W>
inline Dual<W> select(bool m, const Dual<W>& a, const Dual<W>& b) {
  return m ? a : b;
}

/// At zero the derivative is set to zero: kernels take roots of squared norms and use series there.
template <int W>
inline Dual<W> square_root(const Dual<W>& a) {
  const double r = __builtin_sqrt(a.value);
  return chain(r, r > 0.0 ? 0.5 / r : 0.0, a);
}

template <int W>
inline void sincos(const Dual<W>& x, Dual<W>& s, Dual<W>& c) {
  double sv, cv;
  sincos(x.value, sv, cv);
  const Dual<W> in = x;
  s = chain(sv, cv, in);
  c = chain(cv, -sv, in);
}

}  // namespace STICTION_ISA
}  // namespace stiction
