#include "contact/closure_recovery.hpp"

#include "dynamics/free_root.hpp"
#include "math/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>

// How fast an open closure may close.
//
// A closure that moves drifts by a second-order term in every step: q goes along v for dt, and the
// points of its two sides leave each other by dt^2 a / 2, where a is their relative acceleration at
// constant joint velocities. With c* = -kappa Phi / dt that is taken back in the next step(s), in
// the steady state with |c*| = dt a / 2: a part of the motion, however fast, and no harm. So
// whatever asks for no more than ten times that is left alone: a fast linkage stays as closed as it
// can be. a follows from q and v, and v is what the last step ended with: a state needs no memory
// of its drift, and an error that was put in by hand or left by a step that did not converge is not
// taken for one.
//
// Everything else is an open closure. Its rows act together: with G their own block,
//
//     u = M^-1 J^T G^-1 c*
//
// and c* is cut as that of a contact is, see recovery.cpp. Directions in which the closure hardly
// moves anything (eigenvalues of G with unit diagonal below kWeak) are cut apart from the others,
// that they do not hold them up, and the sum of both parts once more; in those where nothing moves
// (kRigid) nothing is asked for.

namespace stiction {
namespace {

constexpr double kDrifts = 10.0;  // times the drift of one step
constexpr double kWeak = 1e-6, kRigid = 1e-12;
constexpr int kMax = kMaxSetDim;

/// Acceleration of a body's point at p_W and of its rotation, world axes, while the velocities of
/// its joints stay what they are and its root goes on as the integrator has it: see
/// integrate_configuration().
Motion<double> steady_acceleration(const RowContext& context, int body, const Vec3d& p_W) {
  if (body < 0) return {{0, 0, 0}, {0, 0, 0}};
  const int t = context.scene.tree_of_body(body);
  const TreeData<double>& data = context.dynamics.trees[t];
  const int b = body - context.scene.trees()[t].body_offset;
  const Mat3d& R = data.X_WR.R;
  const Vec3d p = transpose_times(R, p_W - data.X_WR.p);
  const Motion<double>&A = data.A[b], &V = data.V[b];
  Vec3d a = A.linear + cross(A.angular, p) + cross(V.angular, V.linear + cross(V.angular, p));
  if (is_loose_body(context.dynamics.views[t]))
    a = a - cross(V.angular, cross(V.angular, context.parameters.com[body]));
  return {R * a + context.parameters.gravity, R * A.angular};  // A has gravity taken off
}

double norm3(const double* x) { return norm(Vec3d{x[0], x[1], x[2]}); }

}  // namespace

bool is_drift(const RowContext& context, double negligible_speed, const ConstraintRow& row) {
  const bool weld = row.set.dim == 6;
  const double linear = norm3(row.reference), angular = weld ? norm3(row.reference + 3) : 0.0;
  if (std::max(linear, angular) <= negligible_speed) return true;
  const Closure& c = context.scene.closures()[row.index];
  const Parameters& p = context.parameters;
  const Vec3d A = p.closure_X_A[row.index].p, B = p.closure_X_B[row.index].p;
  const Vec3d p_A = world_point(context.scene, context.dynamics, c.body_a, A),
              p_B = world_point(context.scene, context.dynamics, c.body_b, B);
  const Motion<double> a = steady_acceleration(context, c.body_a, p_A),
                       b = steady_acceleration(context, c.body_b, p_B);
  const double share = 0.5 * kDrifts * context.dt;
  return linear <= std::max(negligible_speed, share * norm(b.linear - a.linear)) &&
         angular <= std::max(negligible_speed, share * norm(b.angular - a.angular));
}

namespace {

/// The block of a set as V diag(value) V^T with unit diagonal, G = S V diag(value) V^T S.
struct Directions {
  double scale[kMax], value[kMax], vector[kMax * kMax];
  bool known = false;

