#pragma once

#include "stiction/model/scene.hpp"

// Coordinates of a step that starts at q0: a displacement xi and a velocity nu, [nv] each, with the
// linear part of a free-flyer in the axes of q0 all through the step, and every turning part in the
// axes of the body. Then q = q0 (+) xi with p = p0 + R0 xi_v, R = R0 exp(xi_w), and
//   xi' = nu for linear parts and one-dof joints,   xi_w' = w + xi_w x w / 2 + ... (log_rate),
//   nu' = the acceleration that compute_acceleration() leaves, turned into the axes of q0.
// Exact for free fall. The reference point is the origin of the first body, of loose bodies too.

namespace stiction::compliance {

/// q <- q0 (+) xi. q may be q0.
void displace(const Scene& scene, const double* q0, const double* xi, double* q);

/// out <- x [nv], its free-flyers' linear parts turned from the axes of q_from into those of q_to.
/// out may be x.
void turn_axes(
    const Scene& scene, const double* q_from, const double* q_to, const double* x, double* out);

/// rate <- xi' at displacement xi and velocity nu: turning parts xi_w' = J_r(xi_w)^-1 w.
void log_rate(const Scene& scene, const double* xi, const double* nu, double* rate);

}  // namespace stiction::compliance
