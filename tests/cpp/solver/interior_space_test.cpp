#include "solver/ncp_newton/interior_space.hpp"

#include "solver/common/lorentz.hpp"
#include "solver/ncp_newton/interior_point.hpp"
#include "support/allocation_guard.hpp"
#include "support/loose_problem.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <optional>

// The interior point method on loose bodies, without G.

using namespace stiction;
using namespace stiction::test;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// With friction, without, and of one row.
std::vector<ConstraintSet> contacts(Rng& rng, int count) {
  std::vector<ConstraintSet> sets;
  for (int i = 0; i < count; ++i) {
    const int kind = rng.below(10);
    sets.push_back(ConstraintSet::cone(
        kind == 0 ? Cone{1, {}} : Cone::coulomb(kind == 1 ? 0.0 : rng.uniform(0.05, 1.0))));
  }
  return sets;
}

/// Contacts, limits, dry friction of any width, pushes between bounds, closures.
std::vector<ConstraintSet> all_kinds(Rng& rng, int count) {
  std::vector<ConstraintSet> sets = contacts(rng, count);
  for (int i = 0; i < count / 3; ++i) {
    const double width = rng.below(4) == 0 ? 0.0 : std::pow(10.0, rng.uniform(-3.0, 0.0));
    const int kind = rng.below(4);
    sets[rng.below(count)] = kind == 0   ? ConstraintSet::non_negative()
                             : kind == 1 ? ConstraintSet::box(-width, width)
                             : kind == 2 ? ConstraintSet::box(0.0, width)
                                         : ConstraintSet::free(rng.below(2) ? 3 : 1);
  }
  return sets;
}

constexpr PredictorCorrector::Start kStart{100.0, 0.1, 0.1, 0.99};

struct Solved {
  VectorXd impulse;
  double residual;
  int steps;
};

/// The whole problem, which must stay.
struct Method {
  Island island;
  TreeSpace space;
  InteriorSpaceWork work;
  WorkAccount account;
  std::optional<InteriorSpace> interior;

  explicit Method(const ContactProblem& p) : island(p, 0, p.num_sets()) {
    BOOST_REQUIRE(space.prepare(island, island.problem.space, 100000));
    interior.emplace(island, space, work, account);
  }
};

Solved solve_to(const ContactProblem& p, double target, int most = 60) {
  Method method(p);
  method.interior->restart(kStart);
  method.interior->advance(target, most, {});
  BOOST_TEST(method.account.factorisations == method.interior->steps());
  Solved out{VectorXd::Zero(p.num_rows()), 0.0, method.account.factorisations};
  method.interior->copy_impulse(out.impulse.data());
  VectorXd c(p.num_rows());
  out.residual = residuals(p, out.impulse.data(), c.data(), 0, p.num_sets()).relative;
  return out;
}

/// Inside the cone, some all but on its surface.
Vector3d inside(Rng& rng) {
  const double angle = rng.uniform(-3.2, 3.2), size = std::pow(10.0, rng.uniform(-3.0, 2.0));
  const double share = rng.below(2) == 0 ? rng.uniform(0.0, 0.99) : 1.0 - 1e-6;
  return size * Vector3d(share * std::cos(angle), share * std::sin(angle), 1.0);
}

