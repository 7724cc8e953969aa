#include "integrator/contact_motion.hpp"

#include "stiction/math/constants.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stiction {
namespace {

constexpr int kMostSwitches = 16;   // of a step that are followed; afterwards segments of h / 16
constexpr int kMostSegments = 100;  // likewise
constexpr double kShortest = 1e-7;  // segment that is cut for what hides in it, of a step
constexpr double kAtOnce = 100.0;   // roundings of a guard within which points switch together
constexpr double kOnCone = 1.0 + 1e-6;  // points that come to rest within rounding of each other
constexpr double kSwings = 0.5;         // share of its force by which a point swings that may open

bool is_finite(const ContactStates& s) {
  double sum = 0.0;
  for (const double v : s.v) sum += v;
  return std::isfinite(sum);
}

}  // namespace

ContactIsland& ContactMotion::renew(WorkAccount* account) {
  segment_.account = account;
  segment_.forget_springs();
  return island_;
}

void ContactMotion::run(const double* b0, const double* b1, double h, bool prediction) {
  const int rows = island_.rows();
  island_.h = h;
  island_.b0.assign(b0, b0 + rows);
  island_.slope.resize(rows);
  for (int r = 0; r < rows; ++r) island_.slope[r] = (b1[r] - b0[r]) / h;
  begin();
  double& time = segment_.begun;
  double length = quiet_length();
  while (time < h) {
    ++taken;
    const bool follow = switches < kMostSwitches && ++segments < kMostSegments;
    length = std::min(follow ? length : h / kMostSwitches, h - time);
    const bool last = length == h - time, switched = take_segment(length, follow, prediction);
    unpaid = segment_.unpaid;
    if (unpaid) return;
    const ContactStates& end = switched ? next_.end : nodes_.back();
    if (pulls(end) && (!follow || length > kShortest * h)) {
      length /= ContactSegment::kNodes;
      for (const int i : pulled_) {
        if (!follow) segment_.mode[i] = ContactMode::kOpen;
      }
      continue;
    }
    advance(end);
    overflown = !last && !is_finite(segment_.start);
    if (overflown) return;
    if (switched) {
      switch_points();
      length = quiet_length();
    } else if (last) {
      time = h;
    } else if (follow) {
      length *= 2.0;
    } else {
      for (int i = 0; i < island_.size; ++i) segment_.choose_mode(i);
    }
  }
}

void ContactMotion::begin() {
  const int n = island_.size;
  segment_.begun = 0.0;
  segment_.resize(island_);
  F1.assign(island_.rows(), 0.0);
  F2.assign(island_.rows(), 0.0);
  fresh_.assign(n, 0);
  switches = segments = taken = 0;
  overflown = unpaid = segment_.unpaid = false;
  ContactStates& start = segment_.start;
  for (int i = 0; i < n; ++i) {
    const PointMotion& p = island_.start[i];
    for (int r = 0; r < 3; ++r) start.v[3 * i + r] = p.velocity[r];
    start.x[3 * i + 2] = p.gap;
    start.e[i] = {{p.extension.x, p.extension.y, 0.0}, {0, 0, 0}};
    island_.each_turn(i, [&](int row, int axis, double unit) {
      start.v[row] = unit * p.spin[axis];
      start.e[i].about[axis] = unit * p.turn[axis];
    });
    segment_.choose_mode(i);
  }
}

/// The nodes up to `length`; true if a switch ends it before. Where something slides a second pass
/// takes the directions averaged over the first.
bool ContactMotion::take_segment(double length, bool follow, bool prediction) {
  const int passes = segment_.linearise(false) && !prediction ? 2 : 1;
  for (int pass = 1;; ++pass) {
    const bool holds = segment_.sample(length, nodes_), final = pass == passes;
    const bool switched = follow && !holds && next_.find(segment_, nodes_, final && !prediction);
    if (final) return switched;
    segment_.average(switched ? next_.end : nodes_.back());
    segment_.linearise(true);
  }
}

