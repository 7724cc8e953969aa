#include "stiction/contact/residuals.hpp"

#include "solver/dense/dense_island.hpp"
#include "solver/dense/dense_lu.hpp"
#include "solver/dense/dense_sweep.hpp"
#include "support/contact_problems.hpp"
#include <Eigen/LU>
#include <boost/test/unit_test.hpp>

#include <limits>
#include <vector>

// Dense problems of one world, whose rows are the lanes: products, elimination and solves against
// Eigen, against a pack and against the other stages of ncp-newton.

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// [n x stride] by rows; what lies behind a row must not matter.
std::vector<double> padded(const MatrixXd& A, int stride) {
  const int n = static_cast<int>(A.rows());
  std::vector<double> out(n * stride, std::numeric_limits<double>::quiet_NaN());
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) out[r * stride + c] = A(r, c);
  }
  return out;
}

VectorXd eliminated(const MatrixXd& A, const VectorXd& b, bool symmetric) {
  const int n = static_cast<int>(A.rows()), stride = dense_stride<double>(n);
  std::vector<double> matrix = padded(A, stride);
  VectorXd x = b;
  symmetric ? eliminate_symmetric(n, stride, matrix.data(), x.data())
            : eliminate<0>(n, stride, matrix.data(), x.data());
  return x;
}

MatrixXd well_conditioned(Rng& rng, int n) {
  return random_matrix(rng, n, n) + MatrixXd::Identity(n, n) * (1.0 + n);
}

bool close(const VectorXd& a, const VectorXd& b, double tolerance) {
  return (a - b).cwiseAbs().maxCoeff() <= tolerance * (1.0 + b.cwiseAbs().maxCoeff());
}

/// Contacts that a robot may have, limits and dry frictions, of so many rows in all.
Data robot_like(Rng& rng, int rows) {
  Data data;
  for (int left = rows; left > 0; left -= data.sets.back().dim) {
    const int kind = rng.below(3);
    if (kind == 0 && left >= 3)
      data.sets.push_back(ConstraintSet::cone(rng.uniform(0.1, 1.0)));
    else if (kind == 1)
      data.sets.push_back(ConstraintSet::non_negative());
    else
      data.sets.push_back(ConstraintSet::box(-0.1, 0.1));
  }
  const MatrixXd A = random_matrix(rng, rows, rows);
  data.G = A * A.transpose() / rows + 0.3 * MatrixXd::Identity(rows, rows);
  data.g = random_vector(rng, rows);
  data.R = VectorXd::Zero(rows);
  return data;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dense_rows_test)

BOOST_AUTO_TEST_CASE(products_have_the_bits_of_sums_in_order) {
  Rng rng(1);
  for (int n = 1; n <= kMaxDenseRows; ++n) {
    const int stride = dense_stride<double>(n);
    const MatrixXd G = random_matrix(rng, n, n);
    const VectorXd x = random_vector(rng, n), g = random_vector(rng, n);
    const std::vector<double> columns = padded(G.transpose(), stride);
    std::vector<double> base(stride, 1.0), out(stride);
    std::copy(g.begin(), g.end(), base.begin());
    add_wide_columns(n, stride, columns.data(), x.data(), base.data(), out.data());
    for (int r = 0; r < n; ++r) {
      double sum = g[r];
      for (int k = 0; k < n; ++k) sum += G(r, k) * x[k];
      BOOST_TEST(out[r] == sum);
    }
  }
}

BOOST_AUTO_TEST_CASE(elimination_against_eigen) {
  Rng rng(2);
  for (int n = 1; n <= kMaxDenseRows; ++n) {
    const MatrixXd A = well_conditioned(rng, n);
    const VectorXd b = random_vector(rng, n);
    BOOST_TEST(close(eliminated(A, b, false), A.partialPivLu().solve(b), 1e-12), "n = " << n);
    MatrixXd S = 0.5 * (A + A.transpose());
    const VectorXd expected = S.partialPivLu().solve(b);
    S.triangularView<Eigen::StrictlyLower>().setConstant(1e3);  // not read
    BOOST_TEST(close(eliminated(S, b, true), expected, 1e-12), "n = " << n);
  }
}

