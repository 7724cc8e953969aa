#include "contact/reduced_system.hpp"

#include "stiction/contact/cone.hpp"

#include "math/row_sums.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/SVD>
#include <boost/test/unit_test.hpp>

// The reduced system of random active sets against dense algebra: K from the whole of G, solutions
// from the singular values.

namespace stiction::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Options {
  bool redundant, slides;
  ContactModel model;
};

/// A problem with modes as they come, whatever g would make of them: K depends on G + R, on the
/// impulses and on the directions of slip alone.
struct Sample {
  Data data;
  ContactProblem problem;
  std::vector<double> l, c;
  ActiveSet active;
  MatrixXd K, T, W;
  VectorXd inverse_scale;  ///< [rows] 1 / S of Newton's method on the modes

  Sample(Rng& rng, const Options& options) {
    const int sets = 1 + rng.below(5);
    for (int i = 0; i < sets; ++i) {
      const double mu = rng.uniform(0.1, 1.0);
      data.sets.push_back(rng.below(4)
                              ? random_set(rng, 1.0)
                              : ConstraintSet::cone(Cone::rolling(mu, 0.3 * mu, 0.6 * mu)));
    }
    const int rows = count_rows(data.sets);
    const int dofs = options.redundant ? std::max(1, rows / 2) : rows + 2;
    data.G = gram(random_matrix(rng, rows, dofs));
    data.g.setZero(rows);
    data.R = options.redundant ? VectorXd::Zero(rows)
                               : VectorXd(0.2 * random_vector(rng, rows).cwiseAbs());
    problem = data.problem();
    l.assign(rows, 0.0);
    c.assign(rows, 0.0);
    for (const ConstraintSet& set : problem.sets) place(rng, set, options);
    find_active_set(problem, l, c, options.model, 1e-9, active);
    fill_dense();
  }

  /// Loaded, and sliding or not; one in five is open.
  void place(Rng& rng, const ConstraintSet& set, const Options& options) {
    const int last = set.offset + set.dim - 1;
    const bool open = rng.below(5) == 0;
    if (set.kind == SetKind::kBox) {
      l[last] = open ? set.lower : 0.5 * (set.lower + set.upper);
      c[last] = open ? 1.0 : 0.0;
    } else if (set.kind != SetKind::kFree) {
      l[last] = open ? 0.0 : rng.uniform(0.5, 2.0);
      c[last] = open ? 1.0 : 0.0;
    }
    if (!set.is_cone() || !options.slides || open || rng.below(2)) return;
    const Cone& cone = set.friction;
    for (int r = set.offset; r < last; ++r) c[r] = rng.uniform(-1.0, 1.0);
    const double fast = slip(cone, c.data() + set.offset), mu = cone.friction();
    for (int r = 0; r < cone.normal(); ++r) {
      const double unit = cone.velocity_unit(r);
      l[set.offset + r] = -mu * l[last] * unit * unit * c[set.offset + r] / fast;
    }
    if (options.model == ContactModel::kCcp) c[last] = mu * fast;
  }

  void fill_dense() {
    const int n = static_cast<int>(active.unknowns.size()), rows = problem.num_rows();
    W.setZero(n, rows);
    MatrixXd D = MatrixXd::Zero(n, n);
    T.setZero(rows, n);
    for (int a = 0; a < n; ++a) {
      const ActiveUnknown& u = active.unknowns[a];
      for (int r = 0; r < u.dim; ++r) {
        T(u.row + r, a) = u.t[r];
        W(a, u.row + r) = u.w[r];
      }
      D(a, a) = u.d;
    }
    const MatrixXd G = data.G + MatrixXd(data.R.asDiagonal());
    K = multiply(multiply(W, G), T) + D;
    inverse_scale.resize(rows);
    for (const ConstraintSet& set : problem.sets) {
      const double mu = set.is_cone() ? set.friction.friction() : 0.0;
      const int o = set.offset, normal = set.dim - 1;
      for (int r = 0; r < set.dim; ++r) inverse_scale[o + r] = std::sqrt(G(o + r, o + r));
      if (mu == 0.0) continue;
      double trace = G(o + normal, o + normal) / (mu * mu);
      for (int r = 0; r < normal; ++r)
        trace += G(o + r, o + r) * std::pow(set.friction.velocity_unit(r), 2);
      const double d = std::sqrt(set.dim / trace);
      for (int r = 0; r < normal; ++r)
        inverse_scale[o + r] = 1.0 / (d * set.friction.velocity_unit(r));
      inverse_scale[o + normal] = mu / d;
    }
  }
  bool slides() const {
    bool any = false;
    for (const ActiveUnknown& u : active.unknowns) any = any || !std::equal(u.t, u.t + u.dim, u.w);
    return any;
  }
  int size() const { return static_cast<int>(active.unknowns.size()); }
  ReducedSystem built() const {
    ReducedSystem reduced;
    reduced.build(problem, active, 0, problem.num_sets());
    return reduced;
  }
};

/// y of right-hand sides b.
MatrixXd solved(ReducedSystem& reduced, const MatrixXd& b) {
  const Eigen::Index n = b.rows(),
                     width = (b.cols() + kLaneColumns - 1) / kLaneColumns * kLaneColumns;
  Rows padded = Rows::Zero(n, width), y = Rows::Zero(n, width);
  padded.leftCols(b.cols()) = b;
  reduced.solve(padded.data(), static_cast<int>(width), static_cast<int>(width), y.data());
  return y.leftCols(b.cols());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reduced_system_test)

