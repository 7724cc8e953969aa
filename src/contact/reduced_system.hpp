#pragma once

#include "contact/active_set.hpp"
#include "math/pivoted_lu.hpp"

#include <vector>

namespace stiction {

/// The linearised problem of one island in its active unknowns y:
///   K y = -W h,   K = W (G + R) T + D,   d lambda = T y,
/// h [rows] what else changes the velocities. K is scaled by its diagonal and factored with
/// pivots; a redundant set of contacts has a null space. Where nothing slides dv does not depend on
/// which y is taken, and the basic one is; else it is the limit of
///   (K + e W S^-2 T) y = -W h,   e -> 0,
/// S the canonical scaling of the contacts: a proximal step of Newton's method from the warm start.
/// With U^T K = 0 that is U^T W S^-2 T y = 0.
class ReducedSystem {
 public:
  /// Sets [first, last) of the problem.
  void build(const ContactProblem& problem, const ActiveSet& active, int first, int last);

  int first() const { return first_; }  ///< of its unknowns in ActiveSet::unknowns
  int size() const { return lu_.size(); }
  int rank() const { return lu_.rank(); }
  double smallest_pivot() const { return lu_.smallest_pivot(); }
  /// Whether something slides and there is a null space to select from.
  bool selects() const { return !null_.empty(); }

  /// y [size x stride] of the right-hand sides b = W h, likewise, negated: K y = -b. `b` is
  /// destroyed. Widths are multiples of kLaneColumns.
  void solve(double* b, int stride, int width, double* y);
  /// Whether K y = -b has no solution, b [size] column 0 of rows `stride` apart: a change that no
  /// impulses of redundant contacts answer.
  bool contradicts(const double* b, int stride, std::vector<double>& scratch) const;
  /// z [size] with z . b = -x . y(b) for all b, in place of x.
  void solve_transposed(double* x);
  /// j-th of its directions [size], of size() - rank(), where it selects().
  void null_vector(int j, double* x) const;

 private:
  void find_null_space(const ContactProblem& problem, const ActiveSet& active);
  void times_metric(const ContactProblem& problem,
                    const ActiveSet& active,
                    const double* y,
                    double* out) const;
  void project(double* y, int stride, int width);

  int first_ = 0;
  PivotedLu lu_;
  std::vector<double> scale_;  ///< [size] 1 / sqrt(K_aa)
  std::vector<double> null_;   ///< [nullity x size] N, K N = 0
  std::vector<double> kept_;   ///< [nullity x size] B, held at zero; B N = 1
  PivotedLu pairing_;          ///< of B and N before
  std::vector<double> part_;   ///< scratch
};

}  // namespace stiction
