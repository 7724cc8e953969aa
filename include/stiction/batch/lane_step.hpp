#pragma once

#include "stiction/model/tree_view.hpp"

#include <vector>

namespace stiction {

/// Worlds of the same tree in contact with the world at given points, stepped together: W worlds
/// per call, entry (i, lane) of every array at [i * W + lane]. Plain arrays, because the code
/// behind it is compiled for several instruction sets.
struct LaneStepArrays {
  // In.
  const double* placement;  ///< [12 num_bodies] rotation by columns, position
  const double* axis;       ///< [3 num_bodies]
  const double* mass;       ///< [num_bodies]
  const double* com;        ///< [3 num_bodies]
  const double* inertia;    ///< [6 num_bodies] xx xy yy xz yz zz
  const double* base;       ///< [12]
  const double* gravity;    ///< [3]
  const double* force;      ///< [nv]
  const double* diagonal;   ///< [nv] implicit diagonal of M^
  const int* contact_dof;   ///< [contacts] last dof of the body in contact, the same in every lane
  const double* contact_point;  ///< [3 contacts] world [m]
  const double* contact_frame;  ///< [9 contacts] R_WC by columns
  const double* friction;       ///< [contacts]
  const double* reference;      ///< [contacts] c* of the normal row [m/s]
  // In and out.
  double* q;        ///< [nq]
  double* v;        ///< [nv]
  double* impulse;  ///< [3 contacts] warm start and result
  // Out.
  double* bias;      ///< [nv]
  double* factor;    ///< [packed_size]
  double* velocity;  ///< [3 contacts] c after the last sweep
};

/// Kinematics, bias, mass matrix, factor, contact rows, Delassus, `sweeps` projected Gauss-Seidel
/// passes and semi-implicit Euler, the same kernels as Simulator::step, on one lane type.
struct LaneKernels {
  int width;  ///< worlds per call
  const char* instruction_set;
  void (*step)(const TreeView& tree,
               int contacts,
               int sweeps,
               double dt,
               const LaneStepArrays& arrays,
               double* workspace);
  /// Doubles of workspace for a tree and a number of contacts, aligned to 64 bytes.
  std::size_t (*workspace_size)(const TreeView& tree, int contacts);
};

/// Every lane type this processor can run, narrowest first; entry 0 is `double`. All give the same
/// bits.
const std::vector<LaneKernels>& lane_kernels();
/// The fastest for many worlds: the widest whose packs fill one register.
const LaneKernels& widest_lane_kernels();

}  // namespace stiction
