#include "contact/active_set.hpp"

#include "stiction/math/constants.hpp"

#include "contact/problem_scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stiction {
namespace {

/// Of two numbers that are not both zero in a solution, the larger share is the one that is not if
/// it is this many times the other.
constexpr double kClear = 100.0;
/// A number may be zero up to so many residuals, and has two digits above so many.
constexpr double kResiduals = 10.0, kRough = 100.0;
constexpr double kLargestResidual = 0.01;  ///< of what may still be told from zero

/// A set at its impulse and velocity, in its own rows.
struct SolvedSet {
  const ConstraintSet& set;
  int index;
  const double *l, *c;
  /// What may be zero, what is, and what a residual leaves without two digits.
  ProblemScale zero, rest, rough;
};

/// Which of two numbers is not zero, as at most one is: the room of an impulse within its set, or
/// the speed that it then has. Counts what is neither, and what cannot be told.
enum class NotZero : std::uint8_t { kRoom, kSpeed, kNone };
NotZero not_zero(const SolvedSet& at, double room, double speed, ActiveSet& out) {
  speed = std::abs(speed);
  const bool held = room > at.zero.impulse, moves = speed > at.zero.velocity;
  if (held && moves) {
    const double r = room * at.zero.velocity, s = speed * at.zero.impulse;
    out.num_undecided += std::max(r, s) < kClear * std::min(r, s);
    return r > s ? NotZero::kRoom : NotZero::kSpeed;
  }
  if (held || moves) return held ? NotZero::kRoom : NotZero::kSpeed;
  ++out.num_at_switch;
  out.num_undecided += room > at.rest.impulse || speed > at.rest.velocity;
  return NotZero::kNone;
}

ActiveUnknown& append(const SolvedSet& at, ActiveSet& out) {
  ActiveUnknown& u = out.unknowns.emplace_back();
  u = {at.index, at.set.offset, at.set.dim, {}, {}, 0.0};
  return u;
}

void append_row(const SolvedSet& at, int r, ActiveSet& out) {
  ActiveUnknown& u = append(at, out);
  u.t[r] = u.w[r] = 1.0;
}

ContactMode scalar(const SolvedSet& at, double to_lower, double to_upper, ActiveSet& out) {
  const double room = std::min(to_lower, to_upper);
  const bool held = not_zero(at, room / at.set.arm, at.c[0] * at.set.arm, out) == NotZero::kRoom;
  out.margin.push_back(held ? room : std::abs(at.c[0]));
  if (!held) return ContactMode::kOpen;
  append_row(at, 0, out);
  return ContactMode::kStick;
}

/// In N s and m/s, where the cone is circular; unit: of ConeRows, lambda = unit x.
template <int D>
void append_slide(const SolvedSet& at, ContactModel model, const double* unit, ActiveSet& out) {
  double c[D], e[D - 1], across[(D - 1) * (D - 1)];
  for (int r = 0; r < D; ++r) c[r] = at.c[r] * unit[r];
  const double slip = circular::tangent<D>(c), mu = at.set.friction.friction();
  for (int r = 0; r < D - 1; ++r) e[r] = c[r] / slip;
  ActiveUnknown& along = append(at, out);
  for (int r = 0; r < D - 1; ++r) along.t[r] = -mu * e[r] * unit[r];
  along.t[D - 1] = 1.0;
  if (model == ContactModel::kCcp) {
    std::copy(along.t, along.t + D, along.w);
  } else {
    along.w[D - 1] = 1.0;
  }
  circular::normals<D>(e, across);
  for (int k = 0; k < D - 2; ++k) {
    ActiveUnknown& turn = append(at, out);
    for (int r = 0; r < D - 1; ++r) turn.t[r] = turn.w[r] = across[k * (D - 1) + r] * unit[r];
    turn.d = slip / (mu * at.l[D - 1]);
  }
}

ContactMode cone(const SolvedSet& at, ContactModel model, ActiveSet& out) {
  const Cone& K = at.set.friction;
  const int n = K.normal();
  const double load = at.l[n], mu = K.friction(), moving = slip(K, at.c);
  const double opening = at.c[n] - (model == ContactModel::kCcp ? mu * moving : 0.0);
  if (not_zero(at, load, opening, out) != NotZero::kRoom) {
    out.margin.push_back(std::abs(at.c[n]));
    return ContactMode::kOpen;
  }
  if (mu == 0.0) {
    out.margin.push_back(load);
    append_row(at, n, out);
    return ContactMode::kSlide;
  }
  double unit[kMaxConeDim];
  for (int r = 0; r < K.dim; ++r) unit[r] = K.velocity_unit(r);
  const double inside = std::max(mu * load - tangent(K, at.l), 0.0);
  if (not_zero(at, inside, moving, out) == NotZero::kSpeed) {
    out.margin.push_back(std::min(load, moving));
    out.num_undecided += moving <= at.rough.velocity || load <= at.rough.impulse;
    with_dim(K.dim, [&](auto D) { append_slide<D>(at, model, unit, out); });
    return ContactMode::kSlide;
  }
  double least_unit = 1.0;  // of rolling friction, most of all
  for (int r = 0; r < K.dim; ++r) {
    if (!(unit[r] > 0.0)) continue;
    append_row(at, r, out);
    least_unit = std::min(least_unit, unit[r]);
  }
  out.margin.push_back(std::min(load, least_unit * inside));
  return ContactMode::kStick;
}

ContactMode append_set(const SolvedSet& at, ContactModel model, ActiveSet& out) {
  switch (at.set.kind) {
    case SetKind::kCone:
      return cone(at, model, out);
    case SetKind::kNonNegative:
      return scalar(at, at.l[0], kInfinity, out);
    case SetKind::kBox:
      return scalar(at, at.l[0] - at.set.lower, at.set.upper - at.l[0], out);
    case SetKind::kFree:
      break;
  }
  for (int r = 0; r < at.set.dim; ++r) append_row(at, r, out);
  out.margin.push_back(kInfinity);
  return ContactMode::kStick;
}

/// y: of PathPoint.
template <int D>
void append_path_cone(const SolvedSet& at, const double* y, double energy, ActiveSet& out) {
  const Cone& K = at.set.friction;
  const double mu = K.friction(), slip = path_slip(energy);
  double unit[D], l[D], d[D - 1] = {}, p[D - 1], across[(D - 1) * (D - 1)];
  for (int r = 0; r < D; ++r) unit[r] = K.velocity_unit(r);
  for (int r = 0; r < D - 1; ++r) l[r] = unit[r] > 0.0 ? at.l[r] / unit[r] : 0.0;
  l[D - 1] = mu * at.l[D - 1];
  const double l_T = circular::tangent<D>(l), y_T = circular::tangent<D>(y);
  const double root = std::sqrt(y_T * y_T + slip * slip);
  for (int r = 0; r < D - 1; ++r) p[r] = y[r] / root;
  // l_T and -y_T are parallel: the one that is larger beside its kind is known better.
  const bool pushed = l_T * at.zero.velocity >= y_T * at.zero.impulse;
  const double* along = pushed ? l : y;
  const double size = pushed ? l_T : -y_T;
  for (int r = 0; r < D - 1; ++r) d[r] = size != 0.0 ? along[r] / size : (r == 0 ? 1.0 : 0.0);
  circular::normals<D>(d, across);
  const double l_1 = l[D - 1] + l_T, y_2 = y[D - 1] + y_T;
  const auto add = [&](const double* v_T, double sign, double v_N, double rate) {
    ActiveUnknown& u = append(at, out);
    for (int r = 0; r < D - 1; ++r) {
      u.t[r] = unit[r] * sign * v_T[r];
      u.w[r] = unit[r] * (sign * v_T[r] + v_N * p[r]);
    }
    u.t[D - 1] = u.w[D - 1] = v_N / mu;
    u.d = rate;
  };
  const double half = std::sqrt(0.5);
  add(d, half, half, energy / (l_1 * l_1));
  add(d, -half, half, y_2 * (y_2 / energy));
  for (int k = 0; k < D - 2; ++k) add(across + k * (D - 1), 1.0, 0.0, y_2 / l_1);
}

void append_path_set(const SolvedSet& at, const double* y, double energy, ActiveSet& out) {
  const ConstraintSet& set = at.set;
  if (set.is_normal(set.dim - 1) && y[set.dim - 1] == 0.0) return;  // left out of the path
  if (set.is_cone() && set.friction.friction() > 0.0) {
    with_dim(set.dim, [&](auto D) { append_path_cone<D>(at, y, energy, out); });
  } else if (set.is_cone()) {
    const double push = y[set.dim - 1];
    append_row(at, set.dim - 1, out);
    out.unknowns.back().d = push * (push / energy);
  } else if (set.kind == SetKind::kFree) {
    for (int r = 0; r < set.dim; ++r) append_row(at, r, out);
  } else if (set.kind == SetKind::kNonNegative || set.lower < set.upper) {
    const BoundRates rates = bound_rates(set, at.c[0], y[0], energy);
    append_row(at, 0, out);
    out.unknowns.back().d = rates.lower + rates.upper;
  }
}

/// A velocity and the impulse that stops the island at it.
ProblemScale stopped(const ContactProblem& problem, int k, double velocity) {
  const double largest =
      problem.largest_diagonal(problem.island_start[k], problem.island_start[k + 1]);
  return {largest > 0.0 ? velocity / largest : 0.0, velocity};
}

ProblemScale larger(const ProblemScale& a, const ProblemScale& b) {
  return {std::max(a.impulse, b.impulse), std::max(a.velocity, b.velocity)};
}

}  // namespace

