#pragma once

#include "stiction/contact/contact_problem.hpp"

#include "math/clones.hpp"

// Products of rows of eight with the motions of loose bodies (contact_space.hpp), for loops that
// are cloned as a whole. Every sum of eight folds its halves and adds (0 + 1) + (2 + 3).

namespace stiction::loose {

// Whatever takes or returns these is inlined: no call whose registers would have to be agreed upon.
#pragma GCC diagnostic ignored "-Wpsabi"

inline constexpr int kRow = ContactSpace::Side::kLooseRow;

STICTION_INLINE Quad folded(const Octo& x) { return x.low + x.high; }
STICTION_INLINE double sum_of(const Quad& x) { return (x[0] + x[1]) + (x[2] + x[3]); }
/// Three sums at once.
STICTION_INLINE Quad sums_of(const Quad& x, const Quad& y, const Quad& z) {
  const Quad xy =
      __builtin_shufflevector(x, y, 0, 4, 2, 6) + __builtin_shufflevector(x, y, 1, 5, 3, 7);
  const Quad zz =
      __builtin_shufflevector(z, z, 0, 0, 2, 2) + __builtin_shufflevector(z, z, 1, 1, 3, 3);
  return __builtin_shufflevector(xy, zz, 0, 1, 4, 4) + __builtin_shufflevector(xy, zz, 2, 3, 6, 6);
}

/// Z^T u of three rows: of one body, of two.
STICTION_INLINE Quad three_rows(const double* z, const Octo& u) {
  return sums_of(folded(octo(z) * u), folded(octo(z + kRow) * u), folded(octo(z + 2 * kRow) * u));
}
STICTION_INLINE Quad three_rows(const double* za, const Octo& a, const double* zb, const Octo& b) {
  return sums_of(folded(octo(za) * a + octo(zb) * b),
                 folded(octo(za + kRow) * a + octo(zb + kRow) * b),
                 folded(octo(za + 2 * kRow) * a + octo(zb + 2 * kRow) * b));
}
STICTION_INLINE void add_three(const double* z, const Octo& u, double* c) {
  const Quad s = three_rows(z, u);
  for (int r = 0; r < 3; ++r) c[r] += s[r];
}
STICTION_INLINE void add_three(
    const double* za, const Octo& a, const double* zb, const Octo& b, double* c) {
  const Quad s = three_rows(za, a, zb, b);
  for (int r = 0; r < 3; ++r) c[r] += s[r];
}

}  // namespace stiction::loose
