#pragma once

#include "job.hpp"

#include <memory>

namespace stiction::bench {

/// Takes the steps of a window; `begin` is not timed.
class Stepper {
 public:
  virtual ~Stepper() = default;
  virtual void begin(const Window& window) = 0;
  virtual void advance() = 0;
  /// After advance().
  virtual const Eigen::VectorXd& velocity() const = 0;  ///< [nv]
  virtual bool finite() const = 0;
  virtual bool converged() const { return true; }  ///< the last step
  virtual int switches() const { return 0; }       ///< inside the last step
};

/// A step made of Pinocchio calls: its articulated body algorithm and its integrate(), nothing
/// else.
std::unique_ptr<Stepper> pinocchio_aba(const Job& job, int steps);
/// Explicit Euler on the same springs and dampers, as a user of Pinocchio writes it: kinematics,
/// forces of the feet on the ground, aba(), integrate(). Spheres of one robot on the plane z = 0.
std::unique_ptr<Stepper> pinocchio_explicit_euler(const Job& job, int steps);

}  // namespace stiction::bench
