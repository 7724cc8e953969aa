#include "solver/convex/ccp_newton.hpp"

#include "stiction/math/constants.hpp"

#include "math/solve_linear.hpp"
#include "solver/common/projection.hpp"
#include "solver/convex/regularisation.hpp"
#include "solver/convex/regularised_law.hpp"
#include "solver/ncp_newton/newton_system.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <cmath>

// Newton's method on the regularised convex problem in primal form: the family of MuJoCo (Todorov
// 2014) and of Drake's SAP (Castro et al. 2022). Over velocities v,
//
//   min 1/2 ||v - v_f||^2_M + sum_i l_i(J v - v*),   dl_i/dc = -lambda_i(c),
//
// with lambda(c) of regularised_law.hpp. Every iterate that starts in v_f + range(M^-1 J^T) stays
// there, so that v = v_f + M^-1 J^T w with impulses w, not yet in K, and c = G w + g: the same
// iterates without M and J. Gradient G (w - lambda(c)), Hessian G + G H G; a Newton step solves
//
//   (I + H G) dw = lambda(c) - w.
//
// With H = L L^T and r = lambda - w:  dw = r - L y,  (I + L^T G L) y = L^T G r: symmetric positive
// definite even if G is singular; a sliding contact has one row less than a sticking one, an open
// one none. The solution is that of the CCP with G + R.
//
// R: by rule or given, on top of the physical compliance, which is in G. A contact whose given R
// of the tangents differ takes the smallest in its law; the rest is added to G, where only the sum
// counts.

namespace stiction {
namespace {

/// What the solver adds to diag(G): R in the law and the rest in G.
void split_regularisation(const Island& island, const double* added, double* R, double* rest) {
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = island.problem.sets[i];
    for (int r = set.offset; r < set.offset + set.dim; ++r) {
      R[r] = added[r];
      rest[r] = 0.0;
    }
    if (!set.is_cone()) continue;
    const int normal = set.offset + set.friction.normal();
    const double tangential = *std::min_element(added + set.offset, added + normal);
    for (int r = set.offset; r < normal; ++r) {
      R[r] = tangential;
      rest[r] = added[r] - tangential;
    }
  }
}

/// Arrays by row of the problem; R is what the law takes of the regularisation.
struct Vectors {
  double *R, *rest, *w, *c, *lambda, *dw, *dc, *y, *columns;
};
constexpr int kVectors = 8 + kMaxSetDim;  // `columns` holds L, up to kMaxSetDim for each row

class IslandNewton {
 public:
  IslandNewton(const Island& island,
               const SolverSettings& settings,
               const Vectors& vectors,
               CcpNewtonWork& work,
               WorkAccount& account)
      : island_(island),
        p_(island.problem),
        settings_(settings),
        x_(vectors),
        work_(work),
        account_(account) {}
  /// From `result`, where the best impulses found are left; velocity is scratch.
  IslandOutcome solve(double* result, double* velocity);

 private:
  void reserve();
  void project_all(const double* impulse, double* projected) const;
  bool accept(const double* impulse, double* velocity, double* result);
  void find_velocity(const double* impulse, double* c) const;
  double relative_residual(const double* impulse, const double* c);
  void find_impulse(const double* c, double* lambda) const;
  void find_stiffness();
  void assemble();
  void add_block(int i, int j, const double* block);
  bool find_step(const double* velocity);
  void slope(double alpha, double& first, double& second) const;
  double line_search() const;

