#include "stiction/math/constants.hpp"

#include "integrator/contact_motion.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

// The switches of ContactMotion: what ends a segment, and what follows.

namespace stiction {
namespace {

constexpr double kTurn = 0.94;  // cosine of 20 degrees

double tangential_norm(const Vec3d& c) { return std::sqrt(c.x * c.x + c.y * c.y); }

}  // namespace

/// As the springs give it, also where the point is open.
double ContactMotion::normal_force(int i, const Node& node) const {
  return -compliance_[i].stiffness * node.x[3 * i + 2] - damping_[i] * node.v[3 * i + 2];
}

/// c = k_t e - d_t x_T'.
Vec3d ContactMotion::trial(int i, const Node& node) const {
  const PointCompliance& c = compliance_[i];
  const double d =
      result_.mode[i] == ContactMode::kSlide ? slide_damping_[i] : c.tangential_damping;
  return {c.tangential_stiffness * node.e[i].x - d * node.v[3 * i],
          c.tangential_stiffness * node.e[i].y - d * node.v[3 * i + 1],
          0.0};
}

/// [N], not negative while the mode holds. Open: phi >= 0 or f_N <= 0. Closed: f_N >= 0; sticking
/// inside the cone, sliding outside of it and within 20 degrees of the direction that the segment
/// takes for the friction: a velocity that passes near zero may cross the cone within microseconds.
/// A point that rests from switching between stick and slide may still open.
double ContactMotion::guard(int i, const Node& node) const {
  const PointCompliance& c = compliance_[i];
  if (ignored_[i]) return result_.mode[i] == ContactMode::kOpen ? HUGE_VAL : normal_force(i, node);
  if (result_.mode[i] == ContactMode::kOpen)
    return std::max(c.stiffness * node.x[3 * i + 2], -normal_force(i, node));
  if (result_.mode[i] == ContactMode::kStick) {
    if (!c.has_tangential()) return node.f[3 * i + 2];
    const double* f = node.f.data() + 3 * i;
    return std::min(f[2], c.friction * f[2] - std::sqrt(f[0] * f[0] + f[1] * f[1]));
  }
  const double f = normal_force(i, node);
  const Vec3d force = trial(i, node);
  const double size = tangential_norm(force);
  return std::min({f, size - c.friction * f, dot(force, direction_[i]) - kTurn * size});
}

/// All points inside their cones at the nodes, by the sprung forces there.
bool ContactMotion::sticks(const double* forces, int stride) const {
  for (int i = 0; i < n_; ++i) {
    const double mu = compliance_[i].friction;
    const int x = sprung_[3 * i], y = sprung_[3 * i + 1], z = sprung_[3 * i + 2];
    for (int k = 0; k < kNodes; ++k) {
      const double *f = forces + k * stride, limit = mu * f[z];
      if (!(f[z] >= 0.0) || (x >= 0 && !(f[x] * f[x] + f[y] * f[y] <= limit * limit))) return false;
    }
  }
  return true;
}

/// Below this a guard is zero: rounding of the forces it compares.
double ContactMotion::tolerance(int i) const {
  const PointCompliance& c = compliance_[i];
  const double size = c.stiffness * std::abs(here_.x[3 * i + 2]) +
                      c.damping * std::abs(here_.v[3 * i + 2]) + tangential_norm(trial(i, here_));
  return 1e-11 * size;
}

/// Of the violated points, at time t of the segment, which probe_ then holds.
double ContactMotion::least_guard(double t) {
  if (t == 0.0) {
    probe_ = here_;
    probe_.t = 0.0;
  } else {
    springs_.at(t, motion_);
    expand(motion_, t, probe_);
  }
  double least = HUGE_VAL;
  for (const int i : violated_) least = std::min(least, guard(i, probe_));
  return least;
}

void ContactMotion::find_violated(const Node& node) {
  violated_.clear();
  for (int i = 0; i < n_; ++i) {
    const double left = guard(i, node);
    if (!(left >= 0.0) && left < -tolerance(i)) violated_.push_back(i);
  }
}

/// Where an open point may have touched and left between two nodes `apart` seconds apart: the
/// lowest point of its gap by Hermite's cubic. Seconds after `a`, or a negative number.
double ContactMotion::lowest_between(int i, const Node& a, const Node& b, double apart) const {
  if (result_.mode[i] != ContactMode::kOpen) return -1.0;
  const int row = 3 * i + 2;
  const double va = a.v[row], vb = b.v[row];
  if (!(va < 0.0 && vb > 0.0)) return -1.0;
  const double s = va / (va - vb), r = 1.0 - s;
  const double gap = r * r * (1.0 + 2.0 * s) * a.x[row] + s * s * (1.0 + 2.0 * r) * b.x[row] +
                     apart * s * r * (r * va - s * vb);
  return gap < 0.0 ? s * apart : -1.0;
}

/// The first node where a guard is violated; the switch before it by a root search over the points
/// that are violated there. On success probe_ is the end of the segment.
bool ContactMotion::first_switch(double length) {
  if (holds_) return false;
  const double apart = length / kNodes;
  for (int k = 0; k < kNodes; ++k) {
    const Node& before = k > 0 ? nodes_[k - 1] : here_;
    for (int i = 0; i < n_; ++i) {
      const double t = lowest_between(i, before, nodes_[k], apart);
      if (t < 0.0) continue;
      violated_.clear();
      least_guard(k * apart + t);
      find_violated(probe_);
      if (violated_.empty()) continue;
      locate(k * apart, k * apart + t);
      return true;
    }
    find_violated(nodes_[k]);
    if (violated_.empty()) continue;
    locate(k * apart, (k + 1) * apart);
    return true;
  }
  return false;
}

/// Regula falsi, Illinois variant, with bisection where that is slow: from the right, so that what
/// has to switch is violated at the time returned.
void ContactMotion::locate(double left, double right) {
  double high = least_guard(right), low = least_guard(left);
  // A point that has just switched starts at zero: look for where it holds.
  for (double t = 0.25 * right; low <= 0.0 && left == 0.0 && t > 1e-4 * right; t *= 0.25) {
    const double value = least_guard(t);
    if (value <= 0.0) continue;
    left = t;
    low = value;
  }
  if (low <= 0.0) {
    least_guard(left);
    return;
  }
  double zero = 0.0;  // of the guards that are looked at, well below where they switch
  for (const int i : violated_) zero = std::max(zero, tolerance(i));
  const double close = sharp_ ? 1e-13 * h_ : 1e-3 * (right - left);
  double low_weight = low, high_weight = high;
  for (int count = 0; count < 60 && right - left > close; ++count) {
    double t = right - high_weight * (right - left) / (high_weight - low_weight);
    if (count % 8 == 7 || !(t > left && t < right)) t = 0.5 * (left + right);
    const double value = least_guard(t);
    if (value <= 0.0 && value >= -zero) return;  // probe_ is there
    if (value > 0.0) {
      left = t;
      low_weight = value;
      high_weight *= 0.5;
    } else {
      right = t;
      high_weight = value;
      low_weight *= 0.5;
    }
  }
  least_guard(right);
}

/// here_ is at the switch: every violated point whose guard is zero takes its new mode. One that
/// switches back without any time in between rests until time goes on. Points that slide alike come
/// to rest within rounding of each other: they stick together, or the last would hold the others.
void ContactMotion::switch_points() {
  ++result_.switches;
  for (const int i : violated_) {
    if (guard(i, here_) > 100.0 * tolerance(i)) continue;
    if (fresh_[i] && here_.t == 0.0) ignored_[i] = 1;
    switch_point(i);
  }
  for (int i = 0; i < n_; ++i) {
    if (result_.mode[i] != ContactMode::kSlide || fresh_[i]) continue;
    const double limit = compliance_[i].friction * normal_force(i, here_);
    if (tangential_norm(trial(i, here_)) <= limit * (1.0 + 1e-6)) switch_point(i);
  }
}

void ContactMotion::switch_point(int i) {
  ContactMode& mode = result_.mode[i];
  const double f = normal_force(i, here_), c = tangential_norm(trial(i, here_)),
               limit = compliance_[i].friction * f;
  const bool smooth = !compliance_[i].has_tangential();
  if (mode == ContactMode::kOpen) {  // without friction closed is closed
    mode = smooth || c <= limit ? ContactMode::kStick : ContactMode::kSlide;
  } else if (f <= tolerance(i)) {
    mode = ContactMode::kOpen;
    here_.e[i] = result_.e[i] = {0, 0, 0};
  } else if (mode == ContactMode::kStick) {
    mode = ContactMode::kSlide;
  } else if (c <= limit * (1.0 + 1e-6)) {
    mode = ContactMode::kStick;  // else it has turned: it slides on in its new direction
  }
  fresh_[i] = 1;
}

/// How far to look at once: where a closed point still swings so much that it may open, two of its
/// half periods; the whole step otherwise.
double ContactMotion::quiet_length() const {
  double length = h_;
  for (int i = 0; i < n_; ++i) {
    if (result_.mode[i] == ContactMode::kOpen) continue;
    const double Y = Y_[static_cast<std::size_t>(3 * i + 2) * (3 * n_ + 1)];
    const double k = compliance_[i].stiffness;
    if (!(Y > 0.0 && k > 0.0)) continue;
    const double swing = std::abs(here_.v[3 * i + 2]) * std::sqrt(k / Y);
    if (swing > 0.5 * normal_force(i, here_))
      length = std::min(length, 2.0 * kPi / std::sqrt(k * Y));
  }
  return length;
}

}  // namespace stiction