/// Planes [3][count] as columns.
MatrixXd columns(const VectorXd& planes) {
  return Eigen::Map<const MatrixXd>(planes.data(), planes.size() / 3, 3).transpose();
}
VectorXd planes(const MatrixXd& columns) {
  const MatrixXd rows = columns.transpose();
  return Eigen::Map<const VectorXd>(rows.data(), rows.size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(interior_space_test)

// Scalings, blocks and directions of many cones against those of each by itself (lorentz.hpp).
BOOST_AUTO_TEST_CASE(kernels_of_planes_are_the_algebra_of_a_cone) {
  constexpr int kCount = 37;
  Rng rng(1);
  MatrixXd l(3, kCount), y(3, kCount);
  for (int i = 0; i < kCount; ++i) {
    l.col(i) = inside(rng);
    y.col(i) = inside(rng);
  }
  const VectorXd lp = planes(l), yp = planes(y), r = random_vector(rng, 3 * kCount),
                 pl = random_vector(rng, 3 * kCount), py = random_vector(rng, 3 * kCount),
                 dl = random_vector(rng, 3 * kCount);
  VectorXd w(3 * kCount), beta(kCount), p(2 * kCount), B(9 * kCount), H(9 * kCount);
  VectorXd d(3 * kCount), b(3 * kCount), dy(3 * kCount), product(3 * kCount);
  const cone_planes::Scalings scalings{w.data(), beta.data(), p.data()};
  constexpr double kSlip = 1e-3, kCentre = 0.3, kShare = 0.7;
  cone_planes::scale(kCount, lp.data(), yp.data(), kSlip, scalings);
  cone_planes::blocks(kCount, scalings, B.data());
  cone_planes::inverse_blocks(kCount, scalings, H.data());
  cone_planes::aim(kCount,
                   scalings,
                   lp.data(),
                   {pl.data(), py.data()},
                   r.data(),
                   kCentre,
                   kShare,
                   d.data(),
                   b.data());
  cone_planes::finish(kCount, scalings, d.data(), dl.data(), dy.data());
  cone_planes::times(kCount, B.data(), dl.data(), product.data());
  for (int i = 0; i < kCount; ++i) {
    const lorentz::Scaling<3> W(l.col(i).data(), y.col(i).data());
    Matrix3d W2, E = Matrix3d::Identity(), Bi, Hi;
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) {
        W2(row, column) = W.squared(row, column);
        Bi(row, column) = B[(3 * row + column) * kCount + i];
        Hi(row, column) = H[(3 * row + column) * kCount + i];
      }
    }
    E.row(2).head<2>() -= y.col(i).head<2>().transpose() /
                          std::sqrt(y.col(i).head<2>().squaredNorm() + kSlip * kSlip);
    const double size = W2.norm();
    BOOST_TEST((Bi - E * W2).norm() <= 1e-12 * size);
    const double condition = Bi.norm() * Hi.norm();
    BOOST_TEST((Bi * Hi - Matrix3d::Identity()).norm() <= 1e-14 * condition);
    BOOST_TEST((columns(product).col(i) - Bi * columns(dl).col(i)).norm() <= 1e-12 * size);

    double z[3], u[3], v[3], q[3];
    W.apply(l.col(i).data(), z);
    W.apply(columns(pl).col(i).eval().data(), u);
    W.apply_inverse(columns(py).col(i).eval().data(), v);
    double zz[3], uv[3];
    lorentz::product<3>(z, z, zz);
    lorentz::product<3>(u, v, uv);
    for (int k = 0; k < 3; ++k) q[k] = -zz[k] - uv[k] + (k == 2 ? kCentre : 0.0);
    lorentz::divide<3>(z, q, u);
    Vector3d expected;
    W.apply(u, expected.data());
    BOOST_TEST((columns(d).col(i) - expected).norm() <= 1e-9 * expected.norm());
    const Vector3d right = E * expected - kShare * columns(r).col(i);
    BOOST_TEST((columns(b).col(i) - right).norm() <= 1e-9 * (expected.norm() + right.norm()));
    const Vector3d change = columns(d).col(i) - W2 * columns(dl).col(i);
    BOOST_TEST((columns(dy).col(i) - change).norm() <= 1e-12 * (size + change.norm()));
  }
}

BOOST_AUTO_TEST_CASE(steps_stay_inside_and_pairs_are_those_of_each_cone) {
  constexpr int kCount = 21;
  Rng rng(2);
  VectorXd scratch(2 * kCount);
  int limited = 0;
  for (int trial = 0; trial < 50; ++trial) {
    MatrixXd l(3, kCount), y(3, kCount), dl(3, kCount), dy(3, kCount);
    double longest = 10.0, least = 1e300, sum = 0.0, found = 0.0;
    for (int i = 0; i < kCount; ++i) {
      l.col(i) = inside(rng);
      y.col(i) = inside(rng);
      dl.col(i) = 0.05 * inside(rng) * (rng.below(2) == 0 ? 1.0 : -1.0);
      dy.col(i) = 0.05 * inside(rng);
      longest = lorentz::longest_step<3>(l.col(i).data(), dl.col(i).data(), longest);
    }
    const VectorXd lp = planes(l), yp = planes(y), dlp = planes(dl), dyp = planes(dy);
    BOOST_TEST(
        cone_planes::longest_step(kCount, lp.data(), dlp.data(), 10.0, scratch.data()) == longest,
        boost::test_tools::tolerance(1e-9));
    limited += longest < 10.0;
    const double alpha = 0.5 * longest;
    for (int i = 0; i < kCount; ++i) {
      const Vector3d a = l.col(i) + alpha * dl.col(i), b = y.col(i) + alpha * dy.col(i);
      least = std::min(least, lorentz::smallest_eigenvalue<3>(a.data(), b.data()));
      sum += a.dot(b);
    }
    const double worst = cone_planes::worst_pair(
        kCount, lp.data(), dlp.data(), yp.data(), dyp.data(), alpha, &found, scratch.data());
    BOOST_TEST(std::abs(worst - least) <= 1e-9 * sum);
    BOOST_TEST(found == sum, boost::test_tools::tolerance(1e-12));
  }
  BOOST_TEST(limited > 40);
}

