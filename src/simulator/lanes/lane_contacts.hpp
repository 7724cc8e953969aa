#pragma once

#include "simulator/lanes/lane_work.hpp"

// Where slots are and which pairs are near, with the simulator's margin:
// collision/scene/collide.cpp, collision/manifold/half_space_manifold.cpp.

namespace stiction {
inline namespace STICTION_ISA {

/// Poses, velocities and half margins of the geometries.
template <class Real>
inline void lane_poses(const LaneScene& s,
                       const LaneParameters<Real>& p,
                       const TreeData<Real>& data,
                       LaneScratch<Real>& x) {
  const Real dt(s.rules.dt), half = Real(0.5) * Real(s.rules.margin), zero(0.0);
  const Real fall = dt * norm(p.tree.gravity);
  for (int g = 0; g < s.num_geometries; ++g) {
    const int body = s.geometries[g].body;
    if (body < 0) {
      x.pose[g] = p.placement[g];
      x.linear[g] = x.angular[g] = {zero, zero, zero};
      x.reach[g] = half;
      continue;
    }
    const RigidTransform<Real> X_RG = data.X_RB[body] * p.placement[g];
    x.pose[g] = data.X_WR * X_RG;
    const Motion<Real>& V = data.V[body];
    const Vec3<Real> c = X_RG * p.centre[g];
    x.linear[g] = data.X_WR.R * (V.linear + cross(V.angular, c));
    x.angular[g] = data.X_WR.R * V.angular;
    const Real speed = norm(x.linear[g]) + norm(x.angular[g]) * p.radius[g];
    x.reach[g] = max(half, dt * (speed + fall));
  }
}

/// Lanes in which a pair is not proven apart by its balls, or by a ball and the plane b.
template <class Real>
inline Mask<Real> lane_near(const LaneScene& s,
                            const LaneParameters<Real>& p,
                            const LaneScratch<Real>& x,
                            int a,
                            int b,
                            bool plane,
                            const Real& offset) {
  const Real wide = offset + max(Real(s.rules.margin), x.reach[a] + x.reach[b]);
  const Vec3<Real> c = x.pose[a] * p.centre[a];
  if (plane) {
    const Real height = dot(x.pose[b].R.c2, c - x.pose[b].p);
    return negated(height > p.radius[a] * Real(1.0 + 1e-12) + wide);
  }
  const Real far = (p.radius[a] + p.radius[b]) * Real(1.0 + 1e-12) + wide;
  return negated(squared_norm(c - x.pose[b] * p.centre[b]) > far * far);
}

/// R_WC = [t1 t2 n], as contact_frame().
template <class Real>
inline Mat3<Real> lane_frame(const Mat3<Real>& R_WA, const Vec3<Real>& n) {
  const Mask<Real> across = abs(dot(R_WA.c0, n)) < Real(0.995004165278);
  Vec3<Real> axis;
  for (int k = 0; k < 3; ++k) axis[k] = select(across, R_WA.c0[k], R_WA.c1[k]);
  Vec3<Real> t1 = axis - n * dot(axis, n);
  t1 = t1 * (Real(1.0) / norm(t1));
  return {t1, cross(n, t1), n};
}

/// Distance of a slot, and its point on the plane.
template <class Real>
inline Real lane_slot(const LaneSlot& slot,
                      const LaneParameters<Real>& p,
                      const RigidTransform<Real>& X,
                      const RigidTransform<Real>& plane,
                      Vec3<Real>& point) {
  const Vec3<Real>& up = plane.R.c2;
  const Vec3<Real>& size = p.size[slot.shape];
  const Real height = dot(up, X.p - plane.p), half(0.5), zero(0.0);
  Real gap;
  if (slot.kind == LaneSlot::Kind::kSphere) {
    gap = height - size.x;
    point = X.p - up * (size.x + half * gap);
  } else {
    const Vec3<Real> up_S = transpose_times(X.R, up);
    Vec3<Real> p_S;
    if (slot.kind == LaneSlot::Kind::kCapsuleEnd) {
      const Real z = size.y * Real(slot.sign[2]);
      gap = height + up_S.z * z - size.x;
      p_S = Vec3<Real>{zero, zero, z} - up_S * size.x;
    } else {
      p_S = {size.x * Real(slot.sign[0]), size.y * Real(slot.sign[1]), size.z * Real(slot.sign[2])};
      gap = height + (up_S.x * p_S.x + up_S.y * p_S.y + up_S.z * p_S.z);
    }
    point = X * p_S - up * (half * gap);
  }
  point = point + (slot.body_is_a ? -up : up) * (Real(slot.body_is_a ? 0.5 : -0.5) * gap);
  return gap;
}

/// Gaps of the slots, those that are within the margin, and their points and frames. Returns the
/// lanes in which a box has more than four corners there, which reduce() would have to choose from.
template <class Real>
inline Mask<Real> lane_contacts(const LaneScene& s,
                                const LaneParameters<Real>& p,
                                LaneScratch<Real>& x,
                                PackWork<Real>& w) {
  const Real margin(s.rules.margin), one(1.0), zero(0.0);
  Mask<Real> crowded = one < zero;
  Real corners(0.0);
  for (int i = 0; i < s.num_slots; ++i) {
    const LaneSlot& slot = s.slots[i];
    if (slot.kind == LaneSlot::Kind::kFound) continue;
    const RigidTransform<Real>& X = x.pose[slot.shape];
    const RigidTransform<Real>& plane = x.pose[slot.plane];
    const Real distance = lane_slot(slot, p, X, plane, x.point[i]);
    const Real offset = p.rest_offset[slot.pair];
    x.gap[i] = distance - offset;
    Mask<Real> near = distance <= offset + max(margin, x.reach[slot.shape] + x.reach[slot.plane]);
    if (slot.kind == LaneSlot::Kind::kCapsuleEnd && slot.sign[2] > 0)
      near = near & (p.size[slot.shape].y > zero);  // a ball has one end
    w.active[i] = select(near, one, zero);
    if (slot.kind == LaneSlot::Kind::kBoxCorner) {
      corners = select(near, one, zero) + (slot.feature == 0 ? zero : corners);
      crowded = crowded | (corners > Real(4.0));
    }
    if (!any(near)) continue;
    const Mat3<Real> R_WA =
        slot.body_is_a ? w.data.X_WR.R * w.data.X_RB[slot.body].R : Mat3<Real>::identity();
    w.frame[i] = lane_frame(R_WA, slot.body_is_a ? -plane.R.c2 : plane.R.c2);
  }
  return crowded;
}

}  // namespace STICTION_ISA
}  // namespace stiction
