#include "simulator/lanes/problem_solver.hpp"

#include "stiction/math/constants.hpp"

#include "contact/one_tree_rows.hpp"

#include <cmath>

namespace stiction {

LaneProblem ProblemSolver::begin(int cones, int scalars) {
  ContactProblem& p = problem_;
  const int rows = 3 * cones + scalars;
  p.sets.clear();
  for (int i = 0; i < cones; ++i) p.sets.push_back(ConstraintSet::cone(1.0));
  for (int j = 0; j < scalars; ++j) p.sets.push_back(ConstraintSet::non_negative());
  int offset = 0;
  for (ConstraintSet& set : p.sets) {
    set.offset = offset;
    offset += set.dim;
  }
  p.g.resize(rows);
  p.compliance.assign(rows, 0.0);
  p.velocity_floor.resize(p.sets.size());
  p.island_start.assign({0, cones + scalars});
  lay_out_panels_of_one_tree(p);
  solution_.impulse.resize(rows);
  mu_.resize(cones);
  lower_.resize(scalars);
  upper_.resize(scalars);
  lanes_ = {cones,
            scalars,
            rows,
            p.stored.values.data(),
            p.g.data(),
            solution_.impulse.data(),
            mu_.data(),
            lower_.data(),
            upper_.data(),
            p.velocity_floor.data()};
  return lanes_;
}

void ProblemSolver::make_sets() {
  std::vector<ConstraintSet>& sets = problem_.sets;
  for (int i = 0; i < lanes_.cones; ++i) sets[i].friction = Cone::coulomb(mu_[i]);
  for (int j = 0; j < lanes_.scalars; ++j) {
    if (std::isinf(upper_[j])) continue;
    ConstraintSet& set = sets[lanes_.cones + j];
    set.kind = SetKind::kBox;
    set.lower = lower_[j];
    set.upper = upper_[j];
  }
}

double ProblemSolver::solve() {
  make_sets();
  problem_.copy_diagonal();
  stiction::solve(problem_, settings_, work_, solution_);
  return solution_.converged() ? solution_.residuals.relative : kInfinity;
}

LaneSolver ProblemSolver::functions() {
  return {this,
          [](void* self, int cones, int scalars) {
            return static_cast<ProblemSolver*>(self)->begin(cones, scalars);
          },
          [](void* self) { return static_cast<ProblemSolver*>(self)->solve(); }};
}

}  // namespace stiction
