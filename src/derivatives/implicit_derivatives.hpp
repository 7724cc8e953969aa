#pragma once

#include "stiction/derivatives/step_derivatives.hpp"

#include "integrator/compliant_substep.hpp"

// An implicit Euler step differentiated by the implicit function theorem: at its end r = 0, so
//   d nu = -(dr/dnu)^-1 (dr/dq dq + dr/dv dv - dtau + dr/de de).
// The matrix is Newton's; dr/dq and dr/dv are two more passes of the dual kernels, of the end as
// moved by the start. The place of a material point at the start acts as its extension does.

namespace stiction {

class ImplicitDerivatives {
 public:
  /// J [2 nv + 3 ns x 3 nv + 3 ns]: (q+, v+, e+) by (q, v, torque, e) of one sub-step of input.h
  /// from `before`, which is solved again. False where it is not known: the step was cut or has
  /// rigid rows, a loaded point touched within it or is of kind kGeneral, or its anchor moved at
  /// the start; and under the published law. Fills the springs of the report and its points between
  /// two modes.
  bool differentiate(const CompliantInput& input,
                     const State& before,
                     GradientReport& report,
                     RowMajorMatrix& J);

 private:
  bool known(const CompliantInput& input) const;
  void list_springs(const State& before, std::vector<SpringName>& springs) const;
  void fill_passes(const CompliantInput& input, const State& before);
  void add_spring(const CompliantInput& input, int point, int spring);
  void solve(const CompliantInput& input, RowMajorMatrix& J);

  CompliantWorkspace work_;
  State state_;
  std::vector<int> springs_;                             ///< [points of the end] or -1
  RowMajorMatrix by_nu_, by_start_, by_v_;               ///< [nv x nv] of r
  RowMajorMatrix by_springs_;                            ///< [nv x 3 ns] of r
  RowMajorMatrix extension_by_nu_, extension_by_start_;  ///< [3 points x nv] of e+
  RowMajorMatrix extension_by_springs_;                  ///< [3 points x 3 ns]
  RowMajorMatrix by_extension_;                          ///< [nv x 3] of r, one point
};

}  // namespace stiction
