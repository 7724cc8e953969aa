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
void scale_space(const std::vector<double>& unit, ContactProblem& p) {
  ContactSpace& space = p.space;
  if (!space.known()) return;
  for (int i = 0; i < p.num_sets(); ++i) {
    if (!p.sets[i].is_cone()) continue;
    const int dim = p.sets[i].dim;
    for (int s = space.side_start[i]; s < space.side_start[i + 1]; ++s) {
      const ContactSpace::Side& side = space.sides[s];
      double* z = space.z.data() + side.z;
      for (int k = 0; k < side.entries(dim); ++k) {
        const int r = side.loose() ? k / ContactSpace::Side::kLooseRow : k % dim;
        z[k] *= unit[p.sets[i].offset + r];
      }
    }
  }
}

/// Panels that are there, and own blocks.
void scale_blocks(const std::vector<double>& unit, ContactProblem& p) {
  ContactProblem::Panels& G = p.stored;
  for (int i = 0; i < p.num_sets(); ++i) {
    const ConstraintSet& set = p.sets[i];
    const int stride = ContactProblem::stride(set.dim);
    double* block = p.diagonal.data() + p.diagonal_start[i];
    for (int c = 0; c < set.dim; ++c) {
      for (int r = 0; r < set.dim; ++r)
        block[stride * c + r] *= unit[set.offset + r] * unit[set.offset + c];
    }
    if (!G.has(i)) continue;
    double* column = G.values.data() + G.start[i];
    for (int k = G.run_begin[i]; k < G.run_end[i]; ++k) {
      for (int c = 0; c < G.runs[k].count; ++c, column += stride) {
        for (int r = 0; r < set.dim; ++r)
          column[r] *= unit[set.offset + r] * unit[G.runs[k].column + c];
      }
    }
  }
}

}  // namespace

const ContactProblem& CircularForm::take(const ContactProblem& problem) {
  unit_.clear();
  const auto& sets = problem.sets;
  const auto plain = [](const ConstraintSet& set) { return !set.is_cone() || set.in_one_unit(); };
  if (std::all_of(sets.begin(), sets.end(), plain)) return problem;
  circular_ = problem;
  unit_.resize(problem.g.size());
  for (const ConstraintSet& set : sets) {
    for (int r = 0; r < set.dim; ++r)
      unit_[set.offset + r] = set.is_cone() ? set.velocity_unit(r) : 1.0;
  }
  for (ConstraintSet& set : circular_.sets) {
    if (set.is_cone()) set.friction = circular_cone(set.friction);
  }
  scale_blocks(unit_, circular_);
  for (std::size_t r = 0; r < unit_.size(); ++r) circular_.g[r] *= unit_[r];
  compliance_to_circular(circular_.compliance.data());
  scale_space(unit_, circular_);
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
