#include "stiction/solver/solver.hpp"

#include "solver/dense/dense_problem.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

// ncp-newton takes, of several solutions, the limit of vanishing compliance, whatever the start.

using namespace stiction;
using namespace stiction::test;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr double kGravity = 9.81, kStep = 1e-3, kHalf = 0.05, kMu = 0.5;

/// A cube of 1 kg between two pads of 0.2 kg on slides, four contacts each; the pads are pressed
/// together with `squeeze` times the least force that carries the cube. Coordinates: velocity of
/// the cube, then of the pads, inwards.
Data grasp(double squeeze) {
  VectorXd mass(8), motion = VectorXd::Zero(8);
  mass << Vector3d::Ones(), Vector3d::Constant(4.0 * kHalf * kHalf / 6.0), 0.2, 0.2;
  motion[2] = -kGravity * kStep;
  motion[6] = motion[7] = kStep * squeeze * kGravity / (2.0 * kMu) / 0.2;
  MatrixXd J(24, 8);
  int row = 0;
  for (const double side : {-1.0, 1.0}) {
    for (int k = 0; k < 4; ++k) {
      const Vector3d p(side * kHalf, k % 2 ? kHalf : -kHalf, k / 2 ? kHalf : -kHalf);
      const Vector3d n(-side, 0.0, 0.0), t(0.0, 1.0, 0.0);
      for (const Vector3d& axis : {t, Vector3d(n.cross(t)), n}) {
        J.row(row).setZero();
        J.block<1, 3>(row, 0) = axis.transpose();
        J.block<1, 3>(row, 3) = p.cross(axis).transpose();
        J(row++, side < 0.0 ? 6 : 7) = -axis.dot(n);
      }
    }
  }
  Data d;
  d.sets.assign(8, ConstraintSet::cone(kMu));
  d.G = J * mass.cwiseInverse().asDiagonal() * J.transpose();
  d.g = J * motion;
  return d;
}

/// On few rows, or by the stages.
enum class Course { kFewRows, kStages };

ContactSolution solved(const Data& d,
                       const std::vector<double>& start = {},
                       Course course = Course::kFewRows) {
  SolverWorkspace work;
  ContactSolution x;
  x.impulse = start;
  x.record_stages = true;
  SolverSettings settings;
  settings.max_factorisations = 0;
  if (course == Course::kStages)
    settings.max_factorisations = kMostDenseSteps - 1;  // no room for the other
  solve(d.problem(), settings, work, x);
  const bool few = std::ranges::any_of(
      x.stages, [](const StageRecord& r) { return std::string(r.stage) == "few rows"; });
  if (course == Course::kStages) BOOST_TEST(!few);
  return x;
}

double largest(const std::vector<double>& x) {
  double most = 0.0;
  for (const double value : x) most = std::max(most, std::abs(value));
  return most;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::abs(a[k] - b[k]));
  return most;
}

/// R of each row in the scaling in which cones are unit cones, as docs/solvers.md has it.
VectorXd canonical_diagonal(const Data& d) {
  VectorXd R(d.g.size());
  int o = 0;
  for (const ConstraintSet& s : d.sets) {
    if (s.is_cone()) {
      const double mu = s.friction.slope() > 0.0 ? s.friction.slope() : 1.0;
      const double mean = (d.G(o, o) + d.G(o + 1, o + 1) + d.G(o + 2, o + 2) / (mu * mu)) / 3.0;
      R[o] = R[o + 1] = mean;
      R[o + 2] = mean * mu * mu;
    } else {
      for (int r = 0; r < s.dim; ++r) R[o + r] = d.G(o + r, o + r);
    }
    o += s.dim;
  }
  return R;
}

