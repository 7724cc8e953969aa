#include "stiction/model/tangents.hpp"

#include "scenes/scenes.hpp"
#include "support/contact_problems.hpp"
#include "support/random_tree.hpp"
#include "support/random_world.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

// The step backwards, differentiated, against differences of the step backwards. What is rest is
// told by a wide tolerance, so that modes stay as contacts are moved.

namespace stiction::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Motion {
  State state;
  Control control;
  VectorXd v_next;
  double rest = 1e-2;  ///< [m/s] tolerance
};

Motion moved(const Scene& scene, const Motion& m, const VectorXd& x) {
  Motion out = m;
  const int nv = scene.nv();
  out.state.q = integrate(scene, m.state.q, x.head(nv));
  out.state.v += x.segment(nv, nv);
  out.v_next += x.tail(nv);
  return out;
}

InverseContactDynamics inverse(Simulator& simulator,
                               const Motion& m,
                               const std::vector<int>* actuated) {
  return simulator.inverse_contact_dynamics(m.state, m.control, m.v_next, actuated, m.rest);
}

/// The largest error of the columns of a block against the closest of several differences, relative
/// to the block; -1: modes change beside the motion.
struct Errors {
  double torque[3] = {0, 0, 0};
  bool compared = true;
};

Errors errors_of(Simulator& simulator,
                 const Motion& m,
                 const InverseContactDerivatives& d,
                 const std::vector<int>* actuated) {
  const int nv = simulator.scene().nv();
  const MatrixXd J = d.torque + d.residual;
  Errors out;
  for (int k = 0; k < 3 * nv && out.compared; ++k) {
    const double size = J.middleCols(k / nv * nv, nv).cwiseAbs().maxCoeff();
    double least = kInfinity;
    for (const double h : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {  // a gap may be of 1e-5
      const auto plus = inverse(simulator,
                                moved(simulator.scene(), m, h * VectorXd::Unit(3 * nv, k)),
                                actuated),
                 minus = inverse(simulator,
                                 moved(simulator.scene(), m, -h * VectorXd::Unit(3 * nv, k)),
                                 actuated);
      if (plus.modes != d.at.modes || minus.modes != d.at.modes) continue;
      const VectorXd column =
          (plus.torque + plus.residual - minus.torque - minus.residual) / (2.0 * h);
      least = std::min(least, (column - J.col(k)).cwiseAbs().maxCoeff());
    }
    out.compared = least < kInfinity;
    out.torque[k / nv] = std::max(out.torque[k / nv], least / std::max(size, 1e-9));
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(inverse_derivatives_test)

BOOST_AUTO_TEST_CASE(derivatives_agree_with_differences) {
  Rng rng(31);
  int compared = 0, at_bounds = 0, other = 0, ill = 0, kinks = 0, rough = 0, redundant = 0;
  std::map<std::string, int> seen;
  for (int k = 0; k < num_worlds(); ++k) {
    const auto chance = [&](double p) { return rng.uniform(0.0, 1.0) < p; };
    const bool springs = chance(0.3);
    World w = random_world(rng,
                           {springs,
                            springs && chance(0.5),
                            !springs && chance(0.5),
                            chance(0.3),
                            chance(0.3),
                            chance(0.5),
                            false});
    Simulator simulator(w.scene, w.settings);
    Motion m{w.state, w.control, {}, 1e-2};
    if (simulator.step(w.state, w.control).status != StepStatus::kOk) continue;
    m.v_next = w.state.v;
    if (simulator.gradient_report().num_saturated > 0) continue;
    if (chance(0.3)) m.v_next += 0.1 * random_vector(rng, w.scene.nv());  // what nothing explains
    std::vector<int> all;
    for (int i = 0; i < w.scene.nv(); ++i)
      if (chance(0.7)) all.push_back(i);
    const std::vector<int>* actuated = chance(0.3) ? &all : nullptr;
    InverseContactDerivatives d;
    try {
      d = simulator.inverse_contact_derivatives(m.state, m.control, m.v_next, actuated, m.rest);
    } catch (const std::invalid_argument& e) {
      const std::string text = e.what();
      at_bounds += text.find("held back by the bound") != std::string::npos;
      other += text.find("held back by the bound") == std::string::npos;
      continue;
    }
    ill += d.smallest_eigenvalue < 1e-4;
    kinks += d.num_at_bounds > 0;
    if (d.num_at_bounds > 0 || d.smallest_eigenvalue < 1e-4 || d.num_inexact > 0) continue;
    const Errors e = errors_of(simulator, m, d, actuated);
    if (!e.compared) continue;
    ++compared;
    // Where a bound is near the forces are found by a solver, to digits that differences see.
    for (int block = 0; block < 3; ++block) {
      BOOST_TEST(e.torque[block] < 3e-5,
                 "world " << k << " block " << block << ": " << e.torque[block]);
      rough += e.torque[block] > 1e-6;
    }
    // None is made of rounding, as that of a closure between motors.
    const auto largest = [](const std::vector<double>& x) {
      return x.empty() ? 0.0 : Eigen::Map<const VectorXd>(x.data(), x.size()).cwiseAbs().maxCoeff();
    };
    if (d.at.residual.cwiseAbs().maxCoeff() < 1e-6)
      BOOST_TEST(largest(d.at.impulse) <= 1e3 * (largest(simulator.solution().impulse) + 1.0));
    redundant += d.at.residual.cwiseAbs().maxCoeff() < 1e-6;
    for (const ContactMode mode : d.at.modes) ++seen[to_string(mode)];
  }
  BOOST_TEST_MESSAGE(compared << " compared, " << at_bounds << " at bounds, " << other << " other "
                              << ill << " ill " << kinks << " kinks, " << rough << " rough, "
                              << redundant << " explained");
  for (const auto& [mode, count] : seen) BOOST_TEST_MESSAGE(mode << " " << count);
  BOOST_TEST(compared > num_worlds() / 4);
  BOOST_TEST(rough <= compared / 20);
  BOOST_TEST(redundant > compared / 3);
  BOOST_TEST(compared - redundant > compared / 10);  // also what forces do not explain
}

/// With every dof driven no force is needed: the derivative is that of the dynamics alone. The last
/// step stays.
BOOST_AUTO_TEST_CASE(driven_dofs_need_no_forces) {
  Simulator simulator(make_scene("solo12"));
  State state = simulator.initial_state("standing");
  const Control control = simulator.hold("standing");
  simulator.run(state, control, 100);
  const Motion m{state, control, state.v, 1e-2};
  std::vector<int> all(simulator.scene().nv());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<double> impulse = simulator.solution().impulse;
  const auto d = simulator.inverse_contact_derivatives(m.state, m.control, m.v_next, &all, m.rest);
  BOOST_TEST((simulator.solution().impulse == impulse));
  BOOST_TEST(d.num_at_bounds == 0);
  BOOST_TEST(d.residual.isZero(0.0));
  const Errors e = errors_of(simulator, m, d, &all);
  BOOST_TEST(e.compared);
  for (const double error : e.torque) BOOST_TEST(error < 1e-6);
  const auto own = simulator.inverse_contact_dynamics(m.state, m.control, m.v_next, &all, m.rest);
  BOOST_TEST((d.at.torque == own.torque));
}

/// Of redundant forces the least are found to 1e-9 N m of torque, which differences divide by h.
BOOST_AUTO_TEST_CASE(feet_that_press_against_each_other) {
  for (const char* name : {"solo12", "talos"}) {
    Simulator simulator(make_scene(name));
    State state = simulator.initial_state("standing");
    const Control control = simulator.hold("standing");
    simulator.run(state, control, 100);
    const Motion m{state, control, state.v, 0.5};
    const auto d =
        simulator.inverse_contact_derivatives(m.state, m.control, m.v_next, nullptr, m.rest);
    BOOST_TEST(d.at.impulse.size() > 6u);
    const Errors e = errors_of(simulator, m, d, nullptr);
    BOOST_TEST(e.compared, name);
    for (const double error : e.torque) BOOST_TEST(error < 1e-5, name << ": " << error);
  }
}

BOOST_AUTO_TEST_CASE(what_has_none_is_refused) {
  Simulator simulator(make_scene("box-stack(120)"));
  const State state = simulator.initial_state();
  const auto refusal = [&](Simulator& s, const VectorXd& v) -> std::string {
    try {
      s.inverse_contact_derivatives(s.initial_state(), s.hold(), v);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  const std::string large = refusal(simulator, state.v);
  BOOST_TEST(large.find("720 dofs, matrices are for up to 600") != std::string::npos, large);
  Simulator cube(make_scene("cube-slide"));
  VectorXd up = VectorXd::Zero(6);
  up[5] = 1e-9;
  const VectorXd pulled = VectorXd::Zero(6) - 5.0 * up;
  BOOST_TEST(refusal(cube, VectorXd::Zero(5)) == "v_next has 5 entries: must have 6");
  BOOST_TEST(refusal(cube, pulled) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