/// The ground has pulled closed points in sum: they have opened between two nodes, as where the
/// damper of another takes a blow within microseconds. Switches that are followed find that in a
/// shorter segment; where they no longer are, the points open at its start.
bool ContactMotion::pulls(const ContactStates& end) {
  pulled_.clear();
  for (int i = 0; i < island_.size; ++i) {
    if (segment_.mode[i] != ContactMode::kOpen &&
        end.F1[3 * i + 2] < -guard_rounding(segment_, i) * end.t)
      pulled_.push_back(i);
  }
  return !pulled_.empty();
}

void ContactMotion::advance(const ContactStates& end) {
  for (std::size_t r = 0; r < F1.size(); ++r) {
    F2[r] += end.t * F1[r] + end.F2[r];
    F1[r] += end.F1[r];
  }
  segment_.begun += end.t;
  if (end.t > 0.0) {
    std::fill(segment_.resting.begin(), segment_.resting.end(), 0);
    std::fill(fresh_.begin(), fresh_.end(), 0);
  }
  segment_.start = end;
  for (std::vector<double>* F : {&segment_.start.F1, &segment_.start.F2})
    std::fill(F->begin(), F->end(), 0.0);
}

/// The segment starts at the switch: every violated point whose guard is zero takes its new mode.
/// One that switches back without any time in between rests until time goes on. Points that slide
/// alike come to rest within rounding of each other: they stick together, or the last would hold
/// the others.
void ContactMotion::switch_points() {
  const ContactStates& here = segment_.start;
  ++switches;
  for (const int i : next_.violated) {
    if (guard(segment_, i, here) > kAtOnce * guard_rounding(segment_, i)) continue;
    if (fresh_[i] && here.t == 0.0) segment_.resting[i] = 1;
    switch_point(i);
  }
  for (int i = 0; i < island_.size; ++i) {
    if (segment_.mode[i] != ContactMode::kSlide || fresh_[i]) continue;
    const double limit = island_.compliance[i].friction * segment_.normal_force(i, here);
    if (norm(segment_.trial(i, here)) <= limit * kOnCone) switch_point(i);
  }
}

void ContactMotion::switch_point(int i) {
  ContactMode& mode = segment_.mode[i];
  ContactStates& here = segment_.start;
  const double f = segment_.normal_force(i, here), c = norm(segment_.trial(i, here)),
               limit = island_.compliance[i].friction * f;
  const bool smooth = !island_.compliance[i].has_tangential();
  if (mode == ContactMode::kOpen) {  // without friction closed is closed
    mode = smooth || c <= limit ? ContactMode::kStick : ContactMode::kSlide;
  } else if (f <= guard_rounding(segment_, i)) {
    mode = ContactMode::kOpen;
    here.e[i] = {};
  } else if (mode == ContactMode::kStick) {
    mode = ContactMode::kSlide;
  } else if (c <= limit * kOnCone) {
    mode = ContactMode::kStick;  // else it has turned: it slides on in its new direction
  }
  fresh_[i] = 1;
}

/// How far to look at once: where a closed point still swings so much that it may open, two of its
/// half periods; the whole step otherwise.
double ContactMotion::quiet_length() const {
  const ContactStates& here = segment_.start;
  double length = island_.h;
  for (int i = 0; i < island_.size; ++i) {
    if (segment_.mode[i] == ContactMode::kOpen) continue;
    const double Y = island_.Y[static_cast<std::size_t>(3 * i + 2) * (island_.rows() + 1)];
    const double k = island_.compliance[i].stiffness;
    if (!(Y > 0.0 && k > 0.0)) continue;
    const double swing = std::abs(here.v[3 * i + 2]) * std::sqrt(k / Y);
    if (swing > kSwings * segment_.normal_force(i, here))
      length = std::min(length, 2.0 * kPi / std::sqrt(k * Y));
  }
  return length;
}

}  // namespace stiction