/// The solution with R = share times that, from the one with ten times as much: an explicit
/// compliance, as that of a material.
ContactSolution compliant(const Data& d, double last) {
  const VectorXd R = canonical_diagonal(d);
  std::vector<double> start;
  ContactSolution x;
  for (double share = 1e-1; share >= 0.5 * last; share *= 0.1) {
    Data soft = d;
    soft.R = share * R;
    x = solved(soft, start);
    start = x.impulse;
  }
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(limit_test)

// Whatever little the squeeze has to spare, the cube stays; on few rows and on any.
BOOST_AUTO_TEST_CASE(a_grasp_that_can_hold_holds) {
  for (const double squeeze : {1.001, 1.02, 1.2, 2.0}) {
    for (const Course course : {Course::kFewRows, Course::kStages}) {
      const ContactSolution x = solved(grasp(squeeze), {}, course);
      BOOST_TEST(x.converged());
      BOOST_TEST(largest(x.velocity) <= 1e-9 * kGravity * kStep);
    }
  }
}

// What nothing squeezes falls, though impulses exist with which it would stick.
BOOST_AUTO_TEST_CASE(nothing_squeezes_a_peg) {
  const Data d = grasp(0.0);
  const std::vector<double> squeezed = solved(grasp(2.0)).impulse;
  for (const Course course : {Course::kFewRows, Course::kStages}) {
    for (const ContactSolution& x : {solved(d, {}, course), solved(d, squeezed, course)}) {
      BOOST_TEST(x.converged());
      BOOST_TEST(largest(x.impulse) <= 1e-9 * largest(squeezed));
    }
  }
}

// A scene that its mirror image equals has impulses that do, from a start that does not.
BOOST_AUTO_TEST_CASE(symmetric_impulses_of_a_symmetric_grasp) {
  Rng rng(3);
  for (int trial = 0; trial < 50; ++trial) {
    const Data d = grasp(rng.uniform(1.1, 3.0));
    const Course course = trial % 2 ? Course::kStages : Course::kFewRows;
    std::vector<double> start = solved(d).impulse;
    const double size = largest(start);
    for (double& l : start) l += 0.2 * size * rng.uniform(-1.0, 1.0);
    const ContactSolution x = solved(d, start, course);
    BOOST_TEST(x.converged());
    // Contact k of the one side is at y, z of contact k of the other; normals point at each other.
    for (int k = 0; k < 4; ++k) {
      BOOST_TEST(std::abs(x.impulse[3 * k + 2] - x.impulse[12 + 3 * k + 2]) <= 1e-6 * size);
      BOOST_TEST(std::abs(x.impulse[3 * k] - x.impulse[12 + 3 * k]) <= 1e-6 * size);
      BOOST_TEST(std::abs(x.impulse[3 * k + 1] + x.impulse[12 + 3 * k + 1]) <= 1e-6 * size);
    }
  }
}

// Against an explicit compliance of 1e-7, where that tells the limit: where a tenth of it changes
// little. Of these a few have more solutions with the least compliance, too.
BOOST_AUTO_TEST_CASE(agrees_with_a_vanishing_compliance) {
  Rng rng(4);
  int total = 0, plain = 0, impulses = 0, velocities = 0, undetermined = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Data d = random_problem(rng, rng.uniform(0.2, 0.7), false);
    const ContactSolution x = solved(d), soft = compliant(d, 1e-7), softer = compliant(d, 1e-8);
    const double size = largest(soft.impulse);
    if (!x.converged() || !soft.converged() || !softer.converged() || size == 0.0) continue;
    if (difference(soft.impulse, softer.impulse) > 1e-4 * size) continue;
    ++total;
    // Bilateral rows are eliminated first: the scaling is that of what they leave.
    const bool alone = std::ranges::none_of(
        d.sets, [](const ConstraintSet& set) { return set.kind == SetKind::kFree; });
    plain += alone;
    impulses += alone && difference(x.impulse, soft.impulse) <= 1e-3 * size;
    velocities += difference(x.velocity, soft.velocity) <= 1e-4 * d.g.lpNorm<Eigen::Infinity>();
    undetermined += d.G.fullPivLu().rank() < d.g.size();
  }
  BOOST_TEST_MESSAGE(total << " problems, of " << velocities << " the velocities, of " << impulses
                           << " the impulses agree, of " << plain << " without bilateral rows");
  BOOST_TEST(total > 200);
  BOOST_TEST(undetermined > 150);
  BOOST_TEST(velocities >= 0.97 * total);
  BOOST_TEST(plain > 100);
  BOOST_TEST(impulses >= 0.95 * plain);
}

