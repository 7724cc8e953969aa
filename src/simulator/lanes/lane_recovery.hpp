#pragma once

#include "dynamics/body_speeds.hpp"
#include "simulator/lanes/lane_rows.hpp"

// Reference velocities c* of the rows and the caps of what corrects position errors: as in
// contact/contact_rows.cpp, contact/recovery.cpp and integrator/keep_recovery_speeds.cpp. Where a
// world would need a second solve it leaves the lanes.

namespace stiction {
inline namespace STICTION_ISA {

template <class Real>
inline PlacedTree<Real> placed_tree(const LaneScene& s,
                                    const LaneParameters<Real>& p,
                                    const LaneScratch<Real>& x,
                                    const PackWork<Real>& w) {
  return {s.tree, p.tree.com, w.data, x.speed};
}

/// The share of c* of row r of a set that does no harm, the row acting alone.
template <class Real>
inline Real lane_share(const LaneScene& s,
                       const LaneParameters<Real>& p,
                       int set,
                       Real lambda,
                       LaneScratch<Real>& x,
                       const PackWork<Real>& w) {
  const TreeView& t = s.tree;
  const int dim = set_dim(s, set);
  const auto [dofs, length] = chain_of(s, set, w);
  const Real* y = w.y + set_start(s, set);
  for (int k = 0; k < t.nv; ++k) x.u[k] = Real(0.0);
  for (int m = 0; m < length; ++m) x.u[dofs[m]] = w.root[dofs[m]] * y[dim * m + dim - 1] * lambda;
  solve_lower(t, w.data, x.u);
  SquaredSpeeds<Real> most;
  add_speeds<Real>(placed_tree(s, p, x, w), x.u, most);
  return harmless_share(s.rules.caps, most);
}

/// Lanes in which c* > 0 of a row alone is proven harmless by its energy: u^T M^ u = c*^2 / G_rr is
/// at least m_b |v_b|^2 + J_b |w_b|^2 of any body b, J_b its least principal moment; the rate of a
/// joint is at most twice the fastest rotation.
template <class Real>
inline Mask<Real> harmless(const SpeedCaps& caps,
                           const LaneParameters<Real>& p,
                           Real reference,
                           Real diagonal) {
  constexpr double kSure = 0.99;
  const Real energy = reference * reference, share = Real(kSure) * diagonal;
  const double linear = caps.linear * caps.linear, angular = 0.25 * caps.angular * caps.angular;
  return (energy < share * p.least_mass[0] * Real(linear)) &
         (energy < share * p.least_inertia[0] * Real(angular));
}

/// c* of a contact whose gap asks for `reference`: where it is an impact above the threshold and
/// restitution asks for more, that. These lanes are w.impact, and nothing in them is corrected:
/// `matters` falls to zero.
template <class Real>
inline Real rebound(const LaneScene& s,
                    const LaneParameters<Real>& p,
                    int set,
                    Real reference,
                    const LaneScratch<Real>& x,
                    const PackWork<Real>& w,
                    Real& matters) {
  const int n = set_offset(s, set) + 2;
  const Real dt(s.rules.dt), zero(0.0);
  const Real least = restitution_threshold(s.rules.restitution_threshold, p.tree.gravity, dt);
  const Real e = p.restitution[material_of(s, set, w)], approach = -x.jv[n];
  const Mask<Real> impact =
      rebounds<Real>({x.gap[set], x.g[n], approach, least}, e, reference, dt) &
      (w.active[set] > zero);
  w.impact[set] = select(impact, Real(1.0), zero);
  if (!any(impact)) return reference;
  w.impacts[0] = max(w.impacts[0], w.impact[set]);
  matters = select(impact, zero, matters);
  return select(impact, e * approach, reference);
}

/// c* of every used set, taken off g; floors complete; w.matters. Returns the lanes in which
/// nothing moves along a normal.
template <class Real>
inline Mask<Real> lane_references(const LaneScene& s,
                                  const LaneParameters<Real>& p,
                                  LaneScratch<Real>& x,
                                  PackWork<Real>& w) {
  const Real zero(0.0), one(1.0), dt(s.rules.dt);
  const Real negligible(negligible_speed(s.rules.caps));
  const Real far(Mobility<Real>::kFar);
  Mobility<Real> mobility;
  Real least_normal(far);
  if (w.num_used > 0 && !is_cone(s, w.used[w.num_used - 1]))
    carried_masses(s.tree.num_bodies, s.tree.parent, p.tree.mass, x.carried);
  w.matters[0] = w.impacts[0] = w.gains[0] = zero;
  for (int k = 0, row = 0; k < w.num_used; row += set_dim(s, w.used[k++])) {
    const int set = w.used[k], dim = set_dim(s, set), o = set_offset(s, set);
    const Mask<Real> active = w.active[set] > zero;
    const Real diagonal = diagonal_of(x, w, dim, row, dim - 1);
    Real free = abs(x.g[o]);
    for (int r = 1; r < dim; ++r) free = max(free, abs(x.g[o + r]));
    if (dim == 1) {
      const LaneRow& joint = joint_row(s, set);
      const Real arm = joint.linear ? one : joint_arm(diagonal, x.carried[joint.body]);
      w.arm[set - num_cones(s)] = arm;
      free *= arm;
      mobility.add_other(select(active, diagonal * arm * arm, far));
      if (joint.kind != LaneRow::Kind::kDryFriction) x.floor[set] *= arm;
    } else {
      least_normal = min(least_normal, select(active, diagonal, far));
      for (int r = 0; r < 3; ++r)
        mobility.add_contact(select(active, diagonal_of(x, w, 3, row, r), zero));
    }
    x.floor[set] += rounding_of(zero, dt, free);
    w.reference[set] = zero;
    if (dim == 1 && joint_row(s, set).kind == LaneRow::Kind::kDryFriction) continue;
    const double cap = limit_cap(s.rules.caps, dim == 3 || joint_row(s, set).linear);
    Real reference = gap_reference(s.rules.baumgarte, cap, x.gap[set], dt);
    const Mask<Real> closed = active & negated(x.gap[set] > zero);
    const Mask<Real> corrected = closed & (reference > negligible);
    const Real drift = dim == 3 ? Real(kDriftOfContact) * abs(w.curvature[o + 2]) : zero;
    const Mask<Real> large = closed & (reference > Real(kMatters * cap)) & (reference > drift);
    Real matters = select(large, one, zero);
    const Mask<Real> doubtful = corrected & negated(harmless(s.rules.caps, p, reference, diagonal));
    if (any(doubtful)) {
      const Real share = lane_share(s, p, set, reference / diagonal, x, w);
      const Mask<Real> capped = doubtful & (share < one);
      reference = select(doubtful, reference * share, reference);
      matters = select(capped, one, matters);
    }
    if (dim == 3) reference = rebound(s, p, set, reference, x, w, matters);
    w.matters[0] = max(w.matters[0], matters);
    x.g[o + dim - 1] -= reference;
    w.reference[set] = reference;
  }
  return least_normal <= Real(kImmovable) * mobility.value();
}

/// is_pushed_fast(): lanes in which corrections must be looked at together.
template <class Real>
inline Mask<Real> pushed_fast(const LaneScene& s,
                              const LaneParameters<Real>& p,
                              const Real* v,
                              const Real* pushed,
                              LaneScratch<Real>& x,
                              const PackWork<Real>& w) {
  return is_pushed_fast<Real>(placed_tree(s, p, x, w),
                              s.rules.caps,
                              {v, w.w, pushed, x.u, x.fastest, x.fastest + s.tree.num_bodies});
}

}  // namespace STICTION_ISA
}  // namespace stiction
