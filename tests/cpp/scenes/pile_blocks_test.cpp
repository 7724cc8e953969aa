#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>

// The cost of a pile grows with its contacts, not faster: G stays sparse.

using namespace stiction;

namespace {

struct Pile {
  int contacts = 0;
  double stored = 0.0;   ///< blocks of G per contact
  double nonzero = 0.0;  ///< of them with an entry that is not zero
  double kinetic_energy = 0.0, penetration = 0.0;
};

/// The pile of n hulls after 3.6 s in coarse steps of a few sweeps: near rest, which is all that
/// counting asks for.
Pile settled(int n) {
  SceneOptions options;
  options.n = n;
  SimulatorSettings s;
  s.dt = 4e-3;
  s.solver.name = "ncp-pgs";
  s.solver.max_iterations = 10;
  Simulator sim(make_scene("ycb-pile", options), s);
  State state = sim.initial_state();
  const StepReport& report = sim.run(state, {}, 900);
  const ContactProblem& p = sim.problem();
  Pile pile;
  pile.contacts = p.num_sets();
  pile.kinetic_energy = report.kinetic_energy;
  pile.penetration = report.penetration;
  for (int i = 0; i < p.num_sets(); ++i) {
    const ContactProblem::Panels& G = p.panels();
    const double* panel = &G.values[G.start[i]];
    for (int r = G.run_begin[i]; r < G.run_end[i]; ++r) {
      for (int c = 0; c < G.runs[r].count; c += 3, panel += 12) {
        pile.stored += 1.0;
        pile.nonzero += std::any_of(panel, panel + 12, [](double x) { return x != 0.0; });
      }
    }
  }
  pile.stored /= pile.contacts;
  pile.nonzero /= pile.contacts;
  return pile;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pile_blocks_test)

BOOST_AUTO_TEST_CASE(blocks_per_contact_hardly_grow) {
  double first = 0.0, last = 0.0;
  for (const int n : {50, 400}) {
    const Pile pile = settled(n);
    BOOST_TEST_MESSAGE(n << " bodies: " << pile.contacts << " contacts, " << pile.stored
                         << " blocks of G per contact, " << pile.nonzero << " not zero, "
                         << pile.kinetic_energy << " J, deepest " << pile.penetration << " m");
    BOOST_TEST(pile.kinetic_energy < 2e-3 * n);  // 0.12 m/s each at most: a pile, not a fall
    BOOST_TEST(pile.contacts > 5 * n);
    BOOST_TEST(pile.nonzero > 0.99 * pile.stored);
    if (n == 50) first = pile.stored;
    last = pile.stored;
  }
  BOOST_TEST(last <= 1.3 * first);
}

BOOST_AUTO_TEST_SUITE_END()
