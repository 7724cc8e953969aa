#pragma once

#include <Eigen/Core>

namespace stiction {

/// The sliding contact of the RaiSim model, eq. (20) of "Contact Models in Robotics": the impulse
/// of least 1/2 l^T G l + c_free^T l on the friction cone where the normal velocity vanishes, G_N l
/// + c_free_N = 0. G is positive definite, c_free_N < 0, mu > 0, and `stick` = -G^-1 c_free, the
/// least point without the cone, lies outside of it. Returns `before` if the minimum is not finite.
Eigen::Vector3d slide_impulse(const Eigen::Matrix3d& G,
                              const Eigen::Vector3d& c_free,
                              double mu,
                              const Eigen::Vector3d& stick,
                              const Eigen::Vector3d& before);
/// The same as published: from the angle of `stick` in growing steps until the slope changes its
/// sign, then bisection until the impulses of the ends differ by less than `tolerance` [N s]. Where
/// it finds no change of sign, where the search ended; the published one has no way out.
Eigen::Vector3d bisected_slide_impulse(const Eigen::Matrix3d& G,
                                       const Eigen::Vector3d& c_free,
                                       double mu,
                                       const Eigen::Vector3d& stick,
                                       const Eigen::Vector3d& before,
                                       double tolerance);

}  // namespace stiction
