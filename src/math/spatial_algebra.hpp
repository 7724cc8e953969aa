#pragma once

#include "stiction/math/spatial.hpp"

// Spatial vectors about one common point O in one common frame: motions (velocity of the point at
// O, angular velocity), forces (force, moment about O), rigid-body inertias about O.

namespace stiction {
inline namespace STICTION_ISA {

template <class Real>
struct Motion {
  Vec3<Real> linear, angular;
  friend Motion operator+(const Motion& a, const Motion& b) {
    return {a.linear + b.linear, a.angular + b.angular};
  }
  friend Motion operator*(const Motion& a, Real s) { return {a.linear * s, a.angular * s}; }
};

/// v x m, the rate of change of a motion m that moves with velocity v.
template <class Real>
inline Motion<Real> motion_cross(const Motion<Real>& v, const Motion<Real>& m) {
  return {cross(v.angular, m.linear) + cross(v.linear, m.angular), cross(v.angular, m.angular)};
}

template <class Real>
struct Force {
  Vec3<Real> linear, angular;
  Force& operator+=(const Force& b) {
    linear += b.linear;
    angular += b.angular;
    return *this;
  }
  friend Force operator+(const Force& a, const Force& b) {
    return {a.linear + b.linear, a.angular + b.angular};
  }
  friend Force operator-(const Force& a, const Force& b) {
    return {a.linear - b.linear, a.angular - b.angular};
  }
};

template <class Real>
inline Real dot(const Motion<Real>& m, const Force<Real>& f) {
  return dot(m.linear, f.linear) + dot(m.angular, f.angular);
}

/// v x* f, the rate of change of a force f that moves with velocity v: m . (v x* f) = -(v x m) . f.
template <class Real>
inline Force<Real> force_cross(const Motion<Real>& v, const Force<Real>& f) {
  return {cross(v.angular, f.linear), cross(v.angular, f.angular) + cross(v.linear, f.linear)};
}

/// Inertia about O: mass m, first moment h = m c, rotational inertia I about O.
template <class Real>
struct Inertia {
  Real mass;
  Vec3<Real> moment;
  Sym3<Real> rotational;

  friend Inertia operator+(const Inertia& a, const Inertia& b) {
    return {a.mass + b.mass, a.moment + b.moment, a.rotational + b.rotational};
  }
  friend Force<Real> operator*(const Inertia& i, const Motion<Real>& v) {
    return {v.linear * i.mass + cross(v.angular, i.moment),
            i.rotational * v.angular + cross(i.moment, v.linear)};
  }
};

/// Inertia about O of a mass m at c with rotational inertia `central` about c.
template <class Real>
inline Inertia<Real> inertia_about_origin(Real m, const Vec3<Real>& c, const Sym3<Real>& central) {
  const Vec3<Real> h = c * m;
  const Real cx = c.x * h.x, cy = c.y * h.y, cz = c.z * h.z;
  return {m,
          h,
          {central.xx + (cy + cz),
           central.xy - c.x * h.y,
           central.yy + (cx + cz),
           central.xz - c.x * h.z,
           central.yz - c.y * h.z,
           central.zz + (cx + cy)}};
}

}  // namespace STICTION_ISA
}  // namespace stiction
