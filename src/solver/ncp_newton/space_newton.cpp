#include "solver/ncp_newton/space_newton.hpp"

#include "solver/common/projection.hpp"

#include <algorithm>
#include <cmath>

// One step changes the impulses by dl and the motion of the trees by dy, m dy = Z dl. A set sees
// the others through s = Z^T dy alone: its linearised mode (newton_system.cpp) reads, in canonical
// scaling and with W = D R D + proximal,
//
//   A dl = r - B s,      so that      dl = x - H s,   (m + Z H Z^T) dy = Z x
//
// with x = A^-1 r and H = A^-1 B of the size of the set. Trees couple where they touch, and nowhere
// else.

namespace stiction {
namespace {

/// A [n x n] is destroyed; b [n x m] <- A^-1 b. Rows are exchanged. False if A is singular.
template <int n, int m>
bool solve_small(double (&A)[n][n], double (&b)[n][m]) {
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::abs(A[i][k]) > std::abs(A[pivot][k])) pivot = i;
    }
    if (!(std::abs(A[pivot][k]) > 0.0)) return false;
    std::swap(A[k], A[pivot]);
    std::swap(b[k], b[pivot]);
    for (int i = k + 1; i < n; ++i) {
      const double f = A[i][k] / A[k][k];
      if (f == 0.0) continue;
      for (int j = k + 1; j < n; ++j) A[i][j] -= f * A[k][j];
      for (int j = 0; j < m; ++j) b[i][j] -= f * b[k][j];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    for (int j = 0; j < m; ++j) {
      for (int i = k + 1; i < n; ++i) b[k][j] -= A[k][i] * b[i][j];
      b[k][j] /= A[k][k];
    }
  }
  return true;
}

class SpaceNewton {
 public:
  SpaceNewton(const Island& island, double proximal, TreeSpace& space, SpaceNewtonWork& work)
      : island_(island), p_(island.problem), proximal_(proximal), space_(space), w_(work) {
    w_.reserve(p_.g.size(), space.num_coordinates());
    scale_rows(island, w_.D);
  }
  /// w_.step from impulses and their velocity; false if a matrix is singular.
  bool find_step(const double* lambda, const double* velocity);

 private:
  bool linearise(const TreeSpace::Rows& rows, const double* lambda, const double* c);
  template <int D>
  bool linearise_cone(int o, bool frictionless, const double* lambda, const double* c, double* H);
  template <int D>
  bool linearise_slide(int o,
                       const circular::NaturalMap<D>& map,
                       const double* l,
                       const double* p,
                       const double* c,
                       double* H);
  void hold(int row, double c, double* H, int at);
  double weight(int k) const { return w_.D[k] * w_.D[k] * p_.compliance[k] + proximal_; }

  const Island& island_;
  const ContactProblem& p_;
  const double proximal_;
  TreeSpace& space_;
  SpaceNewtonWork& w_;
  bool slides_ = false;
};

/// The velocity of a row is brought to zero; H: its entry on the diagonal.
void SpaceNewton::hold(int row, double c, double* H, int at) {
  const double h = w_.D[row] * w_.D[row] / weight(row);
  w_.step[row] = -h * c;
  H[at] = h;
}

template <int D>
bool SpaceNewton::linearise_slide(int o,
                                  const circular::NaturalMap<D>& map,
                                  const double* l,
                                  const double* p,
                                  const double* c,
                                  double* H) {
  constexpr int N = D - 1;
  double A[D][D] = {}, b[D][D + 1] = {}, d[N];
  const double ratio = map.ratio(), *scale = w_.D + o;
  map.direction(d);
  for (int r = 0; r < N; ++r) {
    for (int k = 0; k < N; ++k) {
      const double Q = circular::across<D>(ratio, d, r, k);
      A[r][k] = (r == k ? 1.0 : 0.0) - Q + kRho * Q * weight(o + k);
      b[r][k] = kRho * Q * scale[k];
    }
    A[r][N] = d[r] * (kRho * weight(o + N) - 1.0);
    b[r][N] = kRho * d[r] * scale[N];
    b[r][D] = -(l[r] - p[N] * d[r]);
  }
  A[N][N] = weight(o + N);
  b[N][N] = scale[N];
  b[N][D] = -scale[N] * c[N];
  if (!solve_small(A, b)) return false;
  for (int r = 0; r < D; ++r) {
    for (int k = 0; k < D; ++k) H[D * r + k] = scale[r] * b[r][k];
    w_.step[o + r] = scale[r] * b[r][D];
  }
  slides_ = true;
  return true;
}

