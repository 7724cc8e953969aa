#pragma once

#include "derivatives/row_side.hpp"

namespace stiction {

/// A closure in the step. Its rows are in the axes of frame A.
struct MovingClosure {
  Transform X_WA, X_WB;
  MovingSides sides;
  Motion<double> relative;  ///< v_B(p_B) - v_A(p_A), w_B - w_A
  Vec3d impulse, couple;    ///< world
  bool weld;
  int side_of_a = -1, side_of_b = -1;  ///< -1: fixed to the world
  double gain = 0.0;                   ///< -dc*/dPhi [1/s]
  Vec3d angle{0, 0, 0};                ///< of a weld, rotation vector of its error, axes of A
};

/// Of a set of the problem; counts in `rows` what is capped.
MovingClosure moving_closure(const DerivativeInput& in, int set, MovingRows& rows);

/// Force, moments and velocity of `out`, where frame A (`on_a`) or B moves by out.u, out.w;
/// `body`: change of the motion of its body at a point held in space.
void set_closure_change(const MovingClosure& c,
                        bool on_a,
                        const Motion<double>& body,
                        RowColumn& out);

}  // namespace stiction
