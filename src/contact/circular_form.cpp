#include "contact/circular_form.hpp"

#include <algorithm>

namespace stiction {
namespace {

Cone circular_cone(const Cone& cone) {
  Cone out{cone.dim, {}};
  std::fill(out.mu, out.mu + cone.normal(), cone.friction());
  return out;
}

/// The rows of each set's trees.
void scale_trees(const std::vector<double>& unit, ContactProblem& p) {
  ContactProblem::Trees& trees = p.trees;
  if (!trees.known()) return;
  for (int i = 0; i < p.num_sets(); ++i) {
    if (!p.sets[i].is_cone()) continue;
    const int dim = p.sets[i].dim;
    for (int s = trees.side_start[i]; s < trees.side_start[i + 1]; ++s) {
      double* z = trees.z.data() + trees.sides[s].z;
      for (int m = 0; m < trees.sides[s].length; ++m) {
        for (int r = 0; r < dim; ++r) z[dim * m + r] *= unit[p.sets[i].offset + r];
      }
    }
  }
}

}  // namespace

const ContactProblem& CircularForm::take(const ContactProblem& problem) {
  unit_.clear();
  const auto& sets = problem.sets;
  const auto plain = [](const ConstraintSet& set) { return set.in_one_unit(); };
  if (std::all_of(sets.begin(), sets.end(), plain)) return problem;
  circular_ = problem;
  unit_.resize(problem.g.size());
  for (const ConstraintSet& set : sets) {
    for (int r = 0; r < set.dim; ++r) unit_[set.offset + r] = set.velocity_unit(r);
  }
  for (int i = 0; i < problem.num_sets(); ++i) {
    const ConstraintSet& set = sets[i];
    if (set.is_cone()) circular_.sets[i].friction = circular_cone(set.friction);
    problem.each_column(i, [&](int j, int at) {
      for (int r = 0; r < set.dim; ++r)
        circular_.values[at + r] *= unit_[set.offset + r] * unit_[j];
    });
  }
  for (std::size_t r = 0; r < unit_.size(); ++r) circular_.g[r] *= unit_[r];
  compliance_to_circular(circular_.compliance.data());
  scale_trees(unit_, circular_);
  return circular_;
}

void CircularForm::to_circular(double* impulse) const {
  for (std::size_t r = 0; r < unit_.size(); ++r)
    impulse[r] = unit_[r] > 0.0 ? impulse[r] / unit_[r] : 0.0;
}

void CircularForm::from_circular(double* impulse) const {
  for (std::size_t r = 0; r < unit_.size(); ++r) impulse[r] *= unit_[r];
}

void CircularForm::compliance_to_circular(double* R) const {
  for (std::size_t r = 0; r < unit_.size(); ++r) R[r] *= unit_[r] * unit_[r];
}

void CircularForm::compliance_from_circular(double* R) const {
  for (std::size_t r = 0; r < unit_.size(); ++r)
    R[r] = unit_[r] > 0.0 ? R[r] / (unit_[r] * unit_[r]) : 0.0;
}

void CircularForm::velocity_to_circular(double* c) const { from_circular(c); }

}  // namespace stiction