  Directions(const ContactProblem& problem, int set) {
    const int n = problem.sets[set].dim, stride = ContactProblem::stride(n);
    const double* G = problem.block(set);
    const auto end =
        std::upper_bound(problem.island_start.begin(), problem.island_start.end(), set);
    const double least = kRigid * problem.largest_diagonal(*(end - 1), *end);
    double unit[kMax * kMax], scratch[7 * kMax + 24];
    for (int r = 0; r < n; ++r) scale[r] = std::sqrt(std::max(G[(stride + 1) * r], least));
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n; ++c) unit[n * r + c] = G[stride * c + r] / (scale[r] * scale[c]);
    }
    known = symmetric_eigen(unit, n, value, vector, scratch);
  }
};

/// A part of c* and the impulse that the closure alone takes for it.
struct Correction {
  double velocity[kMax] = {}, lambda[kMax] = {};
  bool cut = false;

  bool none(int n) const {
    return std::all_of(velocity, velocity + n, [](double x) { return x == 0.0; });
  }
};

/// Scaled until it does no harm.
void cut(const RowContext& context, const ConstraintRow& row, int offset, Correction& part) {
  const int n = row.set.dim;
  if (part.none(n)) return;
  Speeds speeds = speeds_of(context, row, offset, 0, n, part.lambda);
  const double* c = part.velocity;
  speeds.add({squared_norm(Vec3d{c[0], c[1], c[2]}),
              n == 6 ? squared_norm(Vec3d{c[3], c[4], c[5]}) : 0.0});
  const double share = harmless_share(context.settings, speeds);
  part.cut = share < 1.0;
  for (int r = 0; r < n; ++r) {
    part.velocity[r] *= share;
    part.lambda[r] *= share;
  }
}

/// The part of c [n] along the directions whose values are in [low, high).
Correction part_along(const Directions& d, double low, double high, int n, const double* c) {
  Correction part;
  for (int k = 0; k < n; ++k) {
    if (d.value[k] < low || d.value[k] >= high) continue;
    const double* e = d.vector + n * k;
    double along = 0.0;
    for (int r = 0; r < n; ++r) along += e[r] * c[r] / d.scale[r];
    for (int r = 0; r < n; ++r) {
      part.velocity[r] += d.scale[r] * e[r] * along;
      part.lambda[r] += e[r] / d.scale[r] * along / d.value[k];
    }
  }
  return part;
}

/// What of c* does no harm.
Correction allowed_correction(const RowContext& context,
                              const ConstraintRow& row,
                              int offset,
                              const Directions& d) {
  Correction strong = part_along(d, kWeak, kInfinity, row.set.dim, row.reference),
             weak = part_along(d, kRigid, kWeak, row.set.dim, row.reference);
  cut(context, row, offset, strong);
  cut(context, row, offset, weak);
  if (weak.none(row.set.dim)) return strong;
  if (strong.none(row.set.dim)) return weak;
  Correction sum;
  for (int r = 0; r < row.set.dim; ++r) {
    sum.velocity[r] = strong.velocity[r] + weak.velocity[r];
    sum.lambda[r] = strong.lambda[r] + weak.lambda[r];
  }
  cut(context, row, offset, sum);
  sum.cut = sum.cut || strong.cut || weak.cut;
  return sum;
}

}  // namespace

void drop_rigid(const ContactProblem& problem, int set, double* c) {
  const int n = problem.sets[set].dim;
  const Directions directions(problem, set);
  if (!directions.known) return;
  const Correction moving = part_along(directions, kRigid, kInfinity, n, c);
  std::copy(moving.velocity, moving.velocity + n, c);
}

void limit_closure(const RowContext& context,
                   const ContactProblem& problem,
                   int set,
                   double negligible_speed,
                   ConstraintRow& row) {
  if (is_drift(context, negligible_speed, row)) {
    row.kind = ReferenceKind::kDrift;
    return;
  }
  const Directions directions(problem, set);
  if (!directions.known) return;
  const int n = row.set.dim;
  const Correction allowed = allowed_correction(context, row, problem.sets[set].offset, directions);
  double left = 0.0;  // in rigid directions
  for (int r = 0; r < n && !allowed.cut; ++r)
    left = std::max(left, std::abs(row.reference[r] - allowed.velocity[r]));
  if (!allowed.cut && left <= negligible_speed) return;
  row.kind = ReferenceKind::kCapped;
  std::copy(allowed.velocity, allowed.velocity + n, row.reference);
}

}  // namespace stiction
