#include "model/joint.hpp"

#include "stiction/model/tree.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

using namespace stiction;
using namespace stiction::test;

namespace {

/// No type of a scene: position in a plane and angle, to see that the checks below are all that a
/// new type needs. The plane is normal to z of the joint frame.
struct PlanarJoint {
  static constexpr JointFacts facts{
      .name = "planar", .nq = 4, .nv = 3, .linear_dofs = 2, .unit_first = 2, .unit_count = 2};
  static void neutral(double* q) {
    q[0] = q[1] = 0.0;
    ContinuousJoint::neutral(q + 2);
  }
  template <class Real>
  static void place(const Real* q, const JointFrame<Real>& joint) {
    const Real o(0.0);
    joint.X.p += joint.X.R.c0 * q[0] + joint.X.R.c1 * q[1];
    ContinuousJoint::place(q + 2, JointFrame<Real>{joint.X, joint.S + 2, 2, joint.axis});
    joint.S[0] = {joint.X.R.c0, {o, o, o}};
    joint.S[1] = {joint.X.R.c1, {o, o, o}};
  }
  template <class Real>
  static Motion<Real> velocity(const RigidTransform<Real>&, const Motion<Real>* S, const Real* v) {
    return S[0] * v[0] + S[1] * v[1] + S[2] * v[2];
  }
  template <class Real>
  static void integrate(Real* q, const Real* v, Real dt) {
    const Real x = q[2] * v[0] - q[3] * v[1], y = q[3] * v[0] + q[2] * v[1];
    q[0] += dt * x;
    q[1] += dt * y;
    ContinuousJoint::integrate(q + 2, v + 2, dt);
  }
  static void difference(const double* q0, const double* q1, double* x) {
    const double a = q1[0] - q0[0], b = q1[1] - q0[1];
    x[0] = q0[2] * a + q0[3] * b;
    x[1] = q0[2] * b - q0[3] * a;
    ContinuousJoint::difference(q0 + 2, q1 + 2, x + 2);
  }
  static void displacement_rate(const double*, const double* v, double* rate) {
    std::copy(v, v + 3, rate);
  }
};
static_assert(JointModel<PlanarJoint>);

constexpr JointType kTypes[] = {JointType::kFreeFlyer,
                                JointType::kSpherical,
                                JointType::kRevolute,
                                JointType::kContinuous,
                                JointType::kPrismatic};

/// One joint of a type with a random frame before it, axis and configuration.
template <JointModel Joint>
struct Sample {
  static constexpr int nq = Joint::facts.nq, nv = Joint::facts.nv;
  using Coordinates = std::array<double, nq>;
  using Velocity = std::array<double, nv>;
  Transform before;
  Vec3d axis;
  int code;
  Coordinates q;

  explicit Sample(Rng& rng) : before(pose(rng, 1.0)), axis(unit_vector(rng)), code(rng.below(4)) {
    if (code < 3) axis = {code == 0 ? 1.0 : 0.0, code == 1 ? 1.0 : 0.0, code == 2 ? 1.0 : 0.0};
    Joint::neutral(q.data());
    Joint::integrate(q.data(), velocity(rng, 2.0).data(), 1.0);
  }
  static Velocity velocity(Rng& rng, double bound) {
    Velocity v;
    for (double& x : v) x = rng.uniform(-bound, bound);
    return v;
  }
  Transform placement(const Coordinates& at, Motion<double>* S) const {
    Transform X = before;
    Joint::place(at.data(), JointFrame<double>{X, S, code, axis});
    return X;
  }
  Coordinates moved(const Coordinates& from, const Velocity& v, double dt) const {
    Coordinates to = from;
    Joint::integrate(to.data(), v.data(), dt);
    return to;
  }
};

template <class Array>
double distance(const Array& a, const Array& b) {
  double most = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::abs(a[k] - b[k]));
  return most;
}

double distance(const Vec3d& a, const Vec3d& b) { return norm(a - b); }
double distance(const Transform& a, const Transform& b) {
  return distance(a.p, b.p) + distance(a.R.c0, b.R.c0) + distance(a.R.c1, b.R.c1) +
         distance(a.R.c2, b.R.c2);
}

/// Spatial velocity about the origin of a frame that goes from X0 to X1 by small steps.
Motion<double> rate(const Transform& X0, const Transform& X1, double dt) {
  const Mat3d D = X1.R * transpose(X0.R);
  const Vec3d w = Vec3d{D.c1.z - D.c2.y, D.c2.x - D.c0.z, D.c0.y - D.c1.x} * (0.5 / dt);
  const Vec3d middle = (X0.p + X1.p) * 0.5;
  return {(X1.p - X0.p) * (1.0 / dt) + cross(middle, w), w};
}

