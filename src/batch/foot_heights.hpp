#pragma once

namespace stiction {

// Plain numbers: vectors of math/ are other types in each instruction set.

/// A revolute joint between a foot and the free-flyer.
struct FootHinge {
  int q;           ///< entry of the configuration
  double axis[3];  ///< in the joint's frame
  double R[9];     ///< by columns, and p [m]: the joint in the parent body
  double p[3];
};
struct FootChain {
  double point[3];  ///< centre of the sphere in its body [m]
  double radius;
  const FootHinge* hinges;  ///< from the foot up
  int num_hinges;
};

/// Lowest points of spheres above z = 0 [m] in `worlds` rows of q [worlds, nq], to out [worlds,
/// feet]. The same bits for any number of worlds and any instruction set.
using FootHeights =
    void (*)(const FootChain* feet, int num_feet, const double* q, int nq, int worlds, double* out);
/// The widest of this processor.
FootHeights foot_heights();

}  // namespace stiction