namespace {

/// A robot that stands on a foot with four to six points or more: a root, joints with brakes, and
/// limits that some of them touch. Brakes bear up to half of what they can.
Data braked(Rng& rng, int least_cones = 4) {
  const int joints = 6 + rng.below(12), cones = least_cones + rng.below(3), limits = rng.below(5);
  const int nv = 6 + joints, rows = 3 * cones + joints + limits;
  MatrixXd J = MatrixXd::Zero(rows, nv);
  VectorXd lambda = VectorXd::Zero(rows);
  Data d;
  d.sets.assign(cones, ConstraintSet::cone(0.5));
  for (int k = 0; k < cones; ++k) {
    const double angle = 2.0 * M_PI * (k + rng.uniform(-0.2, 0.2)) / cones;
    const Vector3d point(std::cos(angle), std::sin(angle), -0.3);
    for (int r = 0; r < 3; ++r) {
      J(3 * k + r, r) = 1.0;
      J.block<1, 3>(3 * k + r, 3) = point.cross(Vector3d::Unit(r)).transpose();
    }
    lambda[3 * k + 2] = rng.uniform(5.0, 6.0);
  }
  J.topRightCorner(3 * cones, joints) =
      J.topLeftCorner(3 * cones, 6) * random_matrix(rng, 6, joints);
  for (int k = 0; k < joints; ++k) {
    J(3 * cones + k, 6 + k) = 1.0;
    d.sets.push_back(ConstraintSet::box(-2.0, 2.0));
    lambda[3 * cones + k] = rng.uniform(-1.0, 1.0);
  }
  for (int k = 0; k < limits; ++k) {
    const int row = 3 * cones + joints + k, dofs = 1 + rng.below(3);
    if (k > 0 && rng.below(2)) J.row(row) = J.row(row - 1);  // nearly the same limit twice
    for (int m = 0; m < dofs; ++m) J(row, 6 + rng.below(joints)) += rng.uniform(-1.0, 1.0);
    d.sets.push_back(ConstraintSet::non_negative());
  }
  d.G = J * gram(random_matrix(rng, nv, 2 * nv)) * J.transpose();
  d.g = -d.G * lambda;
  d.R = VectorXd::Zero(rows);
  return d;
}

/// Impulses with the same velocity, as far from the given ones as bounds and normals allow in a
/// random direction, where nothing presses a set to the bound that it is on. All are 1e-9 too
/// large.
/// `rays`: by columns, where impulses may go.
std::vector<double> another_solution(Rng& rng,
                                     const Data& d,
                                     const std::vector<double>& of,
                                     const MatrixXd& rays) {
  const VectorXd lambda = Eigen::Map<const VectorXd>(of.data(), d.g.size());
  const MatrixXd kernel = Eigen::FullPivLU<MatrixXd>(d.G * rays).setThreshold(1e-10).kernel();
  const VectorXd direction = rays * kernel * random_vector(rng, static_cast<int>(kernel.cols()));
  double most = 1e300;
  int o = 0;
  for (const ConstraintSet& s : d.sets) {
    const int r = o + s.dim - 1;
    const bool box = s.kind == SetKind::kBox;
    const double bound = direction[r] < 0.0 ? (box ? s.lower : 0.0) : (box ? s.upper : 1e300);
    if (direction[r] != 0.0) most = std::min(most, (bound - lambda[r]) / direction[r]);
    o += s.dim;
  }
  const VectorXd x = (1.0 + 1e-9) * (lambda + std::max(0.0, most) * direction);
  return {x.data(), x.data() + x.size()};
}

}  // namespace

// What stands is solved in one or two factorisations from the last step, and has the impulses that
// vanishing compliance chooses, also from impulses at which a contact bears nothing or a brake all
// it can: a limit bears its part of what a brake bears, or nothing.
BOOST_AUTO_TEST_CASE(brakes_beside_limits) {
  Rng rng(5);
  int total = 0, from_edges = 0, quick = 0, agree = 0, idle = 0, pushing = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Data d = braked(rng);
    const ContactSolution soft = compliant(d, 1e-7), softer = compliant(d, 1e-8);
    const double size = largest(soft.impulse);
    if (!soft.converged() || !softer.converged()) continue;
    if (difference(soft.impulse, softer.impulse) > 1e-5 * size) continue;
    Data before = d;
    before.g *= rng.uniform(0.98, 1.02);
    std::vector<double> start = solved(before).impulse;
    const bool from_edge = trial % 2 == 1;
    const MatrixXd anywhere = MatrixXd::Identity(d.g.size(), d.g.size());
    if (from_edge) start = another_solution(rng, d, soft.impulse, anywhere);
    const bool far = trial % 4 == 3;  // as where targets jump
    for (double& l : start) l *= far ? 1.2 : 1.0;
    const ContactSolution x = solved(d, start);
    BOOST_TEST(x.converged());
    if (largest(x.velocity) > 1e-6 * d.g.lpNorm<Eigen::Infinity>()) continue;  // it gives way
    ++total;
    from_edges += from_edge;
    quick += !from_edge && x.factorisations <= 2;
    agree += difference(x.impulse, soft.impulse) <= 1e-4 * size;
    for (std::size_t k = 0; k < d.sets.size(); ++k) {
      if (d.sets[k].kind != SetKind::kNonNegative) continue;
      const double push = x.impulse[d.g.size() - (d.sets.size() - k)];
      (push > 1e-6 * size ? pushing : idle) += 1;
    }
  }
  BOOST_TEST_MESSAGE(total << " stand, " << quick << " of them are quick, " << agree << " agree; "
                           << pushing << " limits push, " << idle << " do not");
  BOOST_TEST(total > 200);
  BOOST_TEST(agree >= 0.97 * total);  // two limits may be the same but for a millionth
  BOOST_TEST(from_edges > 100);
  BOOST_TEST(quick > 0.6 * (total - from_edges));
  BOOST_TEST(pushing > 50);
  BOOST_TEST(idle > 50);
}

