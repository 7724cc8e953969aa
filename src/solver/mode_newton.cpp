#include "mode_newton.hpp"

#include "stiction/math/solve_linear.hpp"

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

constexpr double kRho = 3.0;
constexpr double kProximal = 1e-6;

enum class Mode : unsigned char { kFixed, kVelocity, kSlide };

double diagonal(const ContactProblem& p, int i, int r) {
  return p.values[p.diagonal_start[i] + (ContactProblem::stride(p.sets[i].dim) + 1) * r];
}

/// The scale D of each row of the island.
void scale_rows(const ContactProblem& p, int first, int last, double* D) {
  double largest = 1e-300;
  for (int i = first; i < last; ++i) {
    for (int r = 0; r < p.sets[i].dim; ++r) largest = std::max(largest, diagonal(p, i, r));
  }
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

/// Mode of each row at lambda with velocity c; fixed rows are moved to where their mode holds them.
/// merit += squared natural residual in scaled units.
void classify_cone(const ConstraintSet& set,
                   const double* D,
                   const double* c,
                   double* lambda,
                   Mode* mode,
                   double& merit) {
  const double n = lambda[2] / D[2], pn = n - kRho * D[2] * c[2];
  const double x = lambda[0] / D[0], y = lambda[1] / D[1];
  if (pn <= 0.0) {
    merit += n * n + x * x + y * y;
    lambda[0] = lambda[1] = lambda[2] = 0.0;
    mode[0] = mode[1] = mode[2] = Mode::kFixed;
    return;
  }
  const double cn = kRho * D[2] * c[2];
  mode[2] = Mode::kVelocity;
  if (set.mu == 0.0) {
    merit += cn * cn;
    lambda[0] = lambda[1] = 0.0;
    mode[0] = mode[1] = Mode::kFixed;
    return;
  }
  const double px = x - kRho * D[0] * c[0], py = y - kRho * D[1] * c[1],
               t = std::sqrt(px * px + py * py);
  if (t <= pn) {
    merit += kRho * kRho * (D[0] * D[0] * c[0] * c[0] + D[1] * D[1] * c[1] * c[1]) + cn * cn;
    mode[0] = mode[1] = Mode::kVelocity;
    return;
  }
  const double fx = x - pn * px / t, fy = y - pn * py / t;
  merit += fx * fx + fy * fy + cn * cn;
  mode[0] = mode[1] = Mode::kSlide;
}

void classify_scalar(
    double lower, double upper, double D, double c, double& lambda, Mode& mode, double& merit) {
  const double p = lambda - kRho * D * D * c;
  const double target = std::min(upper, std::max(lower, p));
  const double f = (lambda - target) / D;
  merit += f * f;
  if (p <= lower || p >= upper) {
    lambda = target;
    mode = Mode::kFixed;
  } else {
    mode = Mode::kVelocity;
  }
}

double classify(const ContactProblem& p,
                int first,
                int last,
                const double* D,
                const double* velocity,
                double* lambda,
                Mode* modes) {
  constexpr double kNoBound = 1e300;
  double merit = 0.0;
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = p.sets[i];
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
          modes[o + r] = Mode::kVelocity;
        }
        break;
    }
  }
  return std::sqrt(merit);
}

/// Rows of D G D at the moving columns, one set at a time, into rows of the dense matrix.
struct Reduced {
  int n = 0;
  double* matrix = nullptr;  // [n x n]
  double* rhs = nullptr;     // [n]
  int* end = nullptr;        // [n] profile: first column behind the last nonzero, running maximum
  bool symmetric = true;     // no contact slides
};

/// Profile of the moving rows: where the last of each set's neighbours ends.
void find_profile(const ContactProblem& p, int first, int last, const int* column_of, Reduced& s) {
  int reach = 0;
  for (int i = first; i < last; ++i) {
    const ContactProblem::Run& run = p.runs[p.run_start[i + 1] - 1];
    int column = run.column + run.count - 1;
    while (column_of[column] < 0 && column > p.sets[i].offset) --column;
    for (int r = 0; r < p.sets[i].dim; ++r) {
      const int row = column_of[p.sets[i].offset + r];
      if (row < 0) continue;
      reach = std::max({reach, column_of[column] + 1, row + 1});
      s.end[row] = reach;
    }
  }
}

void copy_row(
    const ContactProblem& p, int i, int r, const double* D, const int* column_of, double* out) {
  const ConstraintSet& set = p.sets[i];
  const int stride = ContactProblem::stride(set.dim);
  const double* panel = p.values.data() + p.panel_start[i];
  const double di = D[set.offset + r];
  for (int k = p.run_start[i]; k < p.run_start[i + 1]; ++k) {
    const ContactProblem::Run& run = p.runs[k];
    for (int c = 0; c < run.count; ++c, panel += stride) {
      const int column = column_of[run.column + c];
      if (column >= 0) out[column] = di * D[run.column + c] * panel[r];
    }
  }
}

