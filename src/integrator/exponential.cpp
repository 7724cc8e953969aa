#include "integrator/exponential.hpp"

#include "contact/constraint_row.hpp"
#include "contact/contact_axes.hpp"
#include "dynamics/mass_matrix.hpp"
#include "integrator/compliant_substep.hpp"
#include "integrator/exponential_end.hpp"
#include "integrator/exponential_work.hpp"
#include "integrator/island_rows.hpp"
#include "integrator/step_coordinates.hpp"
#include "model/contact_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace stiction {
using namespace compliance;
namespace {

constexpr int kHalvings = 6;      // of a step whose energy is not accepted
constexpr int kRefinements = 12;  // of a step whose error is not
// Times the energy that a part may have, beyond which it is halved whatever it costs.
constexpr double kGross = 4.0;

/// Y, and where the points of every island are at the start of the step.
void start_islands(const CompliantSystem& start, WorkAccount& account, ExponentialScratch& s) {
  const std::vector<int>& bounds = start.delassus.island_start;
  const int islands = start.delassus.num_islands();
  if (static_cast<int>(s.islands.size()) < islands) s.islands.resize(islands);
  for (int k = 0; k < islands; ++k)
    fill_island(start, bounds[k], bounds[k + 1], s.island_Y, s.islands[k].renew(&account));
  s.b0.resize(start.row_start.back());
  for (std::size_t i = 0; i < start.points.size(); ++i) {
    const int row = start.row_start[i];
    add_drift(start, i, start.row_rate.data() + row, s.b0.data() + row);
  }
}

/// The closed form of all islands with b from b0 to b1: int f, intint f, and the force that a
/// change of Y, t/h (Y1 - Y0), acts on: the mean of 2 f t / h, 2 (int f - intint f / h) / h.
void move_points(const CompliantSystem& start,
                 const std::vector<double>& b1,
                 double h,
                 bool prediction,
                 ExponentialScratch& s) {
  const std::vector<int>& bounds = start.delassus.island_start;
  for (std::vector<double>* a : {&s.F1, &s.F2, &s.held}) a->resize(s.b0.size());
  for (int k = 0; k < start.delassus.num_islands(); ++k) {
    ContactMotion& points = s.islands[k];
    const double* from = to_island(start, bounds[k], points.island(), s.b0, s.island_rows[0]);
    const double* to = to_island(start, bounds[k], points.island(), b1, s.island_rows[1]);
    points.run(from, to, h, prediction);
    s.unpaid = s.unpaid || points.unpaid;
    if (s.unpaid) return;
    from_island(start, bounds[k], points.island(), points.F1, s.F1);
    from_island(start, bounds[k], points.island(), points.F2, s.F2);
  }
  for (std::size_t r = 0; r < s.held.size(); ++r) s.held[r] = 2.0 / h * (s.F1[r] - s.F2[r] / h);
}

/// Switches of the last run, all islands.
int count_switches(const CompliantSystem& start, const ExponentialScratch& s) {
  int count = 0;
  for (int k = 0; k < start.delassus.num_islands(); ++k) count += s.islands[k].switches;
  return count;
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
      if (same_contact(a, b)) out[i] = static_cast<int>(j);
    }
  }
}

