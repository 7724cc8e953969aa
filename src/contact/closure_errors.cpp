#include "stiction/math/lanes.hpp"

#include "contact/constraint_row.hpp"
#include "model/joint.hpp"

#include <cmath>

namespace stiction {

std::vector<ClosureError> closure_errors(const Scene& scene,
                                         const Parameters& parameters,
                                         const State& state) {
  // The rows of a step of 1 s with gain 1: c* = -Phi, before anything is cut.
  DynamicsWorkspace dynamics;
  dynamics.resize(scene);
  forward_kinematics(scene, parameters, state.q.data(), state.v.data(), dynamics);
  ContactSettings settings;
  settings.closure_gain = 1.0;
  ConstraintRows rows;
  RowScratch scratch;
  const RowContext context{scene, parameters, state, settings, 1.0, dynamics, rows, scratch};
  append_joint_rows(context);
  append_closure_rows(context);

  std::vector<ClosureError> closures, gears;
  for (const ConstraintRow& row : rows.rows) {
    const double* r = row.reference;
    if (row.source == RowSource::kClosure) {
      const double angular = row.set.dim == 6 ? length(r[3], r[4], r[5]) : 0.0;
      closures.push_back({row.source, row.index, length(r[0], r[1], r[2]), angular});
    } else if (row.source == RowSource::kGear) {
      const Tree& tree = scene.trees()[row.sides[0].tree];
      const bool slides = joint_facts(tree.joint[row.sides[0].body]).linear_dofs > 0;
      const double error = std::abs(r[0]);
      gears.push_back({row.source, row.index, slides ? error : 0.0, slides ? 0.0 : error});
    }
  }
  closures.insert(closures.end(), gears.begin(), gears.end());
  return closures;
}

}  // namespace stiction
