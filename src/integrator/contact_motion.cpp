#include "integrator/contact_motion.hpp"

#include "math/exponential.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stiction {
namespace {

constexpr int kMostSwitches = 16;   // of a step that are followed; afterwards segments of h / 16
constexpr int kMostSegments = 100;  // likewise
constexpr double kShortest =
    1e-7;  // segment that is cut for what hides between its nodes, of a step

double tangential_norm(const Vec3d& c) { return std::sqrt(c.x * c.x + c.y * c.y); }

Vec3d unit_tangential(const Vec3d& c) {
  const double size = tangential_norm(c);
  return size > 0.0 ? Vec3d{c.x / size, c.y / size, 0.0} : Vec3d{0, 0, 0};
}

}  // namespace

void ContactMotion::Node::resize(int n) {
  for (std::vector<double>* a : {&x, &v, &f, &F1, &F2}) a->assign(3 * n, 0.0);
  e.resize(n);
}

void ContactMotion::set(int n, const double* Y, const PointCompliance* compliance) {
  n_ = n;
  Y_.assign(Y, Y + 9 * static_cast<std::size_t>(n) * n);
  compliance_.assign(compliance, compliance + n);
  modes_kept_ = false;
}

void ContactMotion::start(const PointMotion* points) { start_.assign(points, points + n_); }

const ContactMotion::Result& ContactMotion::run(const double* b0,
                                                const double* b1,
                                                double h,
                                                bool prediction) {
  b0_.assign(b0, b0 + 3 * n_);
  slope_.resize(3 * n_);
  for (int r = 0; r < 3 * n_; ++r) slope_[r] = (b1[r] - b0[r]) / h;
  begin(h);
  double length = quiet_length();
  while (time_ < h) {
    const bool follow = result_.switches < kMostSwitches && ++result_.segments < kMostSegments;
    length = std::min(follow ? length : h / kMostSwitches, h - time_);
    const bool whole = length == h - time_;

    bool switched = false;
    for (int pass = 0, passes = build(result_.mode, false) && !prediction ? 2 : 1; pass < passes;
         ++pass) {
      if (pass > 0) build(result_.mode, true);  // with the directions averaged over the first pass
      start_springs();
      sample(length);
      sharp_ = pass + 1 == passes && !prediction;
      switched = follow && first_switch(length);
      if (pass + 1 < passes) average_directions(switched ? probe_ : nodes_[kNodes - 1]);
    }
    const Node& end = switched ? probe_ : nodes_[kNodes - 1];
    if (pulls(end) && (!follow || length > kShortest * h)) {
      length /= kNodes;
      for (const int i : pulled_) {
        if (!follow) result_.mode[i] = ContactMode::kOpen;
      }
      continue;
    }
    advance(end);
    if (switched) {
      switch_points();
      length = quiet_length();
    } else if (whole) {
      time_ = h;
    } else if (follow) {
      length *= 2.0;
    } else {
      for (int i = 0; i < n_; ++i) choose_mode(i);
    }
  }
  return result_;
}

/// The ground has pulled closed points in sum: they have opened between two nodes, as where the
/// damper of another takes a blow within microseconds. Switches that are followed find that in a
/// shorter segment; where they no longer are, the points open at its start.
bool ContactMotion::pulls(const Node& end) {
  pulled_.clear();
  for (int i = 0; i < n_; ++i) {
    if (result_.mode[i] != ContactMode::kOpen && end.F1[3 * i + 2] < -tolerance(i) * end.t)
      pulled_.push_back(i);
  }
  return !pulled_.empty();
}

void ContactMotion::begin(double h) {
  h_ = h;
  time_ = 0.0;
  here_.resize(n_);
  result_.F1.assign(3 * n_, 0.0);
  result_.F2.assign(3 * n_, 0.0);
  result_.mode.resize(n_);
  result_.switches = result_.segments = 0;
  slide_damping_.resize(n_);
  damping_.resize(n_);
  direction_.resize(n_);
  end_direction_.resize(n_);
  ignored_.assign(n_, 0);
  fresh_.assign(n_, 0);
  for (int i = 0; i < n_; ++i) {
    const PointMotion& p = start_[i];
    for (int r = 0; r < 3; ++r) here_.v[3 * i + r] = p.velocity[r];
    here_.x[3 * i + 2] = p.gap;
    here_.e[i] = {p.extension.x, p.extension.y, 0.0};
    // Without a damper the extension follows at once; a lag of h / 1000 stands for that.
    slide_damping_[i] =
        std::max(compliance_[i].tangential_damping, 1e-3 * h * compliance_[i].tangential_stiffness);
    choose_mode(i);
    damping_[i] = linearised_damping(i, std::max(-p.gap, 0.0));
  }
}

