#include "solver/ncp_newton/packed_sweep_impl.hpp"

namespace stiction {
namespace {

typedef double Eight __attribute__((vector_size(64)));
typedef double UnalignedEight __attribute__((vector_size(64), aligned(8), may_alias));
inline const UnalignedEight& eight(const double* x) {
  return *reinterpret_cast<const UnalignedEight*>(x);
}
inline UnalignedEight& eight(double* x) { return *reinterpret_cast<UnalignedEight*>(x); }

// Eight rows are transposed by pairs, quarters and halves.
inline Eight low_pairs(const Eight& a, const Eight& b) {
  return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
}
inline Eight high_pairs(const Eight& a, const Eight& b) {
  return __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
}
inline Eight low_quarters(const Eight& a, const Eight& b) {
  return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
}
inline Eight high_quarters(const Eight& a, const Eight& b) {
  return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
}
inline Eight low_halves(const Eight& a, const Eight& b) {
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
}
inline Eight high_halves(const Eight& a, const Eight& b) {
  return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

template <>
struct Motions<8> {
  static void gather(const double* u, const int* body, Pack<8> (&out)[kCoordinates]) {
    Eight p[8];  // [2 k + h]: columns h, h + 2, h + 4, h + 6 of rows 2 k and 2 k + 1
    for (int k = 0; k < 8; k += 2) {
      const Eight x = eight(u + body[k]), y = eight(u + body[k + 1]);
      p[k] = low_pairs(x, y);
      p[k + 1] = high_pairs(x, y);
    }
    for (int h = 0; h < 2; ++h) {
      const Eight a = low_quarters(p[h], p[2 + h]), b = low_quarters(p[4 + h], p[6 + h]);
      const Eight c = high_quarters(p[h], p[2 + h]), d = high_quarters(p[4 + h], p[6 + h]);
      out[h].v = low_halves(a, b);
      out[2 + h].v = low_halves(c, d);
      out[4 + h].v = high_halves(a, b);
    }
  }
  static void scatter(const Pack<8> (&in)[kCoordinates], const int* body, double* u) {
    Eight p[8];
    for (int h = 0; h < 2; ++h) {
      const Eight a = low_halves(in[h].v, in[4 + h].v), b = high_halves(in[h].v, in[4 + h].v);
      const Eight c = low_halves(in[2 + h].v, Eight{}), d = high_halves(in[2 + h].v, Eight{});
      p[h] = low_quarters(a, c);
      p[2 + h] = high_quarters(a, c);
      p[4 + h] = low_quarters(b, d);
      p[6 + h] = high_quarters(b, d);
    }
    for (int k = 0; k < 8; k += 2) {
      eight(u + body[k]) = low_pairs(p[k], p[k + 1]);
      eight(u + body[k + 1]) = high_pairs(p[k], p[k + 1]);
    }
  }
};

}  // namespace

PackedSweep packed_sweep_avx512();
PackedSweep packed_sweep_avx512() { return sweep_packs<8>; }

}  // namespace stiction
