#pragma once

namespace stiction::six_rows {

// Kernels of BlockSparse for panels of six rows, those of free bodies, whose columns stand in
// eights; what is between nodes is zero. Rows of a panel are `width` apart, `eights` of columns
// follow.

/// D = P^-1 L U in place, with 1 / U_kk on the diagonal: row k of P D is row order[k] of D. Without
/// exchanges if symmetric. False if a pivot is zero or not finite, or if symmetric not positive.
bool factor(double* D, int width, bool symmetric, int* order);

/// rows <- D^-1 rows.
void divide(const double* D, const int* order, int width, int eights, double* rows);

/// Row r of the target -= sum_q coefficients[q, r] rows[q, .]; coefficients and rows are of one
/// panel.
void subtract_product(const double* coefficients,
                      const double* rows,
                      int width,
                      int eights,
                      double* target,
                      int target_width);

/// Of a node with x at `own`: x <- D^-1 x, then x at starts[c] -= L^T x, where the block c of L is
/// the eight c of `lower`.
void solve_forwards(const double* D,
                    const int* order,
                    const double* lower,
                    int width,
                    int eights,
                    const int* starts,
                    int own,
                    double* x);

/// x at `own` -= W x at starts[c], where the block c of W is the eight c of `upper`.
void solve_backwards(
    const double* upper, int width, int eights, const int* starts, int own, double* x);

}  // namespace stiction::six_rows
