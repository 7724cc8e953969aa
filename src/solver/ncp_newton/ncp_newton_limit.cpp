#include "contact/scaled_residuals.hpp"
#include "solver/ncp_newton/ncp_newton.hpp"

#include <algorithm>

// The limit of vanishing compliance, which chooses one of several solutions;
// solver/dense/dense_limit.hpp has it for few rows.

namespace stiction {
namespace {

/// In the coordinates of bodies: full steps of Newton lead no more rows there.
constexpr int kMaxRowsInCoordinates = 150;

}  // namespace

int most_limit_rows(const Island& island) {
  return newton_in_coordinates(island) ? kMaxRowsInCoordinates : kMaxLimitRows;
}

/// What Newton or another stage found, but for a start that was taken as it is: that is the limit
/// of the step before. In the coordinates of bodies two contacts and more are taken as hyperstatic.
bool NcpNewton::may_have_others() const {
  if (accepted_ || !can_start_soft()) return false;
  const bool loaded = std::any_of(
      lambda_ + island_.begin, lambda_ + island_.end, [](double x) { return x != 0.0; });
  return loaded && (in_coordinates() ? island_.rows() > 3 : weakest_ < kWeakPivot);
}

/// Newton on the problem with a share of compliance; true if that brings the residual to what is
/// enough.
bool NcpNewton::newton_with_compliance(double share, const LimitPass& pass) {
  const int left = in_coordinates() ? budget_.sparse_left() : budget_.left();
  NewtonSettings settings{
      pass.goal, std::min(pass.steps, left), budget_.interrupt(), pass.proximal};
  settings.compliance = share;
  velocities(island_, lambda_, velocity_);
  add_compliance(island_, share, own_.scale, lambda_, velocity_);
  Residuals reached =
      residuals_at(island_.problem, lambda_, velocity_, island_.first, island_.last);
  if (in_coordinates()) {
    reached = step_in_space(settings, pass.steps, reached);
  } else {
    reached = newton_on_modes(
        island_, settings, reached, lambda_, velocity_, work_.modes, budget_.work());
  }
  return reached.relative <= pass.enough;
}

/// Newton with less and less compliance, and on the rigid problem from there. kNear: the problem
/// with compliance was solved, the rigid one was not.
NcpNewton::Stiffened NcpNewton::stiffen(int steps) {
  constexpr int kSteps = 4;
  bool solved = false;
  Stiffened failed = Stiffened::kLost;
  for (const double share : kStiffShares) {
    if (!newton_with_compliance(share, stiff_pass(share, steps)) ||
        !newton_with_compliance(share, last_stiff_pass(share)))
      break;
    failed = Stiffened::kNear;
    solved = newton_with_compliance(0.0, rigid_pass(share, settings_.tolerance, kSteps));
    if (solved) break;
  }
  return solved && is_solution() ? Stiffened::kSolved : failed;
}

/// Whether the impulses are, once their velocity is computed anew.
bool NcpNewton::is_solution() {
  RowSizes sizes;
  certificate_ = residuals(island_.problem, lambda_, velocity_, island_.first, island_.last, sizes);
  if (!(certificate_.relative <= settings_.tolerance) || drowns(sizes)) return false;
  keep_best();
  return true;
}

bool NcpNewton::can_start_soft() const {
  return small_and_whole() && island_.rows() <= most_limit_rows(island_);
}

/// From zero impulse by the soft problem, whose solution is unique.
bool NcpNewton::follow_from_zero() {
  constexpr int kEach = 60, kSteps = 20;
  std::fill(lambda_ + island_.begin, lambda_ + island_.end, 0.0);
  if (in_coordinates()) {
    if (!in_tree_space()) return false;
    return newton_with_compliance(kSoftShare,
                                  {kSoftShare, kRoughResidual, kRoughResidual, kSteps}) &&
           stiffen(kSteps) == Stiffened::kSolved;
  }
  if (work_.compliant_of != &island_.problem) work_.compliant = island_.problem;
  work_.compliant_of = &island_.problem;
  add_share_to_all(kSoftShare);
  const Island soft(work_.compliant, island_.first, island_.last);
  NcpNewton relaxed(
      soft, settings_, Budget(budget_, kEach), work_, work_.relaxed, lambda_, velocity_);
  relaxed.relaxed_ = true;
  relaxed.tolerance_ = kRoughResidual;
  if (relaxed.solve(nullptr) != SolveStatus::kConverged) return false;
  return stiffen(kSteps) == Stiffened::kSolved;
}

/// work_.compliant <- the problem with `share` of the canonical diagonal added to all rows.
void NcpNewton::add_share_to_all(double share) {
  const ContactProblem& p = island_.problem;
  for (int i = island_.first; i < island_.last; ++i) {
    for (int r = 0; r < p.sets[i].dim; ++r) {
      const double D = own_.scale[p.sets[i].offset + r];
      make_compliant(i, r, share / (D * D));
    }
  }
}

/// lambda_ <- own_.first.
void NcpNewton::return_to_first() {
  std::copy(own_.first + island_.begin, own_.first + island_.end, lambda_ + island_.begin);
  evaluate();
}

/// Keeps the impulses, and finds the scaling that every pass reads.
void NcpNewton::keep_first() {
  own_.first.grow(island_.problem.g.size());
  own_.scale.grow(island_.problem.g.size());
  scale_rows(island_, own_.scale);
  std::copy(lambda_ + island_.begin, lambda_ + island_.end, own_.first + island_.begin);
}

/// Whether velocities press all contacts that are open or slide to their bounds: with compliance
/// they then are there, too.
bool NcpNewton::is_pressed() const {
  constexpr double kEdge = 1.0 - 1e-9;
  const ContactProblem& p = island_.problem;
  double largest = 0.0;
  for (int k = island_.begin; k < island_.end; ++k)
    largest = std::max(largest, std::abs(own_.first[k]) / own_.scale[k]);
  const double little = kUnpressed * largest;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    if (!set.is_cone()) continue;
    const double *l = own_.first + set.offset, *D = own_.scale + set.offset;
    double speed[kMaxConeDim], slip = 0.0, friction = 0.0;
    p.velocity(i, own_.first, speed);
    const int n = set.dim - 1;
    for (int r = 0; r < n; ++r) {
      slip += D[r] * speed[r] * D[r] * speed[r];
      friction += l[r] / D[r] * (l[r] / D[r]);
    }
    const double normal = l[n] / D[n];
    if (!(normal > 0.0) && std::abs(D[n] * speed[n]) <= little) return false;
    const bool slides = normal > 0.0 && friction >= kEdge * normal * normal;
    if (slides && slip <= little * little) return false;
  }
  return true;
}

