#include "integrator/opposed_rows.hpp"

#include "support/random.hpp"
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

// The bound of the energy that corrections need, against the dual problem solved by many sweeps:
// max over z, z_k >= 0 unless free, of c . z - 1/2 z^T G z.

namespace stiction {
namespace {

using test::Rng;

struct Corrections {
  Eigen::MatrixXd G;
  Eigen::VectorXd c;
  std::vector<std::uint8_t> free;
  int n() const { return static_cast<int>(c.size()); }
};

/// Of a body of m coordinates with a random mass matrix.
Corrections random_corrections(Rng& rng, int n, int m) {
  const auto matrix = [&](int rows, int columns) {
    Eigen::MatrixXd x(rows, columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) x(i, j) = rng.uniform(-1.0, 1.0);
    return x;
  };
  const Eigen::MatrixXd root = matrix(m, m), J = matrix(n, m);
  const Eigen::MatrixXd M = root * root.transpose() + Eigen::MatrixXd::Identity(m, m);
  Corrections out{J * M.llt().solve(J.transpose()), Eigen::VectorXd(n), {}};
  for (int k = 0; k < n; ++k) {
    out.c[k] = rng.below(3) == 0 ? rng.uniform(-1.0, 0.0) : rng.uniform(0.0, 0.5);
    out.free.push_back(rng.below(6) == 0);
  }
  return out;
}

OpposedRows rows_of(const Corrections& x) {
  OpposedRows w;
  for (int k = 0; k < x.n(); ++k) {
    w.row.push_back(k);
    w.set.push_back(k);
    w.unit.push_back(std::sqrt(x.G(k, k)));
    w.asked.push_back(x.c[k] / w.unit[k]);
  }
  w.free = x.free;
  w.G.resize(x.n() * x.n());
  for (int k = 0; k < x.n(); ++k)
    for (int l = 0; l < x.n(); ++l) w.G[k * x.n() + l] = x.G(k, l) / (w.unit[k] * w.unit[l]);
  return w;
}

/// The least energy, by projected Gauss-Seidel.
double reference(const Corrections& x, int sweeps = 20000) {
  Eigen::VectorXd z = Eigen::VectorXd::Zero(x.n());
  for (int s = 0; s < sweeps; ++s) {
    for (int k = 0; k < x.n(); ++k) {
      z[k] += (x.c[k] - x.G.row(k).dot(z)) / x.G(k, k);
      if (!x.free[k]) z[k] = std::max(0.0, z[k]);
    }
  }
  return x.c.dot(z) - 0.5 * z.dot(x.G * z);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(opposed_rows_test)

BOOST_AUTO_TEST_CASE(bounds_the_energy_from_below) {
  Rng rng(1);
  int sharp = 0, asked = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int m = 6 + rng.below(6), n = 2 + rng.below(m - 2);
    const Corrections x = random_corrections(rng, n, m);
    OpposedRows w = rows_of(x);
    const double found = least_energy(w), least = reference(x);
    BOOST_TEST(found <= least * (1.0 + 1e-6) + 1e-12, "trial " << trial);
    if (least < 1e-6) continue;
    ++asked;
    sharp += found >= 0.99 * least;
  }
  BOOST_TEST(asked > 200);
  BOOST_TEST(sharp >= 0.95 * asked);
}

// One row against the mean of some others: nothing obeys all of them.
BOOST_AUTO_TEST_CASE(opposed_rows_need_any_energy) {
  Rng rng(2);
  for (int trial = 0; trial < 100; ++trial) {
    const int m = 6, others = 1 + rng.below(4);
    Corrections x = random_corrections(rng, others + 1, m);
    Eigen::MatrixXd mix = Eigen::MatrixXd::Identity(others + 1, others + 1);
    mix.row(others).setZero();
    for (int k = 0; k < others; ++k) mix(others, k) = -1.0 / others;
    x.G = mix * x.G * mix.transpose();
    std::fill(x.free.begin(), x.free.end(), std::uint8_t{0});
    for (int k = 0; k <= others; ++k) x.c[k] = rng.uniform(0.01, 0.5);
    OpposedRows w = rows_of(x);
    BOOST_TEST(least_energy(w) > 1e6, "trial " << trial);
    std::vector<double> impulse(others + 1, 0.0);
    press(w, impulse.data());
    const Eigen::Map<Eigen::VectorXd> z(impulse.data(), others + 1);
    BOOST_TEST(z.minCoeff() > 0.0);
    BOOST_TEST((x.G * z).cwiseAbs().maxCoeff() <=
               1e-4 * (x.G.diagonal().cwiseProduct(z)).maxCoeff());
    const double alone = x.c.cwiseQuotient(x.G.diagonal()).minCoeff();
    BOOST_TEST(z.maxCoeff() <= alone * (1.0 + 1e-12));
  }
}

BOOST_AUTO_TEST_CASE(what_asks_for_nothing_needs_nothing) {
  Rng rng(3);
  Corrections x = random_corrections(rng, 5, 8);
  std::fill(x.free.begin(), x.free.end(), std::uint8_t{0});
  x.c.setConstant(-0.1);
  OpposedRows w = rows_of(x);
  BOOST_TEST(least_energy(w) == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction
