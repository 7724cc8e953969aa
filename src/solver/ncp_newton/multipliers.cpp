#include "solver/ncp_newton/multipliers.hpp"

#include "solver/common/projection.hpp"
#include "solver/ncp_newton/diagonal_law.hpp"
#include "solver/ncp_newton/mode_newton.hpp"

#include <algorithm>
#include <cmath>

// With multipliers l^ and a proximal term eta, a round solves the problem with c + eta (l - l^) in
// place of c, and l^ <- l. The coordinates y of the trees, m y = Z l, are its unknowns: each set
// sees Z^T y + g from the others and, by itself, the diagonal W = R + eta, so that its impulse
//   l(y) = law(p(y)),   W p = eta l^ - (Z^T y + g)
// is a closed form (diagonal_law.hpp), and
//   F(y) = m y - Z l(y) = 0,   F' = m + Z H Z^T,   H = -dl/dc
// couples only trees that touch. Solutions of the rounds tend to one of the problem itself,
// whatever the rank of G; eta falls while Newton on F gets on, and rises where it does not. Where
// it does not at the largest eta either, the round takes the convex law, with the De Saxce term mu
// ||c_T|| of the last round added to the normal velocity: then F is the gradient of a convex
// function, and Newton with an exact line search cannot fail.

namespace stiction {
namespace {

class Multipliers {
 public:
  Multipliers(const Island& island,
              const MultiplierSettings& settings,
              SolverWorkspace& work,
              double* lambda,
              double* velocity);
  Residuals run(const Residuals& before);

 private:
  void set_proximal(double proximal);
  void set_offset();
  bool solve_round();
  bool find_root();
  bool minimise();
  bool newton_step();
  double evaluate(double* slopes);
  double momentum() const;
  void move(double alpha);
  double descent(double alpha);
  double line_search();
  Residuals extrapolate(const Residuals& now);