  const Island& island_;
  const ContactProblem& p_;
  const SolverSettings& settings_;
  const Vectors x_;
  CcpNewtonWork& work_;
  WorkAccount& account_;
  NewtonSystem system_;
  double best_ = kInfinity;  // relative residual of the result
  int* start_ = nullptr;     // [sets + 1] first row of a set in the reduced system
};

/// c = (G + rest) impulse + g.
void IslandNewton::find_velocity(const double* impulse, double* c) const {
  velocities(island_, impulse, c);
  for (int r = island_.begin; r < island_.end; ++r) c[r] += x_.rest[r] * impulse[r];
}

/// Of the regularised CCP; c without the law's R.
double IslandNewton::relative_residual(const double* impulse, const double* c) {
  for (int r = island_.begin; r < island_.end; ++r) x_.dc[r] = c[r] + x_.R[r] * impulse[r];
  return model_residuals(ContactModel::kCcp, 4, p_, impulse, x_.dc, island_.first, island_.last)
      .relative;
}

void IslandNewton::find_impulse(const double* c, double* lambda) const {
  for (int i = island_.first; i < island_.last; ++i) {
    const int o = p_.sets[i].offset;
    regularised_impulse(p_.sets[i], x_.R + o, c + o, lambda + o);
  }
}

/// L of every set and where its columns stand in the reduced system.
void IslandNewton::find_stiffness() {
  system_.n = 0;
  for (int i = island_.first; i < island_.last; ++i) {
    const int o = p_.sets[i].offset;
    start_[i] = system_.n;
    system_.n += regularised_stiffness(p_.sets[i], x_.R + o, x_.c + o, x_.columns + kMaxSetDim * o);
  }
  start_[island_.last] = system_.n;
}

/// L_i^T (G_ij + rest) L_j into the upper triangle of I + L^T G L.
void IslandNewton::add_block(int i, int j, const double* block) {
  const int di = p_.sets[i].dim, dj = p_.sets[j].dim, stride = ContactProblem::stride(di);
  const double* Li = x_.columns + kMaxSetDim * p_.sets[i].offset;
  const double* Lj = x_.columns + kMaxSetDim * p_.sets[j].offset;
  for (int b = start_[j]; b < start_[j + 1]; ++b, Lj += dj) {
    double GL[kMaxSetDim] = {};
    for (int c = 0; c < dj; ++c) {
      for (int r = 0; r < di; ++r) GL[r] += block[stride * c + r] * Lj[c];
    }
    for (int r = 0; i == j && r < di; ++r) GL[r] += x_.rest[p_.sets[i].offset + r] * Lj[r];
    const double* L = Li;
    for (int a = start_[i]; a < start_[i + 1]; ++a, L += di) {
      double sum = a == b ? 1.0 : 0.0;
      for (int r = 0; r < di; ++r) sum += L[r] * GL[r];
      system_.matrix[static_cast<std::size_t>(a) * system_.stride + b] = sum;
    }
  }
}

/// I + L^T G L and its profile, from the panels.
void IslandNewton::assemble() {
  const int n = system_.n;
  system_.stride = padded(n);
  const std::size_t size = static_cast<std::size_t>(n) * system_.stride;
  work_.matrix.grow(size);
  system_.matrix = work_.matrix;
  std::fill(system_.matrix, system_.matrix + size, 0.0);
  int profile = 0;
  for (int i = island_.first; i < island_.last; ++i) {
    if (start_[i] == start_[i + 1]) continue;
    const int stride = ContactProblem::stride(p_.sets[i].dim);
    const ContactProblem::Panels& G = p_.panels(i, i + 1);
    const double* block = G.values.data() + G.start[i];
    for (int k = G.run_begin[i]; k < G.run_end[i]; ++k) {
      int j = G.runs[k].set;
      for (int left = G.runs[k].count; left > 0; ++j) {
        if (j >= i) add_block(i, j, block);
        if (j >= i) profile = std::max(profile, start_[j + 1]);
        left -= p_.sets[j].dim;
        block += stride * p_.sets[j].dim;
      }
    }
    std::fill(system_.end + start_[i], system_.end + start_[i + 1], profile);
  }
}

/// dw from (I + H G) dw = r = lambda - w, and dc = G dw; `velocity` is that of lambda. False if the
/// system is not positive definite, in rounding.
bool IslandNewton::find_step(const double* velocity) {
  find_stiffness();
  const double n = system_.n;
  if (!account_.factor(n * n * (n / 6.0 + 4.0) + 4.0 * pass_work(island_))) return false;
  assemble();
  for (int i = island_.first; i < island_.last; ++i) {
    const int dim = p_.sets[i].dim, o = p_.sets[i].offset;
    const double* L = x_.columns + kMaxSetDim * o;
    for (int a = start_[i]; a < start_[i + 1]; ++a, L += dim) {
      x_.y[a] = 0.0;
      for (int r = 0; r < dim; ++r) x_.y[a] += L[r] * (velocity[o + r] - x_.c[o + r]);
    }
  }
  if (!solve_symmetric(system_.matrix, system_.n, system_.stride, system_.end, x_.y)) return false;
  for (int i = island_.first; i < island_.last; ++i) {
    const int dim = p_.sets[i].dim, o = p_.sets[i].offset;
    const double* L = x_.columns + kMaxSetDim * o;
    for (int r = 0; r < dim; ++r) x_.dw[o + r] = x_.lambda[o + r] - x_.w[o + r];
    for (int a = start_[i]; a < start_[i + 1]; ++a, L += dim) {
      for (int r = 0; r < dim; ++r) x_.dw[o + r] -= L[r] * x_.y[a];
    }
  }
  double* moved = x_.y;
  for (int r = island_.begin; r < island_.end; ++r) moved[r] = x_.w[r] + x_.dw[r];
  find_velocity(moved, x_.dc);
  for (int r = island_.begin; r < island_.end; ++r) x_.dc[r] -= x_.c[r];
  return true;
}

/// First and second derivative of the objective along w + alpha dw.
void IslandNewton::slope(double alpha, double& first, double& second) const {
  first = second = 0.0;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p_.sets[i];
    const int o = set.offset;
    double c[kMaxSetDim] = {}, lambda[kMaxSetDim] = {}, columns[kMaxSetDim * kMaxSetDim];
    for (int r = 0; r < set.dim; ++r) c[r] = x_.c[o + r] + alpha * x_.dc[o + r];
    regularised_impulse(set, x_.R + o, c, lambda);
    for (int r = 0; r < set.dim; ++r) {
      first += (x_.w[o + r] + alpha * x_.dw[o + r] - lambda[r]) * x_.dc[o + r];
      second += x_.dw[o + r] * x_.dc[o + r];
    }
    const int count = regularised_stiffness(set, x_.R + o, c, columns);
    for (int a = 0; a < count; ++a) {
      double yielding = 0.0;
      for (int r = 0; r < set.dim; ++r) yielding += columns[set.dim * a + r] * x_.dc[o + r];
      second += yielding * yielding;
    }
  }
}

