#include "stiction/contact/contact_model.hpp"

#include "stiction/math/constants.hpp"

#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Core>
#include <boost/test/unit_test.hpp>

#include <limits>

using namespace stiction;
using namespace stiction::test;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr ContactModel kModels[] = {
    ContactModel::kNcp, ContactModel::kCcp, ContactModel::kLcp, ContactModel::kRaisim};

struct Distances {
  double primal = 0.0, dual = 0.0, complementarity = 0.0;
  double largest() const { return std::max({primal, dual, complementarity}); }
};

/// Of one contact whose diagonal block is G.
Distances distances(ContactModel model,
                    double mu,
                    const Vector3d& l,
                    const Vector3d& c,
                    const Matrix3d& G = Matrix3d::Identity(),
                    int facets = 4) {
  Eigen::Matrix<double, 4, 3> block = Eigen::Matrix<double, 4, 3>::Zero();
  block.topRows<3>() = G;
  const SetResidual r =
      contact_residual(model, facets, ConstraintSet::cone(mu), block.data(), 4, l.data(), c.data());
  return {r.primal, r.dual, r.complementarity};
}

Vector2d unit(double angle) { return {std::cos(angle), std::sin(angle)}; }

Vector3d joined(const Vector2d& t, double n) { return {t[0], t[1], n}; }

/// Vertices of the polygon around the unit disk: where the lines of neighbouring facets meet.
std::vector<Vector2d> polygon(int facets) {
  std::vector<Vector2d> out;
  for (int k = 0; k < facets; ++k) {
    Eigen::Matrix2d normals;
    normals << unit(2.0 * kPi * k / facets).transpose(),
        unit(2.0 * kPi * (k + 1) / facets).transpose();
    out.push_back(solve_dense(normals, Vector2d::Ones()));
  }
  return out;
}

/// Nearest point of the cone ||x_T|| <= k x_N, by its two sides in the plane of x and the axis.
Vector3d nearest_on_cone(const Vector3d& x, double k) {
  const double t = x.head<2>().norm();
  if (t <= k * x[2]) return x;
  const double s = std::max(0.0, (k * t + x[2]) / (k * k + 1.0));  // along the ray (k, 1) s
  return joined(t > 0.0 ? Vector2d(x.head<2>() * (k * s / t)) : Vector2d(k * s, 0.0), s);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(contact_model_test)

// The model of the NCP is the certificate, in every kind of set.
BOOST_AUTO_TEST_CASE(ncp_is_the_certificate) {
  Rng rng(1);
  for (int trial = 0; trial < 200; ++trial) {
    const Data d = random_problem(rng, 1.0, trial % 2 == 0);
    const ContactProblem p = d.problem();
    const VectorXd l = random_vector(rng, p.num_rows()), c = random_vector(rng, p.num_rows());
    const Residuals a = residuals_at(p, l.data(), c.data(), 0, p.num_sets());
    const Residuals b =
        model_residuals(ContactModel::kNcp, 4, p, l.data(), c.data(), 0, p.num_sets());
    BOOST_TEST((a.primal == b.primal && a.dual == b.dual));
    BOOST_TEST((a.complementarity == b.complementarity && a.relative == b.relative));
  }
}

// The CCP is lambda = proj_K(lambda - c): pairs made by the projection solve it, others do not.
BOOST_AUTO_TEST_CASE(ccp_is_the_projection) {
  Rng rng(2);
  int open = 0, inside = 0, slides = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const double mu = rng.uniform(0.05, 2.0);
    const Vector3d x = random_vector(rng, 3), l = nearest_on_cone(x, mu), c = l - x;
    BOOST_TEST(distances(ContactModel::kCcp, mu, l, c).largest() < 1e-14);
    (l[2] == 0.0 ? open : c.norm() == 0.0 ? inside : slides) += 1;
    // Any pair: its own distances, and zero only where the projection changes nothing.
    const Vector3d a = nearest_on_cone(random_vector(rng, 3), mu), b = random_vector(rng, 3);
    const Distances d = distances(ContactModel::kCcp, mu, a, b);
    BOOST_TEST(std::abs(d.dual - (b - nearest_on_cone(b, 1.0 / mu)).norm()) < 1e-14);
    BOOST_TEST(std::abs(d.complementarity - std::abs(a.dot(b))) < 1e-14);
    const double moved = (a - nearest_on_cone(a - b, mu)).norm();
    BOOST_TEST((d.largest() > 1e-4 || moved < 0.05));
    BOOST_TEST((moved > 1e-4 || d.largest() < 0.05));
  }
  BOOST_TEST((open > 100 && inside > 100 && slides > 100));
}

