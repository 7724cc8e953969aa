#include "dynamics/tree_kernels.hpp"

#include "dynamics/bias.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/mass_matrix.hpp"
#include "math/clones.hpp"

// Flattened, so that everything below a kernel is compiled like it. No sum runs across lanes: all
// clones give the same bits.
#define KERNEL STICTION_CLONES __attribute__((flatten))

namespace stiction {

KERNEL void place_and_move(const TreeView& tree,
                           const TreeParameters<double>& parameters,
                           const double* q,
                           const double* v,
                           TreeData<double>& data) {
  forward_kinematics(tree, parameters, q, v, data);
}

KERNEL void move_placed(const TreeView& tree,
                        const TreeParameters<double>& parameters,
                        const double* v,
                        TreeData<double>& data) {
  forward_velocities(tree, parameters, v, data);
}

KERNEL void find_inertias_and_forces(const TreeView& tree,
                                     const TreeParameters<double>& parameters,
                                     TreeData<double>& data) {
  body_inertias_and_forces(tree, parameters, data);
}

KERNEL void find_mass_matrix(const TreeView& tree, TreeData<double>& data) {
  mass_matrix(tree, data);
}

KERNEL void factorise_and_whiten(const TreeView& tree, TreeData<double>& data, double* w) {
  factorise(tree, data);
  solve_transposed(tree, data, w);
}

}  // namespace stiction