namespace {

/// Columns along which impulses stay where they are: on the cones, all of which slide, or on a
/// bound.
MatrixXd rays_of_slides(const Data& d, const std::vector<double>& lambda, int cones) {
  const int n = static_cast<int>(d.g.size());
  MatrixXd rays = MatrixXd::Zero(n, n - 2 * cones);
  for (int k = 0; k < cones; ++k) {
    for (int r = 0; r < 3; ++r) rays(3 * k + r, k) = lambda[3 * k + r] / lambda[3 * k + 2];
  }
  for (int r = 3 * cones; r < n; ++r) {
    const ConstraintSet& set = d.sets[cones + r - 3 * cones];
    const bool box = set.kind == SetKind::kBox;
    const bool inside = box ? std::abs(lambda[r]) < 0.99 * set.upper : lambda[r] > 1e-6;
    if (inside) rays(r, r - 2 * cones) = 1.0;
  }
  return rays;
}

}  // namespace

// Where a foot slides, too, impulses that make no velocity are those of the limit: with friction
// that is smaller than what is asked of it, from impulses that stand off it.
BOOST_AUTO_TEST_CASE(a_foot_that_slides) {
  Rng rng(6);
  int total = 0, agree = 0, quick = 0, redundant = 0, moved = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Data d = braked(rng, 8);
    const int cones = static_cast<int>(
        std::ranges::count_if(d.sets, [](const ConstraintSet& set) { return set.is_cone(); }));
    for (int k = 0; k < cones; ++k) d.g[3 * k] -= d.g.lpNorm<Eigen::Infinity>();
    const ContactSolution soft = compliant(d, 1e-7), softer = compliant(d, 1e-8);
    const double size = largest(soft.impulse), speed = d.g.lpNorm<Eigen::Infinity>();
    if (!soft.converged() || !softer.converged()) continue;
    if (difference(soft.impulse, softer.impulse) > 1e-5 * size) continue;
    int sliding = 0;
    for (int k = 0; k < cones; ++k)
      sliding += std::hypot(soft.velocity[3 * k], soft.velocity[3 * k + 1]) > 1e-3 * speed &&
                 soft.impulse[3 * k + 2] > 1e-3 * size;
    if (sliding < cones) continue;
    ++total;
    redundant += d.G.fullPivLu().rank() < d.g.size();
    Data before = d;
    before.g *= rng.uniform(0.99, 1.01);
    std::vector<double> start = solved(before).impulse;
    if (trial % 2)
      start = another_solution(rng, d, soft.impulse, rays_of_slides(d, soft.impulse, cones));
    const ContactSolution x = solved(d, start);
    BOOST_TEST(x.converged());
    moved += trial % 2 && difference(start, soft.impulse) > 1e-2 * size;
    agree += difference(x.impulse, soft.impulse) <= 1e-4 * size;
    quick += x.factorisations <= 4;
  }
  BOOST_TEST_MESSAGE(total << " slide, " << redundant << " of them redundant, " << moved
                           << " from elsewhere, " << agree << " agree, " << quick << " are quick");
  BOOST_TEST(total > 100);
  BOOST_TEST(redundant > 100);
  BOOST_TEST(moved > 50);
  BOOST_TEST(agree >= 0.97 * total);
  BOOST_TEST(quick >= 0.7 * total);
}

BOOST_AUTO_TEST_SUITE_END()
