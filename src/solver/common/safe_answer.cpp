#include "solver/common/safe_answer.hpp"

#include "stiction/contact/contact_model.hpp"

#include "solver/common/projection.hpp"
#include "solver/common/set_sweep.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <cmath>

// What a step may take where there is no solution. With v_f the free velocity, J v_f = g + c*, the
// impulses change the kinetic energy by
//   sum lambda (J v_f + G lambda / 2) = f(lambda) + sum lambda c*,
//   f(lambda) = 1/2 lambda (G + R) lambda + g lambda
// (less what R, physical, dissipates or stores). f(0) = 0, so that a method that only ever lowers
// f, started at zero, gains no energy but sum lambda c*, wherever it is stopped. It is taken
// without the c* > 0 of normals and limits, that of friction and that of bilateral rows: what is
// left of the sum is <= 0, but for springs, which give back what they hold. Descent: projected
// Gauss-Seidel with the step 1 / L_i, L_i the largest absolute row sum of the diagonal block, that
// is at least its largest eigenvalue; 1 % of L_i is added to the block, so that impulses stay
// finite where no solution is.

namespace stiction {
namespace {

constexpr double kRegularisation = 0.01;  // share of L_i
constexpr double kGrowth = 0.01;          // of max |g|: approach that counts as small

/// The part of c* that could add energy: what the safe answer does without.
double energy_giving_reference(const ConstraintSet& set,
                               int r,
                               double reference,
                               double compliance) {
  if (compliance > 0.0 || set.kind == SetKind::kBox) return 0.0;
  if (set.kind == SetKind::kFree) return reference;
  if (set.is_cone() && !set.is_normal(r)) return reference;
  return std::max(reference, 0.0);
}

/// How fast a row lets something sink in or drift apart.
double closing(const ConstraintSet& set, int r, double motion) {
  if (set.is_normal(r)) return -motion;
  return set.kind == SetKind::kFree ? std::abs(motion) : 0.0;
}

/// Whether impulses gain no more energy than corrections at their speeds may, and let nothing sink
/// in or drift apart. What rounding hides is in parts of their own size, but not of more than
/// kReason times what stops and corrects each row by itself: impulses beyond reason hide anything.
bool harmless(const Island& island,
              const ReferenceVelocities& references,
              const double* lambda,
              const double* velocity) {
  constexpr double kRounding = 1e-9, kReason = 1e4;
  const ContactProblem& p = island.problem;
  const double small = kGrowth * velocity_scale(island), rigid = rigid_floor(island);
  double gain = 0.0, allowed = 0.0, size = 0.0, asked = 0.0;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    for (int r = 0; r < set.dim; ++r) {
      const int k = set.offset + r;
      const double reference = references.all[k], recovery = references.recovery[k];
      const double held = p.compliance[k] > 0.0 ? 0.0 : reference;
      gain += lambda[k] * (0.5 * (velocity[k] + p.g[k]) + held);
      size += std::abs(lambda[k]) * (std::abs(velocity[k]) + std::abs(p.g[k]) + std::abs(held));
      const double d = p.diagonal_entry(i, r);
      if (d > 0.0) allowed += 0.5 * recovery * recovery / d;
      const double both = std::abs(p.g[k]) + std::abs(held);
      if (d > rigid) asked += both * both / d;
      const double motion =
          velocity[k] + energy_giving_reference(set, r, reference, p.compliance[k]);
      if (set.is_normal(r) && !(motion >= -small)) return false;
      if (set.kind == SetKind::kFree &&
          !(std::min(std::abs(velocity[k]), std::abs(motion)) <= small))
        return false;
    }
    double inside[kMaxSetDim];
    std::copy(lambda + set.offset, lambda + set.offset + set.dim, inside);
    project(set, inside);
    for (int r = 0; r < set.dim; ++r) {
      const double out = std::abs(inside[r] - lambda[set.offset + r]);
      if (!(out <= 1e-6 * std::abs(lambda[set.offset + set.dim - 1]))) return false;
    }
  }
  return gain <= allowed + kRounding * std::min(size, kReason * asked);
}

/// L_i of a set.
double largest_row_sum(const ContactProblem& p, int i) {
  const int dim = p.sets[i].dim, stride = ContactProblem::stride(dim);
  const double* block = p.block(i);
  double largest = 0.0;
  for (int r = 0; r < dim; ++r) {
    double sum = 0.0;
    for (int c = 0; c < dim; ++c) sum += std::abs(block[stride * c + r]);
    largest = std::max(largest, sum);
  }
  return largest;
}

/// One step of a set down f, whose g is that of island.problem; the largest change of impulse in
/// velocity units.
double descend(
    const Island& island, const NewestVelocity& newest, int i, double L, double* lambda) {
  const ContactProblem& p = island.problem;
  const ConstraintSet& set = p.sets[i];
  if (!(L > 0.0)) return 0.0;
  const double R = kRegularisation * L;
  double c[kMaxSetDim], next[kMaxSetDim] = {}, old[kMaxSetDim], change = 0.0;
  newest.find(i, c);
  for (int r = 0; r < set.dim; ++r) {
    const int k = set.offset + r;
    c[r] += R * lambda[k];
    next[r] = lambda[k] - c[r] / (L + R);
  }
  project(set, next);
  for (int r = 0; r < set.dim; ++r) {
    old[r] = lambda[set.offset + r];
    change = std::max(change, L * std::abs(next[r] - old[r]));
    lambda[set.offset + r] = next[r];
  }
  newest.moved(i, old);
  return change;
}

/// f at impulses whose velocity is c = (G + R) lambda + g.
double objective(const Island& island, const double* lambda, const double* c) {
  double sum = 0.0;
  for (int k = island.begin; k < island.end; ++k)
    sum += 0.5 * lambda[k] * (c[k] + island.problem.g[k]);
  return sum;
}

/// Sweeps up and down, so that loads pass through a stack either way; from lambda if that is below
/// zero already, with what sweeps add.
void minimise(const Island& island,
              Buffer<double>& L,
              WorkAccount& account,
              double* lambda,
              double* velocity) {
  const double pass = pass_work(island);
  constexpr double kStill = 1e-6;  // of max |g|
  const double still = kStill * velocity_scale(island);
  L.grow(island.last - island.first);
  velocities(island, lambda, velocity);
  double f = objective(island, lambda, velocity);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = island.problem.sets[i];
    L[i - island.first] = largest_row_sum(island.problem, i);
    for (int k = set.offset; k < set.offset + set.dim; ++k)
      f += 0.5 * kRegularisation * L[i - island.first] * lambda[k] * lambda[k];
  }
  if (!(f <= 0.0)) std::fill(lambda + island.begin, lambda + island.end, 0.0);
  for (int sweep = 0; sweep < kSafeSweeps && account.take(pass); ++sweep) {
    const NewestVelocity newest(island, lambda);
    double change = 0.0;
    for (int n = 0; n < island.last - island.first; ++n) {
      const int i = sweep % 2 ? island.last - 1 - n : island.first + n;
      change = std::max(change, descend(island, newest, i, L[i - island.first], lambda));
    }
    if (!(change > still)) return;
  }
}

