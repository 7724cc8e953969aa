#pragma once

#include "stiction/math/lanes.hpp"

// Small fixed-size algebra on lanes: Vec3, Mat3, Transform, symmetric 3x3, quaternion.

namespace stiction {
inline namespace STICTION_ISA {

template <class Real>
struct Vec3 {
  Real x, y, z;

  friend Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
  friend Vec3 operator*(const Vec3& a, Real s) { return {a.x * s, a.y * s, a.z * s}; }
  friend Vec3 operator*(Real s, const Vec3& a) { return {a.x * s, a.y * s, a.z * s}; }
  Vec3& operator+=(const Vec3& b) { return *this = *this + b; }
  Vec3& operator-=(const Vec3& b) { return *this = *this - b; }
  Real& operator[](int i) { return (&x)[i]; }
  const Real& operator[](int i) const { return (&x)[i]; }
};

template <class Real>
inline Real dot(const Vec3<Real>& a, const Vec3<Real>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class Real>
inline Vec3<Real> cross(const Vec3<Real>& a, const Vec3<Real>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class Real>
inline Real squared_norm(const Vec3<Real>& a) {
  return dot(a, a);
}
template <class Real>
inline Real norm(const Vec3<Real>& a) {
  return square_root(dot(a, a));
}

/// 3x3 matrix by columns: for a rotation R_AB, column k is axis k of B expressed in A.
template <class Real>
struct Mat3 {
  Vec3<Real> c0, c1, c2;

  static Mat3 identity() {
    const Real o(0.0), i(1.0);
    return {{i, o, o}, {o, i, o}, {o, o, i}};
  }
  const Vec3<Real>& column(int k) const { return (&c0)[k]; }
  Vec3<Real>& column(int k) { return (&c0)[k]; }
  friend Vec3<Real> operator*(const Mat3& m, const Vec3<Real>& v) {
    return m.c0 * v.x + m.c1 * v.y + m.c2 * v.z;
  }
  friend Mat3 operator*(const Mat3& a, const Mat3& b) { return {a * b.c0, a * b.c1, a * b.c2}; }
};

template <class Real>
inline Vec3<Real> transpose_times(const Mat3<Real>& m, const Vec3<Real>& v) {
  return {dot(m.c0, v), dot(m.c1, v), dot(m.c2, v)};
}
template <class Real>
inline Mat3<Real> transpose_times(const Mat3<Real>& a, const Mat3<Real>& b) {
  return {transpose_times(a, b.c0), transpose_times(a, b.c1), transpose_times(a, b.c2)};
}
template <class Real>
inline Mat3<Real> transpose(const Mat3<Real>& m) {
  return {{m.c0.x, m.c1.x, m.c2.x}, {m.c0.y, m.c1.y, m.c2.y}, {m.c0.z, m.c1.z, m.c2.z}};
}

/// Rigid placement X_AB: p_A = R p_B + p.
template <class Real>
struct RigidTransform {
  Mat3<Real> R;
  Vec3<Real> p;

  static RigidTransform identity() {
    return {Mat3<Real>::identity(), {Real(0.0), Real(0.0), Real(0.0)}};
  }
  friend Vec3<Real> operator*(const RigidTransform& X, const Vec3<Real>& v) {
    return X.R * v + X.p;
  }
  friend RigidTransform operator*(const RigidTransform& a, const RigidTransform& b) {
    return {a.R * b.R, a.R * b.p + a.p};
  }
};
template <class Real>
inline RigidTransform<Real> inverse(const RigidTransform<Real>& X) {
  return {transpose(X.R), -transpose_times(X.R, X.p)};
}
/// X_CA^-1 X_CB without forming the inverse.
template <class Real>
inline RigidTransform<Real> relative(const RigidTransform<Real>& a, const RigidTransform<Real>& b) {
  return {transpose_times(a.R, b.R), transpose_times(a.R, b.p - a.p)};
}

/// Symmetric 3x3 matrix.
template <class Real>
struct Sym3 {
  Real xx, xy, yy, xz, yz, zz;

  friend Sym3 operator+(const Sym3& a, const Sym3& b) {
    return {a.xx + b.xx, a.xy + b.xy, a.yy + b.yy, a.xz + b.xz, a.yz + b.yz, a.zz + b.zz};
  }
  friend Vec3<Real> operator*(const Sym3& m, const Vec3<Real>& v) {
    return {m.xx * v.x + m.xy * v.y + m.xz * v.z,
            m.xy * v.x + m.yy * v.y + m.yz * v.z,
            m.xz * v.x + m.yz * v.y + m.zz * v.z};
  }
};
/// R S R^T.
template <class Real>
inline Sym3<Real> rotate(const Mat3<Real>& R, const Sym3<Real>& s) {
  const Vec3<Real> a = R * Vec3<Real>{s.xx, s.xy, s.xz};
  const Vec3<Real> b = R * Vec3<Real>{s.xy, s.yy, s.yz};
  const Vec3<Real> c = R * Vec3<Real>{s.xz, s.yz, s.zz};  // columns of R S
  const Vec3<Real> r0{R.c0.x, R.c1.x, R.c2.x}, r1{R.c0.y, R.c1.y, R.c2.y},
      r2{R.c0.z, R.c1.z, R.c2.z};
  const Vec3<Real> m0{a.x, b.x, c.x}, m1{a.y, b.y, c.y}, m2{a.z, b.z, c.z};
  return {dot(m0, r0), dot(m0, r1), dot(m1, r1), dot(m0, r2), dot(m1, r2), dot(m2, r2)};
}

/// Unit quaternion x y z w -> rotation matrix.
template <class Real>
inline Mat3<Real> rotation_from_quaternion(const Real* q) {
  const Real x = q[0], y = q[1], z = q[2], w = q[3];
  const Real two(2.0), one(1.0);
  const Real tx = two * x, ty = two * y, tz = two * z;
  const Real xx = tx * x, yy = ty * y, zz = tz * z, xy = tx * y, xz = tx * z, yz = ty * z;
  const Real wx = tx * w, wy = ty * w, wz = tz * w;
  return {{one - (yy + zz), xy + wz, xz - wy},
          {xy - wz, one - (xx + zz), yz + wx},
          {xz + wy, yz - wx, one - (xx + yy)}};
}

/// x of m x = b by Cramer's rule, for a matrix that is far from singular.
template <class Real>
inline Vec3<Real> solve(const Mat3<Real>& m, const Vec3<Real>& b) {
  const Vec3<Real> c12 = cross(m.c1, m.c2);
  const Real scale = Real(1.0) / dot(m.c0, c12);
  return Vec3<Real>{dot(b, c12), dot(m.c0, cross(b, m.c2)), dot(m.c0, cross(m.c1, b))} * scale;
}

/// Unit quaternion (e, c) of a rotation vector w [rad].
template <class Real>
inline void quaternion_from_rotation_vector(const Vec3<Real>& w, Vec3<Real>& e, Real& c) {
  const Real n2 = squared_norm(w);
  const Real n = square_root(n2);
  Real s;
  sincos(Real(0.5) * n, s, c);
  // sin(n/2)/n, by its series when n is small: 1/2 - n^2/48 + n^4/3840.
  const Real series = Real(0.5) - n2 * (Real(1.0 / 48.0) - n2 * Real(1.0 / 3840.0));
  const Mask<Real> tiny = n < Real(1e-3);
  e = w * select(tiny, series, s / select(tiny, Real(1.0), n));
}

/// exp([w]) x, w a rotation vector [rad].
template <class Real>
inline Vec3<Real> turned(const Vec3<Real>& w, const Vec3<Real>& x) {
  Vec3<Real> e;
  Real c;
  quaternion_from_rotation_vector(w, e, c);
  const Vec3<Real> t = cross(e, x) * Real(2.0);
  return x + t * c + cross(e, t);
}

/// q <- q * exp(w / 2), w a rotation vector in the body frame [rad]; renormalised to first order,
/// which keeps | |q| - 1 | at rounding level because exp is exact to rounding.
template <class Real>
inline void integrate_quaternion(Real* q, const Vec3<Real>& w) {
  Vec3<Real> e;
  Real c;
  quaternion_from_rotation_vector(w, e, c);
  const Real x = q[0], y = q[1], z = q[2], v = q[3];
  const Real qx = v * e.x + x * c + y * e.z - z * e.y;
  const Real qy = v * e.y - x * e.z + y * c + z * e.x;
  const Real qz = v * e.z + x * e.y - y * e.x + z * c;
  const Real qw = v * c - x * e.x - y * e.y - z * e.z;
  const Real scale = Real(1.5) - Real(0.5) * (qx * qx + qy * qy + qz * qz + qw * qw);
  q[0] = qx * scale;
  q[1] = qy * scale;
  q[2] = qz * scale;
  q[3] = qw * scale;
}

}  // namespace STICTION_ISA

using Vec3d = Vec3<double>;
using Mat3d = Mat3<double>;
using Sym3d = Sym3<double>;
using Transform = RigidTransform<double>;

}  // namespace stiction
