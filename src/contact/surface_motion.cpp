#include "contact/surface_motion.hpp"

namespace stiction {
namespace {

/// Of two rigid motions one on the other, both with points at rest: w x (w x r) of each, and what
/// the lower turns of the upper one's velocity. Linear in r and in `velocity`.
Vec3d acceleration(const Vec3d& moved, const Vec3d& belt, const Vec3d& r, const Vec3d& velocity) {
  return cross(moved, cross(moved, r)) + cross(belt, cross(belt, r)) + cross(moved, velocity) * 2.0;
}

Vec3d moved_turning(const SurfaceMotion& x) { return x.all.turning - x.belt_turning; }

}  // namespace

bool any_surface_moves(const Parameters& p) {
  const int n = static_cast<int>(p.geometry_velocity.size());
  for (int g = 0; g < n; ++g) {
    if (surface_moves(p, g)) return true;
  }
  return false;
}

SurfaceMotion surface_motion(const Parameters& p,
                             int geometry,
                             const Transform& X_WG,
                             const Vec3d& point) {
  const Twist &moved = p.geometry_velocity[geometry], &belt = p.surface_velocity[geometry];
  const Mat3d& R = X_WG.R;
  const Vec3d r = point - X_WG.p, turning = R * moved.angular;
  SurfaceMotion out;
  out.belt_turning = R * belt.angular;
  out.belt = R * belt.linear + cross(out.belt_turning, r);
  out.all.velocity = R * moved.linear + cross(turning, r) + out.belt;
  out.all.turning = turning + out.belt_turning;
  out.all.acceleration = acceleration(turning, out.belt_turning, r, out.belt);
  return out;
}

RelativeSurface relative_surface(const SurfaceMotion& a,
                                 const SurfaceMotion& b,
                                 const Mat3d& frame) {
  Vec3d velocity = b.all.velocity - a.all.velocity;
  velocity -= frame.c2 * dot(frame.c2, b.belt - a.belt);
  return {transpose_times(frame, velocity), transpose_times(frame, b.all.turning - a.all.turning)};
}

SurfaceMotion change_with_point(const SurfaceMotion& x, const Vec3d& shift) {
  SurfaceMotion out;
  out.all.velocity = cross(x.all.turning, shift);
  out.belt = cross(x.belt_turning, shift);
  out.all.acceleration = acceleration(moved_turning(x), x.belt_turning, shift, out.belt);
  return out;
}

SurfaceMotion change_with_shape(const SurfaceMotion& x, const Vec3d& u, const Vec3d& w) {
  SurfaceMotion out = change_with_point(x, -u);
  out.all.velocity += cross(w, x.all.velocity);
  out.all.turning = cross(w, x.all.turning);
  out.all.acceleration += cross(w, x.all.acceleration);
  out.belt += cross(w, x.belt);
  out.belt_turning = cross(w, x.belt_turning);
  return out;
}

SurfaceMotion change_with_entry(
    const SurfaceMotion& x, const Transform& X_WG, const Vec3d& point, int k, bool belt) {
  const Vec3d zero{0, 0, 0}, r = point - X_WG.p, e = X_WG.R.column(k % 3);
  const Vec3d turning = k < 3 ? zero : e, velocity = k < 3 ? e : cross(e, r);
  const Vec3d lower = moved_turning(x), of = belt ? x.belt_turning : lower;
  SurfaceMotion out;
  out.all.velocity = velocity;
  out.all.turning = turning;
  out.all.acceleration = cross(turning, cross(of, r)) + cross(of, cross(turning, r));
  out.all.acceleration += (belt ? cross(lower, velocity) : cross(turning, x.belt)) * 2.0;
  if (!belt) return out;
  out.belt = velocity;
  out.belt_turning = turning;
  return out;
}

}  // namespace stiction
