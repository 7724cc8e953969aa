#include "integrator/contact_segment.hpp"

#include "math/elementary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stiction {
namespace {

/// Without a damper the extension follows the friction force at once; a lag of this share of the
/// step stands for that.
constexpr double kShortestLag = 1e-3;
/// Directions that cancel to less than this have no mean.
constexpr double kNoDirection = 1e-3;

Vec3d unit_tangential(const Vec3d& c) {
  const double size = tangential_norm(c);
  return size > 0.0 ? Vec3d{c.x / size, c.y / size, 0.0} : Vec3d{0, 0, 0};
}

double depth_of(int i, const ContactStates& s) { return std::max(-s.x[3 * i + 2], 0.0); }

/// Hunt and Crossley's damping, held at one depth.
double damping_at(const PointCompliance& c, double depth) {
  return c.damping + c.stiffness * c.dissipation * depth;
}

}  // namespace

double tangential_norm(const Vec3d& c) { return std::sqrt(c.x * c.x + c.y * c.y); }

void ContactStates::resize(int points) {
  for (std::vector<double>* a : {&x, &v, &f, &F1, &F2}) a->resize(3 * points);
  e.resize(points);
}

void ContactStates::begin(int points) {
  resize(points);
  for (std::vector<double>* a : {&x, &F1, &F2}) std::fill(a->begin(), a->end(), 0.0);
}

void ContactSegment::resize(const ContactIsland& given) {
  island = &given;
  const int n = island->size;
  start.begin(n);
  mode.resize(n);
  resting.assign(n, 0);
  direction_.resize(n);
  damping_.resize(n);
  slide_damping_.resize(n);
  for (int i = 0; i < n; ++i) {
    const PointCompliance& c = island->compliance[i];
    slide_damping_[i] =
        std::max(c.tangential_damping, kShortestLag * island->h * c.tangential_stiffness);
    damping_[i] = damping_at(c, std::max(-island->start[i].gap, 0.0));
  }
}

void ContactSegment::choose_mode(int i) {
  const double *x = start.x.data() + 3 * i, *v = start.v.data() + 3 * i;
  const PointMotion motion{x[2], {v[0], v[1], v[2]}, start.e[i]};
  const PointCompliance& c = island->compliance[i];
  const PointForce force = compliant_force(CompliantLaw::kContinuous, c, motion);
  mode[i] = force.mode;
  for (int r = 0; r < 3; ++r) start.f[3 * i + r] = force.force[r];
  if (force.mode == ContactMode::kOpen) start.e[i] = {0, 0, 0};
  if (force.mode == ContactMode::kSlide && !c.has_tangential()) mode[i] = ContactMode::kStick;
}

bool ContactSegment::linearise(bool averaged) {
  bool varies = false;
  for (int i = 0; i < island->size; ++i) {
    const bool damping_varies =
        mode[i] != ContactMode::kOpen && island->compliance[i].dissipation > 0.0;
    varies = varies || mode[i] == ContactMode::kSlide || damping_varies;
  }
  if (!springs_kept_ || varies || built_ != mode) {
    springs_kept_ = !varies;
    built_ = mode;
    for (int i = 0; i < island->size && !averaged; ++i) {
      direction_[i] = unit_tangential(trial(i, start));
      damping_[i] = damping_at(island->compliance[i], depth_of(i, start));
    }
    list_springs();
    springs_.prepare();
  }
  start_springs();
  return varies;
}

