#pragma once

#include "stiction/contact/residuals.hpp"

#include "solver/common/island.hpp"

namespace stiction {

/// Sweeps and Newton steps that a dense solve may take.
inline constexpr int kMostDenseSweeps = 13, kMostDenseSteps = 32;

/// Room of solve_dense_island().
struct DenseIslandWork {
  Buffer<double> memory;
  void reserve() { memory.grow(size()); }
  static std::size_t size();
};

struct DenseAnswer {
  Residuals residuals;  ///< that were reached
  int sweeps, steps;    ///< taken
};

/// Whether an island is one of few rows: contacts of three rows with one coefficient, and rows of
/// one dimension, without compliance, whose dense G is at hand. It depends on the problem alone, so
/// that a world on lanes and one in a Simulator take the same course.
bool is_dense_island(const Island& island);

/// The course that problems of few rows take on lanes (dense_solve.hpp), here of one: `lambda` is
/// the warm start, and becomes the answer if that reaches the tolerance, with its velocity; else
/// both stay.
DenseAnswer solve_dense_island(const Island& island,
                               double tolerance,
                               DenseIslandWork& work,
                               double* lambda,
                               double* velocity);

}  // namespace stiction
