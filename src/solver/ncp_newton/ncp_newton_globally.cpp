#include "math/split_mix.hpp"
#include "solver/common/projection.hpp"
#include "solver/ncp_newton/ncp_newton.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

// What ncp-newton does where sweeps and Newton circle: the last stages of ncp_newton.cpp.

namespace stiction {

/// The interior point method from one start, its iterates polished by Newton.
bool NcpNewton::follow_central_path(const InteriorPoint::Start& start) {
  constexpr int kMaxSteps = 80;
  InteriorPoint interior(island_, InteriorPoint::Problem::kContact, work_.interior, budget_.work());
  interior.restart(start);
  for (double target = 1e-4; target > 0.5e-16; target *= 1e-2) {
    if (budget_.exhausted()) return false;
    const int allowed = std::min(kMaxSteps, interior.steps() + budget_.left());
    const bool good = interior.advance(target, allowed, settings_.interrupt);
    interior.copy_impulse(lambda_);
    evaluate();
    if (!std::isfinite(certificate_.relative)) return false;
    keep_best();
    if (solved() || newton(6, kSmall) || rounding_exhausted()) return true;
    if (!good) return false;
  }
  return false;
}

/// Starts of the interior point method. Of the solutions that it finds on both sets of
/// docs/solvers.md, cold and warm, the first two find all but five; robots at rest and impacts need
/// the rest.
static constexpr InteriorPoint::Start kStarts[] = {{100.0, 0.1, 0.1, 0.99},
                                                   {1e4, 1.0, 0.1, 0.9},
                                                   {1.0, 0.1, 0.02, 0.9},
                                                   {10.0, 10.0, 0.01, 0.9},
                                                   {0.1, 0.1, 0.01, 0.9}};

/// Half of what may be taken: of steps that come here scattered starts solve more than the last of
/// these.
bool NcpNewton::try_interior_point() {
  const int last = budget_.count() + budget_.left() / 2;
  return std::any_of(std::begin(kStarts), std::end(kStarts), [&](const auto& start) {
    return budget_.count() < last && follow_central_path(start);
  });
}

/// Down the path, the impulses judged wherever the mean pair has fallen by kDown; true if that
/// solves the island.
bool NcpNewton::follow_path_in_space(InteriorSpace& interior) {
  constexpr int kMaxSteps = 40, kPatience = 5;
  constexpr double kFirst = 3e-3, kLast = 0.5e-12, kDown = 0.3;  // of the mean pair
  constexpr double kBelow = 0.1;
  const int most = interior.steps() + std::min(kMaxSteps, budget_.sparse_left());
  const int before = budget_.count();
  // Pairs that are not nothing give a contact work to do: held to tolerance_large alone, a stack
  // that was nudged rocks on.
  bool good = true;
  for (double target = kFirst; good && target > kLast && !solved_to(kBelow); target *= kDown) {
    good = interior.advance(target, most, settings_.interrupt, kPatience);
    interior.copy_impulse(lambda_);
    evaluate();
    if (!std::isfinite(certificate_.relative)) break;
    keep_best();
  }
  budget_.were_sparse(budget_.count() - before);
  if (!solved() && best_.relative <= tolerance_) {
    return_to_best();
    evaluate();
  }
  return solved();
}

/// The interior point method in the coordinates of trees, from the impulses so far: some five steps
/// bring an island of any size, in motion, to tolerance_large. Where the path folds, it is followed
/// from far away, from the starts [first, last).
bool NcpNewton::go_inside(bool near, int first, int last) {
  constexpr double kCentring = 1e-3, kReach = 0.95, kSmallest = 1e-6;
  if (budget_.exhausted() || budget_.sparse_left() == 0) return false;
  if (!InteriorSpace::applies(island_) || !pays_to_factor()) return false;
  InteriorSpace interior(island_, work_.multipliers.trees, work_.interior_space, budget_.work());
  if (near) {
    interior.restart_near(
        lambda_, velocity_, std::clamp(certificate_.relative, kSmallest, 1.0), kCentring, kReach);
    if (follow_path_in_space(interior)) return true;
  }
  for (int k = first; k < last && !budget_.exhausted() && budget_.sparse_left() > 0; ++k) {
    interior.restart(kStarts[k]);
    if (follow_path_in_space(interior)) return true;
  }
  return_to_best();
  evaluate();
  return false;
}

/// What holds other trees than loose bodies comes from the start, without sweeps. Where it nearly
/// rests the impulses inside the cones have no end: what the multipliers leave within
/// tolerance_large is the better start of the next step.
bool NcpNewton::go_inside_first() {
  constexpr int kFew = 40;
  constexpr double kNear = 2e-2;
  if (!island_.is_loose()) {
    tolerance_ = tolerance_of(island_, settings_);
    if (bodies_rest() && certificate_.relative <= kNear) try_harder(settings_.tolerance, kFew);
    if (bodies_rest() && solved()) return true;
  }
  return go_inside(true, 0, 1);
}

/// After multipliers; a large island has been there before them.
bool NcpNewton::go_inside_last() {
  return is_large(island_) ? go_inside(false, 1, 3) : go_inside(true, 0, 3);
}

/// A normal impulse d >= 0 with G d = 0 and g . d < 0 pushes without effect against an approach:
/// then c . d = g . d < 0 for any impulses, and no velocity is admissible. In finite precision: a
/// solution would need impulses beyond any reason.
bool NcpNewton::infeasible() {
  constexpr double kNothing = 1e-11;
  InteriorPoint direction(
      island_, InteriorPoint::Problem::kDirection, work_.interior, budget_.work());
  direction.restart(kStarts[0]);
  direction.advance(1e-24, std::min(100, budget_.left()), settings_.interrupt);
  if (!(direction.effect() < kNothing)) return false;
  return_to_best();
  return true;
}

/// The row of work_.compliant <- that of the problem with `compliance` added.
void NcpNewton::make_compliant(int set, int row, double compliance) {
  const ContactProblem& p = island_.problem;
  const int k = p.sets[set].offset + row;
  work_.compliant.set_diagonal_entry(set, row, p.diagonal_entry(set, row) + compliance);
  work_.compliant.compliance[k] = p.compliance[k] + compliance;
}

/// work_.compliant <- the problem with `share` of a set's largest diagonal entry added to its
/// normal rows, or to all where there is no normal.
void NcpNewton::make_normals_compliant(double share) {
  const ContactProblem& p = island_.problem;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    const double largest = p.largest_diagonal(i, i + 1);
    for (int r = set.is_cone() ? set.friction.normal() : 0; r < set.dim; ++r)
      make_compliant(i, r, share * largest);
  }
}

