#pragma once

#include "stiction/model/control.hpp"
#include "stiction/model/state.hpp"

#include "integrator/step_record.hpp"

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

/// What makes the motion of trees within a step right beyond the first order: the velocity of the
/// bias, and the kinetic energy where M changes much, of articulated ones; the kicks of loose
/// bodies.
class TreeMotion {
 public:
  void resize(const Scene& scene);
  /// Which trees rows act on, except immovable ones, and which float and touch nothing.
  void find_rows(const ConstraintRows& rows, const DynamicsWorkspace& work);
  /// Takes the bias of trees without rows to the mean velocity of the step (take_mean_bias), by so
  /// many passes from `change` [nv], v+ - v, which becomes that of the new bias.
  void centre(const TreeStep& step, int passes, double* change, DynamicsWorkspace& work);
  /// Scales the velocities of fast trees at the end of the step, `state`, to the kinetic energy
  ///   T(q, v+) + dt v . C,   v = (v + v+) / 2,
  /// C the Coriolis forces of the bias that the step took. By M (v+ - v) = dt (f - C) that is T(q,
  /// v) and the work of all other forces f at v; what C does is to be what M does as it changes,
  /// T(q+, v+) - T(q, v+). A floating tree that touches nothing is scaled about its centre of mass,
  /// whose velocity is that of its momentum; others as a whole, which leaves what sticks to the
  /// world at rest. `dv` [nv]: v+ - v in the axes of the start. Marks them in work.fast. After
  /// find_rows().
  void balance(const TreeStep& step,
               const std::vector<double>& dv,
               DynamicsWorkspace& work,
               State& state);
  /// Marks the islands of contacts that meet at more than `least` [m/s], other than points onto
  /// which a body rolls.
  void find_impacts(const StepRecord& record, double least, double dt);
  /// Gives loose bodies that rows act on the velocity of equation (2), dynamics/loose_body.hpp,
  /// that of their centre of mass staying; not where there is an impact, which must gain no energy;
  /// `at_nodes` [trees], or null: those whose v is that of a node already. Marks them in
  /// work.kicked. After find_rows(), at the end of the step.
  void end_kicks(const TreeStep& step,
                 const std::vector<std::uint8_t>* at_nodes,
                 DynamicsWorkspace& work,
                 State& state) const;
  /// From the velocities [nv] that such bodies are left with to those they moved with, axes of the
  /// end.
  void take_back_kicks(const TreeStep& step,
                       const std::vector<std::uint8_t>* at_nodes,
                       DynamicsWorkspace& work,
                       double* v) const;

 private:
  bool may_be_kicked(const std::vector<std::uint8_t>* at_nodes,
                     int tree,
                     const DynamicsWorkspace& work) const;
  bool turns_fast(const TreeStep& step,
                  const std::vector<double>& dv,
                  int tree,
                  DynamicsWorkspace& work);
  void balance_tree(const TreeStep& step, int tree, DynamicsWorkspace& work, State& state);
  void return_to_bias(const TreeStep& step, int tree, DynamicsWorkspace& work) const;
  Vec3d momentum_after(const TreeStep& step,
                       int tree,
                       const Vec3d& before,
                       double mass,
                       const DynamicsWorkspace& work) const;

  std::vector<std::uint8_t> has_rows_, flies_, hit_;  ///< [trees]
  std::vector<double> mean_, last_;  ///< [nv] (v + v+) / 2 and v+, axes of the start
  DynamicsWorkspace end_;            ///< kinematics at the end of the step
};

}  // namespace stiction
