#include "integrator/next_switch.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

constexpr double kTurn = 0.94;       // cosine of 20 degrees
constexpr double kRounding = 1e-11;  // of a guard, as a share of the forces that it compares
// Width of the interval that a root search ends with: of the step; of the time between two nodes.
constexpr double kSharp = 1e-13, kCoarse = 1e-3;
constexpr int kMostTrials = 60;     // of a root search: bisection alone takes 43
constexpr int kBisectEvery = 8;     // trials; regula falsi may stall
constexpr double kEarliest = 1e-4;  // share of an interval, before which a point that has just
                                    // switched is not looked for where it holds

/// Where an open point may have touched and left between two nodes: the lowest point of its gap by
/// Hermite's cubic. Seconds after `a`, or a negative number.
double lowest_between(int i, const ContactStates& a, const ContactStates& b, double apart) {
  const int row = 3 * i + 2;
  const double va = a.v[row], vb = b.v[row];
  if (!(va < 0.0 && vb > 0.0)) return -1.0;
  const double s = va / (va - vb), r = 1.0 - s;
  const double gap = r * r * (1.0 + 2.0 * s) * a.x[row] + s * s * (1.0 + 2.0 * r) * b.x[row] +
                     apart * s * r * (r * va - s * vb);
  return gap < 0.0 ? s * apart : -1.0;
}

}  // namespace

double guard(const ContactSegment& segment, int i, const ContactStates& s) {
  const PointCompliance& c = segment.island->compliance[i];
  const ContactMode mode = segment.mode[i];
  if (mode == ContactMode::kOpen) {
    if (segment.resting[i]) return HUGE_VAL;
    return std::max(c.stiffness * s.x[3 * i + 2], -segment.normal_force(i, s));
  }
  if (segment.resting[i]) return segment.normal_force(i, s);
  if (mode == ContactMode::kStick) {
    const double f = s.f[3 * i + 2];
    if (!c.has_tangential()) return f;
    return std::min(f, c.friction * f - norm(segment.friction(i, s.f)));
  }
  const Tangential force = segment.trial(i, s);
  const double f = segment.normal_force(i, s), size = norm(force);
  return std::min({f, size - c.friction * f, dot(force, segment.direction(i)) - kTurn * size});
}

double guard_rounding(const ContactSegment& segment, int i) {
  const PointCompliance& c = segment.island->compliance[i];
  const ContactStates& s = segment.start;
  const double size = c.stiffness * std::abs(s.x[3 * i + 2]) +
                      c.damping * std::abs(s.v[3 * i + 2]) + norm(segment.trial(i, s));
  return kRounding * size;
}

/// Of the violated points, at time t of the segment, which `end` then holds of them.
double NextSwitch::least_guard(ContactSegment& segment, double t) {
  segment.at(t, violated, end);
  double least = HUGE_VAL;
  for (const int i : violated) least = std::min(least, guard(segment, i, end));
  return least;
}

void NextSwitch::list_violated(const ContactSegment& segment, const ContactStates& s) {
  violated.clear();
  for (int i = 0; i < segment.island->size; ++i) {
    const double left = guard(segment, i, s);
    if (!(left >= 0.0) && left < -guard_rounding(segment, i)) violated.push_back(i);
  }
}

bool NextSwitch::find(ContactSegment& segment,
                      const std::vector<ContactStates>& nodes,
                      bool sharp) {
  const int count = ContactSegment::kNodes;
  const double apart = nodes[count - 1].t / count;
  for (int k = 0; k < count; ++k) {
    const ContactStates& before = k > 0 ? nodes[k - 1] : segment.start;
    for (int i = 0; i < segment.island->size; ++i) {
      if (segment.mode[i] != ContactMode::kOpen) continue;
      const double t = lowest_between(i, before, nodes[k], apart);
      if (t < 0.0) continue;
      segment.at(k * apart + t, end);
      list_violated(segment, end);
      if (violated.empty()) continue;
      locate(segment, k * apart, k * apart + t, sharp);
      segment.complete(end);
      return true;
    }
    list_violated(segment, nodes[k]);
    if (violated.empty()) continue;
    locate(segment, k * apart, (k + 1) * apart, sharp);
    segment.complete(end);
    return true;
  }
  return false;
}

/// Regula falsi, Illinois variant, with bisection where that is slow: from the right, so that what
/// has to switch is violated at the time returned.
void NextSwitch::locate(ContactSegment& segment, double left, double right, bool sharp) {
  const auto value_at = [&](double t) { return least_guard(segment, t); };
  double high = value_at(right), low = value_at(left);
  // A point that has just switched starts at zero: look for where it holds.
  for (double t = 0.25 * right; low <= 0.0 && left == 0.0 && t > kEarliest * right; t *= 0.25) {
    const double value = value_at(t);
    if (value <= 0.0) continue;
    left = t;
    low = value;
  }
  if (low <= 0.0) {
    value_at(left);
    return;
  }
  double zero = 0.0;  // of the guards that are looked at, well below where they switch
  for (const int i : violated) zero = std::max(zero, guard_rounding(segment, i));
  const double close = sharp ? kSharp * segment.island->h : kCoarse * (right - left);
  for (int count = 0; count < kMostTrials && right - left > close; ++count) {
    double t = right - high * (right - left) / (high - low);
    if (count % kBisectEvery == kBisectEvery - 1 || !(t > left && t < right))
      t = 0.5 * (left + right);
    const double value = value_at(t);
    if (value <= 0.0 && value >= -zero) return;  // `end` is there
    if (value > 0.0) {
      left = t;
      low = value;
      high *= 0.5;
    } else {
      right = t;
      high = value;
      low *= 0.5;
    }
  }
  value_at(right);
}

}  // namespace stiction
