#pragma once

#include "stiction/solver/solver.hpp"

#include "integrator/opposed_rows.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// Scratch of keep_recovery_speeds().
struct RecoveryWorkspace {
  std::vector<int> island_of_tree;    ///< -1: none
  std::vector<std::uint8_t> islands;  ///< that are looked at
  std::vector<std::uint8_t> held;     ///< [islands] that are locked
  OpposedRows opposed;
  std::vector<double> pushed, after;    ///< [nv] by the impulses, and with them
  std::vector<double> linear, angular;  ///< [bodies of a tree] speeds
  std::vector<double> share;            ///< [islands] of c* that is kept
  std::vector<double> g;                ///< set aside
  ContactSolution rest;                 ///< what corrections do alone, from rest
  bool solved_again = false;            ///< by the last step
};

}  // namespace stiction