/// The impulses of the limit among those with the velocity of the solution own_.first, if they keep
/// the sets: dense/least_impulses.hpp. In full steps from there Newton with a compliance e makes of
/// l the l - e K^-1 C l, and without it, by the same K, of these the l - (e K^-1 C)^2 l.
bool NcpNewton::take_least() {
  constexpr double kFar = 1e-3;
  for (const double e : {kLarge, kSmall}) {
    std::copy(own_.first + island_.begin, own_.first + island_.end, lambda_ + island_.begin);
    if (newton_with_compliance(e, {e, 0.0, kFar, 1}) &&
        newton_with_compliance(0.0, {e, 0.0, settings_.tolerance, 1}) && is_solution())
      return true;
  }
  return false;
}

/// The limit in place of a solution that may have others beside it.
void NcpNewton::choose() {
  constexpr int kStepsNear = 3;
  if (!may_have_others() || (in_coordinates() && !in_tree_space())) return;
  const Residuals solution = certificate_;
  keep_first();
  const Stiffened reached = stiffen(kStepsNear);
  if (reached == Stiffened::kSolved) return;
  if (reached == Stiffened::kLost &&
      (in_coordinates() ? is_pressed() && take_least() : follow_from_zero()))
    return;
  return_to_first();
  certificate_ = solution;
}

/// From a cold start the limit at once.
bool NcpNewton::find_limit() {
  if (budget_.exhausted()) return false;
  keep_first();
  accepted_ = follow_from_zero();
  if (!accepted_) return_to_first();
  return accepted_;
}

/// What the last impulses did not lead to: the limit, else turns, from zero impulse.
bool NcpNewton::begin_anew() {
  if (budget_.exhausted()) return false;
  keep_first();
  accepted_ = follow_from_zero();
  if (accepted_) return true;
  std::fill(lambda_ + island_.begin, lambda_ + island_.end, 0.0);
  evaluate();
  return take_turns();
}

}  // namespace stiction
