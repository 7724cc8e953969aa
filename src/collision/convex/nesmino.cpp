#include "collision/convex/nesmino.hpp"

#include <algorithm>

// Duality: dist = max over |y| <= 1 of min over x in D of <y, x> = - min q(y), q(y) = sigma_A(-y) +
// sigma_B(y) with support functions sigma. Smoothed,
//   sigma_{S,mu}(z) = max over u in S of <z, u> - mu/2 |u - c_S|^2,  attained at proj_S(c_S +
//   z/mu),
// so that grad q_mu(y) = u_B - u_A has the Lipschitz constant 2/mu, and u_A - u_B is a point of D.
// Accelerated projected gradient on the unit ball for a decreasing sequence of mu.

namespace stiction::detail {
namespace {

constexpr double kDecrease = 0.1;  // of mu, from 1 / size on, when the smoothed problem is solved

// Boxes, segments and points clamp; the distance from anything else is GJK's.
Vec3d project(const Core& core, double size, const Vec3d& p) {
  const Vec3d& h = core.half;
  if (core.mesh == nullptr && !is_smooth(core.type)) {
    return {std::clamp(p.x, -h.x, h.x), std::clamp(p.y, -h.y, h.y), std::clamp(p.z, -h.z, h.z)};
  }
  const Core point{ShapeType::kSphere, {0, 0, 0}, nullptr, 0.0};
  const SupportDifference D{core, point, {Mat3d::identity(), p}, size};
  const GjkResult g = gjk(D, centre(core) - p, nullptr, {}, HUGE_VAL);
  return g.end == GjkResult::End::kOverlap ? p : g.simplex.witness_a();
}

class Smoothing {
 public:
  Smoothing(const SupportDifference& D, const Vec3d& x0, double solved)
      : D_(D), mu_(1.0 / D.size), solved_(solved) {
    centre_a_ = centre(D.a);
    centre_b_ = centre(D.b);
    y_ = z_ = x0 * (1.0 / norm(x0));
  }

  /// One step; leaves the point of D and its part on A.
  void step() {
    const Vec3d a = project(D_.a, D_.size, centre_a_ - z_ * (1.0 / mu_));
    const Vec3d in_b = centre_b_ + transpose_times(D_.X_AB.R, z_) * (1.0 / mu_);
    x_ = a - D_.X_AB * project(D_.b, D_.size, in_b);
    a_ = a;
    Vec3d y = z_ + x_ * (0.5 * mu_);  // z - grad / L
    const double length = norm(y);
    if (length > 1.0) y = y * (1.0 / length);
    const double residual = norm(y - z_) / (0.5 * mu_);  // projected gradient [m]
    // Restart when the momentum points uphill (O'Donoghue and Candes 2015).
    const bool uphill = dot(z_ - y, y - y_) > 0.0;
    const double next = uphill ? 1.0 : 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t_ * t_));
    z_ = uphill ? y : y + (y - y_) * ((t_ - 1.0) / next);
    t_ = next;
    y_ = y;
    if (residual > solved_) return;
    mu_ *= kDecrease;
    t_ = 1.0;
    z_ = y_;
  }
  const Vec3d& point() const { return x_; }
  const Vec3d& on_a() const { return a_; }
  const Vec3d& dual() const { return y_; }

 private:
  const SupportDifference& D_;
  double mu_, solved_, t_ = 1.0;
  Vec3d centre_a_, centre_b_, y_, z_, x_{0, 0, 0}, a_{0, 0, 0};
};

}  // namespace

GjkResult nesmino(const SupportDifference& D,
                  const Vec3d& x0,
                  const DistanceSettings& settings,
                  double stop_above,
                  const Vec3d* target) {
  GjkResult r;
  const bool paper = settings.stopping == StoppingRule::kPaperGap;
  const double tolerance = paper ? std::sqrt(settings.tolerance) : settings.tolerance;  // [m]
  Smoothing smoothing(D, x0, tolerance);
  double best = HUGE_VAL;
  while (r.iterations < settings.max_iterations) {
    smoothing.step();
    ++r.iterations;
    const Vec3d& x = smoothing.point();
    const double upper = norm(x);
    if (upper < best) {
      best = upper;
      r.simplex.points[0] = {x, smoothing.on_a(), kSmooth, kSmooth};
      r.simplex.weights[0] = 1.0;
      r.simplex.count = 1;
      r.simplex.closest = x;
    }
    const SupportPoint s = D(-smoothing.dual());
    const double bound = dot(smoothing.dual(), s.w) / std::max(norm(smoothing.dual()), 1e-300);
    r.lower = std::max(r.lower, bound);
    if (bound > stop_above) {
      r.plane = smoothing.dual();
      r.simplex.points[0] = s;
      r.end = GjkResult::End::kBelowBound;
      return r;
    }
    const double gap = best - r.lower;  // 2 <x, x - s> = 2 |x| (upper - lower)
    const bool closed = paper ? 2.0 * best * gap <= settings.tolerance : gap <= settings.tolerance;
    const bool reached = target != nullptr && norm(x - *target) <= 1e-4;
    if (!closed && !reached) continue;
    r.end = r.lower > 0.0 ? GjkResult::End::kSeparated : GjkResult::End::kOverlap;
    return r;
  }
  return r;
}

}  // namespace stiction::detail
