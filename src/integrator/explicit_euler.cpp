#include "integrator/explicit_euler.hpp"

namespace stiction {
namespace {

/// Extension of a point after h, axes of the carrier. A point that slides under the continuous law
/// has its spring relax towards the friction force; else the anchor stays and the point moves on.
Vec3d extension_after(const CompliantInput& input,
                      const CompliantSystem& start,
                      const CompliantPoint& point,
                      const DynamicsWorkspace& end) {
  const CompliantLaw law = input.settings.chosen_law();
  const Contact& contact = start.contacts[point.contact];
  const Mat3d R = carrier_rotation(input.scene, start, point);
  const auto in_carrier = [&](const Vec3d& x) { return transpose_times(R, contact.frame * x); };
  const bool published = law == CompliantLaw::kPublished;
  if (point.force.mode == ContactMode::kOpen && !(published && contact.gap <= 0.0))
    return {0, 0, 0};
  if (!published && point.force.mode == ContactMode::kSlide) {
    return in_carrier(
        relaxed_extension(point.compliance, point.motion.extension, point.force.force, input.h));
  }
  const Vec3d e = settled_extension(law, point.compliance, point.motion, point.force);
  const Vec3d after = in_carrier(e) - way_of(input, start, point, end);
  if (published) return after;
  const Vec3d normal = transpose_times(R, contact.frame.c2);
  return after - normal * dot(normal, after);
}

void step(const CompliantInput& input, PositionRule rule, State& state, CompliantWorkspace& work) {
  const int nv = input.scene.nv();
  const double h = input.h;
  const bool second = rule == PositionRule::kSecondOrder;
  CompliantSystem& start = work.start;
  locate_start(input, state, start);
  hold_rigid_rows(input, state, work);
  accelerate(input, true, second ? 0.5 * h : h, start);
  for (int k = 0; k < nv; ++k) {
    const double a = start.acceleration[k];
    work.nu[k] = state.v[k] + h * a;
    work.xi[k] = second ? h * (state.v[k] + 0.5 * h * a) : h * work.nu[k];
  }
  conclude(input, rule, work, state);
  work.impulse.resize(3 * start.points.size());
  work.extension.resize(start.points.size());
  for (std::size_t i = 0; i < start.points.size(); ++i) {
    for (int r = 0; r < 3; ++r) work.impulse[3 * i + r] = h * start.points[i].force.force[r];
    work.extension[i] = extension_after(input, start, start.points[i], work.end.dynamics);
  }
  remember(input, start, work.impulse, work.extension, work, state);
}

}  // namespace

void explicit_euler(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  step(input, PositionRule::kSecondOrder, state, work);
}

void symplectic_euler(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  step(input, PositionRule::kEndVelocity, state, work);
}

}  // namespace stiction
