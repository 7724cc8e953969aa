#pragma once

#include "stiction/contact/contact_problem.hpp"

#include "support/contact_problems.hpp"

#include <vector>

namespace stiction::test {

/// Z of loose bodies [coordinates x rows].
inline Eigen::MatrixXd dense_factor(const ContactProblem& p) {
  const ContactSpace& space = p.space;
  Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(space.inertia.size(), p.compliance.size());
  for (int i = 0; i < p.num_sets(); ++i) {
    for (int s = space.side_start[i]; s < space.side_start[i + 1]; ++s) {
      const ContactSpace::Side& side = space.sides[s];
      for (int r = 0; r < p.sets[i].dim; ++r) {
        for (int k = 0; k < 6; ++k)
          Z(space.tree_start[side.tree] + k, p.sets[i].offset + r) +=
              space.z[side.z + ContactSpace::Side::kLooseRow * r + k];
      }
    }
  }
  return Z;
}

/// Loose bodies on the ground and on each other as build_problem makes them: their factors, own
/// blocks, and no panels. Some rows are compliant.
inline ContactProblem loose_problem(Rng& rng, int bodies, std::vector<ConstraintSet> sets) {
  constexpr int kRow = ContactSpace::Side::kLooseRow;
  ContactProblem p;
  ContactSpace& space = p.space;
  space.side_start = {0};
  space.inverse.assign(kRow * bodies, 0.0);
  space.motion.resize(space.inverse.size());
  for (int b = 0; b < bodies; ++b) {
    space.tree_start.push_back(6 * b);
    for (int k = 0; k < 6; ++k) {
      space.inertia.push_back(rng.uniform(0.2, 5.0));
      space.inverse[kRow * b + k] = 1.0 / space.inertia.back();
    }
  }
  space.tree_start.push_back(6 * bodies);
  int rows = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    sets[i].offset = rows;
    rows += sets[i].dim;
    const int a = static_cast<int>(i) % bodies,
              b = rng.below(2 * bodies);  // from `bodies` on: ground
    for (const int body : {a, b}) {
      if (body >= bodies) continue;
      space.sides.push_back(
          {body, 6, ContactSpace::Side::kLoose, static_cast<int>(space.z.size())});
      for (int r = 0; r < sets[i].dim; ++r) {
        for (int k = 0; k < kRow; ++k) space.z.push_back(k < 6 ? rng.uniform(-1.0, 1.0) : 0.0);
      }
      if (a == b) break;
    }
    space.side_start.push_back(static_cast<int>(space.sides.size()));
  }
  p.sets = std::move(sets);
  p.island_start = {0, p.num_sets()};
  p.compliance.assign(rows, 0.0);
  const Eigen::VectorXd motion = random_vector(rng, 6 * bodies);
  p.stored.clear(p.num_sets());
  p.copy_diagonal();
  const Eigen::MatrixXd Z = dense_factor(p);
  const Eigen::VectorXd m =
      Eigen::Map<const Eigen::VectorXd>(space.inertia.data(), space.inertia.size());
  const Eigen::VectorXd g = Z.transpose() * motion;
  p.g.assign(g.data(), g.data() + rows);
  for (int i = 0; i < p.num_sets(); ++i) {
    const ConstraintSet& set = p.sets[i];
    const Eigen::MatrixXd own = Z.middleCols(set.offset, set.dim).transpose() *
                                m.cwiseInverse().asDiagonal() * Z.middleCols(set.offset, set.dim);
    const bool soft = rng.below(4) == 0;
    double* block = p.diagonal.data() + p.diagonal_start[i];
    for (int c = 0; c < set.dim; ++c) {
      for (int r = 0; r < set.dim; ++r) block[ContactProblem::stride(set.dim) * c + r] = own(r, c);
      if (!soft) continue;
      p.compliance[set.offset + c] = 0.1 * own.diagonal().mean();
      p.set_diagonal_entry(i, c, own(c, c) + p.compliance[set.offset + c]);
    }
  }
  return p;
}

}  // namespace stiction::test
