#include "contact/contact_space.hpp"

#include "stiction/contact/stored_problem.hpp"

#include "contact/circular_form.hpp"
#include "solver/common/island.hpp"
#include "support/dense.hpp"
#include "support/loose_problem.hpp"
#include <boost/test/unit_test.hpp>

#include <array>

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

std::vector<ConstraintSet> random_sets(Rng& rng, int count) {
  std::vector<ConstraintSet> sets;
  for (int i = 0; i < count; ++i) {
    Cone cone =
        Cone::rolling(rng.uniform(0.1, 1.0), rng.uniform(0.01, 0.1), rng.uniform(0.01, 0.1));
    cone.dim = std::array{1, 3, 3, 4, 6}[rng.below(5)];
    sets.push_back(ConstraintSet::cone(cone));
  }
  return sets;
}

MatrixXd expected_matrix(const ContactProblem& p) {
  const MatrixXd Z = dense_factor(p);
  const VectorXd m = Eigen::Map<const VectorXd>(p.space.inertia.data(), p.space.inertia.size());
  MatrixXd G = Z.transpose() * m.cwiseInverse().asDiagonal() * Z;
  for (int r = 0; r < p.num_rows(); ++r) G(r, r) += p.compliance[r];
  return G;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(contact_space_test)

// Velocities, changes, panels and the sizes of sums are those of Z^T m^-1 Z + R.
BOOST_AUTO_TEST_CASE(factors_act_as_the_dense_matrix) {
  Rng rng(11);
  int two_sides = 0, dims[7] = {};
  for (int trial = 0; trial < 60; ++trial) {
    const int contacts = 1 + rng.below(12);
    const ContactProblem p =
        loose_problem(rng, 1 + rng.below(contacts), random_sets(rng, contacts));
    const MatrixXd G = expected_matrix(p);
    const double size = G.cwiseAbs().maxCoeff();
    const VectorXd l = random_vector(rng, p.num_rows()),
                   g = Eigen::Map<const VectorXd>(p.g.data(), p.num_rows());
    VectorXd c(p.num_rows());
    p.velocities(0, p.num_sets(), l.data(), c.data());
    BOOST_TEST((c - G * l - g).cwiseAbs().maxCoeff() <= 1e-13 * size * p.num_rows());
    BOOST_TEST(!p.stored.has(0));  // not by panels

    std::vector<double> u(p.space.inverse.size());
    VectorXd moved = l;
    loose_motion(p, 0, p.num_sets(), l.data(), u.data());
    for (int i = 0; i < p.num_sets(); ++i) {
      const ConstraintSet& set = p.sets[i];
      ++dims[set.dim];
      two_sides += p.space.side_start[i + 1] - p.space.side_start[i] == 2;
      const VectorXd change = random_vector(rng, set.dim);
      moved.segment(set.offset, set.dim) += change;
      add_loose_change(p, i, change.data(), u.data());
      VectorXd one(set.dim);
      loose_velocity(p, i, moved.data(), u.data(), one.data());
      const VectorXd all = G * moved + g;
      BOOST_TEST((one - all.segment(set.offset, set.dim)).cwiseAbs().maxCoeff() <=
                 1e-12 * size * p.num_rows());
    }
    const VectorXd unit = [&] {
      VectorXd x(p.num_rows());
      for (const ConstraintSet& set : p.sets)
        for (int r = 0; r < set.dim; ++r) x[set.offset + r] = set.velocity_unit(r);
      return x;
    }();
    const VectorXd terms = unit.asDiagonal() * (G.cwiseAbs() * l.cwiseAbs());
    const double largest = largest_loose_term(p, 0, p.num_sets(), l.data());
    BOOST_TEST(largest >= terms.maxCoeff() * (1.0 - 1e-12));

    BOOST_TEST((p.dense() - G).cwiseAbs().maxCoeff() <= 1e-14 * size * 10);
    BOOST_TEST((p.dense() - p.dense().transpose()).cwiseAbs().maxCoeff() <= 1e-15 * size * 10);
    for (int i = 0; i < p.num_sets(); ++i) {
      const double* own = p.stored.values.data() + p.stored.diagonal[i];
      BOOST_TEST(std::equal(p.block(i), p.block(i) + p.sets[i].dim, own));
    }
    VectorXd again(p.num_rows());
    p.velocities(0, p.num_sets(), l.data(), again.data());
    BOOST_TEST((again == c));  // the panels that exist now change nothing
  }
  BOOST_TEST(two_sides > 50);
  for (const int d : {1, 3, 4, 6}) BOOST_TEST(dims[d] > 20);
}

// What makes other problems of one keeps its factors: islands, files, circular cones.
BOOST_AUTO_TEST_CASE(copies_keep_the_factors) {
  Rng rng(12);
  int scaled = 0;
  for (int trial = 0; trial < 30; ++trial) {
    const ContactProblem p = loose_problem(rng, 3, random_sets(rng, 8));
    const VectorXd l = random_vector(rng, p.num_rows());
    VectorXd c(p.num_rows()), there(p.num_rows());
    p.velocities(0, p.num_sets(), l.data(), c.data());
    const auto same = [&](const ContactProblem& other) {
      BOOST_TEST(other.space.loose(0));
      other.velocities(0, other.num_sets(), l.data(), there.data());
      BOOST_TEST((there == c));
      BOOST_TEST((other.dense() == p.dense()));
    };
    ContactProblem island;
    copy_island(p, 0, island);
    same(island);
    same(put_together(take_apart(p)));
    CircularForm form;
    const ContactProblem& circular = form.take(p);
    scaled += form.copied();
    VectorXd x = l, expected = c;
    form.to_circular(x.data());
    form.velocity_to_circular(expected.data());
    circular.velocities(0, p.num_sets(), x.data(), there.data());
    BOOST_TEST((there - expected).cwiseAbs().maxCoeff() <=
               1e-12 * p.dense().cwiseAbs().maxCoeff() * p.num_rows());
  }
  BOOST_TEST(scaled > 20);
}

BOOST_AUTO_TEST_SUITE_END()