/// q (+) x holds the unit norm, difference() is its inverse, and both know the neutral element.
template <class Joint>
void check_integration(Rng& rng) {
  using S = Sample<Joint>;
  const S s(rng);
  const double h = 0.7;
  const auto v = S::velocity(rng, 1.5);
  const auto to = s.moved(s.q, v, h);
  constexpr int first = Joint::facts.unit_first, count = Joint::facts.unit_count;
  const auto defect = [](const auto& q) {
    double sum = count > 0 ? -1.0 : 0.0;
    for (int k = first; k < first + count; ++k) sum += q[k] * q[k];
    return std::abs(sum);
  };
  BOOST_TEST(defect(to) < 1e-14);
  auto off = s.q;  // what is off by d is off by its square then
  for (int k = first; k < first + count; ++k) off[k] *= 1.0 + 1e-5;
  BOOST_TEST(defect(s.moved(off, v, h)) < 1e-9);
  typename S::Velocity x, expected = v;
  Joint::difference(s.q.data(), to.data(), x.data());
  for (double& e : expected) e *= h;
  BOOST_TEST(distance(x, expected) < 1e-14);
  Joint::difference(s.q.data(), s.q.data(), x.data());
  BOOST_TEST(distance(x, typename S::Velocity{}) < 1e-15);
  // The other sign of a quaternion is the same rotation.
  if (Joint::facts.unit_count == 4) {
    auto other = to;
    for (int k = 0; k < 4; ++k) other[Joint::facts.unit_first + k] *= -1.0;
    Joint::difference(s.q.data(), other.data(), x.data());
    BOOST_TEST(distance(x, expected) < 1e-14);
  }
}

/// The columns are the rates of the placement along each dof, and v their combination; both of all
/// dofs together.
template <class Joint>
void check_columns(Rng& rng) {
  using S = Sample<Joint>;
  const S s(rng);
  const double h = 1e-5;
  Motion<double> columns[S::nv], other[S::nv];
  const Transform X = s.placement(s.q, columns);
  const auto seen = [&](const typename S::Velocity& v) {
    return rate(
        s.placement(s.moved(s.q, v, -h), other), s.placement(s.moved(s.q, v, h), other), 2.0 * h);
  };
  for (int k = 0; k < S::nv; ++k) {
    typename S::Velocity unit{};
    unit[k] = 1.0;
    const Motion<double> found = seen(unit);
    BOOST_TEST(distance(found.linear, columns[k].linear) < 1e-9);
    BOOST_TEST(distance(found.angular, columns[k].angular) < 1e-9);
    // Units: a length moves without turning, an angle turns by itself.
    BOOST_TEST(std::abs(norm(columns[k].angular) - (k < Joint::facts.linear_dofs ? 0.0 : 1.0)) <
               1e-14);
  }
  const auto v = S::velocity(rng, 1.0);
  Motion<double> sum{{0, 0, 0}, {0, 0, 0}};
  for (int k = 0; k < S::nv; ++k) sum = sum + columns[k] * v[k];
  const Motion<double> own = Joint::velocity(X, columns, v.data());
  BOOST_TEST(distance(own.linear, sum.linear) + distance(own.angular, sum.angular) < 1e-14);
}

/// The joint is a motion of the joint frame: what is before it goes through it unchanged, and small
/// displacements after one another are their sum.
template <class Joint>
void check_composition(Rng& rng) {
  using S = Sample<Joint>;
  S s(rng);
  Motion<double> columns[S::nv];
  const Transform X = s.placement(s.q, columns), first = pose(rng, 1.0);
  s.before = first * s.before;
  BOOST_TEST(distance(s.placement(s.q, columns), first * X) < 1e-13);
  const auto v = S::velocity(rng, 1.0);
  auto halves = s.moved(s.moved(s.q, v, 0.25), v, 0.25);
  auto whole = s.moved(s.q, v, 0.5);
  if (Joint::facts.linear_dofs < 2)  // else the straight line turns with the body half way
    BOOST_TEST(distance(halves, whole) < 1e-14);
  typename S::Coordinates neutral;
  Joint::neutral(neutral.data());
  BOOST_TEST(distance(s.placement(neutral, columns), s.before) < 1e-15);
}

/// d/dt of the displacement xi(t) that brings q0 to q(t), by central differences.
template <class Joint>
void check_displacement_rate(Rng& rng) {
  using S = Sample<Joint>;
  const S s(rng);
  const double h = 1e-5;
  const auto xi = S::velocity(rng, 1.0), v = S::velocity(rng, 1.0);
  const auto at = s.moved(s.q, xi, 1.0);
  typename S::Velocity back, forth, found, rate;
  Joint::difference(s.q.data(), s.moved(at, v, -h).data(), back.data());
  Joint::difference(s.q.data(), s.moved(at, v, h).data(), forth.data());
  Joint::displacement_rate(xi.data(), v.data(), rate.data());
  for (int k = 0; k < S::nv; ++k) found[k] = (forth[k] - back[k]) / (2.0 * h);
  // Linear parts are in the axes before xi, those of `moved` in the axes after it.
  const int first = Joint::facts.linear_dofs > 1 ? Joint::facts.linear_dofs : 0;
  for (int k = first; k < S::nv; ++k) BOOST_TEST(std::abs(found[k] - rate[k]) < 1e-9);
  for (int k = 0; k < first; ++k) BOOST_TEST(rate[k] == v[k]);
}

