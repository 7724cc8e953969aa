#pragma once

#include "stiction/contact/contact_problem.hpp"

namespace stiction {

/// Which law a cone follows: Coulomb's (normal and tangents apart once W is diagonal), or the
/// convex one without the De Saxce term.
enum class Law { kCoulomb, kConvex };

/// The impulse l of rows of a set that stand together (tree_block) and see a diagonal Delassus
/// matrix W: the set's law between l and c = W (l - p). The tangents of a cone share their W.
/// `slope`, if given, receives W^-1 dl/dp = -dl/dc, row-major dim x dim; a generalised derivative
/// at kinks.
void apply_law(const ConstraintSet& set,
               Law law,
               const double* W,
               const double* p,
               int dim,
               double* l,
               double* slope);

}  // namespace stiction
