#include "stiction/math/constants.hpp"

#include "solver/ncp_newton/ncp_newton.hpp"
#include "solver/workspace.hpp"

#include <algorithm>

// ncp-newton on all islands: bilateral rows are eliminated, few rows take the course of lanes,
// others the stages of ncp_newton.cpp.

namespace stiction {

/// What an island leaves of the work of all to those after it: half of their share by rows. A hard
/// one may take what the others do not need, and easy ones after it are solved all the same.
static double kept_for(int rows_after, int rows, double work_of_all) {
  constexpr double kHalf = 0.5;
  return rows_after > 0 ? kHalf * work_of_all * rows_after / rows : 0.0;
}

namespace {

/// What the solves of a call share.
struct Course {
  const SolverSettings& settings;
  WorkAccount& account;
  NcpNewtonWork& work;
  ContactSolution& solution;
  const BilateralElimination* elimination = nullptr;  ///< that left the problem
  Residuals certificate{};  ///< of the island that was solved last, if it converged
};

/// Few rows by the course of lanes, others by the stages.
IslandOutcome solve_stages(
    Course& course, const Island& island, const Budget& budget, double* lambda, double* velocity) {
  auto& [settings, account, work, solution, elimination, certificate] = course;
  int sweeps = 0;
  if (solve_few_rows(island, settings, budget, work.dense, lambda, velocity, sweeps, solution)) {
    certificate = solution.residuals;
    return {sweeps, SolveStatus::kConverged};
  }
  NcpNewton solver(island, settings, budget, work, work.given, lambda, velocity, elimination);
  solver.count_sweeps(sweeps);
  const SolveStatus status = solver.solve(solution.record_stages ? &solution.stages : nullptr);
  certificate = solver.certificate();
  return {solver.sweeps(), status};
}

/// lambda <- the start, if that is better than the answer that `reached` certifies.
void keep_better(const Island& island,
                 BilateralWork& work,
                 Residuals& reached,
                 double* lambda,
                 double* velocity) {
  const auto exchange = [&](const double* from) {
    std::copy_n(from, island.rows(), lambda + island.begin);
    return residuals(island.problem, lambda, velocity, island.first, island.last);
  };
  std::copy_n(lambda + island.begin, island.rows(), work.answer.data());
  const Residuals before = exchange(work.start);
  if (before.relative < reached.relative)
    reached = before;
  else
    exchange(work.answer);
}

/// Solves what the bilateral rows leave; they follow. Both problems have scales of their own: what
/// is left is solved further where the whole island asks for it. Where the stages of several trees
/// follow, they have half of the budget.
IslandOutcome solve_eliminated(
    Course& course, const Island& island, const Budget& budget, double* lambda, double* velocity) {
  constexpr int kRounds = 3;
  constexpr double kFurther = 0.1;
  BilateralWork& work = course.work.bilateral;
  if (!course.account.factor(BilateralElimination::multiplications(island)))
    return solve_stages(course, island, budget, lambda, velocity);
  const BilateralElimination others(island, work);
  course.work.compliant_of = nullptr;  // the problem that is left has the address of another one
  std::vector<StageRecord>& stages = course.solution.stages;
  const bool alone = others.problem().num_sets() == 0;
  if (course.solution.record_stages)
    stages.push_back({"bilateral rows", island.first, 1, kUnknown, alone});
  SolverSettings& settings = work.settings = course.settings;
  others.restrict_impulse(lambda, work.impulse);
  grow(island.rows(), work.start, work.answer);
  std::copy_n(lambda + island.begin, island.rows(), work.start.data());
  const ContactSpace& space = island.problem.space;
  const bool stages_follow = space.known() && !in_one_tree(space);
  const int share = budget.left() / (stages_follow ? 2 : 1);
  const int before = budget.count();
  IslandOutcome outcome;
  double residual_left = 0.0;  // residual of what is left
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0 && course.solution.record_stages) stages.back().ends = false;
    if (!alone) {
      Course left{settings, course.account, course.work, course.solution, &others};
      const Island rest(others.problem(), 0, others.problem().num_sets());
      const Budget part(budget, std::max(0, share - (budget.count() - before)));
      const int sweeps = outcome.iterations;
      outcome = solve_stages(left, rest, part, work.impulse, work.velocity);
      residual_left = left.certificate.relative;
      outcome.iterations += sweeps;
    }
    const bool to_tolerance = alone || residual_left <= settings.tolerance;
    others.extend_impulse(work.impulse, lambda);
    course.certificate = residuals(island.problem, lambda, velocity, island.first, island.last);
    const double relative = course.certificate.relative;
    const double enough =
        to_tolerance ? course.settings.tolerance : tolerance_of(island, course.settings);
    if (relative <= enough) {
      if (course.solution.record_stages) stages.back().ends = true;
      outcome.status = SolveStatus::kConverged;
      return outcome;
    }
    settings.tolerance *= kFurther * course.settings.tolerance / relative;
    const bool solved = outcome.status == SolveStatus::kConverged;
    if (!solved || !to_tolerance || alone || settings.tolerance < kSumRounding) break;
  }
  // The stages of several trees know more than those of a dense problem.
  if (stages_follow) {
    std::copy_n(work.start.data(), island.rows(), lambda + island.begin);
    return solve_stages(course, island, Budget(budget, Budget::kNoLimit), lambda, velocity);
  }
  if (outcome.status == SolveStatus::kConverged) {
    outcome.status = SolveStatus::kStalled;
    if (course.solution.record_stages) stages.back().ends = false;
  }
  keep_better(island, work, course.certificate, lambda, velocity);
  return outcome;
}