// A contact that slides as Coulomb's law wants solves the NCP, not the CCP, which lifts it.
BOOST_AUTO_TEST_CASE(ccp_and_ncp_differ_where_contacts_slide) {
  const double mu = 0.5;
  const Vector3d l(-0.5, 0.0, 1.0), flat(1.0, 0.0, 0.0), lifted(1.0, 0.0, mu);
  BOOST_TEST(distances(ContactModel::kNcp, mu, l, flat).largest() < 1e-15);
  BOOST_TEST(distances(ContactModel::kCcp, mu, l, flat).largest() > 0.1);
  BOOST_TEST(distances(ContactModel::kCcp, mu, l, lifted).largest() < 1e-15);
  BOOST_TEST(distances(ContactModel::kNcp, mu, l, lifted).largest() > 0.1);
}

// The pyramid's distances, by brute force over the vertices of its polygon.
BOOST_AUTO_TEST_CASE(lcp_is_maximal_dissipation_on_the_polygon) {
  Rng rng(3);
  for (const int facets : {4, 8, 16}) {
    const std::vector<Vector2d> vertices = polygon(facets);
    for (int trial = 0; trial < 500; ++trial) {
      const double mu = rng.uniform(0.05, 2.0), n = rng.uniform(0.1, 2.0);
      const int k = rng.below(facets);
      const Vector2d &a = vertices[k], &b = vertices[(k + 1) % facets];
      // On the pyramid's side, then a share s further out: the distance from that facet.
      const Vector2d edge = a + rng.uniform(0.05, 0.95) * (b - a);
      const auto primal = [&](double s) {
        return distances(ContactModel::kLcp,
                         mu,
                         joined(edge * (1.0 + s) * mu * n, n),
                         Vector3d::Zero(),
                         Matrix3d::Identity(),
                         facets)
            .primal;
      };
      BOOST_TEST(primal(-1e-3) == 0.0);
      BOOST_TEST(primal(0.0) < 1e-15);
      BOOST_TEST(std::abs(primal(0.1) - 0.1 * mu * n / std::hypot(1.0, mu)) < 1e-14);

      const Vector3d c = random_vector(rng, 3);
      double most = -1e300;  // power that friction could take out, by the vertices
      Vector2d best = Vector2d::Zero();
      for (const Vector2d& v : vertices) {
        if (-v.dot(c.head<2>()) <= most) continue;
        most = -v.dot(c.head<2>());
        best = v;
      }
      const Vector3d l = joined(edge * mu * n, n), optimum = joined(best * mu * n, n);
      const auto judged = [&](const Vector3d& x) {
        return distances(ContactModel::kLcp, mu, x, c, Matrix3d::Identity(), facets);
      };
      const double missing = mu * n * most + l.head<2>().dot(c.head<2>());
      BOOST_TEST(std::abs(judged(l).complementarity - std::max(std::abs(n * c[2]), missing)) <
                 1e-13);
      BOOST_TEST(std::abs(judged(optimum).complementarity - std::abs(n * c[2])) < 1e-13);
      BOOST_TEST(judged(l).dual == std::max(0.0, -c[2]));
    }
  }
}

namespace {

/// A sliding contact of the RaiSim model: the curve where the cone meets c_N = 0.
struct SlidingContact {
  Matrix3d G;
  Vector3d c_free;
  double mu;

  /// Normal impulse on the curve in the direction of that angle; not positive: none.
  double normal(double angle) const {
    const double d = G(2, 2) + mu * unit(angle).dot(G.block<2, 1>(0, 2));
    return d > 0.0 ? -c_free[2] / d : 0.0;
  }
  Vector3d impulse(double angle) const {
    return joined(mu * normal(angle) * unit(angle), normal(angle));
  }
  double objective(double angle) const {
    const Vector3d l = impulse(angle);
    return normal(angle) > 0.0 ? 0.5 * l.dot(G * l) + c_free.dot(l) : 1e300;
  }
  /// Angle of the least objective, by dense search and refinement.
  double search() const {
    double at = 0.0, half = kPi;
    for (int round = 0; round < 10; ++round) {
      const double middle = at;
      const int samples = round == 0 ? 2000 : 20;
      for (int k = -samples; k <= samples; ++k) {
        const double a = middle + half * k / samples;
        if (objective(a) < objective(at)) at = a;
      }
      half *= round == 0 ? 2.0 / samples : 0.1;
    }
    return at;
  }
  double residual(double angle) const {
    const Vector3d l = impulse(angle);
    return distances(ContactModel::kRaisim, mu, l, G * l + c_free, G).largest();
  }
};

}  // namespace

