#include "solver/ncp_newton/multipliers.hpp"

#include "solver/common/projection.hpp"
#include "solver/ncp_newton/diagonal_law.hpp"
#include "solver/ncp_newton/mode_newton.hpp"

#include <algorithm>
#include <cmath>

// With multipliers l^ and a proximal term eta, a round solves the problem with c + eta (l - l^) in
// place of c, and l^ <- l. Its unknowns are what the change of the impulses makes of the
// coordinates of the trees, m y = Z (l - l^): each set sees Z^T y + c^ from the others and, by
// itself, the diagonal W = R + eta, so that its impulse
//   l(y) = law(p(y)),   W p = W l^ - (Z^T y + c^),   c^ the velocity with l^,
// is a closed form (diagonal_law.hpp), and
//   F(y) = m y - Z (l(y) - l^) = 0,   F' = m + Z H Z^T,   H = -dl/dc
// couples only trees that touch. Counted from l^, y is as small as what is left to do: however
// small eta is, p is not the difference of large numbers over it. Solutions of the rounds tend to
// one of the problem itself, whatever the rank of G; eta falls while Newton on F gets on, and rises
// where it does not. Where it does not at the largest eta either, the round takes the convex law,
// with the De Saxce term mu ||c_T|| of the last round added to the normal velocity: then F is the
// gradient of a convex function, and Newton with an exact line search cannot fail.

namespace stiction {
namespace {

class Multipliers {
 public:
  Multipliers(const Island& island,
              const MultiplierSettings& settings,
              MultiplierWork& work,
              WorkAccount& account,
              double* lambda,
              double* velocity);
  Residuals run(const Residuals& before);

 private:
  void set_round();
  bool solve_round();
  bool find_root();
  bool minimise();
  bool newton_step();
  double evaluate(double* slopes);
  bool accurate();
  void move(double alpha);
  double descent(double alpha);
  double line_search();
  Residuals extrapolate(const Residuals& now);

