#pragma once

#include "contact/constraint_row.hpp"
#include "solver/common/work_account.hpp"

#include <vector>

namespace stiction {

/// Scratch of energy_to_obey(), and what it found.
struct OpposedRows {
  std::vector<int> row, set;        ///< [n] of the problem
  std::vector<double> asked;        ///< [n] c* [m/s]
  std::vector<double> unit;         ///< [n] sqrt(G_rr)
  std::vector<double> G;            ///< [n x n] of the rows in these units
  std::vector<double> A, x;         ///< of the active rows
  std::vector<double> trial, best;  ///< [n] z in these units
  std::vector<std::uint8_t> free;   ///< [n] of either sign
  std::vector<std::uint8_t> active;

  /// For islands of so many normals, limits and rows of closures.
  void reserve(int rows);
};

/// Kinetic energy [J] that a motion of an island has at least which obeys the c* of position errors
/// and of what stands in their way, J u >= c*. By duality: any z >= 0 gives
///
///   1/2 u^T M^ u >= (c* . z)^2 / (2 z^T G z),
///
/// and z is that of a few rounds of an active set. Where rows oppose each other it is a pressure
/// that moves nothing, and the energy as large as rounding lets it be. 0 if nothing is asked, or
/// if there are more than 160 rows, of loose bodies, whose G is made for this, more than 32, or if
/// the account does not allow for them.
double energy_to_obey(const RowContext& context,
                      const ContactProblem& problem,
                      int island,
                      OpposedRows& work,
                      WorkAccount& account);

/// The same of `row`, `asked`, `unit`, `free` and `G`, which are there.
double least_energy(OpposedRows& work);

/// Raises impulses to the z of the last call, the largest of them as large as the least that one of
/// its corrections needs alone.
void press(const OpposedRows& work, double* impulse);

}  // namespace stiction
