#pragma once

#include "solver/common/island.hpp"
#include "solver/dense/dense_solver.hpp"

namespace stiction {

/// Room of solve_dense_island().
struct DenseIslandWork {
  Buffer<double> memory;
  void reserve();
};

/// Whether an island is one of few rows: contacts of three rows with one coefficient, and rows of
/// one dimension, without compliance, whose dense G is at hand. It depends on the problem alone, so
/// that a world on lanes and one in a Simulator take the same course.
bool is_dense_island(const Island& island);

/// Multiplications of the course below, at most: of Newton's steps with their line searches, of
/// sweeps and of looks at the start and at the end.
double dense_work(int rows, const DenseOutcome& outcome);

/// The course that problems of few rows take on lanes (dense_solve.hpp), here of one: `lambda` is
/// the warm start, and becomes the answer if that reaches the tolerance, with its velocity; else
/// both stay.
DenseOutcome solve_dense_island(const Island& island,
                                double tolerance,
                                DenseIslandWork& work,
                                double* lambda,
                                double* velocity);

}  // namespace stiction