void find_active_set(const ContactProblem& problem,
                     const std::vector<double>& impulse,
                     const std::vector<double>& velocity,
                     ContactModel model,
                     const Accuracy& accuracy,
                     ActiveSet& out,
                     const PathPoint& path) {
  out.unknowns.clear();
  out.modes.clear();
  out.margin.clear();
  out.start.assign(1, 0);
  out.num_at_switch = out.num_undecided = 0;
  out.on_path = path.energy > 0.0;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const ProblemScale scale = scale_of_island(problem, k, impulse);
    // A residual measures impulses by those that stop the island, of which it may carry little.
    const ProblemScale residual = larger(scale, stopped(problem, k, scale.velocity)) *
                                  std::min(accuracy.residual, kLargestResidual);
    const ProblemScale rounding = stopped(problem, k, accuracy.rounding);
    const ProblemScale zero =
        larger(larger(scale * accuracy.zero, residual * kResiduals), rounding);
    for (int i = problem.island_start[k]; i < problem.island_start[k + 1]; ++i) {
      const int at = problem.sets[i].offset;
      const SolvedSet set{problem.sets[i],
                          i,
                          impulse.data() + at,
                          velocity.data() + at,
                          zero,
                          larger(scale * kRest, rounding),
                          residual * kRough};
      if (out.on_path) {
        append_path_set(set, path.y + at, path.energy, out);
        out.modes.push_back(ContactMode::kStick);
        out.margin.push_back(kInfinity);
      } else {
        out.modes.push_back(append_set(set, model, out));
      }
      out.start.push_back(static_cast<int>(out.unknowns.size()));
    }
  }
}

