#pragma once

#include "contact/recovery_energy.hpp"
#include "simulator/lanes/lane_work.hpp"
#include "solver/common/impact_energy.hpp"

// The law of impacts, solver/common/impact_law.cpp: what would gain energy is solved again with
// less restitution, and leaves the lanes for it.

namespace stiction {
inline namespace STICTION_ISA {

/// Whether the solution of problem i, of `num` sets of a lane, gains energy; c: its velocities.
/// Of a row that is no impact c* > 0 corrects a position error; other rows are allowed nothing.
template <class To, class Real>
inline bool gains_energy(const LaneScene& s,
                         const DenseProblem<To>& p,
                         const To* c,
                         int i,
                         const int* sets,
                         int num,
                         int lane,
                         const PackWork<Real>& w) {
  constexpr int W = lane_width<Real>, T = lane_width<To>;
  ImpactEnergy energy;
  for (int k = 0, row = 0; k < num; ++k) {
    const int set = sets[k], dim = set_dim(s, set), normal = row;
    const double asked = numbers(w.reference)[set * W + lane];
    for (int r = 0; r < dim; ++r) {
      const int at = (normal + (dim == 3 ? (r + 1) % 3 : 0)) * T + i;  // row_of_set(3, .) = r
      const double g = numbers(p.g)[at];
      const double within =
          dim == 3 ? numbers(w.curvature)[(set_offset(s, set) + r) * W + lane] : 0.0;
      energy.add_row(
          numbers(p.lambda)[at], g - within, r == dim - 1 ? asked : 0.0, numbers(c)[at] - g);
    }
    const bool impact = dim == 3 && numbers(w.impact)[set * W + lane] > 0.0;
    const int at = normal * T + i;
    if (!impact && asked > 0.0)
      energy.allowed += energy_of_recovery(asked, numbers(p.lambda)[at], numbers(c)[at]);
    row += dim;
  }
  return energy.gain() > 0.0;
}

/// Whether the law looks at a lane.
template <class Real>
inline bool is_judged(const LaneScene& s, int lane, const PackWork<Real>& w) {
  return s.rules.dissipative && numbers(w.impacts)[lane] > 0.0;
}

/// w.gains of a lane whose problem i is solved.
template <class To, class Real>
inline void judge_impacts(const LaneScene& s,
                          const DenseProblem<To>& p,
                          const To* c,
                          int i,
                          const int* sets,
                          int lane,
                          PackWork<Real>& w) {
  if (!is_judged(s, lane, w)) return;
  const int num = p.cones + static_cast<int>(numbers(w.scalars)[lane]);
  if (gains_energy(s, p, c, i, sets, num, lane, w)) numbers(w.gains)[lane] = 1.0;
}

}  // namespace STICTION_ISA
}  // namespace stiction
