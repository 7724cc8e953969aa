#pragma once

#include "solver/common/island.hpp"
#include "solver/common/pgs_kernel.hpp"

namespace stiction {

/// Gauss-Seidel over the sets of one island, each solved with the newest impulses of the others.
class GaussSeidel {
 public:
  /// Constants of one set. Bilateral rows are solved row by row within their block.
  struct Local {
    ConeStep<double> cone;
    double inverse[kMaxSetDim];  ///< 1 / G_rr of the other sets
  };
  /// `locals` gets the constants of the island.
  GaussSeidel(const Island& island, Buffer<Local>& locals);

  /// How a contact is solved.
  enum class Contact {
    kProjected,  ///< the stick that stops it, or one projected step (pgs_kernel.hpp)
    kExact,      ///< the NCP of the contact alone (local_contact.hpp)
  };
  /// Solves set i with velocity c for its impulse l.
  void update(int i, Contact contact, double* c, double* l) const;
  /// One pass (sweep_sets).
  double sweep(Contact contact, double* lambda) const;

 private:
  const Island island_;
  Local* locals_;
};

}  // namespace stiction