// A world of a pack and one alone.
BOOST_AUTO_TEST_CASE(elimination_has_the_bits_of_a_pack) {
  Rng rng(3);
  for (int n = 1; n <= kMaxPackRows + kScalarClass - 1; ++n) {
    const MatrixXd A = well_conditioned(rng, n), B = well_conditioned(rng, n);
    const VectorXd a = random_vector(rng, n), b = random_vector(rng, n);
    std::vector<Pack<2>> matrix(n * n), x(n);
    using Vector = Pack<2>::Vector;
    for (int k = 0; k < n * n; ++k) matrix[k].v = Vector{A(k / n, k % n), B(k / n, k % n)};
    for (int k = 0; k < n; ++k) x[k].v = Vector{a[k], b[k]};
    eliminate<0>(n, n, matrix.data(), x.data());
    const VectorXd alone_a = eliminated(A, a, false), alone_b = eliminated(B, b, false);
    for (int k = 0; k < n; ++k) {
      BOOST_TEST(x[k].v[0] == alone_a[k]);
      BOOST_TEST(x[k].v[1] == alone_b[k]);
    }
  }
}

// Sweeps keep the velocity of their impulses, of one world and of a pack.
template <class Real>
static void check_sweeps(Rng& rng, int cones, int scalars) {
  constexpr int W = lane_width<Real>;
  const auto numbers = [](Real* x) { return reinterpret_cast<double*>(x); };
  std::vector<Real> memory(
      dense_problem_size<Real>(cones, scalars) + dense_work_size<Real>(cones, scalars), Real(0.0));
  Arena<Real> arena{memory.data()};
  const DenseProblem<Real> p = take_dense_problem(cones, scalars, arena);
  DenseWork<Real> work = take_dense_work(cones, scalars, arena);
  const int rows = p.rows(), stride = p.stride();
  for (int lane = 0; lane < W; ++lane) {
    const MatrixXd A = random_matrix(rng, rows, rows), G = A * A.transpose();
    const VectorXd g = random_vector(rng, rows);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < rows; ++c) numbers(p.G)[(r * stride + c) * W + lane] = G(r, c);
      numbers(p.g)[r * W + lane] = g[r];
    }
    for (int i = 0; i < cones; ++i) {
      numbers(p.g)[3 * i * W + lane] = -1.0;  // every contact closes
      numbers(p.mu)[i * W + lane] = rng.uniform(0.0, 1.0);
    }
    for (int j = 0; j < scalars; ++j) {
      numbers(p.lower)[j * W + lane] = -0.1;
      numbers(p.upper)[j * W + lane] = 0.1;
    }
  }
  const DenseShape<Real, -1> shape{p};
  const Mask<Real> all = Real(0.0) < Real(1.0);
  dense_velocity(shape, p.lambda, work.c);
  prepare_sweeps(shape, work);
  for (int k = 0; k < 3; ++k) dense_sweep(shape, work, all, p.lambda, work.c);
  dense_velocity(shape, p.lambda, work.moved);
  double moved = 0.0, size = 0.0;
  for (int k = 0; k < rows * W; ++k) {
    moved = std::max(moved, std::abs(numbers(p.lambda)[k]));
    size = std::max(size, std::abs(numbers(work.moved)[k]));
  }
  BOOST_TEST(moved > 0.01);
  for (int k = 0; k < rows * W; ++k)
    BOOST_TEST(std::abs(numbers(work.c)[k] - numbers(work.moved)[k]) <= 1e-12 * (1.0 + size));
}

BOOST_AUTO_TEST_CASE(sweeps_keep_the_velocity) {
  Rng rng(5);
  for (int cones = 0; cones <= 8; ++cones) {
    for (int scalars = cones == 0 ? 4 : 0; scalars <= 40; scalars += 4) {
      check_sweeps<double>(rng, cones, scalars);
      if (3 * cones + scalars <= kMaxPackRows) check_sweeps<Pack<2>>(rng, cones, scalars);
    }
  }
}

