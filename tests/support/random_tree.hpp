#pragma once

#include "stiction/model/scene.hpp"

#include "support/random.hpp"
#include <Eigen/Core>

namespace stiction::test {

inline Eigen::VectorXd random_vector(Rng& rng, int n) {
  Eigen::VectorXd x(n);
  for (int i = 0; i < n; ++i) x[i] = rng.uniform(-1.0, 1.0);
  return x;
}
/// A physical body: inertia of a random ellipsoid of density 1000.
inline void random_mass(Rng& rng, BodyDescription& body) {
  body.mass = rng.uniform(0.1, 5.0);
  body.com = uniform_vector(rng, 1.0) * 0.2;
  const double a = rng.uniform(0.05, 0.3), b = rng.uniform(0.05, 0.3), c = rng.uniform(0.05, 0.3);
  const double k = body.mass / 5.0;
  body.inertia = rotate(
      rotation(rng), Sym3d{k * (b * b + c * c), 0, k * (a * a + c * c), 0, 0, k * (a * a + b * b)});
}

/// One tree, depth first, 1 to 14 bodies, every joint type; the root is a free-flyer half of the
/// time.
inline std::vector<BodyDescription> random_tree(Rng& rng) {
  const int n = 1 + static_cast<int>(rng.uniform(0.0, 14.0));
  std::vector<BodyDescription> bodies;
  std::vector<int> path;
  for (int i = 0; i < n; ++i) {
    BodyDescription b;
    b.name = "body" + std::to_string(i);
    if (i > 0) {
      // Depth first: hang on the last body or on one of its ancestors.
      int up =
          rng.uniform(0.0, 1.0) < 0.6 ? 0 : static_cast<int>(rng.uniform(0.0, 0.999) * path.size());
      while (up-- > 0) path.pop_back();
      b.parent = path.back();
    }
    path.push_back(i);
    const double pick = rng.uniform(0.0, 1.0);
    b.joint = pick < 0.5    ? JointType::kRevolute
              : pick < 0.65 ? JointType::kContinuous
              : pick < 0.8  ? JointType::kPrismatic
                            : JointType::kSpherical;
    if (i == 0 && rng.uniform(0.0, 1.0) < 0.5) b.joint = JointType::kFreeFlyer;
    const int k = static_cast<int>(rng.uniform(0.0, 6.0));
    b.axis = k < 3 ? Vec3d{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0}
                   : unit_vector(rng);
    if (b.joint != JointType::kFreeFlyer)
      b.placement = {rotation(rng), uniform_vector(rng, 1.0) * 0.5};
    random_mass(rng, b);
    bodies.push_back(b);
  }
  return bodies;
}

}  // namespace stiction::test