/// Turns the two velocity rows of a sliding contact into its linearised law: with Q = (p_N / t) (I
/// - d d^T), (I - Q) dl_T - d dl_N + rho Q dc_T + rho d dc_N = -(l_T - p_N d), where the part of dc
/// that comes from the fixed rows is known: moved - c.
void slide_rows(const Reduced& s,
                int row,
                const double* D,
                const double* c,
                const double* moved,
                const double* lambda) {
  const int n = s.n;
  double* gx = s.matrix + static_cast<std::size_t>(row) * n;
  double* gy = gx + n;
  const double* gn = gy + n;
  const double x = lambda[0] / D[0], y = lambda[1] / D[1];
  const double pn = lambda[2] / D[2] - kRho * D[2] * c[2];
  const double px = x - kRho * D[0] * c[0], py = y - kRho * D[1] * c[1],
               t = std::sqrt(px * px + py * py);
  const double dx = px / t, dy = py / t, k = pn / t;
  const double qxx = k * dy * dy, qxy = -k * dx * dy, qyy = k * dx * dx;
  int start = row;  // first column of the profile that reaches these rows
  while (start > 0 && s.end[start - 1] > row) --start;
  for (int j = start; j < s.end[row]; ++j) {
    const double a = gx[j], b = gy[j], m = kRho * gn[j];
    gx[j] = kRho * (qxx * a + qxy * b) + dx * m;
    gy[j] = kRho * (qxy * a + qyy * b) + dy * m;
  }
  gx[row] += 1.0 - qxx;
  gx[row + 1] -= qxy;
  gx[row + 2] -= dx;
  gy[row] -= qxy;
  gy[row + 1] += 1.0 - qyy;
  gy[row + 2] -= dy;
  const double ex = kRho * D[0] * (moved[0] - c[0]), ey = kRho * D[1] * (moved[1] - c[1]);
  const double en = kRho * D[2] * (moved[2] - c[2]);
  s.rhs[row] = -(x - pn * dx) - (qxx * ex + qxy * ey + dx * en);
  s.rhs[row + 1] = -(y - pn * dy) - (qxy * ex + qyy * ey + dy * en);
}

/// c: velocity at which the modes were found; moved: after the fixed rows took their places.
void assemble(const ContactProblem& p,
              int first,
              int last,
              const double* D,
              const double* c,
              const double* moved,
              const double* lambda,
              const Mode* modes,
              const int* column_of,
              Reduced& s) {
  // Zero what the solvers touch: from the first column that reaches the row to the end of the fill.
  for (int k = 0, start = 0; k < s.n; ++k) {
    while (s.end[start] <= k) ++start;
    double* row = s.matrix + static_cast<std::size_t>(k) * s.n;
    std::fill(row + start, row + s.end[s.end[k] - 1], 0.0);
  }
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = p.sets[i];
    int slide = -1;
    for (int r = 0; r < set.dim; ++r) {
      const int at = set.offset + r, row = column_of[at];
      if (row < 0) continue;
      double* out = s.matrix + static_cast<std::size_t>(row) * s.n;
      copy_row(p, i, r, D, column_of, out);
      out[row] += kProximal;
      s.rhs[row] = -D[at] * moved[at];
      if (r == 0 && modes[at] == Mode::kSlide) slide = row;
    }
    if (slide < 0) continue;
    s.symmetric = false;
    slide_rows(s, slide, D + set.offset, c + set.offset, moved + set.offset, lambda + set.offset);
  }
}

void project(const ConstraintSet& set, double* l) {
  switch (set.kind) {
    case SetKind::kCone: {
      if (!(l[2] > 0.0)) {
        l[0] = l[1] = l[2] = 0.0;
        return;
      }
      const double t = std::sqrt(l[0] * l[0] + l[1] * l[1]), radius = set.mu * l[2];
      if (t > radius) {
        l[0] *= radius / t;
        l[1] *= radius / t;
      }
      return;
    }
    case SetKind::kNonNegative:
      l[0] = std::max(0.0, l[0]);
      return;
    case SetKind::kBox:
      l[0] = std::min(set.upper, std::max(set.lower, l[0]));
      return;
    case SetKind::kFree:
      return;
  }
}

void velocities(const ContactProblem& p, int first, int last, const double* lambda, double* c) {
  for (int i = first; i < last; ++i) p.velocity(i, lambda, c + p.sets[i].offset);
}

/// Arrays of one call, indexed by global row, in the workspace.
struct Arrays {
  double *D, *l, *trial, *step, *best;
  Mode* modes;
  int *columns, *end;
  double* dense;

  Arrays(std::size_t total, int rows, SolverWorkspace& work) {
    if (work.newton.size() < 5 * total) work.newton.resize(5 * total);
    if (work.modes.size() < total) work.modes.resize(total);
    if (work.columns.size() < 2 * total) work.columns.resize(2 * total);
    const std::size_t needed = static_cast<std::size_t>(rows) * rows + rows;
    if (work.dense.size() < needed) work.dense.resize(needed);
    D = work.newton.data();
    l = D + total;
    trial = l + total;
    step = trial + total;
    best = step + total;
    modes = reinterpret_cast<Mode*>(work.modes.data());
    columns = work.columns.data();
    end = columns + total;
    dense = work.dense.data();
  }
};

