#include "math/spring_damper.hpp"

#include "support/allocation_guard.hpp"
#include "support/dense.hpp"
#include "support/quad_exponential.hpp"
#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <vector>

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using stiction::test::gram;
using stiction::test::quad_exponential;
using stiction::test::Quadruple;
using stiction::test::Rng;
using stiction::test::solve_semidefinite;
using Motion = SpringDamper::Motion;

namespace {

struct Problem {
  MatrixXd W;
  VectorXd K, B, x0, v0, b0, b1;
  std::vector<SpringDamper::Follower> followers;
  VectorXd g0 = VectorXd::Zero(0);
  bool symmetric = true;
};

SpringDamper started(const Problem& p) {
  const int n = static_cast<int>(p.K.size());
  const MatrixXd rows = p.W.transpose();  // column-major of the transpose: row-major of W
  SpringDamper system;
  system.set(rows.data(),
             p.K.data(),
             p.B.data(),
             n,
             p.symmetric,
             p.followers.data(),
             static_cast<int>(p.followers.size()));
  system.start(p.x0.data(), p.v0.data(), p.b0.data(), p.b1.data(), p.g0.data());
  return system;
}

/// The raw companion system with its forcing in quadruple precision.
Motion exact(const Problem& p, double t) {
  const int n = static_cast<int>(p.K.size()), lags = static_cast<int>(p.followers.size()),
            size = 2 * n + lags, all = size + 5;
  std::vector<Quadruple> A(static_cast<std::size_t>(all) * all, 0);
  const Quadruple T = t;
  for (int i = 0; i < n; ++i) {
    A[i * all + n + i] = T;
    for (int j = 0; j < n; ++j) {
      A[(n + i) * all + j] = -T * p.W(i, j) * p.K[j];
      A[(n + i) * all + n + j] = -T * p.W(i, j) * p.B[j];
    }
    A[(n + i) * all + size + 2] = T * p.b0[i];
    A[(n + i) * all + size + 1] = T * p.b1[i];
    A[i * all + size + 3] = T * p.x0[i];
    A[(n + i) * all + size + 3] = T * p.v0[i];
  }
  for (int k = 0; k < lags; ++k) {
    const SpringDamper::Follower& lag = p.followers[k];
    A[(2 * n + k) * all + lag.row] = -T * lag.gain * p.K[lag.row];
    A[(2 * n + k) * all + n + lag.row] = -T * lag.gain * p.B[lag.row];
    A[(2 * n + k) * all + 2 * n + k] = -T * lag.rate;
    A[(2 * n + k) * all + size + 3] = T * p.g0[k];
  }
  for (int j = 0; j < 4; ++j) A[(size + j) * all + size + j + 1] = T;
  const std::vector<double> E = quad_exponential(A, all);
  const auto z = [&](int i, int moment) {
    if (moment > 0) return E[i * all + size + 2 + moment];
    double sum = E[i * all + size + 2];
    for (int j = 0; j < n; ++j) sum += E[i * all + j] * p.x0[j] + E[i * all + n + j] * p.v0[j];
    for (int k = 0; k < lags; ++k) sum += E[i * all + 2 * n + k] * p.g0[k];
    return sum;
  };
  Motion m;
  m.resize(n, lags);
  for (int i = 0; i < n; ++i) {
    m.x[i] = z(i, 0);
    m.v[i] = z(n + i, 0);
    m.u[i] = -p.K[i] * z(i, 0) - p.B[i] * z(n + i, 0);
    m.U1[i] = -p.K[i] * z(i, 1) - p.B[i] * z(n + i, 1);
    m.U2[i] = -p.K[i] * z(i, 2) - p.B[i] * z(n + i, 2);
  }
  for (int k = 0; k < lags; ++k) m.g[k] = z(2 * n + k, 0);
  return m;
}

double error(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0.0, size = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(a[i] - b[i]));
    size = std::max(size, std::abs(b[i]));
  }
  return size > 0.0 ? difference / size : difference;
}

double impulse_error(const Motion& a, const Motion& b) {
  return std::max(error(a.U1, b.U1), error(a.U2, b.U2));
}

