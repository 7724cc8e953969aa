#include "solver/ncp_newton/packed_sweep.hpp"

#include "solver/ncp_newton/packed_sweep_impl.hpp"

namespace stiction {
namespace {

template <>
struct Motions<2> {
  static void gather(const double* u, const int* body, Pack<2> (&out)[kCoordinates]) {
    for (int m = 0; m < kCoordinates; ++m)
      for (int k = 0; k < 2; ++k) out[m].v[k] = u[body[k] + m];
  }
  static void scatter(const Pack<2> (&in)[kCoordinates], const int* body, double* u) {
    for (int m = 0; m < kCoordinates; ++m)
      for (int k = 0; k < 2; ++k) u[body[k] + m] = in[m].v[k];
  }
};

}  // namespace

// Defined in the files compiled for their instruction set.
PackedSweep packed_sweep_avx2();
PackedSweep packed_sweep_avx512();

const PackedSweeps& packed_sweeps() {
  static const PackedSweeps sweeps = [] {
    PackedSweeps s{{{2, sweep_packs<2>}, {}, {}}, 1};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) s.of[s.count++] = {4, packed_sweep_avx2()};
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
      s.of[s.count++] = {8, packed_sweep_avx512()};
#endif
    return s;
  }();
  return sweeps;
}

PackedSweep widest_sweep() {
  const PackedSweeps& sweeps = packed_sweeps();
  return sweeps.of[sweeps.count - 1].sweep;
}

}  // namespace stiction