  const Island& island_;
  const ContactProblem& p_;
  const MultiplierSettings& settings_;
  MultiplierWork& w_;
  TreeSpace& space_;
  const int n_;  // coordinates
  double *lambda_, *velocity_;
  Law law_ = Law::kCoulomb;
  double proximal_ = 0.0, accuracy_ = 0.0;
  double speed_ = 0.0;  // max |g|
  WorkAccount& account_;
  const int most_factorisations_;
  const double pass_;  // work of one over the rows
};

Multipliers::Multipliers(const Island& island,
                         const MultiplierSettings& settings,
                         MultiplierWork& work,
                         WorkAccount& account,
                         double* lambda,
                         double* velocity)
    : island_(island),
      p_(island.problem),
      settings_(settings),
      w_(work),
      space_(work.trees),
      n_(space_.num_coordinates()),
      lambda_(lambda),
      velocity_(velocity),
      account_(account),
      most_factorisations_(account.factorisations + settings.max_factorisations),
      pass_(pass_work(island)) {
  work.reserve(p_.g.size(), n_);
  scale_rows(island, w_.scale);
  speed_ = velocity_scale(island);
}

/// W p = -(Z^T y + offset). The proximal term is in parts of a canonical diagonal; of a contact (of
/// the last row of another set) that bears more than what stops max |g| there, in parts of max |g|
/// over its load: however much rests on a light body, each contact yields at most that much.
void Multipliers::set_round() {
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p_.sets[i];
    const int last = set.offset + set.dim - 1;
    const double stops = w_.scale[last] * w_.scale[last] * speed_;
    const double load = std::abs(w_.centre[last]);
    const double share = load > stops && stops > 0.0 ? proximal_ * stops / load : proximal_;
    for (int k = set.offset; k <= last; ++k) {
      w_.W[k] = share / (w_.scale[k] * w_.scale[k]) + p_.compliance[k];
      w_.offset[k] = velocity_[k] - w_.W[k] * w_.centre[k];
    }
    if (law_ == Law::kCoulomb || !set.is_cone()) continue;
    const double* c = velocity_ + set.offset;
    w_.offset[set.offset + set.friction.normal()] += shift(set.friction, c);
  }
}

/// l and F at y; the squared size of F in the metric of the kinetic energy.
double Multipliers::evaluate(double* slopes) {
  account_.charge(pass_);
  space_.spread(w_.y, w_.motion);
  for (std::size_t i = 0; i < space_.rows().size(); ++i) {
    const TreeSpace::Rows& rows = space_.rows()[i];
    const int k = rows.begin;
    double p[kMaxConeDim];
    for (int r = 0; r < rows.dim; ++r) p[r] = -(w_.motion[k + r] + w_.offset[k + r]) / w_.W[k + r];
    apply_law(p_.sets[rows.set],
              law_,
              w_.W + k,
              p,
              rows.dim,
              w_.impulse + k,
              slopes ? slopes + rows.slope : nullptr);
    for (int r = k; r < k + rows.dim; ++r) w_.trial[r] = w_.impulse[r] - w_.centre[r];
  }
  space_.gather(w_.trial, w_.force);
  double size = 0.0;
  for (int k = 0; k < n_; ++k) {
    w_.force[k] = space_.inertia()[k] * w_.y[k] - w_.force[k];
    size += w_.force[k] * w_.force[k] / space_.inertia()[k];
  }
  return size;
}

/// Whether the velocities that l makes differ little from those it was found for, by Z^T m^-1 F:
/// whatever the masses are, this is what is seen of F.
bool Multipliers::accurate() {
  for (int k = 0; k < n_; ++k) w_.step[k] = w_.force[k] / space_.inertia()[k];
  space_.spread(w_.step, w_.trial);
  double largest = 0.0;
  for (int k = island_.begin; k < island_.end; ++k)
    largest = std::max(largest, std::abs(w_.trial[k]));
  return largest <= accuracy_ * speed_;
}

/// step <- -F'^-1 F.
bool Multipliers::newton_step() {
  constexpr double kPasses = 4.0;  // Z H Z^T and what a step does besides
  if (account_.factorisations >= most_factorisations_ || settings_.interrupt.requested())
    return false;
  const double parts = law_ == Law::kConvex ? 0.5 : 1.0;
  if (!account_.factor(parts * space_.work() + kPasses * pass_)) return false;
  if (!space_.factor(w_.slopes, law_ == Law::kConvex)) return false;
  for (int k = 0; k < n_; ++k) w_.step[k] = -w_.force[k];
  space_.solve(w_.step);
  std::copy(w_.y.data(), w_.y + n_, w_.start.data());
  return true;
}

void Multipliers::move(double alpha) {
  for (int k = 0; k < n_; ++k) w_.y[k] = w_.start[k] + alpha * w_.step[k];
}

/// Newton with backtracking on the size of F. Rounding ends it, too: a step that brings nothing
/// where F has all but vanished.
bool Multipliers::find_root() {
  constexpr int kMaxSteps = 20;
  constexpr double kEnough = 0.2, kShortest = 0.05, kVanished = 1e-10;
  double size = evaluate(w_.slopes);
  const double first = size;
  for (int k = 0; k < kMaxSteps; ++k) {
    if (k > 0 && accurate()) return true;
    if (!newton_step()) return false;
    for (double alpha = 1.0;; alpha *= 0.5) {
      move(alpha);
      const double now = evaluate(w_.slopes);
      if (now <= (1.0 - kEnough * alpha) * size) {
        size = now;
        break;
      }
      if (0.5 * alpha >= kShortest) continue;
      move(0.0);
      return evaluate(nullptr) <= kVanished * first;
    }
  }
  return false;
}

/// Derivative of the convex function along the step, at alpha.
double Multipliers::descent(double alpha) {
  move(alpha);
  evaluate(nullptr);
  double sum = 0.0;
  for (int k = 0; k < n_; ++k) sum += w_.step[k] * w_.force[k];
  return sum;
}

/// The zero of descent() in (0, 1], by regula falsi in the Illinois form; 1 if it is not reached.
double Multipliers::line_search() {
  constexpr double kEnough = 0.1;
  double low = 0.0, high = 1.0, at_low = descent(0.0), at_high = descent(1.0), alpha = 1.0;
  const double enough = kEnough * std::abs(at_low);
  if (at_high <= enough) return alpha;
  for (int k = 0; k < 20; ++k) {
    alpha = low + (high - low) * at_low / (at_low - at_high);
    const double at = descent(alpha);
    if (std::abs(at) <= enough) break;
    (at < 0.0 ? low : high) = alpha;
    (at < 0.0 ? at_low : at_high) = at;
    (at < 0.0 ? at_high : at_low) *= 0.5;
  }
  return alpha;
}

bool Multipliers::minimise() {
  constexpr int kMaxSteps = 50;
  for (int k = 0; k < kMaxSteps; ++k) {
    evaluate(w_.slopes);
    if (accurate()) return true;
    if (!newton_step()) return false;
    move(line_search());
  }
  evaluate(nullptr);
  return true;
}

bool Multipliers::solve_round() {
  constexpr double kUp = 10.0;
  std::fill(w_.y.data(), w_.y + n_, 0.0);
  law_ = Law::kCoulomb;
  for (;;) {
    set_round();
    if (find_root()) {
      return true;
    }
    std::fill(w_.y.data(), w_.y + n_, 0.0);
    if (proximal_ >= settings_.proximal) break;
    proximal_ = std::min(settings_.proximal, kUp * proximal_);
  }
  law_ = Law::kConvex;
  set_round();
  return minimise();
}

/// Along the last change of the impulses as far as the residual falls. Where G all but vanishes a
/// round goes only a small share of the way, the next one the same share of what is left.
Residuals Multipliers::extrapolate(const Residuals& now) {
  Residuals best = now;
  double* velocity = w_.motion;
  double taken = 0.0;
  for (double t = 4.0; t < 1e5; t *= 4.0) {
    for (int i = island_.first; i < island_.last; ++i) {
      const ConstraintSet& set = p_.sets[i];
      for (int k = set.offset; k < set.offset + set.dim; ++k)
        w_.trial[k] = w_.centre[k] + t * (w_.centre[k] - w_.last[k]);
      project_horizontally(set, w_.trial + set.offset);
    }
    velocities(island_, w_.trial, velocity);
    const Residuals r = residuals_at(p_, w_.trial, velocity, island_.first, island_.last);
    account_.charge(2.0 * pass_);
    if (!(r.relative < best.relative)) break;
    best = r;
    taken = t;
  }
  if (taken == 0.0) return now;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p_.sets[i];
    for (int k = set.offset; k < set.offset + set.dim; ++k)
      w_.centre[k] += taken * (w_.centre[k] - w_.last[k]);
    project_horizontally(set, w_.centre + set.offset);
  }
  velocities(island_, w_.centre, velocity_);
  return best;
}

