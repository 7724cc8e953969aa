#pragma once

#include "stiction/model/control.hpp"
#include "stiction/model/state.hpp"

#include "contact/build_problem.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// A step whose change of velocity is known.
struct TreeStep {
  const Scene& scene;
  const Parameters& parameters;
  const Control& control;
  double dt;
  const State& before;
};

/// What makes the motion of articulated trees within a step right beyond the first order: the
/// velocity of the bias, and the kinetic energy where M changes much.
class TreeMotion {
 public:
  /// After compute_dynamics().
  void begin(double dt, const DynamicsWorkspace& work);
  /// Which trees rows act on, but those of what nothing moves.
  void find_rows(const ConstraintRows& rows, const DynamicsWorkspace& work);
  /// Takes the bias of trees without rows to the mean velocity of the step (take_mean_bias), by so
  /// many passes from `change` [nv], v+ - v, which becomes that of the new bias.
  void centre(const TreeStep& step, int passes, double* change, DynamicsWorkspace& work);
  /// Scales the velocities of fast trees at the end of the step, `state`, to the kinetic energy
  /// that they had and that forces, impulses and gravity have given them,
  ///   T(q, v+) + dt v . b + dt v . wrenches + U(q) - U(q+),   v = (v + v+) / 2,
  /// b the bias that the step took: T(q, v+) and what b took for Coriolis forces are T(q, v) and
  /// the work of all other forces. A floating tree without rows is scaled about its centre of mass,
  /// whose velocity is that of its momentum; one with rows as a whole, which leaves what
  /// sticks at rest. `dv` [nv]: v+ - v in the axes of the start. After find_rows().
  /// Marks them in work.fast.
  void balance(const TreeStep& step,
               const std::vector<double>& dv,
               DynamicsWorkspace& work,
               State& state);

 private:
  bool turns_fast(const TreeStep& step,
                  const std::vector<double>& dv,
                  int t,
                  DynamicsWorkspace& work);
  void balance_tree(const TreeStep& step, int tree, DynamicsWorkspace& work, State& state);

  std::vector<std::uint8_t> has_rows_;  ///< [trees]
  std::vector<double> turn_;            ///< [trees] at the start [rad]
  std::vector<double> mean_, last_;     ///< [nv] (v + v+) / 2 and v+, axes of the start
  DynamicsWorkspace end_;               ///< kinematics at the end of the step
};

}  // namespace stiction