/// The Newton step at a.l, in original units; a.trial holds the velocity at which the modes were
/// found. False if the system is singular.
bool newton_step(
    const ContactProblem& p, int first, int last, const double* moved, const Arrays& a) {
  const int begin = p.sets[first].offset, end = p.sets[last - 1].offset + p.sets[last - 1].dim;
  Reduced s;
  for (int r = begin; r < end; ++r) a.columns[r] = a.modes[r] == Mode::kFixed ? -1 : s.n++;
  s.matrix = a.dense;
  s.rhs = s.matrix + static_cast<std::size_t>(s.n) * s.n;
  s.end = a.end;
  find_profile(p, first, last, a.columns, s);
  assemble(p, first, last, a.D, a.trial, moved, a.l, a.modes, a.columns, s);
  const bool solved = s.symmetric ? solve_symmetric(s.matrix, s.n, s.n, s.end, s.rhs)
                                  : solve_linear(s.matrix, s.n, s.n, s.end, s.rhs);
  if (!solved) return false;
  for (int r = begin; r < end; ++r)
    a.step[r] = a.columns[r] < 0 ? 0.0 : a.D[r] * s.rhs[a.columns[r]];
  return true;
}

/// Residual of the projection of l + alpha step, which is kept in lambda if it is the best so far.
void keep_best(const ContactProblem& p,
               int first,
               int last,
               double alpha,
               const Arrays& a,
               double* velocity,
               double* lambda,
               Residuals& best) {
  const int begin = p.sets[first].offset, end = p.sets[last - 1].offset + p.sets[last - 1].dim;
  for (int r = begin; r < end; ++r) a.trial[r] = a.l[r] + alpha * a.step[r];
  for (int i = first; i < last; ++i) project(p.sets[i], a.trial + p.sets[i].offset);
  const Residuals r = residuals(p, a.trial, velocity, first, last);
  if (!(r.relative < best.relative)) return;
  best = r;
  std::copy(a.trial + begin, a.trial + end, lambda + begin);
}

/// a.l <- a.l + alpha a.step with the first alpha of 1, 1/2, ..., 1/256 whose merit falls below
/// `limit`, or the last.
double line_search(
    const ContactProblem& p, int first, int last, double limit, const Arrays& a, double* velocity) {
  const int begin = p.sets[first].offset, end = p.sets[last - 1].offset + p.sets[last - 1].dim;
  double alpha = 1.0;
  for (int halving = 0;; ++halving, alpha *= 0.5) {
    for (int r = begin; r < end; ++r) a.trial[r] = a.best[r] = a.l[r] + alpha * a.step[r];
    velocities(p, first, last, a.trial, velocity);
    const double merit = classify(p, first, last, a.D, velocity, a.best, a.modes);
    if (merit <= (1.0 - 1e-4 * alpha) * limit || halving == 8) break;
  }
  std::copy(a.trial + begin, a.trial + end, a.l + begin);
  return alpha;
}

}  // namespace

Residuals newton_on_modes(const ContactProblem& p,
                          int first,
                          int last,
                          double tolerance,
                          int max_iterations,
                          const Residuals& before,
                          double* lambda,
                          double* velocity,
                          SolverWorkspace& work) {
  const int begin = p.sets[first].offset, end = p.sets[last - 1].offset + p.sets[last - 1].dim;
  if (before.relative <= tolerance || end - begin > kMaxNewtonRows) return before;
  Residuals best = before;
  const Arrays a(p.g.size(), end - begin, work);
  scale_rows(p, first, last, a.D);
  std::copy(lambda + begin, lambda + end, a.l + begin);

  double window[4];
  for (int k = 0; k < max_iterations; ++k) {
    std::copy(a.l + begin, a.l + end, a.best + begin);
    window[k % 4] = classify(p, first, last, a.D, velocity, a.l, a.modes);
    std::copy(velocity + begin, velocity + end, a.trial + begin);
    if (!std::equal(a.l + begin, a.l + end, a.best + begin)) {
      velocities(p, first, last, a.l, velocity);  // fixed rows took their places
    }
    ++work.factorisations;
    if (!newton_step(p, first, last, velocity, a)) return best;
    keep_best(p, first, last, 1.0, a, velocity, lambda, best);
    if (best.relative <= tolerance) return best;
    const double limit = *std::max_element(window, window + std::min(k + 1, 4));
    const double alpha = line_search(p, first, last, limit, a, velocity);
    if (alpha < 1.0) {
      std::fill(a.step + begin, a.step + end, 0.0);
      keep_best(p, first, last, 0.0, a, velocity, lambda, best);
      if (best.relative <= tolerance) return best;
      velocities(p, first, last, a.l, velocity);
    }
  }
  return best;
}

}  // namespace stiction