namespace {

/// df of the circular cone's slope f: of whichever coefficient gives it, see Cone::friction().
double slope_rate(const Cone& K, const double* dmu) {
  if (K.mu[0] > 0.0 || K.normal() < 3) return dmu[0];
  if (K.mu[1] > 0.0) return dmu[1];
  return dmu[std::max_element(K.mu + 2, K.mu + K.normal()) - K.mu] / kContactLength;
}

FrictionChange change_on_path(const Cone& K, const double* l, const double* c, const double* dmu) {
  FrictionChange out;
  const double f = K.friction();
  if (f == 0.0) return out;
  const double slope = slope_rate(K, dmu) / f;
  for (int r = 0; r < K.dim; ++r) {
    if (r < K.normal() && K.mu[r] == 0.0) continue;  // no impulse, and of mu^2 with one
    const double share = (r < K.normal() ? dmu[r] / K.mu[r] : 0.0) - slope;
    out.impulse[r] = l[r] * share;
    out.velocity[r] = c[r] * share;
  }
  return out;
}

/// ||diag(a) c_T||
double weighted(const Cone& K, const double* a, const double* c) {
  double sum = 0.0;
  for (int r = 0; r < K.normal(); ++r) sum += a[r] * a[r] * c[r] * c[r];
  return std::sqrt(sum);
}

}  // namespace

FrictionChange friction_change(const ContactProblem& problem,
                               const std::vector<double>& impulse,
                               const std::vector<double>& velocity,
                               ContactModel model,
                               const ActiveSet& active,
                               int i,
                               const double* dmu) {
  FrictionChange out;
  const ConstraintSet& set = problem.sets[i];
  if (!set.is_cone()) return out;
  const Cone& K = set.friction;
  const int n = K.normal();
  const double *l = impulse.data() + set.offset, *c = velocity.data() + set.offset;
  if (active.on_path) return change_on_path(K, l, c, dmu);
  if (active.modes[i] != ContactMode::kSlide) return out;
  const double S = weighted(K, K.mu, c), first = weighted(K, dmu, c);
  double dS = 0.0;
  if (S > 0.0) {
    for (int r = 0; r < n; ++r) dS += K.mu[r] * dmu[r] * c[r] * c[r] / S;
  } else if (first > 0.0) {
    dS = first;
  }
  for (int r = 0; r < n; ++r) {
    const double mu = K.mu[r];
    if (S > 0.0)
      out.impulse[r] = -l[n] * c[r] * mu / S * (2.0 * dmu[r] - mu * dS / S);
    else if (first > 0.0)
      out.impulse[r] = -l[n] * c[r] * dmu[r] * dmu[r] / first;
  }
  if (model == ContactModel::kCcp) out.velocity[n] = -dS;
  return out;
}

}  // namespace stiction