/// The position of one dof: set, read, moved, and the shortest way to a target.
template <class Joint>
void check_position(Rng& rng) {
  if constexpr (Joint::facts.nv == 1) {
    const double x = rng.uniform(-3.0, 3.0), v = rng.uniform(-1.0, 1.0);
    double q[Joint::facts.nq];
    Joint::set_position(x, q);
    BOOST_TEST(std::abs(Joint::position(q) - x) < 1e-15);
    const double target = x + v + (Joint::facts.wraps ? 2.0 * M_PI * rng.below(3) : 0.0);
    BOOST_TEST(std::abs(joint_position_error(Joint::type, q, target) - v) < 4e-15);
    const double kept = x;
    double own[Joint::facts.nq];
    set_joint_position(Joint::type, kept, own);
    BOOST_TEST(joint_position(Joint::type, own) == Joint::position(q));
    BOOST_TEST((Joint::facts.limited || Joint::facts.wraps));
  } else {
    double q[7] = {1, 2, 3, 4, 5, 6, 7};
    set_joint_position(Joint::type, 9.0, q);
    BOOST_TEST(q[0] == 1.0);
    BOOST_TEST(joint_position(Joint::type, q) == 0.0);
    BOOST_TEST(joint_position_error(Joint::type, q, 9.0) == 0.0);
    BOOST_TEST(!Joint::facts.limited);
  }
}

template <class Joint>
void check(Rng& rng) {
  BOOST_TEST_CONTEXT(Joint::facts.name) {
    check_integration<Joint>(rng);
    check_columns<Joint>(rng);
    check_composition<Joint>(rng);
    check_displacement_rate<Joint>(rng);
  }
}

template <JointType t, class Base>
struct Typed : Base {
  static constexpr JointType type = t;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(joint_test)

// Each type with itself, by central differences and inverses; a type of the test as well.
BOOST_AUTO_TEST_CASE(each_type_is_consistent) {
  Rng rng(11);
  for (int trial = 0; trial < 200; ++trial) {
    for (const JointType type : kTypes)
      visit_joint(type, [&](auto joint) { check<decltype(joint)>(rng); });
    check<PlanarJoint>(rng);
  }
}

BOOST_AUTO_TEST_CASE(positions_of_one_dof) {
  Rng rng(12);
  for (int trial = 0; trial < 200; ++trial) {
    check_position<Typed<JointType::kFreeFlyer, FreeFlyerJoint>>(rng);
    check_position<Typed<JointType::kSpherical, SphericalJoint>>(rng);
    check_position<Typed<JointType::kRevolute, RevoluteJoint>>(rng);
    check_position<Typed<JointType::kContinuous, ContinuousJoint>>(rng);
    check_position<Typed<JointType::kPrismatic, PrismaticJoint>>(rng);
  }
}

// visit_joint() reaches the struct of each type: names, sizes and units as the scene documents
// them.
BOOST_AUTO_TEST_CASE(facts_of_each_type) {
  const auto row = [](JointType t) {
    const JointFacts& f = joint_facts(t);
    return std::string(f.name) + " " + std::to_string(f.nq) + " " + std::to_string(f.nv) + " " +
           std::to_string(f.linear_dofs) + " " + std::to_string(f.unit_first) + " " +
           std::to_string(f.unit_count) + (f.limited ? " limited" : "") +
           (f.wraps ? " wraps" : "") + (f.free ? " free" : "");
  };
  BOOST_TEST(row(JointType::kFreeFlyer) == "free_flyer 7 6 3 3 4 free");
  BOOST_TEST(row(JointType::kSpherical) == "spherical 4 3 0 0 4");
  BOOST_TEST(row(JointType::kRevolute) == "revolute 1 1 0 0 0 limited");
  BOOST_TEST(row(JointType::kContinuous) == "continuous 2 1 0 0 2 wraps");
  BOOST_TEST(row(JointType::kPrismatic) == "prismatic 1 1 1 0 0 limited");
}

// The table of dofs agrees with the ranges of the bodies, and only a root may be free.
BOOST_AUTO_TEST_CASE(joint_of_each_dof) {
  Rng rng(13);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<BodyDescription> bodies(1 + rng.below(9));
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      bodies[b].joint = b == 0 ? kTypes[rng.below(5)] : kTypes[1 + rng.below(4)];
      bodies[b].parent = static_cast<int>(b) - 1;
    }
    const Tree tree = Tree::build(bodies, 0, static_cast<int>(bodies.size()));
    BOOST_TEST(static_cast<int>(tree.joint_of_dof.size()) == tree.nv);
    for (int b = 0, dof = 0; b < tree.num_bodies; ++b) {
      for (int k = 0; k < joint_nv(tree.joint[b]); ++k, ++dof)
        BOOST_TEST(tree.joint_of_dof[dof] == b);
    }
    BOOST_TEST(tree.free_root == (bodies[0].joint == JointType::kFreeFlyer));
    bodies.emplace_back();
    bodies.back().parent = 0;
    bodies.back().joint = JointType::kFreeFlyer;
    BOOST_CHECK_THROW(Tree::build(bodies, 0, static_cast<int>(bodies.size())),
                      std::invalid_argument);
  }
}

BOOST_AUTO_TEST_SUITE_END()
