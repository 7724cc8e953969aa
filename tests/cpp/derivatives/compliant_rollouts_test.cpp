#include "stiction/model/tangents.hpp"

#include "scenes/scenes.hpp"
#include "support/compliant_moment.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

// Gradients of rollouts whose contacts are springs: their extensions are state that cotangents go
// through, matched from step to step by name.

namespace stiction::test {
namespace {

RowMajorMatrix random_rows(Rng& rng, int rows, int columns, double size) {
  RowMajorMatrix m(rows, columns);
  for (double& x : m.reshaped()) x = size * rng.uniform(-1.0, 1.0);
  return m;
}

/// A rollout from a moment when springs are stretched; its cost is linear in its states.
struct Roll {
  Moment at;
  RolloutInput input;
  RolloutTape tape;
  RolloutCotangents by;
  RolloutLog log;

  Roll(const Scene& scene, const SimulatorSettings& settings, double speed, int steps)
      : at(scene, settings, speed) {
    Rng rng(3);
    const int nv = at.simulator.scene().nv();
    input.taus = random_rows(rng, steps, nv, 0.05);
    input.checkpoint_every = 3;
    input.stop_on_bad_status = false;  // tolerances of 1e-13 are not always reached
    by.states = random_rows(rng, steps + 1, 2 * nv, 1.0);
  }
  RolloutGradient gradient() {
    State state = at.state;
    log = at.simulator.rollout(state, at.control, input, &tape);
    return at.simulator.adjoint(tape, by);
  }
  double cost(const State& from, const RolloutInput& controls) {
    State state = from;
    const RolloutLog other = at.simulator.rollout(state, at.control, controls);
    const int nv = at.simulator.scene().nv();
    double sum = 0.0;
    for (int k = 0; k <= log.steps; ++k) {
      sum += by.states.row(k).head(nv).dot(
          difference(at.simulator.scene(), log.q.row(k), other.q.row(k)));
      sum += by.states.row(k).tail(nv).dot(other.v.row(k) - log.v.row(k));
    }
    return sum;
  }
};

/// A change of the start, springs included, and of all torques.
struct Along {
  Eigen::VectorXd q, v, springs;
  RowMajorMatrix taus;

