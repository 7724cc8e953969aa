#pragma once

#include "derivatives/linearisation.hpp"

// A tree whose bias is that of the mean velocity obeys M^ (v+ - v) = dt (f - b(q, (v + v+) / 2)),
// so that
//   (M^ + dt/2 B) dv+ = (M^ - dt/2 B) dv + ...,   B = db/dv at the mean,
// M^^-1 of other trees is here (1 + dt/2 M^^-1 B)^-1 M^^-1, and B acts on half of dv. The functions
// below leave other trees alone.

namespace stiction {

/// Share of the velocity at the start in that of the tree's bias.
inline double start_share(const DerivativeInput& in, int tree) {
  return in.record.dynamics.bias_at[tree] == BiasAt::kStart ? 1.0 : 0.5;
}

/// 1 + dt/2 M^^-1 B of one tree, factored. B [dofs of the tree, squared], row-major.
void factor_mean_velocity(
    const DerivativeInput& in, int tree, const double* B, MeanVelocityWork& work, PivotedLu& out);

/// X <- (1 + dt/2 M^^-1 B)^-1 X [dofs of the tree x stride], `width` columns: by the factors if the
/// matrices of trees are known, else, of the first column alone, by substitution.
void solve_mean_velocity(
    const DerivativeInput& in, Linearisation& linear, int tree, int stride, int width, double* X);

/// x <- (1 + dt/2 M^^-1 B)^-T x [dofs of the tree], by substitution.
void solve_mean_velocity_transposed(const DerivativeInput& in,
                                    Linearisation& linear,
                                    int tree,
                                    double* x);

}  // namespace stiction
