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

Tangential unit(const Tangential& c) {
  const double size = norm(c);
  if (!(size > 0.0)) return {};
  const auto over = [size](const Vec3d& x) { return Vec3d{x.x / size, x.y / size, x.z / size}; };
  return {over(c.along), over(c.about)};
}

double depth_of(int i, const ContactStates& s) { return std::max(-s.x[3 * i + 2], 0.0); }

/// Hunt and Crossley's damping, held at one depth.
double damping_at(const PointCompliance& c, double depth) {
  return c.damping + c.stiffness * c.dissipation * depth;
}

}  // namespace

Vec3d angles(const PointCompliance& c, const Vec3d& about) {
  Vec3d out{0, 0, 0};
  for (int k = 0; k < 3; ++k) {
    if (c.turning[k] > 0.0) out[k] = about[k] / c.turning[k];
  }
  return out;
}

void ContactIsland::list_turns() {
  turns.clear();
  const auto none = [](const PointCompliance& c) { return !c.has_couples(); };
  if (std::all_of(compliance.begin(), compliance.end(), none)) return;
  first_turn.assign(1, 0);
  for (int i = 0; i < size; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const double unit = compliance[i].turning[axis];
      if (unit > 0.0) turns.push_back({i, axis, unit});
    }
    first_turn.push_back(static_cast<int>(turns.size()));
  }
}

void ContactStates::resize(const ContactIsland& island) {
  const std::size_t rows = island.rows();
  e.resize(island.size);
  if (x.size() == rows && f.size() == rows) return;  // f alone is resized elsewhere too
  for (std::vector<double>* a : {&x, &v, &f, &F1, &F2}) a->resize(rows);
}

void ContactStates::begin(const ContactIsland& island) {
  resize(island);
  for (std::vector<double>* a : {&x, &F1, &F2}) std::fill(a->begin(), a->end(), 0.0);
}

void ContactSegment::resize(const ContactIsland& given) {
  island = &given;
  const int n = island->size;
  start.begin(*island);
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
  PointMotion motion{x[2], {v[0], v[1], v[2]}, start.e[i].along};
  island->each_turn(i, [&](int row, int axis, double unit) {
    motion.spin[axis] = start.v[row] / unit;
    motion.turn[axis] = start.e[i].about[axis] / unit;
  });
  const PointCompliance& c = island->compliance[i];
  const PointForce force = compliant_force(CompliantLaw::kContinuous, c, motion);
  mode[i] = force.mode;
  for (int r = 0; r < 3; ++r) start.f[3 * i + r] = force.force[r];
  island->each_turn(
      i, [&](int row, int axis, double unit) { start.f[row] = force.couple[axis] / unit; });
  if (force.mode == ContactMode::kOpen) start.e[i] = {};
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
      direction_[i] = unit(trial(i, start));
      damping_[i] = damping_at(island->compliance[i], depth_of(i, start));
    }
    list_springs();
    unpaid = unpaid || (account != nullptr && !account->take(springs_.work_to_prepare()));
    springs_kept_ = springs_kept_ && !unpaid;
    if (!unpaid) springs_.prepare();
  }
  if (!unpaid) start_springs();
  return varies;
}

/// Pays for one look at the springs of all points, at one time. False: the work is spent.
bool ContactSegment::pays(double t) {
  const double rows = island->rows();
  unpaid = unpaid || (account != nullptr && !account->take(springs_.work(t) + 2.0 * rows * rows));
  return !unpaid;
}

void ContactSegment::list_springs() {
  const int n = island->size;
  SpringRows& rows = springs_.rows;
  row_.clear();
  rows.K.clear();
  rows.B.clear();
  rows.lags.clear();
  spring_.assign(island->rows(), -1);
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
    const bool held = mode[i] == ContactMode::kStick && c.has_tangential();
    if (held && c.has_sliding_spring()) {
      add(3 * i, c.tangential_stiffness, c.tangential_damping);
      add(3 * i + 1, c.tangential_stiffness, c.tangential_damping);
    }
    add(3 * i + 2, c.stiffness, damping_[i]);
    if (held) {
      island->each_turn(
          i, [&](int row, int, double) { add(row, c.tangential_stiffness, c.tangential_damping); });
    }
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
    const double* Y = island->Y.data() + static_cast<std::size_t>(row_[a]) * island->rows();
    double* W = rows.W.data() + static_cast<std::size_t>(a) * m;
    for (int c = 0; c < m; ++c) W[c] = Y[row_[c]];
    for (int i = 0; i < n; ++i) {
      if (mode[i] != ContactMode::kSlide) continue;
      const Tangential& d = direction_[i];
      double along = d.along.x * Y[3 * i] + d.along.y * Y[3 * i + 1];
      island->each_turn(i, [&](int row, int axis, double) { along += d.about[axis] * Y[row]; });
      W[spring_[3 * i + 2]] += island->compliance[i].friction * along;
    }
  }
}

