#pragma once

#include "stiction/math/spatial.hpp"

namespace stiction::detail {

inline constexpr Mat3d kZero{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};

inline Mat3d sum(const Mat3d& a, const Mat3d& b) { return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2}; }
inline Mat3d scaled(const Mat3d& m, double s) { return {m.c0 * s, m.c1 * s, m.c2 * s}; }
/// a b^T.
inline Mat3d outer(const Vec3d& a, const Vec3d& b) { return {a * b.x, a * b.y, a * b.z}; }
/// x -> x cross r.
inline Mat3d cross_with(const Vec3d& r) { return {{0, -r.z, r.y}, {r.z, 0, -r.x}, {-r.y, r.x, 0}}; }
/// 1 - n n^T, n unit.
inline Mat3d across(const Vec3d& n) { return sum(Mat3d::identity(), outer(n * -1.0, n)); }

/// A number that depends on the relative motion (u, w) of two bodies: u . u + w . w.
struct LinearForm {
  Vec3d u{0, 0, 0}, w{0, 0, 0};

  friend LinearForm operator+(const LinearForm& a, const LinearForm& b) {
    return {a.u + b.u, a.w + b.w};
  }
  friend LinearForm operator*(const LinearForm& a, double s) { return {a.u * s, a.w * s}; }
};

/// A vector that depends on it: u u + w w.
struct LinearMap {
  Mat3d u = kZero, w = kZero;

  friend LinearMap operator+(const LinearMap& a, const LinearMap& b) {
    return {sum(a.u, b.u), sum(a.w, b.w)};
  }
  friend LinearMap operator*(const LinearMap& a, double s) {
    return {scaled(a.u, s), scaled(a.w, s)};
  }
  friend LinearMap operator-(const LinearMap& a, const LinearMap& b) { return a + b * -1.0; }
  friend LinearMap operator*(const Mat3d& m, const LinearMap& a) { return {m * a.u, m * a.w}; }
};
/// d . map.
inline LinearForm along(const Vec3d& d, const LinearMap& m) {
  return {transpose_times(m.u, d), transpose_times(m.w, d)};
}
/// d times a number.
inline LinearMap outer(const Vec3d& d, const LinearForm& f) {
  return {outer(d, f.u), outer(d, f.w)};
}

}  // namespace stiction::detail
