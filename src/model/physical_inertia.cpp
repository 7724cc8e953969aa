#include "model/physical_inertia.hpp"

#include "math/elementary.hpp"
#include "model/joint.hpp"

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

struct Composite {
  double mass = 0.0;
  Vec3d moment{0, 0, 0};            // mass times com, base frame
  Sym3d inertia{0, 0, 0, 0, 0, 0};  // about the base origin, base axes
};

void add(Composite& sum, double mass, const Vec3d& c, const Sym3d& about_com) {
  const double n = squared_norm(c);
  sum.mass += mass;
  sum.moment += c * mass;
  sum.inertia = sum.inertia + about_com +
                Sym3d{mass * (n - c.x * c.x),
                      -mass * c.x * c.y,
                      mass * (n - c.y * c.y),
                      -mass * c.x * c.z,
                      -mass * c.y * c.z,
                      mass * (n - c.z * c.z)};
}

void add(Composite& sum, const Composite& part) {
  sum.mass += part.mass;
  sum.moment = sum.moment + part.moment;
  sum.inertia = sum.inertia + part.inertia;
}

/// Whether an apparent inertia [kg or kg m^2] is rounding of the terms it is summed of, or too
/// small to be inverted and squared.
bool nothing(double apparent, double terms) {
  return !(apparent > std::max(1e-14 * terms, 1.0 / kLargest));
}

// Apparent inertia of a rotation about the axis through p: a^T I_p a, with the composite's terms.
bool turns_nothing(const Composite& s, const Vec3d& p, const Vec3d& axis, double armature) {
  const auto parallel = [&](const Vec3d& u, const Vec3d& v) {
    return dot(u, v) - dot(axis, u) * dot(axis, v);
  };
  const double apparent =
      dot(axis, s.inertia * axis) - 2.0 * parallel(s.moment, p) + s.mass * parallel(p, p);
  const double terms = s.inertia.xx + s.inertia.yy + s.inertia.zz + 2.0 * norm(s.moment) * norm(p) +
                       s.mass * dot(p, p);
  return nothing(apparent + armature, terms);
}

bool moves_nothing(const Composite& s, const Transform& pose, const MovedBody& b) {
  const bool slides = joint_facts(b.joint).linear_dofs > 0;
  if (slides && nothing(s.mass + b.armature, s.mass)) return true;
  if (joint_nv(b.joint) == 1)
    return !slides && turns_nothing(s, pose.p, pose.R * b.axis, b.armature);
  for (int k = 0; k < 3; ++k) {
    if (turns_nothing(s, pose.p, pose.R.column(k), b.armature)) return true;
  }
  return false;
}

}  // namespace

int first_without_inertia(const std::vector<MovedBody>& bodies) {
  const int n = static_cast<int>(bodies.size());
  std::vector<Transform> pose(n);
  std::vector<Composite> composite(n);
  for (int i = 0; i < n; ++i) {
    const MovedBody& b = bodies[i];
    pose[i] = b.parent < 0 ? b.placement : pose[b.parent] * b.placement;
    add(composite[i], b.mass, pose[i] * b.com, rotate(pose[i].R, b.inertia));
  }
  for (int i = n - 1; i > 0; --i) {  // children after their parents
    if (bodies[i].parent >= 0) add(composite[bodies[i].parent], composite[i]);
  }
  for (int i = 0; i < n; ++i) {
    if (moves_nothing(composite[i], pose[i], bodies[i])) return i;
  }
  return -1;
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
  throw BodyError(source + ": joint '" + b.joint_name + "' moves no inertia: give link '" + b.name +
                      "' or one of its children a mass, or make the joint fixed",
                  b.name);
}

}  // namespace stiction
