#include "math/block_sparse.hpp"

#include "support/allocation_guard.hpp"
#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using stiction::test::Rng;

namespace {

using Pairs = std::set<std::pair<int, int>>;

struct Sample {
  std::vector<int> sizes, start;
  Pairs pairs;  // first < second
  MatrixXd A;
};

// Diagonally dominant, so that elimination needs no exchange between blocks.
Sample sample(Rng& rng, int nodes, double density, bool symmetric, bool sixes = false) {
  Sample s;
  int rows = 0;
  for (int k = 0; k < nodes; ++k) {
    s.sizes.push_back(sixes ? 6 : 1 + static_cast<int>(rng.uniform(0.0, 9.0)));
    s.start.push_back(rows);
    rows += s.sizes.back();
  }
  const auto random = [&] { return rng.uniform(-1.0, 1.0); };
  s.A = MatrixXd::Zero(rows, rows);
  for (int a = 0; a < nodes; ++a) {
    s.A.block(s.start[a], s.start[a], s.sizes[a], s.sizes[a]) =
        MatrixXd::NullaryExpr(s.sizes[a], s.sizes[a], random);
    for (int b = a + 1; b < nodes; ++b) {
      if (rng.uniform(0.0, 1.0) > density) continue;
      s.pairs.insert({a, b});
      s.A.block(s.start[a], s.start[b], s.sizes[a], s.sizes[b]) =
          MatrixXd::NullaryExpr(s.sizes[a], s.sizes[b], random);
      s.A.block(s.start[b], s.start[a], s.sizes[b], s.sizes[a]) =
          MatrixXd::NullaryExpr(s.sizes[b], s.sizes[a], random);
    }
  }
  if (symmetric) s.A = (s.A + s.A.transpose()).eval();
  s.A.diagonal().array() += 1.0 + s.A.cwiseAbs().rowwise().sum().array();
  return s;
}

void fill(const Sample& s, bool symmetric, BlockSparse& matrix) {
  matrix.clear(symmetric);
  const auto add = [](BlockSparse::Block to, const MatrixXd& block) {
    for (int i = 0; i < block.rows(); ++i) {
      for (int j = 0; j < block.cols(); ++j) to.values[i * to.stride + j] += block(i, j);
    }
  };
  const auto block = [&](int a, int b) {
    return s.A.block(s.start[a], s.start[b], s.sizes[a], s.sizes[b]).eval();
  };
  for (int a = 0; a < static_cast<int>(s.sizes.size()); ++a) add(matrix.diagonal(a), block(a, a));
  for (const auto& [a, b] : s.pairs) {
    const BlockSparse::Pair pair = matrix.pair(a, b);
    const int first = pair.swapped ? b : a, second = pair.swapped ? a : b;
    add(pair.upper, block(first, second));
    if (!symmetric) add(pair.lower_transposed, block(second, first).transpose());
  }
}

/// Through a vector with the nodes at their pitch, zero between.
VectorXd solve(BlockSparse& matrix, const Sample& s, const VectorXd& b) {
  std::vector<double> x;
  for (std::size_t a = 0; a < s.sizes.size(); ++a) {
    const std::size_t begin = x.size();
    x.insert(x.end(), b.data() + s.start[a], b.data() + s.start[a] + s.sizes[a]);
    x.resize(begin + BlockSparse::pitch(s.sizes[a]), 0.0);
  }
  matrix.solve(x.data());
  VectorXd out(b.size());
  const double* at = x.data();
  for (std::size_t a = 0; a < s.sizes.size(); ++a, at += BlockSparse::pitch(s.sizes[a - 1])) {
    out.segment(s.start[a], s.sizes[a]) = Eigen::Map<const VectorXd>(at, s.sizes[a]);
    for (int k = s.sizes[a]; k < BlockSparse::pitch(s.sizes[a]); ++k) BOOST_TEST(at[k] == 0.0);
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(block_sparse_test)

BOOST_AUTO_TEST_CASE(solutions_match_a_dense_factorisation) {
  Rng rng(1);
  for (int k = 0; k < 300; ++k) {
    const bool symmetric = k % 2 == 0;
    const bool sixes = k % 3 == 0;
    const Sample s = sample(rng, 1 + k % 80, std::pow(rng.uniform(0.0, 0.7), 2), symmetric, sixes);
    BlockSparse matrix;
    matrix.begin(s.sizes);
    for (const auto& [a, b] : s.pairs) matrix.couple(a, b);
    matrix.analyse();
    for (int again = 0; again < 2; ++again) {
      fill(s, symmetric, matrix);
      BOOST_REQUIRE(matrix.factor());
      const VectorXd b = VectorXd::NullaryExpr(s.A.rows(), [&] { return rng.uniform(-1.0, 1.0); });
      const VectorXd x = solve(matrix, s, b);
      BOOST_TEST((s.A * x - b).norm() <= 1e-13 * s.A.norm() * x.norm());
    }
  }
}

// Large graphs are remembered: the same, one with an edge more, one with another size of a node,
// small ones between.
BOOST_AUTO_TEST_CASE(a_matrix_that_is_used_again_is_a_fresh_one) {
  Rng rng(2);
  BlockSparse used;
  const auto solved = [](BlockSparse& matrix, const Sample& s) {
    matrix.begin(s.sizes);
    for (const auto& [a, b] : s.pairs) matrix.couple(a, b);
    matrix.analyse();
    fill(s, true, matrix);
    BOOST_REQUIRE(matrix.factor());
    return solve(matrix, s, VectorXd::Ones(s.A.rows()));
  };
  const auto same = [&](const Sample& s) {
    BlockSparse fresh;
    BOOST_TEST((solved(used, s) == solved(fresh, s)));
    BOOST_TEST(used.work() == fresh.work());
  };
  const Sample large = sample(rng, 100, 0.05, true, true), small = sample(rng, 20, 0.3, true);
  same(large);
  same(small);
  same(large);
  Sample more = large;
  const std::pair<int, int> pair{0, 99};
  BOOST_REQUIRE(!more.pairs.contains(pair));
  more.pairs.insert(pair);
  same(more);
  same(large);
  const Sample sizes = sample(rng, 100, 0.0, true);
  Sample swapped = sizes;
  std::rotate(swapped.sizes.begin(), swapped.sizes.begin() + 1, swapped.sizes.end());
  swapped.start.assign(1, 0);
  for (int size : swapped.sizes) swapped.start.push_back(swapped.start.back() + size);
  swapped.A = MatrixXd::Identity(sizes.A.rows(), sizes.A.rows());
  same(sizes);
  same(swapped);
}

// A chain has no fill in minimum-degree order, whatever its numbering: work grows with its length.
BOOST_AUTO_TEST_CASE(work_on_a_chain_is_linear) {
  const auto work = [](int n) {
    BlockSparse matrix;
    matrix.begin(std::vector<int>(n, 6));
    const auto place = [n](int k) { return k * 37 % n; };
    for (int k = 0; k + 1 < n; ++k) matrix.couple(place(k), place(k + 1));
    matrix.analyse();
    return matrix.work();
  };
  BOOST_TEST(work(200) <= 2.1 * work(100));
}

BOOST_AUTO_TEST_CASE(singular_and_not_finite_matrices_are_refused) {
  BlockSparse matrix;
  matrix.begin({2, 3});
  matrix.couple(0, 1);
  matrix.analyse();
  for (const bool symmetric : {true, false}) {
    matrix.clear(symmetric);
    BOOST_TEST(!matrix.factor());
    for (int a : {0, 1}) {
      const BlockSparse::Block block = matrix.diagonal(a);
      for (int i = 0; i < 2 + a; ++i) block.values[i * block.stride + i] = 1.0;
    }
    BOOST_TEST(matrix.factor());
    matrix.clear(symmetric);
    matrix.diagonal(0).values[0] = std::nan("");
    BOOST_TEST(!matrix.factor());
  }
  matrix.clear(true);
  for (int a : {0, 1}) {
    const BlockSparse::Block block = matrix.diagonal(a);
    for (int i = 0; i < 2 + a; ++i) block.values[i * block.stride + i] = a == 0 ? 1.0 : -1.0;
  }
  BOOST_TEST(!matrix.factor());  // not positive
}

// A general diagonal block may need exchanges of its rows.
BOOST_AUTO_TEST_CASE(zero_pivots_within_a_block_are_exchanged) {
  BlockSparse matrix;
  matrix.begin({2, 2});
  matrix.couple(0, 1);
  matrix.analyse();
  matrix.clear(false);
  for (int a : {0, 1}) {
    const BlockSparse::Block block = matrix.diagonal(a);
    block.values[1] = 2.0;
    block.values[block.stride] = 4.0;
  }
  BOOST_REQUIRE(matrix.factor());
  constexpr int kSecond = BlockSparse::pitch(2);
  double x[2 * kSecond] = {2.0, 4.0};
  x[kSecond] = 6.0;
  x[kSecond + 1] = 8.0;
  matrix.solve(x);
  const double expected[4] = {1.0, 1.0, 2.0, 3.0};
  for (int k = 0; k < 4; ++k) BOOST_TEST(x[k / 2 * kSecond + k % 2] == expected[k]);
}

// Six rows have kernels of their own: rows of any order, and what must be refused.
BOOST_AUTO_TEST_CASE(nodes_of_six_rows_exchange_and_refuse_as_others_do) {
  Rng rng(5);
  for (int trial = 0; trial < 50; ++trial) {
    Sample s = sample(rng, 1 + trial % 7, 0.5, false, true);
    for (const int start : s.start) {
      const MatrixXd block = s.A.block(start, start, 6, 6);
      const int turn = 1 + static_cast<int>(rng.uniform(0.0, 5.0));
      for (int r = 0; r < 6; ++r) s.A.row(start + r).segment(start, 6) = block.row((r + turn) % 6);
    }
    // Off the diagonal as small as to leave each block its pivots.
    MatrixXd off = s.A;
    for (const int start : s.start) off.block(start, start, 6, 6).setZero();
    s.A -= 0.99 * off;
    BlockSparse matrix;
    matrix.begin(s.sizes);
    for (const auto& [a, b] : s.pairs) matrix.couple(a, b);
    matrix.analyse();
    fill(s, false, matrix);
    BOOST_REQUIRE(matrix.factor());
    const VectorXd b = VectorXd::NullaryExpr(s.A.rows(), [&] { return rng.uniform(-1.0, 1.0); });
    const VectorXd x = solve(matrix, s, b);
    BOOST_TEST((s.A * x - b).norm() <= 1e-13 * s.A.norm() * x.norm());

    fill(s, true, matrix);  // rows are not exchanged where symmetry is claimed
    matrix.diagonal(0).values[matrix.diagonal(0).stride + 1] = -1.0;
    matrix.diagonal(0).values[0] = 0.0;
    BOOST_TEST(!matrix.factor());
    fill(s, false, matrix);
    matrix.diagonal(0).values[3] = std::nan("");
    BOOST_TEST(!matrix.factor());
    fill(s, false, matrix);
    for (int r = 0; r < 6; ++r) matrix.diagonal(0).values[r * matrix.diagonal(0).stride + 2] = 0.0;
    if (s.sizes.size() == 1) BOOST_TEST(!matrix.factor());  // singular
  }
}

BOOST_AUTO_TEST_CASE(a_second_matrix_of_the_same_size_allocates_nothing) {
  Rng rng(3);
  const Sample s = sample(rng, 30, 0.2, false);
  BlockSparse matrix;
  const auto run = [&] {
    matrix.begin(s.sizes);
    for (const auto& [a, b] : s.pairs) matrix.couple(a, b);
    matrix.analyse();
    matrix.clear(false);
    return matrix.factor();
  };
  run();
  const long before = test::allocation_count();
  run();
  BOOST_TEST(test::allocation_count() == before);
}

BOOST_AUTO_TEST_SUITE_END()
