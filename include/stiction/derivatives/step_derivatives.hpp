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

/// A change of one field of Parameters or Control, by its columns.
struct ParameterDirection {
  std::string name;
  Eigen::VectorXd change;  ///< [ParameterRange::count]
};

/// Dofs of bodies in touch, of a whole scene under a compliant integrator, whose matrices are
/// formed: [1200 x 1800] numbers are 17 MB.
inline constexpr int kMaxMatrixDofs = 600;

/// The linearised step: exact of the rigid integrator and, as a rule, of implicit-euler, by
/// differences of the other compliant ones, see report.method. Rows are tangents [q+ | v+] at its
/// end, columns tangents [q | v] at its start and torques, all in Pinocchio's convention: of a
/// free-flyer linear and angular part in the axes of the body, at the start and at the end
/// respectively. Units rad, m, s, N m, N.
struct StepDerivatives {
  /// Trees that touch each other, or one that touches nothing. Other islands change nothing here.
  struct Island {
    std::vector<int> dofs;  ///< of the scene
    RowMajorMatrix values;  ///< [2 n x 3 n] by q, v and torque of these dofs
  };
  std::vector<Island> islands;
  /// The springs e of compliant contacts, three numbers for each of report.springs: extensions in
  /// the axes of ContactMemory [m]. Chains of steps need them: multiply dx_dx() of one step by that
  /// of the step before, springs matched by name; those that only one of the two knows are zero.
  RowMajorMatrix springs_by;               ///< [3 ns x 3 nv] de+ by q, v and torque
  RowMajorMatrix by_springs;               ///< [2 nv + 3 ns x 3 ns] d(q+, v+, e+) by e
  std::vector<ParameterRange> parameters;  ///< as asked for
  RowMajorMatrix P;                        ///< [2 nv + 3 ns x their columns]
  GradientReport report;

  /// Dense, of the whole scene: dx+/dx [2 nv x 2 nv] and dx+/dtorque [2 nv x nv].
  Eigen::MatrixXd A() const;
  Eigen::MatrixXd B() const;
  /// The same with the springs, x = (q, v, e): [2 nv + 3 ns square], [2 nv + 3 ns x nv].
  Eigen::MatrixXd dx_dx() const;
  Eigen::MatrixXd dx_dtorque() const;
  int nv() const;
};

/// dl/d(q, v, torque) of a scalar l of a step's end, tangents [nv], and by parameters.
struct StepGradient {
  Eigen::VectorXd q, v, torque;
  Eigen::VectorXd springs;  ///< [3 ns], as in StepDerivatives
  std::vector<ParameterRange> ranges;
  Eigen::VectorXd parameters;  ///< by the columns of `ranges`
};

}  // namespace stiction