Residuals Multipliers::run(const Residuals& before) {
  constexpr int kPatience = 100, kCrawls = 4;  // rounds
  constexpr double kAtEnd = 1e-5;
  constexpr double kAccuracy = 0.2, kRounding = 2e-13, kDown = 0.3, kSmallest = 1e-10;
  const int begin = island_.begin, end = island_.end;
  Residuals best = before, now = before;
  double to_halve = before.relative;
  std::copy(lambda_ + begin, lambda_ + end, w_.centre + begin);
  std::copy(lambda_ + begin, lambda_ + end, w_.best + begin);
  velocities(island_, w_.centre, velocity_);
  proximal_ = std::clamp(0.3 * std::sqrt(before.relative), kSmallest, settings_.proximal);
  for (int idle = 0; best.relative > settings_.tolerance && idle < kPatience; ++idle) {
    std::copy(w_.centre + begin, w_.centre + end, w_.last + begin);
    accuracy_ = std::max(kRounding, kAccuracy * std::min(1.0, now.relative));
    if (!solve_round()) break;
    if (law_ == Law::kCoulomb) proximal_ = std::max(kSmallest, kDown * proximal_);
    std::copy(w_.impulse + begin, w_.impulse + end, w_.centre + begin);
    velocities(island_, w_.centre, velocity_);
    now = residuals_at(p_, w_.centre, velocity_, island_.first, island_.last);
    account_.charge(2.0 * pass_);
    if (!std::isfinite(now.relative)) break;
    if (idle % kCrawls == kCrawls - 1 && now.relative < kAtEnd) now = extrapolate(now);
    if (now.relative <= 0.5 * to_halve) {
      to_halve = now.relative;
      idle = 0;
    }
    if (!(now.relative < best.relative)) continue;
    if (!settings_.may_run_away && runs_away(now)) continue;
    best = now;
    std::copy(w_.centre + begin, w_.centre + end, w_.best + begin);
  }
  std::copy(w_.best + begin, w_.best + end, lambda_ + begin);
  velocities(island_, lambda_, velocity_);
  return best;
}

}  // namespace

void MultiplierWork::reserve(std::size_t total, int coordinates) {
  grow(total, scale, W, centre, offset, motion, impulse, best, last, trial);
  grow(coordinates, y, start, step, force);
  slopes.grow(kMaxConeDim * total);
}

Residuals method_of_multipliers(const Island& island,
                                const MultiplierSettings& settings,
                                const Residuals& before,
                                double* lambda,
                                double* velocity,
                                MultiplierWork& work,
                                WorkAccount& account) {
  return Multipliers(island, settings, work, account, lambda, velocity).run(before);
}

}  // namespace stiction