/// By the law, at here_.
void ContactMotion::choose_mode(int i) {
  const double* x = here_.x.data() + 3 * i;
  const double* v = here_.v.data() + 3 * i;
  const PointMotion motion{x[2], {v[0], v[1], v[2]}, here_.e[i]};
  const PointForce force = compliant_force(CompliantLaw::kContinuous, compliance_[i], motion);
  result_.mode[i] = force.mode;
  for (int r = 0; r < 3; ++r) here_.f[3 * i + r] = force.force[r];
  if (force.mode == ContactMode::kOpen) here_.e[i] = {0, 0, 0};
  if (force.mode == ContactMode::kSlide && !compliance_[i].has_tangential())
    result_.mode[i] = ContactMode::kStick;
  fresh_[i] = 0;
}

/// Hunt and Crossley's damping, held at one depth.
double ContactMotion::linearised_damping(int i, double depth) const {
  const PointCompliance& c = compliance_[i];
  return c.damping + c.stiffness * c.dissipation * depth;
}

/// Springs of the closed points: three rows that stick, or the normal one of a point that slides,
/// whose force drags mu d with it. False if one pass is exact: nothing slides and no damping
/// depends on depth.
bool ContactMotion::build(const std::vector<ContactMode>& mode, bool averaged) {
  bool inexact = false, sliding = false;
  for (int i = 0; i < n_; ++i) {
    sliding = sliding || mode[i] == ContactMode::kSlide;
    inexact = inexact || (mode[i] != ContactMode::kOpen && compliance_[i].dissipation > 0.0);
  }
  inexact = inexact || sliding;
  if (modes_kept_ && !inexact && built_ == mode) return false;
  modes_kept_ = !inexact;
  built_ = mode;

  row_.clear();
  K_.clear();
  B_.clear();
  followers_.clear();
  sprung_.assign(3 * n_, -1);
  follower_.assign(n_, -1);
  const auto add = [&](int row, double k, double b) {
    sprung_[row] = static_cast<int>(row_.size());
    row_.push_back(row);
    K_.push_back(k);
    B_.push_back(b);
  };
  for (int i = 0; i < n_; ++i) {
    const PointCompliance& c = compliance_[i];
    if (!averaged) {
      direction_[i] = unit_tangential(trial(i, here_));
      damping_[i] = linearised_damping(i, std::max(-here_.x[3 * i + 2], 0.0));
    }
    if (mode[i] == ContactMode::kOpen) continue;
    if (mode[i] == ContactMode::kStick && c.has_tangential()) {
      add(3 * i, c.tangential_stiffness, c.tangential_damping);
      add(3 * i + 1, c.tangential_stiffness, c.tangential_damping);
    }
    add(3 * i + 2, c.stiffness, damping_[i]);
    if (mode[i] == ContactMode::kSlide) {
      follower_[i] = static_cast<int>(followers_.size());
      followers_.push_back({sprung_[3 * i + 2],
                            c.tangential_stiffness / slide_damping_[i],
                            c.friction / slide_damping_[i]});
    }
  }
  const int m = static_cast<int>(row_.size());
  W_.resize(static_cast<std::size_t>(m) * m);
  for (int a = 0; a < m; ++a) {
    const double* Y = Y_.data() + static_cast<std::size_t>(row_[a]) * 3 * n_;
    for (int c = 0; c < m; ++c) {
      const int i = row_[c] / 3;
      double& w = W_[static_cast<std::size_t>(a) * m + c] = Y[row_[c]];
      if (mode[i] != ContactMode::kSlide) continue;
      w += compliance_[i].friction * (direction_[i].x * Y[3 * i] + direction_[i].y * Y[3 * i + 1]);
    }
  }
  springs_.set(W_.data(),
               K_.data(),
               B_.data(),
               m,
               !sliding,
               followers_.data(),
               static_cast<int>(followers_.size()));
  return inexact;
}

/// The sprung rows at here_; a sticking row counts from where its spring is at rest.
void ContactMotion::start_springs() {
  const int m = static_cast<int>(row_.size());
  for (std::vector<double>* a : {&x_, &v_, &bs_, &slopes_}) a->resize(m);
  for (int a = 0; a < m; ++a) {
    const int row = row_[a], axis = row % 3;
    x_[a] = axis == 2 ? here_.x[row] : -here_.e[row / 3][axis];
    v_[a] = here_.v[row];
    bs_[a] = b0_[row] + slope_[row] * time_;
    slopes_[a] = slope_[row];
  }
  g_.assign(followers_.size(), 0.0);
  springs_.start(x_.data(), v_.data(), bs_.data(), slopes_.data(), g_.data());
}

/// Where all points stick the guards read nothing but forces, and as a rule all hold.
void ContactMotion::sample(double length) {
  nodes_.resize(kNodes);
  bool all_stick = true;
  for (const ContactMode mode : built_) all_stick = all_stick && mode == ContactMode::kStick;
  holds_ = false;
  if (!all_stick || springs_.form() != SpringDamper::Form::kModal) {
    springs_.sample(length, kNodes, motions_);
    for (int k = 0; k < kNodes; ++k) expand(motions_[k], length * (k + 1) / kNodes, nodes_[k]);
    return;
  }
  const double* forces = springs_.sample_forces(length, kNodes, motion_);
  const int stride = springs_.force_stride();
  expand(motion_, length, nodes_[kNodes - 1]);
  holds_ = sticks(forces, stride);
  for (int k = 0; k + 1 < kNodes && !holds_; ++k) {
    nodes_[k].t = length * (k + 1) / kNodes;
    nodes_[k].f.resize(3 * n_);
    for (int i = 0; i < n_; ++i) spread(i, forces + k * stride, nodes_[k].f);
  }
}

