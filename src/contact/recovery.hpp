#pragma once

#include "contact/constraint_row.hpp"
#include "model/joint.hpp"

#include <algorithm>
#include <cmath>

// What recovery.cpp (contacts, limits, gears) and closure_recovery.cpp share.

namespace stiction {

/// [m/s or rad/s, of 1] A correction that is slower in this measure is left alone: only a lever of
/// less than 1 um could make 1 rad/s of 1 um/s. Contacts at rest and in steady motion, whose errors
/// are of rounding and of second order in dt, cost nothing that way.
inline constexpr double kNegligible = 1e-6;
inline double negligible_speed(const ContactSettings& settings) {
  return kNegligible * std::min(settings.recovery_speed, settings.recovery_angular_speed);
}

/// The fastest that moves.
struct Speeds {
  double linear = 0.0, angular = 0.0;
};

/// Calls visit(body, speeds) for the bodies of a tree that moves with u [nv of the tree]: of its
/// centre of mass and its rotation, or of its joint, whichever is faster.
template <class Visit>
void each_body_speed(const RowContext& context, int tree, const double* u, Visit&& visit) {
  const Tree& shape = context.scene.trees()[tree];
  const TreeData<double>& data = context.dynamics.trees[tree];
  context.scratch.body_speed.resize(context.scene.num_bodies());
  Motion<double>* V = context.scratch.body_speed.data();
  for (int b = 0; b < shape.num_bodies; ++b) {
    const int first = shape.v_index[b];
    const JointFacts& facts = joint_facts(shape.joint[b]);
    Motion<double> joint{{0, 0, 0}, {0, 0, 0}};
    for (int k = first; k < first + facts.nv; ++k) joint = joint + data.S[k] * u[k];
    V[b] = shape.parent[b] < 0 ? joint : V[shape.parent[b]] + joint;
    const Vec3d com = data.X_RB[b] * context.parameters.com[shape.body_offset + b];
    Speeds speeds{norm(V[b].linear + cross(V[b].angular, com)), norm(V[b].angular)};
    if (!facts.free) {
      for (int k = first; k < first + facts.linear_dofs; ++k)
        speeds.linear = std::max(speeds.linear, std::abs(u[k]));
      speeds.angular = std::max(speeds.angular, norm(joint.angular));
    }
    visit(b, speeds);
  }
}

/// The fastest of them, and of `most`.
void add_speeds(const RowContext& context, int tree, const double* u, Speeds& most);

/// What impulses lambda [dim] on the rows [first, first + dim) of a set make move. `offset`: the
/// set's first row.
Speeds speeds_of(const RowContext& context,
                 const ConstraintRow& row,
                 int offset,
                 int first,
                 int dim,
                 const double* lambda);

/// The share of a motion that is within the caps.
double harmless_share(const ContactSettings& settings, const Speeds& speeds);

/// The same for a closure or weld, whose rows act together.
void limit_closure(const RowContext& context,
                   const ContactProblem& problem,
                   int set,
                   double negligible_speed,
                   ConstraintRow& row);

}  // namespace stiction
