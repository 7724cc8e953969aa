#pragma once

#include "stiction/simulator/simulator.hpp"

#include "random.hpp"
#include <Eigen/Core>

#include <string>
#include <vector>

// Random robots and loose bodies on a random plane, for the tests of derivatives of a step.

namespace stiction::test {

/// What a world has besides a robot, a loose body and a plane.
struct Features {
  bool springs = false, tangential = false, restitution = false, closures = false, gears = false,
       wrench = false, ccp = false;
  bool far = false;  ///< errors that recovery is cut for
};

struct World {
  Scene scene;
  SimulatorSettings settings;
  State state;
  Control control;
};

Material random_material(Rng& rng, const Features& f);
World random_world(Rng& rng, const Features& f);

/// Of a test; twenty times as many if STICTION_FUZZ is set.
int num_worlds();
/// One of eight steps on the central path, of some energy [J]; else 0.
double smoothing_of(int world);

struct DrawnWorld {
  Features features;
  World world;
};
/// World `number` with features drawn at random, `restitution` and `closures` as often as asked for
/// [0, 1], some with a material of the first robot's pair with the plane, some smoothed, some with
/// torsional and rolling friction.
DrawnWorld draw_world(Rng& rng, int number, double restitution, double closures);

/// Source, reference and mode of each row of the last step.
std::vector<std::string> kinds_of(const Simulator& simulator, const GradientReport& report);
/// Not: differences would step over a switch that is near, or see the rounding of a step alone.
bool comparable(const GradientReport& report);
/// [2 nv x 3 nv]
Eigen::MatrixXd dense(const StepDerivatives& d);

}  // namespace stiction::test
