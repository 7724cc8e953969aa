#include "integrator/explicit_euler.hpp"

namespace stiction {
using namespace compliance;
namespace {

void step(const CompliantInput& input, PositionRule rule, State& state, CompliantWorkspace& work) {
  const int nv = input.scene.nv();
  const double h = input.h;
  const bool second = rule == PositionRule::kSecondOrder;
  CompliantSystem& start = work.start;
  locate_start(input, state, start);
  work.account().charge(evaluation_work(input.scene, start));
  hold_rigid_rows(input, state, work);
  accelerate(input, true, second ? 0.5 * h : h, start);
  for (int k = 0; k < nv; ++k) {
    const double a = start.acceleration[k];
    work.nu[k] = state.v[k] + h * a;
    work.xi[k] = second ? h * (state.v[k] + 0.5 * h * a) : h * work.nu[k];
  }
  conclude(input, rule, work, state);
  for (const CompliantPoint& p : start.points) {
    const bool acts = p.force.mode != ContactMode::kOpen ||
                      (start.law == CompliantLaw::kPublished && p.motion.gap <= 0.0);
    const Anchor anchor = anchor_after(input, work, p, p.force.force, acts);
    remember_point(input, start, p, p.force * h, anchor, work, state);
  }
}

}  // namespace

void explicit_euler(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  step(input, PositionRule::kSecondOrder, state, work);
}

void symplectic_euler(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  step(input, PositionRule::kEndVelocity, state, work);
}

}  // namespace stiction