// Eq. (20): on the curve, the point of least energy has no residual, and every other point has one
// that grows with its angle; ellipses and branches of hyperbolas.
BOOST_AUTO_TEST_CASE(raisim_is_the_least_energy_without_normal_velocity) {
  Rng rng(4);
  int ellipses = 0, branches = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const MatrixXd A = random_matrix(rng, 3, 3);
    SlidingContact s{
        gram(A) + 0.05 * Matrix3d::Identity(), random_vector(rng, 3), rng.uniform(0.05, 3.0)};
    if (s.c_free[2] >= -0.1) continue;
    const Vector3d stick = -solve_semidefinite(s.G, s.c_free);
    if (stick.head<2>().norm() <= s.mu * stick[2]) continue;
    (s.mu * s.G.block<2, 1>(0, 2).norm() < s.G(2, 2) ? ellipses : branches) += 1;
    const double best = s.search(), scale = s.impulse(best).norm() * s.c_free.norm();
    const double least = s.residual(best);  // the search finds a minimum to half the digits
    BOOST_TEST_CONTEXT("trial " << trial) {
      BOOST_TEST(least <= 1e-5 * scale);
      for (int k = 1; k < 360; ++k) {
        const double a = best + k * kPi / 180.0;
        if (s.normal(a) > 0.0) BOOST_TEST(s.residual(a) > 100.0 * least);
      }
    }
  }
  BOOST_TEST((ellipses > 50 && branches > 20));
}

// Open and sticking contacts solve every model.
BOOST_AUTO_TEST_CASE(open_and_sticking_contacts_solve_every_model) {
  for (const ContactModel model : kModels) {
    BOOST_TEST(distances(model, 0.5, {0, 0, 0}, {1.0, 0.0, 2.0}).largest() == 0.0);
    BOOST_TEST(distances(model, 0.5, {0.1, 0.2, 1.0}, {0, 0, 0}).largest() == 0.0);
    BOOST_TEST(distances(model, 0.5, {0.1, 0.2, 1.0}, {0, 0, 0.1}).largest() > 0.01);
    BOOST_TEST(distances(model, 0.5, {0, 0, 0}, {0, 0, -1.0}).largest() > 0.1);
    BOOST_TEST(distances(model, 0.5, {1.0, 0, 1.0}, {0, 0, 0}).largest() > 0.1);
    BOOST_TEST(distances(model, 0.5, {0.1, 0, 1.0}, {0.3, 0.2, 0}).largest() >
               0.01);  // resists less
  }
}

BOOST_AUTO_TEST_CASE(not_a_number_is_kept) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Rng rng(5);
  const std::vector<ConstraintSet> sets = {
      ConstraintSet::cone(0.5), ConstraintSet::cone(0.0), ConstraintSet::non_negative()};
  const ContactProblem p =
      ContactProblem::from_dense(MatrixXd::Identity(7, 7), random_vector(rng, 7), sets);
  for (const ContactModel model : kModels) {
    for (int row = 0; row < 7; ++row) {
      for (const bool in_impulse : {false, true}) {
        VectorXd l = VectorXd::Ones(7), c = VectorXd::Ones(7);
        (in_impulse ? l : c)[row] = nan;
        BOOST_TEST_CONTEXT(to_string(model) << ", row " << row << ", impulse " << in_impulse)
        BOOST_TEST(std::isinf(model_residuals(model, 4, p, l.data(), c.data(), 0, 3).relative));
      }
    }
  }
}

// Relative residuals have no unit: mass and speed in other units change nothing but the last bits.
BOOST_AUTO_TEST_CASE(units_do_not_matter) {
  Rng rng(6);
  for (int trial = 0; trial < 100; ++trial) {
    const Data d = random_problem(rng, 0.8, trial % 2 == 0);
    const ContactProblem p = d.problem();
    const VectorXd l = random_vector(rng, p.num_rows());
    for (const double mass : {1e-5, 1e5}) {
      for (const double speed : {1e-5, 1e5}) {
        Data e = d;
        e.G /= mass;
        e.R /= mass;
        e.g *= speed;
        for (ConstraintSet& s : e.sets) {
          s.lower *= mass * speed;
          s.upper *= mass * speed;
        }
        const ContactProblem q = e.problem();
        const VectorXd c = p.dense() * l + d.g, scaled = l * (mass * speed), fast = c * speed;
        for (const ContactModel model : kModels) {
          const double a =
              model_residuals(model, 8, p, l.data(), c.data(), 0, p.num_sets()).relative;
          const double b =
              model_residuals(model, 8, q, scaled.data(), fast.data(), 0, q.num_sets()).relative;
          BOOST_TEST(std::abs(a - b) <= 1e-12 * a);
        }
      }
    }
  }
}

// Sets that are no contact obey the same law in every model.
BOOST_AUTO_TEST_CASE(other_sets_are_judged_alike) {
  Rng rng(7);
  const std::vector<ConstraintSet> sets = {
      ConstraintSet::non_negative(), ConstraintSet::box(-0.3, 0.4), ConstraintSet::free(3)};
  const ContactProblem p =
      ContactProblem::from_dense(MatrixXd::Identity(5, 5), random_vector(rng, 5), sets);
  for (int trial = 0; trial < 50; ++trial) {
    const VectorXd l = random_vector(rng, 5), c = random_vector(rng, 5);
    const double expected = residuals_at(p, l.data(), c.data(), 0, 3).relative;
    for (const ContactModel model : kModels)
      BOOST_TEST(model_residuals(model, 4, p, l.data(), c.data(), 0, 3).relative == expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()