/// out += the contact forces of point i that belong to the sprung forces u.
void ContactMotion::spread(int i, const double* u, std::vector<double>& out) const {
  if (built_[i] == ContactMode::kSlide) {
    const double f = u[sprung_[3 * i + 2]];
    const double t = compliance_[i].friction * f;
    out[3 * i] = t * direction_[i].x;
    out[3 * i + 1] = t * direction_[i].y;
    out[3 * i + 2] = f;
    return;
  }
  for (int r = 3 * i; r < 3 * i + 3; ++r) out[r] = sprung_[r] >= 0 ? u[sprung_[r]] : 0.0;
}

/// All rows from the sprung ones, `t` after here_.
void ContactMotion::expand(const SpringDamper::Motion& motion, double t, Node& node) {
  node.t = t;
  node.resize(n_);
  for (int i = 0; i < n_; ++i) {
    spread(i, motion.u.data(), node.f);
    spread(i, motion.U1.data(), node.F1);
    spread(i, motion.U2.data(), node.F2);
  }
  integrate_free_rows(t, node);
  for (int i = 0; i < n_; ++i) {
    for (int r = 3 * i; r < 3 * i + 3; ++r) {
      const int a = sprung_[r];
      if (a < 0) continue;
      node.v[r] = motion.v[a];
      node.x[r] = r == 3 * i + 2 ? motion.x[a] : here_.x[r] + here_.e[i][r - 3 * i] + motion.x[a];
    }
    switch (built_[i]) {
      case ContactMode::kOpen:
        node.e[i] = {0, 0, 0};
        break;
      case ContactMode::kStick:
        node.e[i] =
            here_.e[i] -
            Vec3d{node.x[3 * i] - here_.x[3 * i], node.x[3 * i + 1] - here_.x[3 * i + 1], 0.0};
        break;
      case ContactMode::kSlide: {
        const double rate = followers_[follower_[i]].rate;
        node.e[i] = here_.e[i] * exponential(-rate * t) + direction_[i] * motion.g[follower_[i]];
        break;
      }
    }
  }
}

/// Rows without a spring of their own: b and the forces of the others, integrated twice.
void ContactMotion::integrate_free_rows(double t, Node& node) const {
  for (int r = 0; r < 3 * n_; ++r) {
    if (sprung_[r] >= 0) continue;
    const double b = b0_[r] + slope_[r] * time_, s = slope_[r];
    double v = here_.v[r] + t * (b + t * s / 2.0);
    double x = here_.x[r] + t * (here_.v[r] + t * (b / 2.0 + t * s / 6.0));
    const double* Y = Y_.data() + static_cast<std::size_t>(r) * 3 * n_;
    for (int c = 0; c < 3 * n_; ++c) {
      v += Y[c] * node.F1[c];
      x += Y[c] * node.F2[c];
    }
    node.v[r] = v;
    node.x[r] = x;
  }
}

void ContactMotion::advance(const Node& node) {
  for (int r = 0; r < 3 * n_; ++r) {
    result_.F2[r] += node.t * result_.F1[r] + node.F2[r];
    result_.F1[r] += node.F1[r];
  }
  time_ += node.t;
  if (node.t > 0.0) {
    std::fill(ignored_.begin(), ignored_.end(), 0);
    std::fill(fresh_.begin(), fresh_.end(), 0);
  }
  here_.t = node.t;
  here_.f = node.f;
  here_.x = node.x;
  here_.v = node.v;
  here_.e = node.e;
  result_.force = node.f;
  result_.x = node.x;
  result_.v = node.v;
  result_.e = node.e;
}

/// For the second pass: the friction direction at the centre of the normal impulse, between the
/// directions at the start and at `end`, and the normal damping at the mean depth. A normal force
/// that swings while the direction turns would otherwise cost the second order.
void ContactMotion::average_directions(const Node& end) {
  for (int i = 0; i < n_; ++i) {
    const double impulse = end.F1[3 * i + 2], moment = end.F2[3 * i + 2];  // f (t_end - t)
    double share = 0.5;
    if (impulse > 0.0 && end.t > 0.0)
      share = std::clamp(1.0 - moment / (impulse * end.t), 0.0, 1.0);
    const Vec3d last = unit_tangential(trial(i, end)),
                mean = direction_[i] * (1.0 - share) + last * share;
    if (tangential_norm(mean) > 1e-3) direction_[i] = unit_tangential(mean);
    damping_[i] = linearised_damping(
        i, 0.5 * (std::max(-here_.x[3 * i + 2], 0.0) + std::max(-end.x[3 * i + 2], 0.0)));
  }
}

}  // namespace stiction
