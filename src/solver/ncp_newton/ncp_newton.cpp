#include "solver/ncp_newton/ncp_newton.hpp"

#include "stiction/math/constants.hpp"

#include "contact/scaled_residuals.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

// The NCP exactly and fast: the stages of an island, below. Each begins with the impulses that the
// one before it left, and the best that any has seen are the answer: docs/solvers.md.

namespace stiction {
namespace {

/// As many sweeps as cost an eighth of a factorisation: n^3 / 6 against the entries of G.
int sweeps_per_turn(const Island& island) {
  const ContactProblem& p = island.problem;
  constexpr int kLoose = 8;  // sweeps of loose bodies, whose factorisations are sparse
  if (island.is_loose()) return kLoose;
  const ContactProblem::Panels& G = p.panels(island.first, island.last);
  const int last = island.last - 1;  // panels of an island lie side by side
  double entries = G.start[last] - G.start[island.first];
  for (int k = G.run_begin[last]; k < G.run_end[last]; ++k)
    entries += ContactProblem::stride(p.sets[last].dim) * G.runs[k].count;
  const double n = island.rows();
  return static_cast<int>(std::clamp(n * n * n / (48.0 * entries), 4.0, 64.0));
}

}  // namespace

const NcpNewton::Stage NcpNewton::kStages[] = {
    // The start as it is; Newton on the modes at once from a good one.
    {"start", &NcpNewton::always, &NcpNewton::start_well, SolveStatus::kConverged},
    // Where nothing is known, of several solutions the limit of vanishing compliance.
    {"limit", &NcpNewton::cold, &NcpNewton::find_limit, SolveStatus::kConverged},
    // In the coordinates of several trees. Loose bodies: conjugate gradients on sweeps.
    {"sweeps in space", &NcpNewton::many_loose, &NcpNewton::sweep_loose, SolveStatus::kConverged},
    {"interior in space",
     &NcpNewton::large_in_space,
     &NcpNewton::go_inside_first,
     SolveStatus::kConverged},
    // The method of multipliers where rows are many and bodies few.
    {"multipliers", &NcpNewton::many_rows, &NcpNewton::all_multipliers, SolveStatus::kConverged},
    {"interior after multipliers",
     &NcpNewton::many_in_space,
     &NcpNewton::go_inside_last,
     SolveStatus::kConverged},
    // From there with what is left.
    {"last multipliers",
     &NcpNewton::many_in_space,
     &NcpNewton::last_multipliers,
     SolveStatus::kConverged},
    // Exact sweeps and Newton.
    {"turns", &NcpNewton::worth_panels, &NcpNewton::take_turns, SolveStatus::kConverged},
    {"overflow", &NcpNewton::whole, &NcpNewton::overflown, SolveStatus::kNotFinite},
    {"rounding", &NcpNewton::whole, &NcpNewton::at_limit, SolveStatus::kRoundingLimited},
    // The method of multipliers where turns circle on few rows, or on what bilateral rows leave.
    {"multipliers after turns",
     &NcpNewton::few_rows,
     &NcpNewton::multipliers_from_best,
     SolveStatus::kConverged},
    // No solution if a normal impulse pushes without effect.
    {"infeasible", &NcpNewton::small_and_whole, &NcpNewton::infeasible, SolveStatus::kInfeasible},
    // What the last impulses did not lead to, without them.
    {"turns from zero", &NcpNewton::warm, &NcpNewton::begin_anew, SolveStatus::kConverged},
    // An interior point method from several starts, its iterates polished by Newton.
    {"interior point", &NcpNewton::small, &NcpNewton::try_interior_point, SolveStatus::kConverged},
    // Where these left little, that little.
    {"acceptable", &NcpNewton::small, &NcpNewton::acceptable, SolveStatus::kConverged},
    // The same, and sweeps, from scattered starts.
    {"scattered", &NcpNewton::small, &NcpNewton::scatter, SolveStatus::kConverged},
};

NcpNewton::NcpNewton(const Island& island,
                     const SolverSettings& settings,
                     const Budget& budget,
                     NcpNewtonWork& work,
                     NcpNewtonWork::Own& own,
                     double* lambda,
                     double* velocity,
                     const BilateralElimination* elimination)
    : island_(island),
      settings_(settings),
      tolerance_(settings.tolerance),
      budget_(budget),
      work_(work),
      own_(own),
      lambda_(lambda),
      velocity_(velocity),
      elimination_(elimination),
      sweeps_per_turn_(sweeps_per_turn(island)) {
  best_.relative = kUnknown;
  own.best.grow(island.problem.g.size());
}

SolveStatus NcpNewton::solve(std::vector<StageRecord>* log) {
  for (const Stage& stage : kStages) {
    if (!(this->*stage.applies)()) continue;
    const int before = budget_.count();
    const bool ends = (this->*stage.run)();
    if (ends && stage.exit == SolveStatus::kConverged) choose();
    if (log)
      log->push_back({stage.name,
                      island_.first,
                      budget_.count() - before,
                      std::min(certificate_.relative, best_.relative),
                      ends});
    if (ends) return stage.exit;
  }
  return_to_best();
  if (certificate_.rounding_limited()) return SolveStatus::kRoundingLimited;
  if (budget_.exhausted() || budget_.refused()) return SolveStatus::kBudget;
  return sweeps_ >= settings_.max_iterations ? SolveStatus::kMaxIterations : SolveStatus::kStalled;
}

void NcpNewton::evaluate() {
  budget_.work().charge(2.0 * pass_work(island_));
  certificate_ = residuals(island_.problem, lambda_, velocity_, island_.first, island_.last);
}

void NcpNewton::keep_best() {
  if (!(certificate_.relative < best_.relative)) return;
  best_ = certificate_;
  std::copy(lambda_ + island_.begin, lambda_ + island_.end, own_.best + island_.begin);
}

/// Wherever the impulses are now: the certificate may be older than they are.
void NcpNewton::return_to_best() {
  if (!(best_.relative < kUnknown)) return;
  certificate_ = best_;
  std::copy(own_.best + island_.begin, own_.best + island_.end, lambda_ + island_.begin);
}

/// False if the impulses are no longer finite. A few contacts that slide are not worth their exact
/// solution at first: Newton finds them as well from cheaper sweeps.
bool NcpNewton::sweep(int count) {
  constexpr int kFewRows = 60, kFirst = 4;
  if (!gauss_seidel_) gauss_seidel_.emplace(island_, own_.locals);
  const double pass = pass_work(island_);
  for (int k = 0; k < count; ++k, ++sweeps_) {
    if (!budget_.work().take(pass)) break;
    const bool cheap = sweeps_ < kFirst && island_.rows() <= kFewRows;
    const auto contact = cheap ? GaussSeidel::Contact::kProjected : GaussSeidel::Contact::kExact;
    if (!(gauss_seidel_->sweep(contact, lambda_) < kUnknown)) return false;
  }
  return true;
}

/// Sweeps, more of them the dearer a factorisation is, as long as they halve the residual; true if
/// they solve the problem.
bool NcpNewton::sweep_while_it_helps() {
  for (int done = 0, chunk = 4; done < sweeps_per_turn_; done += chunk, chunk = std::max(4, done)) {
    const int count =
        std::min({chunk, sweeps_per_turn_ - done, settings_.max_iterations - sweeps_});
    if (count <= 0) return false;
    const double before = certificate_.relative;
    const bool finite = sweep(count);
    evaluate();
    keep_best();
    if (solved()) return true;
    if (!finite || !(certificate_.relative <= 0.5 * before)) return false;
  }
  return false;
}

/// Sweeps and Newton by turns. An island that 4 to 7 can take is left to them after a few turns
/// that bring nothing; a large one has nothing else.
bool NcpNewton::take_turns() {
  const bool large = island_.rows() > kMaxInteriorRows;
  const int most_idle_turns = sweeps_per_turn_ > 4 ? 6 : 2;
  double proximal = kLarge, to_halve = kUnknown;
  int patience = 0, steps = 8;
  for (int turn = 0; large || turn < 2 || patience < most_idle_turns; ++turn) {
    if (budget_.exhausted() || sweeps_ >= settings_.max_iterations) return false;
    if (!large && budget_.half_gone()) return false;
    if (sweep_while_it_helps()) return true;
    if (!std::isfinite(certificate_.relative)) return false;
    const double before = certificate_.relative;
    if (newton(steps, proximal)) return true;
    steps = 20;
    patience = certificate_.relative < 0.5 * to_halve ? 0 : patience + 1;
    to_halve = std::min(to_halve, certificate_.relative);
    // Near a hyperstatic solution the large term is slow, the small one at times singular.
    if (certificate_.relative >= 1e-6)
      proximal = kLarge;
    else if (certificate_.relative > 0.5 * before)
      proximal = proximal == kLarge ? kSmall : kLarge;
  }
  return false;
}

/// Whether the velocities that the start makes are so much larger than those asked for that the
/// rounding of their sum hides the solution: a blow has passed, its impulses have no use.
bool NcpNewton::drowns(const RowSizes& sizes) const {
  constexpr double kHidden = 1e-8;
  if (kSumRounding * sizes.made <= kHidden * sizes.velocity) return false;  // more than is made
  const ContactProblem& p = island_.problem;
  double made = 0.0;
  for (int i = island_.first; i < island_.last; ++i) {
    for (int r = 0; r < p.sets[i].dim; ++r)
      made = std::max(made, p.diagonal_entry(i, r) * std::abs(lambda_[p.sets[i].offset + r]));
  }
  return kSumRounding * made > kHidden * velocity_scale(island_);
}

/// Residual of the start; Newton at once if it is close.
bool NcpNewton::start_well() {
  constexpr double kClose = 2e-2, kSame = 1e-2, kRounding = 1e-13;
  constexpr int kStepsRelaxed = 20;  // the solution with twice the compliance is near
  constexpr int kFewRows = 150;      // a dense factorisation costs as much as one of the trees
  RowSizes sizes;
  const auto evaluate_with_sizes = [&] {
    certificate_ =
        residuals(island_.problem, lambda_, velocity_, island_.first, island_.last, sizes);
  };
  evaluate_with_sizes();
  // Where nothing moves and nothing is asked for, impulses only press against each other, and their
  // residual is in parts of themselves: none are the solution.
  if (sizes.velocity == 0.0 && std::isfinite(sizes.made)) {
    std::fill(lambda_ + island_.begin, lambda_ + island_.end, 0.0);
    evaluate_with_sizes();
  }
  keep_best();
  // Taken as it is only if it is the solution and little more: what a step merely tolerates would
  // add up from step to step. A sweep then lets what is left die out. Loose bodies at rest would
  // hop for ever by what counts as rounding: a step of Newton ends it.
  if (certificate_.relative <= kSame * settings_.tolerance) {
    const double nothing = 1e-3 * kSame * settings_.tolerance;
    if (island_.is_loose()) {
      if (sizes.whole > std::max(nothing, kRounding)) newton_in_space();
    } else if (certificate_.relative > nothing && sweep(1)) {
      evaluate();
      if (!solved()) {
        return_to_best();
        evaluate();
      }
    }
    accepted_ = true;
    return true;
  }
  // Within tolerance_large there is room for that rounding.
  const bool held_loosely =
      is_large(island_) && tolerance_of(island_, settings_) > settings_.tolerance;
  const bool room = held_loosely && certificate_.relative <= kClose;
  if (!room && drowns(sizes)) {
    std::fill(lambda_ + island_.begin, lambda_ + island_.end, 0.0);
    best_.relative = kUnknown;
    evaluate();
    keep_best();
    if (solved()) return true;
  }
  warm_ = std::any_of(
      lambda_ + island_.begin, lambda_ + island_.end, [](double x) { return x != 0.0; });
  if (!warm_ || !(certificate_.relative <= kClose)) return false;
  if (in_coordinates()) return newton_in_space();
  if (island_.rows() > kFewRows && multipliers_come_first() && in_tree_space()) return false;
  if (sweeps_per_turn_ >= 12 && sweep_while_it_helps()) return true;
  if (newton(8, kLarge, std::min(settings_.tolerance, 0.5 * certificate_.relative))) return true;
  return relaxed_ && newton(kStepsRelaxed, kLarge);
}

/// Not where light contacts could be wrong by their whole load. The choice among several impulses
/// has been tried in vain.
bool NcpNewton::acceptable() {
  constexpr double kShare = 0.03;
  if (!(best_.relative <= settings_.acceptable) || runs_away(best_)) return false;
  return_to_best();
  evaluate();
  accepted_ = true;
  return certificate_.relative <= settings_.acceptable &&
         largest_own_share(island_, lambda_, velocity_) <= kShare;
}

/// Double is exhausted by so much that other stages are not worth a try.
bool NcpNewton::rounding_exhausted() const {
  return certificate_.backward <= 1e-13 && certificate_.relative <= 1e-8;
}

bool NcpNewton::at_limit() {
  return_to_best();
  return rounding_exhausted();
}

bool NcpNewton::newton(int steps, double proximal, double tolerance) {
  const NewtonSettings settings{
      tolerance, std::min(steps, budget_.left()), budget_.interrupt(), proximal};
  certificate_ = newton_on_modes(
      island_, settings, certificate_, lambda_, velocity_, work_.modes, budget_.work());
  weakest_ = work_.modes.weakest;
  keep_best();
  return certificate_.relative <= tolerance;
}

}  // namespace stiction
