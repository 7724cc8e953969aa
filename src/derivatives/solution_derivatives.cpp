#include "stiction/derivatives/solution_derivatives.hpp"

#include "contact/active_set.hpp"
#include "contact/reduced_system.hpp"
#include "math/number_text.hpp"
#include "math/row_sums.hpp"

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

void check(const ContactProblem& problem, const ContactSolution& solution, double tolerance) {
  if (static_cast<int>(solution.impulse.size()) != problem.num_rows() ||
      solution.velocity.size() != solution.impulse.size()) {
    throw std::invalid_argument("solution has " + std::to_string(solution.impulse.size()) +
                                " rows: the problem has " + std::to_string(problem.num_rows()));
  }
  if (solution.model != ContactModel::kNcp && solution.model != ContactModel::kCcp)
    throw std::invalid_argument(std::string("solution is of the model ") +
                                to_string(solution.model) +
                                ", which has no derivatives: take a solver of ncp or ccp");
  if (!solution.regularisation.empty())
    throw std::invalid_argument("solution is of a regularised problem: take another solver");
  for (std::size_t i = 0; i < solution.impulse.size(); ++i) {
    if (!std::isfinite(solution.impulse[i]) || !std::isfinite(solution.velocity[i]))
      throw std::invalid_argument("solution.impulse[" + std::to_string(i) +
                                  "] or its velocity is not finite");
  }
  if (!(tolerance > 0.0 && tolerance < 1.0))
    throw std::invalid_argument("tolerance = " + number_text(tolerance) + ": must be in (0, 1)");
}

/// lambda of one island by everything at once: columns are rows of g, then sets.
void solve_island(const ContactProblem& problem,
                  const ContactSolution& solution,
                  const ActiveSet& active,
                  int first,
                  int last,
                  ReducedSystem& reduced,
                  SolutionDerivatives& out) {
  const int begin = problem.sets[first].offset,
            end = problem.sets[last - 1].offset + problem.sets[last - 1].dim;
  const int rows = end - begin, columns = rows + last - first;
  const int width = (columns + kLaneColumns - 1) / kLaneColumns * kLaneColumns;
  reduced.build(problem, active, first, last);
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Rows pushed = Rows::Zero(rows, width), dc = Rows::Zero(rows, width);
  dc.leftCols(rows).setIdentity();
  for (int i = first; i < last; ++i) {
    if (!problem.sets[i].is_cone()) continue;
    const Cone& K = problem.sets[i].friction;
    double dmu[kMaxConeDim] = {};  // the first coefficient's, the others in proportion
    for (int r = 0; r < K.normal(); ++r) dmu[r] = K.velocity_unit(r);
    const FrictionChange change = friction_change(
        problem, solution.impulse, solution.velocity, solution.model, active, i, dmu);
    const int at = problem.sets[i].offset - begin, column = rows + i - first;
    for (int r = 0; r < K.dim; ++r) {
      pushed(at + r, column) = change.impulse[r];
      dc(at + r, column) = change.velocity[r];
    }
  }
  for (int i = first; i < last; ++i) {
    const int dim = problem.sets[i].dim, at = problem.sets[i].offset - begin;
    problem.each_column(i, [&](int j, const double* column) {
      for (int r = 0; r < dim; ++r) dc.row(at + r) += column[r] * pushed.row(j - begin);
    });
  }
  Rows b = Rows::Zero(reduced.size(), width), y = Rows::Zero(reduced.size(), width);
  for (int a = 0; a < reduced.size(); ++a) {
    const ActiveUnknown& u = active.unknowns[reduced.first() + a];
    for (int r = 0; r < u.dim; ++r) b.row(a) += u.w[r] * dc.row(u.row - begin + r);
  }
  if (reduced.size() > 0) reduced.solve(b.data(), width, width, y.data());
  for (int a = 0; a < reduced.size(); ++a) {
    const ActiveUnknown& u = active.unknowns[reduced.first() + a];
    for (int r = 0; r < u.dim; ++r) pushed.row(u.row - begin + r) += u.t[r] * y.row(a);
  }
  out.by_g.block(begin, begin, rows, rows) = pushed.leftCols(rows);
  out.by_friction.block(begin, first, rows, last - first) = pushed.middleCols(rows, last - first);
  out.unknowns += reduced.size();
  out.rank += reduced.rank();
}

}  // namespace

SolutionDerivatives solution_derivatives(const ContactProblem& problem,
                                         const ContactSolution& solution,
                                         double tolerance) {
  check(problem, solution, tolerance);
  ActiveSet active;
  find_active_set(problem,
                  solution.impulse,
                  solution.velocity,
                  solution.model,
                  {tolerance, solution.model_residuals.relative},
                  active,
                  {solution.path_energy, solution.path_velocity.data()});
  SolutionDerivatives out;
  out.by_g.setZero(problem.num_rows(), problem.num_rows());
  out.by_friction.setZero(problem.num_rows(), problem.num_sets());
  ReducedSystem reduced;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const int first = problem.island_start[k], last = problem.island_start[k + 1];
    if (first < last) solve_island(problem, solution, active, first, last, reduced, out);
  }
  out.modes = active.modes;
  out.margin = active.margin;
  out.num_at_switch = active.num_at_switch;
  out.num_undecided = active.num_undecided;
  return out;
}

}  // namespace stiction
