#pragma once

#include "integrator/compliant_system.hpp"
#include "integrator/contact_segment.hpp"

#include <vector>

// The rows of points in two orders: set after set as the contact problem has them
// (contact_axes.hpp), and as ContactIsland has them, turns last and in their units. Without couples
// the two are the same.

namespace stiction::compliance {

/// Where a row of the island that begins at point `first` is among all, and its unit: what acts in
/// it is divided by the unit, velocities are multiplied.
struct RowPlace {
  int row;
  double unit;
};
RowPlace place_of(const CompliantSystem& system, int first, const ContactIsland& island, int row);

/// Y, coefficients, motions and turns of the island of the points [first, last). After assemble().
void fill_island(const CompliantSystem& system,
                 int first,
                 int last,
                 std::vector<double>& scratch,
                 ContactIsland& island);

/// Of velocities or accelerations of all rows those of the island that begins at point `first`: in
/// `rows`, or in `scratch` where the island has them otherwise.
const double* to_island(const CompliantSystem& system,
                        int first,
                        const ContactIsland& island,
                        const std::vector<double>& rows,
                        std::vector<double>& scratch);

/// Into the rows of an island what acts there: impulses or forces; rows without friction get none.
void from_island(const CompliantSystem& system,
                 int first,
                 const ContactIsland& island,
                 const std::vector<double>& f,
                 std::vector<double>& rows);

}  // namespace stiction::compliance
