#include "support/contact_problems.hpp"
#include "support/joint_springs.hpp"
#include "support/random_tree.hpp"
#include "support/random_world.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <string>

// The derivatives of one step by every parameter, in random worlds, against differences of the
// step.

namespace stiction::test {
namespace {

/// The frame that a column of a field moves, or null.
Transform* placement(const std::string& field, int k, Parameters& p) {
  if (field == "geometry_placement") return &p.geometry_placement[k / 6];
  if (field == "closure_X_A") return &p.closure_X_A[k / 6];
  if (field == "closure_X_B") return &p.closure_X_B[k / 6];
  return nullptr;
}

/// The number that a column of a field stands for; null: none that may be moved both ways.
double* number(const std::string& field, int k, Parameters& p, Control& control) {
  const auto positive = [](double& x) { return x > 0.0 && std::isfinite(x) ? &x : nullptr; };
  const auto any = [](double& x) { return std::isfinite(x) ? &x : nullptr; };
  if (field == "gravity") return &p.gravity[k];
  if (field == "mass") return &p.mass[k];
  if (field == "com") return &p.com[k / 3][k % 3];
  if (field == "inertia") return &(&p.inertia[k / 6].xx)[k % 6];
  if (field == "wrench")
    return &(k % 6 < 3 ? control.wrenches[k / 6].force : control.wrenches[k / 6].moment)[k % 3];
  if (field == "position_target") return &control.position_target[k];
  if (field == "velocity_target") return &control.velocity_target[k];
  if (field == "kp") return positive(p.kp[k]);
  if (field == "kd") return positive(p.kd[k]);
  if (field == "damping") return positive(p.damping[k]);
  if (field == "armature") return positive(p.armature[k]);
  if (field == "effort_limit") return any(p.effort_limit[k]);
  if (field == "spring_stiffness") return positive(p.spring_stiffness[k]);
  if (field == "spring_rest") return any(p.spring_rest[k]);
  if (field == "dry_friction") return positive(p.dry_friction[k]);
  if (field == "lower") return any(p.lower[k]);
  if (field == "upper") return any(p.upper[k]);
  if (field == "gear_ratio") return &p.gear_ratio[k];
  if (field == "gear_offset") return &p.gear_offset[k];
  if (field == "geometry_size") return positive(p.geometry_size[k / 3][k % 3]);
  if (field == "geometry_velocity" || field == "surface_velocity") {
    Twist& t = (field[0] == 'g' ? p.geometry_velocity : p.surface_velocity)[k / 6];
    return &(k % 6 < 3 ? t.linear : t.angular)[k % 3];
  }
  if (field == "friction") return positive(p.material[k].friction);
  if (field == "torsional_friction") return positive(p.material[k].torsional_friction);
  if (field == "rolling_friction") return positive(p.material[k].rolling_friction);
  if (field == "restitution") return positive(p.material[k].restitution);
  if (field == "stiffness") return positive(p.material[k].stiffness);
  if (field == "contact_damping") return positive(p.material[k].damping);
  if (field == "pair_friction") return positive(p.pair_material[k].friction);
  if (field == "pair_torsional_friction") return positive(p.pair_material[k].torsional_friction);
  if (field == "pair_rolling_friction") return positive(p.pair_material[k].rolling_friction);
  if (field == "pair_restitution") return positive(p.pair_material[k].restitution);
  if (field == "pair_stiffness") return positive(p.pair_material[k].stiffness);
  if (field == "pair_contact_damping") return positive(p.pair_material[k].damping);
  BOOST_FAIL("no number for " << field);
  return nullptr;
}

/// How coefficients of friction meet, of every other world.
void add_friction_rules(int k, World& w) {
  if (k % 2 == 0) return;
  constexpr int kCondims[] = {1, 3, 4, 6, 6, 6};
  Rng rng(1000 + static_cast<std::uint64_t>(k));
  for (std::size_t g = 0; g < w.scene.geometries().size(); ++g) {
    FrictionRule rule;
    rule.larger = rng.uniform(0.0, 1.0) < 0.7;
    rule.condim = kCondims[static_cast<int>(rng.uniform(0.0, 5.999))];
    rule.priority = rng.uniform(0.0, 1.0) < 0.3;
    w.scene.set_friction_rule(static_cast<int>(g), rule);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_parameters_test)

BOOST_AUTO_TEST_CASE(every_parameter_agrees_with_differences) {
  Rng rng(12);
  std::map<std::string, int> moved_something;
  int kinks = 0, columns = 0;
  Rng columns_of(13), twists_of(14);
  for (int k = 0; k < num_worlds(); ++k) {
    DrawnWorld drawn = draw_world(rng, k, 0.7, 0.2);
    World& w = drawn.world;
    add_joint_springs(k, w);
    add_friction_rules(k, w);
    Simulator simulator(w.scene, w.settings);
    if (drawn.features.tangential && !simulator.step(w.state, w.control).whole()) continue;
    State end = w.state;
    simulator.step(end, w.control);
    if (simulator.report().status != StepStatus::kOk) continue;
    const StepDerivatives d = simulator.step_derivatives(Simulator::derivative_parameters());
    // Rounding grows by as much as a pivot is small.
    if (!comparable(d.report) || d.report.smallest_pivot < 1e-4) continue;
    const int nv = w.scene.nv();
    const Eigen::VectorXd weights = random_vector(rng, 2 * nv);
    const Eigen::VectorXd gradient =
        simulator.vjp(weights, Simulator::derivative_parameters()).parameters;
    BOOST_TEST((gradient - d.P.topRows(2 * nv).transpose() * weights).cwiseAbs().maxCoeff() <=
               1e-11 * (1.0 + d.P.cwiseAbs().maxCoeff()) * nv);
    const bool contradict =
        simulator.step_derivatives({"closure_X_A", "closure_X_B"}).report.num_parameter_kinks > 0;
    for (const ParameterRange& range : d.parameters) {
      if (contradict && range.name.compare(0, 7, "closure") == 0) continue;
      for (int j = 0; j < range.count; ++j) {
        Rng& draws = range.name.ends_with("_velocity") ? twists_of : columns_of;
        if (range.count > 6 && draws.uniform(0.0, 1.0) > 0.3) continue;
        Transform* placed = placement(range.name, j, simulator.parameters());
        double shift = 0.0;
        double* x =
            placed != nullptr ? &shift : number(range.name, j, simulator.parameters(), w.control);
        if (x == nullptr) continue;
        const double at = *x, unit = std::max(std::abs(at), range.name == "gravity" ? 1.0 : 1e-2);
        const Transform X = placed != nullptr ? *placed : Transform{};
        const Eigen::VectorXd column = d.P.col(range.first + j).head(2 * nv);
        const ColumnCheck check =
            check_column(simulator, w.state, w.control, end, column, unit, [&](double change) {
              *x = at + change;
              if (placed != nullptr)
                *placed = change != 0.0 ? X * tangent_motion(j % 6, change) : X;
            });
        ++columns;
        kinks += !check.compared();
        BOOST_TEST(check.error() <= 1.1,
                   "world " << k << " " << range.name << " " << j << ": " << check.error());
        moved_something[range.name] += check.compared() && check.seen();
      }
    }
  }
  BOOST_TEST(kinks < 0.02 * columns, kinks << " of " << columns << " columns have kinks");
  for (const std::string& field : Simulator::derivative_parameters())
    BOOST_TEST(moved_something[field] >= 3,
               field << " moved something " << moved_something[field] << " times");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
