#include "stiction/integrator/exponential.hpp"

#include "stiction/integrator/compliant_step.hpp"
#include "stiction/integrator/step_coordinates.hpp"
#include "stiction/math/factor_symmetric.hpp"

#include "energy.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stiction {
namespace {

constexpr int kHalvings = 6;           // of a step whose energy is not accepted
constexpr double kEnergyShare = 0.05;  // of T + S at its start: what a sub-step may add or misplace

/// Y, and where the points of every island are at the start of the step.
void start_islands(const CompliantSystem& start, ExponentialScratch& s) {
  const std::vector<int>& bounds = start.delassus.island_start;
  const int islands = start.delassus.num_islands();
  if (static_cast<int>(s.islands.size()) < islands) s.islands.resize(islands);
  s.b0.resize(3 * start.points.size());
  for (int k = 0; k < islands; ++k) {
    const int first = bounds[k], n = bounds[k + 1] - first;
    s.Y.resize(9 * static_cast<std::size_t>(n) * n);
    dense_delassus(start, first, first + n, s.Y.data());
    s.compliance.clear();
    s.motion.clear();
    for (int i = first; i < first + n; ++i) {
      s.compliance.push_back(start.points[i].compliance);
      s.motion.push_back(start.points[i].motion);
      for (int r = 0; r < 3; ++r) s.b0[3 * i + r] = start.points[i].free_acceleration[r];
    }
    s.islands[k].set(n, s.Y.data(), s.compliance.data());
    s.islands[k].start(s.motion.data());
  }
}

/// The closed form of all islands with b from b0 to b1: int f, intint f, and the force that a
/// change of Y, t/h (Y1 - Y0), acts on: the mean of 2 f t / h, 2 (int f - intint f / h) / h.
void move_points(const CompliantSystem& start,
                 const std::vector<double>& b1,
                 double h,
                 ExponentialScratch& s) {
  const std::vector<int>& bounds = start.delassus.island_start;
  for (std::vector<double>* a : {&s.F1, &s.F2, &s.held}) a->resize(3 * start.points.size());
  s.moved.clear();
  for (int k = 0; k < start.delassus.num_islands(); ++k) {
    const int first = 3 * bounds[k], n = 3 * (bounds[k + 1] - bounds[k]);
    const ContactMotion::Result& r = s.islands[k].run(s.b0.data() + first, b1.data() + first, h);
    for (int i = 0; i < n; ++i) {
      s.F1[first + i] = r.F1[i];
      s.F2[first + i] = r.F2[i];
      s.held[first + i] = 2.0 / h * (r.F1[i] - r.F2[i] / h);
    }
    s.moved.push_back(&r);
  }
}

/// q^ = q (+) (h v + h^2/2 a0 + G0 F2), v^ = v + h a0 + G0 F1, into work.q and work.v.
void predict(const CompliantInput& input, const State& state, CompliantWorkspace& work) {
  ExponentialScratch& s = work.exponential;
  const double h = input.h;
  const int nv = input.scene.nv();
  for (std::vector<double>* a : {&s.G0_F1, &s.G0_F2, &s.dG, &s.a1}) a->resize(nv);
  apply_forces(input.scene, work.start, s.F1, s.G0_F1.data());
  apply_forces(input.scene, work.start, s.F2, s.G0_F2.data());
  for (int k = 0; k < nv; ++k) {
    const double a = work.start.acceleration[k];
    work.nu[k] = state.v[k] + h * a + s.G0_F1[k];
    work.xi[k] = h * (state.v[k] + 0.5 * h * a) + s.G0_F2[k];
  }
  displace(input.scene, state.q.data(), work.xi.data(), work.q.data());
  turn_axes(input.scene, state.q.data(), work.q.data(), work.nu.data(), work.v.data());
}

/// Points of start and end with the same pair and feature.
void match_points(const CompliantSystem& start, const CompliantSystem& end, std::vector<int>& out) {
  out.assign(start.points.size(), -1);
  const std::size_t count = end.points.size();
  for (std::size_t i = 0; i < start.points.size(); ++i) {
    const Contact& a = start.contacts[start.points[i].contact];
    for (std::size_t k = 0; k < count && out[i] < 0; ++k) {
      const std::size_t j = (i + k) % count;  // as a rule the first try
      const Contact& b = end.contacts[end.points[j].contact];
      if (a.pair == b.pair && a.feature == b.feature) out[i] = static_cast<int>(j);
    }
  }
}

/// A point is inside at the predicted end that was too far to be a candidate at the start.
bool missed_point(const CompliantSystem& end, const std::vector<int>& partner) {
  for (std::size_t j = 0; j < end.points.size(); ++j) {
    const bool known =
        std::find(partner.begin(), partner.end(), static_cast<int>(j)) != partner.end();
    if (!known && end.points[j].motion.gap < 0.0) return true;
  }
  return false;
}

/// Y f of one point.
Vec3d delassus_times(const CompliantSystem& system, int point, const std::vector<double>& f) {
  double out[3];
  system.delassus.velocity(point, f.data(), out);
  const double* g = system.delassus.g.data() + 3 * point;
  return {out[0] - g[0], out[1] - g[1], out[2] - g[2]};
}

/// b1 = J1 a1 + (J' v)_1 + (Y1 - Y0) f at the predicted end, f the force that is held. A point that
/// is too far there to be a contact keeps its b.
void evaluate_end(const CompliantInput& input, const State& state, CompliantWorkspace& work) {
  ExponentialScratch& s = work.exponential;
  CompliantSystem &start = work.start, &end = work.end;
  end.here.queries = start.here.queries;
  locate(input, work.q.data(), work.v.data(), state.contacts, nullptr, input.h, end);
  accelerate(input, false, 0.5 * input.h, end);
  assemble(input, end);
  match_points(start, end, s.partner);
  s.rows.assign(3 * end.points.size(), 0.0);
  for (std::size_t i = 0; i < s.partner.size(); ++i) {
    for (int r = 0; r < 3; ++r) {
      double& f = s.held[3 * i + r];
      if (s.partner[i] < 0) f = 0.0;
      if (s.partner[i] >= 0) s.rows[3 * s.partner[i] + r] = f;
    }
  }
  s.b1 = s.b0;
  for (std::size_t i = 0; i < s.partner.size(); ++i) {
    const int j = s.partner[i];
    if (j < 0) continue;
    const Vec3d b = end.points[j].free_acceleration + delassus_times(end, j, s.rows) -
                    delassus_times(start, static_cast<int>(i), s.held);
    for (int r = 0; r < 3; ++r) s.b1[3 * i + r] = b[r];
  }
}

/// v+ = v + h (a0 + a1)/2 + G0 F1 + dG f h/2,
/// q+ = q (+) (h v + h^2/2 a0 + h^2/6 (a1 - a0) + G0 F2 + h^2/6 dG f), f the force that is held.
/// Returns the largest difference from the prediction, velocities and displacements alike.
double correct(const CompliantInput& input, const State& state, CompliantWorkspace& work) {
  ExponentialScratch& s = work.exponential;
  const Scene& scene = input.scene;
  const double h = input.h;
  apply_forces(scene, work.start, s.F1, s.G0_F1.data());
  apply_forces(scene, work.start, s.F2, s.G0_F2.data());
  for (std::size_t i = 0; i < s.partner.size(); ++i) {
    if (s.partner[i] < 0) std::fill_n(s.held.begin() + 3 * i, 3, 0.0);
    for (int r = 0; r < 3 && s.partner[i] >= 0; ++r)
      s.rows[3 * s.partner[i] + r] = s.held[3 * i + r];
  }
  apply_forces(scene, work.end, s.rows, s.a1.data());
  turn_axes(scene, work.q.data(), state.q.data(), s.a1.data(), s.dG.data());
  apply_forces(scene, work.start, s.held, s.a1.data());
  for (int k = 0; k < scene.nv(); ++k) s.dG[k] -= s.a1[k];
  turn_axes(scene, work.q.data(), state.q.data(), work.end.acceleration.data(), s.a1.data());

  double difference = 0.0;
  for (int k = 0; k < scene.nv(); ++k) {
    const double a0 = work.start.acceleration[k], v = state.v[k];
    const double nu = v + 0.5 * h * (a0 + s.a1[k] + s.dG[k]) + s.G0_F1[k];
    const double xi = h * (v + h * (0.5 * a0 + (s.a1[k] - a0 + s.dG[k]) / 6.0)) + s.G0_F2[k];
    difference = std::max({difference, std::abs(nu - work.nu[k]), std::abs(xi - work.xi[k])});
    work.nu[k] = nu;
    work.xi[k] = xi;
  }
  return difference;
}

/// Rows of the points of one island that are closed at the end of the step.
void closed_rows(const ContactMotion::Result& r, std::vector<int>& rows) {
  rows.clear();
  for (std::size_t i = 0; i < r.mode.size(); ++i) {
    const int row = 3 * static_cast<int>(i);
    if (r.mode[i] == PointMode::kStick) rows.insert(rows.end(), {row, row + 1});
    if (r.mode[i] != PointMode::kOpen) rows.push_back(row + 2);
  }
}

/// y of Y y = e in the given rows of an island of n rows; least squares if there are more rows than
/// rank, by a diagonal far above rounding and far below Y.
void solve_rows(const double* Y, int n, ExponentialScratch& s) {
  const int m = static_cast<int>(s.closed.size()), stride = factor_stride(m);
  s.factor.assign(static_cast<std::size_t>(m) * stride, 0.0);
  double trace = 0.0;
  for (int i = 0; i < m; ++i) {
    const double* row = Y + static_cast<std::size_t>(s.closed[i]) * n;
    for (int j = i; j < m; ++j)
      s.factor[static_cast<std::size_t>(i) * stride + j] = row[s.closed[j]];
    trace += row[s.closed[i]];
  }
  for (int i = 0; i < m; ++i)
    s.factor[static_cast<std::size_t>(i) * stride + i] += 1e-10 * trace / m;
  if (factor_symmetric(s.factor.data(), m, stride)) {
    substitute_symmetric(s.factor.data(), m, stride, s.mismatch.data());
  } else {
    std::fill(s.mismatch.begin(), s.mismatch.end(), 0.0);
  }
}

/// v+ += G0 Y0^-1 (x'(h) - J v+) at the points that are closed: their velocity is a stiff quantity
/// that the closed form knows to the order of its forcing, while v+ is a quadrature of
/// accelerations. Without this the velocity error is 2 to 8 times larger at steps of 10 to 40 ms.
void match_contact_velocity(const CompliantInput& input,
                            const State& state,
                            CompliantWorkspace& work) {
  ExponentialScratch& s = work.exponential;
  const Scene& scene = input.scene;
  CompliantSystem& start = work.start;
  displace(scene, state.q.data(), work.xi.data(), work.q.data());
  turn_axes(scene, state.q.data(), work.q.data(), work.nu.data(), work.v.data());
  forward_kinematics(scene, input.parameters, work.q.data(), work.v.data(), work.end.dynamics);
  const std::vector<int>& bounds = start.delassus.island_start;
  s.rows.assign(3 * start.points.size(), 0.0);
  for (int k = 0; k < start.delassus.num_islands(); ++k) {
    const ContactMotion::Result& r = *s.moved[k];
    closed_rows(r, s.closed);
    if (s.closed.empty()) continue;
    s.mismatch.clear();
    for (const int row : s.closed) {
      const CompliantPoint& point = start.points[bounds[k] + row / 3];
      const Vec3d v =
          carrier_rotation(scene, start, point) * carrier_velocity(scene, point, work.end.dynamics);
      const Mat3d& frame = start.contacts[point.contact].frame;
      s.mismatch.push_back(r.v[row] - dot(frame.column(row % 3), v));
    }
    solve_rows(s.islands[k].delassus(), 3 * (bounds[k + 1] - bounds[k]), s);
    for (std::size_t j = 0; j < s.closed.size(); ++j)
      s.rows[3 * bounds[k] + s.closed[j]] = s.mismatch[j];
  }
  apply_forces(scene, start, s.rows, s.dG.data());
  for (int k = 0; k < scene.nv(); ++k) work.nu[k] += s.dG[k];
}

/// What the closed form says of a point of the start after the step.
struct PointEnd {
  Vec3d defect{0, 0, 0};  ///< its way by kinematics less that of the closed form [m], contact frame
  Vec3d extension{0, 0, 0};  ///< contact frame [m]
  double gap = 0.0;
  PointMode mode = PointMode::kOpen;
};

/// The anchor of a point that sticks has not moved: the kinematics have the last word on how far
/// the point is from it. One that slides has the spring of the closed form.
PointEnd end_of_point(
    const CompliantInput& input, const CompliantWorkspace& work, int island, int first, int i) {
  const CompliantPoint& point = work.start.points[i];
  const ContactMotion::Result& r = *work.exponential.moved[island];
  const double* x = r.x.data() + 3 * (i - first);
  const Mat3d R = carrier_rotation(input.scene, work.start, point);
  const Mat3d& frame = work.start.contacts[point.contact].frame;
  const Vec3d way = transpose_times(frame, R * way_of(input, work.start, point, work.end.dynamics));
  PointEnd end;
  end.mode = r.mode[i - first];
  end.gap = point.motion.gap + way.z;
  end.defect.z = end.gap - x[2];
  if (point.kind == PointKind::kMaterial) {
    end.defect.x = way.x - x[0];
    end.defect.y = way.y - x[1];
  }
  end.extension = r.e[i - first];
  if (end.mode == PointMode::kStick)
    end.extension = end.extension - Vec3d{end.defect.x, end.defect.y, 0.0};
  return end;
}

/// An upper bound on the work of what is no contact: servos, torques, wrenches.
double work_bound(const CompliantInput& input, const CompliantWorkspace& work) {
  double sum = 0.0;
  for (int k = 0; k < input.scene.nv(); ++k)
    sum += std::abs(work.start.dynamics.force[k] * work.xi[k]);
  for (const ExternalWrench& w : input.control.wrenches) {
    const Transform a = body_placement(input.scene, work.start.dynamics, w.body),
                    b = body_placement(input.scene, work.end.dynamics, w.body);
    const double turned = norm(b.R.c0 - a.R.c0) + norm(b.R.c1 - a.R.c1);
    sum += norm(w.force) * norm(b.p - a.p) + norm(w.moment) * 2.0 * turned;
  }
  return sum;
}

/// Energies of a sub-step, for its acceptance.
struct EnergyBalance {
  double start = 0.0;      ///< T + S at the start [J]
  double kinetic = 0.0;    ///< at the end [J]
  double elastic = 0.0;    ///< at the end [J]
  double misplaced = 0.0;  ///< d^T K d / 2 of the defects of the closed form [J]
  double budget = 0.0;     ///< what T + S may be at the end [J]
  bool acceptable() const {
    return misplaced <= kEnergyShare * start + 1e-12 * budget && kinetic + elastic <= budget;
  }
};

/// Visits the points of the start: island, its first point, point.
template <class Visit>
void each_point(const CompliantSystem& start, Visit&& visit) {
  const std::vector<int>& bounds = start.delassus.island_start;
  for (int k = 0; k < start.delassus.num_islands(); ++k) {
    for (int i = bounds[k]; i < bounds[k + 1]; ++i) visit(k, bounds[k], i);
  }
}

EnergyBalance energy_balance(const CompliantInput& input, const CompliantWorkspace& work) {
  EnergyBalance e;
  double kinetic = 0.0, potential = 0.0;
  for (const TreeData<double>& t : work.start.dynamics.trees) {
    kinetic += t.kinetic_energy;
    potential += t.potential_energy;
  }
  const MechanicalEnergy end = mechanical_energy(input.scene, input.parameters, work.end.dynamics);
  e.kinetic = end.kinetic;
  e.start = kinetic + elastic_energy(work.start);
  each_point(work.start, [&](int island, int first, int i) {
    const PointEnd p = end_of_point(input, work, island, first, i);
    if (p.mode == PointMode::kOpen) return;
    const PointCompliance& c = work.start.points[i].compliance;
    const auto energy = [&](const Vec3d& t, double n) {
      return 0.5 * (c.tangential_stiffness * (t.x * t.x + t.y * t.y) + c.stiffness * n * n);
    };
    e.elastic += energy(p.extension, std::min(p.gap, 0.0));
    e.misplaced += energy(p.defect, p.defect.z);
  });
  const double released = potential - end.potential;
  const double rounding = 1e-12 * (e.start + std::abs(potential) + std::abs(end.potential));
  e.budget =
      std::max(0.0, (1.0 + kEnergyShare) * e.start + released + work_bound(input, work)) + rounding;
  return e;
}

/// The whole step of input.h by ETD2. Returns false, with nothing but `state` touched, if the
/// energy is not acceptable; if `last`, the velocity is scaled into the budget instead.
bool attempt(const CompliantInput& input, bool last, State& state, CompliantWorkspace& work) {
  ExponentialScratch& s = work.exponential;
  CompliantSystem& start = work.start;
  start.here.queries.swap(state.queries);
  locate(input, state.q.data(), state.v.data(), state.contacts, nullptr, input.h, start);
  state.queries.swap(start.here.queries);
  accelerate(input, false, 0.5 * input.h, start);
  assemble(input, start);
  start_islands(start, s);

  move_points(start, s.b0, input.h, s);
  predict(input, state, work);
  evaluate_end(input, state, work);
  if (!last && missed_point(work.end, s.partner)) return false;
  move_points(start, s.b1, input.h, s);
  const double difference = correct(input, state, work);

  match_contact_velocity(input, state, work);
  conclude(input, PositionRule::kSecondOrder, work, state);
  if (!start.points.empty() && work.rigid.rows.rows.empty()) {
    const EnergyBalance energy = energy_balance(input, work);
    if (!energy.acceptable()) {
      if (!last) return false;
      const double allowed = std::max(0.0, energy.budget - energy.elastic);
      if (energy.kinetic > allowed) state.v *= std::sqrt(allowed / energy.kinetic);
    }
  }

  work.outcome.error_estimate = std::max(work.outcome.error_estimate, difference);
  work.extension.resize(start.points.size());
  each_point(start, [&](int island, int first, int i) {
    CompliantPoint& point = start.points[i];
    const PointEnd end = end_of_point(input, work, island, first, i);
    const Mat3d R = carrier_rotation(input.scene, start, point);
    work.extension[i] = transpose_times(R, start.contacts[point.contact].frame * end.extension);
    point.force.mode = end.mode;
  });
  remember(input, start, s.F1, work.extension, work, state);
  return true;
}

}  // namespace

/// Halves of the step as long as its energy is not acceptable, wholes again where they fit.
void exponential(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  constexpr int kParts = 1 << kHalvings;
  State& before = work.exponential.before;
  int level = 0;
  for (int part = 0; part < kParts;) {
    CompliantInput sub{input.scene,
                       input.parameters,
                       input.control,
                       input.settings,
                       input.contact,
                       input.collision,
                       input.solver,
                       std::ldexp(input.h, -level)};
    before = state;
    ++work.outcome.iterations;
    if (!attempt(sub, level == kHalvings, state, work)) {
      state = before;
      ++level;
      continue;
    }
    part += kParts >> level;
    while (level > 0 && part % (kParts >> (level - 1)) == 0) --level;
  }
}

}  // namespace stiction
