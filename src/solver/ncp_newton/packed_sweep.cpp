#include "solver/ncp_newton/packed_sweep.hpp"

#include "math/instruction_set.hpp"
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
    const InstructionSet widest = widest_instruction_set();
    if (widest >= InstructionSet::kAvx2) s.of[s.count++] = {4, packed_sweep_avx2()};
    if (widest >= InstructionSet::kAvx512) s.of[s.count++] = {8, packed_sweep_avx512()};
    return s;
  }();
  return sweeps;
}

PackedSweep widest_sweep() {
  const PackedSweeps& sweeps = packed_sweeps();
  return sweeps.of[sweeps.count - 1].sweep;
}

}  // namespace stiction
