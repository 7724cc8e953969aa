#include "collision/scene/sweep.hpp"

#include "stiction/collision/distance.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "collision/pairs/pair.hpp"

#include <algorithm>

namespace stiction::detail {
namespace {

/// Velocity of the point of the shape with that lever arm about its centre [m/s].
Vec3d velocity(const MovingShape& s, const Vec3d& arm) { return s.linear + cross(s.angular, arm); }

/// A ball that turns about its centre stays what it is.
MovingShape without_idle_turn(const Shape& shape, MovingShape s) {
  if (shape.type == ShapeType::kSphere) s.angular = {0, 0, 0};
  return s;
}

}  // namespace

Transform advanced(const MovingShape& s, double t) {
  const Vec3d& w = s.angular;
  if (w.x == 0.0 && w.y == 0.0 && w.z == 0.0) return {s.X.R, s.X.p + s.linear * t};
  double q[4] = {0.0, 0.0, 0.0, 1.0};
  integrate_quaternion(q, s.angular * t);
  const Mat3d R = rotation_from_quaternion(q) * s.X.R;
  return {R, s.X * s.centre + s.linear * t - R * s.centre};
}

// Along a fixed direction n (A to B) the gap closes at most at n.(v_A - v_B) + |n x w_A| r_A +
// |n x w_B| r_B, because n.(w x y) <= |n x w| |y|, and the gap along n is at most the distance.
bool first_approach(const Shape& a,
                    const MovingShape& motion_a,
                    const Shape& b,
                    const MovingShape& motion_b,
                    double dt,
                    double target,
                    double& time) {
  time = 0.0;
  for (int i = 0; i < kMaxAdvances; ++i) {
    const Transform A = advanced(motion_a, time), B = advanced(motion_b, time);
    if (!is_finite(A) || !is_finite(B)) return false;  // too fast to follow in double
    const DistanceResult r = distance(a, A, b, B);
    if (r.distance <= target) return true;
    const double speed = dot(r.normal, motion_a.linear - motion_b.linear) +
                         norm(cross(r.normal, motion_a.angular)) * motion_a.radius +
                         norm(cross(r.normal, motion_b.angular)) * motion_b.radius;
    if (speed * (dt - time) <= r.distance - target) return false;
    time = std::min(dt, time + (r.distance - 0.5 * target) / speed);
  }
  return true;
}

bool first_approach_of_surfaces(const Shape& a,
                                const MovingShape& motion_a,
                                const Shape& b,
                                const MovingShape& motion_b,
                                double dt,
                                double target,
                                ManifoldWorkspace& work,
                                double& time) {
  const MovingShape moving_a = without_idle_turn(a, motion_a),
                    moving_b = without_idle_turn(b, motion_b);
  const double speed = norm(moving_a.linear - moving_b.linear) +
                       norm(moving_a.angular) * moving_a.radius +
                       norm(moving_b.angular) * moving_b.radius;
  const auto gap = [&](double t, double reach) {
    const Transform A = advanced(moving_a, t), B = advanced(moving_b, t);
    if (!is_finite(A) || !is_finite(B)) return kInfinity;  // too fast to follow in double
    contact_manifolds(a, A, b, B, reach, work);
    double least = kInfinity;
    for (const Manifold& m : work.manifolds) {
      for (int k = 0; k < m.count; ++k) least = std::min(least, m.points[k].gap);
    }
    return least;
  };
  return follow_approach(speed, dt, target, time, gap) == Approach::kMet;
}

void take_back(const MovingShape& motion_a,
               const MovingShape& motion_b,
               double time,
               double dt,
               double offset,
               double place,
               Manifold& m) {
  const Vec3d centre_a = motion_a.X * motion_a.centre, centre_b = motion_b.X * motion_b.centre;
  const Vec3d later_a = centre_a + motion_a.linear * time;
  const Vec3d later_b = centre_b + motion_b.linear * time;
  for (int i = 0; i < m.count; ++i) {
    ManifoldPoint& p = m.points[i];
    const Vec3d half = m.normal * (0.5 * p.gap);
    const Vec3d arm_a = p.position - half - later_a, arm_b = p.position + half - later_b;
    const Vec3d on_a = centre_a + arm_a, on_b = centre_b + arm_b;
    p.position = place == 0.5 ? (on_a + on_b) * 0.5 : place < 0.5 ? on_a : on_b;
    const double later = dot(m.normal, velocity(motion_b, arm_b) - velocity(motion_a, arm_a));
    const double here =
        dot(m.normal,
            velocity(motion_b, p.position - centre_b) - velocity(motion_a, p.position - centre_a));
    p.gap = std::max(p.gap - time * later - dt * (here - later), offset);
    p.witness.swept = true;
    const bool round =
        p.witness.kind == WitnessKind::kRoundFace || p.witness.kind == WitnessKind::kFaceRound;
    if (round) p.witness.kind = WitnessKind::kSmooth;  // the face is another at the start
  }
}

}  // namespace stiction::detail
