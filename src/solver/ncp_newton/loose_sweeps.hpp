#pragma once

#include "solver/common/buffer.hpp"
#include "solver/common/island.hpp"
#include "solver/common/pgs_kernel.hpp"

namespace stiction {

/// Projected Gauss-Seidel (pgs_kernel.hpp) on an island of loose bodies, in one loop without G.
class LooseSweeps {
 public:
  /// One contact; entries of u and z by the start of a body's eight.
  struct Contact {
    const double* z[2];  ///< of one body: the second null
    int body[2];
    int row, dim;
    double mu;
    ConeStep<double> step;
    double inverse;  ///< 1 / G of a single row
  };

  /// False if the island has other sets than contacts of three rows and of one.
  bool prepare(const Island& island);
  /// Room for islands of up to so many sets.
  void reserve(int sets) { contacts_.grow(sets); }
  /// A pass over the contacts: lambda and u, the motion of the bodies (contact_space.hpp).
  void sweep(double* lambda, double* u) const;

 private:
  const ContactProblem* problem_ = nullptr;
  Buffer<Contact> contacts_;
  int count_ = 0;
};

}  // namespace stiction
