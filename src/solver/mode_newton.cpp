#include "mode_newton.hpp"

#include "stiction/math/solve_linear.hpp"

#include "island.hpp"
#include "newton_system.hpp"
#include "projection.hpp"

#include <algorithm>
#include <cmath>

// In canonical scaling (lambda = D l, c~ = D c, D = d diag(1, 1, 1/mu), d^2 = 3 / (G11 + G22 + GNN
// / mu^2)) every cone is the unit Lorentz cone. With p = l - rho c~ and t = ||p_T||, d = p_T / t, a
// contact is
//   open   p_N <= 0:   l = 0
//   stuck  t <= p_N:   c~ = 0
//   slides otherwise:  c~_N = 0,  l_T = p_N d,
// and the Newton step solves the linearised equations of the moving rows. A proximal term centred
// at the iterate makes hyperstatic contact solvable and leaves the solutions unchanged.

namespace stiction {
namespace {

/// Mode of each row at lambda with velocity c; fixed rows are moved to where their mode holds them.
/// merit += squared natural residual in scaled units.
void classify_cone(const ConstraintSet& set,
                   const double* D,
                   const double* c,
                   double* lambda,
                   RowMode* mode,
                   double& merit) {
  const double n = lambda[2] / D[2], pn = n - kRho * D[2] * c[2];
  const double x = lambda[0] / D[0], y = lambda[1] / D[1];
  if (pn <= 0.0) {
    merit += n * n + x * x + y * y;
    lambda[0] = lambda[1] = lambda[2] = 0.0;
    mode[0] = mode[1] = mode[2] = RowMode::kFixed;
    return;
  }
  const double cn = kRho * D[2] * c[2];
  mode[2] = RowMode::kVelocity;
  if (set.mu == 0.0) {
    merit += cn * cn;
    lambda[0] = lambda[1] = 0.0;
    mode[0] = mode[1] = RowMode::kFixed;
    return;
  }
  const double px = x - kRho * D[0] * c[0], py = y - kRho * D[1] * c[1],
               t = std::sqrt(px * px + py * py);
  if (t <= pn) {
    merit += kRho * kRho * (D[0] * D[0] * c[0] * c[0] + D[1] * D[1] * c[1] * c[1]) + cn * cn;
    mode[0] = mode[1] = RowMode::kVelocity;
    return;
  }
  const double fx = x - pn * px / t, fy = y - pn * py / t;
  merit += fx * fx + fy * fy + cn * cn;
  mode[0] = mode[1] = RowMode::kSlide;
}

void classify_scalar(
    double lower, double upper, double D, double c, double& lambda, RowMode& mode, double& merit) {
  const double p = lambda - kRho * D * D * c;
  const double target = std::min(upper, std::max(lower, p));
  const double f = (lambda - target) / D;
  merit += f * f;
  if (p <= lower || p >= upper) {
    lambda = target;
    mode = RowMode::kFixed;
  } else {
    mode = RowMode::kVelocity;
  }
}

double classify(
    const Island& island, const double* D, const double* velocity, double* lambda, RowMode* modes) {
  constexpr double kNoBound = 1e300;
  double merit = 0.0;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = island.problem.sets[i];
    const int o = set.offset;
    switch (set.kind) {
      case SetKind::kCone:
        classify_cone(set, D + o, velocity + o, lambda + o, modes + o, merit);
        break;
      case SetKind::kNonNegative:
        classify_scalar(0.0, kNoBound, D[o], velocity[o], lambda[o], modes[o], merit);
        break;
      case SetKind::kBox:
        classify_scalar(set.lower, set.upper, D[o], velocity[o], lambda[o], modes[o], merit);
        break;
      case SetKind::kFree:
        for (int r = 0; r < set.dim; ++r) {
          merit += std::pow(kRho * D[o + r] * velocity[o + r], 2);
          modes[o + r] = RowMode::kVelocity;
        }
        break;
    }
  }
  return std::sqrt(merit);
}

/// Arrays of one call, indexed by global row, in the workspace. classified: l where its modes hold
/// it; trial: impulses tried, or the velocity at which the modes were found; velocity: of the best.
struct Arrays {
  double *D, *l, *trial, *step, *classified, *velocity;
  RowMode* modes;
  int *columns, *stretch, *end;
  double* dense;

