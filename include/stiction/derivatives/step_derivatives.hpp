#pragma once

#include "stiction/derivatives/gradient_report.hpp"

#include <Eigen/Core>

#include <string>
#include <vector>

namespace stiction {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Columns of one field of Parameters or Control, `count` of them, in its own order.
struct ParameterRange {
  std::string name;
  int first = 0;
  int count = 0;
};

/// The linearised step. Rows are tangents [q+ | v+] at its end, columns tangents [q | v] at its
/// start and torques, all in Pinocchio's convention: of a free-flyer linear and angular part in the
/// axes of the body, at the start and at the end respectively. Units rad, m, s, N m, N.
struct StepDerivatives {
  /// Trees that touch each other, or one that touches nothing. Other islands change nothing here.
  struct Island {
    std::vector<int> dofs;  ///< of the scene
    RowMajorMatrix values;  ///< [2 n x 3 n] by q, v and torque of these dofs
  };
  std::vector<Island> islands;
  std::vector<ParameterRange> parameters;  ///< as asked for
  RowMajorMatrix P;                        ///< [2 nv x their columns]
  GradientReport report;

  /// Dense, of the whole scene: dx+/dx [2 nv x 2 nv] and dx+/dtorque [2 nv x nv].
  Eigen::MatrixXd A() const;
  Eigen::MatrixXd B() const;
  int nv() const;
};

/// dl/d(q, v, torque) of a scalar l of a step's end, tangents [nv], and by parameters.
struct StepGradient {
  Eigen::VectorXd q, v, torque;
  std::vector<ParameterRange> ranges;
  Eigen::VectorXd parameters;  ///< by the columns of `ranges`
};

}  // namespace stiction
