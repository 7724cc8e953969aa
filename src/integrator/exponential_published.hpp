#pragma once

#include "integrator/compliant_system.hpp"
#include "math/matrix_exponential.hpp"

#include <vector>

namespace stiction {

struct CompliantWorkspace;

/// Scratch of exponential_published().
struct PublishedScratch {
  MatrixExponential exponential;
  std::vector<double> Y, A, columns, force, again;
  std::vector<int> active;
  std::vector<double> change;
};

/// B. Hammoud et al., Multibody System Dynamics 54 (2022) 443: the contact points of an island as a
/// linear system x' = A x + a that is frozen over the step, eqs (11), (29)-(30); its average force
/// and the average of the average, projected on the cone, move v and q, eqs (23)-(26). First order.
/// See src/integrator/README.md.
void exponential_published(const CompliantInput& input, State& state, CompliantWorkspace& work);

}  // namespace stiction