int newton_steps(const Island& island) {
  return std::min(kSafeFactorisations, dense_factorisations(island.rows()));
}

/// g of the island without what could give energy.
void take_away(const Island& island,
               const ReferenceVelocities& references,
               std::vector<double>& g) {
  const ContactProblem& p = island.problem;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    for (int r = 0; r < set.dim; ++r) {
      const int k = set.offset + r;
      g[k] += energy_giving_reference(set, r, references.all[k], p.compliance[k]);
    }
  }
}

/// With 1e-9 of the diagonal, by Newton, which comes to the minimum where sweeps creep: large mass
/// ratios. Not taken if Newton stalled on its way: at zero, f is zero too.
bool minimise_by_newton(const Island& island,
                        SolverWorkspace::Parts& work,
                        double* lambda,
                        double* velocity) {
  constexpr double kMinimum = 1e-3;  // relative residual
  std::fill(lambda + island.begin, lambda + island.end, 0.0);
  if (island.rows() > kMaxInteriorRows) return false;
  const ContactProblem& p = island.problem;
  SolverSettings settings;
  settings.regularisation = RegularisationRule::kDiagonal;
  settings.regularisation_weight = 1e-9;
  settings.tolerance = 1e-6;
  settings.max_iterations = newton_steps(island);
  const WorkAccount::Share share(work.account, 0.5 * work.account.left());
  const double* R = work.safe_answer.regularisation;
  ccp_newton_on_island(island,
                       settings,
                       work.safe_answer.regularisation,
                       work.ccp_newton,
                       work.account,
                       lambda,
                       velocity);
  for (int i = island.first; i < island.last; ++i) project(p.sets[i], lambda + p.sets[i].offset);
  velocities(island, lambda, velocity);
  const double f = objective(island, lambda, velocity);
  for (int k = island.begin; k < island.end; ++k) velocity[k] += R[k] * lambda[k];
  const Residuals r =
      model_residuals(ContactModel::kCcp, 0, p, lambda, velocity, island.first, island.last);
  return r.relative <= kMinimum && f <= 0.0;
}

