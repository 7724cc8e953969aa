#pragma once

#include "stiction/model/scene.hpp"
#include "stiction/model/state.hpp"

#include <string>
#include <vector>

// What the command asks for: a scene with soft surfaces and one with rigid ones, states of each to
// start from, and which integrators take how many steps from there.

namespace stiction::bench {

/// A state and the torques [nv] held from there on, for one control period.
struct Window {
  State state;
  Eigen::VectorXd torque;
};

struct Request {
  std::string name;  ///< of integrators(), or a step of this program, see main.cpp
  int steps = 1;     ///< equal ones, that make up the period
};

struct Job {
  Scene scene;  ///< as built in, surfaces rigid, joints without servos, losses, limits
  double stiffness = 0, damping = 0;  ///< of every pair [N/m], [N s/m]
  double period = 0;                  ///< of a window [s]
  int repetitions = 1;                ///< the best of each window counts
  std::vector<Window> soft, rigid;    ///< on soft and on rigid surfaces
  std::vector<Request> requests;

  /// The same with springs and dampers; two equal surfaces are in series.
  Scene soft_scene() const;
};

/// SCENE key=value... NAME:STEPS...; throws std::runtime_error that names the argument.
Job parse_job(int count, char** arguments);

}  // namespace stiction::bench