template <int D>
bool SpaceNewton::linearise_cone(
    int o, bool frictionless, const double* lambda, const double* c, double* H) {
  constexpr int N = D - 1;
  double l[D], p[D];
  for (int r = 0; r < D; ++r) {
    l[r] = lambda[r] / w_.D[o + r];
    p[r] = l[r] - kRho * w_.D[o + r] * c[r];
    w_.step[o + r] = -lambda[r];
  }
  const circular::NaturalMap<D> map(p);
  if (map.mode == ContactMode::kOpen) return true;
  if (map.mode == ContactMode::kSlide && !frictionless)
    return linearise_slide<D>(o, map, l, p, c, H);
  for (int r = frictionless ? N : 0; r < D; ++r) hold(o + r, c[r], H, (D + 1) * r);
  return true;
}

bool SpaceNewton::linearise(const TreeSpace::Rows& rows, const double* lambda, const double* c) {
  const ConstraintSet& set = p_.sets[rows.set];
  const int o = rows.begin;
  double* H = w_.slopes + rows.slope;
  std::fill(H, H + rows.dim * rows.dim, 0.0);
  if (set.is_cone()) {
    const bool frictionless = set.friction.slope() == 0.0;
    return with_dim(
        set.dim, [&](auto D) { return linearise_cone<D>(o, frictionless, lambda + o, c + o, H); });
  }
  for (int r = 0; r < rows.dim; ++r) {
    const double p = lambda[o + r] - kRho * w_.D[o + r] * w_.D[o + r] * c[o + r];
    const bool box = set.kind == SetKind::kBox, free = set.kind == SetKind::kFree;
    const double lower = box ? set.lower : 0.0;
    if (!free && p <= lower)
      w_.step[o + r] = lower - lambda[o + r];
    else if (box && p >= set.upper)
      w_.step[o + r] = set.upper - lambda[o + r];
    else
      hold(o + r, c[o + r], H, (rows.dim + 1) * r);
  }
  return true;
}

bool SpaceNewton::find_step(const double* lambda, const double* velocity) {
  slides_ = false;
  for (const TreeSpace::Rows& rows : space_.rows()) {
    if (!linearise(rows, lambda, velocity)) return false;
  }
  if (!space_.factor(w_.slopes, !slides_)) return false;
  space_.gather(w_.step, w_.y);
  space_.solve(w_.y);
  space_.spread(w_.y, w_.trial);
  for (const TreeSpace::Rows& rows : space_.rows()) {
    const double* H = w_.slopes + rows.slope;
    for (int r = 0; r < rows.dim; ++r) {
      double sum = 0.0;
      for (int k = 0; k < rows.dim; ++k) sum += H[rows.dim * r + k] * w_.trial[rows.begin + k];
      w_.step[rows.begin + r] -= sum;
    }
  }
  return true;
}

}  // namespace

void SpaceNewtonWork::reserve(std::size_t total, int coordinates) {
  grow(total, D, impulse, step, trial, velocity);
  slopes.grow(kMaxConeDim * total);
  y.grow(coordinates);
}

Residuals newton_in_space(const Island& island,
                          const NewtonSettings& settings,
                          int patience,
                          const Residuals& before,
                          double* lambda,
                          double* velocity,
                          TreeSpace& space,
                          SpaceNewtonWork& work,
                          WorkAccount& account) {
  constexpr double kPasses = 6.0;  // of a step
  const ContactProblem& p = island.problem;
  const int begin = island.begin, end = island.end;
  SpaceNewton newton(island, settings.proximal, space, work);
  Residuals best = before;
  double to_halve = before.relative;
  bool better = false;
  std::copy(velocity + begin, velocity + end, work.velocity + begin);
  Buffer<double>& l = work.impulse;
  std::copy(lambda + begin, lambda + end, l + begin);
  for (int k = 0, idle = 0; k < settings.max_iterations && idle < patience; ++k) {
    if (settings.interrupt.requested()) break;
    if (!account.factor(space.work() + kPasses * pass_work(island))) break;
    if (!newton.find_step(l, work.velocity)) break;
    for (int r = begin; r < end; ++r) l[r] += work.step[r];
    for (int i = island.first; i < island.last; ++i)
      project_horizontally(p.sets[i], l + p.sets[i].offset);
    velocities(island, l, work.velocity);
    add_compliance(island, settings.compliance, work.D, l, work.velocity);
    const Residuals now = residuals_at(p, l, work.velocity, island.first, island.last);
    ++idle;
    const bool same = now.relative == best.relative;  // both within rounding: then by their work
    if (now.relative < best.relative || (same && now.complementarity < best.complementarity)) {
      best = now;
      better = true;
      std::copy(l + begin, l + end, lambda + begin);
      std::copy(work.velocity + begin, work.velocity + end, velocity + begin);
    }
    if (now.relative < to_halve && now.relative <= 0.5 * to_halve) {  // nothing has no half
      to_halve = now.relative;
      idle = 0;
    }
    if ((better && best.relative <= settings.tolerance) || !std::isfinite(now.relative)) break;
  }
  return best;
}

}  // namespace stiction