/// The fastest at which something still sinks in or drifts apart: row velocities of the relaxed g.
double growth(const Island& island, const double* velocity) {
  double fastest = 0.0;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = island.problem.sets[i];
    for (int r = 0; r < set.dim; ++r)
      fastest = std::max(fastest, closing(set, r, velocity[set.offset + r]));
  }
  return fastest;
}

}  // namespace

std::int64_t most_safe_factorisations(const ContactProblem& problem) {
  std::int64_t sum = 0;
  for (int k = 0; k < problem.num_islands(); ++k)
    sum += newton_steps(Island(problem, problem.island_start[k], problem.island_start[k + 1]));
  return sum;
}

/// Of a problem whose cones are circular: descent along projections needs the nearest point.
static SafeAnswer make_safe_in_one_unit(const ContactProblem& problem,
                                        const ReferenceVelocities& references,
                                        const SolverSettings& settings,
                                        SolverWorkspace& work,
                                        ContactSolution& solution) {
  SafeAnswer out;
  SafeAnswerWork& own = work.parts().safe_answer;
  ContactProblem& soft = own.relaxed;
  WorkAccount& account = work.parts().account;
  const WorkAccount::Scope scope(account, settings);
  if (scope.opened()) allow_for(problem, account);
  const WorkAccount::Safe safe(account);
  const double work_before = account.spent(), work_of_all = account.left();
  const int factorisations = account.factorisations;
  int rows_after = problem.num_rows();
  double *lambda = solution.impulse.data(), *velocity = solution.velocity.data();
  for (int k = 0; k < problem.num_islands(); ++k) {
    const Island island(problem, problem.island_start[k], problem.island_start[k + 1]);
    const Residuals r = residuals_at(problem, lambda, velocity, island.first, island.last);
    rows_after -= island.rows();
    account.charge(pass_work(island));
    if (r.relative <= tolerance_of(island, settings) || r.rounding_limited()) continue;
    // Of those that run away the account of energy is rounding.
    if (!runs_away(r) && harmless(island, references, lambda, velocity)) continue;
    if (out.islands++ == 0) {
      soft = problem;
      own.regularisation.grow(problem.g.size());
    }
    // What those after it need is theirs; Newton leaves half to the sweeps.
    const WorkAccount::Share share(account, work_of_all * rows_after / problem.num_rows());
    const Island relaxed(soft, island.first, island.last);
    take_away(relaxed, references, soft.g);
    if (!minimise_by_newton(relaxed, work.parts(), lambda, velocity))
      minimise(relaxed, own.row_sums, account, lambda, velocity);
    velocities(relaxed, lambda, velocity);
    out.growth = std::max(out.growth, growth(relaxed, velocity));
  }
  solution.factorisations += account.factorisations - factorisations;
  solution.work += account.spent() - work_before;
  return out;
}

SafeAnswer make_safe(const ContactProblem& problem,
                     const ReferenceVelocities& references,
                     const SolverSettings& settings,
                     SolverWorkspace& work,
                     ContactSolution& solution) {
  SafeAnswerWork& own = work.parts().safe_answer;
  CircularForm& form = own.circular;
  const ContactProblem& circular = form.take(problem);
  SafeAnswer out;
  if (form.copied()) {
    own.references = references.all;
    own.recovery = references.recovery;
    form.to_circular(solution.impulse.data());
    for (double* c : {solution.velocity.data(), own.references.data(), own.recovery.data()})
      form.velocity_to_circular(c);
    out = make_safe_in_one_unit(circular, {own.references, own.recovery}, settings, work, solution);
    form.from_circular(solution.impulse.data());
  } else {
    out = make_safe_in_one_unit(problem, references, settings, work, solution);
  }
  if (form.copied() || out.islands > 0)
    solution.residuals = residuals(problem, solution.impulse.data(), solution.velocity.data());
  return out;
}

}  // namespace stiction