/// The extension of a tangential row: of the points, then of the turns.
double ContactSegment::extension(int row) const {
  if (row < 3 * island->size) return start.e[row / 3].along[row % 3];
  const TurnRow& turn = island->turns[row - 3 * island->size];
  return start.e[turn.point].about[turn.axis];
}

/// A sticking row counts from where its spring is at rest.
void ContactSegment::start_springs() {
  SpringStart& s = springs_.start;
  for (std::vector<double>* a : {&s.x, &s.v, &s.b0, &s.b1}) a->resize(row_.size());
  for (std::size_t k = 0; k < row_.size(); ++k) {
    const int row = row_[k];
    s.x[k] = is_normal(row) ? start.x[row] : -extension(row);
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
    const Tangential last = unit(trial(i, end)),
                     mean = direction_[i] * (1.0 - share) + last * share;
    if (norm(mean) > kNoDirection) direction_[i] = unit(mean);
    damping_[i] = damping_at(island->compliance[i], 0.5 * (depth_of(i, start) + depth_of(i, end)));
  }
}

/// All points inside their cones at the nodes, by the forces of the springs there.
template <bool kTurns>
bool ContactSegment::sticks(const double* forces) const {
  const int stride = springs_.modes().stride();
  for (int i = 0; i < island->size; ++i) {
    const double mu = island->compliance[i].friction;
    const int x = spring_[3 * i], y = spring_[3 * i + 1], z = spring_[3 * i + 2];
    for (int k = 0; k < kNodes; ++k) {
      const double *f = forces + k * stride, limit = mu * f[z];
      double held = x >= 0 ? f[x] * f[x] + f[y] * f[y] : 0.0;
      if constexpr (kTurns) {
        island->each_turn(i, [&](int row, int, double) {
          if (spring_[row] >= 0) held += f[spring_[row]] * f[spring_[row]];
        });
      }
      if (!(f[z] >= 0.0) || !(held <= limit * limit)) return false;
    }
  }
  return true;
}

/// Where all points stick the guards read nothing but forces, and as a rule all hold.
bool ContactSegment::sample(double length, std::vector<ContactStates>& nodes) {
  nodes.resize(kNodes);
  if (unpaid || !pays(length)) {
    std::fill(nodes.begin(), nodes.end(), start);
    return true;
  }
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
  if (island->turns.empty() ? sticks<false>(forces) : sticks<true>(forces)) return true;
  for (int k = 0; k + 1 < kNodes; ++k) {
    nodes[k].t = length * (k + 1) / kNodes;
    nodes[k].f.resize(island->rows());
    for (int i = 0; i < island->size; ++i) spread(i, forces + k * modes.stride(), nodes[k].f);
  }
  return false;
}

void ContactSegment::at(double t, ContactStates& out) {
  if (t == 0.0 || unpaid || !pays(t)) {
    out = start;
    out.t = 0.0;
    return;
  }
  springs_.at(t, motion_);
  expand(motion_, out);
}

void ContactSegment::at(double t, const std::vector<int>& points, ContactStates& out) {
  if (t == 0.0 || unpaid || !pays(t)) return at(0.0, out);
  springs_.at(t, motion_);
  expand_forces(motion_, out);
  for (const int i : points) expand_point(motion_, i, out);
}

void ContactSegment::complete(ContactStates& out) const {
  if (out.t > 0.0) expand(motion_, out);
}

/// out <- the contact forces of point i that belong to the forces u of the springs.
void ContactSegment::spread(int i, const double* u, std::vector<double>& out) const {
  if (mode[i] == ContactMode::kSlide) {
    const double f = u[spring_[3 * i + 2]], t = island->compliance[i].friction * f;
    out[3 * i] = t * direction_[i].along.x;
    out[3 * i + 1] = t * direction_[i].along.y;
    out[3 * i + 2] = f;
    island->each_turn(i,
                      [&](int row, int axis, double) { out[row] = t * direction_[i].about[axis]; });
    return;
  }
  const auto take = [&](int r) { out[r] = spring_[r] >= 0 ? u[spring_[r]] : 0.0; };
  for (int r = 3 * i; r < 3 * i + 3; ++r) take(r);
  island->each_turn(i, [&](int row, int, double) { take(row); });
}

