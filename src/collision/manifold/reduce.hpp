#pragma once

#include "collision/pairs/pair.hpp"

namespace stiction::detail {

/// Room for candidates: not written before they are found.
template <int N>
union CandidatePoints {
  ManifoldPoint points[N];
  CandidatePoints() {}  // NOLINT(modernize-use-equals-default): would be deleted
};

/// Moves at most `most` >= 4 points to the front and returns their number: those that touch (are as
/// deep as the deepest, within 1e-4 size) or overlap, the lowest first (half of `most` where more
/// overlap), then those that would sink deepest if they were dropped; of more that touch, four that
/// span a large area, or, for `most` > 4, a loop whose dropped corners cost the least area.
/// Near-ties go to the first point, so that a small motion keeps the choice.
int reduce(const Vec3d& normal, double size, int most, ManifoldPoint* points, int count);

/// Features differ within the manifold afterwards; equal ones are counted up in order.
void make_features_unique(Manifold& m);

}  // namespace stiction::detail