// Step by step the dense method's, whose own tests hold its equations.
BOOST_AUTO_TEST_CASE(iterates_are_those_of_the_dense_method) {
  constexpr int kTrials = 40;
  int same = 0;                     // where no choice between directions hangs on rounding
  constexpr double kTarget = 1e-2;  // before steps to the surface amplify rounding
  Rng rng(3);
  for (int trial = 0; trial < kTrials; ++trial) {
    const ContactProblem p =
        loose_problem(rng, 6, trial % 2 ? all_kinds(rng, 12) : contacts(rng, 15));
    const Solved here = solve_to(p, kTarget);
    p.panels(0, p.num_sets());
    InteriorWork work;
    WorkAccount count;
    InteriorPoint dense({p, 0, p.num_sets()}, InteriorPoint::Problem::kContact, work, count);
    dense.restart(kStart);
    dense.advance(kTarget, 60, {});
    VectorXd l = VectorXd::Zero(p.num_rows());
    dense.copy_impulse(l.data());
    // G is singular: of the impulses, what they do.
    const MatrixXd Z = dense_factor(p);
    same += count.factorisations == here.steps &&
            (Z * (l - here.impulse)).norm() <= 1e-6 * (Z * l).norm();
  }
  BOOST_TEST(same >= 0.85 * kTrials);
}

// Whatever the size: what the last digits need is the refinement of each direction.
BOOST_AUTO_TEST_CASE(some_twenty_steps_solve_islands_of_any_size) {
  Rng rng(4);
  for (const auto& [bodies, count, trials] :
       {std::tuple{10, 30, 30}, {60, 200, 15}, {300, 1000, 4}}) {
    int solved = 0, steps = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const ContactProblem p = loose_problem(rng, bodies, contacts(rng, count));
      const Solved s = solve_to(p, 1e-9, 40);
      solved += s.residual <= 1e-7;
      steps += s.steps;
    }
    BOOST_TEST_MESSAGE(bodies << " bodies: " << solved << " of " << trials << ", "
                              << static_cast<double>(steps) / trials << " steps");
    BOOST_TEST(solved >= 0.75 * trials);
    BOOST_TEST(steps <= 30 * trials);
  }
}

BOOST_AUTO_TEST_CASE(limits_dry_friction_and_closures_are_rows_beside_the_cones) {
  Rng rng(9);
  constexpr int kTrials = 40;
  int solved = 0, near = 0, at_bounds = 0, held = 0, free = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const ContactProblem p = loose_problem(rng, 30, all_kinds(rng, 60));
    const Solved s = solve_to(p, 1e-9, 60);
    if (!(s.residual <= 1e-7)) continue;
    ++solved;
    for (const ConstraintSet& set : p.sets) {
      const double l = s.impulse[set.offset];
      if (set.kind == SetKind::kBox) {
        BOOST_TEST((set.lower <= l && l <= set.upper));
        held += set.lower == set.upper;
        at_bounds += set.lower < set.upper && std::min(l - set.lower, set.upper - l) <= 1e-6;
      }
      free += set.kind == SetKind::kFree;
    }
    Method method(p);
    VectorXd c(p.num_rows());
    residuals(p, s.impulse.data(), c.data(), 0, p.num_sets());
    method.interior->restart_near(s.impulse.data(), c.data(), 1e-4, 1e-3, 0.95);
    near += method.interior->advance(1e-6, 20, {});
  }
  BOOST_TEST_MESSAGE(solved << " solved, " << near << " again, " << at_bounds << " at bounds");
  BOOST_TEST(solved >= 0.75 * kTrials);
  BOOST_TEST(near >= 0.85 * solved);
  BOOST_TEST(at_bounds > 50);
  BOOST_TEST(held > 10);
  BOOST_TEST(free > 50);
}

