#include "integrator/step_record.hpp"
#include "support/contact_problems.hpp"
#include "support/random_world.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

// The step, backwards, in random worlds: the velocity at the end of a step tells the torques that
// lead there again.

namespace stiction::test {
namespace {

/// The message of the exception; empty: none.
std::string refusal(Simulator& simulator,
                    const World& w,
                    const Eigen::VectorXd& v_next,
                    const std::vector<int>* actuated = nullptr,
                    double tolerance = 1e-6) {
  try {
    simulator.inverse_contact_dynamics(w.state, w.control, v_next, actuated, tolerance);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

/// The impulses are nearly the least, to 1e-6.
constexpr double kLeast = 3e-5;

/// The solution has other references than the problem: recoveries of several rows cut together.
bool cut_together(const Simulator& simulator) {
  return std::ranges::any_of(simulator.record().rows.rows, [](const ConstraintRow& row) {
    return row.kind == ReferenceKind::kCapped;
  });
}

/// Friction of a spring that sticks is looked for in a square inside its disk.
bool beside_the_square(const Simulator& simulator) {
  const ContactProblem& problem = simulator.problem();
  for (const ConstraintSet& set : problem.sets) {
    if (!set.is_cone() || problem.compliance[set.offset + 2] == 0.0) continue;
    const double* l = simulator.solution().impulse.data() + set.offset;
    if (std::max(std::abs(l[0]), std::abs(l[1])) > 0.7 * set.friction.mu[0] * l[2]) return true;
  }
  return false;
}

World free_world(std::uint64_t seed) {
  Rng rng(seed);
  World w = random_world(rng, {});
  std::ranges::fill(w.scene.parameters.effort_limit, kInfinity);
  return w;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(inverse_contact_dynamics_test)

BOOST_AUTO_TEST_CASE(torques_of_a_motion_lead_to_it) {
  Rng rng(5);
  int refused = 0, compared = 0, elsewhere = 0;
  std::map<std::string, int> seen;
  for (int k = 0; k < num_worlds(); ++k) {
    const auto chance = [&](double p) { return rng.uniform(0.0, 1.0) < p; };
    const bool springs = chance(0.3);
    World w = random_world(
        rng, {springs, false, !springs && chance(0.5), chance(0.3), chance(0.3), chance(0.5)});
    Simulator simulator(w.scene, w.settings);
    State end = w.state;
    if (simulator.step(end, w.control).status != StepStatus::kOk) continue;
    const GradientReport report = simulator.gradient_report();
    if (report.num_saturated > 0) {
      ++refused;
      BOOST_TEST(refusal(simulator, w, end.v).find("is at its effort limit") != std::string::npos);
      continue;
    }
    // A slow slide is rest to the inverse, and the other way round.
    if (!comparable(report)) continue;
    const std::vector<double> impulse = simulator.solution().impulse;
    if (cut_together(simulator) || beside_the_square(simulator)) continue;
    const InverseContactDynamics found =
        simulator.inverse_contact_dynamics(w.state, w.control, end.v);
    BOOST_TEST((simulator.solution().impulse == impulse));  // the last step stays
    double size = 1.0;                                      // [N, N m] of what is explained
    for (const double l : impulse) size = std::max(size, std::abs(l) / w.settings.dt);
    const double residual = found.residual.cwiseAbs().maxCoeff() / size;
    BOOST_TEST(residual < kLeast, "world " << k << ": " << residual);
    BOOST_TEST(found.violation < 1e-8, "world " << k << ": " << found.violation);
    for (const std::string& kind : kinds_of(simulator, report)) ++seen[kind];
    Control control = w.control;
    control.torque += found.torque;
    State again = w.state;
    simulator.step(again, control);
    if (simulator.gradient_report().num_saturated > 0) continue;
    const double off =
        (again.v - end.v).cwiseAbs().maxCoeff() / (1.0 + end.v.cwiseAbs().maxCoeff());
    elsewhere += off > kLeast;
    ++compared;
  }
  BOOST_TEST(refused > 5);
  // Feet that stick press as they like, and with much friction such a problem has two solutions, of
  // which a step takes the limit of vanishing compliance.
  BOOST_TEST(elsewhere <= compared / 100, elsewhere << " of " << compared << " end elsewhere");
  BOOST_TEST(compared > num_worlds() / 4);
  for (const auto& [kind, count] : seen) BOOST_TEST_MESSAGE(kind << " " << count);
  for (const char* source : {"contact", "lower_limit", "dry_friction", "closure", "gear"})
    BOOST_TEST(
        std::ranges::any_of(seen, [&](const auto& one) { return one.first.starts_with(source); }),
        source);
}

BOOST_AUTO_TEST_CASE(unactuated_dofs_have_no_torque) {
  World w = free_world(3);
  Simulator simulator(w.scene, w.settings);
  const std::vector<int> none, all = [&] {
    std::vector<int> out(w.scene.nv());
    for (int i = 0; i < w.scene.nv(); ++i) out[i] = i;
    return out;
  }();
  const Eigen::VectorXd v = w.state.v;
  const auto idle = simulator.inverse_contact_dynamics(w.state, w.control, v, &none);
  BOOST_TEST(idle.torque.isZero(0.0));
  BOOST_TEST(idle.residual.cwiseAbs().maxCoeff() > 1e-3);
  const auto driven = simulator.inverse_contact_dynamics(w.state, w.control, v, &all);
  BOOST_TEST(driven.residual.isZero(0.0));
  State end = w.state;
  Control control = w.control;
  control.torque += driven.torque;
  simulator.step(end, control);
  BOOST_TEST((end.v - v).cwiseAbs().maxCoeff() < 1e-6);
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_named) {
  World w = free_world(4);
  Simulator simulator(w.scene, w.settings);
  const int nv = w.scene.nv();
  const Eigen::VectorXd v = w.state.v;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(refusal(simulator, w, v) == "");
  BOOST_TEST(refusal(simulator, w, v.head(nv - 1)) ==
             "v_next has " + std::to_string(nv - 1) + " entries: must have " + std::to_string(nv));
  for (const double bad : {nan, kInfinity, 1e300, -1e101}) {
    Eigen::VectorXd x = v;
    x[1] = bad;
    const std::string text = refusal(simulator, w, x);
    BOOST_TEST(text.starts_with("v_next[1] = "), text);
    BOOST_TEST(text.ends_with(": must be finite and at most 1e100 in size"), text);
  }
  for (const int bad : {-1, nv}) {
    const std::vector<int> dofs{0, bad};
    BOOST_TEST(refusal(simulator, w, v, &dofs) == "actuated[1] = " + std::to_string(bad) +
                                                      ": must be the number of a dof, from 0 to " +
                                                      std::to_string(nv - 1));
  }
  for (const double bad : {nan, 0.0, -1e-6, kInfinity}) {
    const std::string text = refusal(simulator, w, v, nullptr, bad);
    BOOST_TEST(text.starts_with("tolerance = "), text);
    BOOST_TEST(text.ends_with(": must be > 0 and finite [m/s]"), text);
  }
  World small = free_world(4);
  small.control.torque.conservativeResize(nv - 1);
  BOOST_TEST(refusal(simulator, small, v).find("control.torque") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(velocities_of_any_size_give_numbers_or_a_refusal) {
  World w = free_world(6);
  Simulator simulator(w.scene, w.settings);
  int refused = 0, answered = 0;
  for (int exponent = -2; exponent <= 100; exponent += 3) {
    const Eigen::VectorXd v = Eigen::VectorXd::Constant(w.scene.nv(), std::pow(10.0, exponent));
    try {
      const auto found = simulator.inverse_contact_dynamics(w.state, w.control, v);
      BOOST_TEST((found.torque.allFinite() && found.residual.allFinite()));
      BOOST_TEST((std::ranges::all_of(found.impulse, [](double x) { return std::isfinite(x); })));
      ++answered;
    } catch (const std::invalid_argument& e) {
      const std::string text = e.what();
      BOOST_TEST(text.find("overflow; take smaller velocities") != std::string::npos, text);
      ++refused;
    }
  }
  BOOST_TEST_MESSAGE(answered << " answered, " << refused << " refused");
  BOOST_TEST(answered >= 3);
}

BOOST_AUTO_TEST_CASE(compliant_integrators_are_refused) {
  World w = [] {
    Rng rng(7);
    return random_world(rng, {true});
  }();
  w.settings.integrator = "implicit-euler";
  Simulator simulator(w.scene, w.settings);
  const std::string text = refusal(simulator, w, w.state.v);
  BOOST_TEST(text.find("implicit-euler") != std::string::npos, text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
