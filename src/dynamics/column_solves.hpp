#pragma once

#include "dynamics/tree_data.hpp"

// M^ = L^T D L of one tree applied to many right-hand sides at once: rows are dofs, columns lanes.
// `stride` and `width` are multiples of kLaneColumns (math/row_sums.hpp).

namespace stiction {

/// X <- D^-1/2 L^-T X.
void whiten_columns(
    const TreeView& tree, const TreeData<double>& data, int stride, int width, double* X);

/// X <- L^-1 D^-1/2 X, after which X = M^^-1 of what whiten_columns() was given.
void unwhiten_columns(
    const TreeView& tree, const TreeData<double>& data, int stride, int width, double* X);

/// X[k][column + j] += (D^1/2 L)_kj: the whitened M^ itself, in the columns of the tree's dofs.
void add_whitened_mass(
    const TreeView& tree, const TreeData<double>& data, int stride, int column, double* X);

/// x [nv] += M^ y, M^ = L^T D L.
void add_mass_times(const TreeView& tree, const TreeData<double>& data, const double* y, double* x);

}  // namespace stiction
