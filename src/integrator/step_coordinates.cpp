#include "stiction/integrator/step_coordinates.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// Visits every joint: type, its first q and its first v.
template <class Visit>
void each_joint(const Scene& scene, Visit&& visit) {
  for (const Tree& tree : scene.trees()) {
    for (int b = 0; b < tree.num_bodies; ++b)
      visit(tree.joint[b], tree.q_offset + tree.q_index[b], tree.v_offset + tree.v_index[b]);
  }
}

Vec3d load(const double* x) { return {x[0], x[1], x[2]}; }
void store(const Vec3d& v, double* x) {
  x[0] = v.x;
  x[1] = v.y;
  x[2] = v.z;
}

/// J_r(x)^-1 w = w + x x w / 2 + c x x (x x w), c = (1 - (t / 2) cot(t / 2)) / t^2, t = |x|.
Vec3d inverse_right_jacobian(const Vec3d& x, const Vec3d& w) {
  const double t2 = squared_norm(x), t = std::sqrt(t2);
  const double c = t < 1e-2 ? 1.0 / 12.0 + t2 / 720.0 + t2 * t2 / 30240.0
                            : (1.0 - 0.5 * t / std::tan(0.5 * t)) / t2;
  const Vec3d xw = cross(x, w);
  return w + xw * 0.5 + cross(x, xw) * c;
}

}  // namespace

void displace(const Scene& scene, const double* q0, const double* xi, double* q) {
  if (q != q0) std::copy(q0, q0 + scene.nq(), q);
  each_joint(scene, [&](JointType type, int iq, int iv) {
    const double* x = xi + iv;
    switch (type) {
      case JointType::kFreeFlyer: {
        const Vec3d moved = rotation_from_quaternion(q + iq + 3) * load(x);
        for (int k = 0; k < 3; ++k) q[iq + k] += moved[k];
        integrate_quaternion(q + iq + 3, load(x + 3));
        break;
      }
      case JointType::kSpherical:
        integrate_quaternion(q + iq, load(x));
        break;
      case JointType::kContinuous: {
        double s, c;
        sincos(x[0], s, c);
        const double a = q[iq] * c - q[iq + 1] * s, b = q[iq] * s + q[iq + 1] * c;
        const double scale = 1.5 - 0.5 * (a * a + b * b);
        q[iq] = a * scale;
        q[iq + 1] = b * scale;
        break;
      }
      case JointType::kRevolute:
      case JointType::kPrismatic:
        q[iq] += x[0];
        break;
    }
  });
}

void turn_axes(
    const Scene& scene, const double* q_from, const double* q_to, const double* x, double* out) {
  if (out != x) std::copy(x, x + scene.nv(), out);
  for (const Tree& tree : scene.trees()) {
    if (!tree.free_root) continue;
    const Vec3d world =
        rotation_from_quaternion(q_from + tree.q_offset + 3) * load(out + tree.v_offset);
    store(transpose_times(rotation_from_quaternion(q_to + tree.q_offset + 3), world),
          out + tree.v_offset);
  }
}

void log_rate(const Scene& scene, const double* xi, const double* nu, double* rate) {
  std::copy(nu, nu + scene.nv(), rate);
  each_joint(scene, [&](JointType type, int, int iv) {
    const int turn = type == JointType::kFreeFlyer ? iv + 3 : iv;
    if (type != JointType::kFreeFlyer && type != JointType::kSpherical) return;
    store(inverse_right_jacobian(load(xi + turn), load(nu + turn)), rate + turn);
  });
}

}  // namespace stiction
