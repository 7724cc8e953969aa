#include "solver/ncp_newton/bilateral_elimination.hpp"

#include "contact/contact_space.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include "support/random.hpp"
#include <Eigen/LU>
#include <boost/test/unit_test.hpp>

#include <array>

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Rows of random chains of one tree with nv coordinates of unit inertia, some of the bilateral
/// ones being sums of others, with the space that fill_space_by_dof() makes.
ContactProblem problem_of_one_tree(Rng& rng, int nv, const std::vector<ConstraintSet>& sets) {
  int rows = 0;
  for (const ConstraintSet& set : sets) rows += set.dim;
  MatrixXd Y = MatrixXd::Zero(nv, rows);
  ContactSpace space;
  space.side_start = {0};
  space.tree_start = {0, nv};
  space.inertia.assign(nv, 1.0);
  int offset = 0, last_free = -1;
  for (const ConstraintSet& set : sets) {
    const int first = rng.below(nv), length = nv - first;
    const bool repeats = set.kind == SetKind::kFree && last_free >= 0 && rng.below(3) == 0;
    for (int r = 0; r < set.dim; ++r) {
      if (repeats)
        Y.col(offset + r) = Y.col(last_free) * rng.uniform(0.5, 2.0);
      else
        Y.block(first, offset + r, length, 1) = random_vector(rng, length);
    }
    if (set.kind == SetKind::kFree) last_free = offset;
    space.sides.push_back(
        {0, nv, static_cast<int>(space.dofs.size()), static_cast<int>(space.z.size())});
    for (int m = 0; m < nv; ++m) space.dofs.push_back(m);
    const int dim = ContactProblem::tree_block(set);
    for (int begin = 0; begin < set.dim; begin += dim) {
      for (int m = 0; m < nv; ++m) {
        for (int r = 0; r < dim; ++r) space.z.push_back(Y(m, offset + begin + r));
      }
    }
    space.side_start.push_back(static_cast<int>(space.sides.size()));
    offset += set.dim;
  }
  ContactProblem p = ContactProblem::from_dense(Y.transpose() * Y, random_vector(rng, rows), sets);
  p.space = std::move(space);
  return p;
}

/// Z of a space whose sides have all coordinates of one tree.
MatrixXd factor(const ContactProblem& p, const ContactSpace& space) {
  const int nv = space.tree_start[1];
  MatrixXd Z = MatrixXd::Zero(nv, p.num_rows());
  for (int i = 0; i < p.num_sets(); ++i) {
    const ContactSpace::Side& side = space.sides[space.side_start[i]];
    const int dim = p.sets[i].dim;
    for (int m = 0; m < side.length; ++m) {
      for (int r = 0; r < dim; ++r)
        Z(space.dofs[side.dof + m], p.sets[i].offset + r) = space.z[side.z + dim * m + r];
    }
  }
  return Z;
}

std::vector<ConstraintSet> mixed_sets(Rng& rng, int bilateral) {
  std::vector<ConstraintSet> sets;
  for (int k = 0; k < bilateral; ++k)
    sets.push_back(ConstraintSet::free(std::array{1, 3, 6}[rng.below(3)]));
  for (int k = 0; k < 12; ++k) sets.push_back(ConstraintSet::cone(rng.uniform(0.1, 1.0)));
  for (int k = 0; k < 3; ++k) sets.push_back(ConstraintSet::box(-1.0, 1.0));
  sets.push_back(ConstraintSet::non_negative());
  return sets;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bilateral_elimination_test)

// What is left has the coordinates of the tree: their factor gives its matrix, and what the
// bilateral rows stop is not in it. Redundant bilateral rows are visited.
BOOST_AUTO_TEST_CASE(rows_that_are_left_keep_the_coordinates_of_their_tree) {
  Rng rng(71);
  int redundant = 0;
  BilateralWork work;
  for (int trial = 0; trial < 60; ++trial) {
    const int nv = 8 + rng.below(12);
    const ContactProblem p = problem_of_one_tree(rng, nv, mixed_sets(rng, 1 + rng.below(3)));
    const Island island(p, 0, p.num_sets());
    BOOST_REQUIRE(BilateralElimination::applies(island));
    const BilateralElimination others(island, work);
    const ContactProblem& left = others.problem();
    BOOST_REQUIRE(in_one_tree(others.space()));
    const MatrixXd Z = factor(left, others.space()), G = left.dense();
    BOOST_TEST((Z.transpose() * Z - G).cwiseAbs().maxCoeff() <=
               1e-10 * p.dense().cwiseAbs().maxCoeff());
    const MatrixXd Y = factor(p, p.space);
    int bilateral = 0;
    for (const ConstraintSet& set : p.sets) {
      if (set.kind != SetKind::kFree) continue;
      bilateral += set.dim;
      if (set.dim == 6) continue;  // blocks of three: factor() reads one
      const MatrixXd stopped = Y.middleCols(set.offset, set.dim);
      BOOST_TEST((stopped.transpose() * Z).cwiseAbs().maxCoeff() <=
                 1e-10 * stopped.cwiseAbs().maxCoeff() * Z.cwiseAbs().maxCoeff() * nv);
    }
    const int rank = nv - static_cast<int>(Eigen::FullPivLU<MatrixXd>(Z).setThreshold(1e-9).rank());
    redundant += rank < bilateral;
  }
  BOOST_TEST(redundant > 10);
}

// A bilateral row with compliance gives way: then there is no such factor, and none is said.
BOOST_AUTO_TEST_CASE(compliant_bilateral_rows_leave_no_space) {
  Rng rng(72);
  BilateralWork work;
  ContactProblem p = problem_of_one_tree(rng, 10, mixed_sets(rng, 2));
  const Island island(p, 0, p.num_sets());
  BOOST_TEST(BilateralElimination(island, work).space().known());
  p.compliance[0] = 1e-3;
  p.set_diagonal_entry(0, 0, p.diagonal_entry(0, 0) + 1e-3);
  BOOST_TEST(!BilateralElimination(island, work).space().known());
}

BOOST_AUTO_TEST_SUITE_END()
