#include "contact/constraint_row.hpp"
#include "model/joint.hpp"

#include <cmath>

// Lengths that make rad/s of angular rows m/s, so that residuals never compare one with the other.

namespace stiction {
namespace {

/// The dof whose joint a row is of; -1: none.
int dof_of(const Scene& scene, const ConstraintRow& row) {
  switch (row.source) {
    case RowSource::kLowerLimit:
    case RowSource::kUpperLimit:
    case RowSource::kLimitRecovery:
    case RowSource::kDryFriction:
      return row.index;
    case RowSource::kGear:
      return scene.gears()[row.index].dof;
    default:
      return -1;
  }
}

void find_carried_masses(const RowContext& context) {
  std::vector<double>& carried = context.scratch.carried;
  carried.resize(context.parameters.mass.size());
  for (const Tree& tree : context.scene.trees()) {
    carried_masses(tree.num_bodies,
                   tree.parent.data(),
                   context.parameters.mass.data() + tree.body_offset,
                   carried.data() + tree.body_offset);
  }
}

/// The arm at which a weld turns as easily as it slides [m].
double weld_arm(const ContactProblem& problem, int set) {
  double slides = 0.0, turns = 0.0;
  for (int r = 0; r < 3; ++r) {
    slides += problem.diagonal_entry(set, r);
    turns += problem.diagonal_entry(set, 3 + r);
  }
  return slides > 0.0 && turns > 0.0 ? std::sqrt(slides / turns) : 1.0;
}

}  // namespace

void set_arms(const RowContext& context, ContactProblem& problem) {
  const Scene& scene = context.scene;
  bool known = false;  // the masses
  for (std::size_t i = 0; i < context.out.rows.size(); ++i) {
    ConstraintRow& row = context.out.rows[i];
    const int set = static_cast<int>(i), dof = dof_of(scene, row);
    if (row.source == RowSource::kClosure && row.set.dim == 6) {
      row.set.arm = weld_arm(problem, set);
    } else if (dof >= 0) {
      const Tree& tree = scene.trees()[scene.tree_of_dof(dof)];
      const int b = tree.joint_of_dof[dof - tree.v_offset];
      if (joint_facts(tree.joint[b]).linear_dofs > 0) continue;
      if (!known) find_carried_masses(context);
      known = true;
      row.set.arm =
          joint_arm(problem.diagonal_entry(set, 0), context.scratch.carried[tree.body_offset + b]);
    }
    problem.sets[i].arm = row.set.arm;
  }
}

double floor_of(const ConstraintRow& row) {
  const bool of_coordinates =
      row.source == RowSource::kLowerLimit || row.source == RowSource::kUpperLimit ||
      row.source == RowSource::kLimitRecovery || row.source == RowSource::kGear;
  return of_coordinates ? row.velocity_floor * row.set.arm : row.velocity_floor;
}

}  // namespace stiction
