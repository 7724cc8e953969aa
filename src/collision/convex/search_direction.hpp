#pragma once

#include "stiction/collision/distance.hpp"

// Support directions of accelerated Frank-Wolfe and GJK (GJK++ eq. 26-28, 33). With x the iterate
// and s the last support point,
//   y_k = x_k (Polyak)  or  delta_k x_k + (1 - delta_k) s_{k-1} (Nesterov)
//   d_k = delta_k d_{k-1} + (1 - delta_k) grad f(y_k),   grad f(y) = 2 y,   d_{-1} = s_{-1} = x_0,
// with both terms normalised in Alg. 7. Support points are sought along -d.

namespace stiction::detail {

/// Line search between two points instead of a simplex (GJK++ Alg. 1, 5).
inline bool is_frank_wolfe(DistanceMethod m) {
  return m == DistanceMethod::kFrankWolfe || m == DistanceMethod::kFrankWolfePolyak ||
         m == DistanceMethod::kFrankWolfeNesterov;
}

class SearchDirection {
 public:
  SearchDirection(DistanceMethod method, const Vec3d& x0) : d_(x0) {
    using M = DistanceMethod;
    nesterov_ = method == M::kNesterov || method == M::kNesterovNormalized ||
                method == M::kFrankWolfeNesterov || method == M::kNesterovReference ||
                method == M::kNesterovNormalizedReference;
    accelerated_ = nesterov_ || method == M::kPolyak || method == M::kPolyakNormalized ||
                   method == M::kFrankWolfePolyak || method == M::kPolyakReference;
    normalized_ = method == M::kPolyakNormalized || method == M::kNesterovNormalized ||
                  method == M::kNesterovNormalizedReference;
    reference_ = method == M::kPolyakReference || method == M::kNesterovReference ||
                 method == M::kNesterovNormalizedReference;
  }

  /// d_k from x_k and s_{k-1}, while accelerated.
  Vec3d next(int k, const Vec3d& x, const Vec3d& s) {
    const double delta = momentum(k);
    const Vec3d y = nesterov_ ? x * delta + s * (1.0 - delta) : x;
    if (normalized_) {
      d_ = d_ * (delta / norm(d_)) + y * ((1.0 - delta) / norm(y));
    } else {
      d_ = d_ * delta + y * ((1.0 - delta) * (reference_ ? 1.0 : 2.0));
    }
    return d_;
  }

  bool accelerated() const { return accelerated_; }
  /// From now on d = x. Needed when a momentum direction finds no new point (GJK++ eq. 31).
  void drop_momentum() { accelerated_ = false; }

 private:
  double momentum(int k) const {
    if (!reference_) return (k + 1.0) / (k + 3.0);
    if (!nesterov_) return 1.0 / (k + 1.0);
    return (normalized_ ? k + 2.0 : k + 1.0) / (k + 3.0);
  }

  Vec3d d_;
  bool accelerated_, nesterov_, normalized_, reference_;
};

}  // namespace stiction::detail
