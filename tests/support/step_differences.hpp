#pragma once

#include "stiction/math/constants.hpp"
#include "stiction/model/tangents.hpp"
#include "stiction/simulator/simulator.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <functional>
#include <vector>

namespace stiction::test {

/// [2 nv] The end of the step from `state` moved by (dq, dv) under `control` with dtorque, as seen
/// from `end`; the simulator's step, warm starts of `state`.
Eigen::VectorXd stepped(Simulator& simulator,
                        const State& state,
                        const Control& control,
                        const State& end,
                        const Eigen::VectorXd& x);

/// The largest error of each column of `J` in the rows of q+ and in those of v+, against the
/// closest of the central differences at several h, relative to the largest entry of its block: six
/// of them, rows q+ and v+ by columns q, v and torque.
struct ColumnErrors {
  Eigen::MatrixXd error;   ///< [2 x columns], [3 x columns] with the extensions of springs
  std::vector<bool> kink;  ///< one-sided differences disagree at every h: not differentiable there
  /// Of columns without a kink; infinite if there are none, as nothing was compared.
  double worst(int first, int count) const;
  int kinks(int first, int count) const;
  int kinks() const { return kinks(0, static_cast<int>(kink.size())); }
};
ColumnErrors column_errors(Simulator& simulator,
                           const State& state,
                           const Control& control,
                           const Eigen::MatrixXd& J);
/// The same of columns of anything, `block` of them in a block; rows beyond 2 nv are extensions.
/// at(k, h): the end of the step, as seen from its end, where the number of column k is h larger;
/// differences of it are made in units[k]. Blocks whose largest entries in the rows of q+, of v+
/// and of extensions are below `least` count as that large.
ColumnErrors column_errors(const Eigen::MatrixXd& J,
                           int nv,
                           int block,
                           const Eigen::VectorXd& units,
                           const Eigen::Vector3d& least,
                           const std::function<Eigen::VectorXd(int, double)>& at);

/// A shift along an axis (k = 0, 1, 2) or a turn about one, of this size.
Transform tangent_motion(int k, double size);

/// A column of a parameter beside differences, in the rows of q+ and those of v+, with the step of
/// the parameter that sees most of the column.
class ColumnCheck {
 public:
  /// Ends of the step with the parameter h more, as it is, and h less.
  void add(const Eigen::VectorXd& column,
           const Eigen::VectorXd& plus,
           const Eigen::VectorXd& base,
           const Eigen::VectorXd& minus,
           double h);
  bool compared() const { return allowed_[0] < kInfinity && allowed_[1] < kInfinity; }
  double error() const { return std::max(error_[0], error_[1]); }  ///< of the allowed one
  /// A wrong sign or a missing term would have been seen.
  bool seen() const { return std::min(seen_[0], seen_[1]) > 10.0; }

 private:
  /// Of the end of a step [rad or m, and 1/s].
  static constexpr double kRounding[2] = {1e-14, 3e-12};
  bool settled_[2] = {false, false};
  double allowed_[2] = {kInfinity, kInfinity}, error_[2] = {0.0, 0.0}, seen_[2] = {0.0, 0.0};
};

/// The column [2 nv] of a number that `shift(h)` makes h larger than it is; steps of it in `unit`.
ColumnCheck check_column(Simulator& simulator,
                         const State& state,
                         const Control& control,
                         const State& end,
                         const Eigen::VectorXd& column,
                         double unit,
                         const std::function<void(double)>& shift);

}  // namespace stiction::test
