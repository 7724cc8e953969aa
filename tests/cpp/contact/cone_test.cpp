#include "stiction/contact/cone.hpp"

#include "support/random.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <array>

using namespace stiction;
using stiction::test::Rng;

namespace {

using Vector = Eigen::VectorXd;

/// Of any dimension, with friction in all rows, in some or in none, circular or not.
Cone random_cone(Rng& rng) {
  constexpr int kDims[] = {1, 3, 4, 6};
  Cone cone;
  cone.dim = kDims[rng.below(4)];
  const int kind = rng.below(4);
  const double all = rng.uniform(0.05, 1.5);
  for (int r = 0; r < cone.normal(); ++r) {
    const double length = Cone::is_angular(r) ? 0.02 : 1.0;
    cone.mu[r] = kind == 0 ? all : kind == 1 ? 0.0 : length * rng.uniform(0.05, 1.5);
    if (kind == 3 && rng.below(3) == 0) cone.mu[r] = 0.0;
  }
  return cone;
}

Vector random_rows(Rng& rng, const Cone& cone) {
  Vector x(cone.dim);
  for (int r = 0; r < cone.dim; ++r) x[r] = rng.uniform(-1.0, 1.0);
  x[cone.normal()] *= 2.0;
  return x;
}

/// lambda in N s.
Vector in_newton_seconds(const Cone& cone, Vector l) {
  for (int r = 0; r < cone.dim; ++r) l[r] /= cone.impulse_unit(r);
  return l;
}

/// ||D x_T||, straight from the definition.
double shift_by_definition(const Cone& cone, const Vector& c) {
  double sum = 0.0;
  for (int r = 0; r < cone.normal(); ++r) sum += std::pow(cone.mu[r] * c[r], 2);
  return std::sqrt(sum);
}

/// How far lambda is from ||D^-1 lambda_T|| <= lambda_N, in parts of lambda_N: an impulse whose mu
/// is zero must be zero.
bool in_cone(const Cone& cone, const Vector& l, double tolerance) {
  double sum = 0.0;
  for (int r = 0; r < cone.normal(); ++r) {
    if (cone.mu[r] == 0.0 && l[r] != 0.0) return false;
    if (cone.mu[r] > 0.0) sum += std::pow(l[r] / cone.mu[r], 2);
  }
  return std::sqrt(sum) <= l[cone.normal()] * (1.0 + tolerance) + tolerance;
}

template <class Check>
void for_each_dim(Check&& check) {
  check(std::integral_constant<int, 3>{});
  check(std::integral_constant<int, 4>{});
  check(std::integral_constant<int, 6>{});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cone_test)

/// Moreau: l = p - q with p in K, q in K* and p . q = 0, all in one unit, has p alone.
BOOST_AUTO_TEST_CASE(projection_is_the_nearest_point) {
  Rng rng(1);
  std::array<int, 3> branches{};  // inside, apex, side
  for (int trial = 0; trial < 4000; ++trial) {
    const Cone cone = random_cone(rng);
    const Vector l = random_rows(rng, cone);
    Vector p = l, again;
    project(cone, p.data());
    again = p;
    project(cone, again.data());
    BOOST_TEST_CONTEXT("trial " << trial << ", dim " << cone.dim) {
      const Vector x = in_newton_seconds(cone, l), y = in_newton_seconds(cone, p);
      const double size = x.norm();
      BOOST_TEST(in_cone(cone, p, 1e-14));
      BOOST_TEST((in_newton_seconds(cone, again) - y).norm() <= 1e-14 * size);
      BOOST_TEST(std::abs((x - y).norm() - distance(cone, l.data())) <= 1e-14 * size);
      // q = p - l, free where mu is zero
      Vector q = y - x;
      BOOST_TEST(std::abs(q.dot(y)) <= 1e-14 * size * size);
      for (int r = 0; r < cone.normal(); ++r) {
        if (cone.mu[r] == 0.0) q[r] = 0.0;
      }
      BOOST_TEST(q[cone.normal()] >= cone.friction() * q.head(cone.normal()).norm() - 1e-14 * size);
      const bool inside = (p - l).norm() <= 1e-15 * size;
      branches[inside ? 0 : p.norm() == 0.0 ? 1 : 2] += 1;
    }
  }
  for (const int n : branches) BOOST_TEST(n > 300);
}

BOOST_AUTO_TEST_CASE(dual_distance_is_the_projection_of_the_opposite) {
  Rng rng(2);
  std::array<int, 3> branches{};
  for (int trial = 0; trial < 4000; ++trial) {
    const Cone cone = random_cone(rng);
    const Vector c = random_rows(rng, cone);
    Vector x(cone.dim);  // in m/s; what has no friction is not seen by K*
    for (int r = 0; r < cone.dim; ++r) x[r] = -c[r] * cone.velocity_unit(r);
    const double f = cone.friction(), t = x.head(cone.normal()).norm(), n = x[cone.normal()];
    const double expected = n + f * t <= 0.0 ? 0.0
                            : t <= f * n     ? std::hypot(t, n)
                                             : (n + f * t) / std::sqrt(1.0 + f * f);
    BOOST_TEST(std::abs(dual_distance(cone, c.data()) - expected) <= 1e-14 * c.norm());
    branches[expected == 0.0 ? 0 : t <= f * n ? 1 : 2] += 1;
    // and Gamma puts every separating velocity into it
    Vector shifted = c;
    shifted[cone.normal()] = std::abs(c[cone.normal()]) + shift(cone, c.data());
    BOOST_TEST(dual_distance(cone, shifted.data()) <= 1e-15);
    BOOST_TEST(std::abs(shift(cone, c.data()) - shift_by_definition(cone, c)) <= 1e-14 * c.norm());
  }
  for (const int n : branches) BOOST_TEST(n > 300);
}

BOOST_AUTO_TEST_CASE(disk_keeps_the_normal_and_the_direction) {
  Rng rng(3);
  std::array<int, 3> branches{};  // unloaded, inside, cut
  for (int trial = 0; trial < 2000; ++trial) {
    const Cone cone = random_cone(rng);
    const Vector l = random_rows(rng, cone);
    Vector p = l, again;
    project_disk(cone, p.data());
    again = p;
    project_disk(cone, again.data());
    BOOST_TEST((again - p).norm() <= 1e-15);
    BOOST_TEST(in_cone(cone, p, 1e-14));
    const int n = cone.normal();
    if (!(l[n] > 0.0)) {
      BOOST_TEST(p.norm() == 0.0);
      ++branches[0];
      continue;
    }
    BOOST_TEST(p[n] == l[n]);
    Vector left = l;  // of the impulses that may be there
    for (int r = 0; r < n; ++r) left[r] = cone.mu[r] > 0.0 ? l[r] : 0.0;
    const double t = left.head(n).norm(), kept = t > 0.0 ? p.head(n).norm() / t : 1.0;
    BOOST_TEST((p.head(n) - kept * left.head(n)).norm() <= 1e-14);
    branches[kept < 1.0 - 1e-12 ? 2 : 1] += 1;
    if (kept < 1.0 - 1e-12) BOOST_TEST(on_cone(cone, p.data()));
  }
  for (const int n : branches) BOOST_TEST(n > 200);
}

BOOST_AUTO_TEST_CASE(circular_cones_of_any_dimension_agree_in_a_plane) {
  Rng rng(4);
  for (int trial = 0; trial < 500; ++trial) {
    const double mu = rng.uniform(0.0, 1.5);
    const Vector l = random_rows(rng, Cone::coulomb(mu));
    const Cone large{6, {mu, mu, mu, mu, mu}};
    double wide[6] = {l[0], 0.0, 0.0, l[1], 0.0, l[2]};
    Vector p = l;
    project(Cone::coulomb(mu), p.data());
    BOOST_TEST(distance(large, wide) == distance(Cone::coulomb(mu), l.data()));
    if (mu > 0.0) project(large, wide);
    if (mu > 0.0) BOOST_TEST((Eigen::Vector3d(wide[0], wide[3], wide[5]) - p).norm() <= 1e-15);
  }
}

BOOST_AUTO_TEST_CASE(normals_and_across_make_a_frame) {
  Rng rng(5);
  for_each_dim([&](auto D) {
    constexpr int n = D - 1;
    for (int trial = 0; trial < 200; ++trial) {
      Eigen::Matrix<double, n, 1> d;
      for (int r = 0; r < n; ++r) d[r] = rng.uniform(-1.0, 1.0);
      if (trial % 5 == 0) d = Eigen::Matrix<double, n, 1>::Unit(trial % n) * (trial % 2 ? 1 : -1);
      d.normalize();
      Eigen::Matrix<double, n, n> Q;
      Q.col(0) = d;
      circular::normals<D>(d.data(), Q.data() + n);
      BOOST_TEST((Q.transpose() * Q - Eigen::Matrix<double, n, n>::Identity()).norm() <= 1e-14);
      Eigen::Matrix<double, n, n> A;
      for (int r = 0; r < n; ++r) {
        for (int c = 0; c < n; ++c) A(r, c) = circular::across<D>(2.0, d.data(), r, c);
      }
      const Eigen::Matrix<double, n, n> expected =
          2.0 * (Eigen::Matrix<double, n, n>::Identity() - d * d.transpose());
      BOOST_TEST((A - expected).norm() <= 1e-14);
    }
  });
}

BOOST_AUTO_TEST_CASE(derivative_of_the_projection) {
  Rng rng(6);
  constexpr double kStep = 1e-6;
  for_each_dim([&](auto D) {
    std::array<int, 3> branches{};
    for (int trial = 0; trial < 600; ++trial) {
      using Rows = Eigen::Matrix<double, D, 1>;
      const double mu = trial % 7 == 0 ? 0.0 : rng.uniform(0.1, 1.5);
      Rows y, d = Rows::Zero();
      for (int r = 0; r < D; ++r) y[r] = rng.uniform(-1.0, 1.0);
      if (trial % 2) y.template head<D - 1>() *= 0.4;
      const circular::Projection<D> at(mu, y.data());
      at.direction(y.data(), d.data());
      for (int c = 0; c < D; ++c) {
        Rows up = y, down = y;
        up[c] += kStep;
        down[c] -= kStep;
        // not across a kink
        const auto mode_at = [&](const Rows& x) {
          return circular::Projection<D>(mu, x.data()).mode;
        };
        if (mode_at(up) != at.mode || mode_at(down) != at.mode || at.t < 0.05) continue;
        circular::project<D>(mu, up.data());
        circular::project<D>(mu, down.data());
        for (int r = 0; r < D; ++r) {
          const double expected = (up[r] - down[r]) / (2.0 * kStep);
          const double found = at.mode == ContactMode::kOpen    ? 0.0
                               : at.mode == ContactMode::kStick ? double(r == c)
                                                                : at.derivative(d.data(), r, c);
          BOOST_TEST(std::abs(found - expected) <= 1e-8, "dim " << D << ", mu " << mu);
        }
        ++branches[static_cast<int>(at.mode)];
      }
    }
    for (const int n : branches) BOOST_TEST(n > 100);
  });
}

BOOST_AUTO_TEST_CASE(derivative_of_the_natural_map) {
  Rng rng(7);
  constexpr double kStep = 1e-6;
  for_each_dim([&](auto D) {
    constexpr int N = D - 1;
    std::array<int, 3> modes{};
    for (int trial = 0; trial < 400; ++trial) {
      using Rows = Eigen::Matrix<double, D, 1>;
      Rows p;
      for (int r = 0; r < D; ++r) p[r] = rng.uniform(-1.0, 1.0);
      if (trial % 2) p.template head<N>() *= 0.3;
      const circular::NaturalMap<D> map(p.data());
      ++modes[static_cast<int>(map.mode)];
      Rows disk = p;
      circular::project_disk<D>(1.0, disk.data());
      if (map.mode == ContactMode::kOpen) BOOST_TEST(disk.norm() == 0.0);
      if (map.mode == ContactMode::kStick) BOOST_TEST((disk - p).norm() == 0.0);
      if (map.mode != ContactMode::kSlide) continue;
      double d[N];
      map.direction(d);
      for (int r = 0; r < N; ++r) BOOST_TEST(std::abs(map.held(r) - disk[r]) <= 1e-15);
      for (int c = 0; c < D; ++c) {
        Rows up = p, down = p;
        up[c] += kStep;
        down[c] -= kStep;
        if (up[N] >= map.t || p[N] < 0.05) continue;
        circular::project_disk<D>(1.0, up.data());
        circular::project_disk<D>(1.0, down.data());
        for (int r = 0; r < N; ++r) {
          const double found = c == N ? d[r] : circular::across<D>(map.ratio(), d, r, c);
          BOOST_TEST(std::abs(found - (up[r] - down[r]) / (2.0 * kStep)) <= 1e-7);
        }
      }
    }
    for (const int n : modes) BOOST_TEST(n > 30);
  });
}

BOOST_AUTO_TEST_CASE(canonical_scaling_has_a_mean_diagonal_of_one) {
  Rng rng(8);
  for (int trial = 0; trial < 100; ++trial) {
    const int dim = std::array{3, 4, 6}[trial % 3];
    const double mu = rng.uniform(0.1, 2.0);
    double tangents = 0.0;
    const double normal = rng.uniform(0.1, 3.0);
    for (int r = 0; r < dim - 1; ++r) tangents += rng.uniform(0.1, 3.0);
    const double d = circular::canonical_scale(dim, mu, tangents, normal, 1e-12);
    BOOST_TEST(std::abs(d * d * (tangents + normal / (mu * mu)) / dim - 1.0) <= 1e-14);
    BOOST_TEST(std::isfinite(circular::canonical_scale(dim, mu, 0.0, 0.0, 1e-12)));
  }
}

/// Each of the four corners of load and motion, and both sides of each switch.
BOOST_AUTO_TEST_CASE(modes_of_a_contact) {
  using M = ContactMode;
  for (const Cone& cone :
       {Cone::coulomb(0.5), Cone::torsional(0.5, 0.01), Cone::rolling(0.5, 0.01, 0.002)}) {
    const int n = cone.normal();
    const auto at = [&](double ln, double share, double cn, double speed) {
      Vector l = Vector::Zero(cone.dim), c = Vector::Zero(cone.dim);
      l[n] = ln;
      l[n - 1] = share * cone.mu[n - 1] * ln;
      c[n] = cn;
      c[n - 1] = speed / cone.velocity_unit(n - 1);
      return modes(cone, l.data(), c.data(), 1e-9, 1e-9);
    };
    const auto same = [](const ContactModes& m, M a, M b) {
      return m.holding == a && m.giving == b;
    };
    BOOST_TEST(same(at(0, 0, 1, 0), M::kOpen, M::kOpen));
    BOOST_TEST(same(at(0, 0, 0, 0), M::kStick, M::kOpen));
    BOOST_TEST(same(at(0, 0, 0, 1), M::kSlide, M::kOpen));
    BOOST_TEST(same(at(1, 0.5, 0, 0), M::kStick, M::kStick));
    BOOST_TEST(same(at(1, 1, 0, 0), M::kStick, M::kSlide));
    BOOST_TEST(same(at(1, 1, 0, 1), M::kSlide, M::kSlide));
    BOOST_TEST(at(1, 1, 0, 0).at_switch());
    BOOST_TEST(!at(1, 1, 0, 1).at_switch());
  }
  const Cone smooth = Cone::coulomb(0.0);
  const double l[3] = {0, 0, 1}, c[3] = {0, 0, 0};
  BOOST_TEST((modes(smooth, l, c, 1e-9, 1e-9).holding == M::kSlide));
}

BOOST_AUTO_TEST_CASE(units_of_cones_with_little_friction) {
  const Cone spin{4, {0.0, 0.0, 0.02}};  // torsional friction alone
  BOOST_TEST(spin.friction() == 0.02 / kContactLength);
  BOOST_TEST(spin.velocity_unit(0) == 0.0);
  BOOST_TEST(spin.velocity_unit(2) == kContactLength);
  BOOST_TEST(spin.impulse_unit(0) == 1.0);
  const Cone none{6, {}};
  BOOST_TEST(none.friction() == 0.0);
  BOOST_TEST(none.velocity_unit(0) == 1.0);
  BOOST_TEST(none.impulse_unit(4) == kContactLength);
  const Cone grain{3, {0.0, 0.3}};  // slides freely along t1
  BOOST_TEST(grain.friction() == 0.3);
  BOOST_TEST(grain.velocity_unit(1) == 1.0);
  BOOST_TEST(Cone::coulomb(0.0).is_circular());
  BOOST_TEST(!none.is_circular());
}

BOOST_AUTO_TEST_SUITE_END()