/// W of rank `rank`, a state near the surface at walking speed, gravity and a little more.
Problem random_problem(Rng& rng, int n, int rank) {
  const auto random = [&] { return rng.uniform(-1.0, 1.0); };
  const MatrixXd J = MatrixXd::NullaryExpr(n, rank, random);
  Problem p;
  p.W = gram(J);
  p.K = p.B = VectorXd::Zero(n);
  p.x0 = 1e-4 * VectorXd::NullaryExpr(n, random);
  p.v0 = J * VectorXd::NullaryExpr(rank, random);
  p.b0 = 10.0 * J * VectorXd::NullaryExpr(rank, random);
  p.b1 = 100.0 * J * VectorXd::NullaryExpr(rank, random);
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spring_damper_test)

// One mass on a spring with a damper, in every regime and at any step, by the modal form.
BOOST_AUTO_TEST_CASE(one_mass_in_every_regime) {
  Rng rng(1);
  for (int i = 0; i < 120; ++i) {
    Problem p = random_problem(rng, 1, 1);
    const double t = std::pow(10.0, rng.uniform(-3.0, 0.0));
    const double w = std::pow(10.0, rng.uniform(-1.0, 2.5)) / t;  // up to 300 rad
    p.K[0] = i % 10 == 0 ? 0.0 : w * w / p.W(0, 0);
    p.B[0] = i % 6 == 0 || p.K[0] == 0.0
                 ? 0.0
                 : 2.0 * w * std::pow(10.0, rng.uniform(-2.0, 1.5)) / p.W(0, 0);
    SpringDamper system = started(p);
    BOOST_TEST((system.form() == SpringDamper::Form::kModal));
    Motion got;
    system.at(t, got);
    const Motion want = exact(p, t);
    // Envelopes: an oscillation may pass through zero.
    const double x = std::abs(p.x0[0]) + std::abs(p.v0[0]) / w + std::abs(p.b0[0]) / (w * w);
    BOOST_TEST(std::abs(got.x[0] - want.x[0]) <= 1e-12 * (std::abs(want.x[0]) + x));
    BOOST_TEST(std::abs(got.v[0] - want.v[0]) <= 1e-12 * (std::abs(want.v[0]) + x * w));
    BOOST_TEST(impulse_error(got, want) <= 1e-11);
  }
}

// Uniform B / K with anisotropic K: modal. Otherwise the dissipative form. Different materials,
// more rows than rank; the set of the expo study, K 1e4 ... 1e8, B 10 ... 1e5, h 1 ... 40 ms.
BOOST_AUTO_TEST_CASE(several_rows_of_any_rank) {
  Rng rng(2);
  double worst[2] = {};
  for (int i = 0; i < 60; ++i) {
    const int sizes[][2] = {{3, 3}, {6, 6}, {12, 12}, {12, 6}, {24, 6}};
    const int (&size)[2] = sizes[i % (i < 50 ? 4 : 5)];
    const bool modal = i % 3 == 0;
    Problem p = random_problem(rng, size[0], size[1]);
    const double beta = std::pow(10.0, rng.uniform(-4.0, -2.0));
    for (int r = 0; r < size[0]; ++r) {
      p.K[r] = modal ? std::pow(10.0, 4.0 + i / 20 + rng.uniform(0.0, 1.4))
                     : std::pow(10.0, rng.uniform(4.0, 8.0));
      p.B[r] = modal ? beta * p.K[r] : std::pow(10.0, rng.uniform(1.0, 5.0));
    }
    const double t = std::pow(10.0, rng.uniform(-3.0, -1.4));
    SpringDamper system = started(p);
    BOOST_TEST(
        (system.form() == (modal ? SpringDamper::Form::kModal : SpringDamper::Form::kDissipative)));
    Motion got;
    system.at(t, got);
    const Motion want = exact(p, t);
    BOOST_TEST(impulse_error(got, want) <= 1e-12, i << ": " << impulse_error(got, want));
    worst[modal] = std::max(worst[modal], impulse_error(got, want));
    BOOST_TEST(error(got.x, want.x) <= 1e-11);
    for (int r = 0; r < size[0]; ++r)  // what is left of the velocity may be next to nothing
      BOOST_TEST(std::abs(got.v[r] - want.v[r]) <= 1e-12 * p.v0.norm());
  }
  BOOST_TEST_MESSAGE("worst dissipative " << worst[0] << ", modal " << worst[1]);
}