/// Contacts at the end, where the start does not tell them: points of kind kGeneral move over their
/// surface, and what bounced within the step may have turned a new point into the ground. After
/// conclude().
void locate_end(const CompliantInput& input, const State& state, CompliantWorkspace& work) {
  ExponentialScratch& s = work.exponential;
  const auto general = [](const CompliantPoint& p) { return p.kind == PointKind::kGeneral; };
  s.located = count_switches(work.start, s) > 0 ||
              std::any_of(work.start.points.begin(), work.start.points.end(), general);
  if (!s.located) return;
  locate(input, state.q.data(), state.v.data(), state.contacts, nullptr, input.h, work.end);
  match_points(work.start, work.end, s.partner);
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

/// Y f of the rows of one point.
void delassus_times(const CompliantSystem& system,
                    int point,
                    const std::vector<double>& f,
                    double* out) {
  system.delassus.velocity(point, f.data(), out);
  const int begin = system.row_start[point], end = system.row_start[point + 1];
  for (int row = begin; row < end; ++row) out[row - begin] -= system.delassus.g[row];
}

/// Springs and dampers of joints act by Crank and Nicolson at either end: with their mean over a
/// step that begins there. Over this step their acceleration is a0 - r/2 to a0 + r/2: the mean of
/// the start, and a ramp r = M^^-1 M M^^-1 (change of their force), which goes to zero where they
/// are stiff for the step. Before list_rows() of the end.
void ramp_joint_forces(const CompliantInput& input, CompliantWorkspace& work) {
  ExponentialScratch& s = work.exponential;
  CompliantSystem &start = work.start, &end = work.end;
  const int nv = input.scene.nv();
  s.change.resize(nv);
  s.ramp.resize(nv);
  for (int k = 0; k < nv; ++k) s.change[k] = end.dynamics.force[k] - start.dynamics.force[k];
  const auto moves = [](double f) { return f != 0.0; };
  if (std::none_of(s.change.begin(), s.change.end(), moves)) return;

  s.whitened = s.change;
  respond(input.scene, start, s.whitened, s.response);
  for (int k = 0; k < nv; ++k) {
    const double added = start.dynamics.implicit_diagonal[k] - input.parameters.armature[k];
    s.ramp[k] = 0.5 * (s.change[k] - added * s.response[k]);
  }
  s.whitened = s.ramp;
  respond(input.scene, start, s.whitened, s.response);
  s.rows.assign(s.b0.size(), 0.0);
  add_row_velocity(
      input.scene, start.dynamics, start.rows, s.whitened.data(), start.row_scratch, s.rows);
  for (std::size_t r = 0; r < s.b0.size(); ++r) s.b0[r] -= s.rows[r];
  for (int k = 0; k < nv; ++k) start.acceleration[k] -= s.response[k];

  for (int k = 0; k < nv; ++k) s.whitened[k] = s.ramp[k] - s.change[k];
  respond(input.scene, end, s.whitened, s.response);
  for (int k = 0; k < nv; ++k) end.acceleration[k] += s.response[k];
}

/// The force that is held, by the points of the end; zero where one is too far there.
void hold_forces(const CompliantWorkspace& work, ExponentialScratch& s) {
  const std::vector<int>& start = work.start.row_start;
  for (std::size_t i = 0; i < s.partner.size(); ++i) {
    const auto from = s.held.begin() + start[i], to = s.held.begin() + start[i + 1];
    if (s.partner[i] < 0)
      std::fill(from, to, 0.0);
    else
      std::copy(from, to, s.held_at_end.begin() + work.end.row_start[s.partner[i]]);
  }
}

/// b1 = J1 (a1 + G1 f) + (J' v)_1 - Y0 f at the predicted end, f the force that is held. A point
/// that is too far there to be a contact keeps its b.
void evaluate_end(const CompliantInput& input, const State& state, CompliantWorkspace& work) {
  ExponentialScratch& s = work.exponential;
  CompliantSystem &start = work.start, &end = work.end;
  end.here.queries = start.here.queries;
  locate(input, work.q.data(), work.v.data(), state.contacts, nullptr, input.h, end);
  carry_frames(input.scene, start, end);
  turn_held(input.scene, start, end);
  accelerate(input, false, 0.5 * input.h, end);
  ramp_joint_forces(input, work);
  list_rows(input, end);
  match_points(start, end, s.partner);
  s.held_at_end.assign(end.row_start.back(), 0.0);
  hold_forces(work, s);
  push_points(input.scene, end, s.held_at_end, s.whitened, s.response);
  for (int k = 0; k < input.scene.nv(); ++k) s.response[k] += end.acceleration[k];
  point_accelerations(input.scene, end, s.response, s.rows);
  s.b1 = s.b0;
  for (std::size_t i = 0; i < s.partner.size(); ++i) {
    const int j = s.partner[i];
    if (j < 0) continue;
    double pushed[kMaxConeDim];
    delassus_times(start, static_cast<int>(i), s.held, pushed);
    const int row = start.row_start[i], dim = start.row_start[i + 1] - row;
    double* b = s.b1.data() + row;
    add_drift(end, j, s.rows.data() + end.row_start[j], b);
    for (int r = 0; r < dim; ++r) b[r] -= pushed[r];
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
  hold_forces(work, s);
  push_points(scene, work.end, s.held_at_end, s.whitened, s.a1);
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

/// Segments of the last run, of the island that had the most.
int most_segments(const CompliantSystem& start, const ExponentialScratch& s) {
  int most = 0;
  for (int k = 0; k < start.delassus.num_islands(); ++k) most = std::max(most, s.islands[k].taken);
  return most;
}

/// Friction whose direction is held may feed on the motion that it brakes, until numbers overflow.
bool has_overflown(const CompliantSystem& start, const ExponentialScratch& s) {
  const auto overflown = [](const ContactMotion& points) { return points.overflown; };
  const auto first = s.islands.begin();
  return std::any_of(first, first + start.delassus.num_islands(), overflown);
}

/// The whole step of input.h by ETD2. Returns false, with nothing but `state` touched, if a point
/// was missed, forces overflow or the energy is not acceptable. If `last`, points may be missed and
/// the velocity is scaled into the energy's budget instead, unless it is grossly off; the finest
/// part is taken whatever it is.
bool attempt(const CompliantInput& input, bool last, State& state, CompliantWorkspace& work) {
  ExponentialScratch& s = work.exponential;
  CompliantSystem& start = work.start;
  // As a rule the kinematics that the last step ended with.
  std::swap(start.dynamics, work.end.dynamics);
  std::swap(start.known, work.end.known);
  locate_start(input, state, start);
  hold_rigid_rows(input, state, work);
  accelerate(input, false, 0.5 * input.h, start);
  if (!pays_matrices(input.scene, work)) return false;
  assemble(input, start);
  report_energies(input, start, work.outcome);
  if (!pays_islands(work)) return false;
  start_islands(start, work.account(), s);

  move_points(start, s.b0, input.h, true, s);
  s.taken += most_segments(start, s);
  if (s.unpaid) return false;
  if (!s.finest && has_overflown(start, s)) return false;
  predict(input, state, work);
  evaluate_end(input, state, work);
  if (!last && missed_point(work.end, s.partner)) return false;
  move_points(start, s.b1, input.h, false, s);
  s.taken += most_segments(start, s);
  if (s.unpaid) return false;
  if (!s.finest && has_overflown(start, s)) return false;
  const double difference = correct(input, state, work);

  match_contact_velocity(input, state, work);
  conclude(input, PositionRule::kSecondOrder, work, state);
  locate_end(input, state, work);
  find_ends(input, work);
  if (work.rigid.rows.rows.empty()) {
    const EnergyBalance energy = energy_balance(input, work);
    if (!energy.acceptable()) {
      const double sum = energy.kinetic + energy.elastic + energy.appeared;
      const bool gross = !(sum <= kGross * energy.budget);
      if (!last || (gross && !s.finest)) return false;
      // A point that appears inside however short the step, as from one triangle of a mesh to the
      // next, is the narrow phase's; what the others have too much is the step's.
      const double allowed = std::max(0.0, energy.budget - energy.elastic);
      if (energy.kinetic > allowed) {
        state.v *= std::sqrt(allowed / energy.kinetic);
        work.outcome.converged = false;
      }
    }
  }

  work.outcome.error_estimate = std::max(work.outcome.error_estimate, difference);
  work.outcome.switches += count_switches(start, s);
  for (std::size_t i = 0; i < start.points.size(); ++i) {
    CompliantPoint& point = start.points[i];
    const double* F = s.F1.data() + start.row_start[i];
    const ConstraintSet& rows = start.rows.rows[i].set;
    point.force.mode = s.ends[i].mode;
    const Tangential& e = s.ends[i].extension;
    Anchor anchor{to_anchor_axes(input.scene, start, point, e.along)};
    if (point.compliance.has_couples())
      anchor.turn = to_anchor_axes(input.scene, start, point, angles(point.compliance, e.about));
    remember_point(
        input, start, point, {force_of(rows, F), couple_of(rows, F)}, anchor, work, state);
  }
  return true;
}

/// Largest difference of two ends of one step, velocities and coordinates alike. Entries of a
/// quaternion differ by half an angle: coordinates count twice.
double distance_of(const State& a, const State& b) {
  return std::max(2.0 * (a.q - b.q).cwiseAbs().maxCoeff(), (a.v - b.v).cwiseAbs().maxCoeff());
}

CompliantInput shortened(CompliantInput input, double h) {
  input.h = h;
  return input;
}

/// One step against two halves, of which the latter are kept if they differ by at most `allowed` or
/// this is the last level. At order 2 they are a third of the difference off; through a switch,
/// where the order is less, up to all of it.
bool attempt_halves(const CompliantInput& input,
                    double allowed,
                    bool last,
                    State& state,
                    CompliantWorkspace& work) {
  ExponentialScratch& s = work.exponential;
  work.kept = work.outcome;
  if (!attempt(input, last, state, work)) return false;
  s.whole = state;
  state = s.before;
  work.outcome = work.kept;
  const CompliantInput half = shortened(input, 0.5 * input.h);
  if (!attempt(half, last, state, work) || !attempt(half, last, state, work)) {
    work.outcome = work.kept;
    return false;
  }
  const double error = distance_of(state, s.whole);
  if (!last && !(error <= allowed)) {
    work.outcome = work.kept;
    return false;
  }
  if (!(error <= allowed)) work.outcome.converged = false;
  work.outcome.error_estimate = work.kept.error_estimate + error;
  return true;
}

}  // namespace

/// Halves of the step as long as its energy is not acceptable or its error too large, wholes again
/// where they fit.
void exponential(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  const double accuracy = input.settings.accuracy;
  const int levels = accuracy > 0.0 ? kRefinements : kHalvings, parts = 1 << levels;
  State& before = work.exponential.before;
  const int most = work.exponential.most_taken << (levels - kHalvings);
  int level = 0, &spent = work.exponential.taken;
  spent = 0;
  for (int part = 0; part < parts && !input.solver.interrupt.requested();) {
    const CompliantInput sub = shortened(input, std::ldexp(input.h, -level));
    work.exponential.finest = level == levels;
    work.exponential.unpaid = false;
    const bool last = level == levels || spent > most;
    before = state;
    ++work.outcome.iterations;
    const bool taken = accuracy > 0.0
                           ? attempt_halves(sub, std::ldexp(accuracy, -level), last, state, work)
                           : attempt(sub, last, state, work);
    if (!taken) {
      state = before;
      if (work.exponential.unpaid) {
        work.unpaid = std::ldexp(input.h, -levels) * (parts - part);
        return;
      }
      ++level;
      continue;
    }
    part += parts >> level;
    while (level > 0 && part % (parts >> (level - 1)) == 0) --level;
  }
}

}  // namespace stiction