void ContactSegment::list_springs() {
  const int n = island->size;
  SpringRows& rows = springs_.rows;
  row_.clear();
  rows.K.clear();
  rows.B.clear();
  rows.lags.clear();
  spring_.assign(3 * n, -1);
  lag_.assign(n, -1);
  const auto add = [&](int row, double k, double b) {
    spring_[row] = static_cast<int>(row_.size());
    row_.push_back(row);
    rows.K.push_back(k);
    rows.B.push_back(b);
  };
  for (int i = 0; i < n; ++i) {
    const PointCompliance& c = island->compliance[i];
    if (mode[i] == ContactMode::kOpen) continue;
    if (mode[i] == ContactMode::kStick && c.has_tangential()) {
      add(3 * i, c.tangential_stiffness, c.tangential_damping);
      add(3 * i + 1, c.tangential_stiffness, c.tangential_damping);
    }
    add(3 * i + 2, c.stiffness, damping_[i]);
    if (mode[i] != ContactMode::kSlide) continue;
    lag_[i] = static_cast<int>(rows.lags.size());
    rows.lags.push_back({spring_[3 * i + 2],
                         c.tangential_stiffness / slide_damping_[i],
                         c.friction / slide_damping_[i]});
  }
  const int m = rows.size = static_cast<int>(row_.size());
  rows.symmetric = rows.lags.empty();
  rows.W.resize(static_cast<std::size_t>(m) * m);
  for (int a = 0; a < m; ++a) {
    const double* Y = island->Y.data() + static_cast<std::size_t>(row_[a]) * 3 * n;
    double* W = rows.W.data() + static_cast<std::size_t>(a) * m;
    for (int c = 0; c < m; ++c) W[c] = Y[row_[c]];
    for (int i = 0; i < n; ++i) {
      if (mode[i] != ContactMode::kSlide) continue;
      const Vec3d& d = direction_[i];
      W[spring_[3 * i + 2]] +=
          island->compliance[i].friction * (d.x * Y[3 * i] + d.y * Y[3 * i + 1]);
    }
  }
}

/// A sticking row counts from where its spring is at rest.
void ContactSegment::start_springs() {
  SpringStart& s = springs_.start;
  for (std::vector<double>* a : {&s.x, &s.v, &s.b0, &s.b1}) a->resize(row_.size());
  for (std::size_t k = 0; k < row_.size(); ++k) {
    const int row = row_[k], point = row / 3, axis = row - 3 * point;
    s.x[k] = axis == 2 ? start.x[row] : -start.e[point][axis];
    s.v[k] = start.v[row];
    s.b0[k] = island->b0[row] + island->slope[row] * begun;
    s.b1[k] = island->slope[row];
  }
  s.g.assign(springs_.rows.lags.size(), 0.0);
  springs_.begin();
}

void ContactSegment::average(const ContactStates& end) {
  for (int i = 0; i < island->size; ++i) {
    const double impulse = end.F1[3 * i + 2], moment = end.F2[3 * i + 2];  // f (t_end - t)
    double share = 0.5;
    if (impulse > 0.0 && end.t > 0.0)
      share = std::clamp(1.0 - moment / (impulse * end.t), 0.0, 1.0);
    const Vec3d last = unit_tangential(trial(i, end)),
                mean = direction_[i] * (1.0 - share) + last * share;
    if (tangential_norm(mean) > kNoDirection) direction_[i] = unit_tangential(mean);
    damping_[i] = damping_at(island->compliance[i], 0.5 * (depth_of(i, start) + depth_of(i, end)));
  }
}

/// Where all points stick the guards read nothing but forces, and as a rule all hold.
bool ContactSegment::sample(double length, std::vector<ContactStates>& nodes) {
  nodes.resize(kNodes);
  const auto is_stick = [](ContactMode m) { return m == ContactMode::kStick; };
  if (!springs_.modal() || !std::all_of(mode.begin(), mode.end(), is_stick)) {
    const SpringMotion* motions = springs_.sample(length, kNodes);
    for (int k = 0; k < kNodes; ++k) expand(motions[k], nodes[k]);
    return false;
  }
  motion_.resize(springs_.rows);
  SpringModes& modes = springs_.modes();
  const double* forces = modes.sample_forces(length, kNodes, motion_);
  expand(motion_, nodes[kNodes - 1]);
  if (sticks(forces)) return true;
  for (int k = 0; k + 1 < kNodes; ++k) {
    nodes[k].t = length * (k + 1) / kNodes;
    nodes[k].f.resize(3 * island->size);
    for (int i = 0; i < island->size; ++i) spread(i, forces + k * modes.stride(), nodes[k].f);
  }
  return false;
}

/// All points inside their cones at the nodes, by the forces of the springs there.
bool ContactSegment::sticks(const double* forces) const {
  const int stride = springs_.modes().stride();
  for (int i = 0; i < island->size; ++i) {
    const double mu = island->compliance[i].friction;
    const int x = spring_[3 * i], y = spring_[3 * i + 1], z = spring_[3 * i + 2];
    for (int k = 0; k < kNodes; ++k) {
      const double *f = forces + k * stride, limit = mu * f[z];
      if (!(f[z] >= 0.0) || (x >= 0 && !(f[x] * f[x] + f[y] * f[y] <= limit * limit))) return false;
    }
  }
  return true;
}

