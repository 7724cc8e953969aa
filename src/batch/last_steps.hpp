#pragma once

#include "stiction/model/scene.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stiction {

/// Where the last whole step of each world began and the mean acceleration over it, once somebody
/// has asked for them; see Observer.
class LastSteps {
 public:
  LastSteps(const Scene& scene, int worlds) : worlds_(worlds), nq_(scene.nq()), nv_(scene.nv()) {
    for (const Tree& tree : scene.trees()) {
      if (tree.free_root) roots_.push_back({tree.q_offset, tree.v_offset});
    }
  }

  bool kept() const { return !q_.empty(); }
  /// From now on; the worlds' rows of q and v as they are.
  void keep(const double* q, const double* v) {
    if (kept()) return;
    const std::ptrdiff_t n = worlds_;
    q_.assign(q, q + n * nq_);
    v_.assign(v, v + n * nv_);
    next_q_ = q_;
    next_v_ = v_;
    taken_.assign(n, 0);
    acceleration_.assign(n * nv_, 0.0);
  }
  const double* q(std::ptrdiff_t world) const { return q_.data() + world * nq_; }
  const double* v(std::ptrdiff_t world) const { return v_.data() + world * nv_; }
  /// Where a step begins, to be written; take() once it was a whole one.
  double* next_q(std::ptrdiff_t world) { return next_q_.data() + world * nq_; }
  double* next_v(std::ptrdiff_t world) { return next_v_.data() + world * nv_; }
  void take(std::ptrdiff_t world) {
    std::copy_n(next_q(world), nq_, q_.begin() + world * nq_);
    std::copy_n(next_v(world), nv_, v_.begin() + world * nv_);
    taken_[world] = 1;
  }
  /// [nv] change of v by time; of a free-flyer's origin that of its velocity in the world, in the
  /// axes that the body had where the step began.
  const double* acceleration(std::ptrdiff_t world) const {
    return acceleration_.data() + world * nv_;
  }
  /// A world is here, and has no step behind it.
  void settle(std::ptrdiff_t world, const double* now_q, const double* now_v) {
    if (!kept()) return;
    std::copy_n(now_q, nq_, q_.begin() + world * nq_);
    std::copy_n(now_v, nv_, v_.begin() + world * nv_);
    std::fill_n(acceleration_.begin() + world * nv_, nv_, 0.0);
  }
  /// The last of the steps that were taken ended here; without one, nothing changes.
  void end(std::ptrdiff_t world, const double* now_q, const double* now_v, double dt) {
    if (taken_[world] == 0) return;
    taken_[world] = 0;
    double* rate = acceleration_.data() + world * nv_;
    const double *from_q = q(world), *from_v = v(world);
    for (int k = 0; k < nv_; ++k) rate[k] = (now_v[k] - from_v[k]) / dt;
    for (const Root& root : roots_) {
      const double* x = now_v + root.v;
      const Mat3d R = rotation_from_quaternion(from_q + root.q + 3),
                  R_now = rotation_from_quaternion(now_q + root.q + 3);
      const Vec3d u = transpose_times(R, R_now * Vec3d{x[0], x[1], x[2]});
      for (int k = 0; k < 3; ++k) rate[root.v + k] = (u[k] - from_v[root.v + k]) / dt;
    }
  }

 private:
  struct Root {
    int q, v;  ///< its first entries
  };

  int worlds_, nq_, nv_;
  std::vector<Root> roots_;                                     ///< free-flyers
  std::vector<double> q_, v_, next_q_, next_v_, acceleration_;  ///< rows of worlds
  std::vector<std::uint8_t> taken_;                             ///< since end()
};

}  // namespace stiction
