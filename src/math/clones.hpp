#pragma once

// Kernels on plain doubles that gain from wide registers are compiled for several instruction sets
// and chosen when the program is loaded. Contraction is off and every sum has a fixed order, so all
// clones give the same bits. Sanitizers do not support the resolver.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STICTION_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define STICTION_CLONES
#endif

#define STICTION_INLINE inline __attribute__((always_inline))

namespace stiction {

/// Four doubles, lowered to whatever registers the clone has.
typedef double Quad __attribute__((vector_size(32)));
/// The same at any address.
typedef double UnalignedQuad __attribute__((vector_size(32), aligned(8), may_alias));

/// Four doubles at x, to read or to assign; references, since clones return vectors differently.
STICTION_INLINE const UnalignedQuad& quad(const double* x) {
  return *reinterpret_cast<const UnalignedQuad*>(x);
}
STICTION_INLINE UnalignedQuad& quad(double* x) { return *reinterpret_cast<UnalignedQuad*>(x); }

/// Eight doubles as two fours: a vector of eight would live on the stack of every clone without
/// AVX-512, three times slower.
struct Octo {
  Quad low, high;
  STICTION_INLINE double operator[](int i) const { return i < 4 ? low[i] : high[i - 4]; }
};
STICTION_INLINE Octo operator+(const Octo& a, const Octo& b) {
  return {a.low + b.low, a.high + b.high};
}
STICTION_INLINE Octo operator-(const Octo& a, const Octo& b) {
  return {a.low - b.low, a.high - b.high};
}
STICTION_INLINE Octo operator*(const Octo& a, const Octo& b) {
  return {a.low * b.low, a.high * b.high};
}
STICTION_INLINE Octo operator*(const Octo& a, double b) { return {a.low * b, a.high * b}; }
STICTION_INLINE Octo operator*(double a, const Octo& b) { return b * a; }
STICTION_INLINE Octo& operator+=(Octo& a, const Octo& b) { return a = a + b; }
STICTION_INLINE Octo& operator-=(Octo& a, const Octo& b) { return a = a - b; }
STICTION_INLINE Octo& operator*=(Octo& a, double b) { return a = a * b; }

/// Eight doubles at x, to read or to assign.
struct OctoAt {
  UnalignedQuad &low, &high;
  STICTION_INLINE operator Octo() const { return {low, high}; }  // NOLINT: reads as a number
  STICTION_INLINE void operator=(const Octo& from) const {       // NOLINT: as a reference would
    low = from.low;
    high = from.high;
  }
  STICTION_INLINE void operator+=(const Octo& b) const { *this = Octo(*this) + b; }
  STICTION_INLINE void operator-=(const Octo& b) const { *this = Octo(*this) - b; }
};
STICTION_INLINE Octo octo(const double* x) { return {quad(x), quad(x + 4)}; }
STICTION_INLINE OctoAt octo(double* x) { return {quad(x), quad(x + 4)}; }

}  // namespace stiction