// What the bodies cannot follow (hyperstatic points on a turning body), rows without spring or
// without damper.
BOOST_AUTO_TEST_CASE(inconsistent_rows_and_missing_springs) {
  Rng rng(3);
  const auto random = [&] { return rng.uniform(-1.0, 1.0); };
  for (int i = 0; i < 40; ++i) {
    Problem p = random_problem(rng, 9, 6);
    p.v0 += 1e-3 * VectorXd::NullaryExpr(9, random);
    p.b0 += VectorXd::NullaryExpr(9, random);
    p.b1 += VectorXd::NullaryExpr(9, random);
    for (int r = 0; r < 9; ++r) {
      p.K[r] = r % 3 == i % 3 ? 0.0 : 1e5;
      p.B[r] = r % 3 == i % 2 ? 0.0 : 1e2 * (1 + r % 2);
    }
    if (i % 4 == 0) p.B = 1e-3 * p.K;  // modal with free rows
    SpringDamper system = started(p);
    Motion got;
    system.at(5e-3, got);
    const Motion want = exact(p, 5e-3);
    BOOST_TEST(impulse_error(got, want) <= 1e-12);
    BOOST_TEST(error(got.x, want.x) <= 1e-11);
    BOOST_TEST(error(got.v, want.v) <= 1e-10);
  }
}

// Sliding: a product that is not symmetric, with a lagging tangential spring per contact.
BOOST_AUTO_TEST_CASE(general_rows_with_followers) {
  Rng rng(4);
  const auto random = [&] { return rng.uniform(-1.0, 1.0); };
  for (int i = 0; i < 30; ++i) {
    Problem p = random_problem(rng, 5, 5);
    p.W += 0.2 * MatrixXd::NullaryExpr(5, 5, random);
    p.symmetric = false;
    p.K.setConstant(std::pow(10.0, rng.uniform(3.0, 7.0)));
    p.B.setConstant(std::pow(10.0, rng.uniform(1.0, 3.0)));
    p.followers = {{1, 333.0, 1.0 / 300.0}, {4, 1e3, 0.5 / 300.0}};
    p.g0 = 1e-4 * VectorXd::NullaryExpr(2, random);
    SpringDamper system = started(p);
    BOOST_TEST((system.form() == SpringDamper::Form::kCompanion));
    Motion got;
    const double t = std::pow(10.0, rng.uniform(-3.0, -1.4));
    system.at(t, got);
    const Motion want = exact(p, t);
    BOOST_TEST(impulse_error(got, want) <= 1e-12);
    BOOST_TEST(error(got.g, want.g) <= 1e-11);
    BOOST_TEST(error(got.x, want.x) <= 1e-11);
  }
}

BOOST_AUTO_TEST_CASE(samples_are_the_motion_at_their_times) {
  Rng rng(5);
  for (int i = 0; i < 30; ++i) {
    Problem p = random_problem(rng, 6, 6);
    p.K.setConstant(1e5);
    p.B.setConstant(300.0);
    if (i % 3 == 1) p.B[0] = 20.0;
    if (i % 3 == 2) {
      p.followers = {{2, 333.0, 1e-3}};
      p.g0 = VectorXd::Constant(1, 1e-4);
    }
    SpringDamper system = started(p);
    std::vector<Motion> nodes;
    system.sample(8e-3, 8, nodes);
    for (int k = 0; k < 8; ++k) {
      Motion one;
      system.at((k + 1) * 1e-3, one);
      BOOST_TEST(impulse_error(nodes[k], one) <= 1e-11);
      BOOST_TEST(error(nodes[k].x, one.x) <= 1e-10);
      BOOST_TEST(error(nodes[k].v, one.v) <= 1e-10);
      BOOST_TEST(error(nodes[k].g, one.g) <= 1e-10);
    }
  }
}

// Any number of rows, of a multiple of the lanes or not, and of nodes.
BOOST_AUTO_TEST_CASE(sampled_forces_are_those_of_the_motion) {
  Rng rng(8);
  for (int n = 1; n <= 13; ++n) {
    for (const int count : {1, 3, 8}) {
      Problem p = random_problem(rng, n, std::min(n, 6));
      p.K.setConstant(std::pow(10.0, rng.uniform(3.0, 7.0)));
      p.B = 3e-3 * p.K;
      SpringDamper system = started(p);
      BOOST_TEST((system.form() == SpringDamper::Form::kModal));
      Motion end, one;
      const double* forces = system.sample_forces(8e-3, count, end);
      std::vector<std::vector<double>> u;
      for (int k = 0; k < count; ++k)
        u.emplace_back(forces + k * system.force_stride(), forces + k * system.force_stride() + n);
      for (int k = 0; k < count; ++k) {
        system.at((k + 1) * 8e-3 / count, one);
        BOOST_TEST(error(u[k], one.u) <= 1e-10);
      }
      BOOST_TEST(error(end.u, one.u) <= 1e-10);
      BOOST_TEST(impulse_error(end, one) <= 1e-11);
      BOOST_TEST(error(end.x, one.x) <= 1e-10);
      BOOST_TEST(error(end.v, one.v) <= 1e-10);
    }
  }
}

