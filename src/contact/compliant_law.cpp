#include "stiction/contact/compliant_law.hpp"

#include "stiction/contact/cone.hpp"

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

Vec3d by_entries(const Vec3d& a, const Vec3d& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
/// x_i / u_i^power, 0 where u is.
Vec3d over(const Vec3d& x, const Vec3d& u, int power) {
  Vec3d out{0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    if (u[i] > 0.0) out[i] = x[i] / (power == 1 ? u[i] : u[i] * u[i]);
  }
  return out;
}

/// g: the couples if the point sticks, over their units [N].
Vec3d sticking_couple(const PointCompliance& c, const PointMotion& m) {
  return by_entries(c.turning, m.turn * c.tangential_stiffness - m.spin * c.tangential_damping);
}

PointForce with_couples(const PointCompliance& c, const PointMotion& m, double f_n) {
  const Vec3d f = sticking_force(c, m) * c.sliding, g = sticking_couple(c, m);
  const double limit = c.friction * f_n, size = std::sqrt(squared_norm(f) + squared_norm(g));
  const bool sticks = size <= limit;
  const double scale = sticks ? 1.0 : limit / size;
  return {sticks ? ContactMode::kStick : ContactMode::kSlide,
          {scale * f.x, scale * f.y, f_n},
          by_entries(c.turning, g) * scale};
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
  if (pair.torsional_friction == 0.0 && pair.rolling_friction == 0.0) return c;
  const Cone K = Cone::rolling(pair.friction, pair.torsional_friction, pair.rolling_friction);
  c.friction = K.friction();
  c.sliding = K.velocity_unit(0);
  c.turning = {K.velocity_unit(3), K.velocity_unit(4), K.velocity_unit(2)};
  return c;
}

PointForce compliant_force(CompliantLaw law, const PointCompliance& c, const PointMotion& m) {
  if (!touches(law, m.gap)) return {};
  const double f_n = normal_force(law, c, m).force;
  if (!(f_n > 0.0)) return {};
  if (c.has_couples()) return with_couples(c, m, f_n);
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

PointWrenchDerivatives compliant_wrench_derivatives(const PointCompliance& c,
                                                    const PointMotion& m,
                                                    const PointForce& at) {
  const Vec3d zero{0, 0, 0};
  const PointForceDerivatives none{{zero, zero, zero}, {zero, zero, zero}};
  PointWrenchDerivatives out{none, none, none, none};
  if (at.mode == ContactMode::kOpen) return out;
  const Normal n = normal_force(CompliantLaw::kContinuous, c, m);
  // Slide: (f_T, m / u) = mu f_N (a, b), the trial (c, g) over its size: as of f_T alone.
  const Vec3d f = sticking_force(c, m) * c.sliding, g = sticking_couple(c, m);
  const double size = std::sqrt(squared_norm(f) + squared_norm(g));
  const bool slides = at.mode == ContactMode::kSlide;
  const Vec3d a = slides ? f * (1.0 / size) : zero, b = slides ? g * (1.0 / size) : zero;
  const double turn = slides ? c.friction * n.force / size : 1.0;
  const auto column =
      [&](const Vec3d& df, const Vec3d& dg, double dn, Vec3d& force, Vec3d& couple) {
        const double along = dot(a, df) + dot(b, dg);
        const Vec3d t = a * (c.friction * dn) + (df - a * along) * turn;
        force = {t.x, t.y, dn};
        couple = by_entries(c.turning, b * (c.friction * dn) + (dg - b * along) * turn);
      };
  const auto columns = [&](double k, double by_normal, Mat3d* const to[4]) {
    for (int i = 0; i < 3; ++i) {
      Vec3d e = zero;
      e[i] = -k;
      const Vec3d df{c.sliding * e.x, c.sliding * e.y, 0.0};
      const Vec3d dg = by_entries(c.turning, e);
      column(df, zero, i == 2 ? -by_normal : 0.0, to[0]->column(i), to[1]->column(i));
      column(zero, dg, 0.0, to[2]->column(i), to[3]->column(i));
    }
  };
  Mat3d* const places[4] = {&out.force.displacement,
                            &out.couple.displacement,
                            &out.force_by_turn.displacement,
                            &out.couple_by_turn.displacement};
  Mat3d* const rates[4] = {&out.force.velocity,
                           &out.couple.velocity,
                           &out.force_by_turn.velocity,
                           &out.couple_by_turn.velocity};
  columns(c.tangential_stiffness, n.by_depth, places);
  columns(c.tangential_damping, n.by_rate, rates);
  return out;
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

Vec3d settled_turn(const PointCompliance& c, const PointMotion& m, const PointForce& at) {
  if (at.mode == ContactMode::kOpen) return {0, 0, 0};
  const double kt = c.tangential_stiffness;
  if (at.mode == ContactMode::kSlide && c.tangential_damping == 0.0 && kt > 0.0)
    return over(at.couple, c.turning, 2) * (1.0 / kt);
  return m.turn;
}

Vec3d turn_rate(const PointCompliance& c, const PointMotion& m, const PointForce& at) {
  if (at.mode != ContactMode::kSlide || c.tangential_damping == 0.0) return {0, 0, 0};
  const Vec3d lost = over(at.couple, c.turning, 1) - sticking_couple(c, m);
  return over(lost, c.turning, 1) * (1.0 / c.tangential_damping);
}

Vec3d relaxed_turn(const PointCompliance& c, const Vec3d& turn, const Vec3d& couple, double h) {
  const double d = c.tangential_damping, total = d + h * c.tangential_stiffness;
  if (total == 0.0) return {0, 0, 0};
  return (turn * d + over(couple, c.turning, 2) * h) * (1.0 / total);
}

Vec3d resisted(const PointCompliance& c, const Vec3d& x) {
  return {
      c.turning.x > 0.0 ? x.x : 0.0, c.turning.y > 0.0 ? x.y : 0.0, c.turning.z > 0.0 ? x.z : 0.0};
}

Vec3d relaxed_extension(const PointCompliance& c, const Vec3d& e, const Vec3d& force, double h) {
  const double d = c.tangential_damping, total = d + h * c.tangential_stiffness;
  if (total == 0.0) return {0, 0, 0};
  return {(d * e.x + h * force.x) / total, (d * e.y + h * force.y) / total, 0.0};
}

}  // namespace stiction
