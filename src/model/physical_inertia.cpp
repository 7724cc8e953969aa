#include "model/physical_inertia.hpp"

#include "math/elementary.hpp"
#include "model/joint.hpp"
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <stdexcept>

namespace stiction {

std::array<double, 3> principal_moments(const Sym3d& s) {
  // Closed form for symmetric 3x3 matrices (O. K. Smith, CACM 4, 1961).
  const double mean = (s.xx + s.yy + s.zz) / 3.0;
  const double a = s.xx - mean, b = s.yy - mean, c = s.zz - mean;
  const double off = s.xy * s.xy + s.xz * s.xz + s.yz * s.yz;
  const double p = std::sqrt((a * a + b * b + c * c + 2.0 * off) / 6.0);
  if (p == 0.0) return {mean, mean, mean};
  const double determinant =
      a * (b * c - s.yz * s.yz) - s.xy * (s.xy * c - s.yz * s.xz) + s.xz * (s.xy * s.yz - b * s.xz);
  const double r = std::clamp(determinant / (2.0 * p * p * p), -1.0, 1.0);
  const double angle = arc_cosine(r) / 3.0;
  const double high = mean + 2.0 * p * cosine(angle);
  const double low = mean + 2.0 * p * cosine(angle + 2.0 * std::numbers::pi / 3.0);
  return {low, 3.0 * mean - high - low, high};
}

InertiaDefect inertia_defect(double mass, const Sym3d& inertia) {
  const std::array<double, 3> m = principal_moments(inertia);
  const double largest = std::max(std::abs(m[0]), std::abs(m[2]));
  const double tolerance = 1e-6 * largest + 1e-12 * mass;
  if (m[0] < -tolerance) return InertiaDefect::kNotPositive;
  if (m[2] > m[0] + m[1] + tolerance) return InertiaDefect::kTriangle;
  return InertiaDefect::kNone;
}

Sym3d without_rounding(double mass, const Sym3d& inertia) {
  const double deficit = -std::min({inertia.xx, inertia.yy, inertia.zz});
  if (!(deficit > 0.0) || inertia_defect(mass, inertia) == InertiaDefect::kNotPositive) {
    return inertia;
  }
  Sym3d raised = inertia;
  for (double* moment : {&raised.xx, &raised.yy, &raised.zz}) {
    *moment += deficit;
  }
  return raised;
}

std::string describe(InertiaDefect defect, const Sym3d& inertia) {
  const std::array<double, 3> m = principal_moments(inertia);
  char moments[96];
  std::snprintf(moments, sizeof moments, "(%.5g, %.5g, %.5g) kg m^2", m[0], m[1], m[2]);
  if (defect == InertiaDefect::kNotPositive) {
    return std::string("inertia is not positive: its principal moments are ") + moments;
  }
  return std::string(
             "inertia violates the triangle inequality (no solid has it): its principal "
             "moments are ") +
         moments;
}

namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;  // [linear at the base's origin; angular], base axes
using Matrix6 = Eigen::Matrix<double, 6, 6>;

Eigen::Matrix3d cross_matrix(const Vec3d& c) {
  return Eigen::Matrix3d{{0.0, -c.z, c.y}, {c.z, 0.0, -c.x}, {-c.y, c.x, 0.0}};
}

/// The inertia of one body, about the base's origin.
Matrix6 spatial_inertia(const MovedBody& b, const Transform& pose) {
  const Eigen::Matrix3d C = cross_matrix(pose * b.com);
  const Sym3d J = rotate(pose.R, b.inertia);
  const Eigen::Matrix3d central{{J.xx, J.xy, J.xz}, {J.xy, J.yy, J.yz}, {J.xz, J.yz, J.zz}};
  Matrix6 out;
  out << b.mass * Eigen::Matrix3d::Identity(), -b.mass * C, b.mass * C, central - b.mass * C * C;
  return out;
}

/// The motion of a body at the unit rate of dof k of its joint.
Vector6 motion_of_dof(const MovedBody& b, const Transform& pose, int k) {
  const Vec3d axis = joint_nv(b.joint) == 1 ? pose.R * b.axis : pose.R.column(k % 3);
  const bool slides = k < joint_facts(b.joint).linear_dofs;
  const Vec3d v = slides ? axis : cross(pose.p, axis), w = slides ? Vec3d{0, 0, 0} : axis;
  return {v.x, v.y, v.z, w.x, w.y, w.z};
}

/// Whether an apparent inertia [kg or kg m^2] is rounding of the terms it is summed of, or too
/// small to be inverted and squared.
bool nothing(double apparent, double terms) {
  return !(apparent > std::max(1e-14 * terms, 1.0 / kLargest));
}

}  // namespace

/// The pivots of the mass matrix, from the leaves, are what each joint moves of articulated
/// inertias, all joints beyond it being free (Featherstone 2008, chapter 7).
int first_without_inertia(const std::vector<MovedBody>& bodies) {
  const int n = static_cast<int>(bodies.size());
  std::vector<Transform> pose(n);
  std::vector<Matrix6> articulated(n), terms(n);
  for (int i = 0; i < n; ++i) {
    const MovedBody& b = bodies[i];
    pose[i] = b.parent < 0 ? b.placement : pose[b.parent] * b.placement;
    articulated[i] = spatial_inertia(b, pose[i]);
    terms[i] = articulated[i].cwiseAbs();
  }
  int first = -1;
  for (int i = n - 1; i >= 0; --i) {  // children after their parents
    const MovedBody& b = bodies[i];
    for (int k = 0; k < joint_nv(b.joint); ++k) {
      const Vector6 s = motion_of_dof(b, pose[i], k), momentum = articulated[i] * s;
      const double pivot = s.dot(momentum) + b.armature,
                   size = s.cwiseAbs().dot(terms[i] * s.cwiseAbs());
      if (nothing(pivot, size))
        first = i;
      else
        articulated[i] -= momentum * momentum.transpose() / pivot;
    }
    if (b.parent < 0) continue;
    articulated[b.parent] += articulated[i];
    terms[b.parent] += terms[i];
  }
  return first;
}

void check_robot_inertia(const Robot& robot, const std::string& source) {
  std::vector<MovedBody> moved;
  int dof = 0;
  for (const BodyDescription& b : robot.bodies) {
    if (inertia_defect(b.mass, b.inertia) == InertiaDefect::kNotPositive || b.mass < 0.0) {
      throw BodyError(source + ": body '" + b.name + "' (with the links fixed to it): " +
                          describe(InertiaDefect::kNotPositive, b.inertia),
                      b.name);
    }
    const Sym3d& I = b.inertia;
    const double sum =
        b.mass + norm(b.com) + norm(b.placement.p) + I.xx + I.xy + I.yy + I.xz + I.yz + I.zz;
    if (!(std::abs(sum) <= kLargest)) {
      throw BodyError(
          source + ": body '" + b.name + "': its placement or inertia is too large to compute with",
          b.name);
    }
    moved.push_back({b.parent,
                     b.joint,
                     b.axis,
                     b.placement,
                     b.mass,
                     b.com,
                     b.inertia,
                     robot.dofs[dof].armature});
    dof += joint_nv(b.joint);
  }
  const int i = first_without_inertia(moved);
  if (i < 0) return;
  const BodyDescription& b = robot.bodies[i];
  const bool root = joint_facts(b.joint).free;
  throw BodyError(source + ": joint '" + b.joint_name + "' moves no inertia: give link '" + b.name +
                      (root ? "' a mass, or fix its base (free_flyer=False, --fixed-base)"
                            : "' or one of its children a mass, or make the joint fixed"),
                  b.name);
}

}  // namespace stiction