BOOST_AUTO_TEST_CASE(agrees_with_dense_algebra) {
  Rng rng(1);
  int compared = 0, transposed = 0;
  for (int k = 0; k < 300; ++k) {
    const Sample s(rng, {false, k % 3 > 0, k % 2 ? ContactModel::kNcp : ContactModel::kCcp});
    ReducedSystem reduced = s.built();
    const int n = s.size();
    BOOST_REQUIRE(reduced.size() == n);
    if (n == 0 || reduced.smallest_pivot() < 1e-6) continue;
    BOOST_TEST(reduced.rank() == n);
    BOOST_TEST(!reduced.selects());
    const MatrixXd b = random_matrix(rng, n, 3), y = solved(reduced, b);
    BOOST_TEST((y + solve_dense(s.K, b)).cwiseAbs().maxCoeff() <
               1e-9 * (1.0 + y.cwiseAbs().maxCoeff()));
    VectorXd z = random_vector(rng, n);
    const VectorXd x = z;
    reduced.solve_transposed(z.data());
    BOOST_TEST((z - solve_dense(s.K.transpose(), x)).cwiseAbs().maxCoeff() <
               1e-9 * (1.0 + z.cwiseAbs().maxCoeff()));
    ++compared;
    transposed += !s.K.isApprox(s.K.transpose());
  }
  BOOST_TEST(compared > 150);
  BOOST_TEST(transposed > 30);
}

/// Where nothing slides dv = G T y is that of any solution.
BOOST_AUTO_TEST_CASE(redundant_contacts_that_stick_move_as_one) {
  Rng rng(2);
  int redundant = 0;
  for (int k = 0; k < 200; ++k) {
    const Sample s(rng, {true, false, ContactModel::kNcp});
    ReducedSystem reduced = s.built();
    const int n = s.size();
    if (n == 0 || s.slides()) continue;
    BOOST_TEST(!reduced.selects());
    const Eigen::JacobiSVD<MatrixXd> svd(s.K, Eigen::ComputeThinU | Eigen::ComputeThinV);
    BOOST_REQUIRE(reduced.rank() == svd.rank());
    redundant += reduced.rank() < n;
    const MatrixXd b = multiply(s.K, random_matrix(rng, n, 2)), y = solved(reduced, b),
                   least = -svd.solve(b);
    BOOST_TEST(multiply(multiply(s.data.G, s.T), y - least).cwiseAbs().maxCoeff() <
               1e-9 * (1.0 + y.cwiseAbs().maxCoeff()));
  }
  BOOST_TEST(redundant > 50);
}

/// Where something slides: of all solutions the limit of those with K + e W S^-2 T, e -> 0.
BOOST_AUTO_TEST_CASE(redundant_contacts_that_slide_take_a_proximal_step) {
  Rng rng(3);
  int selected = 0;
  for (int k = 0; k < 400; ++k) {
    const Sample s(rng, {true, true, ContactModel::kNcp});
    ReducedSystem reduced = s.built();
    const int n = s.size();
    if (n == 0 || !reduced.selects()) continue;
    const Eigen::JacobiSVD<MatrixXd> svd(s.K, Eigen::ComputeFullU | Eigen::ComputeFullV);
    // The rank must be plain to both.
    const VectorXd values = svd.singularValues();
    if (values[reduced.rank() - 1] < 1e-5 * values[0]) continue;
    BOOST_REQUIRE(values[reduced.rank()] < 1e-10 * values[0]);
    const MatrixXd scaled_W = s.W * s.inverse_scale.asDiagonal(),
                   A = s.inverse_scale.asDiagonal() * s.T, M = multiply(scaled_W, A),
                   U = svd.matrixU().rightCols(n - reduced.rank()), B = multiply(U.transpose(), M),
                   N = svd.matrixV().rightCols(U.cols());
    const VectorXd pairing = multiply(B, N).jacobiSvd().singularValues();
    if (pairing[pairing.size() - 1] < 1e-4 * pairing[0]) continue;
    const MatrixXd b = multiply(s.K, random_matrix(rng, n, 2)), y = solved(reduced, b);
    const double size = 1.0 + y.cwiseAbs().maxCoeff();
    BOOST_TEST((multiply(s.K, y) + b).cwiseAbs().maxCoeff() < 1e-8 * size);
    BOOST_TEST(multiply(B, y).cwiseAbs().maxCoeff() < 1e-7 * size * pairing[0]);
    const double e = 1e-7 * values[0] / pairing[0];
    BOOST_TEST((solve_dense(s.K + e * M, -b) - y).cwiseAbs().maxCoeff() < 1e-2 * size);
    MatrixXd own(n, n - reduced.rank());
    for (int j = 0; j < own.cols(); ++j) reduced.null_vector(j, own.col(j).data());
    BOOST_TEST(multiply(s.K, own).cwiseAbs().maxCoeff() < 1e-8 * (1.0 + own.cwiseAbs().maxCoeff()));
    ++selected;
  }
  BOOST_TEST(selected > 60);
}

/// z . b = -x . y(b) for every b, whatever is selected.
BOOST_AUTO_TEST_CASE(transposed_is_the_adjoint) {
  Rng rng(4);
  int selected = 0;
  for (int k = 0; k < 400; ++k) {
    const Sample s(rng, {k % 4 > 0, true, k % 2 ? ContactModel::kNcp : ContactModel::kCcp});
    ReducedSystem reduced = s.built();
    const int n = s.size();
    if (n == 0) continue;
    selected += reduced.selects();
    const MatrixXd Y = solved(reduced, MatrixXd::Identity(n, n));
    VectorXd z = random_vector(rng, n);
    const VectorXd x = z;
    reduced.solve_transposed(z.data());
    BOOST_TEST((z + Y.transpose() * x).cwiseAbs().maxCoeff() <
               1e-12 * n * (1.0 + Y.cwiseAbs().maxCoeff()));
  }
  BOOST_TEST(selected > 25);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
