#include "batch/frame_motion.hpp"

#include "dynamics/kinematics.hpp"

namespace stiction {

void FrameMotion::set(const Parameters& p, const double* q, const double* v) {
  parameters_ = &p;
  forward_kinematics(*scene_, p, q, v, work_);
}

Vec3d FrameMotion::centre_of_mass(int tree) const {
  const Tree& t = scene_->trees()[tree];
  Vec3d sum{0, 0, 0};
  double mass = 0.0;
  for (int body = t.body_offset; body < t.body_offset + t.num_bodies; ++body) {
    const double m = parameters_->mass[body];
    sum += body_placement(*scene_, work_, body) * parameters_->com[body] * m;
    mass += m;
  }
  return mass > 0.0 ? sum * (1.0 / mass) : sum;
}

Transform FrameMotion::pose(const BodyFrame& frame) const {
  return body_placement(*scene_, work_, frame.body) * frame.X_BF;
}

Vec3d FrameMotion::velocity(const BodyFrame& frame) const {
  return point_velocity(*scene_, work_, frame.body, pose(frame).p);
}

Vec3d FrameMotion::turn(const BodyFrame& frame) const {
  if (frame.body < 0) return {0, 0, 0};
  const int t = scene_->tree_of_body(frame.body);
  const TreeData<double>& data = work_.trees[t];
  return data.X_WR.R * data.V[frame.body - scene_->trees()[t].body_offset].angular;
}

// The spatial acceleration of the body about the root's origin, in root axes: what
// forward_kinematics() has of it without accelerations of joints, and theirs, a free root's linear
// one being that of its origin.
Vec3d FrameMotion::specific_force(const BodyFrame& frame,
                                  const double* acceleration,
                                  const Vec3d& gravity) const {
  if (frame.body < 0) return -transpose_times(frame.X_BF.R, gravity);
  const int t = scene_->tree_of_body(frame.body);
  const Tree& tree = scene_->trees()[t];
  const TreeData<double>& data = work_.trees[t];
  const int b = frame.body - tree.body_offset, last = tree.last_dof[b];
  const double* rate = acceleration + tree.v_offset;
  Motion<double> A = data.A[b];
  for (int m = 0; m <= tree.depth[last]; ++m) {
    const int k = tree.chain[tree.row[last] + m];
    A = A + data.S[k] * rate[k];
  }
  A.linear += transpose_times(data.X_WR.R, parameters_->gravity - gravity);
  const Motion<double>& V = data.V[b];
  const Transform X_RF = data.X_RB[b] * frame.X_BF;
  const Vec3d moving = V.linear + cross(V.angular, X_RF.p);
  return transpose_times(X_RF.R, A.linear + cross(A.angular, X_RF.p) + cross(V.angular, moving));
}

}  // namespace stiction
