#include "stiction/contact/contact_problem.hpp"

#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

using namespace stiction;
using stiction::test::Rng;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Data {
  std::vector<ConstraintSet> sets;
  Eigen::MatrixXd G;
  Eigen::VectorXd g, R;
};

/// 1 to 9 sets of every kind, bilateral ones up to 9 rows; pairs of sets are coupled or not at
/// random.
Data random_sets(Rng& rng) {
  Data d;
  std::vector<int> start{0};
  for (int n = 1 + rng.below(9); n > 0; --n) {
    switch (rng.below(4)) {
      case 0:
        d.sets.push_back(ConstraintSet::cone(rng.uniform(0.0, 1.0)));
        break;
      case 1:
        d.sets.push_back(ConstraintSet::non_negative());
        break;
      case 2:
        d.sets.push_back(ConstraintSet::box(-1.0, 0.5));
        break;
      default:
        d.sets.push_back(ConstraintSet::free(1 + rng.below(9)));
    }
    start.push_back(start.back() + d.sets.back().dim);
  }
  const int rows = start.back();
  d.G = Eigen::MatrixXd::Zero(rows, rows);
  for (std::size_t i = 0; i < d.sets.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      if (i != j && rng.below(2)) continue;
      for (int r = start[i]; r < start[i + 1]; ++r) {
        for (int c = start[j]; c < start[j + 1]; ++c)
          d.G(r, c) = d.G(c, r) = rng.uniform(-1.0, 1.0);
      }
    }
  }
  d.g.resize(rows);
  d.R.resize(rng.below(2) ? rows : 0);
  for (double& x : d.g) x = rng.uniform(-1.0, 1.0);
  for (double& x : d.R) x = rng.uniform(0.0, 1.0);
  return d;
}

