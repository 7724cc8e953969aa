#include "stiction/contact/compliant_law.hpp"

#include <cmath>

namespace stiction {
namespace {

struct Normal {
  double force, by_depth, by_rate;  // f_N and its derivatives by depth and by -gap rate
};

/// The depth is -phi at rest at the surface, e_N at rest at the first detected depth.
Normal normal_force(CompliantLaw law, const PointCompliance& c, const PointMotion& m) {
  const double rate = -m.velocity.z;
  if (law == CompliantLaw::kPublished)
    return {c.stiffness * m.extension.z + c.damping * rate, c.stiffness, c.damping};
  const double chi = c.stiffness * c.dissipation, depth = -m.gap;
  const double damping = c.damping + chi * depth;
  return {c.stiffness * depth + damping * rate, c.stiffness + chi * rate, damping};
}

bool touches(CompliantLaw law, double gap) {
  return law == CompliantLaw::kPublished ? gap <= 0.0 : gap < 0.0;
}

/// The tangential force if the point sticks.
Vec3d sticking_force(const PointCompliance& c, const PointMotion& m) {
  const Vec3d f = m.extension * c.tangential_stiffness - m.velocity * c.tangential_damping;
  return {f.x, f.y, 0.0};
}

}  // namespace

PointCompliance point_compliance(const Material& pair, double share) {
  PointCompliance c;
  c.stiffness = share * pair.stiffness;
  c.damping = share * pair.damping;
  c.tangential_stiffness = pair.tangential_stiffness_ratio * c.stiffness;
  c.tangential_damping = pair.tangential_damping_ratio * c.damping;
  c.dissipation = pair.dissipation;
  c.friction = pair.friction;
  return c;
}

PointForce compliant_force(CompliantLaw law, const PointCompliance& c, const PointMotion& m) {
  if (!touches(law, m.gap)) return {};
  const double f_n = normal_force(law, c, m).force;
  if (!(f_n > 0.0)) return {};
  const Vec3d f_t = sticking_force(c, m);
  const double limit = c.friction * f_n, size = norm(f_t);
  if (size <= limit) return {ContactMode::kStick, {f_t.x, f_t.y, f_n}};
  const double scale = limit / size;
  return {ContactMode::kSlide, {scale * f_t.x, scale * f_t.y, f_n}};
}

PointForceDerivatives compliant_force_derivatives(CompliantLaw law,
                                                  const PointCompliance& c,
                                                  const PointMotion& m,
                                                  const PointForce& at) {
  const Vec3d zero{0, 0, 0};
  if (at.mode == ContactMode::kOpen) return {{zero, zero, zero}, {zero, zero, zero}};
  const Normal n = normal_force(law, c, m);
  const double kt = c.tangential_stiffness, dt = c.tangential_damping;
  if (at.mode == ContactMode::kStick) {
    return {{{-kt, 0, 0}, {0, -kt, 0}, {0, 0, -n.by_depth}},
            {{-dt, 0, 0}, {0, -dt, 0}, {0, 0, -n.by_rate}}};
  }
  // f_T = mu f_N u with u = c / |c|: df_T = mu u df_N + (mu f_N / |c|) (I - u u^T) dc.
  const Vec3d trial = sticking_force(c, m);
  const double size = norm(trial), turn = c.friction * n.force / size;
  const Vec3d u = trial * (1.0 / size);
  const Vec3d across_1{turn * (1.0 - u.x * u.x), -turn * u.x * u.y, 0.0};
  const Vec3d across_2{-turn * u.x * u.y, turn * (1.0 - u.y * u.y), 0.0};
  const Vec3d along{c.friction * u.x, c.friction * u.y, 1.0};
  return {{across_1 * -kt, across_2 * -kt, along * -n.by_depth},
          {across_1 * -dt, across_2 * -dt, along * -n.by_rate}};
}

Vec3d settled_extension(CompliantLaw law,
                        const PointCompliance& c,
                        const PointMotion& m,
                        const PointForce& at) {
  const double kt = c.tangential_stiffness;
  const Vec3d e = m.extension;
  if (law == CompliantLaw::kPublished) {
    if (!touches(law, m.gap)) return {0, 0, 0};
    if (at.mode != ContactMode::kSlide || kt == 0.0) return e;
    return {at.force.x / kt, at.force.y / kt, e.z};
  }
  if (at.mode == ContactMode::kOpen) return {0, 0, 0};
  if (at.mode == ContactMode::kSlide && c.tangential_damping == 0.0 && kt > 0.0)
    return {at.force.x / kt, at.force.y / kt, 0.0};
  return {e.x, e.y, 0.0};
}

Vec3d anchor_rate(CompliantLaw law,
                  const PointCompliance& c,
                  const PointMotion& m,
                  const PointForce& at) {
  const bool moves = law == CompliantLaw::kContinuous && at.mode == ContactMode::kSlide &&
                     c.tangential_damping > 0.0;
  if (!moves) return {0, 0, 0};
  const Vec3d rate = (at.force - sticking_force(c, m)) * (1.0 / c.tangential_damping);
  return {rate.x, rate.y, 0.0};
}

Vec3d relaxed_extension(const PointCompliance& c, const Vec3d& e, const Vec3d& force, double h) {
  const double d = c.tangential_damping, total = d + h * c.tangential_stiffness;
  if (total == 0.0) return {0, 0, 0};
  return {(d * e.x + h * force.x) / total, (d * e.y + h * force.y) / total, 0.0};
}

}  // namespace stiction