  double slope(const RolloutGradient& g, bool with_springs = true) const {
    return q.dot(g.initial_q) + v.dot(g.initial_v) + taus.cwiseProduct(g.taus).sum() +
           (with_springs ? springs.dot(g.initial_springs) : 0.0);
  }
  double differences(Roll& r, const RolloutGradient& g, double h) const {
    const auto moved = [&](double x) {
      State from = r.at.state;
      from.q = integrate(r.at.simulator.scene(), from.q, x * q);
      from.v += x * v;
      for (std::size_t i = 0; i < g.springs.size(); ++i) {
        for (ContactMemory& m : from.contacts)
          if (m.pair == g.springs[i].pair && m.feature == g.springs[i].feature)
            m.extension += Vec3d{springs[3 * i], springs[3 * i + 1], springs[3 * i + 2]} * x;
      }
      RolloutInput controls = r.input;
      controls.taus += x * taus;
      return r.cost(from, controls);
    };
    return (moved(h) - moved(-h)) / (2.0 * h);
  }
};

/// Only springs that the start knows: those that open first in the rollout cannot be moved.
Along direction(Rng& rng, const Roll& r, const RolloutGradient& g) {
  const int nv = r.at.simulator.scene().nv();
  Along a{random_rows(rng, nv, 1, 1e-3),
          random_rows(rng, nv, 1, 1e-1),
          random_rows(rng, static_cast<int>(g.initial_springs.size()), 1, 1e-3),
          random_rows(rng, static_cast<int>(r.input.taus.rows()), nv, 1.0)};
  for (std::size_t i = 0; i < g.springs.size(); ++i) {
    const auto& kept = r.at.state.contacts;
    const bool there = std::any_of(kept.begin(), kept.end(), [&](const ContactMemory& m) {
      return m.pair == g.springs[i].pair && m.feature == g.springs[i].feature;
    });
    if (!there) a.springs.segment<3>(3 * i).setZero();
  }
  return a;
}

/// The largest error of slopes along random directions, of the largest of them; and that without
/// the springs of the start.
std::pair<double, double> errors(Roll& r, const RolloutGradient& g) {
  Rng rng(17);
  double error = 0.0, without = 0.0, size = 0.0;
  for (int trial = 0; trial < 3; ++trial) {
    const Along a = direction(rng, r, g);
    double best = 1e300, other = 1e300;
    for (const double h : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
      const double found = a.differences(r, g, h);
      best = std::min(best, std::abs(a.slope(g) - found));
      other = std::min(other, std::abs(a.slope(g, false) - found));
    }
    error = std::max(error, best);
    without = std::max(without, other);
    size = std::max(size, std::abs(a.slope(g)));
  }
  return {error / size, without / size};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compliant_rollouts_test)

BOOST_AUTO_TEST_CASE(gradients_agree_with_differences_of_rollouts) {
  for (const char* integrator : {"explicit-euler",
                                 "exponential",
                                 "exponential-published",
                                 "implicit-euler",
                                 "rk4",
                                 "symplectic-euler"}) {
    for (const char* name : {"solo12", "cube-slide"}) {
      for (const double friction : {0.1, 0.9}) {
        Roll r(soft(name, friction), with(integrator), 0.02, 8);
        const RolloutGradient g = r.gradient();
        const bool exact = std::string(integrator) == "implicit-euler";
        BOOST_TEST_CONTEXT(integrator << ", " << name << ", friction " << friction) {
          BOOST_TEST(g.report.steps == 8);
          BOOST_TEST((g.report.by_differences == 0) == exact);
          BOOST_TEST(g.report.exact() == exact);
          BOOST_TEST(!g.springs.empty());
          BOOST_TEST(g.initial_springs.size() == 3 * static_cast<long>(g.springs.size()));
          const auto [error, without] = errors(r, g);
          BOOST_TEST(error < std::max(exact ? 1e-8 : 1e-6, 3.0 * g.report.error_estimate));
          BOOST_TEST(g.report.error_estimate < 1e-3);
          BOOST_TEST(without > 1e-3);
        }
      }
    }
  }
}

SimulatorSettings rigid() {
  SimulatorSettings settings = with("semi-implicit-euler");
  settings.contact.tangential_compliance = true;
  return settings;
}

BOOST_AUTO_TEST_CASE(springs_of_rigid_steps_are_carried_along) {
  for (const char* name : {"solo12", "cube-slide", "ball-drop"}) {
    for (const double friction : {0.1, 0.9}) {
      for (const double damping_ratio : {0.0, 0.7}) {
        Scene scene = soft(name, friction);
        for (Material& m : scene.parameters.material) {
          m.tangential_stiffness_ratio = 0.8;
          m.tangential_damping_ratio = damping_ratio;
        }
        Roll r(scene, rigid(), 0.02, 8);
        const RolloutGradient g = r.gradient();
        BOOST_TEST_CONTEXT(name << ", friction " << friction << ", ratio " << damping_ratio) {
          BOOST_TEST(g.report.exact());
          BOOST_TEST(!g.springs.empty());
          const auto [error, without] = errors(r, g);
          BOOST_TEST(error < 1e-6);
          BOOST_TEST(without > 1e-5);
        }
      }
    }
  }
}

// Rows of extensions, columns of extensions and products of one step.
BOOST_AUTO_TEST_CASE(matrices_of_rigid_steps_have_their_springs) {
  for (const double friction : {0.05, 0.9}) {
    Moment m(soft("solo12", friction), rigid(), 0.05);
    const StepDerivatives& d = m.derivatives();
    const int nv = d.nv(), n = static_cast<int>(d.dx_dx().rows());
    BOOST_TEST(n > 2 * nv);
    const Eigen::MatrixXd X = d.dx_dx(), T = d.dx_dtorque();
    Rng rng(5);
    const Eigen::VectorXd w = random_rows(rng, n, 1, 1.0), x = random_rows(rng, n + nv, 1, 1.0);
    Eigen::VectorXd state(n);
    state << x.head(2 * nv), x.tail(n - 2 * nv);
    const double size = X.cwiseAbs().maxCoeff() * nv;
    const StepGradient g = m.simulator.vjp(w);
    Eigen::VectorXd gradient(n);
    gradient << g.q, g.v, g.springs;
    BOOST_TEST((gradient - X.transpose() * w).cwiseAbs().maxCoeff() < 1e-12 * size);
    BOOST_TEST((g.torque - T.transpose() * w).cwiseAbs().maxCoeff() < 1e-12 * size);
    const Eigen::VectorXd y = m.simulator.jvp(x);
    BOOST_TEST((y - X * state - T * x.segment(2 * nv, nv)).cwiseAbs().maxCoeff() < 1e-12 * size);
    const std::vector<std::string> all = Simulator::derivative_parameters();
    const RowMajorMatrix P = m.simulator.step_derivatives(all).P;
    BOOST_TEST(P.rows() == n);
    const Eigen::VectorXd by = m.simulator.vjp(w, all).parameters;
    BOOST_TEST((by - P.transpose() * w).cwiseAbs().maxCoeff() <
               1e-11 * (1.0 + P.cwiseAbs().maxCoeff()) * nv);
  }
}

/// All materials, or one number of the others.
void edit(Parameters& p, const std::string& field, double x) {
  for (Material& m : p.material) {
    if (field == "friction") m.friction += x;
    if (field == "stiffness") m.stiffness *= 1.0 + x;
    if (field == "contact_damping") m.damping += x;
  }
  if (field == "mass") p.mass[0] += x;
  if (field == "gravity") p.gravity.x += x;
  Transform& last = p.geometry_placement.back();
  if (field == "geometry_placement") last.p += last.R.c0 * x;
}
/// dl by edit(..., x).
double slope(const RolloutGradient& g, const Parameters& p, const std::string& field) {
  if (field == "stiffness") {
    double sum = 0.0;
    for (std::size_t i = 0; i < p.material.size(); ++i)
      sum += std::isfinite(p.material[i].stiffness) ? g.parameters[i] * p.material[i].stiffness : 0;
    return sum;
  }
  if (field == "geometry_placement") return g.parameters[g.parameters.size() - 6];
  const bool all = field == "friction" || field == "contact_damping";
  return all ? g.parameters.sum() : g.parameters[0];
}

BOOST_AUTO_TEST_CASE(rigid_steps_with_springs_by_parameters) {
  for (const double friction : {0.1, 0.9}) {
    Scene scene = soft("cube-slide", friction);
    for (Material& m : scene.parameters.material) {
      m.tangential_stiffness_ratio = 0.8;
      m.tangential_damping_ratio = 0.7;
    }
    Roll r(scene, rigid(), 0.5, 8);
    Simulator& simulator = r.at.simulator;
    r.gradient();
    for (const std::string field :
         {"friction", "stiffness", "contact_damping", "mass", "gravity", "geometry_placement"}) {
      const RolloutGradient g = simulator.adjoint(r.tape, r.by, {field});
      BOOST_TEST(!g.springs.empty());
      const Parameters before = simulator.parameters();
      const double found = slope(g, before, field);
      double best = 1e300;
      for (const double h : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
        const auto moved = [&](double x) {
          edit(simulator.parameters(), field, x);
          const double cost = r.cost(r.at.state, r.input);
          simulator.parameters() = before;
          return cost;
        };
        best = std::min(best, std::abs((moved(h) - moved(-h)) / (2.0 * h) - found));
      }
      if (friction < 0.5) BOOST_TEST(found != 0.0, field);
      BOOST_TEST(best <= 1e-6 * std::abs(found),
                 field << ", friction " << friction << ": " << best << " of " << found);
    }
  }
}

BOOST_AUTO_TEST_CASE(checkpoints_change_no_bit) {
  for (const char* integrator : {"exponential", "implicit-euler", "rk4"}) {
    Roll r(soft("cube-slide", 0.3), with(integrator), 0.05, 10);
    const RolloutGradient g = r.gradient();
    for (const int every : {1, 4, 10, 100}) {
      r.input.checkpoint_every = every;
      const RolloutGradient other = r.gradient();
      BOOST_TEST((g.taus == other.taus && g.initial_springs == other.initial_springs &&
                  g.initial_q == other.initial_q));
    }
  }
}

// Of no step that touches, and of two balls that do.
BOOST_AUTO_TEST_CASE(what_touches_nothing_is_named) {
  for (const bool near : {false, true}) {
    Scene scene;
    scene.add_ground({0.5, 0.0, 1e4, 50.0});
    for (int k = 0; k < 2; ++k)
      scene.add_body("ball" + std::to_string(k),
                     Shape::sphere(0.1),
                     1.0,
                     {Mat3d::identity(), {k * (near ? 0.1995 : 0.4), 0, 0.1}},
                     {0.5, 0.0, 1e4, 50.0});
    Simulator simulator(scene, with("rk4"));
    State state = simulator.initial_state();
    RolloutInput input;
    input.taus = RowMajorMatrix::Zero(5, 12);
    input.taus.col(0).setOnes();
    RolloutTape tape;
    simulator.rollout(state, simulator.hold(), input, &tape);
    RolloutCotangents by;
    by.states = RowMajorMatrix::Zero(1, 24);
    by.states(0, 6) = 1.0;  // where the second one is
    const RolloutGradient& g = simulator.adjoint(tape, by);
    BOOST_TEST(g.report.touches_nothing == !near);
    BOOST_TEST(g.taus.col(0).isZero(0.0) == !near);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