void ContactSegment::at(double t, ContactStates& out) {
  if (t == 0.0) {
    out = start;
    out.t = 0.0;
    return;
  }
  springs_.at(t, motion_);
  expand(motion_, out);
}

/// out <- the contact forces of point i that belong to the forces u of the springs.
void ContactSegment::spread(int i, const double* u, std::vector<double>& out) const {
  if (mode[i] == ContactMode::kSlide) {
    const double f = u[spring_[3 * i + 2]], t = island->compliance[i].friction * f;
    out[3 * i] = t * direction_[i].x;
    out[3 * i + 1] = t * direction_[i].y;
    out[3 * i + 2] = f;
    return;
  }
  for (int r = 3 * i; r < 3 * i + 3; ++r) out[r] = spring_[r] >= 0 ? u[spring_[r]] : 0.0;
}

/// All rows from those of the springs.
void ContactSegment::expand(const SpringMotion& motion, ContactStates& out) const {
  out.t = motion.t;
  out.resize(island->size);
  for (int i = 0; i < island->size; ++i) {
    spread(i, motion.u.data(), out.f);
    spread(i, motion.U1.data(), out.F1);
    spread(i, motion.U2.data(), out.F2);
  }
  integrate_free_rows(out);
  for (int i = 0; i < island->size; ++i) {
    const Vec3d& e = start.e[i];
    for (int r = 3 * i; r < 3 * i + 3; ++r) {
      const int a = spring_[r];
      if (a < 0) continue;
      out.v[r] = motion.v[a];
      out.x[r] = r == 3 * i + 2 ? motion.x[a] : start.x[r] + e[r - 3 * i] + motion.x[a];
    }
    if (mode[i] == ContactMode::kOpen) {
      out.e[i] = {0, 0, 0};
    } else if (mode[i] == ContactMode::kStick) {
      out.e[i] =
          e - Vec3d{out.x[3 * i] - start.x[3 * i], out.x[3 * i + 1] - start.x[3 * i + 1], 0.0};
    } else {
      const double rate = springs_.rows.lags[lag_[i]].rate;
      out.e[i] = e * exponential(-rate * out.t) + direction_[i] * motion.g[lag_[i]];
    }
  }
}

/// Rows without a spring of their own: b and the forces of the others, integrated twice.
void ContactSegment::integrate_free_rows(ContactStates& out) const {
  const int rows = 3 * island->size;
  const double t = out.t;
  for (int r = 0; r < rows; ++r) {
    if (spring_[r] >= 0) continue;
    const double s = island->slope[r], b = island->b0[r] + s * begun;
    const double v = start.v[r] + t * (b + t * s / 2.0);
    const double x = start.x[r] + t * (start.v[r] + t * (b / 2.0 + t * s / 6.0));
    const double* Y = island->Y.data() + static_cast<std::size_t>(r) * rows;
    Vec3d dv{0, 0, 0}, dx{0, 0, 0};  // three sums each: one waits for its additions
    for (int c = 0; c < rows; c += 3) {
      dv += Vec3d{Y[c] * out.F1[c], Y[c + 1] * out.F1[c + 1], Y[c + 2] * out.F1[c + 2]};
      dx += Vec3d{Y[c] * out.F2[c], Y[c + 1] * out.F2[c + 1], Y[c + 2] * out.F2[c + 2]};
    }
    out.v[r] = v + (dv.x + dv.y + dv.z);
    out.x[r] = x + (dx.x + dx.y + dx.z);
  }
}

double ContactSegment::normal_force(int i, const ContactStates& s) const {
  return -island->compliance[i].stiffness * s.x[3 * i + 2] - damping_[i] * s.v[3 * i + 2];
}

Vec3d ContactSegment::trial(int i, const ContactStates& s) const {
  const PointCompliance& c = island->compliance[i];
  const double d = mode[i] == ContactMode::kSlide ? slide_damping_[i] : c.tangential_damping;
  return {c.tangential_stiffness * s.e[i].x - d * s.v[3 * i],
          c.tangential_stiffness * s.e[i].y - d * s.v[3 * i + 1],
          0.0};
}

}  // namespace stiction
