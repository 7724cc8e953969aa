#pragma once

#include "stiction/math/constants.hpp"

#include "solver/common/island.hpp"

// The linear system of one Newton step on the moving rows of an island (see mode_newton.cpp for the
// scaling D and the modes).

namespace stiction {

/// What a Newton step does with a row: its impulse keeps its place, its velocity is brought to
/// zero, or it is the tangent of a contact that slides.
enum class RowMode : unsigned char { kFixed, kVelocity, kSlide };

inline constexpr double kRho = 3.0;  // step of the projections p = l - rho c~

/// The dense linear system of the moving rows.
struct NewtonSystem {
  int n = 0;
  int stride = 0;            // of the rows: n rounded up
  double* matrix = nullptr;  // [n x stride]
  double* rhs = nullptr;     // [n]
  int* end = nullptr;        // [n] profile: first column behind the last nonzero, running maximum
  bool symmetric = true;     // no contact slides
  double proximal = 0.0;     // added to the diagonal
};

/// Where the rows of the island go in the reduced matrix.
struct MovingColumns {
  const int* of;       // [row] column, -1 if fixed
  const int* stretch;  // [row] end of the moving rows that follow it without a gap
};

/// Profile of the moving rows: where the last of each set's neighbours ends.
void find_profile(const Island& island, const int* column_of, NewtonSystem& s);

/// c: velocity at which the modes were found; moved: after the fixed rows took their places.
void assemble_newton_system(const Island& island,
                            const double* D,
                            const double* c,
                            const double* moved,
                            const double* lambda,
                            const RowMode* modes,
                            const MovingColumns& columns,
                            const NewtonSystem& s);

}  // namespace stiction
