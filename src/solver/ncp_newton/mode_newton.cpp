#include "solver/ncp_newton/mode_newton.hpp"

#include "math/solve_linear.hpp"
#include "solver/common/projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// In canonical scaling (lambda = D l, c~ = D c: cone.hpp) every cone is the unit Lorentz cone. The
// natural map at p = l - rho c~ says what each contact does,
//   open:   l = 0,   stuck: c~ = 0,   slides: c~_N = 0,  l_T = p_N d,
// and the Newton step solves the linearised equations of the moving rows. A proximal term centred
// at the iterate makes hyperstatic contact solvable and leaves the solutions unchanged.

namespace stiction {
namespace {

/// Mode of each row at lambda with velocity c; fixed rows are moved to where their mode holds them.
/// merit += squared natural residual in scaled units.
template <int D>
void classify_cone(bool frictionless,
                   const double* scale,
                   const double* c,
                   double* lambda,
                   RowMode* mode,
                   double& merit) {
  constexpr int N = D - 1;
  double l[D], p[D];
  for (int r = 0; r < D; ++r) {
    l[r] = lambda[r] / scale[r];
    p[r] = l[r] - kRho * scale[r] * c[r];
  }
  const circular::NaturalMap<D> map(p);
  if (map.mode == ContactMode::kOpen) {
    merit += l[N] * l[N] + circular::squared_tangent<D>(l);
    std::fill(lambda, lambda + D, 0.0);
    std::fill(mode, mode + D, RowMode::kFixed);
    return;
  }
  const double cn = kRho * scale[N] * c[N];
  mode[N] = RowMode::kVelocity;
  if (frictionless) {
    merit += cn * cn;
    std::fill(lambda, lambda + N, 0.0);
    std::fill(mode, mode + N, RowMode::kFixed);
    return;
  }
  double f[D];  // what is not yet as its mode wants it
  const bool sticks = map.mode == ContactMode::kStick;
  for (int r = 0; r < N; ++r) f[r] = sticks ? kRho * scale[r] * c[r] : l[r] - map.held(r);
  merit += circular::squared_tangent<D>(f) + cn * cn;
  std::fill(mode, mode + N, sticks ? RowMode::kVelocity : RowMode::kSlide);
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
        with_dim(set.dim, [&](auto dim) {
          const bool frictionless = set.friction.slope() == 0.0;
          classify_cone<dim>(frictionless, D + o, velocity + o, lambda + o, modes + o, merit);
        });
        break;
      case SetKind::kNonNegative:
        classify_scalar(0.0, kNoBound, D[o], velocity[o], lambda[o], modes[o], merit);
        break;
      case SetKind::kBox:
        classify_scalar(set.lower, set.upper, D[o], velocity[o], lambda[o], modes[o], merit);
        break;
      case SetKind::kFree:
        for (int r = 0; r < set.dim; ++r) {
          const double x = kRho * D[o + r] * velocity[o + r];
          merit += x * x;
          modes[o + r] = RowMode::kVelocity;
        }
        break;
    }
  }
  return std::sqrt(merit);
}

/// Multiplications of a factorisation within the profile, and of the assembly before it.
double work_of(const NewtonSystem& s) {
  double sum = 0.0;
  for (int k = 0; k < s.n; ++k) {
    const double width = s.end[k] - k;
    sum += width * (width + 4.0);
  }
  return s.symmetric ? 0.5 * sum : sum;
}

/// The velocity of impulses with the added compliance.
void compliant_velocities(const Island& island,
                          double compliance,
                          const ModeNewtonWork& a,
                          const double* lambda,
                          double* velocity) {
  velocities(island, lambda, velocity);
  add_compliance(island, compliance, a.D, lambda, velocity);
}

/// The Newton step at a.l, in original units; a.trial holds the velocity at which the modes were
/// found. False if the system is singular, or too much work.
bool newton_step(const Island& island,
                 double proximal,
                 const double* moved,
                 ModeNewtonWork& a,
                 WorkAccount& account) {
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
  if (!account.factor(work_of(s))) return false;
  assemble_newton_system(island, a.D, a.trial, moved, a.l, a.modes, {a.columns, a.stretch}, s);
  const bool solved = s.symmetric ? solve_symmetric(s.matrix, s.n, s.stride, s.end, s.rhs)
                                  : solve_linear(s.matrix, s.n, s.stride, s.end, s.rhs);
  if (!solved) return false;
  a.weakest = std::numeric_limits<double>::infinity();
  for (int k = 0; k < s.n; ++k)
    a.weakest = std::min(a.weakest, std::abs(s.matrix[k * static_cast<std::size_t>(s.stride + 1)]));
  for (int r = begin; r < end; ++r)
    a.step[r] = a.columns[r] < 0 ? 0.0 : a.D[r] * s.rhs[a.columns[r]];
  return true;
}

