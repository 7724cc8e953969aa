#include "derivatives/kicks.hpp"

namespace stiction {

KickTurn<double> kick_of(const DerivativeInput& in, const Linearisation& linear, int tree) {
  const Tree& t = in.scene.trees()[tree];
  const double* v = linear.end_velocity.data() + t.v_offset;
  return {tree_parameters(t, tree, in.parameters), in.data(tree), {v[3], v[4], v[5]}, in.dt};
}

Vec3d momentum_by_turn(const DerivativeInput& in, const Linearisation& linear, int tree, int k) {
  const Tree& t = in.scene.trees()[tree];
  const Force<double>* wrench = linear.work.wrenches_on(t.body_offset);
  if (wrench == nullptr) return {0, 0, 0};
  const Mat3d& R = in.data(tree).X_WR.R;
  const Vec3d e = Mat3d::identity().column(k), &c = in.parameters.com[t.body_offset];
  const Vec3d force = transpose_times(R, wrench->linear),
              moment = transpose_times(R, wrench->angular);
  return (cross(moment, e) - cross(c, cross(force, e))) * in.dt;
}

void kick_tangents(const DerivativeInput& in,
                   const Linearisation& linear,
                   int tree,
                   int stride,
                   int width,
                   const double* direct,
                   double* velocity) {
  if (!is_kicked(in, tree)) return;
  const Mat3d by_moved = kick_of(in, linear, tree).by_moved;
  const Vec3d& c = in.parameters.com[in.scene.trees()[tree].body_offset];
  const Rows3<double> shift{velocity, stride}, turn{velocity + 3 * stride, stride};
  for (int k = 0; k < width; ++k) {
    const Vec3d moved = turn(k);
    Vec3d dw = by_moved * moved;
    if (direct != nullptr) {
      for (int r = 0; r < 3; ++r) dw[r] += direct[(3 + r) * stride + k];
    }
    shift.set(k, shift(k) + cross(moved - dw, c));
    turn.set(k, dw);
  }
}

void pull_back_kick(const DerivativeInput& in,
                    const Linearisation& linear,
                    int tree,
                    double* velocity,
                    double* kick) {
  if (!is_kicked(in, tree)) return;
  const KickTurn<double> x = kick_of(in, linear, tree);
  const Vec3d& c = in.parameters.com[in.scene.trees()[tree].body_offset];
  const Vec3d about_c = cross(c, Vec3d{velocity[0], velocity[1], velocity[2]});
  const Vec3d by_w = Vec3d{velocity[3], velocity[4], velocity[5]} - about_c;
  const Vec3d by_moved = transpose_times(x.by_moved, by_w) + about_c;
  for (int r = 0; r < 3; ++r) {
    kick[3 + r] = by_w[r];
    velocity[3 + r] = by_moved[r];
  }
}

}  // namespace stiction
