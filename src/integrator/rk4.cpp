#include "integrator/rk4.hpp"

#include "integrator/step_coordinates.hpp"
#include "model/contact_order.hpp"

#include <algorithm>

namespace stiction {
using namespace compliance;
namespace {

/// The state of a stage from the step's start: q, v, and the anchors.
void place_stage(const CompliantInput& input,
                 const State& state,
                 double step,
                 RungeKuttaScratch& rk,
                 CompliantWorkspace& work) {
  const int nv = input.scene.nv();
  for (int k = 0; k < nv; ++k) {
    rk.xi[k] = step * rk.xi_rate[k];
    rk.nu[k] = state.v[k] + step * rk.nu_rate[k];
  }
  displace(input.scene, state.q.data(), rk.xi.data(), work.q.data());
  turn_axes(input.scene, state.q.data(), work.q.data(), rk.nu.data(), work.v.data());
  work.memory.clear();
  for (const AnchorTrack& a : rk.anchors)
    work.memory.push_back(memory_of(a, a.base + a.rate * step));
}

AnchorTrack& track_of(const Contact& contact, std::vector<AnchorTrack>& anchors) {
  const auto it = std::lower_bound(anchors.begin(), anchors.end(), contact, contact_before);
  if (it != anchors.end() && same_contact(*it, contact)) return *it;
  AnchorTrack fresh;
  fresh.pair = contact.pair;
  fresh.feature = contact.feature;
  return *anchors.insert(it, fresh);
}

/// Rates of the anchors at a stage, axes of the anchor body, added up with the stage's weight, and
/// the impulses of the points. Of a point that is not fixed to its point body the extension itself
/// is integrated, e' = anchor's rate - x_T'.
void add_anchor_rates(const CompliantInput& input,
                      const CompliantSystem& stage,
                      double weight,
                      RungeKuttaScratch& rk,
                      CompliantOutcome& outcome) {
  const CompliantLaw law = input.settings.chosen_law();
  for (AnchorTrack& a : rk.anchors) a.rate = {};
  for (const CompliantPoint& point : stage.points) {
    if (point.force.mode == ContactMode::kOpen) continue;
    const Contact& contact = stage.contacts[point.contact];
    Vec3d rate = anchor_rate(law, point.compliance, point.motion, point.force);
    if (point.kind != PointKind::kMaterial)
      rate -= Vec3d{point.motion.velocity.x, point.motion.velocity.y, 0.0};
    AnchorTrack& track = track_of(contact, rk.anchors);
    track.rate.extension = to_anchor_axes(input.scene, stage, point, rate);
    const bool couples = point.compliance.has_couples();
    if (couples) {
      const Vec3d turn = turn_rate(point.compliance, point.motion, point.force) -
                         resisted(point.compliance, point.motion.spin);
      track.rate.turn = to_anchor_axes(input.scene, stage, point, turn);
    }
    track.sum = track.sum + track.rate * weight;
    CompliantContact& told = report_point(contact,
                                          point.force.force * weight,
                                          point.motion.velocity,
                                          point.motion.extension,
                                          point.force.mode,
                                          outcome);
    if (couples) told.moment += point.force.couple * weight;
  }
}

/// xi' and nu' at the stage that `system` holds.
void add_rates(const CompliantInput& input,
               const State& state,
               double weight,
               CompliantSystem& system,
               RungeKuttaScratch& rk,
               CompliantWorkspace& work) {
  accelerate(input, true, 0.0, system);
  log_rate(input.scene, rk.xi.data(), rk.nu.data(), rk.xi_rate.data());
  turn_axes(input.scene,
            system.here.q.data(),
            state.q.data(),
            system.acceleration.data(),
            rk.nu_rate.data());
  for (int k = 0; k < input.scene.nv(); ++k) {
    work.xi[k] += weight * rk.xi_rate[k];
    work.nu[k] += weight * rk.nu_rate[k];
  }
  add_anchor_rates(input, system, weight, rk, work.outcome);
}

void begin_anchors(const CompliantInput& input,
                   const CompliantSystem& start,
                   RungeKuttaScratch& rk) {
  rk.anchors.clear();
  for (const CompliantPoint& point : start.points) {
    AnchorTrack& track = track_of(start.contacts[point.contact], rk.anchors);
    track.base = settled_anchor(input.scene, start, point);
  }
}

/// Points and extensions at the end of the sub-step.
void finish(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  RungeKuttaScratch& rk = work.runge_kutta;
  work.memory.clear();
  for (const AnchorTrack& a : rk.anchors) work.memory.push_back(memory_of(a, a.base + a.sum));
  CompliantSystem& end = work.end;
  locate(input, state.q.data(), state.v.data(), work.memory, &work.start, 0.0, end);
  for (const CompliantPoint& point : end.points) {  // impulses were reported stage by stage
    remember_point(input, end, point, {}, settled_anchor(input.scene, end, point), work, state);
  }
}

}  // namespace

void rk4(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  const int nv = input.scene.nv();
  const double h = input.h;
  RungeKuttaScratch& rk = work.runge_kutta;
  rk.xi.assign(nv, 0.0);
  rk.nu.assign(state.v.data(), state.v.data() + nv);
  rk.xi_rate.resize(nv);
  rk.nu_rate.resize(nv);
  work.xi.assign(nv, 0.0);
  work.nu.assign(state.v.data(), state.v.data() + nv);

  CompliantSystem &start = work.start, &stage = work.end;
  start.here.queries.swap(state.queries);
  locate(input, state.q.data(), state.v.data(), state.contacts, nullptr, 0.0, start);
  stage.here.queries = start.here.queries;
  work.account().charge(4.0 * evaluation_work(input.scene, start));
  hold_rigid_rows(input, state, work);
  begin_anchors(input, start, rk);
  add_rates(input, state, h / 6.0, start, rk, work);
  const double step[3] = {0.5 * h, 0.5 * h, h}, weight[3] = {h / 3.0, h / 3.0, h / 6.0};
  for (int i = 0; i < 3; ++i) {
    place_stage(input, state, step[i], rk, work);
    locate(input, work.q.data(), work.v.data(), work.memory, &start, 0.0, stage);
    turn_held(input.scene, start, stage);
    add_rates(input, state, weight[i], stage, rk, work);
  }
  conclude(input, PositionRule::kSecondOrder, work, state);
  finish(input, state, work);
  state.queries.swap(stage.here.queries);
}

}  // namespace stiction
