#pragma once

#include "stiction/contact/residuals.hpp"
#include "stiction/solver/solver.hpp"

#include "contact/contact_space.hpp"
#include "solver/common/buffer.hpp"
#include "solver/common/work_account.hpp"

namespace stiction {

/// Sets that couple with each other and with nothing else: the unit that a solver works on.
struct Island {
  const ContactProblem& problem;
  int first, last;  ///< sets
  int begin, end;   ///< rows

  Island(const ContactProblem& p, int first_set, int last_set)
      : problem(p),
        first(first_set),
        last(last_set),
        begin(p.sets[first_set].offset),
        end(p.sets[last_set - 1].offset + p.sets[last_set - 1].dim) {}
  int rows() const { return end - begin; }
  /// Whether its bodies are loose: then nothing but dense methods should ask for its panels.
  bool is_loose() const { return problem.space.loose(first); }
};

/// c = (G + R) lambda + g of the island; both arrays are indexed by the problem's rows.
void velocities(const Island& island, const double* lambda, double* velocity);
/// Bound of the largest eigenvalue of a symmetric block, columns `stride` apart: q + (n - 1) p,
/// q = tr / n and n (n - 1) p^2 = ||A - q I||_F^2; reached if the others are equal.
double largest_eigenvalue_bound(const double* block, int n, int stride);
/// Entries of diag G up to it count as zero: nothing moves there.
inline double rigid_floor(const Island& island) {
  return 1e-14 * island.problem.largest_diagonal(island.first, island.last);
}
/// Multiplications of a pass over the sets: a product with G, by its factors or its panels, and
/// what is done for each row, be it a sweep or residuals.
double pass_work(const Island& island);
/// What a step or a solve that begins with this problem may take.
void allow_for(const ContactProblem& problem, WorkAccount& account);
/// Rows above which tolerance_large holds where there are several trees.
inline constexpr int kManyRows = 300;
inline bool is_large(const Island& island) {
  const ContactSpace& space = island.problem.space;
  return island.rows() > kManyRows && space.known() && !in_one_tree(space);
}
/// The residual with which an island counts as solved.
double tolerance_of(const Island& island, const SolverSettings& settings);
/// `tolerance_large` of a step: less where its part of the velocities, most of which gaps ask for,
/// is as large as what moves.
double safe_tolerance_large(const ContactProblem& problem, double tolerance_large);
/// Impulses that make velocities a thousand times those asked for.
inline bool runs_away(const Residuals& r) { return r.backward < 1e-3 * r.relative; }
/// The largest complementarity of a set in parts of max |g| times its own impulses, or those that
/// stop max |g| there. The relative residual has the largest impulse of the island in their place.
double largest_own_share(const Island& island, const double* lambda, const double* velocity);
/// max of ConstraintSet::opposed() of g over the island [m/s].
double largest_asked(const Island& island);
/// V of `Residuals`: largest_asked(), and no less than ContactProblem::velocity_scale.
double velocity_scale(const Island& island);
/// Mean of diag(G + R) over the island's rows; 1 if it is zero.
double mean_diagonal(const Island& island);

/// Dense G + R (n x n, columns `stride` apart, both triangles) and g of the island, n =
/// island.rows(). Rows from n to the stride are zero.
void copy_dense(const Island& island, int stride, double* G, double* g);

/// One island as a problem of its own, its sets and rows from 0.
void copy_island(const ContactProblem& problem, int island, ContactProblem& out);

/// How an algorithm left an island.
struct IslandOutcome {
  int iterations = 0;
  SolveStatus status = SolveStatus::kConverged;  ///< what its own test says
};

/// Calls solve_island(island, lambda, velocity) for each island; `lambda` and `velocity` are the
/// solution's, indexed by the problem's rows. The solution gets the most iterations and the worst
/// status.
template <class SolveIsland>
void solve_by_islands(const ContactProblem& problem,
                      ContactSolution& solution,
                      SolveIsland&& solve_island) {
  solution.status = SolveStatus::kConverged;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const Island island(problem, problem.island_start[k], problem.island_start[k + 1]);
    const IslandOutcome outcome =
        solve_island(island, solution.impulse.data(), solution.velocity.data());
    if (outcome.iterations > solution.iterations) solution.iterations = outcome.iterations;
    if (outcome.status > solution.status) solution.status = outcome.status;
  }
}

/// Cuts pieces off a buffer, which is grown to `size` first. Pieces are not cleared.
class Scratch {
 public:
  Scratch(Buffer<double>& storage, std::size_t size) {
    storage.grow(size);
    next_ = storage;
  }
  double* take(std::size_t count) {
    double* piece = next_;
    next_ += count;
    return piece;
  }
  using Vector = Eigen::Map<Eigen::VectorXd>;
  using Matrix = Eigen::Map<Eigen::MatrixXd>;
  Vector vector(int n) { return {take(n), n}; }
  Matrix matrix(int rows, int columns) {
    return {take(static_cast<std::size_t>(rows) * columns), rows, columns};
  }

 private:
  double* next_;
};

}  // namespace stiction
