#pragma once

#include "stiction/model/joint_type.hpp"

#include "math/elementary.hpp"
#include "math/spatial_algebra.hpp"

#include <concepts>
#include <cstdint>

// Everything that depends on the type of a joint: one struct of constants and functions per type,
// of which JointModel says what it must have. A new type is a struct, its name in JointType, its
// case in visit_joint(), and the line of a loader that makes it. Functions that lanes need are
// templates on Real.

namespace stiction {

inline namespace STICTION_ISA {

/// Constants of a joint type.
struct JointFacts {
  const char* name;
  int nq, nv;
  int linear_dofs = 0;                 ///< the first dofs are lengths [m], the others angles [rad]
  int unit_first = 0, unit_count = 0;  ///< entries of q that have unit norm; count 0: none
  bool limited = false;                ///< one dof, whose position may have limits
  bool wraps = false;                  ///< one dof, whose position is known up to full turns
  bool free = false;                   ///< carries the root: nothing to push against
};

/// Rotation by angle (sine s, cosine c) about a unit axis, applied on the right: R <- R Rot(axis).
template <class Real>
inline void rotate_about_axis(
    Mat3<Real>& R, int axis_code, const Vec3<Real>& axis, Real s, Real c) {
  if (axis_code < 3) {
    // Rot(e_k) mixes the two other columns; e_k itself stays.
    Vec3<Real>& u = R.column((axis_code + 1) % 3);
    Vec3<Real>& w = R.column((axis_code + 2) % 3);
    const Vec3<Real> u_new = u * c + w * s;
    w = w * c - u * s;
    u = u_new;
    return;
  }
  // Rodrigues: c I + s [a]x + (1 - c) a a^T.
  const Vec3<Real> a = axis, sa = a * s, ta = a * (Real(1.0) - c);
  const Mat3<Real> Q{{c + ta.x * a.x, ta.x * a.y + sa.z, ta.x * a.z - sa.y},
                     {ta.y * a.x - sa.z, c + ta.y * a.y, ta.y * a.z + sa.x},
                     {ta.z * a.x + sa.y, ta.z * a.y - sa.x, c + ta.z * a.z}};
  R = R * Q;
}

/// Where a joint stands. X is the joint frame before it and the body's frame after it, in the axes
/// of the root; S the columns of the body's velocity across it, v = S qdot, about the root's
/// origin.
template <class Real>
struct JointFrame {
  RigidTransform<Real>& X;
  Motion<Real>* S;
  int axis_code;           ///< 0 1 2: the axis is x y z of the joint frame; 3: any other
  const Vec3<Real>& axis;  ///< unit, joint frame

  /// The axis in those of the root.
  Vec3<Real> direction() const { return axis_code < 3 ? X.R.column(axis_code) : X.R * axis; }
  /// X turned about the axis by an angle (sine s, cosine c), with its column.
  void turn(Real s, Real c) const {
    const Vec3<Real> a = direction();
    rotate_about_axis(X.R, axis_code, axis, s, c);
    S[0] = {cross(X.p, a), a};
  }
};

/// What a joint type must have.
template <class Joint>
concept JointModel = requires(
    double* q, const double* x, double* out, RigidTransform<double>& X, Motion<double>* S) {
  { Joint::facts } -> std::convertible_to<JointFacts>;
  Joint::neutral(q);
  Joint::place(x, JointFrame<double>{X, S, 3, X.p});             // X and S at a configuration
  { Joint::velocity(X, S, x) } -> std::same_as<Motion<double>>;  // S x
  Joint::integrate(q, x, 1.0);                                   // q <- q (+) dt x
  Joint::difference(x, x, out);         // of q0 and q1: out with q1 = q0 (+) out, the shortest way
  Joint::displacement_rate(x, x, out);  // of xi and the velocity v at q0 (+) xi: d xi / dt
  requires Joint::facts.nv > 1 || requires {
    { Joint::position(x) } -> std::same_as<double>;  // [rad or m]
    Joint::set_position(1.0, q);
  };
};

/// One dof about or along an axis: what revolute, continuous and prismatic joints share.
struct OneDofJoint {
  template <class Real>
  static Motion<Real> velocity(const RigidTransform<Real>&, const Motion<Real>* S, const Real* v) {
    return S[0] * v[0];
  }
  static void displacement_rate(const double*, const double* v, double* rate) { rate[0] = v[0]; }
};

/// One dof whose coordinate is its position.
struct OneCoordinateJoint : OneDofJoint {
  static void neutral(double* q) { q[0] = 0.0; }
  template <class Real>
  static void integrate(Real* q, const Real* v, Real dt) {
    q[0] += dt * v[0];
  }
  static void difference(const double* q0, const double* q1, double* x) { x[0] = q1[0] - q0[0]; }
  static double position(const double* q) { return q[0]; }
  static void set_position(double x, double* q) { q[0] = x; }
};

struct RevoluteJoint : OneCoordinateJoint {
  static constexpr JointFacts facts{.name = "revolute", .nq = 1, .nv = 1, .limited = true};
  template <class Real>
  static void place(const Real* q, const JointFrame<Real>& joint) {
    Real s, c;
    sincos(q[0], s, c);
    joint.turn(s, c);
  }
};

struct PrismaticJoint : OneCoordinateJoint {
  static constexpr JointFacts facts{
      .name = "prismatic", .nq = 1, .nv = 1, .linear_dofs = 1, .limited = true};
  template <class Real>
  static void place(const Real* q, const JointFrame<Real>& joint) {
    const Real o(0.0);
    const Vec3<Real> a = joint.direction();
    joint.X.p += a * q[0];
    joint.S[0] = {a, {o, o, o}};
  }
};

/// An angle as (cos, sin): no limits, any number of turns.
struct ContinuousJoint : OneDofJoint {
  static constexpr JointFacts facts{
      .name = "continuous", .nq = 2, .nv = 1, .unit_count = 2, .wraps = true};
  static void neutral(double* q) { set_position(0.0, q); }
  template <class Real>
  static void place(const Real* q, const JointFrame<Real>& joint) {
    joint.turn(q[1], q[0]);
  }
  template <class Real>
  static void integrate(Real* q, const Real* v, Real dt) {
    Real s, c;
    sincos(dt * v[0], s, c);
    const Real x = q[0] * c - q[1] * s, y = q[0] * s + q[1] * c;
    const Real scale = Real(1.5) - Real(0.5) * (x * x + y * y);
    q[0] = x * scale;
    q[1] = y * scale;
  }
  static void difference(const double* q0, const double* q1, double* x) {
    x[0] = arc_tangent(q1[1] * q0[0] - q1[0] * q0[1], q1[0] * q0[0] + q1[1] * q0[1]);
  }
  static double position(const double* q) { return arc_tangent(q[1], q[0]); }
  static void set_position(double x, double* q) {
    q[0] = cosine(x);
    q[1] = sine(x);
  }
};

/// Any rotation, as a unit quaternion.
struct SphericalJoint {
  static constexpr JointFacts facts{.name = "spherical", .nq = 4, .nv = 3, .unit_count = 4};
  static void neutral(double* q) {
    q[0] = q[1] = q[2] = 0.0;
    q[3] = 1.0;
  }
  template <class Real>
  static void place(const Real* q, const JointFrame<Real>& joint) {
    const RigidTransform<Real> X{joint.X.R * rotation_from_quaternion(q), joint.X.p};
    for (int k = 0; k < 3; ++k) joint.S[k] = {cross(X.p, X.R.column(k)), X.R.column(k)};
    joint.X = X;
  }
  template <class Real>
  static Motion<Real> velocity(const RigidTransform<Real>& X, const Motion<Real>*, const Real* v) {
    const Vec3<Real> w = X.R * Vec3<Real>{v[0], v[1], v[2]};
    return {cross(X.p, w), w};
  }
  template <class Real>
  static void integrate(Real* q, const Real* v, Real dt) {
    integrate_quaternion(q, Vec3<Real>{dt * v[0], dt * v[1], dt * v[2]});
  }
  /// log of q0* q1, of its two rotation vectors the shorter.
  static void difference(const double* q0, const double* q1, double* x) {
    const Vec3<double> e0{q0[0], q0[1], q0[2]}, e1{q1[0], q1[1], q1[2]};
    const Vec3<double> e = e1 * q0[3] - e0 * q1[3] - cross(e0, e1);
    const double c = q0[3] * q1[3] + dot(e0, e1), s = norm(e);
    const double half = arc_tangent(c < 0.0 ? -s : s, c < 0.0 ? -c : c);
    const double scale = s > 0.0 ? 2.0 * half / s : 2.0;
    for (int k = 0; k < 3; ++k) x[k] = scale * e[k];
  }
  /// J_r(x)^-1 w = w + x x w / 2 + c x x (x x w), c = (1 - (t / 2) cot(t / 2)) / t^2, t = |x|.
  static void displacement_rate(const double* xi, const double* v, double* rate) {
    const Vec3<double> x{xi[0], xi[1], xi[2]}, w{v[0], v[1], v[2]};
    const double t2 = squared_norm(x), t = square_root(t2);
    const double c = t < 1e-2 ? 1.0 / 12.0 + t2 / 720.0 + t2 * t2 / 30240.0
                              : (1.0 - 0.5 * t / (sine(0.5 * t) / cosine(0.5 * t))) / t2;
    const Vec3<double> xw = cross(x, w);
    const Vec3<double> out = w + xw * 0.5 + cross(x, xw) * c;
    for (int k = 0; k < 3; ++k) rate[k] = out[k];
  }
};

/// Any placement. Linear coordinates in the axes before the joint, velocities in those of the body.
struct FreeFlyerJoint {
  static constexpr JointFacts facts{.name = "free_flyer",
                                    .nq = 7,
                                    .nv = 6,
                                    .linear_dofs = 3,
                                    .unit_first = 3,
                                    .unit_count = 4,
                                    .free = true};
  static void neutral(double* q) {
    q[0] = q[1] = q[2] = 0.0;
    SphericalJoint::neutral(q + 3);
  }
  template <class Real>
  static void place(const Real* q, const JointFrame<Real>& joint) {
    const Real o(0.0);
    joint.X.p += joint.X.R * Vec3<Real>{q[0], q[1], q[2]};
    SphericalJoint::place(q + 3, JointFrame<Real>{joint.X, joint.S + 3, 3, joint.axis});
    for (int k = 0; k < 3; ++k) joint.S[k] = {joint.X.R.column(k), {o, o, o}};
  }
  template <class Real>
  static Motion<Real> velocity(const RigidTransform<Real>& X,
                               const Motion<Real>* S,
                               const Real* v) {
    const Motion<Real> turning = SphericalJoint::velocity(X, S + 3, v + 3);
    return {X.R * Vec3<Real>{v[0], v[1], v[2]} + turning.linear, turning.angular};
  }
  template <class Real>
  static void integrate(Real* q, const Real* v, Real dt) {
    const Real o(0.0);
    integrate_about({o, o, o}, q, v, dt);
  }
  /// The point c of the body moves on a straight line, p_c += dt R (v + w x c), and R <- R exp(dt
  /// w). c is the origin in q (+) dt v.
  template <class Real>
  static void integrate_about(const Vec3<Real>& c, Real* q, const Real* v, Real dt) {
    const Mat3<Real> R = rotation_from_quaternion(q + 3);
    const Vec3<Real> w{v[3], v[4], v[5]};
    const Vec3<Real> u = R * (Vec3<Real>{v[0], v[1], v[2]} + cross(w, c));
    SphericalJoint::integrate(q + 3, v + 3, dt);
    const Vec3<Real> moved = u * dt + (R * c - rotation_from_quaternion(q + 3) * c);
    for (int k = 0; k < 3; ++k) q[k] += moved[k];
  }
  static void difference(const double* q0, const double* q1, double* x) {
    const Vec3<double> moved{q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2]};
    const Vec3<double> own = transpose_times(rotation_from_quaternion(q0 + 3), moved);
    for (int k = 0; k < 3; ++k) x[k] = own[k];
    SphericalJoint::difference(q0 + 3, q1 + 3, x + 3);
  }
  /// v with its linear part in the axes before xi.
  static void displacement_rate(const double* xi, const double* v, double* rate) {
    for (int k = 0; k < 3; ++k) rate[k] = v[k];
    SphericalJoint::displacement_rate(xi + 3, v + 3, rate + 3);
  }
};

static_assert(JointModel<FreeFlyerJoint> && JointModel<SphericalJoint> &&
              JointModel<RevoluteJoint> && JointModel<ContinuousJoint> &&
              JointModel<PrismaticJoint>);

/// visit(the struct of a joint type). The only place that knows all of them.
template <class Visit>
constexpr decltype(auto) visit_joint(JointType type, Visit&& visit) {
  switch (type) {
    case JointType::kFreeFlyer:
      return visit(FreeFlyerJoint{});
    case JointType::kSpherical:
      return visit(SphericalJoint{});
    case JointType::kContinuous:
      return visit(ContinuousJoint{});
    case JointType::kPrismatic:
      return visit(PrismaticJoint{});
    case JointType::kRevolute:
      break;
  }
  return visit(RevoluteJoint{});
}

constexpr const JointFacts& joint_facts(JointType type) {
  return visit_joint(type, [](auto joint) -> const JointFacts& { return decltype(joint)::facts; });
}
constexpr int joint_nq(JointType type) { return joint_facts(type).nq; }
constexpr int joint_nv(JointType type) { return joint_facts(type).nv; }

/// Position of a joint of one dof [rad or m]; 0 of others.
inline double joint_position(JointType type, const double* q) {
  return visit_joint(type, [q](auto joint) {
    if constexpr (joint.facts.nv == 1) return joint.position(q);
    return 0.0;
  });
}
/// Does nothing to joints of several dofs.
inline void set_joint_position(JointType type, double x, double* q) {
  visit_joint(type, [x, q](auto joint) {
    if constexpr (joint.facts.nv == 1) joint.set_position(x, q);
  });
}
/// How far a joint of one dof is from `target`, the shortest way round [rad or m]; 0 of others.
inline double joint_position_error(JointType type, const double* q, double target) {
  return visit_joint(type, [q, target](auto joint) {
    double error = 0.0;
    if constexpr (joint.facts.nv == 1) {
      double wanted[joint.facts.nq];
      joint.set_position(target, wanted);
      joint.difference(q, wanted, &error);
    }
    return error;
  });
}

}  // namespace STICTION_ISA
}  // namespace stiction