// Impulses that are taken as they are have the residual of residuals(), also where limits open by
// themselves at a speed beyond all others.
BOOST_AUTO_TEST_CASE(the_residual_is_that_of_the_scalar_code) {
  Rng rng(6);
  int compared = 0;
  for (int rows = 1; rows <= kMaxDenseRows; ++rows) {
    Data data = robot_like(rng, rows);
    int row = 0;
    for (const ConstraintSet& set : data.sets) {
      if (set.kind == SetKind::kNonNegative && rng.below(2)) data.g[row] = 1e4;
      row += set.dim;
    }
    data.g[0] = -1.0;  // something to oppose
    const ContactProblem p = data.problem();
    VectorXd l = random_vector(rng, rows), c(rows), velocity(rows);
    const double relative = residuals(p, l.data(), velocity.data()).relative;
    DenseIslandWork work;
    const DenseOutcome x = solve_dense_island({p, 0, p.num_sets()}, 1e10, work, l.data(), c.data());
    BOOST_TEST(x.relative == relative, boost::test_tools::tolerance(1e-9));
    ++compared;
  }
  BOOST_TEST(compared == kMaxDenseRows);
}

// On both sides of every limit of size: the answer is certified by residuals() and is that of the
// stages which do not know dense problems.
BOOST_AUTO_TEST_CASE(problems_of_all_sizes) {
  Rng rng(4);
  int solved = 0, tried = 0;
  for (int rows = 1; rows <= kMaxDenseRows; ++rows) {
    for (int trial = 0; trial < 4; ++trial, ++tried) {
      const ContactProblem p = robot_like(rng, rows).problem();
      const Island island(p, 0, p.num_sets());
      BOOST_TEST_REQUIRE(is_dense_island(island));
      DenseIslandWork work;
      VectorXd l = VectorXd::Zero(rows), c(rows), velocity(rows);
      const DenseOutcome x = solve_dense_island(island, 1e-8, work, l.data(), c.data());
      if (!(x.relative <= 1e-8)) continue;
      ++solved;
      const Residuals r = residuals(p, l.data(), velocity.data());
      BOOST_TEST(r.relative <= 1.001e-8);
      BOOST_TEST(close(c, velocity, 1e-13));
      SolverSettings settings;
      settings.max_factorisations = kMostDenseSteps - 1;  // no room for a dense course
      SolverWorkspace workspace;
      ContactSolution other;
      other.record_stages = true;
      solve(p, settings, workspace, other);
      BOOST_TEST_REQUIRE(!other.stages.empty());
      BOOST_TEST(std::string(other.stages[0].stage) != "few rows");
      if (!other.converged()) continue;
      const Eigen::Map<const VectorXd> impulse(other.impulse.data(), rows);
      BOOST_TEST(close(l, impulse, 1e-5), "rows = " << rows);
    }
  }
  BOOST_TEST(solved >= 0.98 * tried);
  const ContactProblem large = robot_like(rng, kMaxDenseRows + 1).problem();
  BOOST_TEST(!is_dense_island(Island(large, 0, large.num_sets())));
}

// With numbers that are not, padding moves too: no more than there is room for. A start that is not
// finite has no part in the limit, which begins at zero impulse.
BOOST_AUTO_TEST_CASE(a_nan_stays_in_its_problem) {
  Rng rng(6);
  Data data = robot_like(rng, kMaxDenseRows);
  data.sets.clear();
  for (int i = 0; i < 5; ++i) data.sets.push_back(ConstraintSet::cone(0.5));
  for (int j = 0; j < 49; ++j) data.sets.push_back(ConstraintSet::box(-0.1, 0.1));
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  VectorXd l = VectorXd::Constant(kMaxDenseRows, kNaN), c(kMaxDenseRows);
  DenseIslandWork work;
  ContactProblem p = data.problem();
  const auto solve = [&] {
    return solve_dense_island(Island(p, 0, p.num_sets()), 1e-8, work, l.data(), c.data());
  };
  const DenseOutcome x = solve();
  BOOST_TEST(x.relative <= 1e-8);
  BOOST_TEST((l.allFinite() && c.allFinite()));
  std::fill(p.g.begin(), p.g.end(), kNaN);
  BOOST_TEST(!(solve().relative <= 1e-8));
}

BOOST_AUTO_TEST_SUITE_END()