/// All rows from those of the springs.
void ContactSegment::expand(const SpringMotion& motion, ContactStates& out) const {
  expand_forces(motion, out);
  for (int i = 0; i < island->size; ++i) expand_point(motion, i, out);
}

void ContactSegment::expand_forces(const SpringMotion& motion, ContactStates& out) const {
  out.t = motion.t;
  out.resize(*island);
  for (int i = 0; i < island->size; ++i) {
    spread(i, motion.u.data(), out.f);
    spread(i, motion.U1.data(), out.F1);
    spread(i, motion.U2.data(), out.F2);
  }
}

/// After expand_forces().
void ContactSegment::expand_point(const SpringMotion& motion, int i, ContactStates& out) const {
  const Tangential& e = start.e[i];
  const auto take = [&](int r, double extension) {
    const int a = spring_[r];
    if (a < 0) return integrate_free_row(r, out);
    out.v[r] = motion.v[a];
    out.x[r] = r == 3 * i + 2 ? motion.x[a] : start.x[r] + extension + motion.x[a];
  };
  for (int k = 0; k < 3; ++k) take(3 * i + k, e.along[k]);
  island->each_turn(i, [&](int row, int axis, double) { take(row, e.about[axis]); });
  if (mode[i] == ContactMode::kOpen) {
    out.e[i] = {};
  } else if (mode[i] == ContactMode::kStick) {
    const auto way = [&](int r) { return out.x[r] - start.x[r]; };
    out.e[i] = {e.along - Vec3d{way(3 * i), way(3 * i + 1), 0.0}, e.about};
    island->each_turn(i, [&](int row, int axis, double) { out.e[i].about[axis] -= way(row); });
  } else {
    const double rate = springs_.rows.lags[lag_[i]].rate;
    out.e[i] = e * exponential(-rate * out.t) + direction_[i] * motion.g[lag_[i]];
  }
}

/// A row without a spring of its own: b and the forces of the others, integrated twice.
void ContactSegment::integrate_free_row(int r, ContactStates& out) const {
  const int rows = island->rows(), of_points = 3 * island->size;
  const double t = out.t;
  const double s = island->slope[r], b = island->b0[r] + s * begun;
  const double v = start.v[r] + t * (b + t * s / 2.0);
  const double x = start.x[r] + t * (start.v[r] + t * (b / 2.0 + t * s / 6.0));
  const double* Y = island->Y.data() + static_cast<std::size_t>(r) * rows;
  Vec3d dv{0, 0, 0}, dx{0, 0, 0};  // three sums each: one waits for its additions
  for (int c = 0; c < of_points; c += 3) {
    dv += Vec3d{Y[c] * out.F1[c], Y[c + 1] * out.F1[c + 1], Y[c + 2] * out.F1[c + 2]};
    dx += Vec3d{Y[c] * out.F2[c], Y[c + 1] * out.F2[c + 1], Y[c + 2] * out.F2[c + 2]};
  }
  for (int c = of_points; c < rows; ++c) {
    dv.x += Y[c] * out.F1[c];
    dx.x += Y[c] * out.F2[c];
  }
  out.v[r] = v + (dv.x + dv.y + dv.z);
  out.x[r] = x + (dx.x + dx.y + dx.z);
}

double ContactSegment::normal_force(int i, const ContactStates& s) const {
  return -island->compliance[i].stiffness * s.x[3 * i + 2] - damping_[i] * s.v[3 * i + 2];
}

Tangential ContactSegment::trial(int i, const ContactStates& s) const {
  const PointCompliance& c = island->compliance[i];
  const double d = mode[i] == ContactMode::kSlide ? slide_damping_[i] : c.tangential_damping;
  const auto force = [&](double e, int row) { return c.tangential_stiffness * e - d * s.v[row]; };
  Tangential out;
  if (c.has_sliding_spring())
    out.along = {force(s.e[i].along.x, 3 * i), force(s.e[i].along.y, 3 * i + 1), 0.0};
  island->each_turn(
      i, [&](int row, int axis, double) { out.about[axis] = force(s.e[i].about[axis], row); });
  return out;
}

Tangential ContactSegment::friction(int i, const std::vector<double>& f) const {
  Tangential out{{f[3 * i], f[3 * i + 1], 0.0}, {0, 0, 0}};
  island->each_turn(i, [&](int row, int axis, double) { out.about[axis] = f[row]; });
  return out;
}

}  // namespace stiction
