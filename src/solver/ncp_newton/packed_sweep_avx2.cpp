#include "solver/ncp_newton/packed_sweep_impl.hpp"

namespace stiction {
namespace {

/// Four rows become four columns, and back.
inline void transpose(const Quad (&x)[4], Quad (&out)[4]) {
  const Quad a = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6);
  const Quad b = __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7);
  const Quad c = __builtin_shufflevector(x[2], x[3], 0, 4, 2, 6);
  const Quad d = __builtin_shufflevector(x[2], x[3], 1, 5, 3, 7);
  out[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  out[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  out[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

template <>
struct Motions<4> {
  static void gather(const double* u, const int* body, Pack<4> (&out)[kCoordinates]) {
    Quad x[4], y[4];
    for (int half = 0; half < kCoordinates; half += 4) {
      for (int k = 0; k < 4; ++k) x[k] = quad(u + body[k] + half);
      transpose(x, y);
      for (int m = half; m < half + 4 && m < kCoordinates; ++m) out[m].v = y[m - half];
    }
  }
  static void scatter(const Pack<4> (&in)[kCoordinates], const int* body, double* u) {
    Quad y[4];
    for (int half = 0; half < kCoordinates; half += 4) {
      Quad x[4] = {};
      for (int m = half; m < half + 4 && m < kCoordinates; ++m) x[m - half] = in[m].v;
      transpose(x, y);
      for (int k = 0; k < 4; ++k) quad(u + body[k] + half) = y[k];
    }
  }
};

}  // namespace

PackedSweep packed_sweep_avx2();
PackedSweep packed_sweep_avx2() { return sweep_packs<4>; }

}  // namespace stiction