  const Island& island_;
  const ContactProblem& p_;
  const MultiplierSettings& settings_;
  SolverWorkspace& work_;
  TreeSpace& space_;
  const int n_;  // coordinates
  double *lambda_, *velocity_;
  Law law_ = Law::kCoulomb;
  double proximal_ = 0.0, accuracy_ = 0.0;
  int factorisations_ = 0;
  double *scale_, *eta_, *W_, *centre_, *offset_, *motion_, *impulse_, *best_, *last_,
      *trial_;                                          // by row
  double *y_, *round_start_, *start_, *step_, *force_;  // by coordinate; force_: F
  double* slopes_;  // dim x dim for each block of rows of the tree space
};

Multipliers::Multipliers(const Island& island,
                         const MultiplierSettings& settings,
                         SolverWorkspace& work,
                         double* lambda,
                         double* velocity)
    : island_(island),
      p_(island.problem),
      settings_(settings),
      work_(work),
      space_(*work.trees),
      n_(space_.num_coordinates()),
      lambda_(lambda),
      velocity_(velocity) {
  const std::size_t total = p_.g.size();
  Scratch scratch(work.tree_real, multiplier_storage(total, n_));
  for (double** x :
       {&scale_, &eta_, &W_, &centre_, &offset_, &motion_, &impulse_, &best_, &last_, &trial_})
    *x = scratch.take(total);
  for (double** x : {&y_, &round_start_, &start_, &step_, &force_}) *x = scratch.take(n_);
  slopes_ = scratch.take(kMaxConeDim * total);
  scale_rows(island, scale_);
}

void Multipliers::set_proximal(double proximal) {
  proximal_ = proximal;
  for (int k = island_.begin; k < island_.end; ++k) {
    eta_[k] = proximal / (scale_[k] * scale_[k]);
    W_[k] = eta_[k] + p_.compliance[k];
  }
}

/// W p = -(Z^T y + offset).
void Multipliers::set_offset() {
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p_.sets[i];
    for (int k = set.offset; k < set.offset + set.dim; ++k)
      offset_[k] = p_.g[k] - eta_[k] * centre_[k];
    if (law_ == Law::kCoulomb || !set.is_cone()) continue;
    const double* c = velocity_ + set.offset;
    offset_[set.offset + set.friction.normal()] += shift(set.friction, c);
  }
}

/// l and F at y; the squared size of F in the metric of the kinetic energy.
double Multipliers::evaluate(double* slopes) {
  space_.spread(y_, motion_);
  for (std::size_t i = 0; i < space_.rows().size(); ++i) {
    const TreeSpace::Rows& rows = space_.rows()[i];
    const int k = rows.begin;
    double p[kMaxConeDim];
    for (int r = 0; r < rows.dim; ++r) p[r] = -(motion_[k + r] + offset_[k + r]) / W_[k + r];
    apply_law(p_.sets[rows.set],
              law_,
              W_ + k,
              p,
              rows.dim,
              impulse_ + k,
              slopes ? slopes + rows.slope : nullptr);
  }
  space_.gather(impulse_, force_);
  double size = 0.0;
  for (int k = 0; k < n_; ++k) {
    force_[k] = space_.inertia()[k] * y_[k] - force_[k];
    size += force_[k] * force_[k] / space_.inertia()[k];
  }
  return size;
}

/// What the size of F is compared with.
double Multipliers::momentum() const {
  double sum = 0.0;
  for (int k = 0; k < n_; ++k) sum += space_.inertia()[k] * y_[k] * y_[k];
  return sum;
}

/// step <- -F'^-1 F.
bool Multipliers::newton_step() {
  using Clock = std::chrono::steady_clock;
  if (factorisations_ >= settings_.max_factorisations || settings_.interrupt.requested())
    return false;
  if (settings_.deadline != Clock::time_point::max() && Clock::now() >= settings_.deadline)
    return false;
  ++factorisations_;
  ++work_.factorisations;
  space_.begin_matrix(law_ == Law::kConvex);
  for (std::size_t i = 0; i < space_.rows().size(); ++i)
    space_.add(static_cast<int>(i), slopes_ + space_.rows()[i].slope);
  if (!space_.factor()) return false;
  for (int k = 0; k < n_; ++k) step_[k] = -force_[k];
  space_.solve(step_);
  std::copy(y_, y_ + n_, start_);
  return true;
}

void Multipliers::move(double alpha) {
  for (int k = 0; k < n_; ++k) y_[k] = start_[k] + alpha * step_[k];
}

/// Newton with backtracking on the size of F. Rounding ends it, too: a step that brings nothing
/// where F has all but vanished.
bool Multipliers::find_root() {
  constexpr int kMaxSteps = 20;
  constexpr double kEnough = 0.2, kShortest = 0.05, kVanished = 1e-10;
  double size = evaluate(slopes_);
  const double first = size;
  for (int k = 0; k < kMaxSteps; ++k) {
    if (size <= accuracy_ * accuracy_ * momentum()) return true;
    if (!newton_step()) return false;
    for (double alpha = 1.0;; alpha *= 0.5) {
      move(alpha);
      const double now = evaluate(slopes_);
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
  for (int k = 0; k < n_; ++k) sum += step_[k] * force_[k];
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
    const double size = evaluate(slopes_);
    if (size <= accuracy_ * accuracy_ * momentum()) return true;
    if (!newton_step()) return false;
    move(line_search());
  }
  evaluate(nullptr);
  return true;
}

bool Multipliers::solve_round() {
  constexpr double kUp = 10.0;
  std::copy(y_, y_ + n_, round_start_);
  law_ = Law::kCoulomb;
  for (;;) {
    set_offset();
    if (find_root()) {
      return true;
    }
    std::copy(round_start_, round_start_ + n_, y_);
    if (proximal_ >= settings_.proximal) break;
    set_proximal(std::min(settings_.proximal, kUp * proximal_));
  }
  law_ = Law::kConvex;
  set_offset();
  return minimise();
}

/// Along the last change of the impulses as far as the residual falls. Where G all but vanishes a
/// round goes only a small share of the way, the next one the same share of what is left.
Residuals Multipliers::extrapolate(const Residuals& now) {
  Residuals best = now;
  double* velocity = motion_;
  double taken = 0.0;
  for (double t = 4.0; t < 1e5; t *= 4.0) {
    for (int i = island_.first; i < island_.last; ++i) {
      const ConstraintSet& set = p_.sets[i];
      for (int k = set.offset; k < set.offset + set.dim; ++k)
        trial_[k] = centre_[k] + t * (centre_[k] - last_[k]);
      project_horizontally(set, trial_ + set.offset);
    }
    velocities(island_, trial_, velocity);
    const Residuals r = residuals_at(p_, trial_, velocity, island_.first, island_.last);
    if (!(r.relative < best.relative)) break;
    best = r;
    taken = t;
  }
  if (taken == 0.0) return now;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p_.sets[i];
    for (int k = set.offset; k < set.offset + set.dim; ++k)
      centre_[k] += taken * (centre_[k] - last_[k]);
    project_horizontally(set, centre_ + set.offset);
  }
  velocities(island_, centre_, velocity_);
  return best;
}

Residuals Multipliers::run(const Residuals& before) {
  constexpr int kPatience = 100, kCrawls = 4;  // rounds
  constexpr double kAtEnd = 1e-5;
  constexpr double kAccuracy = 1e-4, kRounding = 2e-13, kDown = 0.3, kSmallest = 1e-7;
  const int begin = island_.begin, end = island_.end;
  Residuals best = before, now = before;
  double to_halve = before.relative;
  std::copy(lambda_ + begin, lambda_ + end, centre_ + begin);
  std::copy(lambda_ + begin, lambda_ + end, best_ + begin);
  space_.gather(lambda_, y_);
  for (int k = 0; k < n_; ++k) y_[k] /= space_.inertia()[k];
  set_proximal(std::clamp(0.3 * std::sqrt(before.relative), kSmallest, settings_.proximal));
  for (int idle = 0; best.relative > settings_.tolerance && idle < kPatience; ++idle) {
    std::copy(centre_ + begin, centre_ + end, last_ + begin);
    accuracy_ = std::max(kRounding, kAccuracy * std::min(1.0, now.relative));
    if (!solve_round()) break;
    if (law_ == Law::kCoulomb) set_proximal(std::max(kSmallest, kDown * proximal_));
    std::copy(impulse_ + begin, impulse_ + end, centre_ + begin);
    velocities(island_, centre_, velocity_);
    now = residuals_at(p_, centre_, velocity_, island_.first, island_.last);
    if (!std::isfinite(now.relative)) break;
    if (idle % kCrawls == kCrawls - 1 && now.relative < kAtEnd) now = extrapolate(now);
    if (now.relative <= 0.5 * to_halve) {
      to_halve = now.relative;
      idle = 0;
    }
    if (!(now.relative < best.relative)) continue;
    best = now;
    std::copy(centre_ + begin, centre_ + end, best_ + begin);
  }
  std::copy(best_ + begin, best_ + end, lambda_ + begin);
  velocities(island_, lambda_, velocity_);
  return best;
}

}  // namespace

std::size_t multiplier_storage(std::size_t total, int n) {
  return (10 + kMaxConeDim) * total + 5 * n;
}

Residuals method_of_multipliers(const Island& island,
                                const MultiplierSettings& settings,
                                const Residuals& before,
                                double* lambda,
                                double* velocity,
                                SolverWorkspace& work) {
  return Multipliers(island, settings, work, lambda, velocity).run(before);
}

}  // namespace stiction
