#include "integrator/step_coordinates.hpp"

#include "dynamics/integrate.hpp"
#include "model/joint.hpp"

#include <algorithm>

namespace stiction::compliance {

void displace(const Scene& scene, const double* q0, const double* xi, double* q) {
  if (q != q0) std::copy(q0, q0 + scene.nq(), q);
  for (const Tree& tree : scene.trees())
    integrate_joints(tree.view(), 0, 1.0, q + tree.q_offset, xi + tree.v_offset);
}

void turn_axes(
    const Scene& scene, const double* q_from, const double* q_to, const double* x, double* out) {
  if (out != x) std::copy(x, x + scene.nv(), out);
  for (const Tree& tree : scene.trees()) {
    const TreeView view = tree.view();
    turn_root_velocity(view,
                       root_rotation(view, q_from + tree.q_offset),
                       root_rotation(view, q_to + tree.q_offset),
                       Vec3d{0, 0, 0},
                       out + tree.v_offset);
  }
}

void log_rate(const Scene& scene, const double* xi, const double* nu, double* rate) {
  for (const Tree& tree : scene.trees()) {
    for (int b = 0; b < tree.num_bodies; ++b) {
      const int v = tree.v_offset + tree.v_index[b];
      visit_joint(tree.joint[b],
                  [=](auto joint) { joint.displacement_rate(xi + v, nu + v, rate + v); });
    }
  }
}

}  // namespace stiction::compliance