/// Residual of the projection of a.l, whose velocity is given; it is kept in lambda and a.velocity
/// if it is the best so far. Where the projection changes nothing this costs no product with G.
void keep_best(const Island& island,
               const ModeNewtonWork& a,
               double compliance,
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
  if (!inside) compliant_velocities(island, compliance, a, a.trial, a.step);
  const double* c = inside ? velocity : a.step;
  const Residuals r = residuals_at(island.problem, a.trial, c, island.first, island.last);
  if (!(r.relative < best.relative)) return;
  best = r;
  std::copy(a.trial + begin, a.trial + end, lambda + begin);
  std::copy(c + begin, c + end, a.velocity + begin);
}

/// a.l <- a.l + alpha a.step with the first alpha of 1, 1/2, ..., 1/256 whose merit falls below
/// `limit`, or the last; returns the merit and leaves the velocity of a.l.
double line_search(const Island& island,
                   double compliance,
                   double limit,
                   const ModeNewtonWork& a,
                   double* velocity,
                   WorkAccount& account) {
  const double pass = pass_work(island);
  const int begin = island.begin, end = island.end;
  double alpha = 1.0, merit = 0.0;
  for (int halving = 0;; ++halving, alpha *= 0.5) {
    for (int r = begin; r < end; ++r) a.trial[r] = a.classified[r] = a.l[r] + alpha * a.step[r];
    compliant_velocities(island, compliance, a, a.trial, velocity);
    account.charge(pass);
    merit = classify(island, a.D, velocity, a.classified, a.modes);
    if (merit <= (1.0 - 1e-4 * alpha) * limit || halving == 8) break;
  }
  std::copy(a.trial + begin, a.trial + end, a.l + begin);
  return merit;
}

}  // namespace

void add_compliance(
    const Island& island, double share, const double* D, const double* lambda, double* velocity) {
  if (share == 0.0) return;
  for (int r = island.begin; r < island.end; ++r) velocity[r] += share / (D[r] * D[r]) * lambda[r];
}

void scale_rows(const Island& island, double* D) {
  const ContactProblem& p = island.problem;
  const int first = island.first, last = island.last;
  double largest = p.largest_diagonal(first, last);
  if (!(largest > 0.0)) largest = 1.0;
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = p.sets[i];
    double* out = D + set.offset;
    if (set.is_cone()) {
      const int n = set.friction.normal();
      const double mu = set.friction.slope() > 0.0 ? set.friction.slope() : 1.0;
      double trace = p.diagonal_entry(i, 0);
      for (int r = 1; r < n; ++r) trace += p.diagonal_entry(i, r);
      const double d =
          circular::canonical_scale(set.dim, mu, trace, p.diagonal_entry(i, n), 1e-14 * largest);
      std::fill(out, out + n, d);
      out[n] = d / mu;
      continue;
    }
    for (int r = 0; r < set.dim; ++r)
      out[r] = 1.0 / std::sqrt(std::max(p.diagonal_entry(i, r), 1e-14 * largest));
  }
}

void ModeNewtonWork::reserve(std::size_t total, int rows) {
  grow(total, D, l, trial, step, classified, velocity, modes, columns, stretch, end);
  dense.grow(static_cast<std::size_t>(rows + 1) * padded(rows));
}

Residuals newton_on_modes(const Island& island,
                          const NewtonSettings& settings,
                          const Residuals& before,
                          double* lambda,
                          double* velocity,
                          ModeNewtonWork& a,
                          WorkAccount& account) {
  const int begin = island.begin, end = island.end;
  a.weakest = 0.0;
  if (before.relative <= settings.tolerance || island.rows() > kMaxNewtonRows) return before;
  Residuals best = before;
  a.reserve(island.problem.g.size(), island.rows());
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
      compliant_velocities(
          island, settings.compliance, a, a.l, velocity);  // rows took their places
    }
    if (settings.interrupt.requested()) break;
    if (!newton_step(island, settings.proximal, velocity, a, account)) break;
    const double limit = *std::max_element(window, window + std::min(k + 1, 4));
    const double merit = line_search(island, settings.compliance, limit, a, velocity, account);
    if (merit > kWorthALook * looked_at && k + 1 < settings.max_iterations) continue;
    looked_at = merit;
    keep_best(island, a, settings.compliance, velocity, lambda, best);
    if (best.relative <= settings.tolerance) break;
  }
  if (best.relative < before.relative)
    std::copy(a.velocity + begin, a.velocity + end, velocity + begin);
  else
    compliant_velocities(island, settings.compliance, a, lambda, velocity);
  return best;
}

}  // namespace stiction
