#pragma once

#include "stiction/batch/batch.hpp"

#include <cstdint>
#include <memory>

namespace stiction {

/// The next step of every world of a batch, with its present control and parameters,
/// differentiated on as many threads as the batch has. Steps are a Simulator's, of copies: the
/// batch stays as it is. One caller at a time, who does not step the batch meanwhile.
///
/// Tangents as of Simulator::step_derivatives(): 2 nv numbers of (q, v). `exact` [worlds]: whether
/// the world's GradientReport calls its derivatives exact. A step that is not whole has rows of
/// NaN. Rows of worlds outside of the mask (null: none are) are left as they are. Throws
/// std::invalid_argument naming the world whose step cannot be differentiated.
class BatchDerivatives {
 public:
  /// Refers to the batch.
  explicit BatchDerivatives(const Batch& batch);
  ~BatchDerivatives();

  /// A [worlds, 2 nv, 2 nv] by (q, v), B [worlds, 2 nv, nv] by the torques; row-major.
  void jacobians(const std::uint8_t* mask, double* A, double* B, std::uint8_t* exact);
  /// J^T w: x [worlds, 2 nv], torque [worlds, nv] of w [worlds, 2 nv].
  void vjp(
      const std::uint8_t* mask, const double* w, double* x, double* torque, std::uint8_t* exact);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stiction