// From impulses and their velocity: l - y is theirs whatever the pairs, so that small pairs leave
// the impulses of a solution where they are.
BOOST_AUTO_TEST_CASE(a_start_near_impulses_is_as_near_as_its_pairs_are_small) {
  Rng rng(7);
  int trials = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const ContactProblem p = loose_problem(rng, 20, contacts(rng, 60));
    const Solved solved = solve_to(p, 1e-9);
    if (solved.residual > 1e-7) continue;
    ++trials;
    Method method(p);
    VectorXd c(p.num_rows()), l(p.num_rows());
    residuals(p, solved.impulse.data(), c.data(), 0, p.num_sets());
    const double unit = Eigen::Map<const VectorXd>(p.g.data(), p.num_rows()).cwiseAbs().maxCoeff();
    for (const double size : {1e-4, 1e-8, 1e-12}) {
      method.interior->restart_near(solved.impulse.data(), c.data(), size, 1e-3, 0.95);
      method.interior->copy_impulse(l.data());
      for (const ConstraintSet& set : p.sets) {
        for (int r = 0; r < set.dim; ++r) {
          const int k = set.offset + r;
          const double scale = unit / std::sqrt(p.diagonal_entry(&set - p.sets.data(), r));
          BOOST_TEST(std::abs(l[k] - solved.impulse[k]) <= 3.0 * (std::sqrt(size) + 1e-5) * scale);
        }
      }
    }
  }
  BOOST_TEST(trials >= 15);
}

// As of a body that is kicked: the last impulses are wrong by as much as the residual says, and
// right about which contacts carry.
BOOST_AUTO_TEST_CASE(last_impulses_save_half_of_the_steps) {
  Rng rng(8);
  int near = 0, far = 0, trials = 0, arrived = 0;
  for (int trial = 0; trial < 20; ++trial) {
    ContactProblem p = loose_problem(rng, 30, contacts(rng, 100));
    const Solved last = solve_to(p, 1e-9);
    if (last.residual > 1e-7) continue;
    ++trials;
    for (double& x : p.g) x += 0.1 * rng.uniform(-1.0, 1.0);
    Method method(p);
    VectorXd c(p.num_rows());
    const Residuals r = residuals(p, last.impulse.data(), c.data(), 0, p.num_sets());
    method.interior->restart_near(
        last.impulse.data(), c.data(), std::clamp(r.relative, 1e-6, 1.0), 1e-3, 0.95);
    arrived += method.interior->advance(1e-3, 60, {});
    near += method.account.factorisations;
    far += solve_to(p, 1e-3).steps;
  }
  BOOST_TEST_MESSAGE("steps from the last impulses " << near << ", from far away " << far);
  BOOST_TEST(trials >= 15);
  BOOST_TEST(arrived == trials);
  BOOST_TEST(2 * near <= far);
}

BOOST_AUTO_TEST_CASE(cones_of_more_rows_are_left_to_others) {
  Rng rng(5);
  std::vector<ConstraintSet> sets = contacts(rng, 8);
  const ContactProblem p = loose_problem(rng, 4, sets);
  BOOST_TEST(InteriorSpace::applies({p, 0, p.num_sets()}));
  sets.push_back(ConstraintSet::cone(Cone{4, {0.5, 0.5, 0.01}}));
  const ContactProblem torsional = loose_problem(rng, 4, sets);
  BOOST_TEST(!InteriorSpace::applies({torsional, 0, torsional.num_sets()}));
}

// As a stage: what sweeps leave of a large island, to the last digits; nothing is allocated twice.
BOOST_AUTO_TEST_CASE(large_islands_end_here) {
  Rng rng(6);
  int ended = 0;
  for (int trial = 0; trial < 5; ++trial) {
    const ContactProblem p = loose_problem(rng, 60, contacts(rng, 180));
    SolverSettings settings{.tolerance = 1e-8};
    settings.tolerance_large = 1e-8;
    SolverWorkspace workspace;
    ContactSolution s;
    s.record_stages = true;
    solve(p, settings, workspace, s);
    BOOST_TEST(s.converged());
    BOOST_TEST(s.residuals.relative <= 1e-8);
    ended += s.stages.back().stage == std::string("interior in space");
    s.record_stages = false;
    const auto before = allocation_count();
    solve(p, settings, workspace, s);
    BOOST_TEST(allocation_count() == before);
  }
  BOOST_TEST(ended >= 3);
}

BOOST_AUTO_TEST_SUITE_END()
