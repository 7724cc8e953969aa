#pragma once

namespace stiction {

/// P^T S A S P = L D L^T of a symmetric A >= 0 that may be singular, S = diag(A)^-1/2, largest
/// pivot first, until no pivot exceeds `zero` (of 1: what is left of a row's own square). In place
/// (row-major n x n, contiguous; the lower triangle is read). `scale` [n] receives S, `order` [n]
/// the rows by pivot. Returns the rank.
int factor_semidefinite(double* A, int n, double zero, double* scale, int* order);

/// b <- the vector of the range of A that agrees with b in the rows of the first `rank` pivots.
void project_on_range(const double* A,
                      int n,
                      int rank,
                      const double* scale,
                      const int* order,
                      double* b,
                      double* scratch);

/// b <- x with A x = b in the rows of the first `rank` pivots and x = 0 in the others: a solution
/// where b lies in the range of A. `scratch` [n].
void substitute_semidefinite(const double* A,
                             int n,
                             int rank,
                             const double* scale,
                             const int* order,
                             double* b,
                             double* scratch);

/// With L_1 the first `rank` columns of L, all rows: `gram` [rank x rank] <- the Cholesky factor of
/// L_1^T L_1, lower triangle.
void factor_gram(const double* A, int n, int rank, const int* order, double* gram);

/// What factor_semidefinite() and factor_gram() have left of A.
struct SemidefiniteFactor {
  const double* A;
  int n, rank;
  const double* scale;
  const int* order;
  const double* gram;
};

/// b <- S^-1 times the vector of the range of S A S that is nearest to S b. `scratch` [rank].
void nearest_in_range(const SemidefiniteFactor& factor, double* b, double* scratch);

/// b <- S y, y = (S A S)^+ S b by the pseudoinverse, L_1 (L_1^T L_1)^-1 D^-1 (L_1^T L_1)^-1 L_1^T:
/// of the x with A x = b the least in S^-1 x, and where there is none that of least squares in
/// S (A x - b). `scratch` [rank].
void least_solution(const SemidefiniteFactor& factor, double* b, double* scratch);

}  // namespace stiction
