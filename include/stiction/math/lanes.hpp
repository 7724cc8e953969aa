#pragma once

// Lanes: the scalar type `Real` of every kernel of a step. `double` carries one world, `Pack<W>`
// carries W worlds of the same scene. Both give the same bits: no contraction, no libm, selection
// instead of data-dependent arithmetic, and ties to the lowest index.
//
// The headers of math/ and dynamics/ kernels are compiled once per instruction set. STICTION_ISA
// names an inline namespace so that the linker cannot merge a wide body into the baseline path;
// those headers therefore use no inline function of the standard library.

#ifndef STICTION_ISA
#define STICTION_ISA baseline
#endif

namespace stiction {
inline namespace STICTION_ISA {

template <int W>
struct PackStorage;
template <>
struct PackStorage<2> {
  typedef double Vector __attribute__((vector_size(16)));
  typedef long long Mask __attribute__((vector_size(16)));
};
template <>
struct PackStorage<4> {
  typedef double Vector __attribute__((vector_size(32)));
  typedef long long Mask __attribute__((vector_size(32)));
};
template <>
struct PackStorage<8> {
  typedef double Vector __attribute__((vector_size(64)));
  typedef long long Mask __attribute__((vector_size(64)));
};

/// W doubles, one per world. Never wider than the registers of the target (8 on AVX2 is 3 x
/// slower).
template <int W>
struct Pack {
  using Vector = typename PackStorage<W>::Vector;
  using Mask = typename PackStorage<W>::Mask;
  Vector v;

  Pack() = default;
  Pack(double x) : v(Vector{} + x) {}  // NOLINT(google-explicit-constructor): literals mix freely
  static Pack from(Vector x) {
    Pack p;
    p.v = x;
    return p;
  }

  friend Pack operator+(Pack a, Pack b) { return from(a.v + b.v); }
  friend Pack operator-(Pack a, Pack b) { return from(a.v - b.v); }
  friend Pack operator*(Pack a, Pack b) { return from(a.v * b.v); }
  friend Pack operator/(Pack a, Pack b) { return from(a.v / b.v); }
  friend Pack operator-(Pack a) { return from(-a.v); }
  Pack& operator+=(Pack b) { return *this = *this + b; }
  Pack& operator-=(Pack b) { return *this = *this - b; }
  Pack& operator*=(Pack b) { return *this = *this * b; }
  friend Mask operator<(Pack a, Pack b) { return a.v < b.v; }
  friend Mask operator>(Pack a, Pack b) { return a.v > b.v; }
  friend Mask operator<=(Pack a, Pack b) { return a.v <= b.v; }
  friend Mask operator>=(Pack a, Pack b) { return a.v >= b.v; }
};

template <class Real>
struct LaneTraits;
template <>
struct LaneTraits<double> {
  static constexpr int width = 1;
  using Mask = bool;
};
template <int W>
struct LaneTraits<Pack<W>> {
  static constexpr int width = W;
  using Mask = typename Pack<W>::Mask;
};
template <class Real>
using Mask = typename LaneTraits<Real>::Mask;
template <class Real>
inline constexpr int lane_width = LaneTraits<Real>::width;

// select(m, a, b): a where m holds, else b.
inline double select(bool m, double a, double b) { return m ? a : b; }
template <class M, int W>
inline Pack<W> select(M m, Pack<W> a, Pack<W> b) {
  return Pack<W>::from(m ? a.v : b.v);
}

/// A mask of several lanes; `a & b` of one lane is an int and counts as bool.
template <class M>
concept WideMask = (sizeof(M) > sizeof(long long));

/// One bit for each lane.
inline int lane_bits(bool m) { return m; }
template <WideMask M>
inline int lane_bits(M m) {
  constexpr int n = sizeof(M) / sizeof(long long);
#if defined(__AVX512DQ__) && defined(__AVX512F__)
  if constexpr (n == 8) return __builtin_ia32_cvtq2mask512(m);
#endif
#ifdef __AVX__
  if constexpr (n == 4)
    return __builtin_ia32_movmskpd256(__builtin_bit_cast(PackStorage<4>::Vector, m));
#endif
#ifdef __SSE2__
  if constexpr (n == 2)
    return __builtin_ia32_movmskpd(__builtin_bit_cast(PackStorage<2>::Vector, m));
#endif
  int bits = 0;
  for (int i = 0; i < n; ++i) bits |= (m[i] != 0) << i;
  return bits;
}

inline bool any(bool m) { return m; }
template <WideMask M>
inline bool any(M m) {
  return lane_bits(m) != 0;
}
inline bool all(bool m) { return m; }
template <WideMask M>
inline bool all(M m) {
  return lane_bits(m) == (1 << (sizeof(M) / sizeof(long long))) - 1;
}
/// The lanes where m does not hold.
inline bool negated(bool m) { return !m; }
template <WideMask M>
inline M negated(M m) {
  return ~m;
}

inline double square_root(double x) { return __builtin_sqrt(x); }
template <int W>
inline Pack<W> square_root(Pack<W> x) {
#ifndef __clang__
#ifdef __AVX512F__
  if constexpr (W == 8) {
    constexpr int kNearest = 4;  // the rounding in force
    return Pack<W>::from(__builtin_ia32_sqrtpd512_mask(x.v, x.v, -1, kNearest));
  }
#endif
#ifdef __AVX__
  if constexpr (W == 4) return Pack<W>::from(__builtin_ia32_sqrtpd256(x.v));
#endif
#ifdef __SSE2__
  if constexpr (W == 2) return Pack<W>::from(__builtin_ia32_sqrtpd(x.v));
#endif
#endif
  for (int i = 0; i < W; ++i) x.v[i] = __builtin_sqrt(x.v[i]);
  return x;
}

template <class Real>
inline Real max(Real a, Real b) {
  return select(a > b, a, b);
}
template <class Real>
inline Real min(Real a, Real b) {
  return select(a < b, a, b);
}
template <class Real>
inline Real abs(Real a) {
  return select(a < Real(0.0), -a, a);
}

/// sqrt(x^2 + y^2) and so on, of lengths between 1e-150 and 1e150.
template <class Real>
inline Real length(Real x, Real y) {
  return square_root(x * x + y * y);
}
template <class Real>
inline Real length(Real x, Real y, Real z) {
  return square_root(x * x + y * y + z * z);
}

/// Nearest integer for |x| < 2^51: adding and subtracting 1.5 * 2^52 rounds in any lane type.
template <class Real>
inline Real nearest(Real x) {
  const Real magic(6755399441055744.0);
  return (x + magic) - magic;
}

/// sin and cos, at most 2 ulp from libm for |x| < 1e5, identical bits in every lane type.
/// Cody-Waite reduction by pi/2 in three parts, then the minimax polynomials on [-pi/4, pi/4].
/// NaN from 2^40 on: no digit of the reduced angle is left there, and s^2 + c^2 would not be 1.
template <class Real>
inline void sincos(Real x, Real& s, Real& c) {
  const Real k = nearest(x * Real(0.63661977236758134308));
  Real r = x - k * Real(1.57079632673412561417e+00);
  r = r - k * Real(6.07710050630396597660e-11);
  r = r - k * Real(2.02226624879595063154e-21);
  r = select(abs(x) < Real(0x1p40), r, Real(__builtin_nan("")));
  const Real z = r * r;
  const Real ps = r + (r * z) * (Real(-1.66666666666666324348e-01) +
                                 z * (Real(8.33333333332248946124e-03) +
                                      z * (Real(-1.98412698298579493134e-04) +
                                           z * (Real(2.75573137070700676789e-06) +
                                                z * (Real(-2.50507602534068634195e-08) +
                                                     z * Real(1.58969099521155010221e-10))))));
  const Real pc = (Real(1.0) - Real(0.5) * z) +
                  (z * z) * (Real(4.16666666666666019037e-02) +
                             z * (Real(-1.38888888888741095749e-03) +
                                  z * (Real(2.48015872894767294178e-05) +
                                       z * (Real(-2.75573143513906633035e-07) +
                                            z * (Real(2.08757232129817482790e-09) +
                                                 z * Real(-1.13596475577881948265e-11))))));
  // Quadrant k mod 4 in floating point: q in {0, 1, 2, 3}.
  Real q = k - Real(4.0) * nearest(k * Real(0.25));
  q = select(q < Real(0.0), q + Real(4.0), q);
  const Real odd = q - Real(2.0) * select(q >= Real(2.0), Real(1.0), Real(0.0));
  const Real sin_sign = select(q >= Real(2.0), Real(-1.0), Real(1.0));
  const Real cos_sign = select(abs(q - Real(1.5)) < Real(1.0), Real(-1.0), Real(1.0));
  s = sin_sign * select(odd > Real(0.5), pc, ps);
  c = cos_sign * select(odd > Real(0.5), ps, pc);
}

}  // namespace STICTION_ISA
}  // namespace stiction
