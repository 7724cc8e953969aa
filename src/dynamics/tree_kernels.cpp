#include "dynamics/tree_kernels.hpp"

#include "dynamics/bias.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/loose_body.hpp"
#include "dynamics/mass_matrix.hpp"
#include "math/clones.hpp"

// Flattened, so that everything below a kernel is compiled like it. No sum runs across lanes: all
// clones give the same bits.
#define STICTION_KERNEL STICTION_CLONES __attribute__((flatten))

namespace stiction {
namespace {

constexpr int kLanes = 4, kBodies = 64;

/// Sines and cosines of the revolute joints of bodies [first, last), at most kBodies, in lanes:
/// alone each would wait for its polynomials.
void turn_joints(
    const TreeView& tree, int first, int last, const double* q, double* sine, double* cosine) {
  double angle[kBodies];
  const int count = last - first, padded = (count + kLanes - 1) / kLanes * kLanes;
  for (int k = 0; k < padded; ++k) {
    const bool turns = k < count && tree.joint[first + k] == JointType::kRevolute;
    angle[k] = turns ? q[tree.q_index[first + k]] : 0.0;
  }
  for (int k = 0; k < padded; k += kLanes) {
    Pack<kLanes> s, c;
    sincos(Pack<kLanes>::from(quad(angle + k)), s, c);
    quad(sine + k) = s.v;
    quad(cosine + k) = c.v;
  }
}

/// joint_placement() of a revolute joint whose sine and cosine are known.
void place_turned(const TreeView& tree,
                  const TreeParameters<double>& parameters,
                  int b,
                  double sine,
                  double cosine,
                  TreeData<double>& data) {
  const int p = tree.parent[b];
  Transform X = p < 0 ? parameters.placement[b] : data.X_RB[p] * parameters.placement[b];
  const JointFrame<double> joint{
      X, data.S + tree.v_index[b], tree.axis_code[b], parameters.axis[b]};
  joint.turn(sine, cosine);
  data.X_RB[b] = X;
}

}  // namespace

STICTION_KERNEL void place_and_move(const TreeView& tree,
                                    const TreeParameters<double>& parameters,
                                    const double* q,
                                    const double* v,
                                    TreeData<double>& data) {
  double sine[kBodies], cosine[kBodies];
  int first = place_root(tree, parameters, q, data);
  root_velocity(tree, parameters, v, data);
  while (first < tree.num_bodies) {
    const int last = first + kBodies < tree.num_bodies ? first + kBodies : tree.num_bodies;
    turn_joints(tree, first, last, q, sine, cosine);
    for (int b = first; b < last; ++b) {
      if (tree.joint[b] == JointType::kRevolute) {
        place_turned(tree, parameters, b, sine[b - first], cosine[b - first], data);
      } else {
        joint_placement(tree, parameters, b, q, data);
      }
      joint_velocity(tree, parameters, b, v, data);
    }
    first = last;
  }
}

STICTION_KERNEL void move_placed(const TreeView& tree,
                                 const TreeParameters<double>& parameters,
                                 const double* v,
                                 TreeData<double>& data) {
  forward_velocities(tree, parameters, v, data);
}

STICTION_KERNEL void find_inertias_and_forces(const TreeView& tree,
                                              const TreeParameters<double>& parameters,
                                              TreeData<double>& data) {
  body_inertias_and_forces(tree, parameters, data);
}

STICTION_KERNEL void find_loose_bias(const TreeParameters<double>& parameters,
                                     double dt,
                                     TreeData<double>& data) {
  loose_body_bias(parameters, dt, data);
}

STICTION_KERNEL bool find_mean_bias(const TreeView& tree,
                                    const TreeParameters<double>& parameters,
                                    double dt,
                                    int passes,
                                    const std::vector<ExternalWrench>& wrenches,
                                    int body_offset,
                                    const MeanBias<double>& x,
                                    TreeData<double>& data) {
  const auto add_wrenches = [&](TreeData<double>& to) {
    add_tree_wrenches(wrenches, body_offset, tree, to);
  };
  return !centre_bias(tree, parameters, dt, passes, true, add_wrenches, x, data);
}

STICTION_KERNEL void find_mass_matrix(const TreeView& tree, TreeData<double>& data) {
  mass_matrix(tree, data);
}

STICTION_KERNEL void factorise_and_whiten(const TreeView& tree, TreeData<double>& data, double* w) {
  factorise(tree, data);
  solve_transposed(tree, data, w);
}

}  // namespace stiction
