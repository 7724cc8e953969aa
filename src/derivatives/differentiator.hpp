#pragma once

#include "stiction/derivatives/step_derivatives.hpp"

#include "derivatives/adjoint.hpp"
#include "derivatives/columns.hpp"
#include "derivatives/moving_springs.hpp"
#include "derivatives/parameter_changes.hpp"

namespace stiction {

/// Derivatives of one step after the other; workspace and output. What was linearised is kept until
/// forget() says that there is another step.
class Differentiator {
 public:
  void forget() { linearised_ = false; }
  const Linearisation& linearisation() const { return linear_; }

  /// All columns.
  const StepDerivatives& derivatives(const DerivativeInput& in,
                                     const std::vector<std::string>& parameters);
  /// J^T w, w [2 nv] of (q+, v+) or [2 nv + 3 ns] of (q+, v+, e+).
  const StepGradient& gradient(const DerivativeInput& in,
                               const Eigen::VectorXd& w,
                               const std::vector<std::string>& parameters);
  /// J x, x [3 nv] of (q, v, torque) or [3 nv + 3 ns], and what parameters change beside it: [2 nv]
  /// or [2 nv + 3 ns].
  const Eigen::VectorXd& tangent(const DerivativeInput& in,
                                 const Eigen::VectorXd& x,
                                 const std::vector<ParameterDirection>& parameters);
  /// Of the step that was linearised.
  const GradientReport& report(const DerivativeInput& in);

 private:
  void prepare(const DerivativeInput& in);
  void look_for_contradictions(const DerivativeInput& in);
  void fill_report(const DerivativeInput& in);
  void sort_changes(const DerivativeInput& in);
  void fill_parameters(const DerivativeInput& in, int island);
  void add_parameter_gradient(const Eigen::VectorXd& w);
  void find_direction(const DerivativeInput& in, const std::vector<ParameterDirection>& parameters);
  void add_parameter_sides();
  void add_parameter_ends(Eigen::Index nv);
  void push_island(const DerivativeInput& in, const Eigen::VectorXd& x, std::size_t island);
  void fill_springs(const DerivativeInput& in);
  void take_back(const DerivativeInput& in, const Eigen::VectorXd& w);
  void take_back_island(const DerivativeInput& in, const Eigen::VectorXd& w, std::size_t island);

  bool linearised_ = false;
  Linearisation linear_;
  ParameterChanges parameters_;
  std::vector<int> order_, start_;  ///< changes by island, [islands + 1] into them
  std::vector<int> island_of_row_;  ///< [rows]
  Columns columns_;
  IslandCotangents adjoint_;
  StepDerivatives out_;
  StepGradient gradient_;
  Eigen::VectorXd tangent_;
  std::vector<double> q_, v_, torque_;
  /// Changes or cotangents of the scene's dofs and rows.
  std::vector<double> force_, velocity_, impulse_;
  MovingSprings springs_;
  /// Of tangential springs.
  struct {
    std::vector<double> on_impulse;  ///< [rows] by e+
    std::vector<double> by_springs;  ///< [3 springs] dl/de+
  } cotangents_;
  struct {
    Eigen::VectorXd unit;       ///< [2 nv + 3 springs]
    Eigen::VectorXd direction;  ///< [3 nv]
    Eigen::VectorXd change;     ///< [columns of the parameters]
  } scratch_;
};

}  // namespace stiction
