#include "collision/derivatives/sampled_derivatives.hpp"

#include "collision/derivatives/normal_samples.hpp"

namespace stiction::detail {
namespace {

/// Queries of B displaced, each from the warm start of the unperturbed one.
struct Perturbed {
  const Shape& a;
  const Transform& X_WA;
  const Shape& b;
  const Transform& X_WB;
  const DistanceCache* cache;

  DistanceResult query(const Vec3d& linear, const Vec3d& angular) const {
    double q[4] = {0.0, 0.0, 0.0, 1.0};
    integrate_quaternion(q, angular);
    const Transform X{rotation_from_quaternion(q) * X_WB.R, X_WB.p + linear};
    DistanceCache start;
    if (cache != nullptr) start = *cache;
    return distance(a, X_WA, b, X, {}, &start);
  }
};

/// Adds the change from `from` to `to` times x to column k.
void add(
    const DistanceResult& from, const DistanceResult& to, int k, double x, DistanceDerivatives& d) {
  const Vec3d n = to.normal - from.normal, a = to.witness_a - from.witness_a,
              b = to.witness_b - from.witness_b;
  d.distance[k] += (to.distance - from.distance) * x;
  for (int r = 0; r < 3; ++r) {
    d.normal[r][k] += n[r] * x;
    d.witness_a[r][k] += a[r] * x;
    d.witness_b[r][k] += b[r] * x;
  }
}

}  // namespace

void finite_differences(const Shape& a,
                        const Transform& X_WA,
                        const Shape& b,
                        const Transform& X_WB,
                        const DerivativeSettings& settings,
                        const DistanceCache* cache,
                        DistanceDerivatives& out) {
  const Perturbed pair{a, X_WA, b, X_WB, cache};
  for (int k = 0; k < 6; ++k) {
    Vec3d linear{0, 0, 0}, angular{0, 0, 0};
    (k < 3 ? linear : angular)[k % 3] = settings.step;
    add(pair.query(-linear, -angular), pair.query(linear, angular), k, 0.5 / settings.step, out);
  }
}

void sampled_placements(const Shape& a,
                        const Transform& X_WA,
                        const Shape& b,
                        const Transform& X_WB,
                        const DistanceResult& at,
                        const DerivativeSettings& settings,
                        const DistanceCache* cache,
                        DistanceDerivatives& out) {
  const Perturbed pair{a, X_WA, b, X_WB, cache};
  NormalSamples normal(settings.seed);
  const double linear = settings.spread_linear, angular = settings.spread_angular;
  for (int j = 0; j < settings.samples; ++j) {
    const auto [x, y] = normal.next();
    const auto [z, u] = normal.next();
    const auto [v, w] = normal.next();
    const DistanceResult r = pair.query(Vec3d{x, y, z} * linear, Vec3d{u, v, w} * angular);
    const double sample[6] = {x, y, z, u, v, w};
    for (int k = 0; k < 6; ++k) {
      add(at, r, k, sample[k] / (settings.samples * (k < 3 ? linear : angular)), out);
    }
  }
}

}  // namespace stiction::detail