/// The stages that are not of the whole, on work_.compliant, from lambda.
bool NcpNewton::solve_compliant() {
  constexpr int kEach = 400;  // factorisations after which no stage begins
  const Island soft(work_.compliant, island_.first, island_.last);
  NcpNewton relaxed(
      soft, settings_, Budget(budget_, kEach), work_, work_.relaxed, lambda_, velocity_);
  relaxed.relaxed_ = true;
  return relaxed.solve(nullptr) == SolveStatus::kConverged;
}

bool NcpNewton::regularise(std::vector<double>& regularisation) {
  const ContactProblem& p = island_.problem;
  work_.compliant = p;
  work_.compliant_of = &p;
  evaluate();
  keep_best();
  for (double share = 1e-6; share < 2e-3; share *= 10.0) {
    if (budget_.exhausted()) break;
    make_normals_compliant(share);
    std::fill(lambda_ + island_.begin, lambda_ + island_.end, 0.0);
    if (!solve_compliant()) continue;
    regularisation.resize(p.g.size(), 0.0);
    for (int i = island_.first; i < island_.last; ++i) {
      for (int r = 0; r < p.sets[i].dim; ++r)
        regularisation[p.sets[i].offset + r] =
            work_.compliant.diagonal_entry(i, r) - p.diagonal_entry(i, r);
    }
    return true;
  }
  return_to_best();
  return false;
}

namespace {

/// 2^x to a thousandth or so: the same bits on every machine.
double power_of_two(double x) {
  const double whole = std::floor(x);
  return std::ldexp(1.0 + (x - whole), static_cast<int>(whole));
}

}  // namespace

/// Other places to start from, by turns: the interior point method with impulses from 2^-7 to 2^13
/// of what stops the largest velocity; sweeps from contacts that carry up to what would stop it.
bool NcpNewton::scatter() {
  const ContactProblem& p = island_.problem;
  const double scale = velocity_scale(island_);
  const bool few = island_.rows() <= 60;
  const int starts = few ? 40 : 3;
  for (int seed = 1; seed <= starts; ++seed) {
    if (budget_.exhausted()) return false;
    SplitMix uniform{static_cast<std::uint64_t>(seed)};
    if (seed % 2 == 0) {
      const double size = power_of_two(-7.0 + 20.0 * uniform());
      const double ratio = power_of_two(-13.0 * uniform());
      if (follow_central_path({size, size * ratio, 0.1 * uniform(), 0.9})) return true;
      continue;
    }
    for (int i = island_.first; i < island_.last; ++i) {
      const ConstraintSet& set = p.sets[i];
      double* l = lambda_ + set.offset;
      for (int r = 0; r < set.dim; ++r) l[r] = 0.0;
      const double d = p.diagonal_entry(i, set.dim - 1);
      if (set.kind == SetKind::kFree || !(d > 0.0)) continue;
      const double n = uniform() * scale / d;
      l[set.dim - 1] = n;
      for (int r = 0; r + 1 < set.dim; ++r) l[r] = set.friction.slope() * n * (uniform() - 0.5);
      project_horizontally(set, l);
    }
    if (!sweep(few ? 10 : 50)) continue;
    evaluate();
    keep_best();
    if (solved() || newton(50, kLarge)) return true;
  }
  return false;
}

}  // namespace stiction