  Arrays(const Island& island, SolverWorkspace& work) {
    const std::size_t total = island.problem.g.size();
    reserve_newton(total, island.rows(), work);
    D = work.newton.data();
    l = D + total;
    trial = l + total;
    step = trial + total;
    classified = step + total;
    velocity = classified + total;
    modes = reinterpret_cast<RowMode*>(work.modes.data());
    columns = work.columns.data();
    stretch = columns + total;
    end = stretch + total;
    dense = work.dense.data();
  }
};

/// The Newton step at a.l, in original units; a.trial holds the velocity at which the modes were
/// found. False if the system is singular.
bool newton_step(const Island& island, double proximal, const double* moved, const Arrays& a) {
  const int begin = island.begin, end = island.end;
  NewtonSystem s;
  s.proximal = proximal;
  for (int r = begin; r < end; ++r) {
    a.columns[r] = a.modes[r] == RowMode::kFixed ? -1 : s.n++;
    s.symmetric = s.symmetric && a.modes[r] != RowMode::kSlide;
  }
  for (int r = end - 1; r >= begin; --r)
    a.stretch[r] = r + 1 < end && a.columns[r + 1] >= 0 ? a.stretch[r + 1] : r + 1;
  s.stride = padded(s.n);
  s.matrix = a.dense;
  s.rhs = s.matrix + static_cast<std::size_t>(s.n) * s.stride;
  s.end = a.end;
  find_profile(island, a.columns, s);
  assemble_newton_system(island, a.D, a.trial, moved, a.l, a.modes, {a.columns, a.stretch}, s);
  const bool solved = s.symmetric ? solve_symmetric(s.matrix, s.n, s.stride, s.end, s.rhs)
                                  : solve_linear(s.matrix, s.n, s.stride, s.end, s.rhs);
  if (!solved) return false;
  for (int r = begin; r < end; ++r)
    a.step[r] = a.columns[r] < 0 ? 0.0 : a.D[r] * s.rhs[a.columns[r]];
  return true;
}

/// Residual of the projection of a.l, whose velocity is given; it is kept in lambda and a.velocity
/// if it is the best so far. Where the projection changes nothing this costs no product with G.
void keep_best(const Island& island,
               const Arrays& a,
               const double* velocity,
               double* lambda,
               Residuals& best) {
  const int begin = island.begin, end = island.end;
  std::copy(a.l + begin, a.l + end, a.trial + begin);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = island.problem.sets[i];
    project_horizontally(set, a.trial + set.offset);
  }
  const bool inside = std::equal(a.trial + begin, a.trial + end, a.l + begin);
  if (!inside) velocities(island, a.trial, a.step);
  const double* c = inside ? velocity : a.step;
  const Residuals r = residuals_at(island.problem, a.trial, c, island.first, island.last);
  if (!(r.relative < best.relative)) return;
  best = r;
  std::copy(a.trial + begin, a.trial + end, lambda + begin);
  std::copy(c + begin, c + end, a.velocity + begin);
}

/// a.l <- a.l + alpha a.step with the first alpha of 1, 1/2, ..., 1/256 whose merit falls below
/// `limit`, or the last; returns the merit and leaves the velocity of a.l.
double line_search(const Island& island, double limit, const Arrays& a, double* velocity) {
  const int begin = island.begin, end = island.end;
  double alpha = 1.0, merit = 0.0;
  for (int halving = 0;; ++halving, alpha *= 0.5) {
    for (int r = begin; r < end; ++r) a.trial[r] = a.classified[r] = a.l[r] + alpha * a.step[r];
    velocities(island, a.trial, velocity);
    merit = classify(island, a.D, velocity, a.classified, a.modes);
    if (merit <= (1.0 - 1e-4 * alpha) * limit || halving == 8) break;
  }
  std::copy(a.trial + begin, a.trial + end, a.l + begin);
  return merit;
}

}  // namespace

void scale_rows(const Island& island, double* D) {
  const ContactProblem& p = island.problem;
  const int first = island.first, last = island.last;
  double largest = p.largest_diagonal(first, last);
  if (!(largest > 0.0)) largest = 1.0;
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = p.sets[i];
    double* out = D + set.offset;
    if (set.kind == SetKind::kCone) {
      const double mu = set.mu > 0.0 ? set.mu : 1.0;
      const double trace = diagonal(p, i, 0) + diagonal(p, i, 1) + diagonal(p, i, 2) / (mu * mu);
      const double d = std::sqrt(3.0 / std::max(trace, 1e-14 * largest));
      out[0] = out[1] = d;
      out[2] = d / mu;
      continue;
    }
    for (int r = 0; r < set.dim; ++r)
      out[r] = 1.0 / std::sqrt(std::max(diagonal(p, i, r), 1e-14 * largest));
  }
}

void reserve_newton(std::size_t total, int rows, SolverWorkspace& work) {
  if (work.newton.size() < 6 * total) work.newton.resize(6 * total);
  if (work.modes.size() < total) work.modes.resize(total);
  if (work.columns.size() < 3 * total) work.columns.resize(3 * total);
  const std::size_t needed = static_cast<std::size_t>(rows + 1) * padded(rows);
  if (work.dense.size() < needed) work.dense.resize(needed);
}

Residuals newton_on_modes(const Island& island,
                          const NewtonSettings& settings,
                          const Residuals& before,
                          double* lambda,
                          double* velocity,
                          SolverWorkspace& work) {
  const int begin = island.begin, end = island.end;
  if (before.relative <= settings.tolerance || island.rows() > kMaxNewtonRows) return before;
  Residuals best = before;
  const Arrays a(island, work);
  scale_rows(island, a.D);
  std::copy(lambda + begin, lambda + end, a.l + begin);

  // The best iterate is looked for when the merit has fallen well below the last look.
  constexpr double kWorthALook = 0.1;
  double window[4], looked_at = 0.0;
  for (int k = 0; k < settings.max_iterations; ++k) {
    std::copy(a.l + begin, a.l + end, a.classified + begin);
    window[k % 4] = classify(island, a.D, velocity, a.l, a.modes);
    if (k == 0) looked_at = window[0];
    std::copy(velocity + begin, velocity + end, a.trial + begin);
    if (!std::equal(a.l + begin, a.l + end, a.classified + begin)) {
      velocities(island, a.l, velocity);  // fixed rows took their places
    }
    if (settings.interrupt.requested()) break;
    ++work.factorisations;
    if (!newton_step(island, settings.proximal, velocity, a)) break;
    const double limit = *std::max_element(window, window + std::min(k + 1, 4));
    const double merit = line_search(island, limit, a, velocity);
    if (merit > kWorthALook * looked_at && k + 1 < settings.max_iterations) continue;
    looked_at = merit;
    keep_best(island, a, velocity, lambda, best);
    if (best.relative <= settings.tolerance) break;
  }
  if (best.relative < before.relative)
    std::copy(a.velocity + begin, a.velocity + end, velocity + begin);
  else
    velocities(island, lambda, velocity);
  return best;
}

}  // namespace stiction
