#pragma once

#include "derivatives/linearisation.hpp"

namespace stiction {

/// Marks both trees if one of them is; whether that is new. Of the world, -1: nothing.
bool link_trees(int a, int b, std::vector<char>& marked);

/// Marks the trees [of the scene] that active rows of the step link to marked ones.
void spread_reach(const DerivativeInput& in,
                  const Linearisation& linear,
                  std::vector<char>& marked);

}  // namespace stiction
