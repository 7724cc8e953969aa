#pragma once

#include "stiction/derivatives/gradient_report.hpp"

#include <Eigen/Core>

#include <vector>

namespace stiction {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

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
  GradientReport report;

  /// Dense, of the whole scene: dx+/dx [2 nv x 2 nv] and dx+/dtorque [2 nv x nv].
  Eigen::MatrixXd A() const;
  Eigen::MatrixXd B() const;
  int nv() const;
};

/// dl/d(q, v, torque) of a scalar l of a step's end, tangents [nv].
struct StepGradient {
  Eigen::VectorXd q, v, torque;
};

}  // namespace stiction
