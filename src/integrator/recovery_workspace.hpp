#pragma once

#include "stiction/solver/solver.hpp"

#include "integrator/opposed_rows.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

/// Of hold_locked_islands() and, after it, keep_recovery_speeds().
struct RecoveryWorkspace {
  std::vector<int> island_of_tree;    ///< -1: none
  std::vector<std::uint8_t> islands;  ///< that are looked at; empty: none has an error that matters
  OpposedRows opposed;
  std::vector<double> pushed, after;    ///< [nv] by the impulses, and with them
  std::vector<double> linear, angular;  ///< [bodies of a tree] speeds
  std::vector<std::uint8_t> fast;       ///< [islands] in which impulses push a body beyond the caps
  std::vector<double> share;            ///< [islands] of c* that is kept
  std::vector<double> energy;           ///< [islands] at the caps [J]
  std::vector<double> g;                ///< set aside
  ContactSolution rest;                 ///< what corrections do alone, from rest
  bool solved_again = false;            ///< by the last step
};

}  // namespace stiction