// By the modes, of full rank and not; other forms and rows without a spring have none.
BOOST_AUTO_TEST_CASE(inertia_is_solved_by_the_modes) {
  Rng rng(9);
  const auto random = [&] { return rng.uniform(-1.0, 1.0); };
  for (int n = 1; n <= 13; ++n) {
    const int rank = n % 3 == 0 ? std::min(n, 6) : n;
    Problem p = random_problem(rng, n, rank);
    if (rank == n) p.W += MatrixXd::Identity(n, n);
    for (int r = 0; r < n; ++r) p.K[r] = std::pow(10.0, rng.uniform(4.0, 5.0));
    p.B = 3e-3 * p.K;
    SpringDamper system = started(p);
    VectorXd y = p.W * VectorXd::NullaryExpr(n, random);
    const VectorXd x = y;
    BOOST_REQUIRE(system.solve_inertia(1.0, 0.0, y.data()));
    BOOST_TEST((p.W * y - x).norm() <= 1e-6 * x.norm());
    const double h = 1e-3, share = 0.1;
    VectorXd z = x;
    BOOST_REQUIRE(system.solve_inertia(h, share, z.data()));
    const VectorXd soft = share * (h * (h * p.K + p.B)).cwiseInverse();
    BOOST_TEST((p.W * z + soft.cwiseProduct(z) - x).norm() <= 1e-6 * x.norm());
    p.K[0] = 0.0;
    p.B[0] = 0.0;
    BOOST_TEST(!started(p).solve_inertia(1.0, 0.0, y.data()));
    p.K[0] = 1e9;
    if (n > 1) BOOST_TEST(!started(p).solve_inertia(1.0, 0.0, y.data()));
  }
}

// Released springs only lose energy, whatever the step: modal and dissipative forms.
BOOST_AUTO_TEST_CASE(no_step_adds_energy) {
  Rng rng(6);
  for (int i = 0; i < 60; ++i) {
    Problem p = random_problem(rng, 6, 6);
    p.b0.setZero();
    p.b1.setZero();
    for (int r = 0; r < 6; ++r) {
      p.K[r] = std::pow(10.0, rng.uniform(2.0, 9.0));
      p.B[r] = i % 2 ? 1e-3 * p.K[r] : std::pow(10.0, rng.uniform(-1.0, 5.0));
    }
    SpringDamper system = started(p);
    const auto energy = [&](const VectorXd& x, const VectorXd& v) {
      return 0.5 * x.dot(p.K.cwiseProduct(x)) + 0.5 * v.dot(VectorXd(solve_semidefinite(p.W, v)));
    };
    Motion m;
    system.at(std::pow(10.0, rng.uniform(-4.0, 0.0)), m);
    const double after = energy(VectorXd::Map(m.x.data(), 6), VectorXd::Map(m.v.data(), 6));
    BOOST_TEST(after <= energy(p.x0, p.v0) * (1.0 + 1e-9));
  }
}

BOOST_AUTO_TEST_CASE(a_warm_system_allocates_nothing) {
  Rng rng(7);
  std::vector<Problem> problems;
  for (int i = 0; i < 6; ++i) {
    Problem p = random_problem(rng, 6 + 3 * (i % 2), 6);
    p.K.setConstant(1e5);
    p.B.setConstant(i < 2 ? 300.0 : 200.0);
    if (i >= 2) p.B[0] = 20.0;
    p.symmetric = i < 4;
    problems.push_back(p);
  }
  SpringDamper system;
  std::vector<Motion> nodes;
  Motion motion;
  const auto run = [&] {
    for (const Problem& p : problems) {
      system.set(p.W.data(), p.K.data(), p.B.data(), static_cast<int>(p.K.size()), p.symmetric);
      system.start(p.x0.data(), p.v0.data(), p.b0.data(), p.b1.data());
      system.sample(1e-2, 8, nodes);
      if (system.form() == SpringDamper::Form::kModal) system.sample_forces(1e-2, 8, motion);
      system.at(3e-3, motion);
    }
  };
  run();
  run();
  const long before = stiction::test::allocation_count();
  run();
  BOOST_TEST(stiction::test::allocation_count() - before == 0);
}

BOOST_AUTO_TEST_SUITE_END()
