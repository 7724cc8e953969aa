#include "scenes/scenes.hpp"
#include "support/contact_problems.hpp"
#include "support/joint_springs.hpp"
#include "support/random_tree.hpp"
#include "support/random_world.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// Products J x with changes of parameters, beside the columns and the gradients of the same step.

namespace stiction::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// [2 nv + 3 ns x 3 nv + 3 ns] by (q, v, torque, e).
MatrixXd by_state(const StepDerivatives& d) {
  const Eigen::Index nv = d.nv(), ns = d.springs_by.rows();
  MatrixXd J(2 * nv + ns, 3 * nv + ns);
  const MatrixXd x = d.dx_dx();
  J << x.leftCols(2 * nv), d.dx_dtorque(), x.rightCols(ns);
  return J;
}

std::vector<ParameterDirection> random_directions(Rng& rng,
                                                  const std::vector<ParameterRange>& ranges) {
  std::vector<ParameterDirection> out;
  for (const ParameterRange& r : ranges) out.push_back({r.name, random_vector(rng, r.count)});
  return out;
}

double largest(const MatrixXd& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

/// What rounding leaves where rows take back all that a unit of the parameter changes at once: 1,
/// or the speed 1 / dt that a gap of 1 asks for.
double floor_of(const std::string& field, double dt) {
  const bool place = field.starts_with("geometry") || field.starts_with("closure") ||
                     field == "lower" || field == "upper";
  return 2.5e-13 * (place ? 1.0 / dt : 1.0);
}

/// Every parameter by itself; counts those that moved something.
void check_each(Simulator& simulator,
                const StepDerivatives& d,
                const std::vector<ParameterDirection>& changes,
                std::map<std::string, int>& moved) {
  const VectorXd none = VectorXd::Zero(3 * d.nv() + d.springs_by.rows());
  for (std::size_t k = 0; k < changes.size(); ++k) {
    const ParameterRange& range = d.parameters[k];
    const MatrixXd columns = d.P.middleCols(range.first, range.count);
    const VectorXd y = simulator.jvp(none, {changes[k]});
    const double size = largest(columns);
    const double off = largest(y - columns * changes[k].change);
    const double floor = floor_of(range.name, simulator.settings().dt);
    BOOST_TEST(off <= 1e-12 * size * range.count + floor,
               range.name << ": " << off << " of " << size);
    moved[range.name] += size > 1e3 * floor;
  }
}

/// All of them at once, with and without changes of the state; the gradient along them.
void check_mixtures(Simulator& simulator,
                    Rng& rng,
                    const StepDerivatives& d,
                    const std::vector<ParameterDirection>& changes) {
  const Eigen::Index nv = d.nv(), ns = d.springs_by.rows();
  const MatrixXd J = by_state(d);
  VectorXd c(d.P.cols());
  for (std::size_t k = 0; k < changes.size(); ++k)
    c.segment(d.parameters[k].first, changes[k].change.size()) = changes[k].change;
  const VectorXd x = random_vector(rng, J.cols()), expected = J * x + d.P * c;
  const double size = J.cwiseAbs().rowwise().sum().maxCoeff() +
                      (d.P.cwiseAbs() * c.cwiseAbs()).eval().cwiseAbs().maxCoeff();
  const VectorXd y = simulator.jvp(x, changes);
  BOOST_TEST(largest(y - expected) <= 1e-12 * size, largest(y - expected) << " of " << size);
  VectorXd still = x;
  still.tail(ns).setZero();
  const VectorXd whole = simulator.jvp(still, changes);
  BOOST_TEST((simulator.jvp(x.head(3 * nv), changes) == whole.head(2 * nv)));
  std::vector<std::string> names;
  for (const ParameterDirection& p : changes) names.push_back(p.name);
  const VectorXd w = random_vector(rng, y.size());
  const StepGradient& g = simulator.vjp(w, names);
  const double along = g.q.dot(x.head(nv)) + g.v.dot(x.segment(nv, nv)) +
                       g.torque.dot(x.segment(2 * nv, nv)) + g.springs.dot(x.tail(ns)) +
                       g.parameters.dot(c);
  BOOST_TEST(std::abs(along - w.dot(y)) <= 1e-12 * size * static_cast<double>(w.size()),
             along << " and " << w.dot(y) << " of " << size);
}

/// Of the last step.
void check_products(Simulator& simulator, Rng& rng, std::map<std::string, int>& moved) {
  const StepDerivatives d = simulator.step_derivatives(Simulator::derivative_parameters());
  const auto changes = random_directions(rng, d.parameters);
  check_each(simulator, d, changes, moved);
  check_mixtures(simulator, rng, d, changes);
}

std::string refusal(Simulator& simulator,
                    const VectorXd& x,
                    const std::vector<ParameterDirection>& changes) {
  try {
    simulator.jvp(x, changes);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(parameter_products_test)

BOOST_AUTO_TEST_CASE(products_are_columns_times_changes_in_random_worlds) {
  Rng rng(21);
  std::map<std::string, int> moved;
  int compared = 0, springs = 0;
  for (int k = 0; k < num_worlds(); ++k) {
    DrawnWorld drawn = draw_world(rng, k, 0.5, 0.4);
    World& w = drawn.world;
    add_joint_springs(k, w);
    Simulator simulator(w.scene, w.settings);
    if (drawn.features.tangential && !simulator.step(w.state, w.control).whole()) continue;
    simulator.step(w.state, w.control);
    if (simulator.report().status != StepStatus::kOk) continue;
    const GradientReport report = simulator.gradient_report();
    // Rounding grows by as much as a pivot is small.
    if (report.smallest_pivot < 1e-4 || !report.exact()) continue;
    BOOST_TEST_CONTEXT("world " << k) { check_products(simulator, rng, moved); }
    springs += !report.springs.empty();
    ++compared;
  }
  BOOST_TEST(compared > num_worlds() / 3);
  BOOST_TEST(springs >= 3);
  for (const std::string& field : Simulator::derivative_parameters())
    BOOST_TEST(moved[field] >= 3, field << " moved something " << moved[field] << " times");
}

/// Robots, piles of several islands, closures; also where rows are redundant.
BOOST_AUTO_TEST_CASE(products_are_columns_times_changes_in_scenes) {
  Rng rng(22);
  std::map<std::string, int> moved;
  for (const char* name :
       {"solo12", "cartpole", "four-bar", "cube-slide", "box-stack(6)", "ball-drop"}) {
    Simulator simulator(make_scene(name));
    State state = simulator.initial_state();
    const Control control = simulator.hold();
    for (int k = 0; k < 30; ++k) simulator.step(state, control);
    state.v.head(2).array() += 0.3;
    simulator.step(state, control);
    BOOST_TEST_CONTEXT(name) { check_products(simulator, rng, moved); }
  }
  for (const char* field : {"mass", "friction", "position_target", "kp", "geometry_size"})
    BOOST_TEST(moved[field] > 0, field);
}

/// A field twice is the sum; none is no change.
BOOST_AUTO_TEST_CASE(changes_add_up) {
  Simulator simulator(make_scene("cube-slide"));
  State state = simulator.initial_state();
  state.v[0] = 1.0;
  simulator.step(state, simulator.hold());
  const VectorXd none = VectorXd::Zero(3 * simulator.scene().nv());
  const auto ranges = simulator.parameter_ranges({"friction", "mass"});
  BOOST_TEST(ranges[0].count == static_cast<int>(simulator.scene().geometries().size()));
  BOOST_TEST(ranges[1].first == ranges[0].count);
  const VectorXd one = VectorXd::Ones(ranges[0].count);
  const VectorXd twice = simulator.jvp(none, {{"friction", one}, {"friction", one}});
  BOOST_TEST(largest(twice - simulator.jvp(none, {{"friction", 2.0 * one}})) <=
             1e-15 * largest(twice));
  BOOST_TEST(largest(twice) > 1e-4);
  BOOST_TEST(largest(simulator.jvp(none)) == 0.0);
}

BOOST_AUTO_TEST_CASE(wrong_changes_are_named) {
  Simulator simulator(make_scene("cube-slide"));
  State state = simulator.initial_state();
  const VectorXd none = VectorXd::Zero(3 * simulator.scene().nv());
  BOOST_CHECK_THROW(simulator.parameter_ranges({"mass"}), std::invalid_argument);  // no step yet
  simulator.step(state, simulator.hold());
  const auto ranges = simulator.parameter_ranges({"friction"});
  const std::string count = std::to_string(ranges[0].count);
  BOOST_TEST(refusal(simulator, none, {{"friction", VectorXd::Zero(9)}}) ==
             "parameters[\"friction\"] has 9 entries: must have " + count);
  const VectorXd bad = VectorXd::Constant(ranges[0].count, std::nan(""));
  BOOST_TEST(refusal(simulator, none, {{"mass", VectorXd::Ones(1)}, {"friction", bad}}) ==
             "parameters[\"friction\"] has an entry that is not finite");
  const std::string unknown = refusal(simulator, none, {{"weight", VectorXd::Zero(1)}});
  BOOST_TEST(unknown.find("\"weight\" is no field with derivatives") != std::string::npos, unknown);
  VectorXd huge = VectorXd::Constant(3, 1e3);
  huge[1] = std::numeric_limits<double>::max();
  const std::string over = refusal(simulator,
                                   VectorXd::Constant(none.size(), 1e308),
                                   {{"gravity", huge}, {"mass", VectorXd::Ones(1)}});
  BOOST_TEST(over.starts_with("parameters[\"gravity\"][1] = 1.79"), over);
  BOOST_TEST(over.ends_with("overflows; scale it down"), over);
  SimulatorSettings settings;
  settings.integrator = "implicit-euler";
  Scene soft = make_scene("cube-slide");
  for (Material& m : soft.parameters.material) m.stiffness = 1e5;
  Simulator compliant(soft, settings);
  compliant.step(state, compliant.hold());
  const std::string text = refusal(compliant, none, {{"mass", VectorXd::Ones(1)}});
  BOOST_TEST(text.ends_with("has them by q, v and torque, not by \"mass\""), text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
