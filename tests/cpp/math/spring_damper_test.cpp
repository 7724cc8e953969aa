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
using Motion = SpringMotion;

namespace {

/// With dense algebra at hand.
struct Problem {
  MatrixXd W;
  VectorXd K, B, x0, v0, b0, b1;
  std::vector<SpringRows::Lag> lags;
  VectorXd g0 = VectorXd::Zero(0);
  bool symmetric = true;

  SpringRows rows() const {
    const MatrixXd by_rows = W.transpose();  // column-major of the transpose: row-major of W
    return {
        static_cast<int>(K.size()), symmetric, list(by_rows.reshaped()), list(K), list(B), lags};
  }
  SpringStart start() const { return {list(x0), list(v0), list(b0), list(b1), list(g0)}; }

 private:
  static std::vector<double> list(const VectorXd& x) { return {x.data(), x.data() + x.size()}; }
};

SpringDamper started(const Problem& p) {
  SpringDamper system;
  system.rows = p.rows();
  system.start = p.start();
  system.prepare();
  system.begin();
  return system;
}

/// The raw companion system with its forcing in quadruple precision.
Motion exact(const Problem& p, double t) {
  const int n = static_cast<int>(p.K.size()), lags = static_cast<int>(p.lags.size()),
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
    const SpringRows::Lag& lag = p.lags[k];
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
  m.resize(p.rows());
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

// One mass on a spring with a damper, in every regime and at any step, by its mode; without a
// spring by the general maps.
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
    BOOST_TEST(system.modal() == (p.K[0] > 0.0));
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

// Every map on the same rows. Uniform B / K with anisotropic K have modes, the others have not;
// different materials, more rows than rank, W that is not symmetric and lags as of sliding points;
// K 1e4 ... 1e8, B 10 ... 1e5, t 1 ... 40 ms.
BOOST_AUTO_TEST_CASE(every_map_against_quadruple_precision) {
  Rng rng(2);
  const auto random = [&] { return rng.uniform(-1.0, 1.0); };
  double worst[3] = {}, speed[3] = {};  // modal, series, exponential
  int taken[3] = {};
  const auto judge = [&](int map, const Motion& got, const Motion& want, const Problem& p) {
    ++taken[map];
    worst[map] = std::max(worst[map], impulse_error(got, want));
    BOOST_TEST(impulse_error(got, want) <= 1e-12, map << ": " << impulse_error(got, want));
    BOOST_TEST(error(got.x, want.x) <= 1e-11);
    BOOST_TEST(error(got.g, want.g) <= 1e-11);
    for (int r = 0; r < p.K.size(); ++r)  // what is left of the velocity may be next to nothing
      speed[map] = std::max(speed[map], std::abs(got.v[r] - want.v[r]) / p.v0.norm());
  };
  for (int i = 0; i < 90; ++i) {
    const int sizes[][2] = {{3, 3}, {6, 6}, {12, 12}, {12, 6}, {24, 6}};
    const int (&size)[2] = sizes[i % (i < 80 ? 4 : 5)];
    const bool uniform = i % 3 == 0, sliding = i % 3 == 1 && size[0] == size[1];
    Problem p = random_problem(rng, size[0], size[1]);
    const double beta = std::pow(10.0, rng.uniform(-4.0, -2.0));
    const double stiffness = std::pow(10.0, rng.uniform(3.0, 7.0));
    for (int r = 0; r < size[0]; ++r) {
      p.K[r] = uniform   ? std::pow(10.0, 4.0 + i / 30 + rng.uniform(0.0, 1.4))
               : sliding ? stiffness
                         : std::pow(10.0, rng.uniform(4.0, 8.0));
      p.B[r] = uniform ? beta * p.K[r] : std::pow(10.0, rng.uniform(1.0, sliding ? 3.0 : 5.0));
    }
    if (sliding) {
      p.W += 0.2 * MatrixXd::NullaryExpr(size[0], size[0], random);
      p.symmetric = false;
      p.lags = {{1, 333.0, 1.0 / 300.0}, {2, 1e3, 0.5 / 300.0}};
      p.g0 = 1e-4 * VectorXd::NullaryExpr(2, random);
    }
    double t = std::pow(10.0, rng.uniform(-3.0, -1.4));
    const SpringRows rows = p.rows();
    const SpringStart start = p.start();
    SpringSeries series;
    series.prepare(rows);
    Motion got;
    got.resize(rows);
    SpringModes modes;
    BOOST_TEST(modes.find(rows) == uniform);
    ExponentialWorkspace exponential;
    sample_by_exponential(rows, start, t, 1, exponential, &got);
    const Motion want = exact(p, t);
    judge(2, got, want, p);
    if (uniform) {
      modes.start(start);
      modes.sample(t, 1, &got);
      judge(0, got, want, p);
    }
    t = std::min(t, 48.0 / series.rate());
    series.expand_up_to(rows, start, t);
    for (const double share : {0.3, 1.0}) {
      series.at(rows, start, share * t, got);
      judge(1, got, exact(p, share * t), p);
    }
  }
  for (int map = 0; map < 3; ++map) {
    BOOST_TEST(taken[map] >= 30);
    BOOST_TEST(speed[map] <= (map == 0 ? 1e-12 : 1e-9));
  }
  BOOST_TEST_MESSAGE("worst: modes " << worst[0] << ", series " << worst[1] << ", exponential "
                                     << worst[2] << "; v " << speed[0] << ", " << speed[1] << ", "
                                     << speed[2]);
}

// The chooser takes each map, and the same motion comes of all.
BOOST_AUTO_TEST_CASE(chooser_takes_every_map) {
  Rng rng(11);
  for (const bool uniform : {true, false}) {
    for (const double t : {1e-4, 1e-1}) {
      Problem p = random_problem(rng, 6, 6);
      p.K.setConstant(1e6);
      p.B.setConstant(300.0);
      if (!uniform) p.B[0] = 20.0;
      SpringDamper system = started(p);
      BOOST_TEST(system.modal() == uniform);
      SpringSeries series;
      series.prepare(system.rows);
      BOOST_TEST((series.rate() * t <= 48.0) == (t < 1e-2));
      Motion got;
      system.at(t, got);
      BOOST_TEST(impulse_error(got, exact(p, t)) <= 1e-12);
    }
  }
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

BOOST_AUTO_TEST_CASE(samples_are_the_motion_at_their_times) {
  Rng rng(5);
  for (int i = 0; i < 30; ++i) {
    Problem p = random_problem(rng, 6, 6);
    p.K.setConstant(1e5);
    p.B.setConstant(300.0);
    if (i % 3 == 1) p.B[0] = 20.0;
    if (i % 3 == 2) {
      p.lags = {{2, 333.0, 1e-3}};
      p.g0 = VectorXd::Constant(1, 1e-4);
    }
    SpringDamper system = started(p);
    const Motion* nodes = system.sample(8e-3, 8);
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
      BOOST_TEST(system.modal());
      Motion end, one;
      end.resize(system.rows);
      SpringModes& modes = system.modes();
      const double* forces = modes.sample_forces(8e-3, count, end);
      std::vector<std::vector<double>> u;
      for (int k = 0; k < count; ++k)
        u.emplace_back(forces + k * modes.stride(), forces + k * modes.stride() + n);
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

// Released springs only lose energy, whatever the step: by modes, by series, by exponential.
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
  std::vector<SpringRows> rows;
  std::vector<SpringStart> starts;
  for (const Problem& p : problems) {
    rows.push_back(p.rows());
    starts.push_back(p.start());
  }
  SpringDamper system;
  Motion motion;
  const auto run = [&] {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      system.rows = rows[i];
      system.start = starts[i];
      system.prepare();
      system.begin();
      for (const double t : {1e-3, 1e-1}) {
        system.sample(t, 8);
        motion.resize(system.rows);
        if (system.modal()) system.modes().sample_forces(t, 8, motion);
        system.at(0.3 * t, motion);
      }
    }
  };
  run();
  run();
  const long before = stiction::test::allocation_count();
  run();
  BOOST_TEST(stiction::test::allocation_count() - before == 0);
}

BOOST_AUTO_TEST_SUITE_END()