void check_throws(const Data& d, const std::vector<std::string>& parts) {
  try {
    ContactProblem::from_dense(d.G, d.g, d.sets, d.R);
    BOOST_ERROR("nothing thrown, expected " << parts[0]);
  } catch (const std::invalid_argument& e) {
    for (const std::string& part : parts) {
      BOOST_TEST_CONTEXT("\"" << e.what() << "\" misses " << part) {
        BOOST_TEST((std::string(e.what()).find(part) != std::string::npos));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(contact_problem_test)

// The panels hold G + diag R exactly, and the velocity of each set is its rows of (G + diag R) l +
// g. Sets of every number of rows are visited, coupled and uncoupled, with and without compliance.
BOOST_AUTO_TEST_CASE(round_trip_and_velocity) {
  Rng rng(1);
  int dims[10] = {}, compliant = 0, dropped = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Data d = random_sets(rng);
    const ContactProblem p = ContactProblem::from_dense(d.G, d.g, d.sets, d.R);
    Eigen::MatrixXd expected = d.G;
    if (d.R.size()) expected += Eigen::MatrixXd(d.R.asDiagonal());
    BOOST_REQUIRE(p.num_rows() == d.g.size());
    BOOST_TEST((p.dense() == expected));
    BOOST_TEST(p.num_islands() == 1);
    Eigen::VectorXd l(p.num_rows());
    for (double& x : l) x = rng.uniform(-1.0, 1.0);
    const Eigen::VectorXd c = expected * l + d.g;
    int row = 0;
    std::size_t stored = 0;
    for (int i = 0; i < p.num_sets(); ++i) {
      BOOST_TEST(p.sets[i].offset == row);
      BOOST_TEST(p.sets[i].dim <= 6);
      double out[6];
      p.velocity(i, l.data(), out);
      for (int r = 0; r < p.sets[i].dim; ++r) BOOST_TEST(std::abs(out[r] - c[row + r]) < 1e-13);
      const double* block = p.block(i);
      BOOST_TEST(block[0] == expected(row, row));
      row += p.sets[i].dim;
      for (int k = p.stored.run_begin[i]; k < p.stored.run_end[i]; ++k) {
        stored += p.stored.runs[k].count * ContactProblem::stride(p.sets[i].dim);
      }
    }
    BOOST_TEST(row == p.num_rows());
    BOOST_TEST(stored == p.stored.values.size());
    for (const ConstraintSet& s : d.sets) ++dims[s.dim];
    compliant += d.R.size() > 0;
    dropped += p.stored.values.size() < std::size_t(p.num_rows()) * p.num_rows();
  }
  for (int n = 1; n <= 9; ++n) BOOST_TEST(dims[n] > 20);
  BOOST_TEST(compliant > 100);
  BOOST_TEST(dropped > 50);
}

// A bilateral set of nine rows is stored as six and three; kind, friction and bounds are kept.
BOOST_AUTO_TEST_CASE(long_sets_are_split) {
  const ContactProblem p = ContactProblem::from_dense(
      Eigen::MatrixXd::Identity(13, 13),
      Eigen::VectorXd::Ones(13),
      {ConstraintSet::cone(0.7), ConstraintSet::free(9), ConstraintSet::box(-0.25, 0.5)});
  BOOST_REQUIRE(p.num_sets() == 4);
  BOOST_TEST(p.sets[0].friction.mu[0] == 0.7);
  BOOST_TEST(p.sets[1].dim == 6);
  BOOST_TEST(p.sets[2].dim == 3);
  BOOST_TEST((p.sets[2].kind == SetKind::kFree));
  BOOST_TEST(p.sets[3].lower == -0.25);
  BOOST_TEST(p.sets[3].upper == 0.5);
  for (const double r : p.compliance) BOOST_TEST(r == 0.0);
}

// Blocks that are exactly zero take no memory, whatever the order of the sets; a diagonal block
// stays.
BOOST_AUTO_TEST_CASE(zero_blocks_are_dropped) {
  Eigen::MatrixXd G = Eigen::MatrixXd::Zero(7, 7);
  G(0, 6) = G(6, 0) = 2.0;  // the first contact and the last row; the contact between is alone
  const ContactProblem p = ContactProblem::from_dense(
      G,
      Eigen::VectorXd::Zero(7),
      {ConstraintSet::cone(0.5), ConstraintSet::cone(0.5), ConstraintSet::non_negative()});
  BOOST_TEST(p.stored.values.size() == 4u * (3 + 1) + 4u * 3 + (3u + 1));
  BOOST_TEST(p.stored.run_end[0] - p.stored.run_begin[0] == 2);
  BOOST_TEST(p.stored.run_end[1] - p.stored.run_begin[1] == 1);
  BOOST_TEST((p.dense() == G));
}

// Every bad argument throws and is named.
BOOST_AUTO_TEST_CASE(bad_arguments_throw) {
  Data good;
  good.sets = {ConstraintSet::cone(0.5), ConstraintSet::box(-1.0, 1.0)};
  good.G = Eigen::MatrixXd::Identity(4, 4);
  good.g = Eigen::VectorXd::Zero(4);
  good.R = Eigen::VectorXd::Zero(4);
  const auto check = [&](auto&& spoil, const std::vector<std::string>& parts) {
    Data d = good;
    spoil(d);
    check_throws(d, parts);
  };
  check([](Data& d) { d.G.setIdentity(4, 3); }, {"G", "4 x 3", "4 rows"});
  check([](Data& d) { d.G.setIdentity(5, 5); }, {"G", "5 x 5", "4 rows"});
  check([](Data& d) { d.g.setZero(3); }, {"g has 3", "4 rows"});
  check([](Data& d) { d.R.setZero(2); }, {"R has 2", "4 rows"});
  check([](Data& d) { d.R[1] = -0.5; }, {"R", "-0.5"});
  check([](Data& d) { d.G(0, 1) = 0.5; }, {"G", "symmetric", "0.5"});
  for (const double bad : {kNaN, kInf, -kInf}) {
    check([&](Data& d) { d.G(2, 2) = bad; }, {"G", "finite"});
    check([&](Data& d) { d.g[3] = bad; }, {"g", "finite"});
    check([&](Data& d) { d.sets[0].friction = Cone::coulomb(bad); }, {"sets[0].mu"});
  }
  check([](Data& d) { d.sets[0].friction = Cone::coulomb(-0.25); }, {"sets[0].mu", "-0.25"});
  check([](Data& d) { d.sets[1].lower = 1.5; }, {"sets[1]", "lower", "1.5"});
  check([](Data& d) { d.sets[1].upper = kNaN; }, {"sets[1]", "upper", "nan"});
  check([](Data& d) { d.sets[1] = ConstraintSet::free(0); }, {"sets[1].dim", "0"});
  check([](Data& d) { d.sets[1] = ConstraintSet::free(-2); }, {"sets[1].dim", "-2"});
}

BOOST_AUTO_TEST_SUITE_END()
