#include "solver/ncp_newton/ncp_newton.hpp"

#include <algorithm>
#include <utility>

// The stages of ncp_newton.cpp that work in the coordinates of the trees: Newton, gradients and the
// method of multipliers. Those of the interior point method are in ncp_newton_globally.cpp.

namespace stiction {

/// What tolerance_large lets pass is in parts of the largest impulse: were light bodies among heavy
/// ones judged by it alone, it would let them fly. Each contact's complementarity must be small
/// for its own impulses too.
bool NcpNewton::own_shares_are_small() const {
  constexpr double kShare = 0.03;
  if (tolerance_ <= settings_.tolerance) return true;
  return largest_own_share(island_, lambda_, velocity_) <= kShare;
}

/// Where it is not: some factorisations more, held to less and less. What they do not reach is let
/// pass.
void NcpNewton::spare_light_bodies() {
  constexpr int kMost = 60;
  constexpr double kDown = 0.03;
  const double accepted = tolerance_;
  const int first = budget_.count();
  while (certificate_.relative <= tolerance_ && !own_shares_are_small() &&
         budget_.count() - first < kMost) {
    tolerance_ = std::max(settings_.tolerance, kDown * certificate_.relative);
    multipliers(kMost - (budget_.count() - first));
  }
  tolerance_ = accepted;
}

/// Half of what may be taken from the impulses so far, half of the rest from none: last impulses
/// that are far off lead astray at times.
bool NcpNewton::all_multipliers() {
  for (int k = 0; k < (warm_ ? 2 : 1); ++k) {
    if (k > 0) {
      std::fill(lambda_ + island_.begin, lambda_ + island_.end, 0.0);
      evaluate();
    }
    if (multipliers(budget_.sparse_left() / 2)) {
      hold_still();
      return true;
    }
    if (!(certificate_.relative <= tolerance_)) continue;
    spare_light_bodies();
    return true;
  }
  return_to_best();
  evaluate();
  return false;
}

bool NcpNewton::last_multipliers() {
  if (multipliers(budget_.sparse_left())) {
    hold_still();
    return true;
  }
  if (!(certificate_.relative <= tolerance_)) return false;
  spare_light_bodies();
  return true;
}

bool NcpNewton::multipliers_from_best() {
  return_to_best();
  evaluate();
  return all_multipliers();
}

bool NcpNewton::in_tree_space() {
  if (in_tree_space_) return *in_tree_space_;
  if (elimination_) budget_.work().charge(elimination_->space_multiplications());
  const ContactSpace& space = elimination_ ? elimination_->space() : island_.problem.space;
  in_tree_space_ = work_.multipliers.trees.prepare(island_, space, most_coordinates(island_));
  return *in_tree_space_;
}

/// Newton in the coordinates of the trees from lambda_, whose residual is given.
Residuals NcpNewton::step_in_space(const NewtonSettings& settings,
                                   int patience,
                                   const Residuals& from) {
  const int before = budget_.count();
  const Residuals reached = stiction::newton_in_space(island_,
                                                      settings,
                                                      patience,
                                                      from,
                                                      lambda_,
                                                      velocity_,
                                                      work_.multipliers.trees,
                                                      work_.space,
                                                      budget_.work());
  budget_.were_sparse(budget_.count() - before);
  return reached;
}

/// Hyperstatic piles take longer than stacks; large ones are left to other stages sooner, and what
/// is solved already to rest.
bool NcpNewton::newton_in_space() {
  constexpr int kSteps = 30, kLargeRows = 400;
  if (!pays_to_factor()) return false;
  const bool solved_already = certificate_.relative <= settings_.tolerance;
  const int patience = solved_already || island_.rows() > kLargeRows ? 2 : 4;
  const double tolerance = std::min(settings_.tolerance, 0.5 * certificate_.relative);
  const int most = std::min(kSteps, budget_.sparse_left());
  const NewtonSettings settings{tolerance, most, budget_.interrupt(), kLarge};
  certificate_ = step_in_space(settings, patience, certificate_);
  keep_best();
  return certificate_.relative <= tolerance;
}

/// Bodies in a row, as in a stack, or few of them: five factorisations cost less than the sweeps
/// that they save.
bool NcpNewton::cheap_to_factor() {
  constexpr double kPerRow = 64.0;  // multiplications
  return is_large(island_) && in_tree_space() &&
         work_.multipliers.trees.work() <= kPerRow * island_.rows();
}

/// The trees' system is no more work than is left; else that is remembered.
bool NcpNewton::pays_to_factor() {
  if (!in_tree_space()) return false;
  WorkAccount& account = budget_.work();
  const double work = 0.5 * work_.multipliers.trees.work();
  return account.affords(work) || account.take(work);
}

/// So dear that a few factorisations are all that the work allows, as where bodies lie in each
/// other all together: sweeps are what is left.
bool NcpNewton::dear_to_factor() {
  constexpr double kFew = 8.0;
  return in_tree_space() && kFew * work_.multipliers.trees.work() > budget_.work().left();
}

/// What the last impulses do not solve, brought on its way: few sweeps cost less than the
/// factorisations that they save, many cost more (drops of 100 to 1000 boxes, kicked stacks).
/// Bodies at rest need many: what is slow to solve there is slow to come to rest.
bool NcpNewton::sweep_loose() {
  constexpr double kHandOver = 1e-4;
  constexpr int kSweeps = 60, kSweepsOfMany = 4, kSweepsAtRest = 300;
  if (budget_.exhausted()) return false;
  tolerance_ = tolerance_of(island_, settings_);
  const double near = island_.rows() > 1000 ? tolerance_ : 2e-2;
  if (tolerance_ > settings_.tolerance && certificate_.relative <= near && come_to_rest())
    return true;
  if (cheap_to_factor()) return false;
  ConjugateGradientSettings settings;
  settings.tolerance = std::max(tolerance_, kHandOver);
  const int most = dear_to_factor()    ? settings_.max_iterations
                   : bodies_rest()     ? kSweepsAtRest
                   : is_large(island_) ? kSweepsOfMany
                                       : kSweeps;
  settings.max_iterations = std::min(most, settings_.max_iterations);
  settings.interrupt = budget_.interrupt();
  certificate_ = conjugate_gradients(island_,
                                     settings,
                                     certificate_,
                                     lambda_,
                                     velocity_,
                                     work_.gradients,
                                     budget_.work(),
                                     sweeps_);
  keep_best();
  return solved_to(1.0);
}

static constexpr double kStays = 1e-5;

/// What is enough of an island, in parts of the tolerance: by what tolerance_large lets pass,
/// bodies at rest would hop for ever.
bool NcpNewton::solved_to(double in_motion) const {
  const double part = bodies_rest() ? kStays : in_motion;
  return certificate_.relative <= std::max(settings_.tolerance, part * tolerance_) &&
         own_shares_are_small();
}

/// Multipliers held to another tolerance; what they do not reach is left as it was.
void NcpNewton::try_harder(double tolerance, int most) {
  const double accepted = std::exchange(tolerance_, tolerance);
  if (!solved() && !multipliers(most)) {
    return_to_best();
    evaluate();
  }
  tolerance_ = accepted;
}

/// Some factorisations more where bodies rest and are not yet solved to where they stay.
void NcpNewton::hold_still() {
  constexpr int kMost = 300;
  if (!solved_to(1.0)) try_harder(std::max(settings_.tolerance, kStays * tolerance_), kMost);
}

/// The last impulses nearly solve the island: it nearly rests, and held to tolerance_large never
/// would. A few factorisations bring it, within some steps, to where Newton takes one or two.
bool NcpNewton::come_to_rest() {
  constexpr int kFew = 5;
  try_harder(settings_.tolerance, kFew);
  return solved_to(1.0);
}

/// For islands with fewer coordinates of trees than rows.
bool NcpNewton::multipliers(int most) {
  if (budget_.exhausted() || !pays_to_factor()) return false;
  MultiplierSettings settings;
  settings.interrupt = budget_.interrupt();
  settings.tolerance = tolerance_;
  settings.max_factorisations = std::min(most, budget_.sparse_left());
  settings.may_run_away = many_rows();
  const int before = budget_.count();
  certificate_ = method_of_multipliers(
      island_, settings, certificate_, lambda_, velocity_, work_.multipliers, budget_.work());
  budget_.were_sparse(budget_.count() - before);
  keep_best();
  return solved();
}

}  // namespace stiction
