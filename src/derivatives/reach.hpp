#pragma once

#include "derivatives/linearisation.hpp"

namespace stiction {

/// Marks the trees [of the scene] that active rows of the step link to marked ones.
void spread_reach(const DerivativeInput& in,
                  const Linearisation& linear,
                  std::vector<char>& marked);

}  // namespace stiction
