#pragma once

#include "stiction/model/tree_view.hpp"

#include <vector>

namespace stiction {

/// Worlds of the same tree in contact with the world at given points, stepped together: W worlds
/// per call, entry (i, lane) of every array at [i * W + lane]. Plain arrays, because the code
/// behind it is compiled for several instruction sets.
struct LaneStepArrays {
  // In.
  const double* placement;  ///< [12 num_bodies] joint frame in the parent body: rotation by
                            ///< columns, position [m]
  const double* axis;       ///< [3 num_bodies] unit, joint frame
  const double* mass;       ///< [num_bodies] [kg]
  const double* com;        ///< [3 num_bodies] body frame [m]
  const double* inertia;    ///< [6 num_bodies] about the com, body axes, xx xy yy xz yz zz [kg m^2]
  const double* base;       ///< [12] root frame in the world, as placement; used by a fixed base
  const double* gravity;    ///< [3] world [m/s^2]
  const double* force;      ///< [nv] explicit generalised force [N m or N]
  const double* diagonal;   ///< [nv] M^ - M: armature + dt (d + kd) + dt^2 kp [kg m^2 or kg]
  const int* contact_dof;   ///< [contacts] last dof of the body in contact, the same in every lane
  const double* contact_point;  ///< [3 contacts] world [m]
  const double* contact_frame;  ///< [9 contacts] R_WC = [t1 t2 n] by columns, n towards the body
  const double* friction;       ///< [contacts] Coulomb coefficient
  const double* reference;      ///< [contacts] c* of the normal row [m/s]
  // In and out.
  double* q;        ///< [nq] layout and units of State::q
  double* v;        ///< [nv] of State::v
  double* impulse;  ///< [3 contacts] on the body, contact axes [N s]: warm start and result
  // Out.
  double* bias;      ///< [nv] Coriolis, centrifugal and gravity forces [N m or N]
  double* factor;    ///< [packed_size] L of M^ = L^T D L, D on its diagonal
  double* velocity;  ///< [3 contacts] c after the last sweep, contact axes [m/s]
};

/// Kinematics, bias, mass matrix, factor, contact rows, Delassus, `sweeps` projected Gauss-Seidel
/// passes and semi-implicit Euler, the same kernels as Simulator::step, on one lane type.
struct LaneKernels {
  int width;  ///< worlds per call
  const char* instruction_set;
  void (*step)(const TreeView& tree,
               int contacts,
               int sweeps,
               double dt,  ///< [s]
               const LaneStepArrays& arrays,
               double* workspace);
  /// Doubles of workspace for a tree and a number of contacts, aligned to 64 bytes.
  std::size_t (*workspace_size)(const TreeView& tree, int contacts);
};

/// Every lane type this processor can run, narrowest first; entry 0 is `double`. All give the same
/// bits.
const std::vector<LaneKernels>& lane_kernels();

}  // namespace stiction