/// Exact: the root of the slope, which does not decrease, by Newton in a bracket; to 1e-3 of the
/// slope at the start. 0 if the step does not descend.
double IslandNewton::line_search() const {
  constexpr double kExact = 1e-3;
  double first, second, low = 0.0, high = 0.0, alpha = 1.0;  // high = 0: none known
  double start = 0.0;
  for (int r = island_.begin; r < island_.end; ++r) start += (x_.w[r] - x_.lambda[r]) * x_.dc[r];
  if (!(start < 0.0)) return 0.0;
  for (int k = 0; k < 40; ++k) {
    slope(alpha, first, second);
    if (std::abs(first) <= -kExact * start) break;
    (first < 0.0 ? low : high) = alpha;
    const double newton = alpha - first / second;
    const bool inside = newton > low && (high == 0.0 || newton < high);
    alpha = inside ? newton : (high == 0.0 ? 2.0 * alpha : 0.5 * (low + high));
  }
  return alpha;
}

/// Sizes of the scratch that no factorisation has seen yet.
void IslandNewton::reserve() {
  work_.start.grow(p_.sets.size() + 1);
  work_.end.grow(p_.g.size());
  start_ = work_.start;
  system_.end = work_.end;
}

void IslandNewton::project_all(const double* impulse, double* projected) const {
  std::copy(impulse + island_.begin, impulse + island_.end, projected + island_.begin);
  for (int i = island_.first; i < island_.last; ++i)
    project(p_.sets[i], projected + p_.sets[i].offset);
}

/// Takes an impulse for the result if it is the best so far; `velocity` gets its own. True if it is
/// below the tolerance.
bool IslandNewton::accept(const double* impulse, double* velocity, double* result) {
  find_velocity(impulse, velocity);
  const double relative = relative_residual(impulse, velocity);
  if (relative < best_) {
    best_ = relative;
    std::copy(impulse + island_.begin, impulse + island_.end, result + island_.begin);
  }
  return relative <= settings_.tolerance;
}

/// Two impulses are candidates: lambda(c), and w put into its set, which is the more accurate the
/// smaller R is, since lambda(c) divides the rounding of c by R.
IslandOutcome IslandNewton::solve(double* result, double* velocity) {
  reserve();
  const int begin = island_.begin, end = island_.end;
  std::copy(result + begin, result + end, x_.w + begin);
  for (int k = 0;; ++k) {
    project_all(x_.w, x_.y);
    if (accept(x_.y, velocity, result)) return {k, SolveStatus::kConverged};
    find_velocity(x_.w, x_.c);
    find_impulse(x_.c, x_.lambda);
    if (accept(x_.lambda, velocity, result)) return {k, SolveStatus::kConverged};
    if (k == settings_.max_iterations || settings_.interrupt.requested())
      return {k, SolveStatus::kMaxIterations};
    if (!find_step(velocity)) return {k, SolveStatus::kStalled};
    const double alpha = line_search();
    if (!(alpha > 0.0)) return {k, SolveStatus::kStalled};
    for (int r = begin; r < end; ++r) x_.w[r] += alpha * x_.dw[r];
  }
}

}  // namespace

IslandOutcome ccp_newton_on_island(const Island& island,
                                   const SolverSettings& settings,
                                   double* added,
                                   CcpNewtonWork& work,
                                   WorkAccount& account,
                                   double* lambda,
                                   double* velocity) {
  const std::size_t rows = island.problem.g.size();
  Scratch scratch(work.vectors, rows * kVectors);
  Vectors x;
  for (double** v : {&x.R, &x.rest, &x.w, &x.c, &x.lambda, &x.dw, &x.dc, &x.y})
    *v = scratch.take(rows);
  x.columns = scratch.take(rows * kMaxSetDim);
  find_regularisation(island, settings, added);
  split_regularisation(island, added, x.R, x.rest);
  return IslandNewton(island, settings, x, work, account).solve(lambda, velocity);
}

void solve_ccp_newton(const ContactProblem& problem,
                      const SolverSettings& settings,
                      SolverWorkspace& work,
                      ContactSolution& solution) {
  solution.regularisation.resize(problem.g.size());
  double* added = solution.regularisation.data();
  WorkAccount account;
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    return ccp_newton_on_island(
        island, settings, added, work.parts().ccp_newton, account, lambda, velocity);
  });
  solution.factorisations = account.factorisations;
}

}  // namespace stiction