/// The island's answer with a little compliance, if it has none without.
SolveStatus regularise(
    Course& course, const Island& island, const Budget& budget, double* lambda, double* velocity) {
  auto& [settings, account, work, solution, elimination, certificate] = course;
  const Budget again = budget.again(island.rows());
  NcpNewton solver(island, settings, again, work, work.given, lambda, velocity);
  return solver.regularise(solution.regularisation) ? SolveStatus::kRegularised
                                                    : SolveStatus::kInfeasible;
}

}  // namespace

void solve_ncp_newton(const ContactProblem& problem,
                      const SolverSettings& settings,
                      SolverWorkspace& workspace,
                      ContactSolution& solution) {
  NcpNewtonWork& work = workspace.parts().ncp_newton;
  WorkAccount& account = workspace.parts().account;
  const WorkAccount::Scope scope(account, settings);
  if (scope.opened()) allow_for(problem, account);
  const double work_before = account.spent(), work_of_all = account.left();
  const int factorisations = account.factorisations;
  int rows_after = problem.num_rows();
  Course course{settings, account, work, solution};
  work.reserve(problem);
  solution.stages.clear();
  work.compliant_of = nullptr;
  const bool alone = problem.num_islands() == 1;
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    rows_after -= island.rows();
    const WorkAccount::Share share(account, kept_for(rows_after, problem.num_rows(), work_of_all));
    const auto solve = BilateralElimination::applies(island) ? solve_eliminated : solve_stages;
    const Budget budget(settings, island.rows(), pass_work(island), account);
    IslandOutcome outcome = solve(course, island, budget, lambda, velocity);
    if (outcome.status == SolveStatus::kInfeasible && settings.regularise_infeasible)
      outcome.status = regularise(course, island, budget, lambda, velocity);
    // One converged island: velocity and residuals are those of the final impulse already.
    solution.certified = alone && outcome.status == SolveStatus::kConverged;
    if (solution.certified) solution.residuals = course.certificate;
    return outcome;
  });
  solution.factorisations = account.factorisations - factorisations;
  solution.work = account.spent() - work_before;
  if (!solution.regularisation.empty()) solution.regularisation.resize(problem.g.size(), 0.0);
}

}  // namespace stiction
