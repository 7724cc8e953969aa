#pragma once

#include "derivatives/linearisation.hpp"
#include "dynamics/integrate_derivatives.hpp"
#include "dynamics/loose_body_derivatives.hpp"

// Loose bodies end a step with the velocity w of equation (2), dynamics/loose_body.hpp, and not
// with the w+ they moved with: it depends on w+ and, beside it, on the velocity of the start, the
// torque and the inertia. The functions below leave other trees alone.

namespace stiction {

/// Whether a tree ended that way.
inline bool is_kicked(const DerivativeInput& in, int tree) {
  return in.record.dynamics.kicked[tree] != 0;
}
KickTurn<double> kick_of(const DerivativeInput& in, const Linearisation& linear, int tree);

/// Change dl of the momentum (LooseBodyTurn) with a turn of the body about axis k of its root,
/// under the wrenches on it.
Vec3d momentum_by_turn(const DerivativeInput& in, const Linearisation& linear, int tree, int k);

/// Rows [6 x stride] of v+ in the axes of the end, columns are directions, become those of the
/// velocity that the step leaves; `direct` [6 x stride], or null: changes of w beside those of w+.
void kick_tangents(const DerivativeInput& in,
                   const Linearisation& linear,
                   int tree,
                   int stride,
                   int width,
                   const double* direct,
                   double* velocity);
/// The transposed map of cotangents [6], in place; `kick` [6] becomes those of w.
void pull_back_kick(const DerivativeInput& in,
                    const Linearisation& linear,
                    int tree,
                    double* velocity,
                    double* kick);

}  // namespace stiction
